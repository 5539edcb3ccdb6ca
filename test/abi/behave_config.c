/* SPDX-License-Identifier: BSD-3-Clause */
/* test/abi/behave_config.c - settings: where they come from, bad ones,
 * changing and printing them. */
#include "behave.h"

#include <stdlib.h>
#include <string.h>

/* What ucp_config_print writes. */
static char *print(ucp_config_t *config, const char *title,
                   ucs_config_print_flags_t flags)
{
    char  *text = NULL;
    size_t length;
    FILE  *stream = open_memstream(&text, &length);

    ucp_config_print(config, stream, title, flags);
    fclose(stream);
    return text;
}

/* The value of a printed setting, "" if it is not there. */
static const char *printed(ucp_config_t *config, const char *name)
{
    static char value[256];
    char       *text = print(config, "title", UCS_CONFIG_PRINT_CONFIG);
    char       *line, *rest = text;

    value[0] = '\0';
    while ((line = strsep(&rest, "\n")) != NULL) {
        size_t length = strlen(name);

        if ((strncmp(line, name, length) == 0) && (line[length] == '=')) {
            snprintf(value, sizeof(value), "%s", line + length + 1);
        }
    }
    free(text);
    return value;
}

static ucs_status_t read_with(const char *prefix, ucp_config_t **config_p)
{
    return ucp_config_read(prefix, NULL, config_p);
}

static void fact_printed(const char *fact_name, const char *prefix,
                         const char *name)
{
    ucp_config_t *config;

    must(read_with(prefix, &config), "config_read");
    fact(fact_name, "%s", printed(config, name));
    ucp_config_release(config);
}

static void sources(void)
{
    fact_printed("source.default", NULL, "UCX_RNDV_THRESH");
    setenv("UCX_RNDV_THRESH", "12345", 1);
    fact_printed("source.environment", NULL, "UCX_RNDV_THRESH");
    setenv("MPI_UCX_RNDV_THRESH", "23456", 1);
    fact_printed("source.prefix_wins", "MPI", "UCX_RNDV_THRESH");
    fact_printed("source.prefix_not_asked", NULL, "UCX_RNDV_THRESH");
    fact_printed("source.other_prefix", "OTHER", "UCX_RNDV_THRESH");
    unsetenv("UCX_RNDV_THRESH");
    fact_printed("source.prefix_alone", "MPI", "UCX_RNDV_THRESH");
    setenv("MPI_UCX_RNDV_THRESH", "64k", 1);
    fact_printed("source.units", "MPI", "UCX_RNDV_THRESH");
    setenv("MPI_UCX_RNDV_THRESH", "inf", 1);
    fact_printed("source.inf", "MPI", "UCX_RNDV_THRESH");
    unsetenv("MPI_UCX_RNDV_THRESH");
}

static ucs_status_t init_with(ucp_config_t *config)
{
    ucp_params_t  params;
    ucp_context_h context;
    ucs_status_t  status;

    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features   = UCP_FEATURE_TAG;
    status            = ucp_init(&params, config, &context);
    if (status == UCS_OK) {
        ucp_cleanup(context);
    }
    return status;
}

static void bad_values(void)
{
    ucp_config_t *config = NULL;

    setenv("UCX_RNDV_THRESH", "foo", 1);
    fact_status("bad.read", read_with(NULL, &config));
    fact("bad.config_untouched", "%d", config == NULL);
    fact_status("bad.init_without_config", init_with(NULL));
    unsetenv("UCX_RNDV_THRESH");

    setenv("UCX_LOG_LEVEL", "bogus", 1);
    fact_status("bad.log_level", read_with(NULL, &config));
    fact_status("bad.log_level_init", init_with(config));
    ucp_config_release(config);
    unsetenv("UCX_LOG_LEVEL");

    setenv("UCX_NO_SUCH_SETTING", "1", 1);
    fact_status("bad.unknown_name", init_with(NULL));
    unsetenv("UCX_NO_SUCH_SETTING");

    setenv("UCX_IB_TRAFFIC_CLASS", "5", 1);
    setenv("UCX_RC_TIMEOUT", "1s", 1);
    setenv("UCX_TCP_NODELAY", "y", 1);
    setenv("UCX_PROTO_ENABLE", "n", 1);
    setenv("UCX_MEM_EVENTS", "n", 1);
    fact_status("bad.names_of_ucx", init_with(NULL));
    unsetenv("UCX_IB_TRAFFIC_CLASS");
    unsetenv("UCX_RC_TIMEOUT");
    unsetenv("UCX_TCP_NODELAY");
    unsetenv("UCX_PROTO_ENABLE");
    unsetenv("UCX_MEM_EVENTS");
}

static void fact_modify(const char *fact_name, const char *name,
                        const char *value)
{
    ucp_config_t *config;

    must(read_with(NULL, &config), "config_read");
    fact_status(fact_name, ucp_config_modify(config, name, value));
    ucp_config_release(config);
}

static void modify(void)
{
    ucp_config_t *config;

    must(read_with(NULL, &config), "config_read");
    fact_status("modify.known",
                ucp_config_modify(config, "RNDV_THRESH", "777"));
    fact("modify.shows", "%s", printed(config, "UCX_RNDV_THRESH"));
    fact_status("modify.bad_value",
                ucp_config_modify(config, "RNDV_THRESH", "foo"));
    fact("modify.bad_value_keeps", "%s", printed(config, "UCX_RNDV_THRESH"));
    fact_status("modify.tls", ucp_config_modify(config, "TLS", "sm,self"));
    fact("modify.tls_shows", "%s", printed(config, "UCX_TLS"));
    fact_status("modify.init", init_with(config));
    ucp_config_release(config);

    /* What Mercury, NIXL and UCC set. */
    fact_modify("modify.net_devices", "NET_DEVICES", "all");
    fact_modify("modify.log_level", "LOG_LEVEL", "error");
    fact_modify("modify.handle_errors", "HANDLE_ERRORS", "none");
    fact_modify("modify.cm_reuseaddr", "CM_REUSEADDR", "y");
    fact_modify("modify.memtype_copy", "MEMTYPE_COPY_ENABLE", "n");
    fact_modify("modify.ib", "IB_PCI_RELAXED_ORDERING", "try");
    fact_modify("modify.inf", "RNDV_THRESH", "inf");
    fact_modify("modify.unknown_name", "NO_SUCH_SETTING", "1");
}

static void printing(void)
{
    ucp_config_t *config;
    char         *text, *line, *rest;
    int           lines = 0, other = 0, equals = 0;

    must(read_with(NULL, &config), "config_read");
    text = print(config, "a title", UCS_CONFIG_PRINT_CONFIG);
    for (rest = text; (line = strsep(&rest, "\n")) != NULL;) {
        if ((line[0] == '\0') && (rest == NULL)) {
            break; /* behind the last newline */
        }
        ++lines;
        other += (strncmp(line, "UCX_", 4) != 0);
        equals += (strchr(line, '=') == NULL) ||
                  (strchr(strchr(line, '=') + 1, '=') != NULL);
    }
    fact("print.config.many", "%d", lines > 10);
    fact("print.config.other_lines", "%d", other);
    fact("print.config.not_name_value", "%d", equals);
    fact("print.config.title", "%d", strstr(text, "a title") != NULL);
    free(text);
    text = print(config, "a title",
                 UCS_CONFIG_PRINT_CONFIG | UCS_CONFIG_PRINT_HEADER);
    fact("print.header.title", "%d", strstr(text, "a title") != NULL);
    free(text);
    text = print(config, "a title",
                 UCS_CONFIG_PRINT_CONFIG | UCS_CONFIG_PRINT_DOC);
    fact("print.doc.comments", "%d", strchr(text, '#') != NULL);
    free(text);
    ucp_config_release(config);
}

static void fact_tls(const char *name, const char *tls)
{
    ucp_config_t *config;

    must(read_with(NULL, &config), "config_read");
    must(ucp_config_modify(config, "TLS", tls), "TLS");
    fact_status(name, init_with(config));
    ucp_config_release(config);
}

static void transports(void)
{
    fact_tls("tls.all", "all");
    fact_tls("tls.sm", "sm");
    fact_tls("tls.shm", "shm,self");
    fact_tls("tls.mm", "mm");
    fact_tls("tls.posix", "posix,self");
    fact_tls("tls.sysv", "sysv");
    fact_tls("tls.self", "self");
    fact_tls("tls.without_self", "^self");
    fact_tls("tls.nothing", "no_such_transport");
    fact_tls("tls.something", "no_such_transport,self");
    fact_tls("tls.rc_alone", "rc");
    fact_tls("tls.rc_and_sm", "rc,sm,self");
}

int main(void)
{
    unsetenv("UCX_TLS");
    sources();
    bad_values();
    modify();
    printing();
    transports();
    fact("end", "1");
    return 0;
}
