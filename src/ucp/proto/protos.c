/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/protos.c - THE list of protocols. */
#include "ucp/proto/fragment.h"
#include "ucp/proto/proto.h"
#include "ucp/proto/rdma.h"
#include "ucp/proto/rndv.h"

extern const struct ucp_proto ucp_eager_immediate_proto;
extern const struct ucp_proto ucp_eager_prepared_proto;
extern const struct ucp_proto ucp_eager_allocated_proto;
extern const struct ucp_proto ucp_rdma_put_proto;
extern const struct ucp_proto ucp_rdma_get_proto;
extern const struct ucp_proto ucp_rdma_shared_proto;
extern const struct ucp_proto ucp_rdma_pipeline_proto;
extern const struct ucp_proto ucp_buffered_pipeline_proto;

const struct ucp_proto *const ucp_protos[] = {
    &ucp_eager_immediate_proto,   &ucp_eager_prepared_proto,
    &ucp_eager_allocated_proto,   &ucp_pipeline_send_proto,
    &ucp_rdma_put_proto,          &ucp_rdma_get_proto,
    &ucp_rdma_shared_proto,       &ucp_rdma_pipeline_proto,
    &ucp_buffered_pipeline_proto, NULL,
};

static void protos_set(struct uct_iface         *iface,
                       const struct ucp_handler *handler, void *arg)
{
    for (; (handler != NULL) && (handler->fn != NULL); ++handler) {
        ucti_iface_set_am(iface, handler->am_id, handler->fn, arg);
    }
}

void ucp_protos_set_handlers(struct uct_iface *iface, void *arg)
{
    for (const struct ucp_proto *const *proto = ucp_protos; *proto != NULL;
         ++proto) {
        protos_set(iface, (*proto)->handlers, arg);
    }
    protos_set(iface, ucp_rndv_handlers, arg);
    protos_set(iface, ucp_fragment_handlers, arg);
    protos_set(iface, ucp_rdma_handlers, arg);
}
