/* The units that a thread has left. */
#include "base/meter.h"

#include <stdlib.h>

static _Thread_local uint64_t units_left; /* 0: no limit */
static _Thread_local MeterHandler *when_over;

void meter_start(uint64_t units, MeterHandler *over)
{
    units_left = units;
    when_over = over;
}

uint64_t meter_left(void) { return units_left; }

void meter_add(uint64_t units)
{
    if (!units_left)
        return;
    if (units < units_left) {
        units_left -= units;
        return;
    }
    units_left = 0;
    when_over();
    abort();
}
