/* Scalar expressions of kernels as steps over slots, with the meaning that their C++ text has.
 * In: expressions of the program. Out: steps; values. What no statement of the kernel changes is
 * worked out once when a core starts. */
#include "emit/sim_int.h"

#include "ir/range.h"
#include <math.h>
#include <string.h>

/* ---- compiling ---- */

static uint32_t new_slot(SimBuilder *b) { return b->out->slots++; }

static void add_step(SimBuilder *b, SimOp op, uint32_t dst, uint32_t a, uint32_t c)
{
    SimStep s = {(uint16_t)op, dst, a, c};
    if (b->hoisting)
        vec_push(b->arena, &b->out->setup, s);
    else
        vec_push(b->arena, &b->out->code, s);
}

/* The next step to be added, and one that was. */
static uint32_t next_step(const SimBuilder *b)
{
    return b->hoisting ? b->out->setup.len : b->out->code.len;
}

static SimStep *step_at(SimBuilder *b, uint32_t at)
{
    return b->hoisting ? &b->out->setup.at[at] : &b->out->code.at[at];
}

static uint32_t constant(SimBuilder *b, SimValue v)
{
    SimConstant c = {new_slot(b), v};
    vec_push(b->arena, &b->out->constants, c);
    return c.slot;
}

static bool is_float(const SimBuilder *b, IrExprId e)
{
    return b->p->ir->exprs.at[e].type == DT_F32;
}

/* Divides, unless by a number: such a step may trap, so it stays where it is written. */
static bool may_trap(const SimBuilder *b, const IrExpr *x)
{
    int64_t by;
    bool divides = x->op == IR_E_FLOORDIV || x->op == IR_E_MOD || x->op == IR_E_CEILDIV ||
                   x->op == IR_E_ALIGN_UP || x->op == IR_E_ALIGN_DOWN;
    return divides && !(ir_is_int(b->p->ir, x->arg[1], &by) && by > 0);
}

static bool is_invariant(const SimBuilder *b, IrExprId e)
{
    const IrExpr *x = &b->p->ir->exprs.at[e];
    if (x->op == IR_E_VAR)
        return !b->written[x->of.var];
    if (may_trap(b, x))
        return false;
    for (int i = 0; i < ir_expr_rows[x->op].arity; i++)
        if (!is_invariant(b, x->arg[i]))
            return false;
    return true;
}

static uint32_t build(SimBuilder *b, IrExprId e);

static bool not_negative(const SimBuilder *b, const IrExpr *x)
{
    return ir_interval(b->p->ir, b->p->chip, x->arg[0]).lo >= 0 &&
           ir_interval(b->p->ir, b->p->chip, x->arg[1]).lo >= 0;
}

/* a and b, a or b, b if a else c: what is not needed is not worked out. */
static uint32_t build_branch(SimBuilder *b, const IrExpr *x)
{
    uint32_t dst = new_slot(b), cond = build(b, x->arg[0]);
    bool select = x->op == IR_E_SELECT;
    IrExprId yes = select ? x->arg[1] : x->op == IR_E_AND ? x->arg[1] : 0;
    IrExprId no = select ? x->arg[2] : x->op == IR_E_OR ? x->arg[1] : 0;
    uint32_t test = next_step(b);
    add_step(b, SOP_JUMP_IF_NOT, 0, cond, 0);
    add_step(b, SOP_MOVE, dst, yes ? build(b, yes) : constant(b, (SimValue){.i = 1}), 0);
    uint32_t end = next_step(b);
    add_step(b, SOP_JUMP, 0, 0, 0);
    step_at(b, test)->dst = next_step(b);
    add_step(b, SOP_MOVE, dst, no ? build(b, no) : constant(b, (SimValue){.i = 0}), 0);
    step_at(b, end)->dst = next_step(b);
    return dst;
}

static SimOp integer_op(const SimBuilder *b, const IrExpr *x)
{
    switch (x->op) {
    case IR_E_ADD: return SOP_ADD;
    case IR_E_SUB: return SOP_SUB;
    case IR_E_MUL: return SOP_MUL;
    case IR_E_FLOORDIV: return not_negative(b, x) ? SOP_DIV : SOP_FLOORDIV;
    case IR_E_MOD: return not_negative(b, x) ? SOP_REM : SOP_MOD;
    case IR_E_CEILDIV: return SOP_CEILDIV;
    case IR_E_ALIGN_UP: return SOP_ALIGN_UP;
    case IR_E_ALIGN_DOWN: return SOP_ALIGN_DOWN;
    case IR_E_MIN: return SOP_MIN;
    case IR_E_MAX: return SOP_MAX;
    case IR_E_NEG: return SOP_NEG;
    case IR_E_ABS: return SOP_ABS;
    case IR_E_NOT: return SOP_NOT;
    case IR_E_EQ: return SOP_EQ;
    case IR_E_NE: return SOP_NE;
    case IR_E_LT: return SOP_LT;
    case IR_E_LE: return SOP_LE;
    case IR_E_GT: return SOP_GT;
    case IR_E_GE: return SOP_GE;
    default: return SOP_DIV;
    }
}

static SimOp float_op(IrExprOp op)
{
    switch (op) {
    case IR_E_ADD: return SOP_FADD;
    case IR_E_SUB: return SOP_FSUB;
    case IR_E_MUL: return SOP_FMUL;
    case IR_E_DIV: return SOP_FDIV;
    case IR_E_MIN: return SOP_FMIN;
    case IR_E_MAX: return SOP_FMAX;
    case IR_E_NEG: return SOP_FNEG;
    case IR_E_ABS: return SOP_FABS;
    case IR_E_SQRT: return SOP_FSQRT;
    case IR_E_EXP: return SOP_FEXP;
    case IR_E_LOG: return SOP_FLOG;
    case IR_E_EQ: return SOP_FEQ;
    case IR_E_NE: return SOP_FNE;
    case IR_E_LT: return SOP_FLT;
    case IR_E_LE: return SOP_FLE;
    case IR_E_GT: return SOP_FGT;
    case IR_E_GE: return SOP_FGE;
    default: return SOP_FADD;
    }
}

static uint32_t as_float(SimBuilder *b, uint32_t slot, bool already)
{
    if (already)
        return slot;
    uint32_t dst = new_slot(b);
    add_step(b, SOP_TO_F32, dst, slot, 0);
    return dst;
}

static uint32_t build_operator(SimBuilder *b, const IrExpr *x)
{
    int arity = ir_expr_rows[x->op].arity;
    uint32_t l = build(b, x->arg[0]), r = arity > 1 ? build(b, x->arg[1]) : 0;
    bool fl = is_float(b, x->arg[0]), fr = arity > 1 && is_float(b, x->arg[1]);
    uint32_t dst = new_slot(b);
    if (x->op == IR_E_TO_F32 || x->op == IR_E_TO_I64) {
        bool same = fl == (x->op == IR_E_TO_F32);
        add_step(b, same ? SOP_MOVE : fl ? SOP_TO_I64 : SOP_TO_F32, dst, l, 0);
    } else if (fl || fr || x->type == DT_F32) {
        l = as_float(b, l, fl);
        r = arity > 1 ? as_float(b, r, fr) : 0;
        add_step(b, float_op(x->op), dst, l, r);
    } else {
        add_step(b, integer_op(b, x), dst, l, r);
    }
    return dst;
}

static uint32_t build_leaf(SimBuilder *b, const IrExpr *x)
{
    uint32_t dst;
    switch (x->op) {
    case IR_E_INT:
    case IR_E_BOOL: return constant(b, (SimValue){.i = x->of.i});
    case IR_E_FLOAT: return constant(b, (SimValue){.f = (float)x->of.f});
    case IR_E_VAR: return x->of.var;
    case IR_E_CHIP:
        return constant(b, (SimValue){.i = ir_chip_value(b->p->chip, (IrChipFact)x->of.fact)});
    case IR_E_NUM_CORES:
        if (b->k->cores)
            return b->k->cores;
        dst = new_slot(b);
        add_step(b, SOP_NUM_CORES, dst, 0, 0);
        return dst;
    case IR_E_VECTOR_ID:
        dst = new_slot(b);
        add_step(b, SOP_VECTOR_ID, dst, 0, 0);
        return dst;
    case IR_E_CORE_ID:
        dst = new_slot(b);
        add_step(b, SOP_CORE_ID, dst, 0, 0);
        return dst;
    default: /* lists, and what only the host has */ b->failed = true; return 0;
    }
}

static uint32_t build_here(SimBuilder *b, const IrExpr *x)
{
    if (x->op == IR_E_AND || x->op == IR_E_OR || x->op == IR_E_SELECT)
        return build_branch(b, x);
    return ir_expr_rows[x->op].arity && x->op != IR_E_LIST_SIZE ? build_operator(b, x)
                                                                : build_leaf(b, x);
}

/* What stays the same is worked out at the start. Inside such an expression nothing is shared: a
 * part may stand behind a condition. */
static uint32_t build(SimBuilder *b, IrExprId e)
{
    const IrExpr *x = &b->p->ir->exprs.at[e];
    if (b->made[e].given)
        return b->made[e].slot;
    bool hoist = !b->hoisting && is_invariant(b, e);
    b->hoisting = b->hoisting || hoist;
    uint32_t slot = build_here(b, x);
    if (hoist) {
        b->hoisting = false;
        b->made[e] = (SimExpr){.slot = slot, .given = true, .is_float = is_float(b, e)};
    }
    return slot;
}

SimExpr esim_build_expr(SimBuilder *b, IrExprId e)
{
    if (!e)
        return (SimExpr){0};
    SimExpr made = {.from = b->out->code.len, .given = true, .is_float = is_float(b, e)};
    made.slot = build(b, e);
    made.to = b->out->code.len;
    return made;
}

/* ---- running ---- */

static int64_t wrap_mul(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }
static int64_t wrap_add(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
static int64_t wrap_sub(int64_t a, int64_t b) { return (int64_t)((uint64_t)a - (uint64_t)b); }

/* The device does not trap; the twin goes on with zero and says so, which is left to it. */
static int64_t divide(SimCoreRun *c, int64_t a, int64_t b, int64_t *rest)
{
    if (b == 0 || (b == -1 && a == INT64_MIN)) {
        c->state = b == 0 ? CORE_TRAPPED : c->state;
        *rest = b == 0 ? a : 0;
        return b == 0 ? 0 : a;
    }
    *rest = a % b;
    return a / b;
}

static int64_t divided(SimCoreRun *c, SimOp op, int64_t a, int64_t b)
{
    int64_t rest, up = wrap_sub(wrap_add(a, b), 1);
    bool rounds_up = op == SOP_CEILDIV || op == SOP_ALIGN_UP;
    int64_t q = divide(c, rounds_up ? up : a, b, &rest);
    switch (op) {
    case SOP_REM: return rest;
    case SOP_FLOORDIV: return q - (rest != 0 && (a < 0) != (b < 0));
    case SOP_MOD: return divide(c, wrap_add(rest, b), b, &rest), rest;
    case SOP_ALIGN_UP:
    case SOP_ALIGN_DOWN: return wrap_mul(q, b);
    default: return q;
    }
}

/* Converts as the instruction cvttss2si does: a value that does not fit becomes the least
 * integer. */
static int64_t float_to_i64(float f)
{
    return f >= -9223372036854775808.0f && f < 9223372036854775808.0f ? (int64_t)f : INT64_MIN;
}

static int32_t float_to_i32(float f)
{
    return f >= -2147483648.0f && f < 2147483648.0f ? (int32_t)f : INT32_MIN;
}

void esim_run_steps(SimCoreRun *c, const SimStep *code, uint32_t from, uint32_t to)
{
    SimValue *v = c->slots;
    for (uint32_t at = from; at < to; at++) {
        const SimStep *s = &code[at];
        SimValue a = v[s->a], b = v[s->b], *d = &v[s->dst];
        switch ((SimOp)s->op) {
        case SOP_MOVE: *d = a; break;
        case SOP_JUMP: at = s->dst - 1; break;
        case SOP_JUMP_IF_NOT: at = a.i ? at : s->dst - 1; break;
        case SOP_ADD: d->i = wrap_add(a.i, b.i); break;
        case SOP_SUB: d->i = wrap_sub(a.i, b.i); break;
        case SOP_MUL: d->i = wrap_mul(a.i, b.i); break;
        case SOP_DIV:
        case SOP_REM:
        case SOP_FLOORDIV:
        case SOP_MOD:
        case SOP_CEILDIV:
        case SOP_ALIGN_UP:
        case SOP_ALIGN_DOWN: d->i = divided(c, (SimOp)s->op, a.i, b.i); break;
        case SOP_MIN: d->i = a.i < b.i ? a.i : b.i; break;
        case SOP_MAX: d->i = a.i > b.i ? a.i : b.i; break;
        case SOP_NEG: d->i = wrap_sub(0, a.i); break;
        case SOP_ABS: d->i = a.i < 0 ? wrap_sub(0, a.i) : a.i; break;
        case SOP_NOT: d->i = !a.i; break;
        case SOP_EQ: d->i = a.i == b.i; break;
        case SOP_NE: d->i = a.i != b.i; break;
        case SOP_LT: d->i = a.i < b.i; break;
        case SOP_LE: d->i = a.i <= b.i; break;
        case SOP_GT: d->i = a.i > b.i; break;
        case SOP_GE: d->i = a.i >= b.i; break;
        case SOP_FADD: d->f = a.f + b.f; break;
        case SOP_FSUB: d->f = a.f - b.f; break;
        case SOP_FMUL: d->f = a.f * b.f; break;
        case SOP_FDIV: d->f = a.f / b.f; break;
        case SOP_FMIN: d->f = a.f < b.f || a.f != a.f ? a.f : b.f; break;
        case SOP_FMAX: d->f = a.f > b.f || a.f != a.f ? a.f : b.f; break;
        case SOP_FNEG: d->f = -a.f; break;
        case SOP_FABS: d->f = a.f < 0 ? -a.f : a.f; break;
        case SOP_FSQRT: d->f = sqrtf(a.f); break;
        case SOP_FEXP: d->f = expf(a.f); break;
        case SOP_FLOG: d->f = logf(a.f); break;
        case SOP_FEQ: d->i = a.f == b.f; break;
        case SOP_FNE: d->i = a.f != b.f; break;
        case SOP_FLT: d->i = a.f < b.f; break;
        case SOP_FLE: d->i = a.f <= b.f; break;
        case SOP_FGT: d->i = a.f > b.f; break;
        case SOP_FGE: d->i = a.f >= b.f; break;
        case SOP_TO_F32: d->f = (float)a.i; break;
        case SOP_TO_I64: d->i = float_to_i64(a.f); break;
        case SOP_CORE_ID: d->i = esim_block(c, c->kernel->k->source); break;
        case SOP_VECTOR_ID: d->i = c->aic ? 0 : c->number % 2; break;
        case SOP_NUM_CORES: d->i = c->run->tiling.blocks; break;
        }
    }
}

/* ---- conversions ---- */

static uint64_t float_bits(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static int64_t as_integer(SimValue v, bool is_float, DType want)
{
    if (!is_float)
        return v.i;
    bool narrow = want == DT_I32 || want == DT_I16 || want == DT_U16 || want == DT_I8 ||
                  want == DT_U8 || want == DT_BOOL;
    return narrow ? float_to_i32(v.f) : float_to_i64(v.f);
}

uint64_t esim_bits_as(SimValue v, bool is_float, DType want)
{
    switch (want) {
    case DT_F32: return float_bits(is_float ? v.f : (float)v.i);
    case DT_F16: return is_float ? half_from_float(v.f) : half_from_double((double)v.i);
    case DT_BF16: return bf16_from_float(is_float ? v.f : (float)v.i);
    case DT_I64:
    case DT_U64: return (uint64_t)as_integer(v, is_float, want);
    case DT_I32:
    case DT_U32: return (uint32_t)as_integer(v, is_float, want);
    case DT_I16:
    case DT_U16: return (uint16_t)as_integer(v, is_float, want);
    default: return (uint8_t)as_integer(v, is_float, want);
    }
}

SimValue esim_convert(SimValue v, bool is_float, DType want)
{
    if (want == DT_F32)
        return (SimValue){.f = is_float ? v.f : (float)v.i};
    if (want == DT_BOOL && !is_float)
        return (SimValue){.i = v.i != 0};
    return is_float ? (SimValue){.i = float_to_i64(v.f)} : v;
}

static int64_t element_integer(uint64_t bits, DType have)
{
    switch (have) {
    case DT_I8: return (int8_t)bits;
    case DT_I16: return (int16_t)bits;
    case DT_I32: return (int32_t)bits;
    case DT_U16: return (uint16_t)bits;
    case DT_U32: return (uint32_t)bits;
    case DT_I64:
    case DT_U64: return (int64_t)bits;
    default: return (uint8_t)bits;
    }
}

SimValue esim_element_value(uint64_t bits, DType have, DType want)
{
    bool is_float = dtype_is_float(have);
    uint32_t word = (uint32_t)bits;
    SimValue v = {.i = 0};
    if (have == DT_F32)
        memcpy(&v.f, &word, sizeof word);
    else if (have == DT_F16)
        v.f = half_to_float((uint16_t)bits);
    else if (have == DT_BF16)
        v.f = bf16_to_float((uint16_t)bits);
    else
        v.i = element_integer(bits, have);
    if (want == DT_BOOL)
        return (SimValue){.i = is_float ? v.f != 0 : v.i != 0};
    return esim_convert(v, is_float, want);
}
