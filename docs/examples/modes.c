/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Modes and strided data: a worker that talks to itself sends a column of a
 * matrix in ready mode, and a row out of an attached buffer.
 *
 *     cc modes.c $(pkg-config --cflags --libs ucx) -o modes && ./modes
 *
 * ucp/api/causeway.h is not UCX's: on UCX's libucp this does not start.
 */
#include <ucp/api/causeway.h>

#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 500, COLUMNS = 100, TAG_COLUMN = 1, TAG_ROW = 2 };

static double matrix[ROWS][COLUMNS];

static ucp_context_h             context;
static ucp_worker_h              worker;
static ucp_ep_h                  ep;
static const ucp_request_param_t plain;

static void must(ucs_status_t status, const char *what)
{
    if (status != UCS_OK) {
        fprintf(stderr, "modes: %s: %s\n", what, ucs_status_string(status));
        exit(1);
    }
}

static void wait_for(ucs_status_ptr_t request, const char *what)
{
    ucs_status_t status = UCS_PTR_RAW_STATUS(request);

    if (UCS_PTR_IS_PTR(request)) {
        while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
            ucp_worker_progress(worker);
        }
        ucp_request_free(request);
    }
    must(status, what);
}

static void open_loop(void)
{
    ucp_params_t        params        = {0};
    ucp_worker_params_t worker_params = {0};
    ucp_ep_params_t     ep_params     = {0};
    ucp_address_t      *address;
    size_t              length;

    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features   = UCP_FEATURE_TAG;
    must(ucp_init(&params, NULL, &context), "ucp_init");
    must(ucp_worker_create(context, &worker_params, &worker), "worker");
    must(ucp_worker_get_address(worker, &address, &length), "address");
    ep_params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    ep_params.address    = address;
    must(ucp_ep_create(worker, &ep_params, &ep), "endpoint");
    ucp_worker_release_address(worker, address);
}

/* A column is ROWS blocks of one element, a row of the matrix apart. */
static void send_column(unsigned number)
{
    static double       column[ROWS];
    causeway_dt_level_t rows  = {ROWS, COLUMNS * sizeof(double)};
    ucp_request_param_t param = {0};
    ucs_status_ptr_t    receive;

    must(causeway_dt_create_strided(sizeof(double), &rows, 1, 0,
                                    &param.datatype),
         "strided datatype");
    param.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE;

    receive = ucp_tag_recv_nbx(worker, column, sizeof(column), TAG_COLUMN,
                               UINT64_MAX, &plain);
    /* It is posted: the message may be sent as a ready one. */
    wait_for(causeway_tag_send_ready_nbx(ep, &matrix[0][number], 1, TAG_COLUMN,
                                         &param),
             "ready send");
    wait_for(receive, "receive");
    ucp_dt_destroy(param.datatype);
    printf("column %u: %g to %g\n", number, column[0], column[ROWS - 1]);
}

/* The row may be overwritten as soon as the call returns. */
static void send_row(unsigned number)
{
    enum { ROW_BYTES = COLUMNS * sizeof(double) };
    static char buffer[ROW_BYTES + CAUSEWAY_BUFFERED_OVERHEAD_BYTES];
    double      row[COLUMNS];

    must(causeway_worker_attach_buffer(worker, buffer, sizeof(buffer)),
         "attach");
    wait_for(causeway_tag_send_buffered_nbx(ep, matrix[number], ROW_BYTES,
                                            TAG_ROW, &plain),
             "buffered send");
    matrix[number][0] = -1;
    wait_for(
        ucp_tag_recv_nbx(worker, row, sizeof(row), TAG_ROW, UINT64_MAX, &plain),
        "receive");
    must(causeway_worker_detach_buffer(worker, NULL, NULL), "detach");
    printf("row %u: %g to %g\n", number, row[0], row[COLUMNS - 1]);
}

int main(void)
{
    for (unsigned i = 0; i < ROWS; ++i) {
        for (unsigned j = 0; j < COLUMNS; ++j) {
            matrix[i][j] = i + j / 1000.0;
        }
    }
    open_loop();
    send_column(10);
    send_row(20);
    wait_for(ucp_ep_close_nbx(ep, &plain), "close");
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
    return 0;
}
