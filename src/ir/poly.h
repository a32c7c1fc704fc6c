/* Polynomials over atoms, and a small prover for `p >= 0`.
 *
 * An atom is a variable, or an expression that is not a polynomial (a quotient, a minimum) and
 * then comes with the facts that define it. A fact is a polynomial known to be >= 0. To prove
 * P >= 0 the prover looks at intervals first; then it cancels one negative term of P with a
 * fact F that bounds that term from above, P - q*F with q >= 0, and goes on with what is left.
 *
 *     goal  cols - t.start - t.size >= 0          facts: cols - t.start - t.size >= 0
 *     minus 1 * fact                              left: 0 >= 0, proved
 */
#ifndef IR_POLY_H
#define IR_POLY_H

#include "ir/range.h"

enum { POLY_TERMS = 24, POLY_DEGREE = IR_BOUND_FACTORS };

typedef struct PolyTerm {
    int64_t coef;
    uint32_t degree;
    uint32_t atom[POLY_DEGREE]; /* ascending */
} PolyTerm;

typedef struct Poly {
    uint32_t len;
    bool overflow; /* too big for the table or for int64: nothing follows from it */
    PolyTerm term[POLY_TERMS];
} Poly;

typedef struct PolyAtom {
    IrExprId expr;
    IrInterval range;
    Poly arg[2]; /* of an integer operator of two operands: they tell it from others */
} PolyAtom;

typedef struct Prover {
    const IrProgram *p;
    const NpuChip *chip;
    Arena *arena;
    IrExprId *alias;    /* per variable: the expression it always equals, or 0 */
    bool *named;        /* per variable: some expression of the program names it */
    IrExprId num_cores; /* of the current launch; 0: unknown */
    VEC(PolyAtom) atoms;
    VEC(Poly) defs;  /* facts that define atoms; always true */
    VEC(Poly) facts; /* facts of the place; pushed and popped by the walk */
    uint32_t steps;  /* left for the current proof */
} Prover;

Prover *prover_new(Arena *arena, const IrProgram *p, const NpuChip *chip);
/* Facts of one kernel: its parameters equal what its only launch passes. */
void prover_enter_kernel(Prover *pr, uint32_t kernel);

Poly poly_const(int64_t value);
Poly poly_add(Poly a, Poly b);
Poly poly_sub(Poly a, Poly b);
Poly poly_scale(Poly a, int64_t factor);
Poly poly_mul(Poly a, Poly b);
bool poly_equal(Poly a, Poly b);
bool poly_is_zero(const Poly *p);
Poly poly_of(Prover *pr, IrExprId id);
void poly_print(const Prover *pr, const Poly *p, Buf *out);

void prover_assume(Prover *pr, Poly nonnegative);
void prover_assume_cond(Prover *pr, IrExprId cond, bool holds);
/* The variable gets another value: what was assumed of the old one no longer holds. */
void prover_forget(Prover *pr, IrVarId var);
/* The variable grows by `more`: the assumptions on the old value become assumptions on the new one. */
void prover_shift(Prover *pr, IrExprId named, Poly more);
/* An upper bound of the polynomial by the ranges of its atoms; INT64_MAX: none. */
int64_t poly_most(const Prover *pr, const Poly *p);
bool poly_mentions(const Prover *pr, const Poly *p, IrVarId var);
bool prove_nonneg(Prover *pr, Poly p);
bool prove_nonneg_by(Prover *pr, Poly p, int most); /* with so many facts in a row at most */
bool prove_le(Prover *pr, IrExprId a, IrExprId b);  /* a <= b */
bool prove_equal(Prover *pr, IrExprId a, IrExprId b);

#endif
