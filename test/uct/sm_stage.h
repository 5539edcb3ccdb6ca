/* SPDX-License-Identifier: BSD-3-Clause */
/* test/uct/sm_stage.h - interfaces of the shared-memory transport that talk
 * to one another, in one process or in several. */
#ifndef TEST_UCT_SM_STAGE_H_
#define TEST_UCT_SM_STAGE_H_

#include <sys/types.h>

#include "uct/api/uct.h"
#include "uct/sm/sm.h"

enum {
    SM_STAGE_AM       = 5, /* numbered messages: checked */
    SM_STAGE_AM_KEEP  = 6, /* the same, kept when allowed */
    SM_STAGE_KEPT_MAX = 1024,
    SM_STAGE_EP_MAX   = 1024,
};

/* From here on these system calls of this process and its children answer
 * EPERM, as in a container. */
void sm_stage_forbid(long first, long second);

/* One interface and what happened to it.
 * received      messages handed up; each is checked against its number
 * next          the number expected next from each source that carries one
 * ended         sources that ended, by status: [0] UCS_OK, [1] other
 * end_status    of the last that ended
 * errors        error callbacks, last status in error_status
 * pendings      pending callbacks */
struct sm_end {
    struct uct_md        *md;
    struct uct_iface     *iface;
    struct uct_sm_iface  *sm;
    struct uct_iface_attr attr;
    struct uct_ep        *ep;
    uint64_t              received;
    uint64_t              received_bytes;
    unsigned              ended[2];
    ucs_status_t          end_status;
    unsigned              errors;
    ucs_status_t          error_status;
    unsigned              pendings;
    unsigned              kept_count;
    void                 *kept[SM_STAGE_KEPT_MAX];
};

/* Open an interface with settings from the environment. */
void sm_end_open(struct sm_end *end, bool wakeup);
void sm_end_close(struct sm_end *end);

/* Make an endpoint of `end` to that address. */
struct uct_ep *sm_end_connect_bytes(struct sm_end *end, const uint8_t *address);
struct uct_ep *sm_end_connect(struct sm_end *end, const struct sm_end *to);

/* The bytes of message `number`: its number first, a pattern behind it. */
void sm_stage_fill(uint8_t *bytes, size_t length, uint64_t number);
bool sm_stage_check(const uint8_t *bytes, size_t length);

/* Send one message; @return what the operation said. length is at least 8.
 * sm_stage_send() chooses short or bcopy by the length. */
ucs_status_t sm_stage_short(struct uct_ep *ep, uint8_t am_id, uint64_t number,
                            size_t length, unsigned flags);
ucs_status_t sm_stage_bcopy(struct uct_ep *ep, uint8_t am_id, uint64_t number,
                            size_t length, unsigned flags);
ucs_status_t sm_stage_zcopy(struct uct_ep *ep, uint8_t am_id, uint64_t number,
                            size_t length, unsigned flags);
ucs_status_t sm_stage_send(struct uct_ep *ep, uint8_t am_id, uint64_t number,
                           size_t length, unsigned flags);
/* The same until it is accepted, with progress on the sender. */
void sm_stage_send_all(struct sm_end *end, struct uct_ep *ep, uint8_t am_id,
                       uint64_t number, size_t length);

/* Call progress of all given ends (NULL-terminated) until *value reaches
 * wanted, 20 s at most; aborts the test otherwise. */
void sm_stage_until(struct sm_end *const *ends, const unsigned *value,
                    unsigned wanted);
void sm_stage_until_received(struct sm_end *a, struct sm_end *b,
                             uint64_t count);
/* So many rounds of progress for a and b (may be NULL). */
void sm_stage_progress(struct sm_end *a, struct sm_end *b, unsigned rounds);
/* Progress for a and b during that time, of the processor's: a starved process
 * has looked as often as another. */
void sm_stage_progress_ms(struct sm_end *a, struct sm_end *b, unsigned ms);

/* Sleep as the contract says: arm, wait for event_fd, progress.
 * @return false: the time was over before anything happened. */
bool sm_stage_sleep(struct sm_end *end);

/* Another process that opens an interface of its own, tells its address and
 * gets ours, then runs fn(end, its endpoint to us, arg) and exits. */
struct sm_process {
    pid_t   pid;
    int     to_fd;
    int     from_fd;
    uint8_t address[UCT_ADDRESS_BYTES_MAX];
};
typedef void (*sm_process_fn)(struct sm_end *end, struct uct_ep *ep, int in_fd,
                              int out_fd, void *arg);
void sm_process_start(struct sm_process *process, const struct sm_end *end,
                      bool wakeup, sm_process_fn fn, void *arg);
/* Send and wait for a byte: steps that both must reach. */
void sm_step_tell(int fd);
void sm_step_wait(int fd);
void sm_process_kill(struct sm_process *process);
/* Wait for its end; it must have exited with 0. */
void sm_process_join(struct sm_process *process);

#endif
