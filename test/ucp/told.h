/* SPDX-License-Identifier: BSD-3-Clause */
/* told.h - what callbacks were told: the user_data of operations in tests. */
#ifndef TEST_UCP_TOLD_H_
#define TEST_UCP_TOLD_H_

#include "ucp/api/ucp.h"

/* release  give the request back inside the callback */
struct told {
    unsigned            count;
    void               *request;
    ucs_status_t        status;
    ucp_tag_recv_info_t info;
    int                 release;
};

static inline void told_send(void *request, ucs_status_t status,
                             void *user_data)
{
    struct told *told = user_data;

    ++told->count;
    told->request = request;
    told->status  = status;
    if (told->release) {
        ucp_request_release(request);
    }
}

static inline void told_receive(void *request, ucs_status_t status,
                                const ucp_tag_recv_info_t *info,
                                void                      *user_data)
{
    struct told *told = user_data;

    ++told->count;
    told->request = request;
    told->status  = status;
    told->info    = *info;
    if (told->release) {
        ucp_request_release(request);
    }
}

/* Parameters of a call that tells `told`, with more UCP_OP_ATTR_ bits. */
static inline ucp_request_param_t told_send_param(struct told *told,
                                                  uint32_t     more)
{
    ucp_request_param_t param = {
        .op_attr_mask =
            UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | more,
        .cb.send   = told_send,
        .user_data = told,
    };

    return param;
}

static inline ucp_request_param_t told_receive_param(struct told *told,
                                                     uint32_t     more)
{
    ucp_request_param_t param = {
        .op_attr_mask =
            UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | more,
        .cb.recv   = told_receive,
        .user_data = told,
    };

    return param;
}

#endif
