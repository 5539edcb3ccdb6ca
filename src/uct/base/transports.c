/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/base/transports.c - THE list of transports: the only place that names
 * them, their folders and build files aside. */
#include "config.h"

#include "uct/base/transports.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "uct/api/uct.h"
#include "uct/base/module.h"

extern const struct uct_transport uct_self_transport;
extern const struct uct_transport uct_sm_transport;
extern const struct uct_transport uct_udp_transport;

const struct uct_transport *const uct_builtin_transports[] = {
    &uct_self_transport,
    &uct_sm_transport,
#ifdef HAVE_UDP
    &uct_udp_transport,
#endif
    NULL,
};

enum {
    BUILTIN_COUNT = UCS_ARRAY_COUNT(uct_builtin_transports) - 1,
};

static struct uct_module_list transports_modules;
static const struct uct_transport
                     *transports_all[BUILTIN_COUNT + UCT_MODULE_COUNT_MAX + 1];
static pthread_once_t transports_once = PTHREAD_ONCE_INIT;

static void transports_load(void)
{
    /* Nobody but the caller decides what a set-uid program loads. */
    const char *folder = secure_getenv("UCX_MODULE_DIR");
    unsigned    count  = 0;
    unsigned    index;

    uct_modules_load((folder != NULL) ? folder : UCT_MODULE_DIR,
                     uct_builtin_transports, &transports_modules);
    for (index = 0; uct_builtin_transports[index] != NULL; ++index) {
        transports_all[count++] = uct_builtin_transports[index];
    }
    for (index = 0; index < transports_modules.count; ++index) {
        transports_all[count++] = transports_modules.transports[index];
    }
    transports_all[count] = NULL;
}

const struct uct_transport *const *ucti_transports(void)
{
    (void)pthread_once(&transports_once, transports_load);
    return transports_all;
}

const char *ucti_modules_report(void)
{
    (void)ucti_transports();
    return transports_modules.report;
}

/* Is `name` a word of the comma list? */
static bool transports_list_has(const char *list, const char *name)
{
    size_t name_bytes = strlen(name);
    size_t bytes;

    while (*list != '\0') {
        bytes = strcspn(list, ",");
        if ((bytes == name_bytes) && (strncmp(list, name, bytes) == 0)) {
            return true;
        }
        list += bytes + (list[bytes] == ',');
    }
    return false;
}

bool ucti_transport_is_on_demand(const struct uct_transport *transport)
{
    return transports_list_has(transport->aliases, "-all");
}

bool ucti_transport_has_name(const struct uct_transport *transport,
                             const char                 *name)
{
    if (strcmp(name, "all") == 0) {
        return !ucti_transport_is_on_demand(transport);
    }
    return (strcmp(name, transport->name) == 0) ||
           ((name[0] != '\0') && transports_list_has(transport->aliases, name));
}

bool ucti_transport_knows_name(const struct uct_transport *transport,
                               const char                 *name)
{
    char part[UCT_NAME_BYTES_MAX + 1];
    int  bytes = snprintf(part, sizeof(part), "+%s", name);

    return ucti_transport_has_name(transport, name) ||
           ((bytes > 1) && ((size_t)bytes < sizeof(part)) &&
            transports_list_has(transport->aliases, part));
}
