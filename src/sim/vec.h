/* How a vector instruction walks over its operands.
 *
 *     repeat 0              repeat 1                 mask picks elements of a repeat;
 *     +--+--+--+--+ ... 8   +--+--+ ...              Counter mode: a count over all repeats
 *     |b0|b1|b2|  blocks    |b0|b1|
 *     +--+--+--+-           +--+--+
 *      <-> block stride
 *     <-- repeat stride --->
 *
 * A plan is made from a record with every check that needs no values: memories, alignment, repeats,
 * strides, bounds, overlap. Kernels then see dense arrays. */
#ifndef SIM_VEC_H
#define SIM_VEC_H

#include "sim/sim_int.h"

enum { VEC_BLOCK = 32, VEC_REPEAT = 256, VEC_MOST = 256 }; /* VEC_MOST: elements of a repeat */

typedef struct VecOperand {
    SimMemory *memory;
    uint64_t base;          /* byte */
    uint64_t block, repeat; /* strides in bytes */
    uint32_t size;          /* bytes of an element */
    uint64_t end;           /* one past the last byte touched, from base */
} VecOperand;

typedef struct VecPlan {
    Step *step;
    VecOperand o[3];     /* destination, sources */
    int first, operands; /* planned are first .. operands-1 */
    bool reads_dst;
    uint32_t per_repeat; /* elements */
    uint32_t repeats;
    uint32_t prefix; /* elements of a repeat that take part, when `sparse` is off */
    uint32_t last;   /* as above, for the last repeat */
    bool sparse;     /* the mask has holes */
    uint64_t mask[2];
    bool flat; /* all operands are contiguous over the whole call: */
    uint32_t flat_count;
    uint64_t elements; /* that take part, over the whole call */
} VecPlan;

/* What a plan needs beyond the record. */
typedef struct VecShape {
    int operands;     /* 1: destination only, 2: and one source, 3: two sources */
    uint32_t size[3]; /* bytes of an element of each */
    bool reads_dst;
    bool no_dst;       /* the destination has a shape of its own: only sources are planned */
    uint32_t align[3]; /* 0: 32 bytes */
} VecShape;

/* `count` elements dense; the sources may be the destination. */
typedef void VecKernel(void *d, const void *a, const void *b, uint32_t count, const void *args);

/* False: a stopping fault was reported, or nothing is to be done (plan->repeats 0). */
bool vec_plan(VecPlan *p, Step *s, const VecShape *shape);
void vec_run(VecPlan *p, VecKernel *kernel, const void *args);
/* Elements that take part in repeat r when the mask is a prefix. */
static inline uint32_t vec_prefix(const VecPlan *p, uint32_t r)
{
    return r + 1 == p->repeats ? p->last : p->prefix;
}
bool vec_active(const VecPlan *p, uint32_t r, uint32_t element);
static inline uint64_t vec_byte(const VecOperand *o, uint32_t r, uint32_t element)
{
    uint64_t byte = (uint64_t)element * o->size;
    return o->base + r * o->repeat + byte / VEC_BLOCK * o->block + byte % VEC_BLOCK;
}
/* A repeat of an operand as a dense array of per_repeat elements. */
void vec_gather(const VecPlan *p, int operand, uint32_t r, void *to);
bool vec_all_known(const VecPlan *p, int operand);
/* Definedness of the destination follows that of the sources, element by element. */
void vec_shadow(VecPlan *p);

#endif
