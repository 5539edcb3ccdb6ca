/* SPDX-License-Identifier: BSD-3-Clause */
/* arrows.h - the wire messages of a protocol as words, and the comparison of
 * a drawing with what was sent.
 *
 *     |==== RNDV ====>|        "S RNDV"            one arrow
 *     |<--- ACK ------|        "R ACK len=91808"   with a field
 *     |==== FRAG ====>|        "S FRAG x3"         three times
 *     |==== ...   ===>|        "S FRAG +"          once or more
 *     |==== put, FIN >|        "S put|FIN x4"      in any order
 *
 * An arrow's text is side, name, a message's operation, fields:
 *     S RNDV am_bcopy len=100000 bytes=8192 lane=0
 * A pattern matches when all its words are in the text, the first two in
 * their places. Sides: S is host 0 of the mock, R is host 1. Names of puts,
 * gets, and registrations are small: put, get, register, release. */
#ifndef TEST_UCP_ARROWS_H_
#define TEST_UCP_ARROWS_H_

#include "mock/mock.h"

enum { ARROW_TEXT_BYTES = 160 };

/* Where the fields of a message lie that a liar changes; -1: it has none.
 * sender, receiver, offset, length  bytes from its beginning; each 8 bytes
 * layout  where one begins that says where bytes lie (proto/layout.h)
 * is_answer  a message that names a request of the one who gets it: a copy,
 *            a changed or a late one must be dropped and counted */
struct arrow_kind {
    const char *name;
    int         am_id;
    int         id;
    int         offset;
    int         length;
    int         layout;
    bool        is_answer;
};

/* @return what kind of message that is; NULL: none that we know. */
const struct arrow_kind *arrow_kind_of(const struct mock_event *event);

/* Write the text of an event. */
void arrow_text(const struct mock_event *event, char *text);

/* Which entries of the journal count. */
enum arrow_filter {
    ARROWS_WIRE,   /* messages but announcements, puts, gets */
    ARROWS_MEMORY, /* registrations and releases too */
};

/* Compare the journal with a drawing.
 * @param patterns  Ends with NULL.
 * @return true, or false with both side by side in `difference`. */
bool arrows_match(const struct mock_control *mock, enum arrow_filter filter,
                  const char *const *patterns, char *difference,
                  size_t difference_bytes);

#endif
