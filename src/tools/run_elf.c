/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/run_elf.c - read interpreter, NEEDED and RPATH of an ELF file. The
 * file may be anything: every offset is checked. */
#include "tools/run.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct elf_bytes {
    const uint8_t *data;
    size_t         size_bytes;
};

/* [count] objects of [each_bytes] at [offset], or NULL if not all inside. */
static const void *elf_at(const struct elf_bytes *bytes, uint64_t offset,
                          uint64_t count, uint64_t each_bytes)
{
    if ((offset > bytes->size_bytes) ||
        (count > (bytes->size_bytes - offset) / each_bytes)) {
        return NULL;
    }
    return bytes->data + offset;
}

/* A string of the file; "" if it does not end inside. */
static const char *elf_string(const struct elf_bytes *bytes, uint64_t offset)
{
    if ((offset >= bytes->size_bytes) ||
        (memchr(bytes->data + offset, '\0', bytes->size_bytes - offset) ==
         NULL)) {
        return "";
    }
    return (const char *)bytes->data + offset;
}

/* Address to offset, by the load segments. */
static uint64_t elf_offset(const ElfW(Phdr) * headers, size_t count,
                           uint64_t address)
{
    size_t i;

    for (i = 0; i < count; i++) {
        if ((headers[i].p_type == PT_LOAD) && (address >= headers[i].p_vaddr) &&
            (address - headers[i].p_vaddr < headers[i].p_filesz)) {
            return address - headers[i].p_vaddr + headers[i].p_offset;
        }
    }
    return UINT64_MAX;
}

static void elf_read_dynamic(const struct elf_bytes *bytes,
                             const ElfW(Dyn) * dynamic, size_t count,
                             uint64_t strings, struct run_elf *elf)
{
    bool   runpath = false;
    size_t i;

    for (i = 0; (i < count) && (dynamic[i].d_tag != DT_NULL); i++) {
        const char *text = elf_string(bytes, strings + dynamic[i].d_un.d_val);

        if (dynamic[i].d_tag == DT_NEEDED) {
            elf->needs_ucp |= strcmp(text, RUN_LIBRARY) == 0;
        } else if (dynamic[i].d_tag == DT_RPATH) {
            snprintf(elf->rpath, sizeof(elf->rpath), "%s", text);
        } else if (dynamic[i].d_tag == DT_RUNPATH) {
            runpath = true;
        }
    }
    if (runpath) {
        elf->rpath[0] = '\0'; /* then the loader ignores it */
    }
}

static void elf_find_dynamic(const struct elf_bytes *bytes,
                             const ElfW(Phdr) * headers, size_t header_count,
                             const ElfW(Phdr) * dynamic, struct run_elf *elf)
{
    size_t count = dynamic->p_filesz / sizeof(ElfW(Dyn));
    const ElfW(Dyn) *entries =
        elf_at(bytes, dynamic->p_offset, count, sizeof(*entries));
    uint64_t strings = UINT64_MAX;
    size_t   i;

    for (i = 0; (entries != NULL) && (i < count); i++) {
        if (entries[i].d_tag == DT_STRTAB) {
            strings = elf_offset(headers, header_count, entries[i].d_un.d_ptr);
        }
    }
    if (strings < bytes->size_bytes) {
        elf_read_dynamic(bytes, entries, count, strings, elf);
    }
}

static void elf_read_headers(const struct elf_bytes *bytes, struct run_elf *elf)
{
    const ElfW(Ehdr) *head = elf_at(bytes, 0, 1, sizeof(*head));
    const ElfW(Phdr) * headers;
    size_t i;

    if ((head == NULL) || (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0) ||
        (head->e_ident[EI_CLASS] !=
         (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)) ||
        (head->e_phentsize != sizeof(*headers))) {
        return;
    }
    headers = elf_at(bytes, head->e_phoff, head->e_phnum, sizeof(*headers));
    if (headers == NULL) {
        return;
    }
    elf->is_elf = true;
    for (i = 0; i < head->e_phnum; i++) {
        if (headers[i].p_type == PT_INTERP) {
            elf->is_dynamic = true;
            snprintf(elf->interpreter, sizeof(elf->interpreter), "%s",
                     elf_string(bytes, headers[i].p_offset));
        } else if (headers[i].p_type == PT_DYNAMIC) {
            elf_find_dynamic(bytes, headers, head->e_phnum, &headers[i], elf);
        }
    }
}

void run_elf_read(const char *path, struct run_elf *elf)
{
    struct elf_bytes bytes;
    struct stat      info;
    void            *memory = MAP_FAILED;
    int              fd     = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    memset(elf, 0, sizeof(*elf));
    if (fd < 0) {
        return;
    }
    if ((fstat(fd, &info) == 0) && S_ISREG(info.st_mode) &&
        (info.st_size > 0)) {
        memory =
            mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    close(fd);
    if (memory == MAP_FAILED) {
        return;
    }
    bytes.data       = memory;
    bytes.size_bytes = (size_t)info.st_size;
    elf_read_headers(&bytes, elf);
    munmap(memory, bytes.size_bytes);
}
