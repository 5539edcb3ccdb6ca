/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/explain_lost.c - why a protocol does not carry sizes for which it
 * was asked: refused, for other sizes, or dearer, and by how much. */
#include "ucp/proto/eager.h"
#include "ucp/proto/explain_range.h"
#include "ucs/json.h"

/* Why an offer lost.
 * verdict   "refused", "size" (not for these), "dearer"
 * reason    refused: in words
 * first, last        size: from where to where it can be used
 * by_first, by_last  dearer by so many seconds, at the ends of the range;
 *                    infinite where it cannot be used */
struct explain_loss {
    const char *verdict;
    const char *reason;
    size_t      first;
    size_t      last;
    double      by_first;
    double      by_last;
};

/* The setting that would change it, NULL: none would. */
static const char *explain_setting(const struct ucp_proto    *proto,
                                   const struct explain_loss *loss)
{
    bool is_settled =
        (loss->reason != NULL) && (loss->reason != ucp_offer_no_size_reason);

    return is_settled ? NULL : proto->setting;
}

static double explain_cost(const struct ucp_offer *offer, size_t bytes)
{
    return ucs_linear_cost(ucsi_piecewise_at(&offer->cost, bytes),
                           (double)bytes);
}

/* The sizes that an offer serves at all. */
static void explain_offered_sizes(const struct ucp_offer *offer,
                                  struct explain_loss    *loss)
{
    size_t next = 0;

    loss->first = SIZE_MAX;
    loss->last  = 0;
    for (unsigned i = 0; i < offer->cost.count; ++i) {
        const struct ucs_piece *piece = &offer->cost.pieces[i];

        if (isfinite(piece->cost.base_s)) {
            loss->first = ucs_min(loss->first, next);
            loss->last  = piece->size_bytes_max;
        }
        next = piece->size_bytes_max + 1; /* wraps behind the last */
    }
}

static struct explain_loss explain_loss(const struct ucp_selection *selection,
                                        unsigned                    index,
                                        const struct ucp_explain_range *range)
{
    const struct ucp_offer *offer = &selection->offers[index];
    const struct ucp_offer *winner =
        &selection->offers[ucs_min(range->winner, selection->offer_count - 1)];
    struct explain_loss loss = {.verdict = "dearer", .reason = offer->reason};

    if (offer->reason != NULL) {
        loss.verdict = "refused";
        return loss;
    }
    explain_offered_sizes(offer, &loss);
    loss.by_first =
        explain_cost(offer, range->first) - explain_cost(winner, range->first);
    loss.by_last =
        explain_cost(offer, range->last) - explain_cost(winner, range->last);
    if ((loss.first > range->last) || (loss.last < range->first)) {
        loss.verdict = "size";
    } else if (!isfinite(loss.by_first) && (loss.first < range->first) &&
               (loss.last > range->last)) {
        loss.verdict = "size"; /* a hole */
        loss.reason  = ucp_eager_zcopy_reason;
    }
    return loss;
}

static void explain_loss_json(struct ucp_explain             *explain,
                              const struct ucp_query         *query,
                              const struct ucp_proto         *proto,
                              const struct ucp_explain_range *range,
                              const struct explain_loss      *loss)
{
    const char *setting = explain_setting(proto, loss);

    ucp_explain_begin_json(explain, "lost", query, range);
    ucsi_json_text(&explain->text, "protocol", proto->name);
    ucsi_json_text(&explain->text, "verdict", loss->verdict);
    if (loss->reason != NULL) {
        ucsi_json_text(&explain->text, "reason", loss->reason);
    } else {
        ucsi_json_u64(&explain->text, "offer_first", loss->first);
        ucsi_json_u64(&explain->text, "offer_last", loss->last);
        ucsi_json_double(&explain->text, "by_first_s", loss->by_first);
        ucsi_json_double(&explain->text, "by_last_s", loss->by_last);
    }
    if (setting != NULL) {
        ucsi_json_text(&explain->text, "setting", setting);
    }
    ucp_explain_end(explain);
}

static void explain_dearer_text(struct ucs_strbuf              *text,
                                const struct ucp_explain_range *range,
                                const struct explain_loss      *loss)
{
    const char *comma = "dearer by ";

    if (isfinite(loss->by_first)) {
        ucsi_strbuf_appendf(text, "%s%.3f us at %zu", comma,
                            loss->by_first * 1e6, range->first);
        comma = ", ";
    }
    if (isfinite(loss->by_last) && (range->last != SIZE_MAX) &&
        (range->last != range->first)) {
        ucsi_strbuf_appendf(text, "%s%.3f us at %zu", comma,
                            loss->by_last * 1e6, range->last);
        comma = ", ";
    }
    if (loss->first > range->first) {
        ucsi_strbuf_appendf(text, "%sonly from %zu on",
                            (*comma == 'd') ? "dearer, " : comma, loss->first);
    } else if (loss->last < range->last) {
        ucsi_strbuf_appendf(text, "%sonly up to %zu", comma, loss->last);
    }
}

static void explain_loss_text(struct ucp_explain             *explain,
                              const struct ucp_proto         *proto,
                              const struct ucp_explain_range *range,
                              const struct explain_loss      *loss)
{
    struct ucs_strbuf *text    = &explain->text;
    const char        *setting = explain_setting(proto, loss);

    ucp_explain_begin(explain, NULL);
    ucsi_strbuf_appendf(text, "      not %-22s ", proto->name);
    if (loss->reason != NULL) {
        ucsi_strbuf_appendf(text, "refused: %s", loss->reason);
    } else if (loss->first > range->last) {
        ucsi_strbuf_appendf(text, "only from %zu on", loss->first);
    } else if (loss->last < range->first) {
        ucsi_strbuf_appendf(text, "only up to %zu", loss->last);
    } else {
        explain_dearer_text(text, range, loss);
    }
    if (setting != NULL) {
        ucsi_strbuf_appendf(text, " [%s]", setting);
    }
    ucp_explain_end(explain);
}

void ucp_explain_lost(struct ucp_explain         *explain,
                      const struct ucp_query     *query,
                      const struct ucp_selection *selection, unsigned index,
                      const struct ucp_explain_range *range)
{
    struct explain_loss     loss  = explain_loss(selection, index, range);
    const struct ucp_proto *proto = selection->protos[index];

    if (explain->json) {
        explain_loss_json(explain, query, proto, range, &loss);
    } else {
        explain_loss_text(explain, proto, range, &loss);
    }
}
