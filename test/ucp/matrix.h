/* SPDX-License-Identifier: BSD-3-Clause */
/* matrix.h - a protocol forced over a transport on so many rails, and what the
 * counters must say then. */
#ifndef TEST_UCP_MATRIX_H_
#define TEST_UCP_MATRIX_H_

#include "lib/test.h"
#include "ucp/core/worker.h"
#include "ucp/pair.h"

enum kind { EAGER, SEND, PUT, GET, SHARED, PIPELINE, BUFFERED };

enum {
    MATRIX_PIECE = 20000,   /* UCX_RNDV_FRAG_SIZE */
    MATRIX_TAIL  = 6000,    /* UCX_RNDV_PIPELINE_SEND_LENGTH */
    MATRIX_HEAD  = 300,     /* of an RGET, at most */
    MATRIX_ROOM  = 4 << 20, /* of the attached buffer */
};

/* A column of the matrix. */
struct column {
    const char *tls;
    enum kind   kind;
    unsigned    rails;
};

#define COLUMN(_tls, _kind, _rails)                                            \
    {                                                                          \
        .name = #_tls "_" #_kind "_" #_rails, .value = &(const struct column)  \
        {                                                                      \
#_tls, _kind, _rails                                               \
        }                                                                      \
    }

/* Set the environment; @return what a pair is opened with. */
void              column_set_env(const struct column *column);
struct pair_setup column_setup(const struct column *column);

/* Bytes by the way they moved. */
struct moved {
    uint64_t fragments;
    uint64_t puts;
    uint64_t gets;
};

struct moved moved_out(const struct ucp_worker *worker);
struct moved moved_in(const struct ucp_worker *worker);
struct moved moved_since(struct moved now, struct moved before);

/* That protocol carried a message of that length, and no other.
 * @param first  What its start may carry; of SHARED, at most. */
void check_moved(enum kind kind, struct moved moved, size_t length,
                 size_t first);

/* What comes with the start: all that fits for those that send, nothing for
 * those that only put or get. */
size_t first_of(enum kind kind, const struct ucp_ep *ep);

#endif
