/* An affine function of axes: at + by[0] * axis[0] + by[1] * axis[1] + ...
 *
 * Axes run from 0 to their size - 1. Terms are ordered by axis and none is 0, so that equal functions
 * are equal term by term. */
#ifndef GEN_PLAN_NEST_AFFINE_H
#define GEN_PLAN_NEST_AFFINE_H

#include <stdbool.h>
#include <stdint.h>

enum { AFFINE_TERMS = 8 };

typedef struct AffineTerm {
    uint32_t axis;
    int64_t by;
} AffineTerm;

typedef struct Affine {
    int64_t at;
    uint32_t n;
    AffineTerm term[AFFINE_TERMS];
} Affine;

Affine affine_number(int64_t at);
Affine affine_axis(uint32_t axis, int64_t by);
/* a + b * by. False: it has too many terms, or its numbers do not fit. */
bool affine_add(Affine *a, const Affine *b, int64_t by);
bool affine_equal(const Affine *a, const Affine *b);
/* The factor of the axis; 0: it does not occur. */
int64_t affine_by(const Affine *a, uint32_t axis);
/* The least and the largest value, by the sizes of the axes. */
void affine_range(const Affine *a, const int64_t *sizes, int64_t *low, int64_t *high);

#endif
