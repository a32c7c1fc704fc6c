/* The program that is shipped, asked about sizes: whether it takes them, which of its branches they
 * take, which sizes it fixes. In: its text, and plans of the task at other sizes. */
#include "loop/make_int.h"

#include "craft/craft.h"
#include "graph/numbers.h"

bool make_shipped_read(Arena *arena, const MakeJob *job, MakeShipped *shipped)
{
    const Plan *plan = &job->result->plan;
    Diag said = diag_make(arena, plan->name, plan->craft);
    CraftFile *file = craft_read(arena, plan->name, plan->craft, &said);
    *shipped = (MakeShipped){.plan = plan, .chip = job->spec->chip};
    shipped->ir = file && diag_ok(&said) ? craft_program(arena, file, 0, &said) : NULL;
    return shipped->ir && shipped->ir->operand_count == plan->operands.len;
}

/* Whether both plans take the same tensors of the task, as the program's parameters see them. */
static bool same_operands(const Plan *a, const Plan *b)
{
    bool same = a->operands.len == b->operands.len;
    for (uint32_t i = 0; same && i < a->operands.len; i++) {
        const PlanOperand *x = &a->operands.at[i], *y = &b->operands.at[i];
        same = x->value == y->value && x->output == y->output && x->dtype == y->dtype &&
               x->shape.rank == y->shape.rank;
    }
    return same;
}

bool make_shipped_takes(Arena *arena, const MakeShipped *shipped, const Plan *at, IrTurns *turns)
{
    const IrProgram *p = shipped->ir;
    IrShape *shapes = arena_array(arena, IrShape, p->operand_count + 1);
    IrHostInput input = {.operands = shapes};
    IrHostRun run;
    Diag said = diag_make(arena, shipped->plan->name, shipped->plan->craft);
    if (!same_operands(shipped->plan, at))
        return false;
    for (uint32_t i = 0; i < p->operand_count; i++) {
        Shape shape = at->operands.at[i].shape;
        shapes[i].rank = (uint32_t)shape.rank;
        for (int d = 0; d < shape.rank; d++)
            shapes[i].dim[d] = shape.dim[d];
    }
    if (!ir_host_run(arena, p, shipped->chip, &input, &run, &said))
        return false;
    if (turns)
        ir_host_turns(arena, &run, turns);
    return true;
}

/* The shipped plan with the operands of another graph. */
static bool bind_plan(Arena *arena, const MakeShipped *shipped, const Graph *graph, Plan *at)
{
    Diag said = diag_make(arena, shipped->plan->name, shipped->plan->craft);
    EvalOperand *operands;
    if (!eval_bind(arena, shipped->ir, graph, &operands, &said))
        return false;
    *at = *shipped->plan;
    at->operands.at = arena_array(arena, PlanOperand, at->operands.len + 1);
    for (uint32_t i = 0; i < at->operands.len; i++) {
        PlanOperand *o = &at->operands.at[i];
        *o = shipped->plan->operands.at[i];
        if (o->updates != operands[i].updates ||
            o->dtype != graph_value(graph, operands[i].value)->dtype)
            return false;
        o->value = operands[i].value;
        o->result = operands[i].result;
        o->shape = operands[i].shape;
    }
    return true;
}

/* Whether operands are found by name and order: then they are at other sizes, too. */
static bool binds_as_planned(const Plan *own, const Plan *bound)
{
    bool same = same_operands(own, bound);
    for (uint32_t i = 0; same && i < own->operands.len; i++)
        same = shape_equal(own->operands.at[i].shape, bound->operands.at[i].shape) &&
               own->operands.at[i].result == bound->operands.at[i].result;
    return same;
}

bool make_shipped_serves(Arena *arena, const MakeJob *job, const MakeShipped *shipped,
                         const Graph *graph, Plan *at, IrTurns *turns)
{
    const Graph *own = job->result->task->graph;
    Plan self;
    return graph->inputs.len == own->inputs.len && graph->params.len == own->params.len &&
           graph_same_numbers(own, graph) && bind_plan(arena, shipped, own, &self) &&
           binds_as_planned(shipped->plan, &self) && bind_plan(arena, shipped, graph, at) &&
           make_shipped_takes(arena, shipped, at, turns);
}

/* ---- sizes that the program fixes ---- */

/* A literal, or a declared size whose range is one number; a size of 1 has nothing to vary. */
static bool is_fixed(const IrProgram *p, IrExprId size)
{
    int64_t value;
    const IrExpr *e = &p->exprs.at[size];
    if (e->op == IR_E_VAR) {
        const IrVar *v = &p->vars.at[e->of.var];
        return v->lo == v->hi && v->lo > 1;
    }
    return ir_is_int(p, size, &value) && value > 1;
}

static bool has_fixed(const IrProgram *p, const IrTensor *t)
{
    for (uint32_t d = 0; d < t->rank; d++)
        if (is_fixed(p, t->shape[d]))
            return true;
    return false;
}

static void put_size(const IrProgram *p, IrExprId size, int64_t own, Buf *out)
{
    const IrExpr *e = &p->exprs.at[size];
    if (e->op == IR_E_VAR && !is_fixed(p, size))
        buf_puts(out, p->vars.at[e->of.var].name);
    else
        buf_printf(out, "%lld", (long long)own);
}

static const char *fixed_text(Arena *arena, const MakeJob *job, const MakeShipped *shipped)
{
    const IrProgram *p = shipped->ir;
    const Graph *graph = job->result->task->graph;
    Buf out = {0};
    for (uint32_t i = 0; i < p->operand_count; i++) {
        const IrTensor *t = &p->tensors.at[i];
        const PlanOperand *o = &shipped->plan->operands.at[i];
        const char *name = graph_value(graph, o->value)->name;
        if (o->output || !has_fixed(p, t))
            continue;
        buf_printf(&out, "%s%s[", out.len ? ", " : "", name ? name : o->name);
        for (uint32_t d = 0; d < t->rank; d++) {
            buf_puts(&out, d ? ", " : "");
            put_size(p, t->shape[d], o->shape.dim[d], &out);
        }
        buf_char(&out, ']');
    }
    const char *text = out.len ? buf_take(&out, arena) : "";
    buf_free(&out);
    return text;
}

/* The first size of the file that is one of those fixed: what makes a program for another of it. */
static const TorchKnob *fixed_knob(const MakeShipped *shipped, const TorchTask *task)
{
    const IrProgram *p = shipped->ir;
    for (uint32_t k = 0; k < task->knobs.len; k++)
        for (uint32_t i = 0; i < p->operand_count && !task->knobs.at[k].deep; i++)
            for (uint32_t d = 0; d < p->tensors.at[i].rank; d++)
                if (!shipped->plan->operands.at[i].output &&
                    is_fixed(p, p->tensors.at[i].shape[d]) &&
                    shipped->plan->operands.at[i].shape.dim[d] == task->knobs.at[k].value)
                    return &task->knobs.at[k];
    return NULL;
}

void make_note_fixed(Arena *arena, const MakeJob *job)
{
    MakeResult *result = job->result;
    MakeShipped shipped;
    if (!make_shipped_read(arena, job, &shipped))
        return;
    result->fixed = fixed_text(arena, job, &shipped);
    const TorchKnob *knob = *result->fixed ? fixed_knob(&shipped, result->task) : NULL;
    if (!knob)
        return;
    result->free_at = knob->at;
    result->free = str_format(arena, "--range %s=%lld..%lld", knob->name,
                              (long long)knob->value / 2, (long long)knob->value / 2);
}
