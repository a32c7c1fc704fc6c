/* A limit on the work of a thread that does not depend on the speed of the machine.
 *
 *     meter_start(100000, give_up);    ... work ...    meter_start(0, NULL);
 *
 * A unit is an allocation from an arena, 256 bytes of one, or what a loop that allocates nothing says with
 * meter_add. The same work spends the same units everywhere, so whoever gives up after so many does it at the
 * same place in every run. */
#ifndef BASE_METER_H
#define BASE_METER_H

#include <stdint.h>

typedef void MeterHandler(void);

/* `over` runs when the units are spent, and does not return. 0 units: no limit. */
void meter_start(uint64_t units, MeterHandler *over);
void meter_add(uint64_t units);
uint64_t meter_left(void);

#endif
