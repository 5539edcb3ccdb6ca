/* SPDX-License-Identifier: BSD-3-Clause */
/* rdma_check.h - what holds for each protocol that moves a message by put or
 * get; test_rdma_put.c, test_rdma_get.c and test_rdma_pipeline.c say which. */
#ifndef TEST_UCP_RDMA_CHECK_H_
#define TEST_UCP_RDMA_CHECK_H_

#include "lib/test.h"
#include "ucp/core/worker.h"
#include "ucp/pair.h"

/* scheme    of UCX_RNDV_SCHEME
 * out, in   what counts the bytes at the sender, at the receiver
 * is_mixed  a part of the bytes goes as messages
 * is_alone  if S computes, R moves all by itself */
struct rdma_check {
    const char    *scheme;
    enum ucp_count out;
    enum ucp_count in;
    bool           is_mixed;
    bool           is_alone;
};

/* The transports that carry it. */
extern const struct test_param rdma_params[];

/* Open a pair that is forced to the scheme, from the first byte on. */
void rdma_open(struct pair *pair, const struct rdma_check *check,
               const struct test_param *param);

/* The same with ends that have not sent anything yet. */
void rdma_open_unmet(struct pair *pair, const struct rdma_check *check,
                     const struct test_param *param);

/* Bytes that a side counted. */
uint64_t rdma_count(const struct pair *pair, int side, enum ucp_count what);

/* Nothing is left over, nobody was suspected. */
void rdma_check_clean(const struct pair *pair);

void rdma_check_sizes(const struct rdma_check *check,
                      const struct test_param *param);
void rdma_check_truncated(const struct rdma_check *check,
                          const struct test_param *param);
void rdma_check_close(const struct rdma_check *check,
                      const struct test_param *param);
void rdma_check_failure(const struct rdma_check *check,
                        const struct test_param *param);
void rdma_check_many(const struct rdma_check *check,
                     const struct test_param *param);
void rdma_check_refused(const struct rdma_check *check,
                        const struct test_param *param);

/* In rdma_types.c: data that is not contiguous. */
void rdma_check_datatypes(const struct rdma_check *check,
                          const struct test_param *param);
void rdma_check_small_pieces(const struct rdma_check *check,
                             const struct test_param *param);
void rdma_check_long_lists(const struct rdma_check *check,
                           const struct test_param *param);
void rdma_check_random(const struct rdma_check *check,
                       const struct test_param *param);
void rdma_check_too_small(const struct rdma_check *check,
                          const struct test_param *param);

#endif
