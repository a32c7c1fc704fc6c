/* Polynomial arithmetic over atoms. In: expressions. Out: sorted sums of terms; whatever does
 * not fit is marked `overflow` and proves nothing. */
#include "ir/poly.h"

#include <string.h>

static int term_order(const PolyTerm *a, const PolyTerm *b)
{
    if (a->degree != b->degree)
        return a->degree < b->degree ? -1 : 1;
    for (uint32_t i = 0; i < a->degree; i++)
        if (a->atom[i] != b->atom[i])
            return a->atom[i] < b->atom[i] ? -1 : 1;
    return 0;
}

static void add_term(Poly *p, PolyTerm t)
{
    uint32_t i = 0;
    if (t.coef == 0)
        return;
    while (i < p->len && term_order(&p->term[i], &t) < 0)
        i++;
    if (i < p->len && term_order(&p->term[i], &t) == 0) {
        p->overflow |= __builtin_add_overflow(p->term[i].coef, t.coef, &p->term[i].coef);
        if (p->term[i].coef == 0) {
            memmove(&p->term[i], &p->term[i + 1], (p->len - i - 1) * sizeof t);
            p->len--;
        }
        return;
    }
    if (p->len == POLY_TERMS) {
        p->overflow = true;
        return;
    }
    memmove(&p->term[i + 1], &p->term[i], (p->len - i) * sizeof t);
    p->term[i] = t;
    p->len++;
}

Poly poly_const(int64_t value)
{
    Poly p = {0};
    add_term(&p, (PolyTerm){.coef = value});
    return p;
}

static Poly poly_atom(uint32_t atom)
{
    Poly p = {0};
    add_term(&p, (PolyTerm){.coef = 1, .degree = 1, .atom = {atom}});
    return p;
}

Poly poly_add(Poly a, Poly b)
{
    a.overflow |= b.overflow;
    for (uint32_t i = 0; i < b.len; i++)
        add_term(&a, b.term[i]);
    return a;
}

Poly poly_scale(Poly a, int64_t factor)
{
    if (factor == 0)
        return (Poly){.overflow = a.overflow};
    for (uint32_t i = 0; i < a.len; i++)
        a.overflow |= __builtin_mul_overflow(a.term[i].coef, factor, &a.term[i].coef);
    return a;
}

Poly poly_sub(Poly a, Poly b) { return poly_add(a, poly_scale(b, -1)); }

static bool multiply_terms(const PolyTerm *a, const PolyTerm *b, PolyTerm *out)
{
    *out = (PolyTerm){.degree = a->degree + b->degree};
    if (out->degree > POLY_DEGREE || __builtin_mul_overflow(a->coef, b->coef, &out->coef))
        return false;
    uint32_t i = 0, j = 0;
    for (uint32_t k = 0; k < out->degree; k++) {
        bool from_a = j == b->degree || (i < a->degree && a->atom[i] <= b->atom[j]);
        out->atom[k] = from_a ? a->atom[i++] : b->atom[j++];
    }
    return true;
}

Poly poly_mul(Poly a, Poly b)
{
    Poly p = {.overflow = a.overflow || b.overflow};
    for (uint32_t i = 0; i < a.len; i++) {
        for (uint32_t j = 0; j < b.len; j++) {
            PolyTerm t;
            if (multiply_terms(&a.term[i], &b.term[j], &t))
                add_term(&p, t);
            else
                p.overflow = true;
        }
    }
    return p;
}

bool poly_is_zero(const Poly *p) { return p->len == 0 && !p->overflow; }

bool poly_equal(Poly a, Poly b)
{
    Poly d = poly_sub(a, b);
    return poly_is_zero(&d);
}

static void add_def(Prover *pr, Poly nonnegative)
{
    if (!nonnegative.overflow)
        vec_push(pr->arena, &pr->defs, nonnegative);
}

/* q = a // b, b > 0:  b*q <= a <= b*q + b - 1 */
static void define_quotient(Prover *pr, Poly q, Poly a, Poly b, bool round_up)
{
    Poly bq = poly_mul(b, q), slack = poly_sub(b, poly_const(1));
    Poly over = round_up ? poly_sub(bq, a) : poly_sub(a, bq);
    add_def(pr, over);
    add_def(pr, poly_sub(slack, over));
}

/* The facts that tie an atom to the operands of the expression it stands for. */
static void define_atom(Prover *pr, uint32_t atom, const IrExpr *e)
{
    Poly self = poly_atom(atom);
    if (e->op == IR_E_CORE_ID && pr->num_cores)
        add_def(pr, poly_sub(poly_sub(poly_of(pr, pr->num_cores), poly_const(1)), self));
    if (ir_expr_rows[e->op].arity != 2 || e->type != DT_I64)
        return;
    Poly a = poly_of(pr, e->arg[0]), b = poly_of(pr, e->arg[1]);
    bool positive = ir_interval(pr->p, pr->chip, e->arg[1]).lo > 0;
    switch (e->op) {
    case IR_E_MIN:
        add_def(pr, poly_sub(a, self));
        add_def(pr, poly_sub(b, self));
        break;
    case IR_E_MAX:
        add_def(pr, poly_sub(self, a));
        add_def(pr, poly_sub(self, b));
        break;
    case IR_E_FLOORDIV:
    case IR_E_CEILDIV:
        if (positive)
            define_quotient(pr, self, a, b, e->op == IR_E_CEILDIV);
        break;
    case IR_E_ALIGN_UP:
    case IR_E_ALIGN_DOWN: {
        Poly moved = e->op == IR_E_ALIGN_UP ? poly_sub(self, a) : poly_sub(a, self);
        if (positive) {
            add_def(pr, moved);
            add_def(pr, poly_sub(poly_sub(b, poly_const(1)), moved));
        }
        break;
    }
    case IR_E_MOD:
        if (positive) {
            add_def(pr, poly_sub(poly_sub(b, poly_const(1)), self));
            if (ir_interval(pr->p, pr->chip, e->arg[0]).lo >= 0)
                add_def(pr, poly_sub(a, self));
        }
        break;
    default: break;
    }
}

static bool has_operands(const IrExpr *e)
{
    return e->type == DT_I64 && ir_expr_rows[e->op].arity == 2;
}

/* Whether both atoms are the same expression, or the same operator on operands that are equal as
 * polynomials: (h + 2 - 3) // 2 and (h - 1) // 2. */
static bool same_value(const Prover *pr, const PolyAtom *a, const PolyAtom *b)
{
    const IrExpr *x = &pr->p->exprs.at[a->expr], *y = &pr->p->exprs.at[b->expr];
    if (ir_same(pr->p, a->expr, b->expr))
        return true;
    return x->op == y->op && has_operands(x) && has_operands(y) &&
           poly_equal(a->arg[0], b->arg[0]) && poly_equal(a->arg[1], b->arg[1]);
}

static uint32_t atom_of(Prover *pr, IrExprId e)
{
    const IrExpr x = pr->p->exprs.at[e];
    PolyAtom atom = {.expr = e, .range = ir_interval(pr->p, pr->chip, e)};
    for (int i = 0; i < 2 && has_operands(&x); i++)
        atom.arg[i] = poly_of(pr, x.arg[i]);
    for (uint32_t i = 0; i < pr->atoms.len; i++)
        if (same_value(pr, &pr->atoms.at[i], &atom))
            return i;
    vec_push(pr->arena, &pr->atoms, atom);
    uint32_t index = pr->atoms.len - 1;
    define_atom(pr, index, &x);
    return index;
}

Poly poly_of(Prover *pr, IrExprId id)
{
    const IrExpr *e = &pr->p->exprs.at[id];
    switch (e->op) {
    case IR_E_INT: return poly_const(e->of.i);
    case IR_E_CHIP: return poly_const(ir_chip_value(pr->chip, (IrChipFact)e->of.fact));
    case IR_E_VAR:
        if (pr->alias[e->of.var])
            return poly_of(pr, pr->alias[e->of.var]);
        break;
    case IR_E_NUM_CORES:
        if (pr->num_cores)
            return poly_of(pr, pr->num_cores);
        break;
    case IR_E_ADD: return poly_add(poly_of(pr, e->arg[0]), poly_of(pr, e->arg[1]));
    case IR_E_SUB: return poly_sub(poly_of(pr, e->arg[0]), poly_of(pr, e->arg[1]));
    case IR_E_MUL: return poly_mul(poly_of(pr, e->arg[0]), poly_of(pr, e->arg[1]));
    case IR_E_NEG: return poly_scale(poly_of(pr, e->arg[0]), -1);
    default: break;
    }
    return poly_atom(atom_of(pr, id));
}

void poly_print(const Prover *pr, const Poly *p, Buf *out)
{
    if (p->len == 0)
        buf_char(out, '0');
    for (uint32_t i = p->len; i-- > 0;) { /* highest degree first */
        const PolyTerm *t = &p->term[i];
        int64_t size = t->coef < 0 ? -t->coef : t->coef;
        bool first = i + 1 == p->len;
        buf_puts(out, t->coef < 0 ? (first ? "-" : " - ") : first ? "" : " + ");
        if (size != 1 || t->degree == 0)
            buf_printf(out, "%lld", (long long)size);
        for (uint32_t k = 0; k < t->degree; k++) {
            if (k || size != 1)
                buf_char(out, '*');
            ir_print_expr(pr->p, NULL, pr->atoms.at[t->atom[k]].expr, out);
        }
    }
}
