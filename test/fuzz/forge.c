/* SPDX-License-Identifier: BSD-3-Clause */
/* forge.c - messages of a liar, made from what the worker holds: ids that
 * live, that lived, that never did; offsets and lengths that fit, nearly fit
 * or are huge; then perhaps cut or with a bit flipped. */
#include "fuzz/forge.h"

#include <string.h>

#include "fuzz/live.h"
#include "ucp/proto/proto.h"
#include "ucp/proto/rndv.h"
#include "ucp/proto/wire_rdma.h"
#include "ucp/wireup/peer.h"

enum { FORGED_LENGTH_END = 1 << 24 };

struct uct_ep *forge_stranger(struct scene *scene)
{
    uint8_t              address[UCT_ADDRESS_BYTES_MAX];
    struct uct_ep_params params = {
        .address       = address,
        .address_bytes = scene->worker->ifaces[0].attr.address_bytes,
    };
    struct uct_ep *ep;

    scene->iface->transport->iface_address(scene->iface, address);
    live_check(ucti_ep_create(scene->iface, &params, &ep) == UCS_OK,
               "no lane to ourselves");
    return ep;
}

/* A number that is small, middling or of any size. */
static uint64_t forge_number(struct tape *tape)
{
    switch (tape_u8(tape) % 4) {
    case 0:
        return tape_u16(tape);
    case 1:
        return tape_scaled(tape);
    default:
        return tape_u8(tape);
    }
}

/* A request of the user that may be in a conversation; NULL: there is none. */
static const struct ucp_request *forge_request(struct scene *scene)
{
    unsigned pick = tape_u8(&scene->tape);

    return (scene->post_count == 0)
               ? NULL
               : ucp_request_of(
                     scene->posts[pick % scene->post_count]->request);
}

static uint64_t request_id(const struct ucp_request *req)
{
    return (req->flags & UCP_REQUEST_TAG_RECV) ? req->recv.id : req->send.id;
}

/* The id of a request, or one beside it, or any number. */
static uint64_t forge_id(struct tape *tape, const struct ucp_request *req)
{
    uint64_t id = (req == NULL) ? 0 : request_id(req);

    switch (tape_u8(tape) % 8) {
    case 0:
        return tape_u64(tape);
    case 1:
        return id + tape_u8(tape) % 3 - 1;
    case 2:
        return forge_number(tape);
    default:
        return id;
    }
}

static size_t forge_start(struct scene *scene, unsigned from, uint8_t *bytes)
{
    struct tape          *tape  = &scene->tape;
    size_t                data  = tape_u8(tape);
    struct ucp_wire_start start = {
        .tag    = scene_tag(tape),
        .length = data + forge_number(tape),
        .id     = forge_number(tape),
    };

    if (tape_u8(tape) % 64 != 0) {
        start.length %= FORGED_LENGTH_END; /* each more is a line of ASan's */
    }
    scene->partials[from] =
        (struct forged_partial){.number = start.id, .offset = data};
    ucp_wire_start_encode(bytes, &start);
    return UCP_WIRE_FIRST_BYTES + data;
}

/* A layout of a few runs or a pattern, with a key that nobody gave; of about
 * `length` bytes. */
static size_t forge_layout(struct scene *scene, uint64_t length, uint8_t *bytes,
                           size_t size_bytes)
{
    struct tape      *tape  = &scene->tape;
    uint8_t           kind  = tape_u8(tape);
    unsigned          runs  = (kind & 1) ? 0 : 1 + tape_u8(tape) % 5;
    unsigned          lanes = (kind >= 250) ? kind : 1 + (kind >= 240);
    uint8_t           key[24];
    struct ucs_writer writer;

    ucs_writer_init(&writer, bytes, size_bytes);
    memset(key, tape_u8(tape), sizeof(key));
    ucs_write_u8(&writer, kind & 1);
    ucs_write_u8(&writer, (uint8_t)lanes);
    ucs_write_le16(&writer, (uint16_t)(runs + (kind == 128)));
    for (unsigned i = 0; i < ucs_min(lanes, 2u); ++i) {
        ucs_write_le32(&writer, scene->worker->ifaces[0].name + i);
    }
    for (unsigned i = 0; i < ((kind & 1) ? 7 : 0); ++i) { /* base .. stride */
        ucs_write_le64(&writer,
                       (i == 1) ? 1u + tape_u8(tape) : forge_number(tape));
    }
    for (unsigned i = 0; i < runs; ++i) {
        uint64_t part = (i + 1 == runs) ? length : length / (runs + 1);

        ucs_write_le64(&writer, 4096 + forge_number(tape));
        ucs_write_le64(&writer, part);
        length -= part;
        if (i + 1 < runs) {
            ucs_write_u8(&writer, (i == 0) ? sizeof(key) : 0);
            ucs_write_bytes(&writer, key, (i == 0) ? sizeof(key) : 0);
        }
    }
    ucs_write_u8(&writer, (runs > 1) ? 0 : sizeof(key));
    ucs_write_bytes(&writer, key, (runs > 1) ? 0 : sizeof(key));
    return ucs_write_length(&writer);
}

/* RNDV or RGET: a start, a candidate, a head, first data. */
static size_t forge_rndv(struct scene *scene, uint8_t *bytes)
{
    struct tape         *tape   = &scene->tape;
    size_t               data   = tape_u8(tape);
    bool                 is_get = tape_u8(tape) & 1;
    struct ucp_wire_rndv rndv   = {
          .start       = {.tag    = scene_tag(tape),
                          .length = data + forge_number(tape),
                          .id     = forge_number(tape)},
          .candidate   = tape_u8(tape) % 8,
          .head_length = tape_u8(tape),
    };

    if (tape_u8(tape) % 64 != 0) {
        rndv.start.length %= FORGED_LENGTH_END;
    }
    if (is_get) {
        data             = 0;
        rndv.candidate   = UCP_RNDV_GET;
        rndv.head_length = (uint16_t)forge_layout(
            scene, rndv.start.length, bytes + UCP_WIRE_RNDV_BYTES,
            FORGED_BYTES_MAX - UCP_WIRE_RNDV_BYTES);
    }
    ucp_wire_rndv_encode(bytes, &rndv);
    return UCP_WIRE_RNDV_BYTES + rndv.head_length + data;
}

static size_t forge_more(struct scene *scene, unsigned from, uint8_t *bytes)
{
    struct tape           *tape    = &scene->tape;
    struct forged_partial *partial = &scene->partials[from];
    size_t                 data    = tape_u8(tape);
    struct ucp_wire_piece  piece   = {partial->number, partial->offset};

    if (tape_u8(tape) % 8 == 0) {
        piece.id += forge_number(tape);
    }
    if (tape_u8(tape) % 8 == 0) {
        piece.offset += forge_number(tape);
    }
    partial->offset += data;
    ucp_wire_piece_encode(bytes, &piece);
    return UCP_WIRE_MORE_BYTES + data;
}

static size_t forge_fragment(struct scene *scene, uint8_t *bytes)
{
    struct tape              *tape  = &scene->tape;
    const struct ucp_request *req   = forge_request(scene);
    struct ucp_wire_piece     piece = {
            .id     = forge_id(tape, req),
            .offset = forge_number(tape),
    };

    ucp_wire_piece_encode(bytes, &piece);
    return UCP_WIRE_FRAG_BYTES + tape_u8(tape) * (tape_u8(tape) % 8);
}

static size_t forge_ack(struct scene *scene, uint8_t *bytes)
{
    struct tape              *tape = &scene->tape;
    const struct ucp_request *req  = forge_request(scene);
    struct ucp_wire_ack       ack  = {
               .sender_id   = forge_id(tape, req),
               .receiver_id = forge_number(tape),
               .offset      = forge_number(tape),
               .length      = forge_number(tape),
    };

    if ((req != NULL) && (tape_u8(tape) % 4 != 0)) {
        ack.offset = req->dt.offset;
        ack.length = req->dt.length - req->dt.offset;
    }
    ucp_wire_ack_encode(bytes, &ack);
    return UCP_WIRE_ACK_BYTES;
}

static size_t forge_put(struct scene *scene, uint8_t *bytes)
{
    struct tape              *tape = &scene->tape;
    const struct ucp_request *req  = forge_request(scene);
    struct ucp_wire_put       put  = {
               .sender_id   = forge_id(tape, req),
               .receiver_id = forge_number(tape),
               .offset      = forge_number(tape),
               .length      = forge_number(tape),
    };

    if ((req != NULL) && (tape_u8(tape) % 4 != 0)) {
        put.offset = 0;
        put.length = req->dt.length;
    }
    ucp_wire_put_encode(bytes, &put);
    return UCP_WIRE_PUT_BYTES +
           forge_layout(scene, put.length, bytes + UCP_WIRE_PUT_BYTES,
                        FORGED_BYTES_MAX - UCP_WIRE_PUT_BYTES);
}

static size_t forge_fin(struct scene *scene, uint8_t *bytes)
{
    struct tape              *tape = &scene->tape;
    const struct ucp_request *req  = forge_request(scene);
    struct ucp_wire_fin       fin  = {
               .id     = forge_id(tape, req),
               .offset = forge_number(tape),
               .length = forge_number(tape),
               .status = (ucs_status_t)(int8_t)tape_u8(tape),
    };

    if ((req != NULL) && (tape_u8(tape) % 4 != 0)) {
        fin.offset = 0;
        fin.length = req->dt.length;
        fin.status = UCS_OK;
    }
    ucp_wire_fin_encode(bytes, &fin);
    return UCP_WIRE_FIN_BYTES;
}

static size_t forge_abort(struct scene *scene, uint8_t *bytes)
{
    struct tape          *tape  = &scene->tape;
    struct ucp_wire_abort abort = {
        .id     = forge_id(tape, forge_request(scene)),
        .side   = tape_u8(tape) % 3,
        .status = (ucs_status_t) - (int)(tape_u8(tape) % 128),
    };

    ucp_wire_abort_encode(bytes, &abort);
    return UCP_WIRE_ABORT_BYTES;
}

/* Ourselves, or somebody who can be reached where we are. */
static size_t forge_announcement(struct scene *scene, uint8_t *bytes)
{
    struct tape            *tape = &scene->tape;
    char                    reason[UCT_REASON_BYTES_MAX];
    struct ucp_address_view view;
    size_t                  length;

    live_check(ucp_address_decode(scene->own, scene->own_bytes, &view,
                                  reason) == UCS_OK,
               "the own address is refused");
    if (tape_u8(tape) % 4 != 0) {
        view.worker_id = tape_u8(tape) % 8;
    }
    view.secret[0] ^= (tape_u8(tape) % 4 == 0) ? 1 : 0;
    if (tape_u8(tape) % 4 == 0) {
        view.entry_count = 0; /* heard, but there is no way back */
    }
    ucs_put_le32(bytes, (tape_u8(tape) & 1) ? tape_u8(tape) % 4
                                            : (uint32_t)forge_number(tape));
    ucs_put_le32(bytes + 4, 0);
    length = ucp_address_encode(&view, bytes + UCP_ANNOUNCE_HEAD_BYTES,
                                UCP_ADDRESS_BYTES_MAX);
    return UCP_ANNOUNCE_HEAD_BYTES + length;
}

/* [length] of the body; the bytes behind its fields are set already. */
static size_t forge_body(struct scene *scene, unsigned from,
                         struct forged *forged)
{
    switch (forged->am_id) {
    case UCP_AM_ANNOUNCE:
        return forge_announcement(scene, forged->bytes);
    case UCP_AM_EAGER:
        ucs_put_le64(forged->bytes, scene_tag(&scene->tape));
        return UCP_WIRE_EAGER_BYTES +
               tape_u8(&scene->tape) * (tape_u8(&scene->tape) % 8);
    case UCP_AM_EAGER_FIRST:
        return forge_start(scene, from, forged->bytes);
    case UCP_AM_RNDV:
    case UCP_AM_RGET:
        return forge_rndv(scene, forged->bytes);
    case UCP_AM_EAGER_MORE:
        return forge_more(scene, from, forged->bytes);
    case UCP_AM_FRAG:
        return forge_fragment(scene, forged->bytes);
    case UCP_AM_ACK:
        return forge_ack(scene, forged->bytes);
    case UCP_AM_ABORT:
        return forge_abort(scene, forged->bytes);
    case UCP_AM_PUT:
        return forge_put(scene, forged->bytes);
    case UCP_AM_FIN:
        return forge_fin(scene, forged->bytes);
    default:
        return tape_u8(&scene->tape);
    }
}

void forge_message(struct scene *scene, unsigned from, struct forged *forged)
{
    struct tape *tape = &scene->tape;
    uint8_t      kind = tape_u8(tape);

    memset(forged->bytes, tape_u8(tape), sizeof(forged->bytes));
    forged->am_id  = kind % (UCP_AM_FIN + 1);
    forged->length = forge_body(scene, from, forged);
    switch (kind >> 4) {
    case 0:
        forged->length = tape_u16(tape) % (forged->length + 1);
        break;
    case 1:
        forged->bytes[tape_u8(tape)] ^= (uint8_t)(1 << tape_u8(tape) % 8);
        break;
    case 2:
        forged->am_id = tape_u8(tape) % CARRIER_AM_ID;
        break;
    case 3:
        for (unsigned i = 0; i < 48; ++i) {
            forged->bytes[i] = tape_u8(tape);
        }
        break;
    default:
        break;
    }
}

static bool is_no_id(const struct scene *scene, uint64_t id)
{
    return ucs_idmap_get(&scene->worker->ids, id) == NULL;
}

static bool is_bad_announcement(const struct uct_source *source,
                                const uint8_t *bytes, size_t length)
{
    char                    reason[UCT_REASON_BYTES_MAX];
    struct ucp_address_view view;

    return (source->user != NULL) || (length <= UCP_ANNOUNCE_HEAD_BYTES) ||
           (ucp_address_decode(bytes + UCP_ANNOUNCE_HEAD_BYTES,
                               length - UCP_ANNOUNCE_HEAD_BYTES, &view,
                               reason) != UCS_OK);
}

bool forge_is_bad(const struct scene *scene, const struct uct_source *source,
                  uint8_t am_id, const uint8_t *bytes, size_t length)
{
    struct ucp_wire_start start;
    struct ucp_wire_rndv  rndv;
    struct ucp_wire_put   put;
    struct ucp_wire_fin   fin;
    struct ucp_wire_ack   ack;
    struct ucp_wire_piece piece;
    struct ucp_wire_abort abort;

    if (am_id == UCP_AM_ANNOUNCE) {
        return is_bad_announcement(source, bytes, length);
    }
    if ((source->user == NULL) && (am_id <= UCP_AM_FIN)) {
        return true;
    }
    switch (am_id) {
    case UCP_AM_EAGER:
        return length < UCP_WIRE_EAGER_BYTES;
    case UCP_AM_EAGER_FIRST:
        return !ucp_wire_start_decode(bytes, length, &start);
    case UCP_AM_RNDV:
    case UCP_AM_RGET:
        return !ucp_wire_rndv_decode(bytes, length, &rndv);
    case UCP_AM_EAGER_MORE:
        return !ucp_wire_piece_decode(bytes, length, &piece);
    case UCP_AM_ACK:
        return !ucp_wire_ack_decode(bytes, length, &ack) ||
               is_no_id(scene, ack.sender_id);
    case UCP_AM_PUT:
        return !ucp_wire_put_decode(bytes, length, &put) ||
               is_no_id(scene, put.sender_id);
    case UCP_AM_FIN:
        return !ucp_wire_fin_decode(bytes, length, &fin) ||
               is_no_id(scene, fin.id);
    case UCP_AM_FRAG:
        return !ucp_wire_piece_decode(bytes, length, &piece) ||
               is_no_id(scene, piece.id);
    case UCP_AM_ABORT:
        return !ucp_wire_abort_decode(bytes, length, &abort) ||
               ((abort.side == UCP_WIRE_RECEIVER) && is_no_id(scene, abort.id));
    default:
        return false; /* nobody receives it: counted by the interface */
    }
}
