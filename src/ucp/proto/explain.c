/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/explain.c - a selection in words. */
#include "ucp/proto/explain.h"

#include <fnmatch.h>

#include "ucp/proto/explain_range.h"
#include "ucp/proto/rndv.h"
#include "ucs/json.h"

void ucp_explain_begin(struct ucp_explain *explain, const char *record)
{
    ucs_strbuf_init(&explain->text, explain->text_bytes,
                    sizeof(explain->text_bytes));
    if (explain->json) {
        ucsi_json_open(&explain->text, NULL);
        ucsi_json_text(&explain->text, "record", record);
    }
}

void ucp_explain_end(struct ucp_explain *explain)
{
    if (explain->json) {
        ucsi_json_close(&explain->text);
    }
    explain->line(explain->arg, explain->text_bytes);
}

static void explain_title(const struct ucp_explain *explain,
                          const struct ucp_query *query, char *title,
                          size_t size_bytes)
{
    struct ucs_strbuf text;

    ucs_strbuf_init(&text, title, size_bytes);
    ucsi_strbuf_appendf(&text, "%s, %s, %s", explain->operation->title,
                        ucp_mode_names[query->mode],
                        ucp_dt_kind_names[query->dt_kind]);
    if (query->piece_bytes > 0) {
        ucsi_strbuf_appendf(&text, " in pieces of %zu bytes",
                            explain->piece_bytes);
    }
    ucsi_strbuf_appendf(&text, ", %s memory", explain->memory->name);
}

void ucp_explain_begin_json(struct ucp_explain *explain, const char *record,
                            const struct ucp_query         *query,
                            const struct ucp_explain_range *range)
{
    ucp_explain_begin(explain, record);
    ucsi_json_text(&explain->text, "operation", explain->operation->name);
    ucsi_json_text(&explain->text, "mode", ucp_mode_names[query->mode]);
    ucsi_json_text(&explain->text, "datatype",
                   ucp_dt_kind_names[query->dt_kind]);
    ucsi_json_text(&explain->text, "memory", explain->memory->name);
    if (query->piece_bytes > 0) {
        ucsi_json_u64(&explain->text, "piece_bytes", explain->piece_bytes);
    }
    ucsi_json_u64(&explain->text, "bytes_first", range->first);
    ucsi_json_u64(&explain->text, "bytes_last", range->last);
}

/* ------------------------------------------------------------- the winners */

static void explain_winner_json(struct ucp_explain             *explain,
                                const struct ucp_query         *query,
                                const struct ucp_selection     *selection,
                                const struct ucp_explain_range *range)
{
    const struct ucp_proto *proto = selection->protos[range->winner];
    struct ucs_linear       cost =
        ucsi_piecewise_at(&selection->offers[range->winner].cost, range->first);

    ucp_explain_begin_json(explain, "protocol", query, range);
    ucsi_json_text(&explain->text, "protocol", proto->name);
    ucsi_json_text(&explain->text, "summary", proto->summary);
    ucsi_json_double(&explain->text, "base_s", cost.base_s);
    ucsi_json_double(&explain->text, "per_byte_s", cost.per_byte_s);
    if (query->piece_bytes > 0) {
        ucsi_json_double(&explain->text, "piece_s",
                         selection->offers[range->winner].piece_s);
    }
    ucp_explain_end(explain);
}

static void explain_winner_text(struct ucp_explain             *explain,
                                const struct ucp_query         *query,
                                const struct ucp_selection     *selection,
                                const struct ucp_explain_range *range)
{
    const struct ucp_proto *proto = selection->protos[range->winner];
    struct ucs_linear       cost =
        ucsi_piecewise_at(&selection->offers[range->winner].cost, range->first);
    char              sizes[48];
    struct ucs_strbuf text;

    ucs_strbuf_init(&text, sizes, sizeof(sizes));
    ucsi_strbuf_appendf(&text, "%zu", range->first);
    if (range->last == SIZE_MAX) {
        ucsi_strbuf_append(&text, " or more");
    } else if (range->last > range->first) {
        ucsi_strbuf_appendf(&text, "..%zu", range->last);
    }
    ucp_explain_begin(explain, NULL);
    ucsi_strbuf_appendf(&explain->text, "  %-20s %-22s %.3f us + %.3f ns/B",
                        sizes, proto->name, cost.base_s * 1e6,
                        cost.per_byte_s * 1e9);
    if (query->piece_bytes > 0) {
        ucsi_strbuf_appendf(&explain->text, ", %.3f us a piece in it",
                            selection->offers[range->winner].piece_s * 1e6);
    }
    ucsi_strbuf_appendf(&explain->text, "; %s", proto->summary);
    ucp_explain_end(explain);
}

static void explain_nobody(struct ucp_explain             *explain,
                           const struct ucp_query         *query,
                           const struct ucp_explain_range *range)
{
    if (explain->json) {
        ucp_explain_begin_json(explain, "nobody", query, range);
    } else {
        ucp_explain_begin(explain, NULL);
        ucsi_strbuf_appendf(&explain->text, "  %zu and more: no protocol",
                            range->first);
    }
    ucp_explain_end(explain);
}

/* ------------------------------------------------- what becomes of a proposal
 */

/* Who goes on in the winner's place, and why.
 * who  "sender": from the start; "receiver": when it has matched */
struct explain_then {
    const char *who;
    const char *reason;
};

/* @return false: the winner does what it proposes. */
static bool explain_falls_back(const struct ucp_explain *explain,
                               const struct ucp_query   *query,
                               const struct ucp_proto   *proto,
                               struct explain_then      *then_p)
{
    size_t piece_bytes = (query->piece_bytes > 0) ? explain->piece_bytes : 0;

    if ((explain->ep != NULL) && (proto->obstacle != NULL)) {
        *then_p = (struct explain_then){
            "sender", proto->obstacle(explain->ep, piece_bytes)};
        if (then_p->reason != NULL) {
            return true;
        }
    }
    *then_p = (struct explain_then){"receiver",
                                    "for the receiver's datatype it cannot be"};
    return (proto->answer != NULL) && (explain->recv_class >= 0) &&
           !(proto->answers & UCP_DT_BIT(explain->recv_class));
}

static void explain_then(struct ucp_explain             *explain,
                         const struct ucp_query         *query,
                         const struct ucp_proto         *proto,
                         const struct ucp_explain_range *range)
{
    const char         *name = ucp_pipeline_send_proto.name;
    struct explain_then then;

    if (!explain_falls_back(explain, query, proto, &then)) {
        return;
    }
    if (explain->json) {
        ucp_explain_begin_json(explain, "then", query, range);
        ucsi_json_text(&explain->text, "protocol", name);
        ucsi_json_text(&explain->text, "who", then.who);
        ucsi_json_text(&explain->text, "reason", then.reason);
    } else {
        ucp_explain_begin(explain, NULL);
        ucsi_strbuf_appendf(&explain->text, "      then %-21s %s: %s", name,
                            then.who, then.reason);
    }
    ucp_explain_end(explain);
}

/* --------------------------------------------------------------- selections */

static void explain_range(struct ucp_explain             *explain,
                          const struct ucp_query         *query,
                          const struct ucp_selection     *selection,
                          const struct ucp_explain_range *range)
{
    if (range->winner == UCS_ENVELOPE_NONE) {
        explain_nobody(explain, query, range);
    } else if (explain->json) {
        explain_winner_json(explain, query, selection, range);
    } else {
        explain_winner_text(explain, query, selection, range);
    }
    if (range->winner != UCS_ENVELOPE_NONE) {
        explain_then(explain, query, selection->protos[range->winner], range);
    }
    for (unsigned i = 0; i < selection->offer_count; ++i) {
        if (i != range->winner) {
            ucp_explain_lost(explain, query, selection, i, range);
        }
    }
}

static void explain_selection(struct ucp_explain         *explain,
                              const struct ucp_query     *query,
                              const struct ucp_selection *selection)
{
    struct ucp_explain_range range = {.first = 0};

    for (unsigned i = 0; i < selection->line_count; ++i) {
        range.last   = selection->lines[i].size_bytes_max;
        range.winner = selection->lines[i].index;
        if (!explain->has_bytes) {
            explain_range(explain, query, selection, &range);
        } else if ((explain->bytes >= range.first) &&
                   (explain->bytes <= range.last)) {
            range.first = explain->bytes;
            range.last  = explain->bytes;
            explain_range(explain, query, selection, &range);
            return;
        }
        range.first = range.last + 1;
    }
}

/* Do two selections say the same, costs and reasons included? */
static bool explain_is_same(const struct ucp_selection *a,
                            const struct ucp_selection *b)
{
    bool same = (a->line_count == b->line_count);

    for (unsigned i = 0; same && (i < a->line_count); ++i) {
        same = (a->lines[i].index == b->lines[i].index) &&
               (a->lines[i].size_bytes_max == b->lines[i].size_bytes_max) &&
               (a->lines[i].cost.base_s == b->lines[i].cost.base_s) &&
               (a->lines[i].cost.per_byte_s == b->lines[i].cost.per_byte_s);
    }
    for (unsigned i = 0; same && (i < a->offer_count); ++i) {
        same = (a->offers[i].reason == b->offers[i].reason);
    }
    return same;
}

/* As the endpoint's tables are made. @return query. */
static const struct ucp_query *explain_settle(struct ucp_query *query)
{
    struct ucp_offer offer;

    (void)ucp_rndv_settle_scheme(query, &offer);
    return query;
}

/* Ask about messages of that kind; pieces count as they do when one is sent. */
static void explain_set_kind(const struct ucp_explain *explain,
                             struct ucp_query *query, unsigned mode,
                             unsigned dt_kind)
{
    query->mode    = (enum ucp_mode)mode;
    query->dt_kind = (int)dt_kind;
    query->piece_bytes =
        ucp_dt_kind_has_pieces(query->dt_kind)
            ? ucp_pieces_bytes(ucp_pieces_index(explain->piece_bytes))
            : 0;
}

/* The first query before this one with the same answer.
 * @return false: there is none. */
static bool explain_find_same(const struct ucp_explain      *explain,
                              const struct ucp_proto *const *protos,
                              const struct ucp_query        *query,
                              const struct ucp_selection    *selection,
                              struct ucp_query              *same)
{
    unsigned end =
        (unsigned)query->mode * UCP_DT_KIND_COUNT + (unsigned)query->dt_kind;

    for (unsigned i = 0; i < end; ++i) {
        struct ucp_selection other;

        *same = *query;
        explain_set_kind(explain, same, i / UCP_DT_KIND_COUNT,
                         i % UCP_DT_KIND_COUNT);
        if ((ucp_select_all(protos, explain_settle(same), &other) == UCS_OK) &&
            explain_is_same(selection, &other)) {
            return true;
        }
    }
    return false;
}

/* @param may_refer  to an earlier query with the same answer. */
static void explain_query(struct ucp_explain            *explain,
                          const struct ucp_proto *const *protos,
                          const struct ucp_query *asked, bool may_refer)
{
    struct ucp_query        settled = *asked;
    const struct ucp_query *query   = explain_settle(&settled);
    struct ucp_selection    selection;
    struct ucp_query        same;
    char                    title[128];

    explain_title(explain, query, title, sizeof(title));
    if (((explain->title != NULL) &&
         (fnmatch(explain->title, title, 0) != 0)) ||
        (ucp_select_all(protos, query, &selection) != UCS_OK)) {
        return;
    }
    if (!explain->json) {
        ucp_explain_begin(explain, NULL);
        ucsi_strbuf_append(&explain->text, title);
    }
    if (may_refer &&
        explain_find_same(explain, protos, asked, &selection, &same)) {
        ucsi_strbuf_appendf(&explain->text, ": as %s, %s",
                            ucp_mode_names[same.mode],
                            ucp_dt_kind_names[same.dt_kind]);
        ucp_explain_end(explain);
        return;
    }
    if (!explain->json) {
        ucp_explain_end(explain);
    }
    explain_selection(explain, query, &selection);
}

void ucp_explain_query(struct ucp_explain            *explain,
                       const struct ucp_proto *const *protos,
                       const struct ucp_query        *query)
{
    explain_query(explain, protos, query, false);
}

void ucp_explain_queries(struct ucp_explain            *explain,
                         const struct ucp_proto *const *protos,
                         const struct ucp_query        *base)
{
    bool may_refer = !explain->json && (explain->mode < 0) &&
                     (explain->dt_kind < 0) && (explain->title == NULL);
    struct ucp_query query = *base;

    for (int mode = 0; mode < UCP_MODE_COUNT; ++mode) {
        for (int dt_kind = 0; dt_kind < UCP_DT_KIND_COUNT; ++dt_kind) {
            explain_set_kind(explain, &query, (unsigned)mode,
                             (unsigned)dt_kind);
            if (((explain->mode < 0) || (explain->mode == mode)) &&
                ((explain->dt_kind < 0) || (explain->dt_kind == dt_kind))) {
                explain_query(explain, protos, &query, may_refer);
            }
        }
    }
}
