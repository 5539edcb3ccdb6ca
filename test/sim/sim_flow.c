/* SPDX-License-Identifier: BSD-3-Clause */
/* test/sim/sim_flow.c - sending, receiving and checking messages. */
#include "sim_flow.h"

#include <stdlib.h>
#include <string.h>

void sim_flow_ready(struct load_flow *flow)
{
    if (!flow->may_send) {
        flow->may_send = true;
        ucs_list_add_tail(&flow->load->hosts[flow->from].sending,
                          &flow->send_link);
    }
    if (!flow->may_receive) {
        flow->may_receive = true;
        ucs_list_add_tail(&flow->load->hosts[flow->to].receiving,
                          &flow->receive_link);
    }
}

static uint64_t message_key(const struct load_flow *flow, unsigned number)
{
    struct sim_random random = {.state = flow->load->plan->seed ^
                                         ((uint64_t)flow->id << 32) ^ number};

    return sim_random_next(&random);
}

static size_t message_length(const struct load_flow *flow, unsigned number)
{
    struct sim_random random = {.state = message_key(flow, number)};
    size_t            most   = flow->load->plan->bytes_max;

    switch (sim_random_below(&random, 4)) {
    case 0:
        most = ucs_min(most, (size_t)16);
        break;
    case 1:
        most = ucs_min(most, (size_t)1500);
        break;
    default:
        break;
    }
    return (size_t)sim_random_below(&random, most + 1);
}

static void message_fill(const struct load_flow *flow, unsigned number,
                         uint8_t *bytes, size_t length)
{
    struct sim_random random = {.state = ~message_key(flow, number)};

    sim_random_fill(&random, bytes, length);
}

static struct load_op *op_new(struct load_flow *flow, unsigned number,
                              bool is_send)
{
    struct load_op *op = calloc(1, sizeof(*op));

    op->flow    = flow;
    op->number  = number;
    op->is_send = is_send;
    op->length  = message_length(flow, number);
    op->buffer  = malloc(op->length + 1);
    ucs_list_add_tail(&flow->load->ops, &op->link);
    return op;
}

void sim_op_free(struct load_op *op)
{
    ucs_list_remove(&op->link);
    memset(op->buffer, 0xdd, op->length); /* it is the application's again */
    free(op->buffer);
    free(op);
}

void sim_flow_called(const struct sim_load *load, unsigned host)
{
    if (load->world.hosts[host].is_helped) {
        sim_fail("host %u computes, and the helper calls its application",
                 host);
    }
}

static void check_received(const struct load_op *op, ucs_status_t status,
                           size_t length)
{
    struct load_flow *flow = op->flow;
    uint8_t          *expected;

    if ((status != UCS_OK) || (length != op->length)) {
        sim_fail("flow %u -> %u, message %u of %zu bytes: received %zu, %s",
                 flow->from, flow->to, op->number, op->length, length,
                 ucs_status_string(status));
        return;
    }
    expected = malloc(length + 1);
    message_fill(flow, op->number, expected, length);
    for (size_t i = 0; i < length; ++i) {
        if (expected[i] != op->buffer[i]) {
            sim_fail("flow %u -> %u, message %u of %zu bytes: byte %zu is "
                     "wrong",
                     flow->from, flow->to, op->number, length, i);
            break;
        }
    }
    free(expected);
}

bool sim_flow_may_end(const struct load_flow *flow)
{
    const struct sim_host *hosts = flow->load->world.hosts;

    return (hosts[flow->from].life != flow->from_life) ||
           (hosts[flow->to].life != flow->to_life) || hosts[flow->to].is_mute ||
           hosts[flow->from].is_mute ||
           sim_plan_may_fail(flow->load->plan, flow->from, flow->to);
}

static void op_finish_send(struct load_op *op, ucs_status_t status)
{
    struct load_flow *flow = op->flow;

    sim_trace("flow %u -> %u: sent %u: %s", flow->from, flow->to, op->number,
              ucs_status_string(status));
    if (status == UCS_OK) {
        ++flow->sent;
    } else if (!sim_flow_may_end(flow)) {
        sim_fail("flow %u -> %u: send %u: %s", flow->from, flow->to, op->number,
                 ucs_status_string(status));
    } else if (flow->status == UCS_OK) {
        flow->status = status;
    }
    sim_flow_ready(flow);
    sim_op_free(op);
}

static void op_finish_receive(struct load_op *op, ucs_status_t status,
                              size_t length)
{
    struct load_flow *flow = op->flow;

    sim_trace("flow %u -> %u: received %u: %s", flow->from, flow->to,
              op->number, ucs_status_string(status));
    if ((status == UCS_OK) || !sim_flow_may_end(flow)) {
        check_received(op, status, length);
        flow->received_bytes += length;
        flow->received_ns = flow->load->world.net.now_ns;
        ++flow->received;
    }
    sim_flow_ready(flow);
    sim_op_free(op);
}

static void send_done(void *request, ucs_status_t status, void *arg)
{
    const struct load_flow *flow = ((const struct load_op *)arg)->flow;

    sim_flow_called(flow->load, flow->from);
    op_finish_send(arg, status);
    ucp_request_free(request);
}

static void receive_done(void *request, ucs_status_t status,
                         const ucp_tag_recv_info_t *info, void *arg)
{
    const struct load_flow *flow = ((const struct load_op *)arg)->flow;

    sim_flow_called(flow->load, flow->to);
    op_finish_receive(arg, status, info->length);
    ucp_request_free(request);
}

void sim_flow_send(struct load_flow *flow, ucp_ep_h ep)
{
    struct load_op     *op    = op_new(flow, flow->send_begun++, true);
    ucp_request_param_t param = {
        .op_attr_mask =
            UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.send   = send_done,
        .user_data = op,
    };
    ucs_status_ptr_t result;

    message_fill(flow, op->number, op->buffer, op->length);
    result =
        ((message_key(flow, op->number) & 7) == 0)
            ? ucp_tag_send_sync_nbx(ep, op->buffer, op->length, flow->id,
                                    &param)
            : ucp_tag_send_nbx(ep, op->buffer, op->length, flow->id, &param);
    if (!UCS_PTR_IS_PTR(result)) {
        op_finish_send(op, UCS_PTR_STATUS(result));
    } else {
        op->request = result;
    }
}

void sim_flow_receive(struct load_flow *flow, ucp_worker_h worker)
{
    struct load_op     *op = op_new(flow, flow->receive_begun++, false);
    ucp_tag_recv_info_t info;
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA |
                        UCP_OP_ATTR_FIELD_RECV_INFO,
        .cb.recv            = receive_done,
        .user_data          = op,
        .recv_info.tag_info = &info,
    };
    ucs_status_ptr_t result;

    result = ucp_tag_recv_nbx(worker, op->buffer, op->length, flow->id,
                              UINT64_MAX, &param);
    if (!UCS_PTR_IS_PTR(result)) {
        op_finish_receive(op, UCS_PTR_STATUS(result),
                          UCS_PTR_IS_ERR(result) ? 0 : info.length);
    } else {
        op->request = result;
    }
}
