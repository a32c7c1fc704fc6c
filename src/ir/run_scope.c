/* Scalars of a run: faults, limits, and the value of an expression where it stands. In: a scope
 * and an expression. Out: its value, or a fault at the current statement. */
#include "ir/run_int.h"

#include "base/meter.h"
#include "ir/range.h"
#include <math.h>

const IrFaultRow ir_fault_rows[IR_FAULT_COUNT] = {
#define PROOF(id, watch_, refuse_, rule_, repair_, ...) [IR_FAULT_##id] = {refuse_, rule_, repair_},
#include "ir/proof.def"
#undef PROOF
#define FAULT(id, code_, rule_, repair_) [IR_FAULT_##id] = {code_, rule_, repair_},
#include "ir/fault.def"
#undef FAULT
};

enum { MAX_FAULTS = 64 };

static bool known_already(const IrRun *io, IrFaultKind kind, Span at)
{
    for (uint32_t i = 0; i < io->faults.len; i++) {
        const IrFault *f = &io->faults.at[i];
        if (f->kind == kind && f->at.line == at.line && f->at.col == at.col)
            return true;
    }
    return false;
}

void run_fault(Scope *s, IrFaultKind kind, Span at, const char *format, ...)
{
    IrRun *io = s->run->io;
    bool goes_on = io->keep_going && io->addresses_only && kind != IR_FAULT_LIMIT;
    if (!s->run->stop && !known_already(io, kind, at) && io->faults.len < MAX_FAULTS) {
        va_list args;
        va_start(args, format);
        IrFault fault = {kind, at, s->kernel, s->core, NULL};
        fault.text = str_vformat(s->run->arena, format, args);
        va_end(args);
        vec_push(s->run->arena, &io->faults, fault);
    }
    io->status = IR_RUN_FAULT;
    s->run->stop |= !goes_on;
}

const char *run_who(const Scope *s)
{
    return s->core < 0 ? "the host" : str_format(&s->run->scratch, "core %lld", (long long)s->core);
}

bool run_work(Scope *s, int64_t elements)
{
    uint64_t most = s->run->io->max_steps ? s->run->io->max_steps : UINT64_C(1) << 32;
    uint64_t steps = 1 + (uint64_t)(elements > 0 ? elements / 16 : 0);
    s->run->steps += steps;
    meter_add(steps);
    if (s->run->steps <= most)
        return !s->run->stop;
    run_fault(s, IR_FAULT_LIMIT, s->at, "%s: more than %llu steps", run_who(s),
              (unsigned long long)most);
    return false;
}

void *run_memory(Scope *s, int64_t bytes)
{
    uint64_t most = s->run->io->max_bytes ? s->run->io->max_bytes : UINT64_C(1) << 32;
    if (bytes < 0 || (uint64_t)bytes > most || s->run->bytes > most - (uint64_t)bytes) {
        run_fault(s, IR_FAULT_LIMIT, s->at, "%s: more than %llu bytes of memory", run_who(s),
                  (unsigned long long)most);
        return NULL;
    }
    s->run->bytes += (uint64_t)bytes;
    return arena_alloc(&s->run->scratch, (size_t)bytes + 1);
}

bool run_unknown(const Scope *s, Scalar v) { return v.data && s->run->io->addresses_only; }

static Scalar int_value(int64_t i) { return (Scalar){.i = i, .set = true}; }
static Scalar float_value(double f) { return (Scalar){.f = (float)f, .set = true}; }

/* What a faulting expression gives when the run goes on: nothing anybody can rely on. */
static Scalar no_value(void) { return (Scalar){.set = true, .data = true}; }

static Scalar eval_int(Scope *s, const IrExpr *e, int64_t a, int64_t b)
{
    int64_t value;
    if (ir_eval_int(e->op, a, b, &value))
        return int_value(value);
    run_fault(s, IR_FAULT_OVERFLOW, e->at.line ? e->at : s->at,
              "%s: %lld %s %lld has no result in 64 bits", run_who(s), (long long)a,
              ir_expr_rows[e->op].text, (long long)b);
    return no_value();
}

static double float_min(double a, double b) { return a != a || b != b ? NAN : a < b ? a : b; }
static double float_max(double a, double b) { return a != a || b != b ? NAN : a > b ? a : b; }

static Scalar eval_float(IrExprOp op, double a, double b)
{
    switch (op) {
    case IR_E_ADD: return float_value(a + b);
    case IR_E_SUB: return float_value(a - b);
    case IR_E_MUL: return float_value(a * b);
    case IR_E_DIV: return float_value(a / b);
    case IR_E_MIN: return float_value(float_min(a, b));
    case IR_E_MAX: return float_value(float_max(a, b));
    case IR_E_NEG: return float_value(-a);
    case IR_E_ABS: return float_value(fabs(a));
    case IR_E_SQRT: return float_value(sqrt(a));
    case IR_E_EXP: return float_value(exp(a));
    case IR_E_LOG: return float_value(log(a));
    default: panic("no float operator: %d", (int)op);
    }
}

static bool compare_float(IrExprOp op, double a, double b)
{
    switch (op) {
    case IR_E_EQ: return a == b;
    case IR_E_NE: return a != b;
    case IR_E_LT: return a < b;
    case IR_E_LE: return a <= b;
    case IR_E_GT: return a > b;
    case IR_E_GE: return a >= b;
    default: panic("not a comparison: %d", (int)op);
    }
}

static int64_t truncate_float(double f)
{
    return f != f ? 0 : f >= 0x1p63 ? INT64_MAX : f < -0x1p63 ? INT64_MIN : (int64_t)f;
}

static Scalar eval_list(Scope *s, const IrExpr *e)
{
    const GmList *list = s->tensors[e->of.tensor];
    if (e->op == IR_E_PRESENT)
        return int_value(list->count > 0);
    if (e->op == IR_E_LIST_LEN)
        return int_value(list->count);
    Scalar index = run_eval(s, e->arg[0]);
    if (run_unknown(s, index))
        return no_value();
    if (index.i < 0 || index.i >= list->count) {
        run_fault(s, IR_FAULT_BOUNDS, s->at, "%s asks for tensor %lld of a list of %u", run_who(s),
                  (long long)index.i, list->count);
        return no_value();
    }
    return int_value(list->items[index.i].count);
}

/* and, or and if look at the second operand only where it counts. */
static Scalar eval_lazy(Scope *s, const IrExpr *e)
{
    Scalar a = run_eval(s, e->arg[0]);
    if (run_unknown(s, a))
        return no_value();
    if (e->op != IR_E_SELECT && (a.i != 0) == (e->op == IR_E_OR))
        return a;
    if (e->op == IR_E_SELECT && s->run->decided)
        decide_side(s, e, a.i != 0);
    Scalar b = run_eval(s, e->arg[e->op == IR_E_SELECT && !a.i ? 2 : 1]);
    b.data |= a.data;
    return b;
}

static Scalar eval_var(Scope *s, const IrExpr *e)
{
    Scalar v = s->vars[e->of.var];
    if (v.set)
        return v;
    run_fault(s, IR_FAULT_SCALAR, e->at.line ? e->at : s->at, "%s uses '%s' before it has a value",
              run_who(s), s->run->p->vars.at[e->of.var].name);
    return no_value();
}

static Scalar eval_strict(Scope *s, const IrExpr *e)
{
    int arity = ir_expr_rows[e->op].arity;
    Scalar a = run_eval(s, e->arg[0]), b = {0}, r;
    if (arity > 1)
        b = run_eval(s, e->arg[1]);
    if (run_unknown(s, a) || run_unknown(s, b))
        return no_value();
    DType type = s->run->p->exprs.at[e->arg[0]].type;
    if (e->op == IR_E_NOT)
        r = int_value(!a.i);
    else if (e->op == IR_E_TO_F32)
        r = float_value((double)a.i), r.f = (float)a.i;
    else if (e->op == IR_E_TO_I64)
        r = int_value(type == DT_F32 ? truncate_float(a.f) : a.i);
    else if (ir_is_compare(e->op))
        r = int_value(type == DT_F32 ? compare_float(e->op, a.f, b.f)
                                     : ir_compare_int(e->op, a.i, b.i));
    else
        r = type == DT_F32 ? eval_float(e->op, a.f, b.f) : eval_int(s, e, a.i, b.i);
    r.data |= a.data || b.data;
    if (s->run->decided)
        decide_expr(s, e, a, b, r);
    return r;
}

Scalar run_eval(Scope *s, IrExprId id)
{
    const IrExpr *e = &s->run->p->exprs.at[id];
    switch (e->op) {
    case IR_E_INT:
    case IR_E_BOOL: return int_value(e->of.i);
    case IR_E_FLOAT: return float_value(e->of.f);
    case IR_E_VAR: return eval_var(s, e);
    case IR_E_CHIP: return int_value(ir_chip_value(s->run->io->chip, (IrChipFact)e->of.fact));
    case IR_E_CORE_ID: return int_value(s->core);
    case IR_E_VECTOR_ID: return int_value(s->vector);
    case IR_E_NUM_CORES: return int_value(s->cores);
    case IR_E_PRESENT:
    case IR_E_LIST_LEN:
    case IR_E_LIST_SIZE: return eval_list(s, e);
    case IR_E_AND:
    case IR_E_OR:
    case IR_E_SELECT: return eval_lazy(s, e);
    default: return eval_strict(s, e);
    }
}

bool run_int(Scope *s, IrExprId e, int64_t *value)
{
    Scalar v = run_eval(s, e);
    *value = v.i;
    return !run_unknown(s, v) && !s->run->stop;
}
