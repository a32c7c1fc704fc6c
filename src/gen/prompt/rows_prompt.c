/* Questions in the form of the training rows: a line that asks, an empty line, the task. */
#include "gen/prompt/prompt_int.h"

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

void prompt_rows_graph(const Graph *graph, Buf *out)
{
    Buf all = {0};
    uint32_t inputs = 0;
    graph_print(graph, &all);
    Str rest = buf_view(&all), line;
    while (str_next(&rest, '\n', &line) && !str_starts(line, "}") && !str_starts(line, "source")) {
        ptrdiff_t cut = str_find(line, STR(" @"));
        if (cut < 0)
            cut = str_find(line, STR(" source "));
        Str kept = cut < 0 ? line : str_slice(line, 0, (size_t)cut);
        if (!str_starts(kept, "graph ") && !str_starts(kept, "  note")) {
            buf_str(out, str_trim(kept));
            if (str_find(kept, STR(" = input ")) >= 0 && inputs < graph->inputs.len)
                put_products(graph_value(graph, graph->inputs.at[inputs++])->shape, out);
            buf_char(out, '\n');
        }
    }
    put_results(graph, out);
    buf_free(&all);
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

/* What stands in the last fence of an answer, or all of it. */
static Str fenced(Str answer)
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
    prompt_rows_repair(task, fenced(messages->at[n - 2].text), messages->at[n - 1].text, &out);
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
