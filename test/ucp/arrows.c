/* SPDX-License-Identifier: BSD-3-Clause */
/* arrows.c - what was sent, as words, and compared with a drawing. */
#include "ucp/arrows.h"

#include <stdio.h>
#include <string.h>

#include "ucp/proto/proto.h"
#include "ucs/bytes.h"

#define ARROW(_name, _am_id, _id, _offset, _length)                            \
    {                                                                          \
        .name = _name, .am_id = _am_id, .id = _id, .offset = _offset,          \
        .length = _length, .layout = -1                                        \
    }
#define ARROW_ANSWER(_name, _am_id, _id, _offset, _length)                     \
    {                                                                          \
        .name = _name, .am_id = _am_id, .id = _id, .offset = _offset,          \
        .length = _length, .layout = -1, .is_answer = true                     \
    }

static const struct arrow_kind arrow_kinds[] = {
    ARROW("ANNOUNCE", UCP_AM_ANNOUNCE, -1, -1, -1),
    ARROW("MATCH", UCP_AM_EAGER, -1, -1, -1),
    ARROW("FIRST", UCP_AM_EAGER_FIRST, 16, -1, 8),
    ARROW("MORE", UCP_AM_EAGER_MORE, 0, 8, -1),
    ARROW("RNDV", UCP_AM_RNDV, 16, -1, 8),
    {.name   = "RGET",
     .am_id  = UCP_AM_RGET,
     .id     = 16,
     .offset = -1,
     .length = 8,
     .layout = 32},
    ARROW_ANSWER("ACK", UCP_AM_ACK, 0, 16, 24),
    {.name      = "PUT",
     .am_id     = UCP_AM_PUT,
     .id        = 0,
     .offset    = 16,
     .length    = 24,
     .layout    = 32,
     .is_answer = true},
    ARROW_ANSWER("FIN", UCP_AM_FIN, 0, 8, 16),
    ARROW_ANSWER("FRAG", UCP_AM_FRAG, 0, 8, -1),
    ARROW_ANSWER("ABORT", UCP_AM_ABORT, 0, -1, -1),
};

const struct arrow_kind *arrow_kind_of(const struct mock_event *event)
{
    unsigned index;

    for (index = 0; index < UCS_ARRAY_COUNT(arrow_kinds); ++index) {
        if ((event->type == MOCK_AM) &&
            (arrow_kinds[index].am_id == event->am_id)) {
            return &arrow_kinds[index];
        }
    }
    return NULL;
}

static const char *event_name(const struct mock_event *event)
{
    static const char *const names[] = {[MOCK_PUT]        = "put",
                                        [MOCK_GET]        = "get",
                                        [MOCK_REGISTERED] = "register",
                                        [MOCK_RELEASED]   = "release"};
    const struct arrow_kind *kind    = arrow_kind_of(event);

    if (event->type != MOCK_AM) {
        return names[event->type];
    }
    return (kind != NULL) ? kind->name : "?";
}

/* " am_bcopy", for what carries a message; put and get have their names. */
static const char *event_operation(const struct mock_event *event)
{
    static const char *const names[] = {[MOCK_AM_SHORT] = " am_short",
                                        [MOCK_AM_BCOPY] = " am_bcopy",
                                        [MOCK_AM_ZCOPY] = " am_zcopy"};

    return (event->type == MOCK_AM) ? names[event->op] : "";
}

/* Append " name=value", if the message has that field. */
static size_t text_field(const struct mock_event *event, const char *name,
                         int at, char *text, size_t used)
{
    if ((at < 0) || ((size_t)at + 8 > event->length)) {
        return used;
    }
    return used + (size_t)snprintf(
                      text + used, ARROW_TEXT_BYTES - used, " %s=%lu", name,
                      (unsigned long)ucs_get_le64(event->bytes + at));
}

void arrow_text(const struct mock_event *event, char *text)
{
    const struct arrow_kind *kind = arrow_kind_of(event);
    size_t                   used;

    used = (size_t)snprintf(text, ARROW_TEXT_BYTES, "%c %s%s",
                            (event->from == 0) ? 'S' : 'R', event_name(event),
                            event_operation(event));
    if (kind != NULL) {
        used = text_field(event, "off", kind->offset, text, used);
        used = text_field(event, "len", kind->length, text, used);
    }
    (void)snprintf(text + used, ARROW_TEXT_BYTES - used, " bytes=%zu lane=%u",
                   event->length, event->device);
}

static bool event_counts(const struct mock_event *event,
                         enum arrow_filter        filter)
{
    switch (event->type) {
    case MOCK_AM:
        return event->am_id != UCP_AM_ANNOUNCE;
    case MOCK_PUT:
    case MOCK_GET:
        return true;
    case MOCK_REGISTERED:
    case MOCK_RELEASED:
        break;
    }
    return filter == ARROWS_MEMORY;
}

/* Is the word [word, word + length) one of the text's? */
static bool text_has_word(const char *text, const char *word, size_t length)
{
    const char *found = strstr(text, " ");

    for (; found != NULL; found = strstr(found + 1, " ")) {
        if ((strncmp(found + 1, word, length) == 0) &&
            ((found[1 + length] == ' ') || (found[1 + length] == '\0'))) {
            return true;
        }
    }
    return false;
}

/* Is one of "word|word|word" [words, words + length) in the text? */
static bool text_has_one(const char *text, const char *words, size_t length)
{
    size_t part;

    for (;;) {
        part = strcspn(words, "| ");
        if (text_has_word(text, words, part)) {
            return true;
        }
        if (part >= length) {
            return false;
        }
        words += part + 1;
        length -= part + 1;
    }
}

/* How often a pattern may match: [min, max]. */
struct arrow_times {
    unsigned min;
    unsigned max;
};

/* Split a pattern: does it match, and how often may it? */
static bool pattern_matches(const char *pattern, const char *text,
                            struct arrow_times *times_p)
{
    const char *word    = strchr(pattern, ' ') + 1;
    bool        matches = (pattern[0] == text[0]);

    *times_p = (struct arrow_times){1, 1};
    while (*word != '\0') {
        size_t length = strcspn(word, " ");

        if ((length == 1) && (*word == '+')) {
            times_p->max = UINT32_MAX;
        } else if ((*word == 'x') && (word[1] >= '0') && (word[1] <= '9')) {
            (void)sscanf(word + 1, "%u", &times_p->min);
            times_p->max = times_p->min;
        } else {
            matches = matches && text_has_one(text, word, length);
        }
        word += length + ((word[length] == ' ') ? 1 : 0);
    }
    return matches;
}

/* What is compared, and the two columns that show it. */
struct comparison {
    const char *const *pattern; /* that is looked at */
    unsigned           times;   /* that it has matched */
    bool               differs;
    char              *text;
    size_t             text_bytes;
    size_t             used;
};

static void comparison_line(struct comparison *self, const char *pattern,
                            const char *text, bool is_right)
{
    int bytes =
        snprintf(self->text + self->used, self->text_bytes - self->used,
                 "  %c %-24s | %s\n", is_right ? ' ' : '!', pattern, text);

    self->used += ucs_min((size_t)bytes, self->text_bytes - self->used - 1);
    self->differs |= !is_right;
}

static bool comparison_is_satisfied(const struct comparison *self)
{
    struct arrow_times times;

    (void)pattern_matches(*self->pattern, "", &times);
    return self->times >= times.min;
}

static void comparison_event(struct comparison *self, const char *text)
{
    struct arrow_times times;

    while (*self->pattern != NULL) {
        if (pattern_matches(*self->pattern, text, &times) &&
            (self->times < times.max)) {
            ++self->times;
            comparison_line(self, *self->pattern, text, true);
            return;
        }
        if (!comparison_is_satisfied(self)) {
            break;
        }
        ++self->pattern;
        self->times = 0;
    }
    comparison_line(self,
                    (*self->pattern == NULL) ? "(nothing)" : *self->pattern,
                    text, false);
}

bool arrows_match(const struct mock_control *mock, enum arrow_filter filter,
                  const char *const *patterns, char *difference,
                  size_t difference_bytes)
{
    struct comparison self = {.pattern    = patterns,
                              .text       = difference,
                              .text_bytes = difference_bytes};
    char              text[ARROW_TEXT_BYTES];
    unsigned          index;

    difference[0] = '\0';
    for (index = 0; index < mock->event_count(); ++index) {
        if (event_counts(mock->event(index), filter)) {
            arrow_text(mock->event(index), text);
            comparison_event(&self, text);
        }
    }
    while ((*self.pattern != NULL) && comparison_is_satisfied(&self)) {
        ++self.pattern;
        self.times = 0;
    }
    for (; *self.pattern != NULL; ++self.pattern) {
        comparison_line(&self, *self.pattern, "(nothing)", false);
    }
    return !self.differs;
}
