/* SPDX-License-Identifier: BSD-3-Clause */
/* test/uct/udp_stage.h - two ends of real sockets, and a network of one's own.
 */
#ifndef TEST_UCT_UDP_STAGE_H_
#define TEST_UCT_UDP_STAGE_H_

#include "lib/test.h"
#include "uct/udp/udp_io.h"

/* A suite's parameters: loopback of both families, its text the value. */
extern const struct test_param udp_stage_families[];

struct udp_end {
    struct udp_io     *io;
    struct udp_io_attr attr;
};

/* Parameters for that address: offload and marks on, all else the default. */
struct udp_io_params udp_stage_params(const char *local);

void udp_end_open(struct udp_end *end, const struct udp_io_params *params);
void udp_end_close(struct udp_end *end);

/* Both with the same parameters. */
void udp_stage_open(struct udp_end ends[2], const struct udp_io_params *params);
void udp_stage_close(struct udp_end ends[2]);

/* Wait until something comes; fails the test after 10 s.
 * @return how many. */
unsigned udp_end_receive(struct udp_end *end, enum udp_channel channel,
                         struct udp_in *in, unsigned room);

/* Send all of `out`; fails the test if it does not go. */
void udp_end_send(struct udp_end *end, struct udp_out *out);

/* Bytes to send, and a pattern for them. */
extern uint8_t udp_stage_bytes[UDP_IO_OUT_BYTES_MAX + 1];
void           udp_stage_fill(void);

/* The first `bytes` of them to the data socket of `to`, in three pieces of
 * memory. */
struct udp_out udp_stage_out(const struct udp_end *to, size_t bytes,
                             size_t segment_bytes, struct iovec parts[3]);

/* Take them off the data socket again; fails the test if they differ.
 * @return packets; each but the last has segment_bytes. */
unsigned udp_end_take(struct udp_end *end, size_t bytes, size_t segment_bytes);

#endif
