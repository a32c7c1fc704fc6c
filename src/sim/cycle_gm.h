/* GM's bandwidth over time, shared among the requests that are in flight; inside src/sim only.
 *
 *     core ─┐
 *     core ─┴ port ─┐         a port: an AI core's two vector cores, or its cube core
 *     ...           ├─ GM     the chip: all ports, and what L2 writes back
 *     core ── port ─┘
 *
 * Time is cut into slots. A slot has what a port and the chip can move in it; a request takes what is
 * left of both from the slot it starts in onwards, so that a core alone has its whole port, cores that
 * ask at the same time share, and a core that waits or computes takes nothing. Requests come in short
 * turns of the cores rather than in the order of time: who comes first in a slot is served first. What
 * another core of the same port is going to ask for is not known yet, so as much is held back for it as it
 * has taken so far, on the average. No bandwidth is given twice.
 *
 * In: requests with the time they start. Out: how long each takes. */
#ifndef SIM_CYCLE_GM_H
#define SIM_CYCLE_GM_H

#include <stdint.h>

typedef struct GmTime GmTime;

/* `port_rate` of port p < ports/2 (vector cores) and of the others (cube cores), and `chip_rate`, in bytes
 * per cycle. Blocks beyond the chip's cores begin again at time 0: `waves` of them, each with its own time. */
typedef struct GmRates {
    uint32_t ports, waves;
    double vector_port, cube_port, chip;
} GmRates;
GmTime *gm_time_open(const GmRates *rates);
void gm_time_close(GmTime *gm);

typedef struct GmRequest {
    uint32_t wave, port;
    double start;
    double bytes; /* through the port */
    double back;  /* beside it, past every port: written lines that leave L2 */
    double held;  /* bytes per cycle held back for the other core of the port, from ... */
    double held_from;
} GmRequest;
/* Cycles from its start until `bytes` have come. With no bytes, until `back` is sent. */
double gm_time_take(GmTime *gm, const GmRequest *request);

#endif
