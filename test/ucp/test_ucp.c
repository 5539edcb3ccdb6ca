/* SPDX-License-Identifier: BSD-3-Clause */
/* test_ucp.c - the test program of libucp. */
#include "lib/test.h"

#include "ucp/suites.h"

int main(int argc, char **argv)
{
    static const struct test_suite *const suites[] = {
            &address_suite,
            &arrows_eager_suite,
            &arrows_pipeline_suite,
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
            &explain_real_suite,
            &explain_sm_suite,
            &flush_suite,
            &fragment_suite,
            &index_suite,
            &lanes_suite,
            &match_suite,
            &mem_suite,
            &odd_suite,
            &op_suite,
            &peer_suite,
            &pipeline_send_suite,
            &processes_suite,
            &protos_suite,
            &recv_suite,
            &reg_cache_suite,
            &request_suite,
            &rkey_suite,
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
            &worker_suite,
            NULL,
    };

    return test_main(argc, argv, suites);
}
