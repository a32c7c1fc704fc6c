/* Host code that is watched: included once by each of its runtimes. In: the descriptor of the slots.
 *
 * The numbers that a call compares have a hash, its course. A function that is called again and again with the same
 * arguments in one process has the same course each time, but for the first, when it may prepare something;
 * where it has not, it goes by what earlier calls left: a counter, whatever it counts to, a clock, a draw. */
#ifndef TWIN_WATCH_HOST_H
#define TWIN_WATCH_HOST_H

#include "twin/rt/slots.h"

#include <cstdint>
#include <sys/mman.h>

static uint8_t *watched; /* until it is there nothing is noted */
static uint32_t watch_fresh; /* edges and equalities that were noted for the first time */

static void watch_slot(uint32_t slot, uint8_t bits)
{
    enum { REACHED = 1, EQUAL = 4 }; /* of watch_code.h */
    if (!watched) return;
    watch_fresh += (bits & ~watched[slot] & (REACHED | EQUAL)) != 0;
    watched[slot] |= bits;
}

static void watch_into(int descriptor)
{
    void *at = mmap(nullptr, WATCH_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (at != MAP_FAILED) watched = static_cast<uint8_t *>(at);
}

static uint64_t watch_course;

/* Addresses are others in each call. */
static void watch_numbers(uint32_t place, double a, double b, int constant)
{
    const double most = 1099511627776.0; /* 2^40 */
    if (watched) watch_gap(reinterpret_cast<int32_t *>(watched + WATCH_SLOTS) + place, a, b, constant);
    uint64_t bits[2] = {0, 0};
    if (a < most && a > -most) __builtin_memcpy(&bits[0], &a, sizeof a);
    if (b < most && b > -most) __builtin_memcpy(&bits[1], &b, sizeof b);
    watch_course = (watch_course ^ place) * 0x9E3779B97F4A7C15ull;
    watch_course = (watch_course ^ bits[0] ^ watch_course >> 29) * 0xBF58476D1CE4E5B9ull;
    watch_course = (watch_course ^ bits[1] ^ watch_course >> 32) * 0x94D049BB133111EBull;
}

#include "twin/rt/watch_code.h"

#endif
