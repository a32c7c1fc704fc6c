/* Finishing a graph of primitives: which axes each varies along, common subexpressions, who uses what;
 * then whether all of it can be computed in f32 tiles. In: all primitives of a task. Out: the same,
 * complete, or a diagnostic. */
#include "gen/plan/prim_int.h"

uint64_t prim_axis_bit(PrimGraph *g, AxisId axis)
{
    return axis && axis < PRIM_MAX_AXES ? UINT64_C(1) << prim_axis(g, axis) : 0;
}

/* Now that all axes are known: which of them each primitive varies along. */
static void fix_axes(PrimGraph *g)
{
    for (uint32_t i = 0; i < g->leaves.len; i++) {
        Prim *p = &g->prims.at[g->leaves.at[i].prim];
        for (int d = 0; d < g->leaves.at[i].rank; d++)
            p->axes |= prim_axis_bit(g, g->leaves.at[i].dim[d]);
    }
    for (uint32_t i = 1; i < g->prims.len; i++) {
        Prim *p = &g->prims.at[i];
        uint64_t over = 0;
        for (uint32_t a = 1; a < g->axes.len && a < PRIM_MAX_AXES; a++)
            if (p->over >> a & 1)
                over |= prim_axis_bit(g, a);
        p->over = over;
        for (uint32_t k = 0; k < p->n_arg; k++)
            p->axes |= g->prims.at[p->arg[k]].axes;
        if (p->op == PRIM_REDUCE || p->op == PRIM_PICK)
            p->axes &= ~over;
    }
}

/* Operands stand before their users, so one walk from the end reaches all that is alive. */
static void count_uses(PrimGraph *g)
{
    for (uint32_t i = 0; i < g->outputs.len; i++)
        g->prims.at[g->outputs.at[i].is.prim].uses++;
    for (uint32_t i = g->prims.len; i-- > 1;)
        for (uint32_t k = 0; k < g->prims.at[i].n_arg && g->prims.at[i].uses; k++)
            g->prims.at[g->prims.at[i].arg[k]].uses++;
}

static bool refuse_task(PrimGraph *g, const char *why)
{
    diag_error(g->diag, "G002", (Span){0}, "the planner cannot plan this task yet: %s", why);
    return false;
}

/* Where the graph first computes with the value. */
static Span first_use(const Graph *graph, ValueId value)
{
    for (uint32_t i = 0; i < graph->nodes.len; i++)
        for (uint32_t k = 0; k < graph->nodes.at[i].n_in; k++)
            if (graph->nodes.at[i].in[k] == value)
                return graph->nodes.at[i].at;
    return (Span){0};
}

static bool refuse_dtype(PrimGraph *g, const Prim *leaf)
{
    const char *name = graph_value(g->graph, leaf->value)->name;
    diag_error(g->diag, "G002", first_use(g->graph, leaf->value),
               "the planner cannot plan this task yet: arithmetic of %s%s%s%s%s",
               dtype_name(leaf->dtype), name ? " (" : "", name ? name : "", name ? ")" : "",
               leaf->dtype == DT_F64 ? "; the vector unit computes in f32, f16 and bf16" : "");
    return false;
}

/* Everything is computed in f32: integers would lose their last bits. */
static bool check_dtypes(PrimGraph *g)
{
    for (uint32_t i = 1; i < g->prims.len; i++) {
        const Prim *p = &g->prims.at[i];
        bool computes = p->uses && p->op != PRIM_LEAF && p->op != PRIM_NUMBER;
        for (uint32_t k = 0; k < p->n_arg && computes; k++) {
            const Prim *a = &g->prims.at[p->arg[k]];
            bool position = p->op == PRIM_PICK && k == 1;
            if (a->op == PRIM_LEAF && !position &&
                (dtype_is_int(a->dtype) || a->dtype == DT_F64 || a->dtype == DT_C64))
                return refuse_dtype(g, a);
        }
    }
    for (uint32_t i = 0; i < g->outputs.len; i++) {
        DType d = graph_value(g->graph, g->outputs.at[i].value)->dtype;
        bool made = g->prims.at[g->outputs.at[i].is.prim].op == PRIM_MAP;
        bool small = made && (d == DT_I8 || d == DT_U8 || d == DT_I16);
        if (d != DT_F32 && d != DT_F16 && d != DT_BF16 && !small)
            return refuse_task(g, str_format(g->arena, "an output of %s", dtype_name(d)));
    }
    return true;
}

/* Every output has as many elements as the axes it varies along say. */
static bool check_outputs(PrimGraph *g)
{
    for (uint32_t i = 0; i < g->outputs.len; i++) {
        uint64_t axes = g->prims.at[g->outputs.at[i].is.prim].axes;
        int64_t count = 1, want = 0;
        for (uint32_t a = 1; a < g->axes.len && a < PRIM_MAX_AXES; a++)
            if (axes >> a & 1)
                count *= g->axes.at[a].size;
        shape_count(graph_value(g->graph, g->outputs.at[i].value)->shape, &want);
        if (count != want)
            return refuse_task(g, "an output that repeats elements");
    }
    if (g->leaves.len == 0)
        return refuse_task(g, "it has no input");
    return true;
}

bool prim_finish(PrimGraph *g)
{
    fix_axes(g);
    prim_share(g);
    count_uses(g);
    return check_dtypes(g) && check_outputs(g);
}
