/* Draws tasks. In: a seed and a number. Out: a graph of operators over drawn sizes and dtypes, and its
 * model file, read back. The steps that a graph grows by stand in draw_step.c. */
#include "rows/draw_int.h"

#include "base/rng.h"
#include <string.h>

uint64_t dice_u64(Dice *dice) { return rng_u64(dice->seed, dice->stream, dice->at++); }

int64_t dice_below(Dice *dice, int64_t n)
{
    return rng_range(dice->seed, dice->stream, dice->at++, 0, n);
}

bool dice_chance(Dice *dice, int64_t of_hundred) { return dice_below(dice, 100) < of_hundred; }

uint32_t dice_weighted(Dice *dice, const uint8_t *weights, uint32_t n)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += weights[i];
    int64_t at = dice_below(dice, sum);
    for (uint32_t i = 0; i < n; i++) {
        at -= weights[i];
        if (at < 0)
            return i;
    }
    return n - 1;
}

const char *rows_family_name(RowsFamily family)
{
    static const char *const names[] = {
#define FAMILY(id, name, meaning) name,
#include "rows/family.def"
#undef FAMILY
    };
    return names[family];
}

uint64_t rows_task_number(uint64_t n, bool brief)
{
    return !brief && n % 4 == 3 ? ROWS_WIDE + n : n;
}

uint64_t rows_other_number(uint64_t number, uint32_t other, bool brief)
{
    uint64_t wide = brief || other % 2 ? 0 : ROWS_WIDE;
    return (uint64_t)other << 33 | wide | (number & (ROWS_WIDE - 1));
}

/* ---- building ---- */

void draw_set_sizes(Draw *d, ValueId id, Sizes sizes)
{
    while (d->sizes.len <= id)
        vec_push(d->arena, &d->sizes, (Sizes){0});
    d->sizes.at[id] = sizes;
}

ValueId draw_node(Draw *d, Op op, int kind, const ValueId *in, uint32_t n_in, const Attr *attr,
                  uint32_t n_attr, Sizes sizes)
{
    NodeSpec spec = {
        .op = op, .kind = kind, .n_in = n_in, .in = in, .n_attr = n_attr, .attr = attr};
    ValueId out = d->at;
    if (op == OP_REDUCE_INDEX || op == OP_SORT || op == OP_TOPK || op == OP_MEDIAN)
        spec.n_out = 2; /* the second says where it stands */
    if (d->failed || !graph_add(d->g, &spec, &d->diag, &out)) {
        d->failed = true;
        return d->at;
    }
    const Value *v = graph_value(d->g, out);
    bool same = v->shape.rank == sizes.rank;
    for (int i = 0; i < sizes.rank && same; i++)
        same = v->shape.dim[i] == sizes.dim[i].n;
    d->failed = !same;
    draw_set_sizes(d, out, sizes);
    return out;
}

static Shape shape_of(const Sizes *sizes)
{
    Shape shape = {.rank = sizes->rank};
    for (int i = 0; i < sizes->rank; i++)
        shape.dim[i] = sizes->dim[i].n;
    return shape;
}

static Attr attr_ints(Arena *arena, AttrKey key, Shape shape)
{
    int64_t *at = arena_array(arena, int64_t, GRAPH_MAX_RANK);
    memcpy(at, shape.dim, sizeof shape.dim);
    Attr attr = {.key = key};
    attr.ints.at = at;
    attr.ints.len = (uint32_t)shape.rank;
    return attr;
}

/* An input that output `source` of the source graph fills. */
static ValueId add_input(Draw *d, Sizes sizes, DType dtype, ValueId source)
{
    uint32_t n = d->g->inputs.len;
    vec_push(d->arena, &d->g->source->outputs, source);
    Value value = {.dtype = dtype,
                   .shape = shape_of(&sizes),
                   .kind = VALUE_INPUT,
                   .node = NODE_NONE,
                   .source = n,
                   .name = draw_name(d)};
    ValueId id = graph_add_value(d->g, value);
    vec_push(d->arena, &d->g->inputs, id);
    d->inputs[n] = sizes;
    draw_set_sizes(d, id, sizes);
    return id;
}

/* Random numbers in the source graph. */
static bool add_random(Draw *d, int kind, Sizes sizes, DType dtype, double a, double b,
                       ValueId *source)
{
    uint32_t n = d->g->inputs.len;
    Attr attr[] = {attr_ints(d->arena, AT_SHAPE, shape_of(&sizes)),
                   {.key = AT_DTYPE, .dtype = dtype},
                   {.key = AT_A, .f = a},
                   {.key = AT_B, .f = b},
                   {.key = AT_STREAM, .i = n}};
    NodeSpec spec = {.op = OP_RANDOM, .kind = kind, .n_attr = 5, .attr = attr};
    if (n == DRAW_INPUTS || !graph_add(d->g->source, &spec, &d->diag, source))
        d->failed = true;
    return !d->failed;
}

ValueId draw_input(Draw *d, Sizes sizes, DType dtype)
{
    ValueId source;
    return add_random(d, RANDOM_normal, sizes, dtype, 0, 1, &source)
               ? add_input(d, sizes, dtype, source)
               : d->at;
}

ValueId draw_mask_input(Draw *d, Sizes sizes)
{
    ValueId in[2];
    if (!add_random(d, RANDOM_normal, sizes, DT_F32, 0, 1, &in[0]))
        return d->at;
    in[1] = graph_const_int(d->g->source, 0);
    NodeSpec spec = {.op = OP_BINARY, .kind = BINARY_gt, .n_in = 2, .in = in};
    ValueId source;
    if (!graph_add(d->g->source, &spec, &d->diag, &source)) {
        d->failed = true;
        return d->at;
    }
    return add_input(d, sizes, DT_BOOL, source);
}

ValueId draw_whole_input(Draw *d, Sizes sizes, DType dtype, Size below)
{
    ValueId source;
    if (!add_random(d, RANDOM_integer, sizes, dtype, 0, (double)below.n, &source))
        return d->at;
    d->below[d->g->inputs.len] = below.text;
    return add_input(d, sizes, dtype, source);
}

ValueId draw_index_input(Draw *d, Sizes sizes, Size below)
{
    return draw_whole_input(d, sizes, DT_I64, below);
}

ValueId draw_number(Draw *d, double number)
{
    ValueId id = graph_const_float(d->g, number);
    draw_set_sizes(d, id, (Sizes){0});
    return id;
}

ValueId draw_whole(Draw *d, int64_t number)
{
    ValueId id = graph_const_int(d->g, number);
    draw_set_sizes(d, id, (Sizes){0});
    return id;
}

ValueId draw_tensor(Draw *d, Op op, int kind, const ValueId *in, uint32_t n_in, const Attr *attr,
                    uint32_t n_attr)
{
    return draw_node(d, op, kind, in, n_in, attr, n_attr, draw_sizes(d, in[0]));
}

Size draw_knob(Draw *d, int64_t n)
{
    static const char *const names[] = {"batch", "rows",  "steps", "width", "depth",
                                        "heads", "lanes", "cols",  "parts", "items"};
    const char *name;
    uint32_t used;
    do {
        uint32_t k = (uint32_t)dice_below(&d->dice, 10);
        name = d->knobs.len < 5 ? names[k] : str_format(d->arena, "%s%u", names[k], d->knobs.len);
        used = 0;
        for (uint32_t i = 0; i < d->knobs.len; i++)
            used += strcmp(d->knobs.at[i].name, name) == 0;
    } while (used);
    vec_push(d->arena, &d->knobs, ((RowsKnob){name, n}));
    return (Size){n, name, 0};
}

/* ---- sizes of the first input ---- */

static int64_t draw_size(Dice *dice, int64_t most)
{
    static const int64_t often[] = {2,   3,   4,   7,   8,   12,  16,   24,   31,   32,   48,  64,
                                    65,  96,  100, 127, 128, 160, 192,  200,  255,  256,  333, 384,
                                    500, 512, 640, 768, 777, 999, 1000, 1024, 1280, 1536, 2048};
    int64_t n;
    do
        n = dice_chance(dice, 60) ? often[dice_below(dice, 35)] : 2 + dice_below(dice, 1500);
    while (n > most);
    return n;
}

Sizes draw_first_sizes(Draw *d)
{
    static const uint8_t ranks[] = {10, 45, 28, 17};
    static const int64_t totals[] = {1 << 12, 1 << 13, 1 << 15, 1 << 16, 1 << 17, 1 << 19};
    bool deep = d->family == FAMILY_TRANSPOSE || d->family == FAMILY_COLUMN_REDUCE ||
                d->family == FAMILY_ROW_REDUCE || d->family == FAMILY_NORMALISE;
    Sizes sizes = {.rank = 1 + (int)dice_weighted(&d->dice, ranks, 4)};
    if (sizes.rank == 1 && deep)
        sizes.rank = 2;
    if (sizes.rank == 2 && d->family == FAMILY_MANY_REDUCE)
        sizes.rank = 3;
    if (sizes.rank == 1 && d->family == FAMILY_MANY_REDUCE)
        sizes.rank = 3;
    if (sizes.rank == 1 && d->family == FAMILY_DISTANCE)
        sizes.rank = 2 + (int)dice_below(&d->dice, 2);
    if ((d->family == FAMILY_CHANNEL || d->family == FAMILY_POOL) && sizes.rank < 3)
        sizes.rank = 3 + (int)dice_below(&d->dice, 2);
    int64_t left = totals[dice_below(&d->dice, 6)];
    bool large = dice_chance(&d->dice, 55);
    if (sizes.rank == 1)
        left *= 2;
    if (large)
        draw_large(d, &sizes);
    for (int i = 0; i < sizes.rank && !large; i++) {
        int64_t most = left;
        for (int k = i + 1; k < sizes.rank; k++)
            most = most / 16 > 2 ? most / 16 : 2;
        bool tiny = sizes.rank == 1 && dice_chance(&d->dice, 30);
        int64_t n = tiny              ? 2 + dice_below(&d->dice, 2046)
                    : sizes.rank == 1 ? 1000 + dice_below(&d->dice, left)
                                      : draw_size(&d->dice, most);
        sizes.dim[i] = draw_knob(d, n);
        left = left / n > 2 ? left / n : 2;
    }
    if (d->family == FAMILY_REGROUP || d->family == FAMILY_CHANNEL ||
        dice_chance(&d->dice, 10)) { /* an axis that can be split */
        static const int64_t factors[] = {2, 3, 4, 8};
        int i = d->family == FAMILY_CHANNEL ? 1 : (int)dice_below(&d->dice, sizes.rank);
        int64_t by = factors[dice_below(&d->dice, 4)];
        Size *s = &sizes.dim[i];
        *s = (Size){s->n * by, str_format(d->arena, "%lld * %s", (long long)by, s->text), by};
    }
    return sizes;
}

/* ---- whole tasks ---- */

static const char *flow_of(const Graph *g)
{
    bool shared = false;
    if (g->outputs.len > 1)
        return "several results";
    for (ValueId i = 0; i < g->values.len; i++)
        shared = shared || (graph_value(g, i)->kind != VALUE_CONST && graph_readers(g, i) > 1);
    return shared ? "shared" : g->inputs.len > 1 ? "tree" : "chain";
}

/* A second result: a value that is there already. */
static void add_second_result(Draw *d)
{
    ValueId id = d->older.at[dice_below(&d->dice, d->older.len)];
    const Value *v = graph_value(d->g, id);
    if (id != d->at && v->kind == VALUE_NODE && v->dtype == d->dtype)
        vec_push(d->arena, &d->g->outputs, id);
}

static void draw_steps(Draw *d)
{
    static const uint8_t lengths[] = {14, 17, 17, 15, 12, 9, 6, 5, 3, 2};
    uint32_t steps = 1 + dice_weighted(&d->dice, lengths, 10);
    bool last = d->family == FAMILY_PLACE || d->family == FAMILY_SCALAR ||
                d->family == FAMILY_COMPARE;
    uint32_t own = last ? steps - 1 : (uint32_t)dice_below(&d->dice, steps);
    d->at = draw_input(d, draw_first_sizes(d), d->dtype);
    vec_push(d->arena, &d->older, d->at);
    for (uint32_t i = 0; i < steps && !d->failed && !d->ended; i++) {
        RowsFamily other = (RowsFamily)dice_below(&d->dice, FAMILY_PLACE);
        if (i == own && d->family != FAMILY_MIXED)
            draw_step(d, d->family);
        else if (dice_chance(&d->dice, d->family == FAMILY_MIXED ? 60 : 12))
            draw_step(d, other);
        else
            draw_elementwise(d);
        vec_push(d->arena, &d->older, d->at);
    }
}

static void draw_graph(Draw *d)
{
    static const uint8_t dtypes[] = {60, 22, 18};
    static const DType types[] = {DT_F32, DT_F16, DT_BF16};
    d->dtype = types[dice_weighted(&d->dice, dtypes, 3)];
    if (d->family > FAMILY_MIXED)
        draw_wide(d);
    else
        draw_steps(d);
    vec_push(d->arena, &d->g->outputs, d->at);
    for (uint32_t i = 0; i < d->results.len; i++)
        if (d->results.at[i] != d->at)
            vec_push(d->arena, &d->g->outputs, d->results.at[i]);
    if (!d->results.len && !d->ended && dice_chance(&d->dice, 10))
        add_second_result(d);
}

static bool write_file(Draw *d, RowsTask *task)
{
    ModelDims dims = {.knobs = d->knobs.at, .n_knobs = d->knobs.len};
    for (uint32_t i = 0; i < d->g->inputs.len; i++) {
        const char **text = arena_array(d->arena, const char *, GRAPH_MAX_RANK);
        for (int k = 0; k < d->inputs[i].rank; k++)
            text[k] = d->inputs[i].dim[k].text;
        dims.of[i] = text;
        dims.below[i] = d->below[i];
    }
    Buf out = {0};
    task->dims = dims;
    task->wording = dice_u64(&d->dice);
    bool ok = model_write(d->arena, d->g, &dims, task->wording, &out);
    task->model = str_from(buf_take(&out, d->arena));
    buf_free(&out);
    return ok;
}

const TorchTask *rows_read(Arena *arena, Str model, const TorchSet *sets, uint32_t n_sets)
{
    Diag quiet = diag_make(arena, "model.py", model);
    TorchOptions options = {.sets = sets, .n_sets = n_sets, .no_data = true};
    return torch_read(arena, "model.py", model, &options, &quiet);
}

static bool means_the_same(Arena *arena, const Graph *a, const Graph *b)
{
    Buf left = {0}, right = {0};
    graph_print(graph_normal(arena, a), &left);
    graph_print(graph_normal(arena, b), &right);
    bool same = str_equal(buf_view(&left), buf_view(&right));
    buf_free(&left);
    buf_free(&right);
    return same;
}

static uint32_t count_operators(const Graph *g) { return g->nodes.len; }

static RowsFamily draw_family(Dice *dice, uint64_t number)
{
    int64_t wide = FAMILY_COUNT - FAMILY_MIXED - 1;
    return number & ROWS_WIDE ? (RowsFamily)(FAMILY_MIXED + 1 + dice_below(dice, wide))
                              : (RowsFamily)dice_below(dice, FAMILY_MIXED + 1);
}

RowsFamily rows_number_family(uint64_t seed, uint64_t number)
{
    Dice dice = {seed, number + 1, 0};
    return draw_family(&dice, number);
}

bool rows_draw(Arena *arena, uint64_t seed, uint64_t number, RowsTask *task, bool *differs)
{
    Draw d = {.arena = arena, .dice = {seed, number + 1, 0}};
    d.diag = diag_make(arena, "drawn", STR(""));
    d.family = draw_family(&d.dice, number);
    d.g = graph_new(arena, "model");
    d.g->source = graph_new(arena, "source");
    draw_graph(&d);
    *task = (RowsTask){.number = number, .family = d.family};
    *differs = false;
    if (d.failed || !d.g->nodes.len)
        return false;
    task->families = d.families | 1u << d.family;
    task->whole = d.g;
    task->drawn = graph_prune(arena, d.g);
    task->flow = flow_of(task->drawn);
    task->operators = count_operators(task->drawn);
    for (uint32_t i = 0; i < d.knobs.len; i++)
        vec_push(arena, &task->knobs, d.knobs.at[i]);
    if (!write_file(&d, task)) {
        *differs = true;
        return false;
    }
    task->read = rows_read(arena, task->model, NULL, 0);
    *differs = !task->read || !means_the_same(arena, d.g, task->read->graph);
    return !*differs;
}
