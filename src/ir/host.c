/* The host function alone. In: shapes and settings. Out: launches with their scalars. The reference
 * interpreter runs it, on operands without data; this file translates to and fro. */
#include "ir/run_int.h"

#include <string.h>

/* What of a run is kept for later questions. */
struct HostState {
    IrRun io;
    Run run;
    Scope scope;
};

/* ---- shapes and settings, as a run wants them ---- */

static IrOperand *make_operands(Arena *arena, const IrProgram *p, const IrShape *shapes)
{
    IrOperand *operands = arena_array(arena, IrOperand, p->operand_count + 1);
    for (uint32_t i = 0; i < p->operand_count; i++) {
        const IrShape *s = &shapes[i];
        bool list = ir_is_list(&p->tensors.at[i]);
        IrOperand *o = &operands[i];
        o->count = list ? s->list_len : !s->absent;
        o->items = arena_array(arena, IrData, o->count + 1);
        for (uint32_t k = 0; k < o->count && list; k++)
            o->items[k] = (IrData){.rank = 1, .dims = {s->list_sizes[k]}};
        if (!list && o->count) {
            o->items[0].rank = s->rank;
            memcpy(o->items[0].dims, s->dim, sizeof s->dim);
        }
    }
    return operands;
}

static const IrSetting *find_setting(const IrHostInput *in, const char *name)
{
    for (uint32_t i = 0; i < in->setting_count; i++)
        if (str_is(str_from(name), in->settings[i].name))
            return &in->settings[i];
    return NULL;
}

/* A setting, or the default of the declaration. False: neither. */
static bool attribute(const IrProgram *p, const IrHostInput *in, const IrVar *v, IrValue *value)
{
    const IrSetting *s = find_setting(in, v->name);
    const IrExpr *e = &p->exprs.at[v->value];
    if (s)
        *value = (IrValue){.i = v->type == DT_F32 ? 0 : (int64_t)s->value, .f = (float)s->value};
    else
        *value = (IrValue){.i = e->op == IR_E_FLOAT ? 0 : e->of.i,
                           .f = e->op == IR_E_FLOAT ? (float)e->of.f : 0};
    return s || v->value;
}

static bool make_attrs(Arena *arena, const IrProgram *p, const IrHostInput *in, IrRun *io,
                       Diag *diag)
{
    IrValue *attrs = arena_array(arena, IrValue, p->attrs.len + 1);
    for (uint32_t i = 0; i < p->attrs.len; i++) {
        const IrVar *v = &p->vars.at[p->attrs.at[i]];
        if (!attribute(p, in, v, &attrs[i])) {
            diag_error(diag, "H001", v->at, "the attribute %s is not given", v->name);
            return false;
        }
    }
    io->attrs = attrs;
    return true;
}

static const int64_t *make_choices(Arena *arena, const IrProgram *p, const IrHostInput *in)
{
    int64_t *choices = arena_array(arena, int64_t, p->vars.len);
    uint32_t n = 0;
    for (uint32_t i = 1; i < p->vars.len; i++) {
        const IrVar *v = &p->vars.at[i];
        const IrSetting *s = find_setting(in, v->name);
        if (v->kind == IR_VAR_CHOICE)
            choices[n++] = s ? (int64_t)s->value : v->choices.at[0];
    }
    return choices;
}

/* ---- the run ---- */

/* Variables and tensors move to the caller's arena, the rest of the run goes. */
static void keep(Arena *arena, struct HostState *h)
{
    const IrProgram *p = h->run.p;
    GmList *tensors = arena_array(arena, GmList, p->tensors.len + 1);
    GmList **names = arena_array(arena, GmList *, p->tensors.len + 1);
    Scalar *vars = arena_array(arena, Scalar, p->vars.len);
    memcpy(vars, h->run.vars, p->vars.len * sizeof *vars);
    for (uint32_t i = 0; i < p->tensors.len; i++) {
        const GmList *from = &h->run.tensors[i];
        tensors[i] = *from;
        tensors[i].items = arena_array(arena, Gm, from->count + 1);
        for (uint32_t k = 0; k < from->count; k++)
            tensors[i].items[k] = from->items[k];
        names[i] = &tensors[i];
    }
    arena_drop(&h->run.scratch);
    h->run.vars = vars;
    h->run.tensors = tensors;
    h->scope.vars = vars;
    h->scope.tensors = names;
}

static void explain(const IrRun *io, Diag *diag)
{
    if (io->status == IR_RUN_REFUSED)
        diag_error(diag, "H001", (Span){0}, "the operator refuses this: %s", io->text);
    for (uint32_t i = 0; i < io->faults.len && io->status == IR_RUN_FAULT; i++)
        diag_error(diag, ir_fault_rows[io->faults.at[i].kind].code, io->faults.at[i].at, "%s",
                   io->faults.at[i].text);
}

static bool run_on_shapes(Arena *arena, const IrProgram *p, const NpuChip *chip,
                          const IrHostInput *input, IrDecisions *decided, uint64_t max_steps,
                          IrHostRun *run, Diag *diag)
{
    *run = (IrHostRun){.state = arena_new(arena, struct HostState)};
    struct HostState *h = run->state;
    h->io = (IrRun){.p = p,
                    .chip = chip,
                    .addresses_only = true,
                    .operands = make_operands(arena, p, input->operands),
                    .choices = make_choices(arena, p, input),
                    .max_steps = max_steps,
                    .keep_going = decided != NULL};
    if (!make_attrs(arena, p, input, &h->io, diag))
        return false;
    if (run_begin(arena, &h->io, run, &h->run, &h->scope)) {
        h->run.decided = decided;
        run_host(&h->run, &h->scope, &p->host);
        h->run.decided = NULL;
    }
    keep(arena, h);
    explain(&h->io, diag);
    return h->io.status == IR_RUN_OK;
}

bool ir_host_run(Arena *arena, const IrProgram *p, const NpuChip *chip, const IrHostInput *input,
                 IrHostRun *run, Diag *diag)
{
    return run_on_shapes(arena, p, chip, input, NULL, 0, run, diag);
}

bool host_walk(Arena *arena, const IrProgram *p, const NpuChip *chip, const IrHostInput *input,
               IrDecisions *decisions, uint64_t max_steps, Diag *diag)
{
    IrHostRun run;
    Diag said = diag_make(arena, p->file, (Str){0});
    if (run_on_shapes(arena, p, chip, input, decisions, max_steps, &run, &said))
        return true;
    const IrRun *io = &run.state->io;
    bool walked = io->status == IR_RUN_FAULT; /* a kernel's faults are for its run to say */
    for (uint32_t i = 0; i < io->faults.len; i++)
        walked &= io->faults.at[i].kernel != UINT32_MAX && io->faults.at[i].kind != IR_FAULT_LIMIT;
    if (!walked && said.items.len)
        diag_error(diag, said.items.at[0].code, said.items.at[0].at, "%s", said.items.at[0].text);
    return walked;
}

bool ir_host_eval(const IrHostRun *run, IrExprId e, IrScalar *value)
{
    struct HostState *h = run->state;
    h->io.status = IR_RUN_OK;
    h->run.stop = false;
    Scalar v = run_eval(&h->scope, e);
    arena_drop(&h->run.scratch);
    *value = (IrScalar){h->run.p->exprs.at[e].type, v.i, v.f};
    return h->io.status == IR_RUN_OK && v.set;
}

/* ---- what sizes decide ---- */

typedef struct Turning {
    Arena *arena;
    const IrProgram *p;
    struct HostState *host;
    IrTurns *turns;
} Turning;

bool ir_turns_have(const IrTurns *turns, IrTurn turn)
{
    for (uint32_t i = 0; i < turns->len; i++)
        if (turns->at[i].stmt == turn.stmt && turns->at[i].taken == turn.taken)
            return true;
    return false;
}

static void note(const Turning *t, IrStmtId stmt, bool taken)
{
    IrTurn turn = {stmt, taken};
    if (!ir_turns_have(t->turns, turn))
        vec_push(t->arena, t->turns, turn);
}

/* Made of scalars that are known, and of nothing else. */
static bool is_known(const Turning *t, IrExprId id)
{
    const IrExpr *e = &t->p->exprs.at[id];
    if (e->op == IR_E_VAR)
        return t->host->scope.vars[e->of.var].set;
    for (int i = 0; i < ir_expr_rows[e->op].arity; i++)
        if (!is_known(t, e->arg[i]))
            return false;
    return e->op != IR_E_CORE_ID && e->op != IR_E_PRESENT && e->op != IR_E_LIST_LEN &&
           e->op != IR_E_LIST_SIZE;
}

static bool value_of(const Turning *t, IrExprId id, Scalar *value)
{
    struct HostState *h = t->host;
    if (!is_known(t, id))
        return false;
    h->io.status = IR_RUN_OK;
    h->run.stop = false;
    *value = run_eval(&h->scope, id);
    return h->io.status == IR_RUN_OK && value->set;
}

static void forget_assigned(const Turning *t, const IrBlock *block)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &t->p->stmts.at[block->at[i]];
        if (s->var)
            t->host->scope.vars[s->var].set = false;
        forget_assigned(t, &s->body);
        forget_assigned(t, &s->orelse);
    }
}

static void turn_all(const Turning *t, const IrBlock *block);

static void turn_if(const Turning *t, IrStmtId id, const IrStmt *s)
{
    Scalar cond;
    bool known = value_of(t, s->cond, &cond), taken = known && cond.i;
    if (known) {
        note(t, id, taken);
        turn_all(t, taken ? &s->body : &s->orelse);
        return;
    }
    const IrBlock *sides[] = {&s->body, &s->orelse};
    for (int i = 0; i < 2; i++) {
        turn_all(t, sides[i]);
        forget_assigned(t, sides[i]);
    }
}

static void turn_loop(const Turning *t, IrStmtId id, const IrStmt *s)
{
    bool turns = true;
    for (uint32_t k = 0; k < s->axis_count; k++) {
        Scalar lo, hi;
        if (!s->axes[k].lo || !s->axes[k].hi || !value_of(t, s->axes[k].lo, &lo) ||
            !value_of(t, s->axes[k].hi, &hi))
            continue;
        turns = turns && lo.i < hi.i;
    }
    note(t, id, turns);
    forget_assigned(t, &s->body);
    if (turns)
        turn_all(t, &s->body);
    forget_assigned(t, &s->body);
}

static void turn_all(const Turning *t, const IrBlock *block)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &t->p->stmts.at[block->at[i]];
        Scalar value = {0};
        switch (s->kind) {
        case IR_S_IF: turn_if(t, block->at[i], s); break;
        case IR_S_FOR: turn_loop(t, block->at[i], s); break;
        case IR_S_ASSIGN:
            if (!value_of(t, s->value, &value))
                value.set = false;
            t->host->scope.vars[s->var] = value;
            break;
        default:
            if (s->var)
                t->host->scope.vars[s->var].set = false;
            turn_all(t, &s->body);
        }
    }
}

void ir_host_turns(Arena *arena, IrHostRun *run, IrTurns *turns)
{
    Turning t = {arena, run->state->run.p, run->state, turns};
    for (uint32_t i = 0; i < run->launches.len; i++) {
        const IrHostLaunch *l = &run->launches.at[i];
        const IrKernel *k = &t.p->kernels.at[t.p->stmts.at[l->stmt].kernel];
        note(&t, l->stmt, true);
        for (uint32_t a = 0; a < k->params.len; a++)
            if (!k->params.at[a].is_tensor)
                t.host->scope.vars[t.p->exprs.at[k->params.at[a].value].of.var] = (Scalar){
                    .i = l->args[a].i, .f = l->args[a].f, .set = true};
        t.host->scope.cores = l->cores;
        forget_assigned(&t, &k->body);
        turn_all(&t, &k->body);
    }
    arena_drop(&t.host->run.scratch);
}
