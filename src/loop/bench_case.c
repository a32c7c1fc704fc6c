/* The cases of a task. In: the options, and the cases its suite lists. Out: graphs at the
 * sizes of each. */
#include "loop/bench_judge_int.h"

#include <string.h>

static void add_case(Arena *arena, CaseSpecs *list, const JudgeSpec *spec, const char *name,
                     TorchScale scale, int64_t listed)
{
    CaseSpec c = {.name = name, .scale = scale, .seed = spec->seed + list->len, .listed = listed};
    vec_push(arena, list, c);
}

void case_list(Arena *arena, const JudgeSpec *spec, const TorchCases *cases, CaseSpecs *list)
{
    TorchScale scale = spec->own_sizes ? SCALE_FULL : spec->tiny ? SCALE_TINY : SCALE_SMALL;
    uint32_t listed = cases->lines.len < spec->listed ? cases->lines.len : spec->listed;
    if (spec->only > 0 && spec->only <= cases->lines.len) {
        add_case(arena, list, spec, str_format(arena, "listed%lld", (long long)spec->only - 1),
                 SCALE_FULL, spec->only - 1);
        return;
    }
    for (uint32_t i = 0; i < listed; i++)
        add_case(arena, list, spec, str_format(arena, "listed%u", i), scale, i);
    if (!listed)
        add_case(arena, list, spec, spec->own_sizes ? "own" : "small", scale, -1);
    if (spec->own_sizes)
        return;
    for (uint32_t i = 0; i < spec->fuzz; i++)
        add_case(arena, list, spec, str_format(arena, "fuzz%u", i), SCALE_FUZZ, listed ? 0 : -1);
}

enum { DRAWS = 20 };

TorchTask *case_read(Arena *arena, const JudgeTask *task, const CaseSpec *c,
                     const TorchCases *cases, TorchOptions *options, Diag *diag)
{
    *options = (TorchOptions){.seed = c->seed, .float_type = c->float_type};
    if (c->listed >= 0) {
        options->cases = cases;
        options->case_index = (uint32_t)c->listed;
    }
    options->sets = c->sets;
    options->n_sets = c->n_sets;
    for (int draw = 0; draw < DRAWS; draw++) {
        Diag own = diag_make(arena, task->path, task->source);
        TorchTask *read = torch_read_scaled(arena, task->path, task->source, options, c->scale,
                                            &own);
        if (read && !graph_any_empty(read->graph))
            return read;
        *diag = own;
        if (read)
            diag_error(diag, "B003", (Span){0}, "the case has a tensor without elements");
        if (c->scale != SCALE_FUZZ)
            break;
        options->seed += 1000003;
    }
    return NULL;
}

static void add_shapes(const Graph *graph, const ValueId *ids, uint32_t n, Buf *out)
{
    for (uint32_t i = 0; i < n; i++) {
        const Value *v = graph_value(graph, ids[i]);
        buf_printf(out, "%s%s", out->len ? ", " : "", dtype_name(v->dtype));
        shape_print(v->shape, out);
    }
}

const char *case_shapes(Arena *arena, const Graph *graph)
{
    Buf out = {0};
    add_shapes(graph, graph->inputs.at, graph->inputs.len, &out);
    add_shapes(graph, graph->params.at, graph->params.len, &out);
    const char *text = out.len ? buf_take(&out, arena) : "";
    buf_free(&out);
    return text;
}
