/* The host function, run. In: shapes and settings. Out: launches with their scalars. */
#include "ir/host.h"

#include "ir/range.h"
#include <math.h>

static IrScalar of_int(int64_t i) { return (IrScalar){.type = DT_I64, .i = i}; }
static IrScalar of_bool(bool b) { return (IrScalar){.type = DT_BOOL, .i = b}; }
static IrScalar of_float(double f) { return (IrScalar){.type = DT_F32, .f = (float)f}; }

/* ---- expressions ---- */

static bool eval_float(IrExprOp op, float a, float b, IrScalar *out)
{
    switch (op) {
    case IR_E_ADD: *out = of_float((double)(a + b)); return true;
    case IR_E_SUB: *out = of_float((double)(a - b)); return true;
    case IR_E_MUL: *out = of_float((double)(a * b)); return true;
    case IR_E_DIV: *out = of_float((double)(a / b)); return true;
    case IR_E_MIN: *out = of_float((double)(a < b || isnan(a) ? a : b)); return true;
    case IR_E_MAX: *out = of_float((double)(a > b || isnan(a) ? a : b)); return true;
    case IR_E_NEG: *out = of_float(-(double)a); return true;
    case IR_E_ABS: *out = of_float(fabs((double)a)); return true;
    case IR_E_SQRT: *out = of_float(sqrt((double)a)); return true;
    case IR_E_EXP: *out = of_float(exp((double)a)); return true;
    case IR_E_LOG: *out = of_float(log((double)a)); return true;
    case IR_E_EQ: *out = of_bool(a == b); return true;
    case IR_E_NE: *out = of_bool(a != b); return true;
    case IR_E_LT: *out = of_bool(a < b); return true;
    case IR_E_LE: *out = of_bool(a <= b); return true;
    case IR_E_GT: *out = of_bool(a > b); return true;
    case IR_E_GE: *out = of_bool(a >= b); return true;
    case IR_E_TO_I64:
        if (!(fabsf(a) < 9.0e18f))
            return false;
        *out = of_int((int64_t)a);
        return true;
    default: return false;
    }
}

static bool eval_logic(IrExprOp op, bool a, bool b, IrScalar *out)
{
    switch (op) {
    case IR_E_AND: *out = of_bool(a && b); return true;
    case IR_E_OR: *out = of_bool(a || b); return true;
    case IR_E_NOT: *out = of_bool(!a); return true;
    case IR_E_EQ: *out = of_bool(a == b); return true;
    case IR_E_NE: *out = of_bool(a != b); return true;
    default: return false;
    }
}

static bool eval_op(IrExprOp op, IrScalar a, IrScalar b, IrScalar *out)
{
    if (a.type == DT_F32)
        return eval_float(op, a.f, b.f, out);
    if (a.type == DT_BOOL)
        return eval_logic(op, a.i, b.i, out);
    if (op == IR_E_TO_F32) {
        *out = of_float((double)a.i);
        return true;
    }
    if (ir_is_compare(op)) {
        *out = of_bool(ir_compare_int(op, a.i, b.i));
        return true;
    }
    out->type = DT_I64;
    return ir_eval_int(op, a.i, b.i, &out->i);
}

static bool eval_leaf(const IrHostRun *run, const IrExpr *e, IrScalar *out)
{
    const IrShape *shapes = run->input->operands;
    IrScalar index;
    switch (e->op) {
    case IR_E_INT: *out = of_int(e->of.i); return true;
    case IR_E_FLOAT: *out = of_float(e->of.f); return true;
    case IR_E_BOOL: *out = of_bool(e->of.i); return true;
    case IR_E_CHIP: *out = of_int(ir_chip_value(run->chip, (IrChipFact)e->of.fact)); return true;
    case IR_E_VAR: *out = run->vars[e->of.var]; return run->known[e->of.var];
    case IR_E_PRESENT: *out = of_bool(!shapes[e->of.tensor].absent); return true;
    case IR_E_LIST_LEN: *out = of_int(shapes[e->of.tensor].list_len); return true;
    case IR_E_LIST_SIZE:
        if (!ir_host_eval(run, e->arg[0], &index) || index.i < 0 ||
            index.i >= shapes[e->of.tensor].list_len)
            return false;
        *out = of_int(shapes[e->of.tensor].list_sizes[index.i]);
        return true;
    default: return false;
    }
}

bool ir_host_eval(const IrHostRun *run, IrExprId id, IrScalar *out)
{
    const IrExpr *e = &run->p->exprs.at[id];
    int arity = ir_expr_rows[e->op].arity;
    IrScalar v[3] = {0};
    *out = (IrScalar){0};
    if (arity == 0 || e->op == IR_E_LIST_SIZE)
        return eval_leaf(run, e, out);
    if (e->op == IR_E_SELECT)
        return ir_host_eval(run, e->arg[0], &v[0]) &&
               ir_host_eval(run, e->arg[v[0].i ? 1 : 2], out);
    for (int i = 0; i < arity; i++)
        if (!ir_host_eval(run, e->arg[i], &v[i]))
            return false;
    return eval_op(e->op, v[0], v[1], out);
}

/* ---- binding sizes, attributes, choices ---- */

static void set_var(IrHostRun *run, IrVarId var, IrScalar value)
{
    run->vars[var] = value;
    run->known[var] = true;
}

static bool check_dim(const IrHostRun *run, IrVarId var, int64_t size, const char *tensor,
                      Diag *diag)
{
    const IrVar *v = &run->p->vars.at[var];
    if (size >= v->lo && size <= v->hi && size % v->multiple == 0)
        return true;
    diag_error(diag, "H001", v->at, "%s = %lld of '%s' is outside its range %lld..%lld%s", v->name,
               (long long)size, tensor, (long long)v->lo, (long long)v->hi,
               v->multiple > 1 ? " or not a multiple as declared" : "");
    return false;
}

/* First the axes that are a size by themselves, so that the others can be computed. */
static bool bind_dims(IrHostRun *run, Diag *diag)
{
    const IrProgram *p = run->p;
    for (uint32_t t = 0; t < p->operand_count; t++) {
        const IrTensor *tensor = &p->tensors.at[t];
        const IrShape *shape = &run->input->operands[t];
        if (shape->absent || tensor->role == IR_ROLE_IN_LIST || tensor->role == IR_ROLE_OUT_LIST)
            continue;
        if (shape->rank != tensor->rank) {
            diag_error(diag, "H002", tensor->at, "'%s' has %u dimensions, %u were given",
                       tensor->name, tensor->rank, shape->rank);
            return false;
        }
        for (uint32_t i = 0; i < tensor->rank; i++) {
            const IrExpr *e = &p->exprs.at[tensor->shape[i]];
            if (e->op != IR_E_VAR || run->known[e->of.var])
                continue;
            if (!check_dim(run, e->of.var, shape->dim[i], tensor->name, diag))
                return false;
            set_var(run, e->of.var, of_int(shape->dim[i]));
        }
    }
    return true;
}

static bool check_shapes(const IrHostRun *run, Diag *diag)
{
    const IrProgram *p = run->p;
    for (uint32_t t = 0; t < p->operand_count; t++) {
        const IrTensor *tensor = &p->tensors.at[t];
        const IrShape *shape = &run->input->operands[t];
        bool list = tensor->role == IR_ROLE_IN_LIST || tensor->role == IR_ROLE_OUT_LIST;
        for (uint32_t i = 0; i < tensor->rank && !shape->absent && !list; i++) {
            IrScalar want;
            if (!ir_host_eval(run, tensor->shape[i], &want) || want.i != shape->dim[i]) {
                diag_error(diag, "H003", tensor->at,
                           "axis %u of '%s' has %lld elements, %lld were "
                           "expected",
                           i, tensor->name, (long long)shape->dim[i], (long long)want.i);
                return false;
            }
        }
    }
    return true;
}

static const IrSetting *setting(const IrHostInput *in, const char *name)
{
    for (uint32_t i = 0; i < in->setting_count; i++)
        if (str_is(str_from(name), in->settings[i].name))
            return &in->settings[i];
    return NULL;
}

static bool bind_settings(IrHostRun *run, Diag *diag)
{
    const IrProgram *p = run->p;
    for (uint32_t i = 1; i < p->vars.len; i++) {
        const IrVar *v = &p->vars.at[i];
        if (v->kind != IR_VAR_ATTR && v->kind != IR_VAR_CHOICE)
            continue;
        const IrSetting *s = setting(run->input, v->name);
        IrScalar value = {.type = v->type};
        if (s)
            value = v->type == DT_F32 ? of_float(s->value) : of_int((int64_t)s->value);
        else if (v->kind == IR_VAR_CHOICE)
            value = of_int(v->choices.at[0]);
        else if (!v->value || !ir_host_eval(run, v->value, &value)) {
            diag_error(diag, "H004", v->at, "attribute '%s' has no default and was not given",
                       v->name);
            return false;
        }
        value.type = v->type;
        set_var(run, i, value);
    }
    return true;
}

/* ---- statements ---- */

static bool no_value(const IrStmt *s, Diag *diag)
{
    diag_error(diag, "H005", s->at, "this has no value for the given shapes");
    return false;
}

static bool launch(Arena *arena, IrHostRun *run, IrStmtId id, const IrStmt *s, Diag *diag)
{
    IrHostLaunch l = {.stmt = id, .args = arena_array(arena, IrScalar, s->args.len + 1)};
    IrScalar cores;
    if (!ir_host_eval(run, s->cores, &cores))
        return no_value(s, diag);
    if (cores.i < 1 || cores.i > 65535) {
        diag_error(diag, "H006", s->at, "a launch on %lld cores", (long long)cores.i);
        return false;
    }
    l.cores = cores.i;
    for (uint32_t i = 0; i < s->args.len; i++)
        if (!s->args.at[i].is_tensor && !ir_host_eval(run, s->args.at[i].value, &l.args[i]))
            return no_value(s, diag);
    vec_push(arena, &run->launches, l);
    return true;
}

static bool workspace(IrHostRun *run, const IrStmt *s, Diag *diag)
{
    const IrTensor *t = &run->p->tensors.at[s->tensor];
    for (uint32_t i = 0; i < t->rank; i++) {
        IrScalar size;
        if (!ir_host_eval(run, t->shape[i], &size) || size.i < 0)
            return no_value(s, diag);
        run->workspace[s->tensor][i] = size.i;
    }
    return true;
}

static bool run_block(Arena *arena, IrHostRun *run, const IrBlock *block, Diag *diag)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &run->p->stmts.at[block->at[i]];
        IrScalar v;
        switch (s->kind) {
        case IR_S_ASSIGN:
            if (!ir_host_eval(run, s->value, &v))
                return no_value(s, diag);
            set_var(run, s->var, v);
            break;
        case IR_S_IF:
            if (!ir_host_eval(run, s->cond, &v))
                return no_value(s, diag);
            if (!run_block(arena, run, v.i ? &s->body : &s->orelse, diag))
                return false;
            break;
        case IR_S_ASSERT:
            if (!ir_host_eval(run, s->cond, &v))
                return no_value(s, diag);
            if (!v.i) {
                diag_error(diag, "H007", s->at, "the operator refuses these shapes: %s", s->text);
                return false;
            }
            break;
        case IR_S_WORKSPACE:
            if (!workspace(run, s, diag))
                return false;
            break;
        case IR_S_LAUNCH:
            if (!launch(arena, run, block->at[i], s, diag))
                return false;
            break;
        default: break;
        }
    }
    return true;
}

bool ir_host_run(Arena *arena, const IrProgram *p, const NpuChip *chip, const IrHostInput *input,
                 IrHostRun *run, Diag *diag)
{
    *run = (IrHostRun){.p = p, .chip = chip, .input = input};
    run->vars = arena_array(arena, IrScalar, p->vars.len);
    run->known = arena_array(arena, bool, p->vars.len);
    run->workspace = arena_alloc_array(arena, p->tensors.len + 1, sizeof *run->workspace);
    return bind_dims(run, diag) && bind_settings(run, diag) && check_shapes(run, diag) &&
           run_block(arena, run, &p->host, diag);
}
