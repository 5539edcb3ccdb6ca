/* SPDX-License-Identifier: BSD-3-Clause */
/* user.c - what the user of a worker does while a liar talks to it: receives,
 * sends, probes, cancels, in all datatypes, with requests of libucp and with
 * his own. */
#include "fuzz/scene.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz/live.h"

enum {
    GUARD_BYTES = 16,
    GUARD       = 0xa5,
    REFUSED     = 0xee, /* unpack does not take a piece that begins so */
};

/* ---- a generic datatype: plain bytes ---- */

struct generic {
    uint8_t *bytes;
    size_t   length;
};

static void *generic_start(void *context, void *buffer, size_t count)
{
    struct generic *generic = malloc(sizeof(*generic));

    (void)context;
    live_check(generic != NULL, "malloc");
    *generic = (struct generic){buffer, count};
    return generic;
}

static void *generic_start_pack(void *context, const void *buffer, size_t count)
{
    return generic_start(context, (void *)(uintptr_t)buffer, count);
}

static size_t generic_size(void *state)
{
    return ((struct generic *)state)->length;
}

static size_t generic_pack(void *state, size_t offset, void *dest,
                           size_t length)
{
    struct generic *generic = state;

    length = ucs_min(length, generic->length - offset);
    memcpy(dest, generic->bytes + offset, length);
    return length;
}

static ucs_status_t generic_unpack(void *state, size_t offset,
                                   const void *source, size_t length)
{
    struct generic *generic = state;

    live_check((offset <= generic->length) &&
                   (length <= generic->length - offset),
               "a piece lies behind the end");
    if ((length > 0) && (*(const uint8_t *)source == REFUSED)) {
        return UCS_ERR_IO_ERROR;
    }
    memcpy(generic->bytes + offset, source, length);
    return UCS_OK;
}

void user_init(struct scene *scene)
{
    static const ucp_generic_dt_ops_t ops = {
        .start_pack   = generic_start_pack,
        .start_unpack = generic_start,
        .packed_size  = generic_size,
        .pack         = generic_pack,
        .unpack       = generic_unpack,
        .finish       = free,
    };

    live_check(ucp_dt_create_generic(&ops, NULL, &scene->generic) == UCS_OK,
               "ucp_dt_create_generic");
    scene->post_count_max = POST_COUNT_MAX;
}

/* ---- posts ---- */

static void post_free(struct post *post)
{
    for (unsigned i = 0; i < GUARD_BYTES; ++i) {
        live_check(post->buffer[post->length + i] == GUARD,
                   "written behind a buffer");
    }
    free(post);
}

/* A place for one more operation, its buffer filled; NULL: all are used. */
static struct post *post_new(struct scene *scene)
{
    static const size_t lengths[] = {0, 1, 8, 64, 100, 1000, 9000, 70000};
    size_t              length    = lengths[tape_u8(&scene->tape) % 8];
    size_t              head      = ucs_align_up(sizeof(struct post), 16);
    struct post        *post;
    size_t              third = length / 3;

    if (scene->post_count == scene->post_count_max) {
        return NULL;
    }
    post = malloc(head + scene->request_bytes + length + GUARD_BYTES);
    live_check(post != NULL, "malloc");
    post->length      = length;
    post->buffer      = (uint8_t *)post + head + scene->request_bytes;
    post->own_request = (tape_u8(&scene->tape) & 1) ? post->buffer : NULL;
    memset(post->buffer, 0x11, length);
    memset(post->buffer + length, GUARD, GUARD_BYTES);
    post->iov[0] = (ucp_dt_iov_t){post->buffer, third};
    post->iov[1] = (ucp_dt_iov_t){post->buffer + third, 0};
    post->iov[2] = (ucp_dt_iov_t){post->buffer + third, length - third};
    return post;
}

/* How the operation of a post is asked for. */
static ucp_request_param_t post_param(struct scene *scene, struct post *post,
                                      void **buffer_p, size_t *count_p)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
        .datatype     = ucp_dt_make_contig(1),
    };

    *buffer_p = post->buffer;
    *count_p  = post->length;
    switch (tape_u8(&scene->tape) % 4) {
    case 0:
        param.datatype = ucp_dt_make_iov();
        *buffer_p      = post->iov;
        *count_p       = UCS_ARRAY_COUNT(post->iov);
        break;
    case 1:
        param.datatype = scene->generic;
        break;
    default:
        break;
    }
    if (post->own_request != NULL) {
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_REQUEST;
        param.request = post->own_request;
    }
    return param;
}

static void post_done(struct scene *scene, struct post *post,
                      ucs_status_ptr_t result)
{
    if (UCS_PTR_IS_PTR(result)) {
        post->request                     = result;
        scene->posts[scene->post_count++] = post;
    } else {
        post_free(post);
    }
}

void user_sweep(struct scene *scene)
{
    struct post *post;
    ucs_status_t status;

    for (unsigned i = 0; i < scene->post_count;) {
        post   = scene->posts[i];
        status = ucp_request_check_status(post->request);
        if (status == UCS_INPROGRESS) {
            ++i;
            continue;
        }
        live_check((status == UCS_OK) || UCS_STATUS_IS_ERR(status),
                   "a request completes with a strange status");
        ucp_request_free(post->request);
        post_free(post);
        scene->posts[i] = scene->posts[--scene->post_count];
    }
}

/* ---- steps ---- */

void user_receive(struct scene *scene)
{
    static const ucp_tag_t masks[] = {UINT64_MAX, 0, 1, UINT64_MAX};
    struct post           *post    = post_new(scene);
    ucp_request_param_t    param;
    ucp_tag_t              tag;
    size_t                 count;
    void                  *buffer;

    if (post != NULL) {
        param = post_param(scene, post, &buffer, &count);
        tag   = scene_tag(&scene->tape);
        post_done(scene, post,
                  ucp_tag_recv_nbx(scene->worker, buffer, count, tag,
                                   masks[tape_u8(&scene->tape) % 4], &param));
    }
}

void user_send(struct scene *scene)
{
    ucp_ep_h            ep      = scene->eps[tape_u8(&scene->tape) % EP_COUNT];
    bool                is_sync = tape_u8(&scene->tape) & 1;
    struct post        *post    = post_new(scene);
    ucp_request_param_t param;
    ucp_tag_t           tag;
    size_t              count;
    void               *buffer;

    if (post != NULL) {
        param = post_param(scene, post, &buffer, &count);
        tag   = scene_tag(&scene->tape);
        post_done(scene, post,
                  is_sync
                      ? ucp_tag_send_sync_nbx(ep, buffer, count, tag, &param)
                      : ucp_tag_send_nbx(ep, buffer, count, tag, &param));
    }
}

/* Look for a message; perhaps take it out of matching, to receive it later. */
void user_probe(struct scene *scene)
{
    bool                takes = scene->message_count < MESSAGE_COUNT_MAX;
    ucp_tag_t           mask  = (tape_u8(&scene->tape) & 1) ? UINT64_MAX : 0;
    ucp_tag_recv_info_t info;
    ucp_tag_message_h   message;

    message = ucp_tag_probe_nb(scene->worker, scene_tag(&scene->tape), mask,
                               takes, &info);
    if ((message != NULL) && takes) {
        scene->messages[scene->message_count++] = message;
    }
}

void user_receive_probed(struct scene *scene)
{
    struct post        *post = NULL;
    ucp_request_param_t param;
    size_t              count;
    void               *buffer;

    if (scene->message_count > 0) {
        post = post_new(scene);
    }
    if (post != NULL) {
        param = post_param(scene, post, &buffer, &count);
        post_done(scene, post,
                  ucp_tag_msg_recv_nbx(scene->worker, buffer, count,
                                       scene->messages[--scene->message_count],
                                       &param));
    }
}

void user_cancel(struct scene *scene)
{
    unsigned pick = tape_u8(&scene->tape);

    if (scene->post_count > 0) {
        ucp_request_cancel(scene->worker,
                           scene->posts[pick % scene->post_count]->request);
        user_sweep(scene);
    }
}

void user_give_up(struct scene *scene)
{
    scene->post_count_max = UCS_ARRAY_COUNT(scene->posts);
    while (scene->message_count > 0) {
        user_receive_probed(scene);
    }
    for (unsigned i = 0; i < scene->post_count; ++i) {
        ucp_request_cancel(scene->worker, scene->posts[i]->request);
    }
}

/* Requests of libucp are gone with the worker; the user's own tell. */
void user_end(struct scene *scene)
{
    struct post *post;

    for (unsigned i = 0; i < scene->post_count; ++i) {
        if (scene->posts[i]->own_request == NULL) {
            ucp_request_free(scene->posts[i]->request);
        }
    }
    ucp_worker_destroy(scene->worker);
    for (unsigned i = 0; i < scene->post_count; ++i) {
        post = scene->posts[i];
        live_check((post->own_request == NULL) ||
                       ucp_request_is_completed(post->request),
                   "a request is not complete when its worker is gone");
        post_free(post);
    }
    ucp_dt_destroy(scene->generic);
}
