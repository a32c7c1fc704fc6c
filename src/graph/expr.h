/* Scalar expressions: what one element of a tensor is, written once.
 *
 *     x[3] * 2 + y[0]   ──▶   #7 add f32 (#5 mul f32 (#1 leaf 0[3], #2 const 2), #6 leaf 1[0])
 *
 * Expressions are numbered; equal ones have the same number, so that two elements mean the same
 * when their numbers are equal. Numbers of sums and products over many elements stand for the
 * terms by a 128-bit digest that does not depend on their order, as PyTorch promises none.
 *
 * Rewriting when an expression is added. Exact in floating point: commutative operands are ordered; x - y is
 * x + -y; x + x is x * 2; x * -1 is -x; x ** 2 and square are x * x; x ** 0.5 is sqrt, as PyTorch
 * computes it; reciprocal is 1 / x; clamp is the minimum of the maximum, maximum with 0 is relu;
 * where of a constant is the branch; casts that change nothing go; half arithmetic is that of
 * float32 rounded once, as PyTorch does it; isfinite is neither nan nor infinite; any of (a or b)
 * is any of a, or any of b; a table of a + b*i at place i is a + b*i. Equal for finite numbers: 0
 * is left out of a sum and a product with 0 out of a dot product; x * 1 and x + 0 are x but for the
 * sign of a zero. */
#ifndef GRAPH_EXPR_H
#define GRAPH_EXPR_H

#include "base/map.h"
#include "graph/tensor.h"

typedef uint32_t ExprId;
enum { EXPR_NONE = 0, EXPR_MOST_ARGS = 3 };

typedef enum ExprForm {
    EXPR_CONST, /* args: 64 bits; floats as a double, integers as int64_t, complex as two floats */
    EXPR_LEAF,  /* args: tensor, element (two words) */
    EXPR_ELEM,  /* args: operands (EXPR_NONE: absent), then the number of its attributes */
    EXPR_MANY   /* args: a digest */
} ExprForm;

typedef struct Expr {
    uint8_t form, op, kind, dtype;
    uint32_t arg[4];
} Expr;

/* A digest of terms while it is computed. */
typedef struct ExprSum {
    uint64_t lane[2];
    int64_t count;
    ExprId last[2]; /* the last term: an expression, or the two factors of a product */
} ExprSum;

typedef struct Exprs {
    Arena *arena;
    Expr *all; /* by number; on the heap, as the table of slots */
    ExprId *slots, *pins;
    uint32_t len, cap, n_slots;
    Map texts; /* attributes of nodes, as text */
} Exprs;

Exprs *exprs_new(Arena *arena);
void exprs_free(Exprs *x);

static inline const Expr *expr_at(const Exprs *x, ExprId id) { return &x->all[id]; }
static inline bool expr_is_const(const Exprs *x, ExprId id)
{
    return x->all[id].form == EXPR_CONST;
}
double expr_number(const Exprs *x, ExprId id);         /* of a constant */
bool expr_is(const Exprs *x, ExprId id, double value); /* a constant of this value */

ExprId expr_const(Exprs *x, DType dtype, uint64_t bits);
ExprId expr_const_number(Exprs *x, DType dtype, double value);
ExprId expr_const_from(Exprs *x, const Tensor *t, int64_t i);
void expr_const_to(const Exprs *x, ExprId id, Tensor *t, int64_t i);
ExprId expr_leaf(Exprs *x, DType dtype, uint32_t tensor, int64_t element);
ExprId expr_cast(Exprs *x, ExprId id, DType dtype);
/* An elementwise operator whose operands have the dtype it works in. `attrs`: expr_attrs. */
ExprId expr_elem(Exprs *x, Op op, int kind, DType dtype, const ExprId *args, uint32_t attrs);
uint32_t expr_attrs(Exprs *x, const Node *node); /* 0: none */

void expr_sum_add(ExprSum *sum, ExprId term);
void expr_sum_add_product(ExprSum *sum, ExprId a, ExprId b);
void expr_sum_add_at(ExprSum *sum, ExprId term, int64_t place); /* where the order counts */
ExprId expr_many(Exprs *x, Op op, int kind, DType dtype, const ExprSum *sum, uint64_t extra);

/* From now on the expression is this constant; false: it is another constant. */
bool expr_pin(Exprs *x, ExprId id, ExprId value);

#endif
