/* Where the code of a text goes: included once by each runtime, after its watch_slot(slot, bits).
 *
 * The compiler calls for every edge of the control flow and every comparison of integers
 * (-fsanitize-coverage=edge,trace-pc,trace-cmp). Each place of the program has a slot; its bits say that it was
 * reached, and how what it compares lay: less, equal, more. A choice that becomes no branch (a select, a
 * minimum) is seen by its comparison. watch_numbers(place, a, b, constant) gets what is compared. */
#ifndef TWIN_WATCH_CODE_H
#define TWIN_WATCH_CODE_H

#include "twin/rt/slots.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const char __executable_start[];

enum { WATCH_REACHED = 1, WATCH_LESS = 2, WATCH_EQUAL = 4, WATCH_MORE = 8, WATCH_OTHER = 16 };

static inline uint32_t watch_place(const void *at)
{
    return (uint32_t)(((uintptr_t)at - (uintptr_t)__executable_start) / 4 % WATCH_SLOTS);
}

#define WATCH_HERE watch_place(__builtin_return_address(0))

void __sanitizer_cov_trace_pc(void) { watch_slot(WATCH_HERE, WATCH_REACHED); }

#define WATCH_COMPARED(a, b) (uint8_t)((a) < (b) ? WATCH_LESS : (a) > (b) ? WATCH_MORE : WATCH_EQUAL)
/* Where one of both is a constant the compiler gives it first. */
#define WATCH_COMPARE(name, type, constant)                                                       \
    void __sanitizer_cov_trace_##name(type a, type b)                                             \
    {                                                                                             \
        watch_slot(WATCH_HERE, WATCH_COMPARED(a, b));                                             \
        watch_numbers(WATCH_HERE, (double)(constant ? b : a), (double)(constant ? a : b), constant); \
    }
WATCH_COMPARE(cmp1, int8_t, 0)
WATCH_COMPARE(cmp2, int16_t, 0)
WATCH_COMPARE(cmp4, int32_t, 0)
WATCH_COMPARE(cmp8, int64_t, 0)
WATCH_COMPARE(const_cmp1, int8_t, 1)
WATCH_COMPARE(const_cmp2, int16_t, 1)
WATCH_COMPARE(const_cmp4, int32_t, 1)
WATCH_COMPARE(const_cmp8, int64_t, 1)
WATCH_COMPARE(cmpf, float, 0)
WATCH_COMPARE(cmpd, double, 0)

/* `cases`: how many, bits of the value, then the values. Compilers make one of several comparisons, so each case has a
 * place of its own and says what lacks for it; of very many the first. */
void __sanitizer_cov_trace_switch(uint64_t value, uint64_t *cases)
{
    enum { MOST = 256, APART = 7919 };
    for (uint64_t i = 0; i < cases[0] && i < MOST; i++) {
        uint32_t place = (uint32_t)((WATCH_HERE + (i + 1) * APART) % WATCH_SLOTS);
        int is_it = cases[2 + i] == value;
        watch_slot(place, is_it ? WATCH_EQUAL : WATCH_OTHER);
        watch_numbers(place, (double)(int64_t)value, (double)(int64_t)cases[2 + i], 1);
    }
}

#ifdef __cplusplus
}
#endif

#endif
