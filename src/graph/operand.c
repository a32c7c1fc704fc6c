/* Names of a task's tensors; see operand.h. In: a graph. Out: identifiers. */
#include "graph/operand.h"

#include <string.h>

static bool is_word(char c, bool first)
{
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (!first && c >= '0' && c <= '9');
}

/* "norm.weight" as one word; NULL: nothing of it can stand in a name. */
static const char *one_word(Arena *arena, const char *name)
{
    if (!name || !*name)
        return NULL;
    char *out = str_dup(arena, str_from(name));
    for (char *c = out; *c; c++)
        if (!is_word(*c, false))
            *c = '_';
    return is_word(out[0], true) ? out : str_format(arena, "p_%s", out);
}

static const char *tail_of(const char *name)
{
    const char *dot = name ? strrchr(name, '.') : NULL;
    return dot && is_word(dot[1], true) ? dot + 1 : name;
}

static bool is_taken(const GraphNames *n, const Graph *g, const char *name, uint32_t but)
{
    for (uint32_t i = 0; i < g->inputs.len; i++)
        if (n->inputs[i] && strcmp(n->inputs[i], name) == 0)
            return true;
    for (uint32_t i = 0; i < g->params.len; i++)
        if (i != but && n->params[i] && strcmp(n->params[i], name) == 0)
            return true;
    return false;
}

static const char *free_name(Arena *arena, const GraphNames *n, const Graph *g, const char *name)
{
    const char *own = name;
    for (uint32_t k = 1; is_taken(n, g, own, UINT32_MAX); k++)
        own = str_format(arena, "%s_%u", name, k);
    return own;
}

const GraphOperand *graph_operand_of(const Graph *graph, bool output, uint32_t index)
{
    for (uint32_t i = 0; i < graph->operands.len; i++) {
        const GraphOperand *o = &graph->operands.at[i];
        bool result = o->role == OPERAND_OUT || o->role == OPERAND_OUTS || o->role == OPERAND_MUT;
        if (o->role != OPERAND_ATTR && result == output && index >= o->first &&
            index < o->first + o->count)
            return o;
    }
    return NULL;
}

/* The row is a list, or replaces one. */
static bool is_list(const Graph *g, const GraphOperand *row)
{
    for (uint32_t i = 0; row->role == OPERAND_MUT && i < g->operands.len; i++)
        if (g->operands.at[i].role == OPERAND_LIST && !strcmp(g->operands.at[i].name, row->name))
            return true;
    return row->role == OPERAND_LIST || row->role == OPERAND_OUTS;
}

/* A tensor of a list is called after its place in it. */
static const char *name_in_table(Arena *arena, const Graph *g, bool output, uint32_t index)
{
    const GraphOperand *o = graph_operand_of(g, output, index);
    bool list = o && is_list(g, o);
    return !o ? NULL : list ? str_format(arena, "%s_%u", o->name, index - o->first) : o->name;
}

static void name_inputs(Arena *arena, const Graph *g, GraphNames *n)
{
    for (uint32_t i = 0; i < g->inputs.len; i++) {
        const char *name = name_in_table(arena, g, false, i);
        name = name ? name : one_word(arena, graph_value(g, g->inputs.at[i])->name);
        n->inputs[i] = free_name(arena, n, g, name ? name : str_format(arena, "input%u", i));
    }
}

static void name_params(Arena *arena, const Graph *g, GraphNames *n)
{
    for (uint32_t i = 0; i < g->params.len; i++)
        n->params[i] = one_word(arena, tail_of(graph_value(g, g->params.at[i])->name));
    const char **whole = arena_array(arena, const char *, g->params.len + 1);
    for (uint32_t i = 0; i < g->params.len; i++) {
        const char *full = one_word(arena, graph_value(g, g->params.at[i])->name);
        bool short_one = n->params[i] && !is_taken(n, g, n->params[i], i);
        whole[i] = short_one ? n->params[i] : full ? full : str_format(arena, "param%u", i);
    }
    for (uint32_t i = 0; i < g->params.len; i++)
        n->params[i] = NULL;
    for (uint32_t i = 0; i < g->params.len; i++)
        n->params[i] = free_name(arena, n, g, whole[i]);
}

/* A result may have the name of the input it replaces, and of no other tensor. */
static void name_outputs(Arena *arena, const Graph *g, GraphNames *n)
{
    for (uint32_t i = 0; i < g->outputs.len; i++) {
        const char *name = name_in_table(arena, g, true, i);
        n->outputs[i] = name ? name : free_name(arena, n, g, str_format(arena, "output%u", i));
    }
}

GraphNames graph_names(Arena *arena, const Graph *graph)
{
    GraphNames n = {arena_array(arena, const char *, graph->inputs.len + 1),
                    arena_array(arena, const char *, graph->params.len + 1),
                    arena_array(arena, const char *, graph->outputs.len + 1)};
    name_inputs(arena, graph, &n);
    name_params(arena, graph, &n);
    name_outputs(arena, graph, &n);
    return n;
}
