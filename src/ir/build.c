/* Building tile IR: expressions are folded as they are made, so that what is constant is a
 * constant for everybody after. In: operators and operands. Out: indices into the program. */
#include "ir/ir.h"

#include <math.h>

const IrTileOpRow ir_tile_ops[IR_T_COUNT] = {
#define TILE_OP(id, text, tiles_, scalars_, result_, class_, meaning_) \
    [IR_T_##id] = {text, meaning_, tiles_, scalars_, IR_RESULT_##result_, IR_CLASS_##class_},
#include "ir/tile.def"
#undef TILE_OP
};

const IrExprRow ir_expr_rows[IR_E_COUNT] = {
#define IR_EXPR(id, text, arity_, meaning_) [IR_E_##id] = {text, meaning_, arity_},
#include "ir/expr.def"
#undef IR_EXPR
};

IrProgram *ir_program_new(Arena *arena, const char *name, const char *file)
{
    IrProgram *p = arena_new(arena, IrProgram);
    p->arena = arena;
    p->name = name;
    p->file = file;
    vec_push(arena, &p->exprs, (IrExpr){0});
    vec_push(arena, &p->vars, (IrVar){0});
    vec_push(arena, &p->stmts, (IrStmt){0});
    return p;
}

static IrExprId add_expr(IrProgram *p, IrExpr e)
{
    vec_push(p->arena, &p->exprs, e);
    return p->exprs.len - 1;
}

IrExprId ir_int(IrProgram *p, int64_t value)
{
    return add_expr(p, (IrExpr){.op = IR_E_INT, .type = DT_I64, .of.i = value});
}

IrExprId ir_float(IrProgram *p, double value)
{
    return add_expr(p, (IrExpr){.op = IR_E_FLOAT, .type = DT_F32, .of.f = (double)(float)value});
}

IrExprId ir_bool(IrProgram *p, bool value)
{
    return add_expr(p, (IrExpr){.op = IR_E_BOOL, .type = DT_BOOL, .of.i = value});
}

IrExprId ir_var(IrProgram *p, IrVarId var)
{
    const IrVar *v = &p->vars.at[var];
    if (v->kind == IR_VAR_DIM && v->lo == v->hi)
        return ir_int(p, v->lo);
    return add_expr(p, (IrExpr){.op = IR_E_VAR, .type = v->type, .of.var = var});
}

IrExprId ir_chip(IrProgram *p, IrChipFact fact)
{
    return add_expr(p, (IrExpr){.op = IR_E_CHIP, .type = DT_I64, .of.fact = fact});
}

IrVarId ir_var_new(IrProgram *p, IrVarKind kind, const char *name, DType type)
{
    IrVar v = {
        .name = name, .kind = kind, .type = type, .lo = INT64_MIN, .hi = INT64_MAX, .multiple = 1};
    vec_push(p->arena, &p->vars, v);
    return p->vars.len - 1;
}

IrStmtId ir_stmt_new(IrProgram *p, IrStmtKind kind, Span at)
{
    vec_push(p->arena, &p->stmts, ((IrStmt){.kind = kind, .at = at}));
    return p->stmts.len - 1;
}

bool ir_is_int(const IrProgram *p, IrExprId e, int64_t *value)
{
    if (p->exprs.at[e].op != IR_E_INT)
        return false;
    *value = p->exprs.at[e].of.i;
    return true;
}

static bool same_leaf(const IrExpr *a, const IrExpr *b)
{
    switch (a->op) {
    case IR_E_INT:
    case IR_E_BOOL: return a->of.i == b->of.i;
    case IR_E_FLOAT: return a->of.f == b->of.f && signbit(a->of.f) == signbit(b->of.f);
    case IR_E_VAR: return a->of.var == b->of.var;
    case IR_E_CHIP: return a->of.fact == b->of.fact;
    case IR_E_PRESENT:
    case IR_E_LIST_LEN:
    case IR_E_LIST_SIZE: return a->of.tensor == b->of.tensor;
    default: return true;
    }
}

bool ir_same(const IrProgram *p, IrExprId a, IrExprId b)
{
    if (a == b)
        return true;
    const IrExpr *x = &p->exprs.at[a], *y = &p->exprs.at[b];
    if (x->op != y->op || x->type != y->type || !same_leaf(x, y))
        return false;
    for (int i = 0; i < ir_expr_rows[x->op].arity; i++)
        if (!ir_same(p, x->arg[i], y->arg[i]))
            return false;
    return true;
}

bool ir_tile_is_one(const IrProgram *p, const IrAxis *axis)
{
    int64_t tile;
    return axis->tile && ir_is_int(p, axis->tile, &tile) && tile == 1;
}

IrExprId ir_piece_count(IrProgram *p, const IrAxis *axis)
{
    return ir_expr2(p, IR_E_CEILDIV, ir_expr2(p, IR_E_SUB, axis->hi, axis->lo), axis->tile);
}

bool ir_mentions(const IrProgram *p, IrExprId id, IrVarId var)
{
    const IrExpr *e = &p->exprs.at[id];
    if (e->op == IR_E_VAR)
        return e->of.var == var;
    for (int i = 0; i < ir_expr_rows[e->op].arity; i++)
        if (ir_mentions(p, e->arg[i], var))
            return true;
    return false;
}

int64_t ir_floordiv(int64_t a, int64_t b)
{
    int64_t q = a / b;
    return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

/* False where the result does not exist or does not fit; the expression then stays as it is,
 * and whoever runs it reports the fault. */
bool ir_eval_int(IrExprOp op, int64_t a, int64_t b, int64_t *out)
{
    if ((op == IR_E_FLOORDIV || op == IR_E_MOD || op == IR_E_CEILDIV || op == IR_E_ALIGN_UP ||
         op == IR_E_ALIGN_DOWN) &&
        (b == 0 || (a == INT64_MIN && b == -1)))
        return false;
    switch (op) {
    case IR_E_ADD: return !__builtin_add_overflow(a, b, out);
    case IR_E_SUB: return !__builtin_sub_overflow(a, b, out);
    case IR_E_MUL: return !__builtin_mul_overflow(a, b, out);
    case IR_E_FLOORDIV: *out = ir_floordiv(a, b); return true;
    case IR_E_MOD: return !__builtin_sub_overflow(a, ir_floordiv(a, b) * b, out);
    case IR_E_CEILDIV: *out = ir_floordiv(a, b) + (a % b != 0); return true;
    case IR_E_ALIGN_UP: return !__builtin_mul_overflow(ir_floordiv(a, b) + (a % b != 0), b, out);
    case IR_E_ALIGN_DOWN: return !__builtin_mul_overflow(ir_floordiv(a, b), b, out);
    case IR_E_MIN: *out = a < b ? a : b; return true;
    case IR_E_MAX: *out = a > b ? a : b; return true;
    case IR_E_NEG: return !__builtin_sub_overflow((int64_t)0, a, out);
    case IR_E_ABS: return a != INT64_MIN && (*out = a < 0 ? -a : a, true);
    default: return false;
    }
}

bool ir_compare_int(IrExprOp op, int64_t a, int64_t b)
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

bool ir_is_compare(IrExprOp op) { return op >= IR_E_EQ && op <= IR_E_GE; }

static DType result_type(const IrProgram *p, IrExprOp op, IrExprId a, IrExprId b)
{
    if (ir_is_compare(op) || op == IR_E_AND || op == IR_E_OR || op == IR_E_NOT)
        return DT_BOOL;
    if (op == IR_E_TO_F32 || op == IR_E_SQRT || op == IR_E_EXP || op == IR_E_LOG)
        return DT_F32;
    if (op == IR_E_TO_I64 || op == IR_E_LIST_SIZE)
        return DT_I64;
    return p->exprs.at[op == IR_E_SELECT ? b : a].type;
}

static bool is_const(const IrProgram *p, IrExprId e, int64_t value)
{
    int64_t v;
    return ir_is_int(p, e, &v) && v == value;
}

/* x + 0, x * 1, x // 1, ...: the operand that is the whole result, or 0. */
static IrExprId identity(const IrProgram *p, IrExprOp op, IrExprId a, IrExprId b)
{
    switch (op) {
    case IR_E_ADD: return is_const(p, a, 0) ? b : is_const(p, b, 0) ? a : 0;
    case IR_E_SUB: return is_const(p, b, 0) ? a : 0;
    case IR_E_MUL:
        if (is_const(p, a, 0) || is_const(p, b, 1))
            return a;
        return is_const(p, b, 0) || is_const(p, a, 1) ? b : 0;
    case IR_E_FLOORDIV:
    case IR_E_CEILDIV:
    case IR_E_ALIGN_UP:
    case IR_E_ALIGN_DOWN: return is_const(p, b, 1) ? a : 0;
    case IR_E_MIN:
    case IR_E_MAX: return p->exprs.at[a].type == DT_I64 && ir_same(p, a, b) ? a : 0;
    default: return 0;
    }
}

static IrExprId fold_bool(IrProgram *p, IrExprOp op, IrExprId a, IrExprId b)
{
    const IrExpr *x = &p->exprs.at[a], *y = &p->exprs.at[b];
    if (op == IR_E_NOT && x->op == IR_E_BOOL)
        return ir_bool(p, !x->of.i);
    if (op != IR_E_AND && op != IR_E_OR)
        return 0;
    bool decides = op == IR_E_OR;
    if (x->op == IR_E_BOOL)
        return (bool)x->of.i == decides ? a : b;
    if (y->op == IR_E_BOOL)
        return (bool)y->of.i == decides ? b : a;
    return 0;
}

static IrExprId fold(IrProgram *p, IrExprOp op, IrExprId a, IrExprId b)
{
    const IrExpr *x = &p->exprs.at[a], *y = &p->exprs.at[b];
    int arity = ir_expr_rows[op].arity;
    if (x->op == IR_E_INT && (arity == 1 || y->op == IR_E_INT)) {
        int64_t value;
        if (op == IR_E_TO_F32)
            return ir_float(p, (double)x->of.i);
        if (ir_is_compare(op))
            return ir_bool(p, ir_compare_int(op, x->of.i, y->of.i));
        return ir_eval_int(op, x->of.i, y->of.i, &value) ? ir_int(p, value) : 0;
    }
    if (op == IR_E_NEG && x->op == IR_E_FLOAT)
        return ir_float(p, -x->of.f);
    if (x->type == DT_BOOL)
        return fold_bool(p, op, a, b);
    return arity == 2 ? identity(p, op, a, b) : 0;
}

static IrExprId make(IrProgram *p, IrExprOp op, IrExprId a, IrExprId b, IrExprId c)
{
    return add_expr(p, (IrExpr){.op = op, .type = result_type(p, op, a, b), .arg = {a, b, c}});
}

IrExprId ir_expr1(IrProgram *p, IrExprOp op, IrExprId a)
{
    IrExprId folded = fold(p, op, a, 0);
    return folded ? folded : make(p, op, a, 0, 0);
}

IrExprId ir_expr2(IrProgram *p, IrExprOp op, IrExprId a, IrExprId b)
{
    IrExprId folded = fold(p, op, a, b);
    return folded ? folded : make(p, op, a, b, 0);
}

IrExprId ir_expr3(IrProgram *p, IrExprOp op, IrExprId a, IrExprId b, IrExprId c)
{
    const IrExpr *cond = &p->exprs.at[a];
    if (op == IR_E_SELECT && cond->op == IR_E_BOOL)
        return cond->of.i ? b : c;
    return make(p, op, a, b, c);
}

IrExprId ir_leaf(IrProgram *p, IrExprOp op, uint32_t tensor, IrExprId index)
{
    DType type = op == IR_E_PRESENT ? DT_BOOL : DT_I64;
    return add_expr(p, (IrExpr){.op = op, .type = type, .of.tensor = tensor, .arg = {index}});
}
