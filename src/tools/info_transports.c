/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/info_transports.c - transports, devices, limits and settings from our
 * own libuct and libucs.
 *
 * Their functions are looked up at run time and not linked, so that the same
 * `causeway` starts on UCX's libraries too, even where the loader binds every
 * symbol at once. Types come from our headers; the libraries' sonames and
 * UCT_MODULE_ABI_NUMBER go together with them. */
#include "tools/info.h"

#include "tools/tool.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "ucs/config.h"
#include "uct/api/uct.h"
#include "uct/base/caps.h"

enum info_limit {
    INFO_DEVICE_MAX = 64,
    INFO_TEXT_BYTES = 4096,
};

_Static_assert(INFO_PRINT_ORIGIN == UCS_CONFIG_PRINT_ORIGIN,
               "info.c cannot include ucs/config.h");

/* The function called [_name], or NULL. */
#define INFO_FIND(_name) ((__typeof__(&(_name)))dlsym(RTLD_DEFAULT, #_name))

bool info_transports_exist(void)
{
    return dlsym(RTLD_DEFAULT, "ucti_transports") != NULL;
}

static void info_print_indented(const char *text)
{
    size_t length;

    while (*text != '\0') {
        length = strcspn(text, "\n");
        printf("             %.*s\n", (int)length, text);
        text += length + (text[length] == '\n');
    }
}

/* Open the device and say what it can. */
static void info_print_limits(const struct uct_device *device)
{
    const struct uct_transport   *transport = device->transport;
    __typeof__(&ucti_caps_text)   caps_text = INFO_FIND(ucti_caps_text);
    __typeof__(&ucti_md_open)     md_open   = INFO_FIND(ucti_md_open);
    __typeof__(&ucti_md_close)    md_close  = INFO_FIND(ucti_md_close);
    __typeof__(&ucti_iface_open)  open      = INFO_FIND(ucti_iface_open);
    __typeof__(&ucti_iface_close) close     = INFO_FIND(ucti_iface_close);
    struct uct_iface_params       params    = {0};
    struct uct_iface_attr         attr      = {0};
    char                          text[INFO_TEXT_BYTES] = "";
    struct uct_iface             *iface;
    struct uct_md                *md;

    if ((caps_text == NULL) || (md_open == NULL) || (md_close == NULL) ||
        (open == NULL) || (close == NULL) || (md_open(device, &md) != UCS_OK)) {
        info_print_indented("cannot be opened");
        return;
    }
    if (open(md, &params, &iface) != UCS_OK) {
        info_print_indented("cannot be opened");
    } else {
        transport->iface_query(iface, &attr);
        (void)caps_text(transport, &attr, text, sizeof(text));
        info_print_indented(text);
        close(iface);
    }
    md_close(md);
}

static void info_print_transport(const struct uct_transport *transport,
                                 bool                        limits)
{
    struct uct_device devices[INFO_DEVICE_MAX]     = {{0}};
    char              reason[UCT_REASON_BYTES_MAX] = "";
    unsigned          count                        = INFO_DEVICE_MAX;
    unsigned          i;

    transport->devices(NULL, devices, &count, reason);
    if (count == 0) {
        printf("transport  %s: no device%s%s\n", transport->name,
               reason[0] != '\0' ? ", " : "", reason);
    }
    for (i = 0; (i < count) && (i < INFO_DEVICE_MAX); i++) {
        const char *why = devices[i].left_out;

        printf("transport  %s: %s%s%s\n", transport->name, devices[i].name,
               (why[0] != '\0') ? ", left out: " : "", why);
        if (limits && (why[0] == '\0')) {
            info_print_limits(&devices[i]);
        }
    }
}

void info_transports_print(bool limits)
{
    __typeof__(&ucti_transports)       list    = INFO_FIND(ucti_transports);
    __typeof__(&ucti_modules_report)   modules = INFO_FIND(ucti_modules_report);
    const struct uct_transport *const *one;
    const char                        *report;

    for (one = list(); *one != NULL; one++) {
        info_print_transport(*one, limits);
    }
    report = modules != NULL ? modules() : NULL;
    if ((report != NULL) && (report[0] != '\0')) {
        printf("not loaded:\n");
        info_print_indented(report);
    }
}
