/* A run as a picture: Chrome's trace format, which Perfetto reads (MindStudio Insight is said to; not
 * tried). A row per core and pipe, instructions with name, source line and what they waited for,
 * flags as arrows.
 *
 *     Trace *t = trace_open(cycle, sim);     before the first record
 *     ... sim_feed ...
 *     trace_close(t, &json);                 NULL: throw it away
 */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include "sim/cycle.h"

typedef struct Trace Trace;

enum { TRACE_MOST_EVENTS = 1 << 19 }; /* later ones are left out, and the last row says so */

Trace *trace_open(Cycle *cycle, Sim *sim);
void trace_close(Trace *trace, Buf *json);

#endif
