/* Assignments: to scalars, to tiles and their elements, to elements of GM, to new names. In: the
 * syntax tree. Out: IR statements and symbols. */
#include "craft/sema.h"

#include "craft/fn.h"

/* ---- scalars ---- */

/* The value just computed by the last statement, if nothing else has it: a temporary. */
static IrStmt *fresh_result(Sema *s, IrExprId value)
{
    const IrExpr *e = &s->ir->exprs.at[value];
    if (e->op != IR_E_VAR || !s->block->len)
        return NULL;
    IrStmt *last = &s->ir->stmts.at[vec_last(s->block)];
    bool makes = last->kind == IR_S_OP || last->kind == IR_S_GM_READ;
    bool named = e->of.var < s->var_symbols.len && s->var_symbols.at[e->of.var];
    return makes && last->var == e->of.var && !named ? last : NULL;
}

static void bind_var(Sema *s, uint32_t symbol, IrVarId var)
{
    s->symbols.at[symbol].var = var;
    while (s->var_symbols.len <= var)
        vec_push(s->arena, &s->var_symbols, 0);
    s->var_symbols.at[var] = symbol + 1;
}

static uint32_t new_scalar(Sema *s, Str name, Span at, IrExprId value)
{
    uint32_t symbol = sema_declare(s, name, at, SYM_SCALAR, "scalar");
    const IrStmt *made = fresh_result(s, value);
    IrVarId var = made ? made->var
                       : ir_var_new(s->ir, s->in_host ? IR_VAR_HOST : IR_VAR_LOCAL, "",
                                    sema_type(s, value));
    s->ir->vars.at[var].name = str_dup(s->arena, name);
    s->ir->vars.at[var].kernel = s->kernel;
    s->ir->vars.at[var].at = at;
    bind_var(s, symbol, var);
    uint32_t writes = 1;
    map_get(&s->frame->writes, name, &writes);
    s->symbols.at[symbol].writes = writes;
    return symbol;
}

static IrExprId fit_type(Sema *s, const Symbol *sym, IrExprId value, Span at)
{
    DType want = s->ir->vars.at[sym->var].type, have = sema_type(s, value);
    if (want == have)
        return value;
    if (want == DT_F32 && s->ir->exprs.at[value].op == IR_E_INT)
        return sema_as_float(s, value, at);
    const char *hint = want == DT_I64 && have == DT_F32
                           ? sema_format(
                                 s,
                                 "make it a float on line %u: 0.0 instead of 0; or i64(...) here",
                                 sym->at.line)
                       : want == DT_F32 ? "convert with f32(...)"
                                        : "use another name";
    sema_error(s, SCALAR_TYPE, at, hint, "'%.*s' is %s since line %u, the value is %s",
               STR_ARG(sym->name), dtype_name(want), sym->at.line, dtype_name(have));
    return 0;
}

static void emit_assign(Sema *s, IrVarId var, IrExprId value, Span at)
{
    const IrExpr *e = &s->ir->exprs.at[value];
    if (e->op == IR_E_VAR && e->of.var == var)
        return;
    IrStmt *made = fresh_result(s, value);
    if (made) {
        made->var = var;
        return;
    }
    IrStmt *stmt = sema_emit(s, IR_S_ASSIGN, at);
    stmt->var = var;
    stmt->value = value;
}

void sema_assign_scalar(Sema *s, Str name, Span name_at, IrExprId value, Span at)
{
    Symbol *sym = sema_find(s, name);
    bool usable = sym && sym->kind == SYM_SCALAR && !sym->ended;
    uint32_t index = usable ? (uint32_t)(sym - s->symbols.at) : new_scalar(s, name, name_at, value);
    sym = &s->symbols.at[index];
    value = fit_type(s, sym, value, at);
    if (!value)
        return;
    if (sym->writes == 1 && sema_type(s, value) == DT_I64 && sema_fixed(s, value) &&
        !fresh_result(s, value) &&
        !(s->ir->exprs.at[value].op == IR_E_VAR && s->ir->exprs.at[value].of.var == sym->var))
        s->symbols.at[index].defined = value;
    emit_assign(s, s->symbols.at[index].var, value, at);
    sema_mark_assigned(s, index);
}

/* ---- tiles ---- */

static bool fits_target(Sema *s, const TileNode *dst, TileNode *node, Span at)
{
    if (!sema_adopt(s, node, dst))
        return false;
    if (dst->mask != node->mask) {
        sema_error(s, MASK, at,
                   node->mask ? "declare the target with mask(n), or store cast(m, f32)"
                              : "a comparison gives a mask",
                   node->mask ? "a mask is assigned to a tile of %s"
                              : "numbers are assigned to a mask",
                   dtype_name(dst->dtype));
        return false;
    }
    if (!node->mask && node->dtype != dst->dtype) {
        sema_error(s, DTYPE, at, sema_format(s, "cast(..., %s)", dtype_name(dst->dtype)),
                   "a tile of %s is assigned to one of %s", dtype_name(node->dtype),
                   dtype_name(dst->dtype));
        return false;
    }
    return sema_same_shape(s, dst, node, at, "assignment");
}

static bool in_ub(Sema *s, const TileNode *n)
{
    if (s->ir->kernels.at[s->kernel].buffers.at[n->view.buffer].memory == IR_UB)
        return true;
    sema_error(s, ROLE, n->at, "cube buffers are filled by load and mmad",
               "arithmetic works on UB buffers and masks");
    return false;
}

static void assign_tile(Sema *s, const TileNode *dst, const AstStmt *stmt)
{
    if (!sema_in_compute(s, stmt->at, "tile arithmetic") || !in_ub(s, dst))
        return;
    Value v = sema_eval(s, stmt->value);
    if (v.kind == VAL_BAD)
        return;
    if (v.kind == VAL_REGION || v.kind == VAL_TENSOR) {
        sema_error(s, GM_REGION, v.at, "load(a, x[...]) in copyin",
                   "GM data reaches a buffer by load");
        return;
    }
    if (v.kind != VAL_SCALAR && v.kind != VAL_TILE) {
        sema_error(s, KIND, v.at, NULL, "a tile or scalar is needed here, this is %s",
                   sema_describe(s, &v));
        return;
    }
    TileNode *node = v.kind == VAL_TILE ? v.tile : sema_fill_node(s, v.scalar, v.at);
    if (fits_target(s, dst, node, stmt->value->at))
        sema_emit_into(s, node, &dst->view);
}

static void assign_element(Sema *s, const IrView *view, IrExprId element, const AstStmt *stmt)
{
    if (!sema_in_compute(s, stmt->at, "writing an element of a buffer"))
        return;
    IrExprId value = sema_scalar(s, stmt->value);
    if (value)
        value = sema_fit_scalar(s, value, view->dtype, stmt->value->at);
    if (!value)
        return;
    IrStmt *out = sema_emit(s, IR_S_OP, stmt->at);
    out->op = IR_T_INSERT;
    out->dst = *view;
    out->scalar[0] = element;
    out->scalar[1] = value;
    out->scalar_count = 2;
}

static void write_gm(Sema *s, const Value *v, const AstStmt *stmt)
{
    const IrTensor *t = sema_tensor(s, v->access.tensor);
    for (uint32_t i = 0; i < v->access.rank; i++)
        if (v->access.size[i]) {
            sema_error(s, GM_REGION, v->at, "store(y[...], a) in copyout",
                       "a region of GM is written by store");
            return;
        }
    if (s->stage != IR_COPYOUT)
        sema_error(s, STORE_STAGE, stmt->at, "put it under 'with copyout():'",
                   "writing an element of '%s' belongs to copyout", t->name);
    IrExprId value = sema_scalar(s, stmt->value);
    if (!sema_may_write(s, &v->access, v->at) || !value)
        return;
    value = sema_fit_scalar(s, value, sema_tensor(s, v->access.tensor)->dtype, stmt->value->at);
    if (!value)
        return;
    IrStmt *out = sema_emit(s, IR_S_GM_WRITE, stmt->at);
    out->access = v->access;
    out->value = value;
}

static bool unknown_target(Sema *s, const AstExpr *name)
{
    if (name->kind != EX_NAME || sema_find(s, name->text))
        return false;
    const char *near = sema_nearest(s, name->text, false);
    sema_error(s, NAME, name->at,
               near ? near
                    : sema_format(s, "declare %.*s = ub(f32, n) at the top of the kernel",
                                  STR_ARG(name->text)),
               "unknown name '%.*s'", STR_ARG(name->text));
    return true;
}

static void assign_index(Sema *s, const AstStmt *stmt)
{
    if (unknown_target(s, stmt->target->a))
        return;
    Value base = sema_eval(s, stmt->target->a);
    IrView view;
    IrExprId element;
    if (base.kind == VAL_BAD)
        return;
    if (base.kind == VAL_TENSOR) {
        Value v = sema_index_tensor(s, stmt->target, base, false);
        if (v.kind == VAL_REGION)
            write_gm(s, &v, stmt);
        else if (v.kind == VAL_TENSOR)
            sema_error(s, RANK, v.at, "xs[i][t]", "one tensor of a list is no element");
        return;
    }
    if (base.kind != VAL_TILE) {
        sema_error(s, TARGET, stmt->target->at, NULL, "%s has no elements",
                   sema_describe(s, &base));
        return;
    }
    if (!sema_select(s, stmt->target, base.tile, &view, &element))
        return;
    if (element)
        assign_element(s, &view, element, stmt);
    else
        assign_tile(s, sema_view_node(s, &view, stmt->target->at), stmt);
}

/* ---- assignment ---- */

static const FnRow *called(const AstExpr *e)
{
    return e->kind == EX_CALL && e->a->kind == EX_NAME ? craft_fn_find(e->a->text) : NULL;
}

static void name_view(Sema *s, Str name, const AstExpr *value)
{
    Value v = sema_eval(s, value);
    if (v.kind == VAL_TILE && !v.tile->is_view) {
        sema_error(s, VIEW, value->at, NULL,
                   "view names a part of a buffer, not the result of an operation");
        v = sema_bad(value->at);
    }
    if (v.kind == VAL_TILE) {
        IrView frozen = sema_freeze(s, v.tile->view);
        v = sema_tile_value(sema_view_node(s, &frozen, value->at));
    }
    sema_declare_value(s, name, value->at, "view", v);
}

static void no_buffer(Sema *s, const AstExpr *target, const Value *v)
{
    if (v->tile->is_view)
        sema_error(s, NOT_DECLARED, target->at,
                   sema_format(s, "%.*s = view(...) names a view; reduce_sum(...) makes a scalar",
                               STR_ARG(target->text)),
                   "'%.*s' is no buffer, and a view is named with view", STR_ARG(target->text));
    else
        sema_error(s, NOT_DECLARED, target->at,
                   v->tile->mask
                       ? sema_format(s, "declare %.*s = mask(n) at the top of the kernel",
                                     STR_ARG(target->text))
                       : sema_format(s, "declare %.*s = ub(%s, n) at the top of the kernel",
                                     STR_ARG(target->text),
                                     dtype_name(v->tile->dtype_known ? v->tile->dtype : DT_F32)),
                   "'%.*s' is no buffer; %s needs one", STR_ARG(target->text), sema_describe(s, v));
}

static void assign_value(Sema *s, const AstExpr *target, Value *v, Span at)
{
    switch (v->kind) {
    case VAL_SCALAR: sema_assign_scalar(s, target->text, target->at, v->scalar, at); return;
    case VAL_TILE: no_buffer(s, target, v); return;
    case VAL_DTYPE: sema_declare_value(s, target->text, target->at, "dtype", *v); return;
    case VAL_REGION:
    case VAL_TENSOR:
        sema_error(s, GM_REGION, v->at, "load it into a buffer in copyin",
                   "%s cannot be kept in a name", sema_describe(s, v));
        return;
    case VAL_VOID: sema_error(s, NO_VALUE, v->at, NULL, "this helper returns nothing"); return;
    case VAL_BAD: /* the name exists from here on, so that nobody misses it again */
        if (!sema_find(s, target->text))
            sema_declare_value(s, target->text, target->at, "scalar", *v);
        return;
    default: sema_error(s, KIND, v->at, NULL, "%s cannot be kept in a name", sema_describe(s, v));
    }
}

static void assign_name(Sema *s, const AstStmt *stmt)
{
    const AstExpr *target = stmt->target, *value = stmt->value;
    const FnRow *fn = called(value);
    if (sema_is_buffer_call(value)) {
        sema_declare_buffer(s, target->text, value);
        return;
    }
    if (fn && fn->kind == FN_SHARE) {
        sema_share(s, target->text, value);
        return;
    }
    if (fn && fn->kind == FN_COMPACT) {
        sema_assign_compact(s, target, value);
        return;
    }
    if (fn && fn->kind == FN_HOST && sema_host_assign(s, target->text, value))
        return;
    Symbol *sym = sema_find(s, target->text);
    if (sym && sym->kind == SYM_VALUE && !sym->ended && sym->value.kind == VAL_TILE &&
        sym->value.tile->is_view) {
        TileNode dst = *sym->value.tile;
        dst.at = dst.view.at = target->at;
        assign_tile(s, &dst, stmt);
        return;
    }
    if (fn && (fn->kind == FN_VIEW || fn->kind == FN_REINTERPRET)) {
        name_view(s, target->text, value);
        return;
    }
    Value v = sema_eval(s, value);
    assign_value(s, target, &v, stmt->at);
}

/* a, b = x, y: all values are evaluated before the first assignment. */
static void assign_values(Sema *s, const AstStmt *stmt)
{
    const AstExpr *targets = stmt->target;
    Value v = sema_eval(s, stmt->value);
    if (v.kind == VAL_BAD)
        return;
    if (v.kind != VAL_TUPLE || v.item_count != targets->items.len) {
        sema_error(s, KIND, stmt->at, NULL, "%u names, but %u values", targets->items.len,
                   v.kind == VAL_TUPLE ? v.item_count : 1);
        return;
    }
    for (uint32_t i = 0; i < v.item_count; i++) {
        if (v.items[i].kind != VAL_SCALAR)
            continue;
        IrVarId var = sema_temp(s, "next", v.items[i].dtype, stmt->at);
        IrStmt *out = sema_emit(s, IR_S_ASSIGN, stmt->at);
        out->var = var;
        out->value = v.items[i].scalar;
        v.items[i].scalar = ir_var(s->ir, var);
    }
    for (uint32_t i = 0; i < v.item_count; i++) {
        const AstExpr *target = targets->items.at[i];
        if (target->kind == EX_NAME)
            assign_value(s, target, &v.items[i], stmt->at);
        else
            sema_error(s, TARGET, target->at, "write one assignment a line",
                       "several names at once only name scalars and buffers");
    }
}

static bool all_buffers(const AstExpr *values, uint32_t count)
{
    if (values->kind != EX_TUPLE || values->items.len != count)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!sema_is_buffer_call(values->items.at[i]))
            return false;
    return true;
}

static void assign_tuple(Sema *s, const AstStmt *stmt)
{
    uint32_t count = stmt->target->items.len;
    if (!all_buffers(stmt->value, count)) {
        assign_values(s, stmt);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        AstStmt one = *stmt;
        one.target = stmt->target->items.at[i];
        one.value = stmt->value->items.at[i];
        sema_assign(s, &one);
    }
}

static Tok plain_op(Tok op)
{
    switch (op) {
    case TOK_PLUSEQ: return TOK_PLUS;
    case TOK_MINUSEQ: return TOK_MINUS;
    case TOK_STAREQ: return TOK_STAR;
    case TOK_SLASHEQ: return TOK_SLASH;
    case TOK_SLASHSLASHEQ: return TOK_SLASHSLASH;
    case TOK_PERCENTEQ: return TOK_PERCENT;
    case TOK_AMPEQ: return TOK_AMP;
    case TOK_PIPEEQ: return TOK_PIPE;
    case TOK_CARETEQ: return TOK_CARET;
    case TOK_SHLEQ: return TOK_SHL;
    default: return TOK_SHR;
    }
}

void sema_assign(Sema *s, const AstStmt *stmt)
{
    if (stmt->op != TOK_ASSIGN) { /* a += b is a = a + b */
        AstExpr sum = {.kind = EX_BINARY,
                       .op = plain_op(stmt->op),
                       .a = stmt->target,
                       .b = stmt->value,
                       .at = stmt->value->at};
        AstStmt plain = *stmt;
        plain.op = TOK_ASSIGN;
        plain.value = &sum;
        sema_assign(s, &plain);
        return;
    }
    if (stmt->target->kind == EX_TUPLE)
        assign_tuple(s, stmt);
    else if (stmt->target->kind == EX_INDEX)
        assign_index(s, stmt);
    else
        assign_name(s, stmt);
}
