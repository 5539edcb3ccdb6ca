/* SPDX-License-Identifier: BSD-3-Clause */
/* uct_conform.c - what every transport must do, run over every transport.
 *
 * Those that are built in, and the modules in UCX_MODULE_DIR:
 *
 *   UCX_MODULE_DIR=/my/modules uct_conform --filter='conform_*'
 *
 * runs the same over a transport of your own. Names end in the transport and
 * the number of processes: conform_am.short__every_length/sm.2. A test that
 * needs what a transport lacks is skipped with the name of that function.
 * TEST_LONG=1 makes the long loops ten times longer (test_rounds). */
#include <stdio.h>

#include "ucs/config.h"
#include "uct/conform.h"

enum { PARAM_COUNT_MAX = 2 * 40 };
/* UCX's name for shared memory without copies between processes: whoever
 * knows it is tested once more under it. */
#define WITHOUT_CMA "posix"

static struct conform_param values[PARAM_COUNT_MAX];
static char                 names[PARAM_COUNT_MAX][UCT_NAME_BYTES_MAX + 4];
/* What UCX_TLS would be. */
static struct {
    char                   name[UCT_NAME_BYTES_MAX];
    char                  *text;
    struct ucs_config_list list;
} chosen[PARAM_COUNT_MAX];
/* All; and those with two processes only, for tests in which one dies. */
static struct test_param params_all[PARAM_COUNT_MAX + 1];
static struct test_param params_two[PARAM_COUNT_MAX + 1];
/* All, and once more by names that mean less than the whole transport. */
static struct test_param params_parts[PARAM_COUNT_MAX + 1];
/* The example plug-in in one process, if it is there. */
static struct test_param params_example[2];

enum { ENCRYPTED_COUNT_MAX = 4 };
static struct conform_param values_encrypted[ENCRYPTED_COUNT_MAX];
static char names_encrypted[ENCRYPTED_COUNT_MAX][UCT_NAME_BYTES_MAX + 16];
static struct test_param params_encrypted[ENCRYPTED_COUNT_MAX + 1];

/* Does an interface of it reach only itself? Opens one to ask. */
static bool is_self_only(const struct uct_transport *tl)
{
    const struct conform_param param = {.transport = tl};
    struct host               *host  = calloc(1, sizeof(*host));
    char                       reason[UCT_REASON_BYTES_MAX];
    bool                       is_self = false;

    if (host_open(host, &param, false, reason) == UCS_OK) {
        is_self = (host->attr.flags & UCT_IFACE_SELF_ONLY) != 0;
        host_close(host);
    }
    free(host);
    return is_self;
}

/* name: the transport's, or one that means a part of it. */
static void add_param(const struct uct_transport *tl, const char *name,
                      unsigned process_count)
{
    static unsigned count, count_all, count_two;
    bool            is_whole = (strcmp(name, tl->name) == 0);

    if (count == PARAM_COUNT_MAX) {
        return;
    }
    (void)snprintf(chosen[count].name, sizeof(chosen[count].name), "%s", name);
    chosen[count].text = chosen[count].name;
    chosen[count].list =
        (struct ucs_config_list){&chosen[count].text, 1, false};
    values[count] =
        (struct conform_param){tl, process_count, &chosen[count].list, false};
    (void)snprintf(names[count], sizeof(names[count]), "%s.%u", name,
                   process_count);
    params_parts[count] = (struct test_param){names[count], &values[count]};
    if (is_whole) {
        params_all[count_all++] = params_parts[count];
    }
    if ((strcmp(name, "example") == 0) && (process_count == 1)) {
        params_example[0] = params_parts[count];
    }
    if (is_whole && (process_count == 2)) {
        params_two[count_two++] = params_parts[count];
    }
    ++count;
}

/* Does it know UCX_NET_ENCRYPT? */
static bool can_encrypt(const struct uct_transport *tl)
{
    void *options;
    bool  can = false;

    if (tl->config == NULL) {
        return false;
    }
    options = calloc(1, tl->config->struct_bytes);
    if (ucsi_config_read(tl->config, NULL, options) == UCS_OK) {
        can =
            ucsi_config_set(tl->config, options, "NET_ENCRYPT", "y") == UCS_OK;
        ucsi_config_release(tl->config, options);
    }
    free(options);
    return can;
}

/* The same transport between two processes, encrypted: as one more transport
 * in tests of every way that data takes. */
static void add_encrypted(const struct uct_transport *tl)
{
    static unsigned count;

    if (count == ENCRYPTED_COUNT_MAX) {
        return;
    }
    values_encrypted[count] = (struct conform_param){tl, 2, NULL, true};
    (void)snprintf(names_encrypted[count], sizeof(names_encrypted[count]),
                   "%s-encrypted.2", tl->name);
    params_encrypted[count] =
        (struct test_param){names_encrypted[count], &values_encrypted[count]};
    ++count;
}

/* `params` and behind them the encrypted ones. */
static const struct test_param *with_encrypted(const struct test_param *params)
{
    static struct test_param rows[2][PARAM_COUNT_MAX + ENCRYPTED_COUNT_MAX + 1];
    static unsigned          used;
    struct test_param       *row   = rows[used++];
    unsigned                 count = 0, index;

    for (; params->name != NULL; ++params) {
        row[count++] = *params;
    }
    for (index = 0; params_encrypted[index].name != NULL; ++index) {
        row[count++] = params_encrypted[index];
    }
    return row;
}

int main(int argc, char **argv)
{
    struct test_suite *const suites[] = {
        &conform_address_suite, &conform_am_suite,     &conform_order_suite,
        &conform_pending_suite, &conform_zcopy_suite,  &conform_rma_suite,
        &conform_pieces_suite,  &conform_rights_suite, &conform_atomic_suite,
        &conform_flush_suite,   &conform_keep_suite,   &conform_wakeup_suite,
        &conform_teardown_suite};
    const struct test_suite *list[UCS_ARRAY_COUNT(suites) + 3] = {NULL};
    const struct uct_transport *const *next;
    unsigned                           index;

    (void)setenv("UCX_MODULE_DIR", CONFORM_MODULE_DIR, 0);
    /* Before the runner takes the UCX_* variables away. */
    for (next = ucti_transports(); *next != NULL; ++next) {
        add_param(*next, (*next)->name, 1);
        if (!is_self_only(*next)) {
            add_param(*next, (*next)->name, 2);
        }
        if (can_encrypt(*next)) {
            add_encrypted(*next);
        }
        if (ucti_transport_has_name(*next, WITHOUT_CMA)) {
            add_param(*next, WITHOUT_CMA, 1);
            add_param(*next, WITHOUT_CMA, 2);
        }
    }
    (void)fputs(ucti_modules_report(), stderr);
    for (index = 0; index < UCS_ARRAY_COUNT(suites); ++index) {
        suites[index]->params = params_all;
        list[index]           = suites[index];
    }
    /* What may differ without a part, or encrypted. */
    conform_address_suite.params  = with_encrypted(params_parts);
    conform_am_suite.params       = conform_address_suite.params;
    conform_rma_suite.params      = conform_address_suite.params;
    conform_pieces_suite.params   = conform_address_suite.params;
    conform_rights_suite.params   = params_parts;
    conform_order_suite.params    = with_encrypted(params_all);
    conform_zcopy_suite.params    = conform_order_suite.params;
    conform_teardown_suite.params = conform_order_suite.params;
    conform_faults_suite.params   = params_two;
    conform_example_suite.params  = params_example;
    if (params_two[0].name != NULL) {
        list[index++] = &conform_faults_suite;
    }
    if (params_example[0].name != NULL) {
        list[index] = &conform_example_suite;
    }
    return test_main(argc, argv, list);
}
