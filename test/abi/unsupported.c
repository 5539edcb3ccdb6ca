/* SPDX-License-Identifier: BSD-3-Clause */
/* test/abi/unsupported.c - the calls that are not built yet say so, whatever
 * their arguments. Who builds one takes it out here. */
#include <stdio.h>
#include <stdlib.h>

#include "ucp/api/ucp.h"
#include "ucp/api/device/ucp_host.h"

static int failures;

#define SAYS_NO(_call) check((long)(_call), #_call)

static void check(long status, const char *call)
{
    if (status != UCS_ERR_UNSUPPORTED) {
        fprintf(stderr, "%s: %ld\n", call, status);
        ++failures;
    }
}

static void statuses(void)
{
    SAYS_NO(ucp_ep_evaluate_perf(NULL, NULL, NULL));
    SAYS_NO(ucp_listener_create(NULL, NULL, NULL));
    SAYS_NO(ucp_listener_query(NULL, NULL));
    SAYS_NO(ucp_listener_reject(NULL, NULL));
    SAYS_NO(ucp_conn_request_query(NULL, NULL));
    SAYS_NO(ucp_worker_set_am_recv_handler(NULL, NULL));
    SAYS_NO(ucp_worker_set_am_handler(NULL, 0, NULL, NULL, 0));
    SAYS_NO(ucp_stream_recv_request_test(NULL, NULL));
    SAYS_NO(ucp_put(NULL, NULL, 0, 0, NULL));
    SAYS_NO(ucp_put_nbi(NULL, NULL, 0, 0, NULL));
    SAYS_NO(ucp_get(NULL, NULL, 0, 0, NULL));
    SAYS_NO(ucp_get_nbi(NULL, NULL, 0, 0, NULL));
    SAYS_NO(ucp_atomic_post(NULL, UCP_ATOMIC_POST_OP_ADD, 0, 0, 0, NULL));
    SAYS_NO(ucp_atomic_add32(NULL, 0, 0, NULL));
    SAYS_NO(ucp_atomic_add64(NULL, 0, 0, NULL));
    SAYS_NO(ucp_atomic_fadd32(NULL, 0, 0, NULL, NULL));
    SAYS_NO(ucp_atomic_fadd64(NULL, 0, 0, NULL, NULL));
    SAYS_NO(ucp_atomic_swap32(NULL, 0, 0, NULL, NULL));
    SAYS_NO(ucp_atomic_swap64(NULL, 0, 0, NULL, NULL));
    SAYS_NO(ucp_atomic_cswap32(NULL, 0, 0, 0, NULL, NULL));
    SAYS_NO(ucp_atomic_cswap64(NULL, 0, 0, 0, NULL, NULL));
    SAYS_NO(ucp_device_counter_init(NULL, NULL, NULL));
    SAYS_NO(ucp_stream_worker_poll(NULL, NULL, 0, 0));
}

/* An error pointer is the status when it is cut. */
static void pointers(void)
{
    SAYS_NO(UCS_PTR_STATUS(ucp_am_send_nbx(NULL, 0, NULL, 0, NULL, 0, NULL)));
    SAYS_NO(UCS_PTR_STATUS(ucp_am_send_nb(NULL, 0, NULL, 0, 0, NULL, 0)));
    SAYS_NO(UCS_PTR_STATUS(ucp_am_recv_data_nbx(NULL, NULL, NULL, 0, NULL)));
    SAYS_NO(UCS_PTR_STATUS(ucp_stream_send_nbx(NULL, NULL, 0, NULL)));
    SAYS_NO(UCS_PTR_STATUS(ucp_stream_send_nb(NULL, NULL, 0, 0, NULL, 0)));
    SAYS_NO(UCS_PTR_STATUS(ucp_stream_recv_nbx(NULL, NULL, 0, NULL, NULL)));
    SAYS_NO(
        UCS_PTR_STATUS(ucp_stream_recv_nb(NULL, NULL, 0, 0, NULL, NULL, 0)));
    SAYS_NO(UCS_PTR_STATUS(ucp_stream_recv_data_nb(NULL, NULL)));
    SAYS_NO(UCS_PTR_STATUS(ucp_put_nb(NULL, NULL, 0, 0, NULL, NULL)));
    SAYS_NO(UCS_PTR_STATUS(ucp_put_nbx(NULL, NULL, 0, 0, NULL, NULL)));
    SAYS_NO(UCS_PTR_STATUS(ucp_get_nb(NULL, NULL, 0, 0, NULL, NULL)));
    SAYS_NO(UCS_PTR_STATUS(ucp_get_nbx(NULL, NULL, 0, 0, NULL, NULL)));
    SAYS_NO(UCS_PTR_STATUS(
        ucp_atomic_op_nbx(NULL, UCP_ATOMIC_OP_ADD, NULL, 0, 0, NULL, NULL)));
    SAYS_NO(UCS_PTR_STATUS(ucp_atomic_fetch_nb(NULL, UCP_ATOMIC_FETCH_OP_FADD,
                                               0, NULL, 0, 0, NULL, NULL)));
}

static void nothing(void)
{
    ucp_listener_destroy(NULL);
    ucp_am_data_release(NULL, NULL);
    ucp_stream_data_release(NULL, NULL);
    ucp_device_mem_list_release(NULL);
    if (ucp_device_counter_read(NULL, NULL, NULL) != 0) {
        ++failures;
    }
}

int main(void)
{
    statuses();
    pointers();
    nothing();
    return (failures == 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}
