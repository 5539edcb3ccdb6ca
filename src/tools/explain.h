/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/explain.h - what the parts of `causeway explain` share. */
#ifndef CAUSEWAY_TOOL_EXPLAIN_H_
#define CAUSEWAY_TOOL_EXPLAIN_H_

#include <dlfcn.h>
#include <stdbool.h>

#include <ucp/api/causeway.h>

/* A function of ours in the libucp that is loaded, NULL on UCX's: looked up so
 * that the command starts there, too. */
#define EXPLAIN_FIND(_name) ((__typeof__(&(_name)))dlsym(RTLD_DEFAULT, #_name))

struct explain_side {
    ucp_context_h context;
    ucp_worker_h  worker;
};

/* A worker of that name with default settings. @return false: an error was
 * printed. */
bool explain_side_open(struct explain_side *side, const char *name);
void explain_side_close(struct explain_side *side);

/* Connect to a child process, exchange a message each way, and explain the
 * endpoint on standard output. @return false: an error was printed. */
bool explain_pair(const causeway_explain_params_t *params);

#endif
