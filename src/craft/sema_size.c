/* Sizes: when two integer expressions are the same number whatever the variables hold.
 *
 * An expression becomes a polynomial over atoms (variables, and operators such as // that are
 * left alone); two are equal when their difference is the zero polynomial. What is too large
 * for the fixed tables falls back to structural equality. */
#include "craft/sema.h"

enum { MAX_TERMS = 24, MAX_FACTORS = IR_MAX_RANK, MAX_NODES = 256 };

typedef struct Term {
    int64_t coef;
    uint32_t count;
    IrExprId atom[MAX_FACTORS];
} Term;

typedef struct Poly {
    bool ok;
    uint32_t count;
    Term terms[MAX_TERMS]; /* a constant is a term without atoms */
} Poly;

typedef struct Builder {
    Sema *s;
    bool expand;    /* replace once-assigned scalars by their values */
    uint32_t nodes; /* visited so far: expressions share parts, and expanding could explode */
} Builder;

static const IrExpr *expr_at(Sema *s, IrExprId e) { return &s->ir->exprs.at[e]; }

static const Symbol *symbol_of(Sema *s, IrVarId var)
{
    uint32_t symbol = var < s->var_symbols.len ? s->var_symbols.at[var] : 0;
    return symbol ? &s->symbols.at[symbol - 1] : NULL;
}

static bool same_atoms(Sema *s, const Term *a, const Term *b)
{
    bool used[MAX_FACTORS] = {0};
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        uint32_t j = 0;
        while (j < b->count && (used[j] || !ir_same(s->ir, a->atom[i], b->atom[j])))
            j++;
        if (j == b->count)
            return false;
        used[j] = true;
    }
    return true;
}

static void add_term(Sema *s, Poly *p, const Term *t)
{
    for (uint32_t i = 0; i < p->count; i++) {
        if (!same_atoms(s, &p->terms[i], t))
            continue;
        p->ok = p->ok && !__builtin_add_overflow(p->terms[i].coef, t->coef, &p->terms[i].coef);
        if (!p->terms[i].coef) {
            for (uint32_t j = i + 1; j < p->count; j++)
                p->terms[j - 1] = p->terms[j];
            p->count--;
        }
        return;
    }
    if (!t->coef)
        return;
    p->ok = p->ok && p->count < MAX_TERMS;
    if (p->ok)
        p->terms[p->count++] = *t;
}

static void add_poly(Sema *s, Poly *p, const Poly *q, int64_t factor)
{
    p->ok = p->ok && q->ok;
    for (uint32_t i = 0; p->ok && i < q->count; i++) {
        Term t = q->terms[i];
        p->ok = !__builtin_mul_overflow(t.coef, factor, &t.coef);
        add_term(s, p, &t);
    }
}

static void mul_term(Sema *s, Poly *out, const Term *x, const Term *y)
{
    Term t = *x;
    out->ok = out->ok && !__builtin_mul_overflow(x->coef, y->coef, &t.coef) &&
              x->count + y->count <= MAX_FACTORS;
    if (!out->ok)
        return;
    for (uint32_t k = 0; k < y->count; k++)
        t.atom[t.count++] = y->atom[k];
    add_term(s, out, &t);
}

static void mul_poly(Sema *s, Poly *out, const Poly *a, const Poly *b)
{
    out->ok = a->ok && b->ok;
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t j = 0; out->ok && j < b->count; j++)
            mul_term(s, out, &a->terms[i], &b->terms[j]);
}

static Poly poly_of(Builder *b, IrExprId id);

static Poly poly_of_atom(Builder *b, IrExprId id)
{
    Poly p = {.ok = true, .count = 1, .terms = {{.coef = 1, .count = 1, .atom = {id}}}};
    const IrExpr *e = expr_at(b->s, id);
    if (e->op == IR_E_VAR && b->expand) {
        const Symbol *sym = symbol_of(b->s, e->of.var);
        if (sym && sym->defined)
            return poly_of(b, sym->defined);
    }
    return p;
}

static Poly poly_of(Builder *b, IrExprId id)
{
    Poly p = {.ok = ++b->nodes < MAX_NODES};
    IrExpr e = *expr_at(b->s, id);
    if (!p.ok)
        return p;
    if (e.op == IR_E_INT) {
        add_term(b->s, &p, &(Term){.coef = e.of.i});
        return p;
    }
    if (e.op != IR_E_ADD && e.op != IR_E_SUB && e.op != IR_E_MUL && e.op != IR_E_NEG)
        return poly_of_atom(b, id);
    Poly x = poly_of(b, e.arg[0]);
    if (e.op == IR_E_NEG) {
        add_poly(b->s, &p, &x, -1);
        return p;
    }
    Poly y = poly_of(b, e.arg[1]);
    if (e.op == IR_E_MUL) {
        mul_poly(b->s, &p, &x, &y);
        return p;
    }
    add_poly(b->s, &p, &x, 1);
    add_poly(b->s, &p, &y, e.op == IR_E_SUB ? -1 : 1);
    return p;
}

static Poly difference(Sema *s, IrExprId a, IrExprId b, bool expand)
{
    Builder build = {.s = s, .expand = expand};
    Poly p = poly_of(&build, a), q = poly_of(&build, b);
    add_poly(s, &p, &q, -1);
    return p;
}

bool sema_constant_gap(Sema *s, IrExprId a, IrExprId b, int64_t *gap)
{
    Poly d = difference(s, a, b, true);
    if (!d.ok || d.count > 1 || (d.count == 1 && d.terms[0].count))
        return false;
    *gap = d.count ? d.terms[0].coef : 0;
    return true;
}

bool sema_same_size(Sema *s, IrExprId a, IrExprId b)
{
    int64_t gap;
    if (ir_same(s->ir, a, b))
        return true;
    if (sema_constant_gap(s, a, b, &gap))
        return gap == 0;
    IrExprId x = sema_expand(s, a), y = sema_expand(s, b);
    return ir_same(s->ir, x, y);
}

static IrExprId term_expr(Sema *s, const Term *t, int64_t coef)
{
    IrExprId e = 0;
    for (uint32_t i = 0; i < t->count; i++)
        e = e ? ir_expr2(s->ir, IR_E_MUL, e, t->atom[i]) : t->atom[i];
    if (!e)
        return ir_int(s->ir, coef);
    return coef == 1 ? e : ir_expr2(s->ir, IR_E_MUL, e, ir_int(s->ir, coef));
}

/* Positive terms first, so that the text reads as one would write it. */
static IrExprId poly_expr(Sema *s, const Poly *p)
{
    IrExprId e = 0;
    for (uint32_t i = 0; i < p->count; i++)
        if (p->terms[i].coef > 0) {
            IrExprId t = term_expr(s, &p->terms[i], p->terms[i].coef);
            e = e ? ir_expr2(s->ir, IR_E_ADD, e, t) : t;
        }
    for (uint32_t i = 0; i < p->count; i++)
        if (p->terms[i].coef < 0) {
            IrExprId t = term_expr(s, &p->terms[i], -p->terms[i].coef);
            e = ir_expr2(s->ir, IR_E_SUB, e ? e : ir_int(s->ir, 0), t);
        }
    return e ? e : ir_int(s->ir, 0);
}

IrExprId sema_minus(Sema *s, IrExprId a, IrExprId b)
{
    Poly d = difference(s, a, b, false);
    for (uint32_t i = 0; i < d.count; i++)
        d.ok = d.ok && d.terms[i].coef != INT64_MIN;
    return d.ok ? poly_expr(s, &d) : ir_expr2(s->ir, IR_E_SUB, a, b);
}

static IrExprId expand(Builder *b, IrExprId id)
{
    IrExpr e = *expr_at(b->s, id);
    if (++b->nodes > MAX_NODES)
        return id;
    if (e.op == IR_E_VAR) {
        const Symbol *sym = symbol_of(b->s, e.of.var);
        return sym && sym->defined ? expand(b, sym->defined) : id;
    }
    IrProgram *p = b->s->ir;
    int arity = ir_expr_rows[e.op].arity;
    if (!arity || e.op == IR_E_LIST_SIZE)
        return id;
    IrExprId x = expand(b, e.arg[0]);
    IrExprId y = arity > 1 ? expand(b, e.arg[1]) : 0;
    IrExprId z = arity > 2 ? expand(b, e.arg[2]) : 0;
    if (x == e.arg[0] && y == (arity > 1 ? e.arg[1] : 0) && z == (arity > 2 ? e.arg[2] : 0))
        return id;
    return arity == 1   ? ir_expr1(p, e.op, x)
           : arity == 2 ? ir_expr2(p, e.op, x, y)
                        : ir_expr3(p, e.op, x, y, z);
}

IrExprId sema_expand(Sema *s, IrExprId e)
{
    Builder b = {.s = s};
    return expand(&b, e);
}

typedef bool VarTest(Sema *s, const IrVar *v, IrVarId id);

static bool all_vars(Sema *s, IrExprId id, VarTest *test, uint32_t *nodes)
{
    const IrExpr *e = expr_at(s, id);
    if (++*nodes > MAX_NODES)
        return false;
    if (e->op == IR_E_VAR)
        return test(s, &s->ir->vars.at[e->of.var], e->of.var);
    for (int i = 0; i < ir_expr_rows[e->op].arity; i++)
        if (!all_vars(s, expr_at(s, id)->arg[i], test, nodes))
            return false;
    return true;
}

static bool known_at_start(Sema *s, const IrVar *v, IrVarId id)
{
    (void)s, (void)id;
    return v->kind == IR_VAR_DIM || v->kind == IR_VAR_PARAM || v->kind == IR_VAR_ATTR ||
           v->kind == IR_VAR_CHOICE || v->kind == IR_VAR_HOST;
}

bool sema_closed(Sema *s, IrExprId e)
{
    uint32_t nodes = 0;
    return all_vars(s, e, known_at_start, &nodes);
}

static bool never_changes(Sema *s, const IrVar *v, IrVarId id)
{
    if (v->kind != IR_VAR_LOCAL && v->kind != IR_VAR_HOST)
        return true;
    const Symbol *sym = symbol_of(s, id);
    return !sym || sym->writes == 1;
}

bool sema_fixed(Sema *s, IrExprId e)
{
    uint32_t nodes = 0;
    return all_vars(s, e, never_changes, &nodes);
}
