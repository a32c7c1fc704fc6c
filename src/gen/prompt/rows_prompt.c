/* Questions in the form of the training rows: a line that asks, an empty line, the task. */
#include "gen/prompt/prompt_int.h"

#include "graph/operand.h"

enum { MOST_MESSAGE = 900 };

/* Products of sizes, which a small model cannot multiply: how far apart the elements of each axis lie, and
 * how many rows there are up to each axis. */
static void put_products(Shape shape, Buf *out)
{
    int64_t stride[GRAPH_MAX_RANK], rows = 1, step = 1;
    if (shape.rank < 2)
        return;
    for (int i = shape.rank; i-- > 0; step *= shape.dim[i])
        stride[i] = step;
    buf_puts(out, " strides [");
    for (int i = 0; i < shape.rank; i++)
        buf_printf(out, "%s%lld", i ? "," : "", (long long)stride[i]);
    buf_puts(out, "] rows [");
    for (int i = 0; i < shape.rank; i++) {
        rows *= shape.dim[i];
        buf_printf(out, "%s%lld", i ? "," : "", (long long)rows);
    }
    buf_char(out, ']');
}

static void put_results(const Graph *graph, Buf *out)
{
    for (uint32_t i = 0; i < graph->outputs.len; i++) {
        Shape shape = graph_value(graph, graph->outputs.at[i])->shape;
        if (shape.rank < 2)
            continue;
        buf_printf(out, "output%u", i);
        put_products(shape, out);
        buf_char(out, '\n');
    }
}

/* A number that something is divided by: programs multiply with its inverse, which a small model cannot
 * compute. */
static void put_inverse(const Graph *graph, ValueId id, Buf *out)
{
    const Value *v = graph_value(graph, id);
    for (uint32_t i = 0; i < graph->nodes.len && !v->shape.rank; i++) {
        const Node *node = &graph->nodes.at[i];
        if (node->op == OP_BINARY && node->kind == BINARY_div && node->in[1] == id &&
            dtype_load(v->dtype, v->data, 0) != 0) {
            buf_puts(out, " inverse ");
            buf_double(out, 1 / dtype_load(v->dtype, v->data, 0));
            return;
        }
    }
}

/* A tensor that is given, as the program calls it: parameters are inputs, too. */
static void put_given(const Value *v, const char *name, ValueId id, Buf *out)
{
    buf_printf(out, "%%%u = input \"%s\" %s", id, name, dtype_name(v->dtype));
    shape_print(v->shape, out);
    put_products(v->shape, out);
    buf_char(out, '\n');
}

static const char *given_name(const Graph *graph, const GraphNames *names, ValueId id)
{
    for (uint32_t i = 0; i < graph->inputs.len; i++)
        if (graph->inputs.at[i] == id)
            return names->inputs[i];
    for (uint32_t i = 0; i < graph->params.len; i++)
        if (graph->params.at[i] == id)
            return names->params[i];
    return "";
}

void prompt_rows_graph(const Graph *graph, Buf *out)
{
    Arena scratch = {0};
    GraphNames names = graph_names(&scratch, graph);
    for (ValueId i = 0; i < graph->values.len;) {
        const Value *v = graph_value(graph, i);
        if (v->kind == VALUE_INPUT || v->kind == VALUE_PARAM) {
            put_given(v, given_name(graph, &names, i), i, out);
            i++;
            continue;
        }
        graph_print_value(graph, i, out);
        if (v->kind == VALUE_CONST)
            put_inverse(graph, i, out);
        buf_char(out, '\n');
        i = v->kind == VALUE_NODE ? graph->nodes.at[v->node].out + graph->nodes.at[v->node].n_out
                                  : i + 1;
    }
    buf_puts(out, "return");
    for (uint32_t i = 0; i < graph->outputs.len; i++)
        buf_printf(out, "%s%%%u", i ? ", " : " ", graph->outputs.at[i]);
    buf_char(out, '\n');
    put_results(graph, out);
    arena_drop(&scratch);
}

void prompt_rows_program(Str craft, Buf *out)
{
    buf_printf(out, "```python\n%.*s", STR_ARG(craft));
    buf_puts(out, str_ends(craft, "\n") ? "```\n" : "\n```\n");
}

static Str first_lines(Str message)
{
    Str kept = str_slice(message, 0, MOST_MESSAGE);
    while (kept.len < message.len && kept.len && kept.at[kept.len - 1] != '\n')
        kept.len--;
    return kept;
}

void prompt_rows_repair(Str task, Str craft, Str message, Buf *out)
{
    buf_puts(out, "This Craft kernel fails. Say why and repair it.\n\n");
    buf_str(out, task);
    buf_char(out, '\n');
    prompt_rows_program(craft, out);
    buf_str(out, first_lines(message));
}

Str prompt_rows_fenced(Str answer)
{
    const Str fence = STR("```");
    Str found = answer, rest = answer;
    for (ptrdiff_t open; (open = str_find(rest, fence)) >= 0;) {
        rest = str_slice(rest, (size_t)open + fence.len, rest.len);
        ptrdiff_t line = str_find(rest, STR("\n"));
        Str body = line < 0 ? rest : str_slice(rest, (size_t)line + 1, rest.len);
        ptrdiff_t close = str_find(body, fence);
        found = close < 0 ? body : str_slice(body, 0, (size_t)close);
        if (close < 0)
            break;
        rest = str_slice(body, (size_t)close + fence.len, body.len);
    }
    return found;
}

Str prompt_rows_of(Arena *arena, const ChatMessages *messages)
{
    uint32_t n = messages->len, first = 0;
    while (first < n && messages->at[first].role != CHAT_USER)
        first++;
    if (first == n)
        return (Str){0};
    Str ask = messages->at[first].text;
    if (n < first + 3)
        return ask;
    ptrdiff_t blank = str_find(ask, STR("\n\n"));
    Str task = blank < 0 ? ask : str_slice(ask, (size_t)blank + 2, ask.len);
    Buf out = {0};
    prompt_rows_repair(task, prompt_rows_fenced(messages->at[n - 2].text), messages->at[n - 1].text,
                       &out);
    Str text = str_copy(arena, buf_view(&out));
    buf_free(&out);
    return text;
}

bool prompt_rows(Arena *arena, const PromptSpec *spec, Prompt *prompt)
{
    Buf user = {0};
    buf_printf(&user, "Write a Craft kernel for this task on %s.\n\n", spec->chip->name);
    prompt_rows_graph(spec->graph, &user);
    prompt_say(arena, prompt, CHAT_USER, &user);
    return true;
}
