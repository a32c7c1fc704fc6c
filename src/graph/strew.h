/* Strewing: what no draw contains, put among inputs that were drawn.
 *
 *     large     one number in each line of the last axis, at most 1024 elements apart, so large that exp of it, or
 *               of the difference of two, overflows
 *     flat      single zeros, lines of zeros, lines of one number (of few bits, so that sums of it are exact),
 *               lines that are nowhere above, or below, 0; masks: lines of all and of none
 *     alike     the second half: seven of eight elements are one number, and every fourth line is the one before
 *               with its middle turned round. Pieces that begin, end and add up alike are not the same piece
 *     related   the second quarter: runs in which every element is one number times its neighbour, or that number
 *               more; twice, minus and what task and text name
 *     numbers   up to 100 in size: numbers that task and text name, what lies next to them, and in one of four places
 *               their roots, squares, quotients, logarithms, exponentials, halves and doubles
 *     far       the same up to 5000
 *     farther   the same up to a million
 *     beyond    the last quarter: runs that lie as a whole above, and below, what task and text name
 *     nan, above, below   in one line of eight, or one element of 64, what is no number, or an infinity; inputs of one
 *               shape have them at different places
 *     huge      the same with 2^60 to 2^100 (half precision: 2^8 to 2^15), whose square is infinite
 *     tiny      the same with 2^-100 to 2^-60 (2^-14 to 2^-8), whose square is 0
 *     zero      the same with 0: a divisor, or what a logarithm is of
 *     minus     the same with the number below 0, where none is; half of the lines as a whole
 *     all above, all below   half of the lines that have an infinity have nothing else
 *     edges     the first and the last slice along every axis but the last (of one axis: its first and its last
 *               sixteenth) a thousandth as large: there what is compared with this input is the larger one
 *     ends      integers: the first and the last of the range they are drawn from, and named ones within it
 *
 * An input that is only whole numbers (labels) is left alone but for `ends`. */
#ifndef GRAPH_STREW_H
#define GRAPH_STREW_H

#include "graph/inputs.h"

/* Bounds of `numbers`, `far` and `farther`. */
#define STREW_NEAR 100.0
#define STREW_FAR_MOST 5000.0
#define STREW_MOST 1e6

typedef enum StrewKind {
    STREW_LARGE,
    STREW_FLAT,
    STREW_ALIKE,
    STREW_RELATED,
    STREW_NUMBERS,
    STREW_FAR,
    STREW_FARTHER,
    STREW_BEYOND,
    STREW_NAN,
    STREW_ABOVE,
    STREW_BELOW,
    STREW_HUGE,
    STREW_TINY,
    STREW_ZERO,
    STREW_MINUS,
    STREW_ALL_ABOVE,
    STREW_ALL_BELOW,
    STREW_EDGES,
    STREW_ENDS,
    STREW_KINDS
} StrewKind;

typedef struct Strew {
    uint64_t inputs[STREW_KINDS]; /* bit i: input i has it */
    const double *numbers;
    uint32_t number_count;
} Strew;

#define STREW_BIT(kind) (1u << STREW_##kind)

/* These kinds, for every input. */
Strew strew_all(unsigned kinds);
bool strew_any(const Strew *strew);
void graph_inputs_strew(const Graph *graph, TaskInputs *in, const Strew *strew, uint64_t seed);

/* The integers lo to hi - 1 that an input is drawn from; false: it is no integer, or not drawn so. */
bool graph_drawn_range(const Graph *graph, uint32_t input, int64_t *lo, int64_t *hi);

/* Numbers of the graph: its constants of few elements and float attributes. At most `most` are added. */
uint32_t graph_numbers(const Graph *graph, double *numbers, uint32_t most);

#endif
