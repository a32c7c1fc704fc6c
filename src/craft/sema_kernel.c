/* Kernels: parameters, and the statements that kernels, helpers and in part the host share. In:
 * the syntax tree. Out: blocks of IR statements. */
#include "craft/sema.h"

#include "craft/fn.h"

/* ---- blocks ---- */

void sema_block(Sema *s, const StmtList *body, IrBlock *out)
{
    IrBlock *outer = s->block;
    uint32_t first = s->symbols.len;
    if (s->block_depth >= CRAFT_MAX_BLOCKS) {
        sema_error(s, TOO_DEEP, body->len ? body->at[0]->at : s->kernel_def.at, NULL,
                   "blocks are nested more than %d deep after inlining", CRAFT_MAX_BLOCKS);
        return;
    }
    s->block_depth++;
    s->block = out;
    sema_stmts(s, body);
    s->block = outer;
    s->block_depth--;
    sema_end_names(s, first);
}

/* PRESENT leaves that hold when the condition does. */
static void note_presence(Sema *s, IrExprId cond, bool holds)
{
    IrExpr e = s->ir->exprs.at[cond];
    if (e.op == IR_E_PRESENT && holds)
        vec_push(s->arena, &s->present, e.of.tensor);
    else if (e.op == IR_E_NOT)
        note_presence(s, e.arg[0], !holds);
    else if ((e.op == IR_E_AND && holds) || (e.op == IR_E_OR && !holds)) {
        note_presence(s, e.arg[0], holds);
        note_presence(s, e.arg[1], holds);
    }
}

static void branch(Sema *s, const StmtList *body, IrExprId cond, bool holds, IrBlock *out)
{
    uint32_t known = s->present.len;
    note_presence(s, cond, holds);
    sema_block(s, body, out);
    s->present.len = known;
}

/* Scalars assigned in both branches have a value after them. */
static void join_assigned(Sema *s, uint32_t mark, const uint32_t *first, uint32_t count)
{
    uint32_t both = 0;
    uint32_t *keep = arena_array(s->arena, uint32_t, count + 1);
    for (uint32_t i = 0; i < count; i++)
        if (s->symbols.at[first[i]].assigned)
            keep[both++] = first[i];
    sema_unmark(s, mark);
    for (uint32_t i = 0; i < both; i++)
        sema_mark_assigned(s, keep[i]);
}

void sema_if(Sema *s, const AstStmt *stmt)
{
    IrExprId cond = sema_boolean(s, stmt->value);
    if (!cond)
        cond = ir_leaf(s->ir, IR_E_NUM_CORES, 0, 0); /* reported: still look at both branches */
    IrExpr e = s->ir->exprs.at[cond];
    if (e.op == IR_E_BOOL) {
        sema_stmts(s, e.of.i ? &stmt->body : &stmt->orelse);
        return;
    }
    IrBlock then = {0}, other = {0};
    uint32_t mark = s->assigned_log.len;
    s->cond_depth++;
    branch(s, &stmt->body, cond, true, &then);
    uint32_t count = s->assigned_log.len - mark;
    uint32_t *first = arena_array(s->arena, uint32_t, count + 1);
    for (uint32_t i = 0; i < count; i++)
        first[i] = s->assigned_log.at[mark + i];
    sema_unmark(s, mark);
    branch(s, &stmt->orelse, cond, false, &other);
    join_assigned(s, mark, first, count);
    s->cond_depth--;
    IrStmt *out = sema_emit(s, IR_S_IF, stmt->at);
    out->cond = cond;
    out->body = then;
    out->orelse = other;
}

/* ---- with ---- */

static bool check_stage(Sema *s, const AstStmt *stmt)
{
    if (s->stage >= 0) {
        sema_error(s, STAGE_NEST, stmt->at, "end the outer block first", "a stage inside a stage");
        return false;
    }
    if (s->kernel_def.cube && s->kernel_def.vector && s->role < 0) {
        sema_error(s, ROLE, stmt->at, "put it under 'with cube():' or 'with vector():'",
                   "in a kernel of two roles a stage belongs to one of them");
        return false;
    }
    return true;
}

static void stage_block(Sema *s, const AstStmt *stmt, IrStage stage)
{
    IrBlock body = {0};
    if (!check_stage(s, stmt))
        return;
    s->stage = (int)stage;
    sema_block(s, &stmt->body, &body);
    s->stage = -1;
    IrStmt *out = sema_emit(s, IR_S_STAGE, stmt->at);
    out->stage = stage;
    out->body = body;
}

static void role_block(Sema *s, const AstStmt *stmt, IrCore core)
{
    IrBlock body = {0};
    if (!s->kernel_def.cube || !s->kernel_def.vector || s->role >= 0 || s->stage >= 0) {
        sema_error(s, ROLE, stmt->at,
                   s->role >= 0 ? "end the outer block first" : "@kernel(cube, vector)",
                   s->role >= 0 ? "a role inside a role" : "this kernel has one role");
        return;
    }
    s->role = (int)core;
    sema_block(s, &stmt->body, &body);
    s->role = -1;
    IrStmt *out = sema_emit(s, IR_S_ROLE, stmt->at);
    out->core = core;
    out->body = body;
}

static void with_stmt(Sema *s, const AstStmt *stmt)
{
    static const char *const names[] = {"copyin", "compute", "copyout", "vector", "cube"};
    const AstExpr *e = stmt->value;
    const AstExpr *callee = e->kind == EX_CALL ? e->a : e;
    if (s->in_host) {
        sema_error(s, KERNEL_ONLY, stmt->at, NULL, "stages belong to kernels");
        return;
    }
    for (int i = 0; i < 5; i++) {
        if (callee->kind != EX_NAME || !str_is(callee->text, names[i]))
            continue;
        if (e->kind != EX_CALL || e->items.len || e->keywords.len)
            sema_error(s, WITH, e->at, sema_format(s, "with %s():", names[i]),
                       "a stage is written %s()", names[i]);
        if (i < 3)
            stage_block(s, stmt, (IrStage)i);
        else
            role_block(s, stmt, i == 3 ? IR_CORE_VECTOR : IR_CORE_CUBE);
        return;
    }
    sema_error(s, WITH, e->at,
               "copyin(), compute(), copyout(), and in two-role kernels cube(), vector()",
               "unknown stage");
}

/* ---- statements ---- */

static void expr_stmt(Sema *s, const AstStmt *stmt)
{
    const AstExpr *e = stmt->value;
    if (e->kind == EX_STRING)
        return;
    if (e->kind == EX_CALL && sema_call_stmt(s, e))
        return;
    Value v = sema_eval(s, e);
    if (v.kind != VAL_BAD && v.kind != VAL_VOID)
        sema_error(s, UNUSED_VALUE, e->at, "assign it: name = ...",
                   "the value of this line is not used");
}

static void misplaced_return(Sema *s, const AstStmt *stmt)
{
    if (s->inline_depth)
        sema_error(s, HELPER, stmt->at, "return once, at the end",
                   "return is not the last statement of the helper");
    else
        sema_error(s, HELPER, stmt->at,
                   "kernels write their results to out parameters; the host launches",
                   "return in a function that returns nothing");
}

static void statement(Sema *s, const AstStmt *stmt)
{
    if (s->in_host && sema_host_stmt(s, stmt))
        return;
    switch (stmt->kind) {
    case ST_ASSIGN: sema_assign(s, stmt); return;
    case ST_EXPR: expr_stmt(s, stmt); return;
    case ST_FOR: sema_for(s, stmt); return;
    case ST_IF: sema_if(s, stmt); return;
    case ST_WITH: with_stmt(s, stmt); return;
    case ST_PASS: return;
    case ST_RETURN: misplaced_return(s, stmt); return;
    case ST_ASSERT:
        sema_error(s, HOST_ONLY, stmt->at,
                   "assert in the @host function: it refuses shapes before launch",
                   "assert in a kernel");
        return;
    case ST_DEF:
        sema_error(s, DEF, stmt->at, "move it to file level", "a function inside a function");
        return;
    }
}

void sema_stmts(Sema *s, const StmtList *body)
{
    for (uint32_t i = 0; i < body->len && sema_step(s, body->at[i]->at); i++) {
        s->stmt_depth++;
        statement(s, body->at[i]);
        s->stmt_depth--;
        sema_release_since(s, s->stmt_depth);
    }
}

/* ---- kernels ---- */

static IrArg kernel_tensor(Sema *s, const AstParam *param)
{
    IrTensor t = {0};
    if (!sema_tensor_type(s, param, &t)) {
        sema_declare_value(s, param->name, param->at, "parameter", sema_bad(param->at));
        return (IrArg){.is_tensor = true};
    }
    IrKernel *k = &s->ir->kernels.at[s->kernel];
    vec_push(s->arena, &k->tensors, t);
    Value v = {.kind = VAL_TENSOR, .at = param->at, .dtype = t.dtype};
    v.access.tensor = k->tensors.len - 1;
    sema_declare_value(s, param->name, param->at, "parameter", v);
    return (IrArg){.is_tensor = true, .tensor = v.access.tensor};
}

static IrArg kernel_scalar(Sema *s, const AstParam *param)
{
    DType type = DT_I64;
    bool ok = sema_scalar_type(s, param, &type);
    if (ok && param->value) {
        sema_error(s, PARAM, param->value->at, "defaults belong to attributes of the host function",
                   "a kernel parameter has no default");
        ok = false;
    }
    IrVarId var = ir_var_new(s->ir, IR_VAR_PARAM, str_dup(s->arena, param->name), type);
    s->ir->vars.at[var].kernel = s->kernel;
    s->ir->vars.at[var].at = param->at;
    IrExprId value = ir_var(s->ir, var);
    sema_declare_value(s, param->name, param->at, "parameter",
                       ok ? sema_scalar_value(s, value, param->at) : sema_bad(param->at));
    return (IrArg){.value = value};
}

/* Scalars first: the shapes of tensors may use them, wherever they stand. False: one of them is
 * wrong, here or in what it uses. */
static bool kernel_params(Sema *s, const AstDef *def)
{
    IrArg *args = arena_array(s->arena, IrArg, def->params.len + 1);
    for (uint32_t i = 0; i < def->params.len; i++)
        if (!sema_is_tensor_type(def->params.at[i].type))
            args[i] = kernel_scalar(s, &def->params.at[i]);
    for (uint32_t i = 0; i < def->params.len; i++)
        if (sema_is_tensor_type(def->params.at[i].type))
            args[i] = kernel_tensor(s, &def->params.at[i]);
    for (uint32_t i = 0; i < def->params.len; i++)
        vec_push(s->arena, &s->ir->kernels.at[s->kernel].params, args[i]);
    bool ok = true;
    for (uint32_t i = 0; i < def->params.len; i++) {
        const Symbol *sym = sema_find(s, def->params.at[i].name);
        ok = ok && sym && sym->kind == SYM_VALUE && sym->value.kind != VAL_BAD;
    }
    return ok;
}

typedef struct Context {
    Frame *frame;
    IrBlock *block;
    bool in_host;
    uint32_t kernel, present;
} Context;

static Context enter(Sema *s, Frame *frame, uint32_t kernel)
{
    Context c = {s->frame, s->block, s->in_host, s->kernel, s->present.len};
    s->frame = frame;
    s->in_host = false;
    s->kernel = kernel;
    return c;
}

static void leave(Sema *s, Context c)
{
    s->frame = c.frame;
    s->block = c.block;
    s->in_host = c.in_host;
    s->kernel = c.kernel;
    s->present.len = c.present;
}

void sema_kernel_declare(Sema *s, uint32_t symbol)
{
    Symbol sym = s->symbols.at[symbol];
    IrKernel k = {.name = str_dup(s->arena, sym.name),
                  .has_cube = sym.cube,
                  .has_vector = sym.vector,
                  .paired = sym.paired,
                  .at = sym.at};
    vec_push(s->arena, &s->ir->kernels, k);
    Frame *frame = arena_new(s->arena, Frame);
    frame->def = sym.def;
    sema_count_writes(s, &frame->writes, &sym.def->body);
    s->symbols.at[symbol].kernel = s->ir->kernels.len;
    s->symbols.at[symbol].frame = frame;
    IrBlock none = {0};
    Context c = enter(s, frame, s->ir->kernels.len - 1);
    s->block = &none;
    bool ok = kernel_params(s, sym.def);
    s->symbols.at[symbol].bad_params = !ok;
    leave(s, c);
}

void sema_kernel_body(Sema *s, uint32_t symbol)
{
    s->kernel_def = s->symbols.at[symbol];
    IrBlock body = {0};
    Context c = enter(s, s->kernel_def.frame, s->kernel_def.kernel - 1);
    s->scratch.len = 0;
    s->names_made = 0;
    s->stage = s->role = -1;
    s->present.len = 0;
    sema_block(s, &s->kernel_def.def->body, &body);
    s->ir->kernels.at[s->kernel].body = body;
    leave(s, c);
}
