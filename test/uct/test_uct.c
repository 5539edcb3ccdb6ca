/* SPDX-License-Identifier: BSD-3-Clause */
/* test_uct.c - the test program of libuct's parts. What every transport must
 * do is in uct_conform.c. */
#include "config.h"

#include "lib/test.h"

#include "uct/suites.h"

static const struct test_suite *const suites[] = {&caps_suite,
                                                  &claim_suite,
                                                  &complete_suite,
                                                  &ep_suite,
                                                  &iface_suite,
                                                  &iov_suite,
                                                  &md_suite,
                                                  &module_suite,
                                                  &pending_suite,
                                                  &self_am_suite,
                                                  &self_iface_suite,
                                                  &self_md_suite,
                                                  &self_rma_suite,
                                                  &self_transport_suite,
                                                  &sm_address_suite,
                                                  &sm_attach_suite,
                                                  &sm_barrier_suite,
                                                  &sm_channel_suite,
                                                  &sm_chunk_suite,
                                                  &sm_cma_suite,
                                                  &sm_doorbell_suite,
                                                  &sm_ep_suite,
                                                  &sm_iface_suite,
                                                  &sm_key_suite,
                                                  &sm_look_suite,
                                                  &sm_peer_suite,
                                                  &sm_progress_suite,
                                                  &sm_rights_suite,
                                                  &sm_ring_suite,
                                                  &sm_rma_suite,
                                                  &sm_segment_suite,
                                                  &sm_send_suite,
                                                  &sm_socket_suite,
                                                  &sm_speed_suite,
                                                  &sm_transport_suite,
                                                  &transports_suite,
#ifdef HAVE_UDP
                                                  &udp_bundle_suite,
                                                  &udp_fragment_suite,
                                                  &udp_conn_suite,
                                                  &udp_detour_suite,
                                                  &udp_guests_suite,
                                                  &udp_crowd_suite,
                                                  &udp_peers_suite,
                                                  &udp_share_suite,
                                                  &udp_linger_suite,
                                                  &udp_stall_suite,
                                                  &udp_conn_receive_suite,
                                                  &udp_conn_send_suite,
                                                  &udp_turn_suite,
                                                  &udp_wire_suite,
                                                  &udp_receive_suite,
                                                  &udp_send_suite,
                                                  &udp_loss_suite,
                                                  &udp_mtu_suite,
                                                  &udp_rma_suite,
                                                  &udp_seal_suite,
                                                  &udp_congestion_suite,
                                                  &udp_address_suite,
                                                  &udp_region_suite,
                                                  &udp_crypt_suite,
                                                  &udp_devices_suite,
                                                  &udp_hint_suite,
                                                  &udp_io_suite,
                                                  &udp_io_direct_suite,
                                                  &udp_io_receive_suite,
                                                  &udp_io_route_suite,
                                                  &udp_io_send_suite,
                                                  &udp_route_suite,
                                                  &udp_socket_suite,
#endif
                                                  NULL};

int main(int argc, char **argv)
{
    return test_main(argc, argv, suites);
}
