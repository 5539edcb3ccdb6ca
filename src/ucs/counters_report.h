/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/counters_report.h - what every object has counted, written down when it
 * ends:
 *
 *   app:4711 worker 0x55d0 rndv_get_in 4194304
 *   program:process title name counter value
 *
 * Objects that live when the process exits are written then. Lines of several
 * processes may go to one place: each object is one write, at its end. */
#ifndef UCS_COUNTERS_REPORT_H_
#define UCS_COUNTERS_REPORT_H_

#include "ucs/counters.h"

/* Report from now on; the first caller says where to. Not for a set-user-id
 * program. Any thread.
 * @param destination  "" nowhere; "stdout"; "stderr"; "file:PATH", appended,
 *                     with %p, %h, %t (ucs/path.h).
 * @return true: call ucsi_counters_report_close() when you end. false: no
 *         report; if that is a fault, one warning said so. */
UCS_EXPORT UCS_MUST_USE bool ucsi_counters_report_open(const char *destination);

/* The last one ends the report. */
UCS_EXPORT void ucsi_counters_report_close(void);

/* Write the numbers of one object that are not zero, if there is a report. */
void ucs_counters_report(const struct ucs_counters *counters);

#endif
