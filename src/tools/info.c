/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/info.c - `causeway info`: what is loaded, what it can, how it is set.
 *
 * Works on any libucp. On one of ours it also shows each transport's devices
 * and limits (info_transports.c). */
#include "tools/info.h"

#include "tools/options.h"
#include "tools/tool.h"

#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include <ucp/api/ucp.h>

struct info_options {
    bool config;
    bool doc;
    bool limits;
    bool all;
};

#define INFO_FIELD(_name) offsetof(struct info_options, _name)

static const struct tool_option info_option_rows[] = {
    {"limits", NULL, "Show what each transport can carry and how fast.",
     TOOL_OPTION_FLAG, INFO_FIELD(limits), 0, 0, NULL},
    {"config", NULL,
     "Show every setting, its value and where that comes from:\n"
     "default, a file, the environment.",
     TOOL_OPTION_FLAG, INFO_FIELD(config), 0, 0, NULL},
    {"doc", NULL, "With --config: say what each setting means.",
     TOOL_OPTION_FLAG, INFO_FIELD(doc), 0, 0, NULL},
    {"all", NULL, "All of the above.", TOOL_OPTION_FLAG, INFO_FIELD(all), 0, 0,
     NULL},
    {0},
};

static const struct tool_command info_command = {
    .usage   = "info [OPTION...]",
    .summary = "Show the version, the libraries that are loaded, and the "
               "transports and devices\nof this host.",
    .options = info_option_rows,
    .after   = NULL,
};

/* Print an object of this process if it is part of UCX or Causeway. */
static int info_print_object(struct dl_phdr_info *object, size_t size_bytes,
                             void *arg)
{
    static const char *const stems[] = {"libucp.", "libuct.", "libucs.",
                                        "libucm.", "libuct_", "causeway_uct_"};
    const char              *name    = strrchr(object->dlpi_name, '/');
    char                     path[PATH_MAX];
    size_t                   i;

    (void)size_bytes;
    (void)arg;
    for (i = 0; (name != NULL) && (i < TOOL_ARRAY_COUNT(stems)); i++) {
        if (strncmp(name + 1, stems[i], strlen(stems[i])) == 0) {
            printf("library    %s\n", realpath(object->dlpi_name, path) != NULL
                                          ? path
                                          : object->dlpi_name);
        }
    }
    return 0;
}

static void info_print_version(bool ours)
{
    unsigned major, minor, release;

    ucp_get_version(&major, &minor, &release);
    printf("command    causeway %s\n", tool_version());
    printf("libucp     %s, API %u.%u.%u%s\n", ucp_get_version_string(), major,
           minor, release, ours ? "" : " (not Causeway's)");
    (void)dl_iterate_phdr(info_print_object, NULL);
}

/* The transports of a libucp that is not ours, as it describes them. */
static int info_print_context(void)
{
    ucp_params_t  params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                            .features   = UCP_FEATURE_TAG};
    ucp_context_h context;
    ucs_status_t  status = ucp_init_version(
         TOOL_UCP_API_MAJOR, TOOL_UCP_API_MINOR, &params, NULL, &context);

    if (status != UCS_OK) {
        tool_error("ucp_init: %s", ucs_status_string(status));
        return TOOL_EXIT_FAILED;
    }
    printf("\n");
    ucp_context_print_info(context, stdout);
    ucp_cleanup(context);
    return TOOL_EXIT_OK;
}

static int info_print_config(bool ours, bool doc)
{
    unsigned flags = UCS_CONFIG_PRINT_CONFIG | UCS_CONFIG_PRINT_HEADER |
                     (ours ? INFO_PRINT_ORIGIN : 0) |
                     (doc ? UCS_CONFIG_PRINT_DOC : 0);
    ucp_config_t *config;
    ucs_status_t  status = ucp_config_read(NULL, NULL, &config);

    if (status != UCS_OK) {
        tool_error("the configuration cannot be read: %s",
                   ucs_status_string(status));
        return TOOL_EXIT_FAILED;
    }
    printf("\n");
    ucp_config_print(config, stdout, "UCP context",
                     (ucs_config_print_flags_t)flags);
    ucp_config_release(config);
    return TOOL_EXIT_OK;
}

int tool_info_main(int argc, char **argv)
{
    struct info_options options = {0};
    bool                ours    = info_transports_exist();
    int                 code    = TOOL_EXIT_OK;

    switch (tool_options_parse(&info_command, argc, argv, &options, NULL)) {
    case TOOL_PARSE_HELP:
        return TOOL_EXIT_OK;
    case TOOL_PARSE_BAD:
        return TOOL_EXIT_USAGE;
    case TOOL_PARSE_OK:
        break;
    }
    info_print_version(ours);
    if (ours) {
        info_transports_print(options.limits || options.all);
    } else {
        code = info_print_context();
    }
    if ((code == TOOL_EXIT_OK) && (options.config || options.all)) {
        code = info_print_config(ours, options.doc || options.all);
    }
    return code;
}
