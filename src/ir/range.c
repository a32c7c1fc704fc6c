/* Bounds and divisibility of integer expressions. In: a program, a chip. Out: lo, hi, multiple
 * of its variables. Arithmetic saturates at "no bound", so a doubtful case is only less known. */
#include "ir/range_int.h"

static int64_t clamp128(__int128 v)
{
    return v > INT64_MAX ? INT64_MAX : v < INT64_MIN ? INT64_MIN : (int64_t)v;
}

static bool open_lo(IrInterval i) { return i.lo == INT64_MIN; }
static bool open_hi(IrInterval i) { return i.hi == INT64_MAX; }

static IrInterval add_intervals(IrInterval a, IrInterval b)
{
    return (IrInterval){open_lo(a) || open_lo(b) ? INT64_MIN : clamp128((__int128)a.lo + b.lo),
                        open_hi(a) || open_hi(b) ? INT64_MAX : clamp128((__int128)a.hi + b.hi)};
}

static IrInterval negate(IrInterval a)
{
    return (IrInterval){open_hi(a) ? INT64_MIN : clamp128(-(__int128)a.hi),
                        open_lo(a) ? INT64_MAX : clamp128(-(__int128)a.lo)};
}

/* A product of bounds, where no bound times zero is zero. */
static __int128 times(int64_t a, int64_t b) { return (__int128)a * b; }

static IrInterval mul(IrInterval a, IrInterval b)
{
    __int128 c[4] = {times(a.lo, b.lo), times(a.lo, b.hi), times(a.hi, b.lo), times(a.hi, b.hi)};
    __int128 lo = c[0], hi = c[0];
    for (int i = 1; i < 4; i++) {
        lo = c[i] < lo ? c[i] : lo;
        hi = c[i] > hi ? c[i] : hi;
    }
    return (IrInterval){clamp128(lo), clamp128(hi)};
}

static int64_t floor_bound(int64_t a, int64_t b)
{
    return a == INT64_MIN || a == INT64_MAX ? a : ir_floordiv(a, b);
}

/* Floor division by a positive divisor; otherwise nothing is known. */
static IrInterval divide(IrInterval a, IrInterval b)
{
    if (b.lo <= 0)
        return (IrInterval){INT64_MIN, INT64_MAX};
    int64_t lo = floor_bound(a.lo, a.lo < 0 ? b.lo : b.hi);
    int64_t hi = floor_bound(a.hi, a.hi < 0 ? b.hi : b.lo);
    return (IrInterval){lo, hi};
}

static IrInterval join(IrInterval a, IrInterval b)
{
    return (IrInterval){a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
}

int64_t ir_chip_value(const NpuChip *chip, IrChipFact fact)
{
    switch (fact) {
    case IR_CHIP_CORES: return chip->aiv;
    case IR_CHIP_CUBE_CORES: return chip->aic;
    case IR_CHIP_UB: return chip->ub;
    case IR_CHIP_L1: return chip->l1;
    case IR_CHIP_L0A: return chip->l0a;
    case IR_CHIP_L0B: return chip->l0b;
    case IR_CHIP_L0C: return chip->l0c;
    case IR_CHIP_L2: return (int64_t)chip->l2_mib << 20;
    case IR_CHIP_COUNT: break;
    }
    panic("no such chip fact: %d", (int)fact);
}

static IrInterval interval_of_binary(IrExprOp op, IrInterval a, IrInterval b)
{
    switch (op) {
    case IR_E_ADD: return add_intervals(a, b);
    case IR_E_SUB: return add_intervals(a, negate(b));
    case IR_E_FLOORDIV: return divide(a, b);
    case IR_E_CEILDIV: return negate(divide(negate(a), b));
    case IR_E_MOD:
        if (b.lo <= 0)
            return (IrInterval){INT64_MIN, INT64_MAX};
        return (IrInterval){0, a.lo >= 0 && a.hi < b.hi ? a.hi : b.hi - !open_hi(b)};
    case IR_E_ALIGN_UP:
        return b.lo <= 0 ? (IrInterval){INT64_MIN, INT64_MAX}
                         : (IrInterval){a.lo, add_intervals(a, (IrInterval){0, b.hi - 1}).hi};
    case IR_E_ALIGN_DOWN:
        return b.lo <= 0 ? (IrInterval){INT64_MIN, INT64_MAX}
                         : (IrInterval){a.lo >= 0 ? 0 : INT64_MIN, a.hi};
    case IR_E_MIN: return (IrInterval){a.lo < b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi};
    case IR_E_MAX: return (IrInterval){a.lo > b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
    default: return (IrInterval){INT64_MIN, INT64_MAX};
    }
}

/* No more than the host's asserts allow the variable or product. */
static IrInterval bounded(const IrProgram *p, const NpuChip *chip, IrExprId id, IrInterval range)
{
    int64_t most = ir_bound_of(p, chip, id);
    return most < range.hi && most >= range.lo ? (IrInterval){range.lo, most} : range;
}

IrInterval ir_interval(const IrProgram *p, const NpuChip *chip, IrExprId id)
{
    const IrExpr *e = &p->exprs.at[id];
    switch (e->op) {
    case IR_E_INT: return (IrInterval){e->of.i, e->of.i};
    case IR_E_VAR: {
        const IrVar *v = &p->vars.at[e->of.var];
        return bounded(p, chip, id, (IrInterval){v->lo, v->hi});
    }
    case IR_E_MUL:
        if (e->type != DT_I64)
            break;
        return bounded(p, chip, id,
                       mul(ir_interval(p, chip, e->arg[0]), ir_interval(p, chip, e->arg[1])));
    case IR_E_CHIP: {
        int64_t v = ir_chip_value(chip, (IrChipFact)e->of.fact);
        return (IrInterval){v, v};
    }
    case IR_E_CORE_ID: return (IrInterval){0, INT64_MAX};
    case IR_E_VECTOR_ID: return (IrInterval){0, 1};
    case IR_E_NUM_CORES: return (IrInterval){1, INT64_MAX};
    case IR_E_LIST_LEN:
    case IR_E_LIST_SIZE: return (IrInterval){0, INT64_MAX};
    case IR_E_NEG: return negate(ir_interval(p, chip, e->arg[0]));
    case IR_E_SELECT: return join(ir_interval(p, chip, e->arg[1]), ir_interval(p, chip, e->arg[2]));
    default: break;
    }
    if (e->type != DT_I64 || ir_expr_rows[e->op].arity != 2)
        return (IrInterval){INT64_MIN, INT64_MAX};
    return interval_of_binary(e->op, ir_interval(p, chip, e->arg[0]),
                              ir_interval(p, chip, e->arg[1]));
}

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a < 0 ? (a == INT64_MIN ? 1 : -a) : a;
}

int64_t ir_multiple(const IrProgram *p, const NpuChip *chip, IrExprId id)
{
    const IrExpr *e = &p->exprs.at[id];
    int64_t a, b, product;
    switch (e->op) {
    case IR_E_INT: return gcd(e->of.i, 0);
    case IR_E_VAR: return p->vars.at[e->of.var].multiple;
    case IR_E_CHIP: return ir_chip_value(chip, (IrChipFact)e->of.fact);
    case IR_E_NEG: return ir_multiple(p, chip, e->arg[0]);
    case IR_E_ADD:
    case IR_E_SUB:
    case IR_E_MIN:
    case IR_E_MAX: return gcd(ir_multiple(p, chip, e->arg[0]), ir_multiple(p, chip, e->arg[1]));
    case IR_E_SELECT: return gcd(ir_multiple(p, chip, e->arg[1]), ir_multiple(p, chip, e->arg[2]));
    case IR_E_MUL:
        a = ir_multiple(p, chip, e->arg[0]);
        b = ir_multiple(p, chip, e->arg[1]);
        return __builtin_mul_overflow(a, b, &product) ? (a > b ? a : b) : product;
    case IR_E_ALIGN_UP:
    case IR_E_ALIGN_DOWN: return ir_multiple(p, chip, e->arg[1]);
    case IR_E_FLOORDIV:
    case IR_E_CEILDIV:
        a = ir_multiple(p, chip, e->arg[0]);
        return ir_is_int(p, e->arg[1], &b) && b > 0 && a % b == 0 ? a / b : 1;
    default: return 1;
    }
}

/* ---- annotation ---- */

typedef struct Annotator {
    IrProgram *p;
    const NpuChip *chip;
    uint32_t *assigns;
    bool *seen; /* variables that have got a first range */
} Annotator;

static void count_block(const IrProgram *p, const IrBlock *block, uint32_t *count)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &p->stmts.at[block->at[i]];
        if (s->var)
            count[s->var]++;
        count_block(p, &s->body, count);
        count_block(p, &s->orelse, count);
    }
}

uint32_t *ir_count_assigns(const IrProgram *p, Arena *arena)
{
    uint32_t *count = arena_array(arena, uint32_t, p->vars.len);
    count_block(p, &p->host, count);
    for (uint32_t i = 0; i < p->kernels.len; i++)
        count_block(p, &p->kernels.at[i].body, count);
    return count;
}

static void widen(Annotator *an, IrVarId var, IrInterval range, int64_t multiple)
{
    IrVar *v = &an->p->vars.at[var];
    if (v->type != DT_I64)
        return;
    if (range.hi < range.lo) /* of a loop that never runs: any value will do */
        range.hi = range.lo;
    if (an->seen[var]) {
        range = join((IrInterval){v->lo, v->hi}, range);
        multiple = gcd(v->multiple, multiple);
    }
    an->seen[var] = true;
    v->lo = range.lo;
    v->hi = range.hi;
    v->multiple = multiple ? multiple : INT64_C(1) << 40; /* always 0: a multiple of all */
}

static void widen_by(Annotator *an, IrVarId var, IrExprId value)
{
    widen(an, var, ir_interval(an->p, an->chip, value), ir_multiple(an->p, an->chip, value));
}

static int64_t multiple_or(Annotator *an, IrExprId e, int64_t otherwise)
{
    return e ? ir_multiple(an->p, an->chip, e) : otherwise;
}

static void annotate_axis(Annotator *an, const IrAxis *a)
{
    IrInterval lo = ir_interval(an->p, an->chip, a->lo), hi = ir_interval(an->p, an->chip, a->hi);
    int64_t m_lo = multiple_or(an, a->lo, 0);
    int64_t last = open_hi(hi) ? INT64_MAX : hi.hi - 1;
    IrInterval start = {lo.lo, last};
    if (!a->tile) {
        widen(an, a->range.start, start, a->step ? gcd(m_lo, multiple_or(an, a->step, 1)) : 1);
        return;
    }
    int64_t m_tile = multiple_or(an, a->tile, 1);
    IrInterval tile = ir_interval(an->p, an->chip, a->tile);
    int64_t longest = add_intervals(hi, negate(lo)).hi;
    widen(an, a->range.start, start, gcd(m_lo, m_tile));
    widen(an, a->range.size, (IrInterval){1, tile.hi < longest ? tile.hi : longest},
          gcd(gcd(m_lo, m_tile), multiple_or(an, a->hi, 1)));
    if (a->range.index)
        widen(an, a->range.index, (IrInterval){0, last}, 1);
}

static void annotate_share(Annotator *an, const IrStmt *s)
{
    IrInterval n = ir_interval(an->p, an->chip, s->axes[0].hi);
    int64_t align = ir_multiple(an->p, an->chip, s->align);
    int64_t m = ir_multiple(an->p, an->chip, s->axes[0].hi);
    widen(an, s->axes[0].range.start, (IrInterval){0, n.hi}, gcd(align, m));
    widen(an, s->axes[0].range.size, (IrInterval){0, n.hi}, gcd(align, m));
}

static void annotate_list_loop(Annotator *an, const IrStmt *s)
{
    IrInterval any = {0, INT64_MAX}, tile = ir_interval(an->p, an->chip, s->axes[1].tile);
    widen(an, s->axes[0].range.start, any, 1);
    widen(an, s->axes[1].range.start, any, ir_multiple(an->p, an->chip, s->axes[1].tile));
    widen(an, s->axes[1].range.size, (IrInterval){1, tile.hi}, 1);
    if (s->axes[1].range.index)
        widen(an, s->axes[1].range.index, any, 1);
}

static void annotate_launch(Annotator *an, const IrStmt *s)
{
    const IrKernel *k = &an->p->kernels.at[s->kernel];
    for (uint32_t i = 0; i < k->params.len && i < s->args.len; i++)
        if (!k->params.at[i].is_tensor && !s->args.at[i].is_tensor)
            widen_by(an, an->p->exprs.at[k->params.at[i].value].of.var, s->args.at[i].value);
}

static void annotate_block(Annotator *an, const IrBlock *block)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &an->p->stmts.at[block->at[i]];
        if (s->kind == IR_S_ASSIGN && an->p->vars.at[s->var].type == DT_I64) {
            IrVarKind kind = an->p->vars.at[s->var].kind;
            if (kind == IR_VAR_HOST || an->assigns[s->var] == 1)
                widen_by(an, s->var, s->value);
        } else if (s->kind == IR_S_FOR && s->loop == IR_LOOP_MINE_LIST) {
            annotate_list_loop(an, s);
        } else if (s->kind == IR_S_FOR) {
            for (uint32_t a = 0; a < s->axis_count; a++)
                annotate_axis(an, &s->axes[a]);
        } else if (s->kind == IR_S_SHARE) {
            annotate_share(an, s);
        } else if (s->kind == IR_S_LAUNCH) {
            annotate_launch(an, s);
        }
        annotate_block(an, &s->body);
        annotate_block(an, &s->orelse);
    }
}

static void annotate_choices(Annotator *an)
{
    for (uint32_t i = 1; i < an->p->vars.len; i++) {
        const IrVar *v = &an->p->vars.at[i];
        if (v->kind == IR_VAR_CHOICE)
            for (uint32_t c = 0; c < v->choices.len; c++)
                widen(an, i, (IrInterval){v->choices.at[c], v->choices.at[c]},
                      gcd(v->choices.at[c], 0));
    }
}

static void annotate(IrProgram *p, const NpuChip *chip)
{
    Arena scratch = {0};
    Annotator an = {.p = p,
                    .chip = chip,
                    .assigns = ir_count_assigns(p, &scratch),
                    .seen = arena_array(&scratch, bool, p->vars.len)};
    annotate_choices(&an);
    annotate_block(&an, &p->host);
    for (uint32_t i = 0; i < p->kernels.len; i++)
        annotate_block(&an, &p->kernels.at[i].body);
    arena_drop(&scratch);
}

void ir_annotate(IrProgram *p, const NpuChip *chip)
{
    p->bounds.len = 0;
    annotate(p, chip);
}

void ir_annotate_launched(IrProgram *p, const NpuChip *chip)
{
    ir_annotate(p, chip);
    ir_find_bounds(p, chip);
    if (p->bounds.len)
        annotate(p, chip);
}
