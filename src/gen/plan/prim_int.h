/* Inside the taking apart: building primitives, and the pieces composites are made from. */
#ifndef GEN_PLAN_PRIM_INT_H
#define GEN_PLAN_PRIM_INT_H

#include "gen/plan/prim.h"

/* Craft texts of elementwise operators (form.def), by kind; NULL: it has none. */
extern const char *const prim_unary_forms[UNARY_COUNT];
extern const char *const prim_binary_forms[BINARY_COUNT];
extern const char *const prim_mask_forms[BINARY_COUNT];

bool prim_refuse(PrimGraph *g, const Node *node, const char *why); /* always false */
PrimId prim_add(PrimGraph *g, Prim p);
bool prim_value(PrimGraph *g, ValueId id, PrimValue *out);
PrimValue prim_leaf(PrimGraph *g, ValueId id, Shape shape);
PrimValue prim_number(PrimGraph *g, double number);
PrimValue prim_map(PrimGraph *g, const char *form, uint32_t n, const PrimValue *args);
PrimValue prim_map1(PrimGraph *g, const char *form, PrimValue a);
PrimValue prim_map2(PrimGraph *g, const char *form, PrimValue a, PrimValue b);
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
/* Users of equal primitives use the first of them (prim_share.c). */
void prim_share(PrimGraph *g);
/* Softmax, norms, losses; refuses what it does not know. */
bool prim_composite(PrimGraph *g, const Node *node, PrimValue *out);

#endif
