/* SPDX-License-Identifier: BSD-3-Clause */
/* test/uct/sm_stage.c - see sm_stage.h. */
#include "uct/sm_stage.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/test.h"
#include "ucs/clock.h"

void sm_stage_forbid(long first, long second)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)first, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)second, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = UCS_ARRAY_COUNT(code), .filter = code};

    ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

void sm_stage_fill(uint8_t *bytes, size_t length, uint64_t number)
{
    size_t index;

    memcpy(bytes, &number, sizeof(number));
    for (index = sizeof(number); index < length; ++index) {
        bytes[index] = (uint8_t)(number * 31 + index * 7 + length);
    }
}

bool sm_stage_check(const uint8_t *bytes, size_t length)
{
    uint64_t number;
    size_t   index;

    memcpy(&number, bytes, sizeof(number));
    for (index = sizeof(number); index < length; ++index) {
        if (bytes[index] != (uint8_t)(number * 31 + index * 7 + length)) {
            return false;
        }
    }
    return true;
}

/* The source's slot counts its messages: they must come in order. */
static ucs_status_t stage_on_message(void *arg, struct uct_source *source,
                                     void *data, size_t length, unsigned flags)
{
    struct sm_end *end = arg;
    uint64_t       number;

    (void)flags;
    if ((length < sizeof(number)) || ((uintptr_t)data % 8 != 0) ||
        !sm_stage_check(data, length)) {
        ck_abort_msg("message of %zu bytes at %p is damaged", length, data);
    }
    memcpy(&number, data, sizeof(number));
    if (number != (uintptr_t)source->user) {
        ck_abort_msg("message %llu, expected %llu", (unsigned long long)number,
                     (unsigned long long)(uintptr_t)source->user);
    }
    source->user = (void *)(uintptr_t)(number + 1);
    ++end->received;
    end->received_bytes += length;
    return UCS_OK;
}

static ucs_status_t stage_on_keep(void *arg, struct uct_source *source,
                                  void *data, size_t length, unsigned flags)
{
    struct sm_end *end = arg;

    (void)stage_on_message(arg, source, data, length, flags);
    if (!(flags & UCT_AM_MAY_KEEP) || (end->kept_count == SM_STAGE_KEPT_MAX)) {
        return UCS_OK;
    }
    end->kept[end->kept_count++] = data;
    return UCS_INPROGRESS;
}

static void stage_on_end(void *arg, struct uct_source *source,
                         ucs_status_t status)
{
    struct sm_end *end = arg;

    (void)source;
    ++end->ended[status != UCS_OK];
    end->end_status = status;
}

static void stage_on_error(struct uct_ep *ep, ucs_status_t status)
{
    struct sm_end *end = ep->user;

    ++end->errors;
    end->error_status = status;
}

static void stage_on_pending(struct uct_ep *ep)
{
    struct sm_end *end = ep->user;

    ++end->pendings;
}

void sm_end_open(struct sm_end *end, bool wakeup)
{
    struct uct_iface_params params = {
        .source_end     = stage_on_end,
        .source_end_arg = end,
        .wakeup         = wakeup,
    };
    struct uct_device device;
    unsigned          count = 1;
    char              reason[UCT_REASON_BYTES_MAX];

    memset(end, 0, sizeof(*end));
    uct_sm_transport.devices(NULL, &device, &count, reason);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(ucti_md_open(&device, &end->md), UCS_OK);
    ck_assert_int_eq(ucti_iface_open(end->md, &params, &end->iface), UCS_OK);
    end->sm = uct_sm_iface_of(end->iface);
    uct_sm_transport.iface_query(end->iface, &end->attr);
    ucti_iface_set_am(end->iface, SM_STAGE_AM, stage_on_message, end);
    ucti_iface_set_am(end->iface, SM_STAGE_AM_KEEP, stage_on_keep, end);
}

void sm_end_close(struct sm_end *end)
{
    if (end->ep != NULL) {
        ucti_ep_destroy(end->ep);
    }
    ucti_iface_close(end->iface);
    ucti_md_close(end->md);
}

struct uct_ep *sm_end_connect_bytes(struct sm_end *end, const uint8_t *address)
{
    struct uct_ep_params params = {
        .address       = address,
        .address_bytes = UCT_SM_ADDRESS_BYTES,
        .pending       = stage_on_pending,
        .error         = stage_on_error,
        .user          = end,
    };
    struct uct_ep *ep;

    ck_assert_int_eq(ucti_ep_create(end->iface, &params, &ep), UCS_OK);
    return ep;
}

struct uct_ep *sm_end_connect(struct sm_end *end, const struct sm_end *to)
{
    uint8_t address[UCT_ADDRESS_BYTES_MAX];

    uct_sm_transport.iface_address(to->iface, address);
    return sm_end_connect_bytes(end, address);
}

ucs_status_t sm_stage_short(struct uct_ep *ep, uint8_t am_id, uint64_t number,
                            size_t length, unsigned flags)
{
    uint8_t bytes[UCT_SM_SHORT_BYTES_MAX];

    sm_stage_fill(bytes, length, number);
    return uct_ep_am_short(ep, am_id, number, bytes + sizeof(number),
                           length - sizeof(number), flags);
}

struct stage_pack {
    uint64_t number;
    size_t   length;
};

static size_t stage_pack(void *dest, void *arg)
{
    const struct stage_pack *pack = arg;

    sm_stage_fill(dest, pack->length, pack->number);
    return pack->length;
}

ucs_status_t sm_stage_bcopy(struct uct_ep *ep, uint8_t am_id, uint64_t number,
                            size_t length, unsigned flags)
{
    struct stage_pack pack = {number, length};
    ssize_t           result;

    result = uct_ep_am_bcopy(ep, am_id, stage_pack, &pack, length, flags);
    if (result >= 0) {
        ck_assert_uint_eq((size_t)result, length);
        return UCS_OK;
    }
    return (ucs_status_t)result;
}

ucs_status_t sm_stage_zcopy(struct uct_ep *ep, uint8_t am_id, uint64_t number,
                            size_t length, unsigned flags)
{
    uint8_t       *bytes  = malloc(length);
    size_t         third  = (length - 8) / 3;
    struct uct_iov iov[4] = {
        {bytes + 8, third, NULL},
        {NULL, 0, NULL},
        {bytes + 8 + third, third, NULL},
        {bytes + 8 + 2 * third, length - 8 - 2 * third, NULL}};
    ucs_status_t status;

    ck_assert_ptr_nonnull(bytes);
    sm_stage_fill(bytes, length, number);
    status = uct_ep_am_zcopy(ep, am_id, bytes, 8, iov, 4, NULL, flags);
    free(bytes);
    return status;
}

ucs_status_t sm_stage_send(struct uct_ep *ep, uint8_t am_id, uint64_t number,
                           size_t length, unsigned flags)
{
    return (length <= UCT_SM_SHORT_BYTES_MAX)
               ? sm_stage_short(ep, am_id, number, length, flags)
               : sm_stage_bcopy(ep, am_id, number, length, flags);
}

/* When a wait is over in which nothing more happens. */
static uint64_t stage_deadline_ns(void)
{
    return ucsi_clock_ns() + (uint64_t)(test_scaled_seconds(20) * 1e9);
}

void sm_stage_send_all(struct sm_end *end, struct uct_ep *ep, uint8_t am_id,
                       uint64_t number, size_t length)
{
    uint64_t     deadline_ns = stage_deadline_ns();
    ucs_status_t status;

    while ((status = sm_stage_send(ep, am_id, number, length, 0)) ==
           UCS_ERR_WOULD_BLOCK) {
        (void)uct_iface_progress(end->iface);
        ck_assert_msg(ucsi_clock_ns() < deadline_ns, "never accepted");
    }
    ck_assert_int_eq(status, UCS_OK);
}

void sm_stage_until(struct sm_end *const *ends, const unsigned *value,
                    unsigned wanted)
{
    uint64_t deadline_ns = stage_deadline_ns();
    unsigned before      = *value;
    unsigned index;

    while (*value < wanted) {
        for (index = 0; ends[index] != NULL; ++index) {
            (void)uct_iface_progress(ends[index]->iface);
        }
        if (*value != before) {
            before      = *value;
            deadline_ns = stage_deadline_ns();
        }
        ck_assert_msg(ucsi_clock_ns() < deadline_ns, "%u, not %u in time",
                      *value, wanted);
    }
}

void sm_stage_until_received(struct sm_end *a, struct sm_end *b, uint64_t count)
{
    uint64_t deadline_ns = stage_deadline_ns();
    uint64_t before      = a->received;

    while (a->received < count) {
        (void)uct_iface_progress(a->iface);
        if (b != NULL) {
            (void)uct_iface_progress(b->iface);
        }
        if (a->received != before) {
            before      = a->received;
            deadline_ns = stage_deadline_ns();
        }
        ck_assert_msg(
            ucsi_clock_ns() < deadline_ns, "received %llu, not %llu in time",
            (unsigned long long)a->received, (unsigned long long)count);
    }
}

void sm_stage_progress(struct sm_end *a, struct sm_end *b, unsigned rounds)
{
    for (; rounds > 0; --rounds) {
        (void)uct_iface_progress(a->iface);
        if (b != NULL) {
            (void)uct_iface_progress(b->iface);
        }
    }
}

void sm_stage_progress_ms(struct sm_end *a, struct sm_end *b, unsigned ms)
{
    double end = test_cpu_seconds() + ms / 1000.0;

    while (test_cpu_seconds() < end) {
        sm_stage_progress(a, b, 100);
    }
}

bool sm_stage_sleep(struct sm_end *end)
{
    enum { WAKE_MS = 20000 }; /* then nothing will come, however busy all are */
    struct pollfd wait = {.fd     = uct_sm_transport.event_fd(end->iface),
                          .events = POLLIN};
    ucs_status_t  status;
    int           count = 1;

    status = uct_sm_transport.arm(end->iface);
    if (status == UCS_OK) {
        count = poll(&wait, 1, WAKE_MS);
    } else {
        ck_assert_int_eq(status, UCS_ERR_BUSY);
    }
    (void)uct_iface_progress(end->iface);
    return count > 0;
}

void sm_step_tell(int fd)
{
    ck_assert_int_eq(write(fd, "", 1), 1);
}

void sm_step_wait(int fd)
{
    char byte;

    ck_assert_int_eq(read(fd, &byte, 1), 1);
}

void sm_process_start(struct sm_process *process, const struct sm_end *end,
                      bool wakeup, sm_process_fn fn, void *arg)
{
    uint8_t       address[UCT_ADDRESS_BYTES_MAX];
    int           to[2], from[2];
    struct sm_end child;

    uct_sm_transport.iface_address(end->iface, address);
    ck_assert_int_eq(pipe(to), 0);
    ck_assert_int_eq(pipe(from), 0);
    process->pid = fork();
    ck_assert_int_ge(process->pid, 0);
    if (process->pid == 0) {
        (void)close(to[1]);
        (void)close(from[0]);
        sm_end_open(&child, wakeup);
        child.ep = sm_end_connect_bytes(&child, address);
        uct_sm_transport.iface_address(child.iface, address);
        ck_assert_int_eq(write(from[1], address, UCT_SM_ADDRESS_BYTES),
                         UCT_SM_ADDRESS_BYTES);
        fn(&child, child.ep, to[0], from[1], arg);
        sm_end_close(&child);
        _exit(0);
    }
    (void)close(to[0]);
    (void)close(from[1]);
    process->to_fd   = to[1];
    process->from_fd = from[0];
    ck_assert_int_eq(
        read(process->from_fd, process->address, UCT_SM_ADDRESS_BYTES),
        UCT_SM_ADDRESS_BYTES);
}

void sm_process_kill(struct sm_process *process)
{
    ck_assert_int_eq(kill(process->pid, SIGKILL), 0);
    ck_assert_int_eq(waitpid(process->pid, NULL, 0), process->pid);
    (void)close(process->to_fd);
    (void)close(process->from_fd);
}

void sm_process_join(struct sm_process *process)
{
    int status = 0;

    ck_assert_int_eq(waitpid(process->pid, &status, 0), process->pid);
    ck_assert_msg(WIFEXITED(status) && (WEXITSTATUS(status) == 0),
                  "the other process ended with %x", (unsigned)status);
    (void)close(process->to_fd);
    (void)close(process->from_fd);
}
