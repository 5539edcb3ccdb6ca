/* SPDX-License-Identifier: BSD-3-Clause */
/* suites.h - the suites of test_ucp. */
#ifndef TEST_UCP_SUITES_H_
#define TEST_UCP_SUITES_H_

#include "lib/test.h"

extern const struct test_suite address_suite;
extern const struct test_suite arrows_eager_suite;
extern const struct test_suite arrows_pipeline_suite;
extern const struct test_suite arrows_rdma_suite;
extern const struct test_suite buffered_death_suite;
extern const struct test_suite buffered_one_suite;
extern const struct test_suite buffered_pipeline_suite;
extern const struct test_suite buffered_suite;
extern const struct test_suite config_suite;
extern const struct test_suite context_suite;
extern const struct test_suite datatype_suite;
extern const struct test_suite death_suite;
extern const struct test_suite dt_matrix_suite;
extern const struct test_suite eager_allocated_suite;
extern const struct test_suite eager_immediate_suite;
extern const struct test_suite eager_prepared_suite;
extern const struct test_suite eager_suite;
extern const struct test_suite ep_suite;
extern const struct test_suite ep_loop_suite;
extern const struct test_suite ep_queue_suite;
extern const struct test_suite bulk_suite;
extern const struct test_suite explain_suite;
extern const struct test_suite explain_forbidden_suite;
extern const struct test_suite explain_real_suite;
extern const struct test_suite explain_sm_suite;
extern const struct test_suite explain_trace_suite;
extern const struct test_suite extents_suite;
extern const struct test_suite flush_suite;
extern const struct test_suite flush_silent_suite;
extern const struct test_suite lost_suite;
extern const struct test_suite fragment_suite;
extern const struct test_suite index_suite;
extern const struct test_suite lanes_suite;
extern const struct test_suite layout_suite;
extern const struct test_suite layout_show_suite;
extern const struct test_suite match_suite;
extern const struct test_suite matrix_processes_suite;
extern const struct test_suite mem_suite;
extern const struct test_suite odd_suite;
extern const struct test_suite op_suite;
extern const struct test_suite peer_suite;
extern const struct test_suite peer_rails_suite;
extern const struct test_suite pipeline_send_suite;
extern const struct test_suite processes_suite;
extern const struct test_suite protos_suite;
extern const struct test_suite recv_suite;
extern const struct test_suite reg_cache_suite;
extern const struct test_suite rails_suite;
extern const struct test_suite rails_wire_suite;
extern const struct test_suite rdma_suite;
extern const struct test_suite registration_suite;
extern const struct test_suite registration_time_suite;
extern const struct test_suite rdma_get_suite;
extern const struct test_suite rdma_pipeline_suite;
extern const struct test_suite rdma_put_suite;
extern const struct test_suite rdma_shared_suite;
extern const struct test_suite request_suite;
extern const struct test_suite rkey_domains_suite;
extern const struct test_suite rkey_names_suite;
extern const struct test_suite rkey_suite;
extern const struct test_suite rkey_wire_suite;
extern const struct test_suite rndv_suite;
extern const struct test_suite select_suite;
extern const struct test_suite self_address_suite;
extern const struct test_suite soak_suite;
extern const struct test_suite strided_suite;
extern const struct test_suite tag_recv_suite;
extern const struct test_suite tag_send_suite;
extern const struct test_suite trace_suite;
extern const struct test_suite trace_file_suite;
extern const struct test_suite trace_lane_suite;
extern const struct test_suite transport_config_suite;
extern const struct test_suite unexpected_suite;
extern const struct test_suite wakeup_suite;
extern const struct test_suite worker_config_suite;
extern const struct test_suite worker_forced_suite;
extern const struct test_suite worker_scheme_suite;
extern const struct test_suite worker_threshold_suite;
extern const struct test_suite worker_suite;

#endif
