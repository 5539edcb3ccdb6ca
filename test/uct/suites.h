/* SPDX-License-Identifier: BSD-3-Clause */
/* test/uct/suites.h - the unit tests of libuct. */
#ifndef TEST_UCT_SUITES_H_
#define TEST_UCT_SUITES_H_

#include "lib/test.h"

extern const struct test_suite caps_suite;
extern const struct test_suite claim_suite;
extern const struct test_suite complete_suite;
extern const struct test_suite ep_suite;
extern const struct test_suite iface_suite;
extern const struct test_suite iov_suite;
extern const struct test_suite md_suite;
extern const struct test_suite module_suite;
extern const struct test_suite pending_suite;
extern const struct test_suite self_am_suite;
extern const struct test_suite self_iface_suite;
extern const struct test_suite self_md_suite;
extern const struct test_suite self_rma_suite;
extern const struct test_suite self_transport_suite;
extern const struct test_suite sm_address_suite;
extern const struct test_suite sm_attach_suite;
extern const struct test_suite sm_barrier_suite;
extern const struct test_suite sm_channel_suite;
extern const struct test_suite sm_chunk_suite;
extern const struct test_suite sm_cma_suite;
extern const struct test_suite sm_doorbell_suite;
extern const struct test_suite sm_ep_suite;
extern const struct test_suite sm_iface_suite;
extern const struct test_suite sm_key_suite;
extern const struct test_suite sm_look_suite;
extern const struct test_suite sm_peer_suite;
extern const struct test_suite sm_progress_suite;
extern const struct test_suite sm_rights_suite;
extern const struct test_suite sm_ring_suite;
extern const struct test_suite sm_rma_suite;
extern const struct test_suite sm_segment_suite;
extern const struct test_suite sm_send_suite;
extern const struct test_suite sm_socket_suite;
extern const struct test_suite sm_speed_suite;
extern const struct test_suite sm_transport_suite;
extern const struct test_suite transports_suite;
extern const struct test_suite udp_bundle_suite;
extern const struct test_suite udp_fragment_suite;
extern const struct test_suite udp_conn_suite;
extern const struct test_suite udp_crowd_suite;
extern const struct test_suite udp_guests_suite;
extern const struct test_suite udp_peers_suite;
extern const struct test_suite udp_share_suite;
extern const struct test_suite udp_linger_suite;
extern const struct test_suite udp_stall_suite;
extern const struct test_suite udp_conn_receive_suite;
extern const struct test_suite udp_conn_send_suite;
extern const struct test_suite udp_turn_suite;
extern const struct test_suite udp_wire_suite;
extern const struct test_suite udp_receive_suite;
extern const struct test_suite udp_send_suite;
extern const struct test_suite udp_loss_suite;
extern const struct test_suite udp_detour_suite;
extern const struct test_suite udp_mtu_suite;
extern const struct test_suite udp_rma_suite;
extern const struct test_suite udp_seal_suite;
extern const struct test_suite udp_congestion_suite;
extern const struct test_suite udp_address_suite;
extern const struct test_suite udp_region_suite;
extern const struct test_suite udp_crypt_suite;
extern const struct test_suite udp_devices_suite;
extern const struct test_suite udp_hint_suite;
extern const struct test_suite udp_io_suite;
extern const struct test_suite udp_io_direct_suite;
extern const struct test_suite udp_io_receive_suite;
extern const struct test_suite udp_io_route_suite;
extern const struct test_suite udp_io_send_suite;
extern const struct test_suite udp_route_suite;
extern const struct test_suite udp_socket_suite;

#endif
