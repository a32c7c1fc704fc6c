/* Inside the taking apart: building primitives, and the pieces composites are made from. */
#ifndef GEN_PLAN_PRIM_INT_H
#define GEN_PLAN_PRIM_INT_H

#include "gen/plan/prim.h"

/* Craft texts of elementwise operators (form.def), by kind; NULL: it has none. */
extern const char *const prim_unary_forms[UNARY_COUNT];
extern const char *const prim_binary_forms[BINARY_COUNT];
extern const char *const prim_mask_forms[BINARY_COUNT];

/* The form with attributes a, b, c of the node in place of $a, $b, $c. */
const char *prim_fill(Arena *arena, const char *form, const Node *node);

bool prim_refuse(PrimGraph *g, const Node *node, const char *why); /* always false */
PrimId prim_add(PrimGraph *g, Prim p);
bool prim_value(PrimGraph *g, ValueId id, PrimValue *out);
PrimValue prim_leaf(PrimGraph *g, ValueId id, Shape shape);
PrimValue prim_number(PrimGraph *g, double number);
PrimValue prim_map(PrimGraph *g, const char *form, uint32_t n, const PrimValue *args);
PrimValue prim_map1(PrimGraph *g, const char *form, PrimValue a);
PrimValue prim_map2(PrimGraph *g, const char *form, PrimValue a, PrimValue b);
/* v * by, taken together with the factors v has (prim_scale.c); false: nothing to be gained. */
bool prim_scaled(PrimGraph *g, PrimValue v, double by, PrimValue *out);
bool prim_is_smooth(const Graph *graph); /* no operator jumps: last bits stay last bits */
/* Per value: its last bits may decide something, as an operator that jumps reads it or what is made of it. */
bool *prim_decisive(Arena *arena, const Graph *graph);
/* a * b where they are 0.5 x and 1 + tanh u (prim_tanh.c); false: they are not. */
bool prim_half_tanh(PrimGraph *g, PrimValue a, PrimValue b, PrimValue *out);
/* `dims`: bit i takes dimension i of the value away. */
PrimValue prim_reduce(PrimGraph *g, PrimReduce kind, PrimValue a, uint32_t dims, bool keep);
PrimValue prim_size(PrimGraph *g, PrimValue a, uint32_t dims);
uint32_t prim_dims(const Node *node, int rank); /* attribute dims as bits; absent: all */
void prim_literal(Buf *out, double value);      /* a Craft float literal */

PrimValue prim_mean(PrimGraph *g, PrimValue x, uint32_t dims, bool keep);
PrimValue prim_variance(PrimGraph *g, PrimValue x, uint32_t dims, bool keep, double correction);
PrimValue prim_logsumexp(PrimGraph *g, PrimValue x, uint32_t dims, bool keep);
/* Running sums and products, also from the end and without the element itself. */
bool prim_scan(PrimGraph *g, const Node *node, PrimValue *out);
enum { PRIM_MAX_AXES = 64 };
uint64_t prim_axis_bit(PrimGraph *g, AxisId axis); /* 0 for a dimension of size 1 */
/* Axes, equal primitives and uses, once all are made. False: some cannot be planned (prim_check.c). */
bool prim_finish(PrimGraph *g);
/* Users of equal primitives use the first of them (prim_share.c). */
void prim_share(PrimGraph *g);
/* Softmax, norms, losses; refuses what it does not know. */
bool prim_composite(PrimGraph *g, const Node *node, PrimValue *out);

#endif
