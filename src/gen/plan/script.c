/* Filling programs with holes. In: operands, holes, text. Out: Craft text and a plan. */
#include "gen/plan/script.h"

/* Results behind everything else. */
static uint32_t place_of(const Graph *g, const ScriptOperand *o)
{
    return o->output ? g->inputs.len + g->params.len + g->values.len : graph_place(g, o->value);
}

void script_add(Script *s, ValueId value, bool output, const char *name, const char *dims,
                Shape shape)
{
    ScriptOperand o = {value, output, name, dims, shape};
    uint32_t at = s->n++;
    for (; at && place_of(s->g, &o) < place_of(s->g, &s->operand[at - 1]); at--)
        s->operand[at] = s->operand[at - 1];
    s->operand[at] = o;
}

void script_set(Script *s, char hole, const char *text) { s->hole[hole - 'A'] = text; }

void script_number(Script *s, char hole, int64_t number)
{
    script_set(s, hole, str_format(s->arena, "%lld", (long long)number));
}

static void put_parameters(const Script *s, Buf *out)
{
    for (uint32_t i = 0; i < s->n; i++) {
        const ScriptOperand *o = &s->operand[i];
        buf_printf(out, "%s%s: %s[%s, %s]", i ? ", " : "", o->name, o->output ? "out" : "gm",
                   dtype_name(graph_value(s->g, o->value)->dtype), o->dims);
    }
}

static void put_hole(const Script *s, char hole, Buf *out)
{
    if (hole == 'F')
        buf_puts(out, s->name);
    else if (hole == 'P')
        put_parameters(s, out);
    else if (hole == 'A')
        for (uint32_t i = 0; i < s->n; i++)
            buf_printf(out, "%s%s", i ? ", " : "", s->operand[i].name);
    else
        buf_puts(out, s->hole[hole - 'A'] ? s->hole[hole - 'A'] : "");
}

void script_put(const Script *s, const char *text, Buf *out)
{
    for (const char *c = text; *c; c++) {
        if (*c == '$' && c[1] >= 'A' && c[1] <= 'Z')
            put_hole(s, *++c, out);
        else
            buf_char(out, *c);
    }
}

void script_finish(const Script *s, const char *strategy, int64_t tile, Buf *out, Plan *plan)
{
    *plan = (Plan){.strategy = strategy, .name = s->name, .tile = tile};
    plan->craft = str_from(buf_take(out, s->arena));
    buf_free(out);
    for (uint32_t i = 0; i < s->n; i++) {
        const ScriptOperand *from = &s->operand[i];
        PlanOperand o = {.value = from->value,
                         .output = from->output,
                         .name = from->name,
                         .dtype = graph_value(s->g, from->value)->dtype,
                         .shape = from->shape};
        vec_push(s->arena, &plan->operands, o);
    }
}

Shape script_shape2(int64_t a, int64_t b) { return (Shape){2, {a, b}}; }

Shape script_shape3(int64_t a, int64_t b, int64_t c) { return (Shape){3, {a, b, c}}; }

int64_t script_product(Shape s, int from, int to)
{
    int64_t n = 1;
    for (int i = from; i < to; i++)
        n *= s.dim[i];
    return n;
}
