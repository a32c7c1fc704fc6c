/* Noting what sizes decide; see decide.h. In: shapes. Out: sets of outcomes, one for each launch.
 * The reference interpreter walks (run_core.c); movements and operations are only looked at here. */
#include "ir/decide.h"

#include "base/rng.h"
#include "ir/run_int.h"
#include <math.h>

/* Outcomes of an operator: bits 0 to 7; of an expression that is an extent: bits 8 on. */
enum { FIRST = 1, SECOND = 2, EQUAL = 4, LESS = 4, NOT_LESS = 8, EXTENT = 8 };
/* Whether a product is zero is a decision for searches alone: a first index is zero at every
 * size. */
enum { ZERO_PRODUCT = 16, PRODUCT = 32, PRODUCTS = ZERO_PRODUCT | PRODUCT };
enum { NONE = 1, ONE = 2, MORE = 4, PART = 8, WHOLE = 16, TAKEN = 32, NOT_TAKEN = 64 };
static const uint64_t most_steps = UINT64_C(1) << 24;

/* One launch, or the host function (launch 0). */
typedef struct DecidedSet {
    IrStmtId launch;
    uint16_t *expr;
    uint8_t *stmt;
    double *gap; /* per expression: by how much its first operand differs from its second */
} DecidedSet;

struct IrDecisions {
    Arena *arena;
    const IrProgram *p;
    uint64_t seed;
    VEC(DecidedSet) sets;
    DecidedSet now; /* the one being filled */
};

static DecidedSet *find_set(const IrDecisions *d, IrStmtId launch)
{
    for (uint32_t i = 0; i < d->sets.len; i++)
        if (d->sets.at[i].launch == launch)
            return &d->sets.at[i];
    return NULL;
}

void decide_launch(IrDecisions *d, IrStmtId launch)
{
    DecidedSet *set = find_set(d, launch);
    if (!set) {
        DecidedSet fresh = {.launch = launch,
                            .expr = arena_array(d->arena, uint16_t, d->p->exprs.len),
                            .stmt = arena_array(d->arena, uint8_t, d->p->stmts.len),
                            .gap = arena_array(d->arena, double, d->p->exprs.len)};
        vec_push(d->arena, &d->sets, fresh);
        set = &vec_last(&d->sets);
    }
    d->now = *set;
    d->now.stmt[launch] |= TAKEN;
}

/* ---- noting ---- */

static unsigned outcome_of(IrExprOp op, double a, double b, double value)
{
    switch (op) {
    case IR_E_MIN:
    case IR_E_MAX: return a < b ? FIRST : a > b ? SECOND : EQUAL;
    case IR_E_MOD: return (value == 0 ? FIRST : SECOND) | (a < b ? LESS : NOT_LESS);
    case IR_E_ABS: return a < 0 ? FIRST : SECOND;
    case IR_E_MUL: return value == 0 ? ZERO_PRODUCT : PRODUCT;
    case IR_E_FLOORDIV:
    case IR_E_CEILDIV:
    case IR_E_ALIGN_UP:
    case IR_E_ALIGN_DOWN:
    case IR_E_TO_I64: return value == 0 ? FIRST : SECOND;
    default: return ir_is_compare(op) ? (value != 0 ? FIRST : SECOND) : 0;
    }
}

/* Notes how far an operator is from its other outcome: a remainder from zero, a comparison from
 * equality. */
static void note_gap(double *least, IrExprOp op, double a, double b, double value)
{
    double gap = op == IR_E_MOD ? -value : op == IR_E_ABS ? -a : b - a;
    if (gap != 0 && isfinite(gap) && (*least == 0 || fabs(gap) < fabs(*least)))
        *least = gap;
}

void decide_expr(const Scope *s, const IrExpr *e, Scalar a, Scalar b, Scalar value)
{
    const IrProgram *p = s->run->p;
    bool floats = p->exprs.at[e->arg[0]].type == DT_F32;
    double x = floats ? (double)a.f : (double)a.i, y = floats ? (double)b.f : (double)b.i;
    double result = e->type == DT_F32 ? (double)value.f : (double)value.i;
    unsigned bits = outcome_of(e->op, x, y, result);
    s->run->decided->now.expr[e - p->exprs.at] |= (uint16_t)bits;
    if (bits & ~(unsigned)PRODUCTS)
        note_gap(&s->run->decided->now.gap[e - p->exprs.at], e->op, x, y, result);
}

void decide_side(const Scope *s, const IrExpr *e, bool first)
{
    s->run->decided->now.expr[e - s->run->p->exprs.at] |= first ? FIRST : SECOND;
}

void decide_if(const Scope *s, const IrStmt *stmt, bool taken)
{
    s->run->decided->now.stmt[stmt - s->run->p->stmts.at] |= taken ? TAKEN : NOT_TAKEN;
}

void decide_loop(const Thread *t, const IrStmt *s, const Frame *f)
{
    uint8_t *set = &t->scope.run->decided->now.stmt[s - t->scope.run->p->stmts.at];
    int64_t turns = f->stop > f->item ? (f->stop - f->item - 1) / f->stride + 1 : 0;
    *set |= turns == 0 ? NONE : turns == 1 ? ONE : MORE;
    for (uint32_t i = 0; i < s->axis_count && s->loop != IR_LOOP_MINE_LIST && turns; i++)
        if (s->axes[i].tile)
            *set |= (f->hi[i] - f->lo[i]) % f->unit[i] ? PART : WHOLE;
}

/* ---- sampling ---- */

/* How many of the first, the last and the others are walked, by the depth of the loop. */
static int64_t sample_of(uint32_t depth) { return depth <= 2 ? 64 : depth <= 4 ? 16 : 4; }

int64_t decide_next(const Thread *t, const Frame *f)
{
    const IrDecisions *d = t->scope.run->decided;
    int64_t some = sample_of(t->depth), left = (f->stop - f->item - 1) / f->stride;
    if (left <= some || f->walked < some)
        return f->item + f->stride;
    int64_t mean = (left - some) / (2 * some) + 1;
    int64_t jump = 1 + (int64_t)(rng_u64(d->seed, (uint64_t)t->scope.core, (uint64_t)f->item) %
                                 (uint64_t)(2 * mean));
    return f->item + (jump > left - some ? left - some : jump) * f->stride;
}

bool decide_core(const Run *run, int64_t core, int64_t cores)
{
    enum { ENDS = 2, DRAWN = 4 };
    if (core < ENDS || core >= cores - ENDS)
        return true;
    return rng_u64(run->decided->seed, 0xc0de, (uint64_t)core) % (uint64_t)cores < DRAWN;
}

/* ---- statements that move or compute: their extents ---- */

static void note_extent(Thread *t, IrExprId e)
{
    int64_t n;
    if (!e || !run_int(&t->scope, e, &n))
        return;
    unsigned bits = n <= 0 ? NONE : n == 1 ? ONE : MORE;
    t->scope.run->decided->now.expr[e] |= (uint16_t)(bits << EXTENT);
}

static void note_value(Thread *t, IrExprId e)
{
    if (e)
        run_eval(&t->scope, e);
}

static void note_view(Thread *t, const IrView *v)
{
    if (v->row)
        note_value(t, v->row);
    for (uint32_t i = 0; i < v->rank; i++) {
        note_value(t, v->start[i]);
        note_extent(t, v->size[i]);
    }
}

static void note_access(Thread *t, const IrAccess *a)
{
    note_value(t, a->item);
    for (uint32_t i = 0; i < a->rank; i++) {
        note_value(t, a->start[i]);
        note_extent(t, a->size[i]);
    }
}

void decide_stmt(Thread *t, const IrStmt *s)
{
    bool gm = s->kind == IR_S_GM_READ || s->kind == IR_S_GM_WRITE || s->kind == IR_S_STORE ||
              (s->kind == IR_S_LOAD && !s->src_count);
    if (gm)
        note_access(t, &s->access);
    if (s->dst.rank)
        note_view(t, &s->dst);
    if (s->dst2.rank)
        note_view(t, &s->dst2);
    for (uint32_t i = 0; i < s->src_count; i++)
        note_view(t, &s->src[i]);
    for (uint32_t i = 0; i < s->scalar_count; i++)
        note_value(t, s->scalar[i]);
    note_value(t, s->value);
    note_value(t, s->pad);
    if (s->var)
        t->scope.vars[s->var] = (Scalar){.set = true, .data = true};
}

void decide_buffers(Thread *t)
{
    for (uint32_t i = 0; i < t->k->buffers.len; i++) {
        const IrBuffer *b = &t->k->buffers.at[i];
        for (uint32_t k = 0; k < b->rank; k++)
            note_extent(t, b->shape[k]);
        note_extent(t, b->depth);
    }
}

/* ---- the whole ---- */

bool ir_decide(Arena *arena, const IrProgram *p, const NpuChip *chip, const IrHostInput *input,
               uint64_t seed, IrDecisions **decisions, Diag *diag)
{
    IrDecisions *d = arena_new(arena, IrDecisions);
    *d = (IrDecisions){.arena = arena, .p = p, .seed = seed};
    decide_launch(d, 0);
    *decisions = d;
    return host_walk(arena, p, chip, input, d, most_steps, diag);
}

/* Equal operands of min and max are both sides at once. */
static uint16_t sides_of(const IrExpr *e, uint16_t bits)
{
    bool both = (e->op == IR_E_MIN || e->op == IR_E_MAX) && bits & EQUAL;
    return both ? bits | FIRST | SECOND : bits;
}

static bool expr_decided(const IrExpr *e, uint16_t full, uint16_t seen)
{
    if (e->op == IR_E_MIN || e->op == IR_E_MAX)
        full &= (uint16_t)~EQUAL;
    return !(full & ~sides_of(e, seen));
}

static Span launch_place(const IrProgram *p, const DecidedSet *set)
{
    return set->launch ? p->stmts.at[set->launch].at : (Span){0};
}

/* How often a loop turns in one of the cases. */
static uint8_t turns_in(IrDecisions *const *others, uint32_t n, IrStmtId launch, uint32_t stmt)
{
    uint8_t bits = 0;
    for (uint32_t i = 0; i < n; i++) {
        const DecidedSet *set = find_set(others[i], launch);
        bits |= set ? set->stmt[stmt] & (NONE | ONE | MORE) : 0;
    }
    return bits;
}

bool ir_decided_in(const IrProgram *p, const IrDecisions *full, const IrDecisions *seen,
                   IrDecisions *const *others, uint32_t n, Span *place)
{
    for (uint32_t k = 0; k < full->sets.len; k++) {
        const DecidedSet *set = &full->sets.at[k], *of = find_set(seen, set->launch);
        *place = launch_place(p, set);
        if (!of)
            return false;
        for (uint32_t i = 1; i < p->stmts.len; i++)
            if (set->stmt[i] & ~(of->stmt[i] | turns_in(others, n, set->launch, i))) {
                *place = p->stmts.at[i].at;
                return false;
            }
        for (uint32_t i = 1; i < p->exprs.len; i++)
            if (!expr_decided(&p->exprs.at[i], set->expr[i] & (uint16_t)~PRODUCTS, of->expr[i])) {
                *place = p->exprs.at[i].at.line ? p->exprs.at[i].at : *place;
                return false;
            }
    }
    return true;
}

/* ---- what no case had ---- */

enum { TURNS = NONE | ONE | MORE, OUTCOMES = (1 << EXTENT) - 1 };

static uint16_t expr_seen(IrDecisions *const *seen, uint32_t n, IrStmtId launch, const IrExpr *e,
                          uint32_t i)
{
    uint16_t bits = 0;
    for (uint32_t k = 0; k < n; k++) {
        const DecidedSet *set = find_set(seen[k], launch);
        bits |= set ? sides_of(e, set->expr[i]) : 0;
    }
    return bits;
}

static uint8_t stmt_seen(IrDecisions *const *seen, uint32_t n, IrStmtId launch, uint32_t i)
{
    uint8_t bits = 0;
    for (uint32_t k = 0; k < n; k++) {
        const DecidedSet *set = find_set(seen[k], launch);
        bits |= set ? set->stmt[i] : 0;
    }
    return bits;
}

/* Whether its outcome decides between two branches. */
static bool is_branch(const IrExpr *e)
{
    return e->op == IR_E_SELECT || (e->op >= IR_E_EQ && e->op <= IR_E_GE);
}

uint32_t ir_decided_new(const IrProgram *p, const IrDecisions *one, IrDecisions *const *seen,
                        uint32_t n, uint32_t *branches)
{
    uint32_t count = 0;
    *branches = 0;
    for (uint32_t k = 0; k < one->sets.len; k++) {
        const DecidedSet *set = &one->sets.at[k];
        for (uint32_t i = 1; i < p->stmts.len; i++) {
            unsigned bits = set->stmt[i] & ~(unsigned)TURNS;
            unsigned fresh = bits & ~(unsigned)stmt_seen(seen, n, set->launch, i);
            count += fresh != 0;
            *branches += (fresh & (TAKEN | NOT_TAKEN)) != 0;
        }
        for (uint32_t i = 1; i < p->exprs.len; i++) {
            const IrExpr *e = &p->exprs.at[i];
            uint16_t bits = set->expr[i] & OUTCOMES;
            if (bits && !expr_decided(e, bits, expr_seen(seen, n, set->launch, e, i))) {
                count++;
                *branches += is_branch(e);
            }
        }
    }
    return count;
}

/* Both sides of what has two. */
static bool has_both(uint16_t bits) { return (bits & (FIRST | SECOND)) == (FIRST | SECOND); }

bool ir_decided_one_way(const IrProgram *p, IrDecisions *const *seen, uint32_t n)
{
    for (uint32_t k = 0; n && k < seen[0]->sets.len; k++) {
        IrStmtId launch = seen[0]->sets.at[k].launch;
        for (uint32_t i = 1; i < p->stmts.len; i++) {
            unsigned ways = stmt_seen(seen, n, launch, i) & (TAKEN | NOT_TAKEN);
            if (p->stmts.at[i].kind == IR_S_IF && (ways == TAKEN || ways == NOT_TAKEN))
                return true;
        }
        for (uint32_t i = 1; i < p->exprs.len; i++) {
            unsigned sides = expr_seen(seen, n, launch, &p->exprs.at[i], i) & (FIRST | SECOND);
            if (p->exprs.at[i].op == IR_E_SELECT && (sides == FIRST || sides == SECOND))
                return true;
        }
    }
    return false;
}

uint32_t ir_decided_gaps(const IrProgram *p, const IrDecisions *one, IrDecisions *const *seen,
                         uint32_t n, IrGap *gaps, uint32_t most)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < one->sets.len; k++) {
        const DecidedSet *set = &one->sets.at[k];
        for (uint32_t i = 1; i < p->exprs.len && count < most; i++)
            if (set->gap[i] != 0 && !has_both(expr_seen(seen, n, set->launch, &p->exprs.at[i], i)))
                gaps[count++] = (IrGap){set->launch, i, set->gap[i]};
    }
    return count;
}

double ir_decided_gap(const IrDecisions *one, const IrGap *of)
{
    const DecidedSet *set = find_set(one, of->launch);
    return set ? set->gap[of->expr] : 0;
}
