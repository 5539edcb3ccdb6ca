/* SPDX-License-Identifier: BSD-3-Clause */
/* test/abi/behave_wakeup.c - a worker that sleeps: descriptor, arm, wait,
 * signal. */
#include "behave.h"

#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

static const struct pair_options wakeup = {.features = UCP_FEATURE_TAG |
                                                       UCP_FEATURE_WAKEUP};

static char small[BEHAVE_SMALL] = {1, 2, 3};
static char small_in[BEHAVE_SMALL];

static int readable(int fd, int timeout_ms)
{
    struct pollfd entry = {.fd = fd, .events = POLLIN};

    return poll(&entry, 1, timeout_ms) == 1;
}

/* Until there is nothing to do and it may sleep. */
static ucs_status_t arm(ucp_worker_h worker)
{
    ucs_status_t status;
    int          i;

    for (i = 0; i < 1000; ++i) {
        while (ucp_worker_progress(worker) != 0) {
        }
        status = ucp_worker_arm(worker);
        if (status != UCS_ERR_BUSY) {
            return status;
        }
    }
    return UCS_ERR_BUSY;
}

/* Whether the worker, armed, is left in peace. A machine under load delays
 * what the transports do between themselves (connecting, keep-alive), so one
 * wake-up too many is no difference; waking for ever is. */
static int left_in_peace(ucp_worker_h worker, int fd)
{
    int i;

    for (i = 0; i < 40; ++i) {
        must(arm(worker), "arm");
        if (!readable(fd, 50)) {
            return 1;
        }
    }
    return 0;
}

static void send_small(ucp_ep_h ep, ucp_tag_t tag)
{
    must_ptr(ucp_tag_send_nb(ep, small, sizeof(small), ucp_dt_make_contig(1),
                             tag, on_send_nb),
             "send");
}

static void without_feature(void)
{
    struct pair pair;
    int         fd = -2;

    pair_open(&pair, NULL);
    fact_status("without.get_efd", ucp_worker_get_efd(pair.b.worker, &fd));
    fact("without.fd_untouched", "%d", fd == -2);
    fact_status("without.arm", ucp_worker_arm(pair.b.worker));
    fact_status("without.wait", ucp_worker_wait(pair.b.worker));
    fact_status("without.signal", ucp_worker_signal(pair.b.worker));
    pair_close(&pair);
}

static void descriptor(void)
{
    struct pair pair;
    int         fd, again, i;

    pair_open(&pair, &wakeup);
    fact_status("efd.get", ucp_worker_get_efd(pair.b.worker, &fd));
    fact("efd.valid", "%d", fd >= 0);
    must(ucp_worker_get_efd(pair.b.worker, &again), "get_efd");
    fact("efd.same_again", "%d", fd == again);

    /* Connect, then all is quiet. */
    send_small(pair.a.ep, 0x11);
    must(pump_request(&pair,
                      ucp_tag_recv_nb(pair.b.worker, small_in, sizeof(small_in),
                                      ucp_dt_make_contig(1), 0x11, ~0ul,
                                      on_recv_nb)),
         "recv");
    pump_some(&pair);
    fact_status("arm.idle", arm(pair.b.worker));
    fact("arm.left_in_peace", "%d", left_in_peace(pair.b.worker, fd));

    send_small(pair.a.ep, 0x12);
    fact("arm.message_wakes", "%d", readable(fd, 5000));
    pump_arrived(&pair, 0x12);

    /* Without sleeping: a message that lies there. */
    must(arm(pair.b.worker), "arm");
    send_small(pair.a.ep, 0x13);
    for (i = 0; (i < 1000) && (ucp_worker_arm(pair.b.worker) == UCS_OK); ++i) {
        usleep(1000);
    }
    fact("arm.busy_with_message", "%d", i < 1000);
    pump_arrived(&pair, 0x13);

    /* Signal before and after sleep begins. */
    must(arm(pair.b.worker), "arm");
    fact_status("signal.call", ucp_worker_signal(pair.b.worker));
    fact("signal.wakes", "%d", readable(fd, 5000));
    fact_status("signal.wait_returns", ucp_worker_wait(pair.b.worker));
    fact_status("signal.arm_after", arm(pair.b.worker));
    fact("signal.used_up", "%d", left_in_peace(pair.b.worker, fd));
    must(ucp_worker_signal(pair.b.worker), "signal");
    fact_status("signal.before_wait", ucp_worker_wait(pair.b.worker));

    for (i = 0x12; i <= 0x13; ++i) {
        must(pump_request(
                 &pair, ucp_tag_recv_nb(pair.b.worker, small_in,
                                        sizeof(small_in), ucp_dt_make_contig(1),
                                        (ucp_tag_t)i, ~0ul, on_recv_nb)),
             "recv");
    }
    pair_close(&pair);
}

static void *signal_later(void *worker)
{
    usleep(50000);
    must(ucp_worker_signal(worker), "signal");
    return NULL;
}

static void *send_later(void *pair)
{
    usleep(50000);
    send_small(((struct pair *)pair)->a.ep, 0x21);
    return NULL;
}

static void sleeping(void)
{
    struct pair         pair;
    struct record       record;
    ucp_request_param_t param;
    pthread_t           thread;
    void               *request;
    int                 sleeps = 0;

    pair_open(&pair, &wakeup);
    pump_some(&pair);
    while (ucp_worker_progress(pair.b.worker) != 0) {
    }
    pthread_create(&thread, NULL, signal_later, pair.b.worker);
    fact_status("wait.signalled", ucp_worker_wait(pair.b.worker));
    pthread_join(thread, NULL);

    param   = param_recv(&record, 0);
    request = ucp_tag_recv_nbx(pair.b.worker, small_in, sizeof(small_in), 0x21,
                               ~0ul, &param);
    must_ptr(request, "recv");
    pthread_create(&thread, NULL, send_later, &pair);
    while (record.calls == 0) {
        if (ucp_worker_progress(pair.b.worker) == 0) {
            must(ucp_worker_wait(pair.b.worker), "wait");
            ++sleeps;
        }
    }
    pthread_join(thread, NULL);
    fact_recv_record("wait.message", &record);
    fact("wait.slept", "%d", (sleeps > 0) && (sleeps < 100));
    ucp_request_free(request);
    pair_close(&pair);
}

/* The caller's epoll set instead of the worker's. */
static void external(void)
{
    struct epoll_event  event;
    ucp_worker_params_t params;
    struct pair         pair;
    ucp_worker_h        worker;
    ucp_ep_h            ep;
    int                 epoll_fd = epoll_create1(0), fd;

    pair_open(&pair, &wakeup);
    memset(&params, 0xee, sizeof(params));
    params.field_mask = UCP_WORKER_PARAM_FIELD_EVENT_FD |
                        UCP_WORKER_PARAM_FIELD_USER_DATA |
                        UCP_WORKER_PARAM_FIELD_EVENTS;
    params.event_fd  = epoll_fd;
    params.user_data = &pair;
    params.events    = UCP_WAKEUP_RX | UCP_WAKEUP_TX;
    must(ucp_worker_create(pair.b.context, &params, &worker), "worker");
    fact_status("external.get_efd", ucp_worker_get_efd(worker, &fd));
    ep = ep_open(pair.a.worker, worker, &wakeup);
    pump_some(&pair);
    fact_status("external.arm", arm(worker));
    fact("external.left_in_peace", "%d", left_in_peace(worker, epoll_fd));
    send_small(ep, 0x31);
    fact("external.wakes", "%d", epoll_wait(epoll_fd, &event, 1, 5000));
    fact("external.user_data", "%d", event.data.ptr == &pair);
    must(pump_request(&(struct pair){.a = {.worker = worker}},
                      ucp_tag_recv_nb(worker, small_in, sizeof(small_in),
                                      ucp_dt_make_contig(1), 0x31, ~0ul,
                                      on_recv_nb)),
         "recv");
    ep_shut(&pair, ep);
    ucp_worker_destroy(worker);
    fact("external.fd_stays_open", "%d",
         epoll_wait(epoll_fd, &event, 1, 0) >= 0);
    close(epoll_fd);
    pair_close(&pair);
}

int main(void)
{
    without_feature();
    descriptor();
    sleeping();
    external();
    fact("end", "1");
    return 0;
}
