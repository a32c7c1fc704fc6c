/* Places in a program that are told apart when it is watched (watch_code.h): one for four bytes of it, as a
 * byte of bits. Each has a gap, too: of the integers that were compared there the least difference but 0. */
#ifndef TWIN_SLOTS_H
#define TWIN_SLOTS_H

#include <stdint.h>

#define WATCH_SLOTS 262144u
#define WATCH_BYTES (WATCH_SLOTS * 5u) /* of slots, then gaps */

/* Keeps the smallest difference b - a seen at this place, times 2, plus 1 where b is a constant
 * of the text. */
static inline void watch_gap(int32_t *least, double a, double b, int constant)
{
    double gap = b - a, old = *least >> 1;
    if (gap > -1e9 && gap < 1e9 && gap == (double)(int32_t)gap && gap != 0 &&
        (old == 0 || (gap < 0 ? -gap : gap) < (old < 0 ? -old : old)))
        *least = (int32_t)gap * 2 + constant;
}

#endif
