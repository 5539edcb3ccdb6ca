/* SPDX-License-Identifier: BSD-3-Clause */
/* test/uct/sm_region.c - see sm_region.h. */
#include "uct/sm_region.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/test.h"

struct tracked {
    struct uct_req req;
    unsigned       number;
};

struct region_done    region_done;
static struct tracked tracked[REGION_TRACKED_MAX];

static void on_done(struct uct_req *req)
{
    struct tracked *one = ucs_container_of(req, struct tracked, req);

    region_done.number[region_done.count] = one->number;
    region_done.status[region_done.count] = req->status;
    ++region_done.count;
}

struct uct_req *region_track(unsigned number)
{
    tracked[number].req.cb = on_done;
    tracked[number].number = number;
    return &tracked[number].req;
}

/* Exposes a filled region and does what it is told (sm_region.h). */
static void region_process(struct sm_end *end, struct uct_ep *ep, int in_fd,
                           int out_fd, void *arg)
{
    struct region   region;
    struct uct_mem *mem;
    uint8_t        *memory;
    char            command = 0;

    (void)arg;
    (void)ep;
    memory = mmap(NULL, REGION_BYTES, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(memory, MAP_FAILED);
    sm_stage_fill(memory, REGION_BYTES, 1);
    ck_assert_int_eq(uct_sm_mem_register(end->md, memory, REGION_BYTES,
                                         UCT_ACCESS_ALL, &mem),
                     UCS_OK);
    region.address = (uintptr_t)memory;
    (void)uct_sm_rkey_pack(mem, region.bytes);
    ck_assert_int_eq(write(out_fd, &region, sizeof(region)), sizeof(region));
    while (command != 'q') {
        ck_assert_int_eq(read(in_fd, &command, 1), 1);
        if (command == 'u') {
            ck_assert_int_eq(
                munmap(memory + REGION_BYTES / 2, REGION_BYTES / 2), 0);
        } else if (command == 'c') {
            uint64_t number;

            memcpy(&number, memory, sizeof(number));
            ck_assert_uint_eq(number, 2);
            ck_assert(sm_stage_check(memory, REGION_BYTES));
        } else if (command == 'l') {
            ucti_ep_destroy(end->ep);
            ucti_iface_close(end->iface);
            sm_step_tell(out_fd);
            sm_step_wait(in_fd);
            _exit(0);
        }
        sm_step_tell(out_fd);
    }
    uct_sm_mem_release(mem);
    (void)munmap(memory, REGION_BYTES);
}

void region_tell(struct region_pair *pair, char command)
{
    ck_assert_int_eq(write(pair->process.to_fd, &command, 1), 1);
    sm_step_wait(pair->process.from_fd);
}

void region_pair_open(struct region_pair *pair, bool wakeup)
{
    char reason[UCT_REASON_BYTES_MAX] = "";

    if (uct_sm_cma_calls(reason) != (UCT_RIGHT_PUT | UCT_RIGHT_GET)) {
        test_skip("not here: %s", reason);
    }
    region_done.count = 0;
    sm_end_open(&pair->end, wakeup);
    sm_process_start(&pair->process, &pair->end, false, region_process, NULL);
    ck_assert_int_eq(
        read(pair->process.from_fd, &pair->region, sizeof(pair->region)),
        sizeof(pair->region));
    ck_assert_int_eq(uct_sm_rkey_unpack(pair->end.md, pair->region.bytes,
                                        UCT_SM_KEY_BYTES, &pair->rkey),
                     UCS_OK);
    pair->end.ep = sm_end_connect_bytes(&pair->end, pair->process.address);
    pair->local  = malloc(REGION_BYTES);
    memset(pair->local, 0, REGION_BYTES);
}

void region_pair_free(struct region_pair *pair)
{
    uct_sm_rkey_release(pair->rkey);
    sm_end_close(&pair->end);
    free(pair->local);
}

void region_pair_close(struct region_pair *pair)
{
    region_tell(pair, 'q');
    sm_process_join(&pair->process);
    region_pair_free(pair);
}

ucs_status_t region_pair_get(struct region_pair *pair, size_t offset,
                             size_t length, struct uct_req *req)
{
    /* Offsets that lie outside are for the other side to refuse. */
    const struct uct_iov    iov = {pair->local + offset % REGION_BYTES, length,
                                   NULL};
    const struct uct_remote remote = {pair->region.address + offset, length,
                                      pair->rkey};
    const struct uct_rma    rma    = {&iov, &remote, 1, 1};

    return uct_sm_get_zcopy(pair->end.ep, &rma, req, 0);
}

void region_until_done(struct region_pair *pair, unsigned count)
{
    struct sm_end *const ends[] = {&pair->end, NULL};

    sm_stage_until(ends, &region_done.count, count);
}
