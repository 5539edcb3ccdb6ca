/* SPDX-License-Identifier: BSD-3-Clause */
/* test/abi/behave_print.c - what is printed for people and read by programs:
 * Open MPI looks for transports in ucp_context_print_info. */
#include "behave.h"

#include <stdlib.h>
#include <string.h>

typedef void (*print_fn)(struct pair *pair, FILE *stream);

static void print_context(struct pair *pair, FILE *stream)
{
    ucp_context_print_info(pair->a.context, stream);
}

static void print_worker(struct pair *pair, FILE *stream)
{
    ucp_worker_print_info(pair->a.worker, stream);
}

static void print_ep(struct pair *pair, FILE *stream)
{
    ucp_ep_print_info(pair->a.ep, stream);
}

static void print_mem(struct pair *pair, FILE *stream)
{
    ucp_mem_print_info("64k", pair->a.context, stream);
}

static char *print(struct pair *pair, print_fn fn)
{
    char  *text = NULL;
    size_t length;
    FILE  *stream = open_memstream(&text, &length);

    fn(pair, stream);
    fclose(stream);
    return text;
}

/* The lines of a context that Open MPI reads. */
static void resources(struct pair *pair)
{
    char *text  = print(pair, print_context);
    char *rest  = text, *line;
    int   found = 0, self = 0, too_long = 0, md_unknown = 0, mds = 0;

    while ((line = strsep(&rest, "\n")) != NULL) {
        char transport[128], device[128];
        int  index, md, dev, n;

        too_long += (strlen(line) > 127);
        if (sscanf(line, "# md %d : %127s", &index, transport) == 2) {
            mds = (index >= mds) ? index + 1 : mds;
        }
        n = sscanf(
            line,
            "# resource %d : md %d dev %d flags -- %127[^/ \n\r]/%127[^ \n\r]",
            &index, &md, &dev, transport, device);
        if (n != 5) {
            continue;
        }
        ++found;
        self += (strcmp(transport, "self") == 0);
        md_unknown += (md < 0) || (dev < 0);
    }
    fact("context.resources", "%d", found >= 2);
    fact("context.self", "%d", self);
    fact("context.bad_numbers", "%d", md_unknown);
    fact("context.long_lines", "%d", too_long);
    fact("context.comment_lines", "%d", text[0] == '#');
    free(text);
}

static void lines_of(struct pair *pair, const char *name, print_fn fn)
{
    char  key[64];
    char *text  = print(pair, fn);
    char *rest  = text, *line;
    int   lines = 0, other = 0;

    while ((line = strsep(&rest, "\n")) != NULL) {
        lines += (line[0] != '\0');
        other += (line[0] != '\0') && (line[0] != '#');
    }
    snprintf(key, sizeof(key), "%s.lines", name);
    fact(key, "%d", lines > 2);
    snprintf(key, sizeof(key), "%s.not_comments", name);
    fact(key, "%d", other);
    free(text);
}

int main(void)
{
    struct pair pair;

    pair_open(&pair, NULL);
    resources(&pair);
    lines_of(&pair, "worker", print_worker);
    lines_of(&pair, "ep", print_ep);
    lines_of(&pair, "mem", print_mem);
    fact("version_text", "%d", strncmp(ucp_get_version_string(), "1.", 2) == 0);
    pair_close(&pair);
    fact("end", "1");
    return 0;
}
