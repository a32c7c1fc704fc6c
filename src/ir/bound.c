/* What a host's asserts say of products of its sizes and choices. In: an annotated program. Out:
 * p->bounds, and the largest value of a product that they allow.
 *
 *     assert rows * cols + rows <= 4096      rows * cols <= 4095 and rows <= 4095, both at least 1
 *
 * Kernels are launched only where every assert holds. The host's own arithmetic is not: a division may
 * stand before the assert that keeps its divisor from 0. So the prover does not see these bounds. */
#include "ir/poly.h"
#include "ir/range_int.h"

enum { MOST_FACTORS = 8 };

/* ---- from the asserts ---- */

/* fact >= 0 has a term -c * product: the product is at most what the others leave, over c. */
static void add_bound(IrProgram *p, const Prover *pr, const Poly *fact, uint32_t term)
{
    const PolyTerm *t = &fact->term[term];
    Poly others = poly_sub(*fact, (Poly){.len = 1, .term = {*t}});
    IrBound bound = {.factors = t->degree, .most = poly_most(pr, &others)};
    for (uint32_t i = 0; i < t->degree; i++) {
        const PolyAtom *atom = &pr->atoms.at[t->atom[i]];
        bound.factor[i] = atom->expr;
        bound.least[i] = atom->range.lo;
        if (atom->range.lo < 0)
            return;
    }
    if (bound.most == INT64_MAX || bound.most < 0 || t->coef == INT64_MIN)
        return;
    bound.most /= -t->coef;
    vec_push(p->arena, &p->bounds, bound);
}

static void add_bounds(IrProgram *p, const Prover *pr, const Poly *fact)
{
    for (uint32_t i = 0; i < fact->len; i++)
        if (fact->term[i].coef < 0 && fact->term[i].degree > 0)
            add_bound(p, pr, fact, i);
}

void ir_find_bounds(IrProgram *p, const NpuChip *chip)
{
    Arena scratch = {0};
    Prover *pr = NULL;
    for (uint32_t i = 0; i < p->host.len; i++) {
        const IrStmt *s = &p->stmts.at[p->host.at[i]];
        if (s->kind != IR_S_ASSERT)
            continue;
        pr = pr ? pr : prover_new(&scratch, p, chip);
        prover_assume_cond(pr, s->cond, true);
    }
    p->bounds.len = 0;
    for (uint32_t i = 0; pr && i < pr->facts.len; i++)
        add_bounds(p, pr, &pr->facts.at[i]);
    arena_drop(&scratch);
}

/* ---- of a product ---- */

typedef struct Product {
    __int128 times; /* the product of its constants, or more */
    uint32_t len;
    IrExprId factor[MOST_FACTORS];
} Product;

static __int128 saturated(__int128 a, int64_t b)
{
    __int128 product = a * b;
    return product > INT64_MAX ? INT64_MAX : product;
}

/* A factor's range without what asserts say: ir_interval would ask for its own bound again. */
static IrInterval plain(const IrProgram *p, const NpuChip *chip, IrExprId id)
{
    const IrExpr *e = &p->exprs.at[id];
    if (e->op != IR_E_VAR)
        return ir_interval(p, chip, id);
    return (IrInterval){p->vars.at[e->of.var].lo, p->vars.at[e->of.var].hi};
}

/* False: a factor may be negative, or there are too many. */
static bool collect(const IrProgram *p, const NpuChip *chip, IrExprId id, Product *out)
{
    const IrExpr *e = &p->exprs.at[id];
    if (e->op == IR_E_MUL)
        return collect(p, chip, e->arg[0], out) && collect(p, chip, e->arg[1], out);
    bool constant = e->op == IR_E_INT || e->op == IR_E_CHIP;
    if (constant && ir_interval(p, chip, id).lo >= 0) {
        out->times = saturated(out->times, ir_interval(p, chip, id).lo);
        return true;
    }
    if (plain(p, chip, id).lo < 0 || out->len == MOST_FACTORS)
        return false;
    out->factor[out->len++] = id;
    return true;
}

static bool take_factor(const IrProgram *p, IrExprId factor, Product *from)
{
    for (uint32_t i = 0; i < from->len; i++)
        if (ir_same(p, from->factor[i], factor)) {
            from->factor[i] = from->factor[--from->len];
            return true;
        }
    return false;
}

/* The product where the bound stands for some of its factors; the bound's others are at least 1.
 * INT64_MAX: it says nothing of the product. */
static int64_t most_by(const IrProgram *p, const NpuChip *chip, const IrBound *bound, Product left)
{
    int64_t most = bound->most;
    uint32_t all = left.len;
    for (uint32_t i = 0; i < bound->factors; i++) {
        if (take_factor(p, bound->factor[i], &left))
            continue;
        if (bound->least[i] < 1)
            return INT64_MAX;
        most /= bound->least[i];
    }
    if (left.len == all)
        return INT64_MAX;
    __int128 product = saturated(left.times, most);
    for (uint32_t i = 0; i < left.len; i++)
        product = saturated(product, plain(p, chip, left.factor[i]).hi);
    return (int64_t)product;
}

int64_t ir_bound_of(const IrProgram *p, const NpuChip *chip, IrExprId product)
{
    Product all = {.times = 1};
    int64_t most = INT64_MAX;
    if (!p->bounds.len || !collect(p, chip, product, &all))
        return INT64_MAX;
    for (uint32_t i = 0; i < p->bounds.len; i++) {
        int64_t here = most_by(p, chip, &p->bounds.at[i], all);
        most = here < most ? here : most;
    }
    return most;
}
