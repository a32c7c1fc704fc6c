/* The search for a proof of `p >= 0`; poly.h draws the idea. In: a polynomial, the facts of
 * the place. Out: proved, or not proved, within a fixed number of steps. */
#include "ir/poly.h"

enum { PROOF_STEPS = 4000, PROOF_DEPTH = 8, ALIAS_DEPTH = 16 };

/* ---- intervals of polynomials, in 128 bits with a bound for "none" ---- */

#define NO_BOUND ((__int128)1 << 126)

static __int128 saturate(__int128 v)
{
    return v > NO_BOUND ? NO_BOUND : v < -NO_BOUND ? -NO_BOUND : v;
}

static __int128 wide(int64_t bound)
{
    return bound == INT64_MAX ? NO_BOUND : bound == INT64_MIN ? -NO_BOUND : bound;
}

static __int128 wide_mul(__int128 a, __int128 b)
{
    __int128 r;
    if (a == 0 || b == 0)
        return 0;
    if (__builtin_mul_overflow(a, b, &r))
        return (a < 0) == (b < 0) ? NO_BOUND : -NO_BOUND;
    return saturate(r);
}

static void term_bounds(const Prover *pr, const PolyTerm *t, __int128 *lo, __int128 *hi)
{
    *lo = *hi = t->coef;
    for (uint32_t i = 0; i < t->degree; i++) {
        IrInterval r = pr->atoms.at[t->atom[i]].range;
        __int128 c[4] = {wide_mul(*lo, wide(r.lo)), wide_mul(*lo, wide(r.hi)),
                         wide_mul(*hi, wide(r.lo)), wide_mul(*hi, wide(r.hi))};
        *lo = *hi = c[0];
        for (int k = 1; k < 4; k++) {
            *lo = c[k] < *lo ? c[k] : *lo;
            *hi = c[k] > *hi ? c[k] : *hi;
        }
    }
}

static bool nonneg_by_intervals(const Prover *pr, const Poly *p)
{
    __int128 sum = 0, lo, hi;
    for (uint32_t i = 0; i < p->len; i++) {
        term_bounds(pr, &p->term[i], &lo, &hi);
        if (lo == -NO_BOUND)
            return false;
        sum = saturate(sum + lo);
    }
    return sum >= 0;
}

int64_t poly_most(const Prover *pr, const Poly *p)
{
    __int128 sum = 0, lo, hi;
    for (uint32_t i = 0; i < p->len; i++) {
        term_bounds(pr, &p->term[i], &lo, &hi);
        if (hi == NO_BOUND)
            return INT64_MAX;
        sum = saturate(sum + hi);
    }
    return p->overflow || sum > INT64_MAX ? INT64_MAX : sum < INT64_MIN ? INT64_MIN : (int64_t)sum;
}

/* ---- case splits: a minimum is one of its two operands ---- */

/* Replaces `atom` by `with` in every term; the atom is linear in p. */
static Poly substitute(const Poly *p, uint32_t atom, Poly with)
{
    Poly out = {.overflow = p->overflow};
    for (uint32_t i = 0; i < p->len; i++) {
        PolyTerm rest = p->term[i];
        uint32_t kept = 0, found = 0;
        for (uint32_t k = 0; k < rest.degree; k++) {
            if (p->term[i].atom[k] == atom && !found)
                found = 1;
            else
                rest.atom[kept++] = p->term[i].atom[k];
        }
        rest.degree = kept;
        Poly one = {.len = 1, .term = {rest}};
        out = poly_add(out, found ? poly_mul(one, with) : one);
    }
    return out;
}

/* How often `atom` stands in the positive and in the negative terms; false: not linear. */
static bool occurrences(const Poly *p, uint32_t atom, uint32_t *positive, uint32_t *negative)
{
    *positive = *negative = 0;
    for (uint32_t i = 0; i < p->len; i++) {
        uint32_t times = 0;
        for (uint32_t k = 0; k < p->term[i].degree; k++)
            times += p->term[i].atom[k] == atom;
        if (times > 1)
            return false;
        *(p->term[i].coef > 0 ? positive : negative) += times;
    }
    return true;
}

/* An atom whose defining facts bound it on one side only, while p needs the other side. */
static bool needs_split(const Prover *pr, const Poly *p, uint32_t *atom)
{
    for (uint32_t i = 0; i < p->len; i++) {
        for (uint32_t k = 0; k < p->term[i].degree; k++) {
            IrExprOp op = pr->p->exprs.at[pr->atoms.at[p->term[i].atom[k]].expr].op;
            uint32_t positive, negative;
            if (op != IR_E_MIN && op != IR_E_MAX && op != IR_E_SELECT)
                continue;
            if (!occurrences(p, p->term[i].atom[k], &positive, &negative))
                continue;
            if (op == IR_E_SELECT || (op == IR_E_MIN ? positive : negative)) {
                *atom = p->term[i].atom[k];
                return true;
            }
        }
    }
    return false;
}

static bool prove(Prover *pr, Poly p, int depth);

static bool prove_by_cases(Prover *pr, const Poly *p, uint32_t atom, int depth)
{
    const IrExpr e = pr->p->exprs.at[pr->atoms.at[atom].expr];
    int first = e.op == IR_E_SELECT ? 1 : 0;
    Poly a = poly_of(pr, e.arg[first]), b = poly_of(pr, e.arg[first + 1]);
    return prove(pr, substitute(p, atom, a), depth - 1) &&
           prove(pr, substitute(p, atom, b), depth - 1);
}

/* ---- cancelling a term that may be negative with a fact ---- */

static bool atom_nonneg(const Prover *pr, uint32_t atom)
{
    return pr->atoms.at[atom].range.lo >= 0;
}

/* target = part * quotient with every atom of the quotient >= 0 */
static bool divide_term(const Prover *pr, const PolyTerm *target, const PolyTerm *part,
                        PolyTerm *quotient)
{
    uint32_t i = 0;
    *quotient = (PolyTerm){.coef = 1};
    for (uint32_t k = 0; k < target->degree; k++) {
        if (i < part->degree && part->atom[i] == target->atom[k]) {
            i++;
            continue;
        }
        if (!atom_nonneg(pr, target->atom[k]))
            return false;
        quotient->atom[quotient->degree++] = target->atom[k];
    }
    return i == part->degree;
}

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

/* p has the term c*M, fact the term k*N of the same sign with M = N*Q: (|k|*p - |c|*Q*fact) / gcd
 * has no M. */
static bool cancel(Prover *pr, const Poly *p, const PolyTerm *target, const Poly *fact, int depth)
{
    for (uint32_t i = 0; i < fact->len; i++) {
        PolyTerm q;
        int64_t c = target->coef, k = fact->term[i].coef;
        if ((c < 0) != (k < 0) || fact->term[i].degree == 0 || c == INT64_MIN || k == INT64_MIN ||
            !divide_term(pr, target, &fact->term[i], &q))
            continue;
        c = c < 0 ? -c : c;
        k = k < 0 ? -k : k;
        int64_t g = gcd(c, k);
        Poly factor = {.len = 1, .term = {q}};
        Poly rest = poly_sub(poly_scale(*p, k / g), poly_scale(poly_mul(factor, *fact), c / g));
        if (prove(pr, rest, depth - 1))
            return true;
    }
    return false;
}

/* Cancels a term by an atom of it that has an upper bound: atom <= hi is a fact. */
static bool cancel_by_range(Prover *pr, const Poly *p, const PolyTerm *target, int depth)
{
    for (uint32_t k = 0; k < target->degree; k++) {
        int64_t hi = pr->atoms.at[target->atom[k]].range.hi;
        if (hi == INT64_MAX)
            continue;
        PolyTerm x = {.coef = -1, .degree = 1, .atom = {target->atom[k]}};
        Poly fact = {.len = 1, .term = {x}};
        fact = poly_add(fact, poly_const(hi));
        if (cancel(pr, p, target, &fact, depth))
            return true;
    }
    return false;
}

/* Worth cancelling: it is negative, or nothing bounds it from below but facts. */
static bool is_open_below(const Prover *pr, const PolyTerm *t)
{
    __int128 lo, hi;
    term_bounds(pr, t, &lo, &hi);
    return t->coef < 0 || lo == -NO_BOUND;
}

static bool prove_by_facts(Prover *pr, const Poly *p, int depth)
{
    for (uint32_t i = p->len; i-- > 0;) {
        const PolyTerm *t = &p->term[i];
        if (t->degree == 0 || !is_open_below(pr, t))
            continue;
        for (uint32_t f = pr->facts.len; f-- > 0;)
            if (cancel(pr, p, t, &pr->facts.at[f], depth))
                return true;
        for (uint32_t f = 0; f < pr->defs.len; f++)
            if (cancel(pr, p, t, &pr->defs.at[f], depth))
                return true;
        if (t->coef < 0 && cancel_by_range(pr, p, t, depth))
            return true;
    }
    return false;
}

static bool prove(Prover *pr, Poly p, int depth)
{
    uint32_t atom;
    if (p.overflow || pr->steps == 0)
        return false;
    pr->steps--;
    if (nonneg_by_intervals(pr, &p))
        return true;
    if (depth == 0)
        return false;
    if (needs_split(pr, &p, &atom) && prove_by_cases(pr, &p, atom, depth))
        return true;
    return prove_by_facts(pr, &p, depth);
}

bool prove_nonneg(Prover *pr, Poly p) { return prove_nonneg_by(pr, p, PROOF_DEPTH); }

bool prove_nonneg_by(Prover *pr, Poly p, int most)
{
    /* shallow proofs are common and cheap: look for them before the deep ones */
    for (int depth = 1; depth <= most; depth++) {
        pr->steps = PROOF_STEPS;
        if (prove(pr, p, depth))
            return true;
        if (pr->steps == 0)
            return false;
    }
    return false;
}

bool prove_le(Prover *pr, IrExprId a, IrExprId b)
{
    return prove_nonneg(pr, poly_sub(poly_of(pr, b), poly_of(pr, a)));
}

bool prove_equal(Prover *pr, IrExprId a, IrExprId b)
{
    Poly d = poly_sub(poly_of(pr, a), poly_of(pr, b));
    if (poly_is_zero(&d))
        return true;
    return prove_nonneg(pr, d) && prove_nonneg(pr, poly_scale(d, -1));
}

/* ---- facts ---- */

void prover_assume(Prover *pr, Poly nonnegative)
{
    if (!nonnegative.overflow)
        vec_push(pr->arena, &pr->facts, nonnegative);
}

static IrExprOp negated(IrExprOp op)
{
    switch (op) {
    case IR_E_EQ: return IR_E_NE;
    case IR_E_NE: return IR_E_EQ;
    case IR_E_LT: return IR_E_GE;
    case IR_E_LE: return IR_E_GT;
    case IR_E_GT: return IR_E_LE;
    case IR_E_GE: return IR_E_LT;
    default: panic("not a comparison: %d", (int)op);
    }
}

static void assume_compare(Prover *pr, IrExprOp op, Poly a, Poly b)
{
    Poly one = poly_const(1);
    switch (op) {
    case IR_E_EQ:
        prover_assume(pr, poly_sub(a, b));
        prover_assume(pr, poly_sub(b, a));
        break;
    case IR_E_LT: prover_assume(pr, poly_sub(poly_sub(b, a), one)); break;
    case IR_E_LE: prover_assume(pr, poly_sub(b, a)); break;
    case IR_E_GT: prover_assume(pr, poly_sub(poly_sub(a, b), one)); break;
    case IR_E_GE: prover_assume(pr, poly_sub(a, b)); break;
    default: break; /* "not equal" says nothing of order */
    }
}

void prover_assume_cond(Prover *pr, IrExprId cond, bool holds)
{
    const IrExpr e = pr->p->exprs.at[cond];
    if (e.op == IR_E_NOT) {
        prover_assume_cond(pr, e.arg[0], !holds);
    } else if (e.op == (holds ? IR_E_AND : IR_E_OR)) {
        prover_assume_cond(pr, e.arg[0], holds);
        prover_assume_cond(pr, e.arg[1], holds);
    } else if (ir_is_compare(e.op) && pr->p->exprs.at[e.arg[0]].type == DT_I64) {
        assume_compare(pr, holds ? e.op : negated(e.op), poly_of(pr, e.arg[0]),
                       poly_of(pr, e.arg[1]));
    }
}

bool poly_mentions(const Prover *pr, const Poly *p, IrVarId var)
{
    for (uint32_t i = 0; i < p->len; i++)
        for (uint32_t k = 0; k < p->term[i].degree; k++)
            if (ir_mentions(pr->p, pr->atoms.at[p->term[i].atom[k]].expr, var))
                return true;
    return false;
}

/* A fact that is forgotten becomes "0 >= 0" where it stands, since marks count facts. */
void prover_forget(Prover *pr, IrVarId var)
{
    for (uint32_t i = 0; i < pr->facts.len && !pr->alias[var]; i++)
        if (poly_mentions(pr, &pr->facts.at[i], var))
            pr->facts.at[i] = poly_const(0);
}

void prover_shift(Prover *pr, IrExprId named, Poly more)
{
    Poly now = poly_of(pr, named), old = poly_sub(now, more);
    IrVarId var = pr->p->exprs.at[named].of.var;
    uint32_t atom = now.term[0].atom[0], positive, negative;
    for (uint32_t i = 0; i < pr->facts.len; i++) {
        Poly *fact = &pr->facts.at[i];
        if (!poly_mentions(pr, fact, var))
            continue;
        bool plain = occurrences(fact, atom, &positive, &negative);
        Poly moved = substitute(fact, atom, old), rest = substitute(fact, atom, (Poly){0});
        *fact = plain && !moved.overflow && !poly_mentions(pr, &rest, var) ? moved : poly_const(0);
    }
}

/* ---- what a variable always equals ---- */

static void alias_block(Prover *pr, const IrBlock *block, const uint32_t *assigns)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &pr->p->stmts.at[block->at[i]];
        if (s->kind == IR_S_ASSIGN && assigns[s->var] == 1 && pr->p->vars.at[s->var].type == DT_I64)
            pr->alias[s->var] = s->value;
        alias_block(pr, &s->body, assigns);
        alias_block(pr, &s->orelse, assigns);
    }
}

/* An alias must not read a variable that changes: such a value is only equal at its birth. */
static bool stable(const Prover *pr, IrExprId id, const uint32_t *assigns, int depth)
{
    const IrExpr *e = &pr->p->exprs.at[id];
    if (depth == 0)
        return false;
    if (e->op == IR_E_VAR) {
        if (assigns[e->of.var] > 1)
            return false;
        return !pr->alias[e->of.var] || stable(pr, pr->alias[e->of.var], assigns, depth - 1);
    }
    for (int i = 0; i < ir_expr_rows[e->op].arity; i++)
        if (!stable(pr, e->arg[i], assigns, depth))
            return false;
    return true;
}

static void drop_unstable(Prover *pr, const uint32_t *assigns)
{
    for (uint32_t v = 1; v < pr->p->vars.len; v++)
        if (pr->alias[v] && !stable(pr, pr->alias[v], assigns, ALIAS_DEPTH))
            pr->alias[v] = 0;
}

/* Pieces of tiles(n, 1) have one element, which the axis' own tile says. */
static void alias_single_pieces(Prover *pr)
{
    for (uint32_t i = 1; i < pr->p->stmts.len; i++) {
        const IrStmt *s = &pr->p->stmts.at[i];
        for (uint32_t k = 0; k < s->axis_count && s->kind == IR_S_FOR; k++)
            if (ir_tile_is_one(pr->p, &s->axes[k]))
                pr->alias[s->axes[k].range.size] = s->axes[k].tile;
    }
}

Prover *prover_new(Arena *arena, const IrProgram *p, const NpuChip *chip)
{
    Prover *pr = arena_new(arena, Prover);
    *pr = (Prover){
        .p = p, .chip = chip, .arena = arena, .alias = arena_array(arena, IrExprId, p->vars.len)};
    pr->named = arena_array(arena, bool, p->vars.len);
    for (uint32_t i = 1; i < p->exprs.len; i++)
        if (p->exprs.at[i].op == IR_E_VAR)
            pr->named[p->exprs.at[i].of.var] = true;
    uint32_t *assigns = ir_count_assigns(p, arena);
    alias_block(pr, &p->host, assigns);
    for (uint32_t i = 0; i < p->kernels.len; i++)
        alias_block(pr, &p->kernels.at[i].body, assigns);
    drop_unstable(pr, assigns);
    alias_single_pieces(pr);
    return pr;
}

static void find_launches(const IrProgram *p, const IrBlock *block, uint32_t kernel,
                          const IrStmt **launch, uint32_t *count)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &p->stmts.at[block->at[i]];
        if (s->kind == IR_S_LAUNCH && s->kernel == kernel) {
            *launch = s;
            ++*count;
        }
        find_launches(p, &s->body, kernel, launch, count);
        find_launches(p, &s->orelse, kernel, launch, count);
    }
}

void prover_enter_kernel(Prover *pr, uint32_t kernel)
{
    const IrKernel *k = &pr->p->kernels.at[kernel];
    const IrStmt *launch = NULL;
    uint32_t count = 0;
    find_launches(pr->p, &pr->p->host, kernel, &launch, &count);
    pr->num_cores = count == 1 ? launch->cores : 0;
    if (count != 1)
        return;
    for (uint32_t i = 0; i < k->params.len && i < launch->args.len; i++)
        if (!k->params.at[i].is_tensor && !launch->args.at[i].is_tensor &&
            pr->p->exprs.at[launch->args.at[i].value].type == DT_I64)
            pr->alias[pr->p->exprs.at[k->params.at[i].value].of.var] = launch->args.at[i].value;
}
