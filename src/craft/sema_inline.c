/* Helper functions: inlined where they are called, with a frame of their own. Arguments are
 * values: scalars are computed once, a tile expression once into scratch, views stay views. */
#include "craft/sema.h"

/* Computes an argument that the helper may use several times. */
static Value settle_arg(Sema *s, Value v)
{
    if (v.kind == VAL_SCALAR) {
        IrExprOp op = s->ir->exprs.at[v.scalar].op;
        if (op == IR_E_INT || op == IR_E_FLOAT || op == IR_E_BOOL || op == IR_E_VAR ||
            op == IR_E_CHIP)
            return v;
        IrVarId var = sema_temp(s, "arg", v.dtype, v.at);
        IrStmt *stmt = sema_emit(s, IR_S_ASSIGN, v.at);
        stmt->var = var;
        stmt->value = v.scalar;
        return sema_scalar_value(s, ir_var(s->ir, var), v.at);
    }
    if (v.kind != VAL_TILE || v.tile->is_view)
        return v;
    sema_settle(s, v.tile);
    if (!v.tile->rank) {
        sema_error(s, SHAPE, v.at, "put it into a buffer first",
                   "the size of this tile is not known");
        return sema_bad(v.at);
    }
    if (!sema_in_compute(s, v.at, "tile arithmetic"))
        return sema_bad(v.at);
    IrView view = sema_emit_view(s, v.tile);
    return sema_tile_value(sema_view_node(s, &view, v.at));
}

static bool bind_args(Sema *s, const AstDef *def, const AstExpr *call, Frame *frame)
{
    bool ok = true;
    Value *args = arena_array(s->arena, Value, def->params.len + 1);
    for (uint32_t i = 0; i < def->params.len; i++) {
        args[i] = settle_arg(s, sema_eval(s, call->items.at[i]));
        ok = ok && args[i].kind != VAL_BAD;
    }
    Frame *outer = s->frame;
    s->frame = frame;
    for (uint32_t i = 0; i < def->params.len; i++)
        sema_declare_value(s, def->params.at[i].name, def->params.at[i].at, "parameter", args[i]);
    s->frame = outer;
    return ok;
}

static Value run_body(Sema *s, const AstDef *def, Span at)
{
    StmtList body = def->body;
    const AstStmt *last = body.len ? body.at[body.len - 1] : NULL;
    bool returns = last && last->kind == ST_RETURN;
    body.len -= returns;
    sema_stmts(s, &body);
    if (!returns || !last->value)
        return (Value){.kind = VAL_VOID, .at = at};
    Value v = sema_eval(s, last->value);
    v.at = at;
    return v;
}

static bool may_inline(Sema *s, const Symbol *sym, const AstExpr *call)
{
    if (sym->running) {
        sema_error(s, HELPER, call->at, NULL, "helper '%.*s' calls itself", STR_ARG(sym->name));
        return false;
    }
    if (s->inline_depth >= CRAFT_MAX_DEPTH) {
        sema_error(s, TOO_LARGE, call->at, NULL, "more than %d inlined calls deep",
                   CRAFT_MAX_DEPTH);
        return false;
    }
    uint32_t n = sym->def->params.len;
    return sema_step(s, call->at) && sema_want_args(s, call, n, n, NULL);
}

Value sema_inline(Sema *s, uint32_t symbol, const AstExpr *call)
{
    const AstDef *def = s->symbols.at[symbol].def;
    Frame frame = {.def = def};
    if (!may_inline(s, &s->symbols.at[symbol], call) || !bind_args(s, def, call, &frame))
        return sema_bad(call->at);
    sema_count_writes(s, &frame.writes, &def->body);
    Frame *outer = s->frame;
    s->frame = &frame;
    s->symbols.at[symbol].running = true;
    s->inline_depth++;
    Value v = run_body(s, def, call->at);
    s->inline_depth--;
    s->symbols.at[symbol].running = false;
    s->frame = outer;
    return v;
}
