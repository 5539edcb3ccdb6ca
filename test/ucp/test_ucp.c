/* SPDX-License-Identifier: BSD-3-Clause */
/* test_ucp.c - the test program of libucp. */
#include "lib/test.h"

#include <stdlib.h>

#include "ucp/suites.h"

static const struct test_suite *const suites[] = {
    &address_suite,
    &arrows_eager_suite,
    &arrows_pipeline_suite,
    &arrows_rdma_suite,
    &buffered_death_suite,
    &buffered_one_suite,
    &buffered_pipeline_suite,
    &buffered_suite,
    &config_suite,
    &context_suite,
    &datatype_suite,
    &death_suite,
    &dt_matrix_suite,
    &eager_allocated_suite,
    &eager_immediate_suite,
    &eager_prepared_suite,
    &eager_suite,
    &ep_suite,
    &ep_loop_suite,
    &ep_queue_suite,
    &explain_suite,
    &explain_forbidden_suite,
    &explain_real_suite,
    &explain_sm_suite,
    &explain_trace_suite,
    &flush_suite,
    &flush_silent_suite,
    &extents_suite,
    &fragment_suite,
    &index_suite,
    &lanes_suite,
    &layout_suite,
    &layout_show_suite,
    &match_suite,
    &matrix_processes_suite,
    &mem_suite,
    &odd_suite,
    &op_suite,
    &peer_suite,
    &peer_rails_suite,
    &pipeline_send_suite,
    &processes_suite,
    &protos_suite,
    &recv_suite,
    &reg_cache_suite,
    &rails_suite,
    &rails_wire_suite,
    &registration_suite,
    &registration_time_suite,
    &rdma_get_suite,
    &rdma_pipeline_suite,
    &rdma_put_suite,
    &rdma_shared_suite,
    &request_suite,
    &rkey_suite,
    &rkey_domains_suite,
    &rkey_wire_suite,
    &rndv_suite,
    &select_suite,
    &self_address_suite,
    &soak_suite,
    &strided_suite,
    &tag_recv_suite,
    &tag_send_suite,
    &trace_suite,
    &trace_file_suite,
    &transport_config_suite,
    &unexpected_suite,
    &wakeup_suite,
    &worker_config_suite,
    &worker_threshold_suite,
    &worker_suite,
    NULL,
};

/* How fast this machine copies, under whatever sanitizer, decides nothing here:
 * a test that has not said otherwise sees the same protocols everywhere. What
 * is measured is tested in test/uct/test_sm_speed.c. */
int main(int argc, char **argv)
{
    (void)setenv("UCX_SM_BW", "26GBs", 0);
    (void)setenv("UCX_SM_CMA_BW", "13GBs", 0);
    return test_main(argc, argv, suites);
}
