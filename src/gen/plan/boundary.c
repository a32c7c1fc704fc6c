/* From a planned program to the operator of the task; see boundary.h. In: a graph and a plan. Out: the
 * plan with the task's tensors. */
#include "gen/plan/boundary.h"

#include "craft/craft.h"
#include "gen/plan/boundary_int.h"
#include <string.h>

/* Complex numbers are pairs to a program. */
static Shape seen_shape(const Value *v)
{
    Shape shape = v->shape;
    if (v->dtype == DT_C64 && shape.rank < GRAPH_MAX_RANK)
        shape.dim[shape.rank++] = 2;
    return shape;
}

/* The operand of the plan that is this value, and none before it; UINT32_MAX: there is none. */
static uint32_t planned_as(const Boundary *b, ValueId value, bool output)
{
    for (uint32_t i = 0; i < b->plan->operands.len; i++) {
        const PlanOperand *o = &b->plan->operands.at[i];
        bool taken = false;
        for (uint32_t k = 0; k < b->tensors.len && output; k++)
            taken = taken || (b->tensors.at[k].output && b->tensors.at[k].planned == i);
        if (o->value == value && o->output == output && !taken)
            return i;
    }
    return UINT32_MAX;
}

static void add_tensor(Boundary *b, ValueId value, bool output, const char *name)
{
    BoundTensor t = {.name = name, .value = value, .output = output};
    t.updates = t.replaced = UINT32_MAX;
    t.shape = seen_shape(graph_value(b->graph, value));
    t.planned = planned_as(b, value, output);
    t.seen = t.planned != UINT32_MAX ? &b->program->tensors.at[t.planned] : NULL;
    vec_push(b->arena, &b->tensors, t);
}

static bool refuse_boundary(const Boundary *b, Diag *diag, const char *what, const char *name)
{
    diag_error(diag, "G006", (Span){0},
               "the program that was planned for '%s' cannot be handed over: %s '%s'",
               b->plan->name, what, name);
    return false;
}

static bool same_size(const Boundary *b, const IrTensor *x, const IrTensor *y)
{
    bool same = x->rank == y->rank;
    for (uint32_t i = 0; same && i < x->rank; i++)
        same = ir_same(b->program, x->shape[i], y->shape[i]);
    return same;
}

/* A result with an input's name is written over it. Where every element depends on its own place alone
 * that can be done in place; else kernels read a copy. */
static void bind_updates(Boundary *b)
{
    for (uint32_t i = 0; i < b->tensors.len; i++) {
        BoundTensor *out = &b->tensors.at[i];
        for (uint32_t k = 0; out->output && k < i; k++) {
            BoundTensor *in = &b->tensors.at[k];
            const Value *was = graph_value(b->graph, in->value),
                        *is = graph_value(b->graph, out->value);
            if (in->output || in->replaced != UINT32_MAX || strcmp(in->name, out->name) != 0 ||
                was->dtype != is->dtype || !shape_equal(was->shape, is->shape))
                continue;
            out->updates = k;
            in->replaced = i;
            bool own_place = !strcmp(b->plan->strategy, "map") && in->seen &&
                             same_size(b, in->seen, out->seen);
            in->kept_as = in->seen && !own_place ? str_format(b->arena, "%s_before", in->name)
                                                 : NULL;
            break;
        }
    }
}

static bool add_tensors(Boundary *b, Diag *diag)
{
    const Graph *g = b->graph;
    GraphNames names = graph_names(b->arena, g);
    for (uint32_t i = 0; i < g->inputs.len; i++)
        add_tensor(b, g->inputs.at[i], false, names.inputs[i]);
    for (uint32_t i = 0; i < g->params.len; i++)
        if (planned_as(b, g->params.at[i], false) != UINT32_MAX)
            add_tensor(b, g->params.at[i], false, names.params[i]);
    uint32_t inputs = b->tensors.len;
    for (uint32_t i = 0; i < g->outputs.len; i++) {
        add_tensor(b, g->outputs.at[i], true, names.outputs[i]);
        if (!vec_last(&b->tensors).seen)
            return refuse_boundary(b, diag, "no kernel writes", names.outputs[i]);
    }
    bind_updates(b);
    for (uint32_t i = 0; i < b->plan->operands.len; i++) {
        bool found = false;
        for (uint32_t k = 0; k < b->tensors.len; k++)
            found = found || b->tensors.at[k].value == b->plan->operands.at[i].value;
        if (!found)
            return refuse_boundary(b, diag, "the task has no tensor for",
                                   b->plan->operands.at[i].name);
    }
    return inputs > 0 || refuse_boundary(b, diag, "no tensor comes in:", b->plan->name);
}

static void set_operands(Boundary *b)
{
    Plan *plan = b->plan;
    plan->operands.at = NULL;
    plan->operands.len = plan->operands.cap = 0;
    for (uint32_t i = 0; i < b->tensors.len; i++) {
        const BoundTensor *t = &b->tensors.at[i];
        if (t->updates != UINT32_MAX)
            continue;
        PlanOperand o = {.value = t->value,
                         .output = t->output,
                         .name = t->name,
                         .dtype = graph_value(b->graph, t->value)->dtype,
                         .shape = t->shape,
                         .updates = t->replaced != UINT32_MAX};
        if (o.updates)
            o.result = b->tensors.at[t->replaced].value;
        vec_push(b->arena, &plan->operands, o);
    }
}

static bool is_program(Arena *arena, Str text)
{
    Diag said = diag_make(arena, "plan.craft", text);
    CraftFile *file = craft_read(arena, "plan.craft", text, &said);
    return file && diag_ok(&said) && craft_program(arena, file, 0, &said);
}

bool plan_boundary(Arena *arena, const Graph *graph, Plan *plan, Diag *diag)
{
    Diag said = diag_make(arena, "plan.craft", plan->craft);
    CraftFile *file = craft_read(arena, "plan.craft", plan->craft, &said);
    const IrProgram *p = file && diag_ok(&said) ? craft_program(arena, file, 0, &said) : NULL;
    Boundary b = {.arena = arena, .graph = graph, .plan = plan, .program = p};
    if (!p || p->operand_count != plan->operands.len)
        return refuse_boundary(&b, diag,
                               "its text is refused:", said.items.len ? said.items.at[0].text : "");
    b.sizes = arena_array(arena, BoundSize, p->dims.len + 1);
    for (uint32_t i = 0; i < p->dims.len; i++)
        b.sizes[i].var = p->dims.at[i];
    if (!add_tensors(&b, diag))
        return false;
    boundary_axes(&b);
    Str text = boundary_text(&b);
    if (!is_program(arena, text)) { /* what is not seen to be equal becomes numbers */
        for (uint32_t i = 0; i < p->dims.len; i++)
            b.sizes[i].fixed = b.sizes[i].value > 0;
        text = boundary_text(&b);
    }
    if (!is_program(arena, text))
        return refuse_boundary(&b, diag, "its host function would be refused:", plan->name);
    plan->craft = text;
    set_operands(&b);
    return true;
}
