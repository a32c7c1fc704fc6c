/* What a program's names mean in the task. In: a text that speaks of x0, y1, n2. Out: the text, with
 * a legend of those it speaks of: "(x0 is pred, n0 is axis 0 of pred (64))". */
#include "loop/craft_edit.h"
#include "loop/make_int.h"

static bool in_name(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool speaks_of(Str text, Str name)
{
    for (size_t i = 0; i + name.len <= text.len; i++) {
        bool starts = i == 0 || !in_name(text.at[i - 1]);
        bool ends = i + name.len == text.len || !in_name(text.at[i + name.len]);
        if (starts && ends && str_equal(str_slice(text, i, i + name.len), name))
            return true;
    }
    return false;
}

static const char *task_name(Arena *arena, const Graph *graph, const PlanOperand *o)
{
    for (uint32_t i = 0; i < graph->outputs.len && o->output; i++)
        if (graph->outputs.at[i] == o->value)
            return str_format(arena, "result %u", i);
    return graph_value(graph, o->value)->name;
}

static void add_meaning(Buf *out, const char *what, const char *means)
{
    buf_printf(out, "%s%s %s", out->len ? ", " : "", what, means);
}

/* "axis 0 of x (2048)"; "a size of x (8192)" where the program sees other axes than the task has. */
static const char *axis_text(Arena *arena, const Graph *graph, const PlanOperand *o,
                             const char *name, uint32_t axis)
{
    long long size = (int)axis < o->shape.rank ? (long long)o->shape.dim[axis] : 0;
    bool same = shape_equal(graph_value(graph, o->value)->shape, o->shape);
    return same ? str_format(arena, "axis %u of %s (%lld)", axis, name, size)
                : str_format(arena, "a size of %s (%lld)", name, size);
}

static void add_sizes(Arena *arena, const Graph *graph, const Plan *plan, const PlanOperand *o,
                      const char *name, Str text, Str *said, Buf *out)
{
    NameList sizes = {0};
    edit_sizes(arena, plan->craft, o->name, &sizes);
    for (uint32_t i = 0; i < sizes.len; i++) {
        Str dim = str_from(sizes.at[i] ? sizes.at[i] : "");
        if (!dim.len || !speaks_of(text, dim) || speaks_of(*said, dim))
            continue;
        add_meaning(out, str_dup(arena, dim),
                    str_format(arena, "is %s", axis_text(arena, graph, o, name, i)));
        *said = str_from(str_format(arena, "%.*s %.*s", STR_ARG(*said), STR_ARG(dim)));
    }
}

const char *make_names(Arena *arena, const Graph *graph, const Plan *plan, const char *text)
{
    Str whole = str_from(text), said = {0};
    Buf out = {0};
    for (uint32_t i = 0; i < plan->operands.len; i++) {
        const PlanOperand *o = &plan->operands.at[i];
        const char *name = task_name(arena, graph, o);
        if (!name)
            continue;
        if (speaks_of(whole, str_from(o->name)) && !str_is(str_from(name), o->name))
            add_meaning(&out, o->name, str_format(arena, "is %s", name));
        add_sizes(arena, graph, plan, o, name, whole, &said, &out);
    }
    const char *full = out.len ? str_format(arena, "%s (%s)", text, out.at) : text;
    buf_free(&out);
    return full;
}

const char *make_inputs(Arena *arena, const Graph *graph)
{
    enum { MOST = 12 };
    Buf out = {0};
    for (uint32_t i = 0; i < graph->inputs.len && i < MOST; i++) {
        const Value *v = graph_value(graph, graph->inputs.at[i]);
        buf_printf(&out, "%s%s%s%s", i ? ", " : "", v->name ? v->name : "", v->name ? " " : "",
                   dtype_name(v->dtype));
        shape_print(v->shape, &out);
    }
    if (graph->inputs.len > MOST)
        buf_printf(&out, ", %u more", graph->inputs.len - MOST);
    const char *text = out.len ? buf_take(&out, arena) : "";
    buf_free(&out);
    return text;
}

const char *make_operand_names(Arena *arena, const Graph *graph, const Plan *plan)
{
    Buf out = {0};
    for (uint32_t i = 0; i < plan->operands.len; i++) {
        const PlanOperand *o = &plan->operands.at[i];
        const char *name = task_name(arena, graph, o);
        buf_printf(&out, "%s`%s` is %s", i ? ", " : "", o->name, name ? name : "without a name");
    }
    buf_puts(&out, ".\n");
    const char *text = buf_take(&out, arena);
    buf_free(&out);
    return text;
}

const char *make_size_names(Arena *arena, const Graph *graph, const Plan *plan)
{
    Buf out = {0};
    Str said = {0};
    for (uint32_t i = 0; i < plan->operands.len; i++) {
        const PlanOperand *o = &plan->operands.at[i];
        const char *name = task_name(arena, graph, o);
        if (name)
            add_sizes(arena, graph, plan, o, name, plan->craft, &said, &out);
    }
    const char *text = out.len ? buf_take(&out, arena) : NULL;
    buf_free(&out);
    return text;
}
