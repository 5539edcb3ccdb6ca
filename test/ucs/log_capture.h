/* SPDX-License-Identifier: BSD-3-Clause */
/* test/ucs/log_capture.h - what was logged, for tests that expect a message. */
#ifndef TEST_UCS_LOG_CAPTURE_H_
#define TEST_UCS_LOG_CAPTURE_H_

#include <stdio.h>

#include "ucs/log.h"

struct log_capture {
    char            text[UCS_LOG_LINE_BYTES_MAX]; /* the last message */
    ucs_log_level_t level;
    unsigned        count;
};

static struct log_capture log_captured;

static inline void log_capture_message(void *arg, ucs_log_level_t level,
                                       const char *file, unsigned line,
                                       const char *text)
{
    (void)arg;
    (void)file;
    (void)line;
    (void)snprintf(log_captured.text, sizeof(log_captured.text), "%s", text);
    log_captured.level = level;
    ++log_captured.count;
}

/* From here on messages go to log_captured. */
static inline void log_capture_start(void)
{
    static const struct ucs_log_handler handler = {log_capture_message, NULL};

    log_captured.count   = 0;
    log_captured.text[0] = '\0';
    (void)ucsi_log_set_handler(&handler);
}

#endif
