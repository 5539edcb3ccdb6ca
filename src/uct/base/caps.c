/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/base/caps.c - describe a transport and an interface in words. */
#include "uct/base/caps.h"

#include <stdarg.h>
#include <stdio.h>

static const char *const cap_names[UCT_CAP_COUNT] = {
    [UCT_CAP_AM_SHORT] = "am_short",   [UCT_CAP_AM_ZCOPY] = "am_zcopy",
    [UCT_CAP_PUT_SHORT] = "put_short", [UCT_CAP_PUT_BCOPY] = "put_bcopy",
    [UCT_CAP_PUT_ZCOPY] = "put_zcopy", [UCT_CAP_GET_BCOPY] = "get_bcopy",
    [UCT_CAP_GET_ZCOPY] = "get_zcopy", [UCT_CAP_ATOMIC] = "atomic",
    [UCT_CAP_KEEP] = "am_release",     [UCT_CAP_WAKEUP] = "arm",
};

const char *ucti_cap_name(enum uct_cap cap)
{
    return cap_names[cap];
}

bool ucti_transport_can(const struct uct_transport *transport, enum uct_cap cap)
{
    const bool has[UCT_CAP_COUNT] = {
        [UCT_CAP_AM_SHORT]  = transport->am_short != NULL,
        [UCT_CAP_AM_ZCOPY]  = transport->am_zcopy != NULL,
        [UCT_CAP_PUT_SHORT] = transport->put_short != NULL,
        [UCT_CAP_PUT_BCOPY] = transport->put_bcopy != NULL,
        [UCT_CAP_PUT_ZCOPY] = transport->put_zcopy != NULL,
        [UCT_CAP_GET_BCOPY] = transport->get_bcopy != NULL,
        [UCT_CAP_GET_ZCOPY] = transport->get_zcopy != NULL,
        [UCT_CAP_ATOMIC]    = transport->atomic != NULL,
        [UCT_CAP_KEEP]      = transport->am_release != NULL,
        [UCT_CAP_WAKEUP]    = transport->arm != NULL,
    };

    return has[cap];
}

/* A text that grows in a buffer and counts what does not fit. */
struct caps_text {
    char  *text;
    size_t text_bytes;
    size_t used_bytes;
};

UCS_PRINTF(2, 3)
static void caps_add(struct caps_text *out, const char *format, ...)
{
    size_t used =
        (out->used_bytes < out->text_bytes) ? out->used_bytes : out->text_bytes;
    va_list args;
    int     bytes;

    va_start(args, format);
    bytes = vsnprintf((out->text == NULL) ? NULL : out->text + used,
                      out->text_bytes - used, format, args);
    va_end(args);
    out->used_bytes += (bytes > 0) ? (size_t)bytes : 0;
}

static void caps_add_limit(struct caps_text *out, const char *name,
                           size_t bytes)
{
    if (bytes == SIZE_MAX) {
        caps_add(out, ", %s unlimited", name);
    } else {
        caps_add(out, ", %s %zu", name, bytes);
    }
}

static void caps_add_family(struct caps_text *out, const char *name,
                            const struct uct_op_limits *limits)
{
    caps_add(out, "%s: short %zu", name, limits->short_bytes_max);
    caps_add_limit(out, "bcopy", limits->bcopy_bytes_max);
    caps_add_limit(out, "zcopy", limits->zcopy_bytes_max);
    caps_add(out, ", iov %u", limits->iov_count_max);
    if (limits->remote_count_max > 0) {
        caps_add(out, ", remote %u", limits->remote_count_max);
    }
    caps_add(out, "\n");
}

static void caps_add_rma_cost(struct caps_text *out, const char *name,
                              const struct uct_rma_cost *cost)
{
    if (cost->bandwidth_Bps > 0) {
        caps_add(out, "%s cost: latency %.0f ns, overhead %.0f ns, %.2f GB/s\n",
                 name, cost->latency_s * 1e9, cost->overhead_s * 1e9,
                 cost->bandwidth_Bps / 1e9);
    }
}

static void caps_add_flags(struct caps_text *out, unsigned flags)
{
    static const char *const names[] = {"intra_node",         "self_only",
                                        "put_before_am",      "poll_is_syscall",
                                        "put_done_at_target", "zcopy_copies"};
    unsigned                 index;

    caps_add(out, "flags:");
    for (index = 0; index < UCS_ARRAY_COUNT(names); ++index) {
        if (flags & (1u << index)) {
            caps_add(out, " %s", names[index]);
        }
    }
    caps_add(out, "\n");
}

size_t ucti_caps_text(const struct uct_transport  *transport,
                      const struct uct_iface_attr *attr, char *text,
                      size_t text_bytes)
{
    struct caps_text out = {.text = text, .text_bytes = text_bytes};
    unsigned         cap;

    caps_add(&out, "transport: %s\n", transport->name);
    caps_add(&out, "can: am_bcopy");
    for (cap = 0; cap < UCT_CAP_COUNT; ++cap) {
        if (ucti_transport_can(transport, (enum uct_cap)cap)) {
            caps_add(&out, " %s", cap_names[cap]);
        }
    }
    caps_add(&out, "\n");
    caps_add_family(&out, "am", &attr->am);
    caps_add(&out, "am zcopy header: %zu\n", attr->am_zcopy_header_bytes_max);
    caps_add_family(&out, "put", &attr->put);
    caps_add_family(&out, "get", &attr->get);
    caps_add(&out, "latency: %.0f ns\n", attr->cost.latency_s * 1e9);
    caps_add(&out, "overhead: %.0f ns\n", attr->cost.overhead_s * 1e9);
    caps_add(&out, "bandwidth: %.2f GB/s\n", attr->cost.bandwidth_Bps / 1e9);
    caps_add(&out, "register: %.0f ns + %.4f ns per byte\n",
             attr->cost.register_base_s * 1e9,
             attr->cost.register_per_byte_s * 1e9);
    caps_add_rma_cost(&out, "put", &attr->put_cost);
    caps_add_rma_cost(&out, "get", &attr->get_cost);
    caps_add(&out, "address: %zu bytes\n", attr->address_bytes);
    caps_add_flags(&out, attr->flags);
    return out.used_bytes;
}
