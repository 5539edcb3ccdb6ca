/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/rails.c - sharing bytes by bandwidth. */
#include "ucp/proto/rails.h"

#include <math.h>

double ucp_rail_bandwidth(const struct ucp_lane_model *model,
                          enum ucp_rail_use            use)
{
    switch (use) {
    case UCP_RAIL_PUT:
        return model->attr.put_cost.bandwidth_Bps;
    case UCP_RAIL_GET:
        return model->attr.get_cost.bandwidth_Bps;
    case UCP_RAIL_SEND:
        break;
    }
    return model->attr.cost.bandwidth_Bps;
}

static bool rails_has(uint32_t lanes, unsigned lane)
{
    return (lanes & (UINT32_C(1) << lane)) != 0;
}

/* The bandwidth of all, and which one has the least of it. */
static double rails_all(const struct ucp_lane_row *rows, uint32_t lanes,
                        enum ucp_rail_use use, unsigned *slowest_p)
{
    double all = 0, least = HUGE_VAL;

    for (unsigned i = 0; i < UCP_LANE_COUNT_MAX; ++i) {
        double own = rails_has(lanes, i)
                         ? ucp_rail_bandwidth(&rows[i].model, use)
                         : HUGE_VAL;

        all += rails_has(lanes, i) ? own : 0;
        if (own < least) {
            least      = own;
            *slowest_p = i;
        }
    }
    return all;
}

uint32_t ucp_rails_for(const struct ucp_lane_row *rows, uint32_t lanes,
                       enum ucp_rail_use use, size_t length,
                       size_t share_bytes_min)
{
    unsigned slowest = 0;

    while ((lanes & (lanes - 1)) != 0) { /* more than one */
        double all   = rails_all(rows, lanes, use, &slowest);
        double least = ucp_rail_bandwidth(&rows[slowest].model, use);

        if ((double)length * least >= (double)share_bytes_min * all) {
            break;
        }
        lanes &= ~(UINT32_C(1) << slowest);
    }
    return lanes;
}

unsigned ucp_rails_next(const struct ucp_lane_row *rows, uint32_t lanes,
                        enum ucp_rail_use use, const size_t *lane_bytes)
{
    unsigned best   = 0;
    double   best_s = HUGE_VAL;

    for (unsigned i = 0; i < UCP_LANE_COUNT_MAX; ++i) {
        double time_s =
            rails_has(lanes, i)
                ? (double)(lane_bytes[i] + 1) /
                      ucs_max(ucp_rail_bandwidth(&rows[i].model, use), 1.0)
                : HUGE_VAL;

        if (time_s < best_s) {
            best   = i;
            best_s = time_s;
        }
    }
    return best;
}

size_t ucp_rails_share(const struct ucp_lane_row *rows, uint32_t lanes,
                       enum ucp_rail_use use, unsigned lane, size_t length)
{
    enum { SHARE_ALIGN_BYTES = 4096 };
    unsigned slowest = 0;
    double   all     = rails_all(rows, lanes, use, &slowest);
    double   own     = ucp_rail_bandwidth(&rows[lane].model, use);
    size_t   share;

    if (own >= all) {
        return length;
    }
    share = (size_t)((double)length * own / all);
    return (share / SHARE_ALIGN_BYTES + 1) * SHARE_ALIGN_BYTES;
}
