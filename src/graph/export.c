/* Writes a task's values (layout in the header). In: tensors; out: .npy files, a list of them. */
#include "graph/export.h"
#include "graph/npy.h"
#include "base/file.h"
#include <string.h>

typedef struct Export {
    Arena arena;
    const char *dir;
    const Graph *graph;
    Buf json;
    Diag *diag;
} Export;

static const char *kind_name(ValueKind kind)
{
    static const char *const names[] = {"const", "input", "param", "buffer", "node"};
    return names[kind];
}

static void describe(Export *x, ValueId id, const Tensor *t, const char *file)
{
    const Value *v = graph_value(x->graph, id);
    buf_puts(&x->json, "{\"file\": ");
    buf_json_str(&x->json, str_from(file));
    buf_puts(&x->json, ", \"name\": ");
    buf_json_str(&x->json, str_from(v->name));
    buf_printf(&x->json, ", \"kind\": \"%s\", \"dtype\": \"%s\", \"shape\": ", kind_name(v->kind),
               dtype_name(t->dtype));
    shape_print(t->shape, &x->json);
    buf_char(&x->json, '}');
}

static bool write_all(Export *x, const char *part, const ValueId *ids, uint32_t n,
                      Tensor *const *values)
{
    if (!file_make_dirs(path_join(&x->arena, x->dir, part), x->diag))
        return false;
    buf_printf(&x->json, ",\n \"%s\": [", part);
    for (uint32_t i = 0; i < n; i++) {
        const char *file = str_format(&x->arena, "%s/%u.npy", part, i);
        if (!npy_write(path_join(&x->arena, x->dir, file), values[i], x->diag))
            return false;
        buf_puts(&x->json, i ? ",\n  " : "\n  ");
        describe(x, ids[i], values[i], file);
    }
    buf_puts(&x->json, "]");
    return true;
}

static void write_rest(Export *x, Str more)
{
    buf_puts(&x->json, ",\n \"notes\": [");
    for (uint32_t i = 0; i < x->graph->notes.len; i++) {
        buf_puts(&x->json, i ? ", " : "");
        buf_json_str(&x->json, str_from(x->graph->notes.at[i]));
    }
    buf_puts(&x->json, "]");
    if (more.len)
        buf_printf(&x->json, ",\n %.*s", STR_ARG(more));
    buf_puts(&x->json, "}\n");
}

/* The random nodes of the graph itself, drawn again under the same seed. */
static bool write_drawn(Export *x, const TaskInputs *in)
{
    Graph g = *x->graph;
    memset(&g.outputs, 0, sizeof g.outputs);
    memset(&g.nodes, 0, sizeof g.nodes);
    for (uint32_t n = 0; n < x->graph->nodes.len; n++)
        if (x->graph->nodes.at[n].op == OP_RANDOM) {
            vec_push(&x->arena, &g.nodes, x->graph->nodes.at[n]);
            vec_push(&x->arena, &g.outputs, x->graph->nodes.at[n].out);
        }
    if (g.nodes.len == 0)
        return true;
    Tensor **drawn = arena_array(&x->arena, Tensor *, g.outputs.len + 1);
    EvalOptions options = {.seed = in->seed};
    bool ok = graph_eval(&g, in->inputs, in->params, &options, drawn, x->diag) &&
              write_all(x, "drawn", g.outputs.at, g.outputs.len, drawn);
    for (uint32_t i = 0; i < g.outputs.len; i++)
        tensor_free(drawn[i]);
    return ok;
}

bool graph_export(const char *dir, const Graph *g, const TaskInputs *in, Tensor *const *outputs,
                  Str more, Diag *diag)
{
    Export x = {.dir = dir, .graph = g, .diag = diag};
    buf_puts(&x.json, "{\"name\": ");
    buf_json_str(&x.json, str_from(g->name));
    bool ok = write_all(&x, "inputs", g->inputs.at, in->n_inputs, in->inputs) &&
              write_all(&x, "params", g->params.at, in->n_params, in->params) &&
              write_drawn(&x, in) &&
              (!outputs || write_all(&x, "outputs", g->outputs.at, g->outputs.len, outputs));
    write_rest(&x, more);
    ok = ok && file_write(path_join(&x.arena, dir, "values.json"), buf_view(&x.json), diag);
    buf_free(&x.json);
    arena_drop(&x.arena);
    return ok;
}
