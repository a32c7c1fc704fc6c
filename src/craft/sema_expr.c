/* Any expression to a Value: names, attributes, operators, conditions. What an expression does
 * besides having a value (reading GM, reducing a tile) becomes statements of the current block,
 * in order; a branch that is not executed does nothing. */
#include "craft/sema.h"

#include "craft/fn.h"
#include <math.h>
#include <string.h>

const char *sema_format(Sema *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = str_vformat(s->arena, format, args);
    va_end(args);
    return text;
}

const char *sema_expr_text(Sema *s, IrExprId e)
{
    Buf out = {0};
    const IrKernel *k = !s->in_host && s->kernel < s->ir->kernels.len
                            ? &s->ir->kernels.at[s->kernel]
                            : NULL;
    ir_print_expr(s->ir, k, e, &out);
    if (out.len > 1 && out.at[0] == '(' && out.at[out.len - 1] == ')' && out.len < 200) {
        int depth = 0;
        bool whole = true;
        for (size_t i = 0; i + 1 < out.len; i++) {
            depth += out.at[i] == '(' ? 1 : out.at[i] == ')' ? -1 : 0;
            whole = whole && depth > 0;
        }
        if (whole) {
            out.at[out.len - 1] = '\0';
            memmove(out.at, out.at + 1, out.len - 1);
            out.len -= 2;
        }
    }
    const char *text = str_format(s->arena, "%.*s%s", (int)(out.len < 120 ? out.len : 120),
                                  out.at ? out.at : "", out.len < 120 ? "" : "...");
    buf_free(&out);
    return text;
}

const char *sema_describe(Sema *s, const Value *v)
{
    switch (v->kind) {
    case VAL_SCALAR: return sema_format(s, "a scalar of %s", dtype_name(v->dtype));
    case VAL_TILE:
        if (v->tile->mask)
            return "a mask";
        return v->tile->dtype_known ? sema_format(s, "a tile of %s", dtype_name(v->tile->dtype))
                                    : "a tile";
    case VAL_TENSOR:
        return sema_format(s, "the GM tensor '%s'", sema_tensor(s, v->access.tensor)->name);
    case VAL_REGION:
        return sema_format(s, "a region of '%s'", sema_tensor(s, v->access.tensor)->name);
    case VAL_RANGE: return "a range";
    case VAL_DTYPE: return sema_format(s, "the dtype %s", dtype_name(v->dtype));
    case VAL_STRING: return "a string";
    case VAL_TUPLE: return "a list";
    case VAL_VOID: return "nothing";
    case VAL_BAD: break;
    }
    return "an error";
}

bool sema_step(Sema *s, Span at)
{
    if (s->stopped)
        return false;
    if (++s->steps <= SEMA_MAX_STEPS)
        return true;
    sema_error(s, TOO_LARGE, at, NULL, "the program has more than %d statements after inlining",
               SEMA_MAX_STEPS);
    s->stopped = true;
    return false;
}

/* ---- names ---- */

static Value dtype_value(DType dtype, Span at)
{
    return (Value){.kind = VAL_DTYPE, .dtype = dtype, .at = at};
}

static Value scalar_symbol(Sema *s, Symbol *sym, Span at)
{
    if (!sym->assigned) {
        sema_error(s, UNASSIGNED, at, "assign it before the loop or in every branch",
                   "'%.*s' may have no value here", STR_ARG(sym->name));
        sema_mark_assigned(s, (uint32_t)(sym - s->symbols.at));
    }
    return sema_scalar_value(s, ir_var(s->ir, sym->var), at);
}

static const char *unknown_hint(Sema *s, Str name)
{
    static const char *const modules[] = {"math", "np", "numpy", "torch", "tl", "triton"};
    DType dtype;
    if (dtype_from_torch(name, &dtype))
        return sema_format(s, "the dtype is called %s", dtype_name(dtype));
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        if (str_is(name, modules[i]))
            return "there are no modules: write exp(a), inf, f32";
    const char *near = sema_nearest(s, name, false);
    return near ? near : "declare it before it is used";
}

static Value name_value(Sema *s, const AstExpr *e)
{
    DType dtype;
    Symbol *sym = sema_find(s, e->text);
    if (sym && sym->ended) {
        sema_error(s, LOOP_VAR, e->at, "keep what is needed in a scalar assigned before the loop",
                   "'%.*s', the %s of line %u, is over here", STR_ARG(e->text), sym->what,
                   sym->at.line);
        return sema_bad(e->at);
    }
    if (sym && sym->kind == SYM_SCALAR)
        return scalar_symbol(s, sym, e->at);
    if (sym && sym->kind == SYM_VALUE) {
        Value v = sym->value;
        v.at = e->at;
        if (v.kind == VAL_TILE) {
            v.tile = arena_new(s->arena, TileNode);
            *v.tile = *sym->value.tile;
            v.tile->at = v.tile->view.at = e->at;
        }
        return v;
    }
    if (dtype_from_name(e->text, &dtype))
        return dtype_value(dtype, e->at);
    if (str_is(e->text, "inf") || str_is(e->text, "nan"))
        return sema_scalar_value(
            s, ir_float(s->ir, str_is(e->text, "inf") ? (double)INFINITY : (double)NAN), e->at);
    if (sym || craft_fn_find(e->text)) {
        sema_error(s, KIND, e->at, sema_format(s, "call it: %.*s(...)", STR_ARG(e->text)),
                   "'%.*s' is a function", STR_ARG(e->text));
        return sema_bad(e->at);
    }
    sema_error(s, NAME, e->at, unknown_hint(s, e->text), "unknown name '%.*s'", STR_ARG(e->text));
    return sema_bad(e->at);
}

/* ---- attributes ---- */

static Value chip_value(Sema *s, const AstExpr *e)
{
    static const char *const names[IR_CHIP_COUNT] = {"cores", "cube_cores", "ub",  "l1",
                                                     "l0a",   "l0b",        "l0c", "l2"};
    for (uint32_t i = 0; i < IR_CHIP_COUNT; i++)
        if (str_is(e->text, names[i]))
            return sema_scalar_value(s, ir_chip(s->ir, (IrChipFact)i), e->at);
    sema_error(s, FUNCTION, e->at,
               "chip has cores, cube_cores, ub, l1, l0a, l0b, l0c, l2 (sizes in bytes)",
               "chip has no '%.*s'", STR_ARG(e->text));
    return sema_bad(e->at);
}

static Value range_attr(Sema *s, const AstExpr *e, const Value *r)
{
    if (str_is(e->text, "start"))
        return sema_scalar_value(s, r->start, e->at);
    if (str_is(e->text, "size"))
        return sema_scalar_value(s, r->size, e->at);
    if (str_is(e->text, "stop"))
        return sema_scalar_value(s, ir_expr2(s->ir, IR_E_ADD, r->start, r->size), e->at);
    if (str_is(e->text, "index") && r->index)
        return sema_scalar_value(s, r->index, e->at);
    sema_error(s, FUNCTION, e->at, "a range has start, size, stop and, from a loop, index",
               "a range has no '%.*s'", STR_ARG(e->text));
    return sema_bad(e->at);
}

static Value attr_value(Sema *s, const AstExpr *e)
{
    if (e->a->kind == EX_NAME && str_is(e->a->text, "chip"))
        return chip_value(s, e);
    Value base = sema_eval(s, e->a);
    if (base.kind == VAL_RANGE)
        return range_attr(s, e, &base);
    if (base.kind == VAL_BAD)
        return base;
    const char *hint = base.kind == VAL_TENSOR
                           ? "sizes of a tensor are the dims it was declared with"
                           : "only chip and ranges have attributes";
    sema_error(s, FUNCTION, e->at, hint, "%s has no attribute '%.*s'", sema_describe(s, &base),
               STR_ARG(e->text));
    return sema_bad(e->at);
}

/* ---- conditions ---- */

/* Evaluates a scalar into a block of its own, so that it can be made conditional. */
static IrExprId scalar_aside(Sema *s, const AstExpr *e, IrBlock *block)
{
    IrBlock *outer = s->block;
    s->block = block;
    IrExprId value = sema_scalar(s, e);
    s->block = outer;
    return value;
}

static void assign_in(Sema *s, IrBlock *block, IrVarId var, IrExprId value, Span at)
{
    IrBlock *outer = s->block;
    s->block = block;
    IrStmt *stmt = sema_emit(s, IR_S_ASSIGN, at);
    stmt->var = var;
    stmt->value = value;
    s->block = outer;
}

/* cond ? a : b, where computing a or b takes statements. */
static IrExprId branch(Sema *s, IrExprId cond, IrBlock *then, IrExprId a, IrBlock *other,
                       IrExprId b, Span at)
{
    IrVarId var = sema_temp(s, "pick", sema_type(s, a), at);
    assign_in(s, then, var, a, at);
    assign_in(s, other, var, b, at);
    IrStmt *stmt = sema_emit(s, IR_S_IF, at);
    stmt->cond = cond;
    stmt->body = *then;
    stmt->orelse = *other;
    return ir_var(s->ir, var);
}

static Value cond_value(Sema *s, const AstExpr *e)
{
    IrExprId cond = sema_boolean(s, e->b);
    if (!cond)
        return sema_bad(e->at);
    const IrExpr *c = &s->ir->exprs.at[cond];
    if (c->op == IR_E_BOOL)
        return sema_eval(s, c->of.i ? e->a : e->c);
    IrBlock then = {0}, other = {0};
    IrExprId a = scalar_aside(s, e->a, &then), b = scalar_aside(s, e->c, &other);
    if (!a || !b || !sema_unify(s, &a, &b, e->at, "'if else'"))
        return sema_bad(e->at);
    if (then.len || other.len)
        return sema_scalar_value(s, branch(s, cond, &then, a, &other, b, e->at), e->at);
    return sema_scalar_value(s, ir_expr3(s->ir, IR_E_SELECT, cond, a, b), e->at);
}

/* An operand of and, or; 0: reported. */
static IrExprId bool_operand(Sema *s, const AstExpr *e)
{
    Value v = sema_eval(s, e);
    if (v.kind == VAL_BAD)
        return 0;
    if (v.kind == VAL_SCALAR && v.dtype == DT_BOOL)
        return v.scalar;
    bool mask = v.kind == VAL_TILE && v.tile->mask;
    sema_error(s, CONDITION, e->at,
               mask ? "masks combine with & and |, each comparison in brackets"
                    : "compare it with something",
               "a bool is needed here, this is %s", sema_describe(s, &v));
    return 0;
}

static Value and_or(Sema *s, const AstExpr *e)
{
    IrExprId a = bool_operand(s, e->a);
    if (!a)
        return sema_bad(e->at);
    bool is_or = e->op == TOK_OR;
    const IrExpr *first = &s->ir->exprs.at[a];
    if (first->op == IR_E_BOOL && (first->of.i != 0) == is_or)
        return sema_scalar_value(s, a, e->at);
    IrBlock then = {0}, other = {0}, *outer = s->block;
    s->block = &then;
    IrExprId b = bool_operand(s, e->b);
    s->block = outer;
    if (!b)
        return sema_bad(e->at);
    if (!then.len)
        return sema_scalar_value(s, ir_expr2(s->ir, is_or ? IR_E_OR : IR_E_AND, a, b), e->at);
    IrExprId cond = is_or ? ir_expr1(s->ir, IR_E_NOT, a) : a;
    return sema_scalar_value(s, branch(s, cond, &then, b, &other, ir_bool(s->ir, is_or), e->at),
                             e->at);
}

/* ---- operators ---- */

static Value dtype_compare(Sema *s, const AstExpr *e, const Value *a, const Value *b)
{
    if (b->kind == VAL_DTYPE && (e->op == TOK_EQ || e->op == TOK_NE))
        return sema_scalar_value(s, ir_bool(s->ir, (a->dtype == b->dtype) == (e->op == TOK_EQ)),
                                 e->at);
    if (b->kind == VAL_TUPLE && e->op == TOK_IN) {
        bool found = false;
        for (uint32_t i = 0; i < b->item_count; i++)
            found = found || (b->items[i].kind == VAL_DTYPE && b->items[i].dtype == a->dtype);
        return sema_scalar_value(s, ir_bool(s->ir, found), e->at);
    }
    sema_error(s, KIND, e->at, "T == f32, T != f32, T in (f16, bf16)",
               "a dtype is compared with %s by '%s'", sema_describe(s, b), craft_tok_names[e->op]);
    return sema_bad(e->at);
}

static Value not_an_operand(Sema *s, const Value *v, Tok op)
{
    if (v->kind == VAL_REGION || v->kind == VAL_TENSOR)
        sema_error(s, GM_REGION, v->at, "load it into a buffer in copyin first",
                   "%s is in global memory; '%s' works on buffers", sema_describe(s, v),
                   craft_tok_names[op]);
    else if (v->kind != VAL_BAD)
        sema_error(s, KIND, v->at, NULL, "'%s' needs scalars or tiles, this is %s",
                   craft_tok_names[op], sema_describe(s, v));
    return sema_bad(v->at);
}

static bool is_operand(const Value *v) { return v->kind == VAL_SCALAR || v->kind == VAL_TILE; }

static Value binary_value(Sema *s, const AstExpr *e)
{
    if (e->op == TOK_AND || e->op == TOK_OR)
        return and_or(s, e);
    Value a = sema_eval(s, e->a), b = sema_eval(s, e->b);
    if (a.kind == VAL_BAD || b.kind == VAL_BAD)
        return sema_bad(e->at);
    if (a.kind == VAL_DTYPE)
        return dtype_compare(s, e, &a, &b);
    if (!is_operand(&a))
        return not_an_operand(s, &a, e->op);
    if (!is_operand(&b))
        return not_an_operand(s, &b, e->op);
    if (e->op == TOK_IN) {
        sema_error(s, EXPR_FORM, e->at, NULL, "'in' compares dtypes: T in (f16, bf16)");
        return sema_bad(e->at);
    }
    if (a.kind == VAL_SCALAR && b.kind == VAL_SCALAR)
        return sema_scalar_binary(s, e->op, a, b, e->at);
    return sema_tile_binary_op(s, e->op, a, b, e->at);
}

static Value unary_value(Sema *s, const AstExpr *e)
{
    Value a = sema_eval(s, e->a);
    if (a.kind == VAL_BAD)
        return a;
    if (!is_operand(&a))
        return not_an_operand(s, &a, e->op);
    return a.kind == VAL_SCALAR ? sema_scalar_unary(s, e->op, a, e->at)
                                : sema_tile_unary_op(s, e->op, a, e->at);
}

static Value tuple_value(Sema *s, const AstExpr *e)
{
    Value v = {.kind = VAL_TUPLE, .at = e->at, .item_count = e->items.len};
    v.items = arena_array(s->arena, Value, e->items.len + 1);
    for (uint32_t i = 0; i < e->items.len; i++) {
        v.items[i] = sema_eval(s, e->items.at[i]);
        if (v.items[i].kind == VAL_BAD)
            v.kind = VAL_BAD;
    }
    return v;
}

Value sema_eval(Sema *s, const AstExpr *e)
{
    switch (e->kind) {
    case EX_NAME: return name_value(s, e);
    case EX_INT: return sema_scalar_value(s, ir_int(s->ir, e->i), e->at);
    case EX_FLOAT: return sema_scalar_value(s, ir_float(s->ir, e->f), e->at);
    case EX_BOOL: return sema_scalar_value(s, ir_bool(s->ir, e->i != 0), e->at);
    case EX_STRING: return (Value){.kind = VAL_STRING, .text = e->string, .at = e->at};
    case EX_UNARY: return unary_value(s, e);
    case EX_BINARY: return binary_value(s, e);
    case EX_COND: return cond_value(s, e);
    case EX_CALL: return sema_call(s, e);
    case EX_INDEX: return sema_index(s, e);
    case EX_ATTR: return attr_value(s, e);
    case EX_TUPLE:
    case EX_LIST: return tuple_value(s, e);
    case EX_SLICE:
        sema_error(s, SYNTAX, e->at, NULL, "a slice stands only inside [ ]");
        return sema_bad(e->at);
    }
    return sema_bad(e->at);
}

/* ---- what a place needs ---- */

static const char *scalar_hint(const Value *v)
{
    if (v->kind == VAL_TILE)
        return v->tile->mask ? "reduce_any(m) or reduce_all(m) give a bool"
                             : "reduce_sum(a) and the like give a scalar, a[i] one element";
    if (v->kind == VAL_REGION)
        return "an index that is a scalar on every axis reads one element";
    if (v->kind == VAL_RANGE)
        return "t.start, t.size, t.stop and t.index are scalars";
    return NULL;
}

IrExprId sema_scalar(Sema *s, const AstExpr *e)
{
    Value v = sema_eval(s, e);
    if (v.kind == VAL_SCALAR)
        return v.scalar;
    if (v.kind != VAL_BAD)
        sema_error(s, KIND, e->at, scalar_hint(&v), "a scalar is needed here, this is %s",
                   sema_describe(s, &v));
    return 0;
}

IrExprId sema_integer(Sema *s, const AstExpr *e)
{
    IrExprId v = sema_scalar(s, e);
    if (!v || sema_type(s, v) == DT_I64)
        return v;
    sema_error(s, SCALAR_TYPE, e->at, "i64(s) truncates a float",
               "an integer is needed here, this is %s", dtype_name(sema_type(s, v)));
    return 0;
}

IrExprId sema_boolean(Sema *s, const AstExpr *e)
{
    Value v = sema_eval(s, e);
    if (v.kind == VAL_BAD)
        return 0;
    if (v.kind == VAL_SCALAR && v.dtype == DT_BOOL)
        return v.scalar;
    const char *hint = v.kind == VAL_TILE ? "reduce_any(m), reduce_all(m), or where(m, a, b)"
                                          : "compare it with something";
    sema_error(s, CONDITION, e->at, hint, "a condition is needed here, this is %s",
               sema_describe(s, &v));
    return 0;
}

bool sema_constant_int(Sema *s, const AstExpr *e, int64_t *value)
{
    IrExprId v = sema_integer(s, e);
    if (!v)
        return false;
    if (ir_is_int(s->ir, v, value))
        return true;
    sema_error(s, CONSTANT, e->at, "write a number or a constant declared at file level",
               "an integer constant is needed here, not '%s'", sema_expr_text(s, v));
    return false;
}

bool sema_dtype(Sema *s, const AstExpr *e, DType *dtype)
{
    Value v = sema_eval(s, e);
    *dtype = v.dtype;
    if (v.kind == VAL_BAD)
        return false;
    if (v.kind != VAL_DTYPE) {
        sema_error(s, KIND, e->at, "f32 f16 bf16 i8 u8 i16 i32 i64 bool, or a dtype variable",
                   "a dtype is needed here, this is %s", sema_describe(s, &v));
        return false;
    }
    if (v.dtype == DT_F64 || v.dtype == DT_U64) {
        sema_error(s, NO_OP, e->at, "use f32, or i64", "the chip has no %s", dtype_name(v.dtype));
        return false;
    }
    return true;
}
