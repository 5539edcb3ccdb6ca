/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/base/module.c - find, open and check modules.
 *
 * Files that are not named causeway_uct_<name>.so are never opened, so a
 * UCX_MODULE_DIR with UCX's own modules does no harm. What a file exports is
 * read in the order magic, ABI number, size: each says that the next may be
 * read. A module is checked as strictly as code can check code that it is
 * about to trust; it is not sandboxed. */
#include "uct/base/module.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ucs/log.h"
#include "uct/api/module.h"
#include "uct/base/md.h"

#define MODULE_PREFIX "causeway_uct_"
#define MODULE_SUFFIX ".so"
#define MODULE_SYMBOL "causeway_uct_module"

/* One file, while it is loaded. */
struct module_file {
    const char *path;
    const char *name; /* <name> of its file name */
    size_t      name_bytes;
};

static bool module_is_name(const char *file_name)
{
    size_t bytes = strlen(file_name);

    return (bytes > strlen(MODULE_PREFIX) + strlen(MODULE_SUFFIX)) &&
           (strncmp(file_name, MODULE_PREFIX, strlen(MODULE_PREFIX)) == 0) &&
           (strcmp(file_name + bytes - strlen(MODULE_SUFFIX), MODULE_SUFFIX) ==
            0);
}

static int module_filter(const struct dirent *entry)
{
    return module_is_name(entry->d_name);
}

/* Add a line to the report and to the log. */
UCS_PRINTF(3, 4)
static void module_refuse(struct uct_module_list *list, const char *path,
                          const char *format, ...)
{
    size_t  used = strlen(list->report);
    char    why[UCT_REASON_BYTES_MAX];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(why, sizeof(why), format, args);
    va_end(args);
    ucs_warn("module %s is not used: %s", path, why);
    (void)snprintf(list->report + used, sizeof(list->report) - used, "%s: %s\n",
                   path, why);
}

bool uct_transport_check(const struct uct_transport *transport, char *reason)
{
    const struct uct_transport *t       = transport;
    const char                 *missing = NULL;

    if ((t->name == NULL) || (t->name[0] == '\0') ||
        (strlen(t->name) >= UCT_NAME_BYTES_MAX) || (t->aliases == NULL)) {
        missing = "a name of 1 to 31 bytes and aliases";
    } else if ((t->devices == NULL) || (t->md_open == NULL) ||
               (t->md_close == NULL)) {
        missing = "devices, md_open and md_close";
    } else if ((t->iface_open == NULL) || (t->iface_close == NULL) ||
               (t->iface_query == NULL) || (t->iface_address == NULL) ||
               (t->iface_reach == NULL) || (t->progress == NULL)) {
        missing = "iface_open, _close, _query, _address, _reach, progress";
    } else if ((t->event_fd == NULL) != (t->arm == NULL)) {
        missing = "event_fd and arm, or neither";
    } else if ((t->ep_create == NULL) || (t->ep_destroy == NULL) ||
               (t->ep_flush == NULL)) {
        missing = "ep_create, ep_destroy and ep_flush";
    } else if ((t->am_bcopy == NULL)) {
        missing = "am_bcopy";
    } else if ((t->put_short || t->put_bcopy || t->put_zcopy || t->get_bcopy ||
                t->get_zcopy || t->atomic) &&
               !(t->mem_register && t->mem_release && t->rkey_pack &&
                 t->rkey_unpack && t->rkey_release)) {
        missing = "mem_* and rkey_*, because it has put, get or atomic";
    }
    if (missing != NULL) {
        ucti_reason(reason, "the transport needs %s", missing);
    }
    return missing == NULL;
}

static bool module_is_known(const char                        *name,
                            const struct uct_transport *const *known,
                            const struct uct_module_list      *list)
{
    unsigned index;

    for (; *known != NULL; ++known) {
        if (strcmp((*known)->name, name) == 0) {
            return true;
        }
    }
    for (index = 0; index < list->count; ++index) {
        if (strcmp(list->transports[index]->name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Look at what the file exports. @return NULL: refused, and said so. */
static const struct uct_transport *module_check(const struct module_file *file,
                                                const struct uct_module *module,
                                                struct uct_module_list  *list)
{
    char reason[UCT_REASON_BYTES_MAX];

    if (module->magic != UCT_MODULE_MAGIC) {
        module_refuse(list, file->path, "no Causeway module: magic 0x%x",
                      module->magic);
    } else if (module->abi_number != UCT_MODULE_ABI_NUMBER) {
        module_refuse(list, file->path,
                      "built for transport ABI %u, this library has %u",
                      module->abi_number, (unsigned)UCT_MODULE_ABI_NUMBER);
    } else if (module->struct_bytes != sizeof(struct uct_transport)) {
        module_refuse(list, file->path,
                      "its struct uct_transport has %u bytes, ours %zu",
                      module->struct_bytes, sizeof(struct uct_transport));
    } else if ((module->name == NULL) || (module->transport == NULL)) {
        module_refuse(list, file->path, "names no transport");
    } else if (!uct_transport_check(module->transport, reason)) {
        module_refuse(list, file->path, "%s", reason);
    } else if ((strcmp(module->name, module->transport->name) != 0) ||
               (strlen(module->name) != file->name_bytes) ||
               (strncmp(module->name, file->name, file->name_bytes) != 0)) {
        module_refuse(list, file->path,
                      "file, module and transport have different names");
    } else {
        return module->transport;
    }
    return NULL;
}

static void module_load(const struct module_file          *file,
                        const struct uct_transport *const *known,
                        struct uct_module_list            *list)
{
    const struct uct_transport *transport;
    const struct uct_module    *module;
    void                       *handle;

    handle = dlopen(file->path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        module_refuse(list, file->path, "%s", dlerror());
        return;
    }
    module = (const struct uct_module *)dlsym(handle, MODULE_SYMBOL);
    if (module == NULL) {
        module_refuse(list, file->path, "exports no " MODULE_SYMBOL);
        goto out_close;
    }
    transport = module_check(file, module, list);
    if (transport == NULL) {
        goto out_close;
    }
    if (module_is_known(transport->name, known, list)) {
        module_refuse(list, file->path, "a transport %s is there already",
                      transport->name);
        goto out_close;
    }
    list->transports[list->count++] = transport;
    return; /* and the file stays open */

out_close:
    (void)dlclose(handle);
}

static void module_load_entry(const char *folder, const char *file_name,
                              const struct uct_transport *const *known,
                              struct uct_module_list            *list)
{
    char               path[4096];
    struct module_file file = {
        .path = path,
        .name = file_name + strlen(MODULE_PREFIX),
        .name_bytes =
            strlen(file_name) - strlen(MODULE_PREFIX) - strlen(MODULE_SUFFIX),
    };

    if (snprintf(path, sizeof(path), "%s/%s", folder, file_name) >=
        (int)sizeof(path)) {
        module_refuse(list, file_name, "its path is too long");
        return;
    }
    if (list->count == UCT_MODULE_COUNT_MAX) {
        module_refuse(list, path, "more than %d modules",
                      (int)UCT_MODULE_COUNT_MAX);
        return;
    }
    module_load(&file, known, list);
}

void uct_modules_load(const char                        *folder,
                      const struct uct_transport *const *known,
                      struct uct_module_list            *list)
{
    struct dirent **entries;
    int             count, index;

    list->count     = 0;
    list->report[0] = '\0';
    count           = scandir(folder, &entries, module_filter, alphasort);
    if (count < 0) {
        ucs_debug("module folder %s: %m", folder);
        return;
    }
    for (index = 0; index < count; ++index) {
        module_load_entry(folder, entries[index]->d_name, known, list);
        free(entries[index]);
    }
    free(entries);
}
