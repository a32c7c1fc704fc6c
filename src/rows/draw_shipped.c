/* Tasks from the shipped model files. In: dice. Out: the graph of one of them at drawn sizes, which is then written in
 * other words.
 *
 *     shipped.def ─drawn sizes─▶ model.py ─torch─▶ graph ─model.c, other names and spellings─▶ the task's file */
#include "rows/draw_int.h"

typedef struct Shipped {
    const char *name, *inputs, *body;
} Shipped;

static const Shipped shipped[] = {
#define SHIPPED(name, inputs, body) {#name, inputs, body},
#include "rows/shipped.def"
#undef SHIPPED
};
enum { SHIPPED = sizeof shipped / sizeof *shipped };

uint32_t rows_shipped(void) { return SHIPPED; }
const char *rows_shipped_name(uint32_t i) { return shipped[i].name; }
const char *rows_shipped_body(uint32_t i) { return shipped[i].body; }

/* A size for each letter. */
static Sizes draw_axes(Draw *d, Str inputs)
{
    static const int64_t most[] = {20000, 400, 48};
    Sizes axes = {0};
    for (size_t i = 0; i < inputs.len; i++)
        if (inputs.at[i] >= 'A' && inputs.at[i] <= 'C' && inputs.at[i] - 'A' >= axes.rank)
            axes.rank = inputs.at[i] - 'A' + 1;
    if (dice_chance(&d->dice, 50))
        draw_large(d, &axes);
    else
        for (int i = 0; i < axes.rank; i++)
            axes.dim[i] = draw_knob(d, 3 + dice_below(&d->dice, most[axes.rank - 1]));
    return axes;
}

static Sizes sizes_of(Str letters, const Sizes *axes)
{
    static const Size one = {1, "1", 0};
    Sizes sizes = {.rank = (int)letters.len};
    for (int i = 0; i < sizes.rank; i++)
        sizes.dim[i] = letters.at[i] == '1' ? one : axes->dim[letters.at[i] - 'A'];
    return sizes;
}

/* "p:AB u:A1" as arguments, or as tensors. */
static void put_inputs(const Draw *d, Str inputs, const Sizes *axes, bool tensors, Buf *out)
{
    static const char *const types[] = {"", ", dtype=torch.float16", ", dtype=torch.bfloat16"};
    Str one, name;
    for (bool more = false; str_next(&inputs, ' ', &one); more = true) {
        str_next(&one, ':', &name);
        Sizes sizes = sizes_of(one, axes);
        if (!tensors) {
            buf_printf(out, ", %.*s", STR_ARG(name));
            continue;
        }
        buf_puts(out, more ? ", torch.randn(" : "torch.randn(");
        for (int i = 0; i < sizes.rank; i++)
            buf_printf(out, "%s%lld", i ? ", " : "", (long long)sizes.dim[i].n);
        buf_printf(out, "%s)", types[d->dtype == DT_F16 ? 1 : d->dtype == DT_BF16 ? 2 : 0]);
    }
}

static Str file_of(Draw *d, const Shipped *s, const Sizes *axes)
{
    Buf out = {0};
    Str body = str_from(s->body), line;
    buf_puts(&out, "import torch\nimport torch.nn as nn\n\nclass Model(nn.Module):\n"
                   "    def forward(self");
    put_inputs(d, str_from(s->inputs), axes, false, &out);
    buf_puts(&out, "):\n");
    while (str_next(&body, '\n', &line))
        buf_printf(&out, "        %.*s\n", STR_ARG(line));
    buf_puts(&out, "\ndef get_inputs():\n    return [");
    put_inputs(d, str_from(s->inputs), axes, true, &out);
    buf_puts(&out, "]\n\ndef get_init_inputs():\n    return []\n");
    Str text = str_from(buf_take(&out, d->arena));
    buf_free(&out);
    return text;
}

/* The graph that was read takes the place of the one that grows. */
static void take_graph(Draw *d, Graph *g, Str inputs, const Sizes *axes)
{
    Str one, name;
    d->g = g;
    for (uint32_t i = 0; i < g->inputs.len && str_next(&inputs, ' ', &one); i++) {
        str_next(&one, ':', &name);
        d->inputs[i] = sizes_of(one, axes);
        g->values.at[g->inputs.at[i]].name = draw_name(d);
    }
    d->at = g->outputs.at[0];
    for (uint32_t i = 1; i < g->outputs.len; i++)
        vec_push(d->arena, &d->results, g->outputs.at[i]);
    g->outputs.len = 0; /* rows_draw adds them */
}

void draw_shipped(Draw *d)
{
    const Shipped *s = &shipped[dice_below(&d->dice, SHIPPED)];
    Sizes axes = draw_axes(d, str_from(s->inputs));
    const TorchTask *read = rows_read(d->arena, file_of(d, s, &axes), NULL, 0);
    d->ended = true;
    d->failed = d->failed || !read || !read->graph->outputs.len;
    if (!d->failed)
        take_graph(d, read->graph, str_from(s->inputs), &axes);
}
