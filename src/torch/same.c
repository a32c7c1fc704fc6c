/* The answer of --same for two tasks, by normal and plain forms (same.h). */
#include "torch/same.h"

#include "torch/opdef.h"
#include "torch/same_int.h"

#include <string.h>

const char *torch_same_name(TorchSame same)
{
    static const char *const names[TORCH_SAME_COUNT] = {
        "the same",
        "the same, inputs drawn otherwise",
        "the same, operands held otherwise",
        "the same, results typed by the op definition",
        "the same, results of the op definition added",
        "the same before the last cast",
        "the same in the results both give",
        "not the same"};
    return names[same];
}

static bool equal_forms(Arena *arena, TorchSameAnswer *answer, const Graph *ours,
                        const Graph *theirs)
{
    buf_clear(&answer->a);
    buf_clear(&answer->b);
    graph_print(graph_normal(arena, ours), &answer->a);
    graph_print(graph_normal(arena, theirs), &answer->b);
    return str_equal(buf_view(&answer->a), buf_view(&answer->b));
}

/* The model alone, its tensors as declared. */
static const Graph *undrawn(Arena *arena, const Graph *graph)
{
    Graph *bare = arena_new(arena, Graph);
    *bare = *graph;
    bare->source = NULL;
    return bare;
}

static bool equal_plain(Arena *arena, TorchSameAnswer *answer, const Graph *ours,
                        const Graph *theirs, bool loose)
{
    const Graph *a = graph_plain(arena, ours, loose);
    for (int names = 1; names >= 0; names--) {
        Graph *b = graph_plain(arena, theirs, loose);
        graph_align(arena, a, b, names);
        if (equal_forms(arena, answer, a, b))
            return true;
    }
    return false;
}

/* The graph with one of its results. */
static const Graph *one_result(Arena *arena, const Graph *graph, uint32_t which)
{
    Graph *one = arena_new(arena, Graph);
    *one = *graph;
    memset(&one->outputs, 0, sizeof one->outputs);
    vec_push(arena, &one->outputs, graph->outputs.at[which]);
    return one;
}

/* Whether each of their results equals one of ours when the final casts are left out. */
static bool equal_part(Arena *arena, TorchSameAnswer *answer, const Graph *ours,
                       const Graph *theirs)
{
    const Graph *a = graph_plain(arena, ours, true);
    Graph *b = graph_plain(arena, theirs, true);
    if (b->outputs.len > a->outputs.len || !graph_align(arena, a, b, true))
        return false;
    for (uint32_t i = 0; i < b->outputs.len; i++) {
        bool found = false;
        for (uint32_t k = 0; k < a->outputs.len && !found; k++)
            found = equal_forms(arena, answer, one_result(arena, a, k), one_result(arena, b, i));
        if (!found)
            return false;
    }
    return b->outputs.len > 0;
}

/* A file whose graph rests on what it saw while it was read is compared by elements, which know
 * the conditions. */
static TorchSame compare_forms(Arena *arena, TorchSameAnswer *answer, const TorchTask *ours,
                               const TorchTask *theirs)
{
    const Graph *a = ours->graph, *b = theirs->graph;
    if (equal_forms(arena, answer, a, b))
        return TORCH_SAME;
    if (equal_forms(arena, answer, undrawn(arena, a), undrawn(arena, b)))
        return TORCH_DRAWN;
    if (equal_plain(arena, answer, a, b, false))
        return TORCH_ARRANGED;
    if (equal_plain(arena, answer, a, b, true))
        return TORCH_TYPED;
    if (equal_part(arena, answer, a, b))
        return TORCH_PART;
    equal_plain(arena, answer, a, b, true); /* the forms that are shown */
    return TORCH_DIFFERENT;
}

/* Types and further results: what the definition beside their reference says. Where our operands are
 * not its operands, that is reported in any case. */
static void settle(Arena *arena, TorchSameAnswer *answer, const TorchTask *ours, const char *path)
{
    TorchOpdef def = {0};
    bool open = answer->same == TORCH_TYPED || answer->same == TORCH_PART;
    if (!ours->operands.len || !torch_opdef_beside(arena, path, &def) ||
        !torch_opdef_agrees(arena, ours, &def, &answer->why) || !open)
        return;
    if (torch_opdef_typed(ours, &answer->why)) {
        answer->same = answer->same == TORCH_TYPED ? TORCH_DEFINED : TORCH_ADDED;
        answer->why = NULL;
    }
}

TorchSameAnswer torch_same(Arena *arena, const TorchTask *ours, const TorchTask *theirs,
                           const TorchSameHow *how)
{
    TorchSameAnswer answer = {0};
    answer.same = compare_forms(arena, &answer, ours, theirs);
    if (answer.same == TORCH_DIFFERENT)
        same_by_element(arena, ours, theirs, how, &answer);
    settle(arena, &answer, ours, how->theirs_path);
    if (answer.same != TORCH_DIFFERENT && (ours->conditions || theirs->conditions))
        answer.at_values = true;
    return answer;
}
