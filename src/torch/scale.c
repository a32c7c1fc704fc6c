/* Sizes for a task: the file's own constants, shrunk while inference still holds.
 *
 * The integers of the file (knobs) are halved in turn, the largest first; a step is kept when
 * the file still reads and costs less. Constants that must agree (a weight's rows and an input's
 * columns) fail alone and are then tried together. First only the constants outside classes move,
 * then those inside too, at last to very small sizes; until then the graph keeps its nodes, and
 * what is summed or normalised keeps at least a few elements: the norm of one is always 0.
 * `fuzz` starts from the small sizes and draws odd ones. */
#include "torch/knob.h"

#include "base/rng.h"
#include "graph/compare.h"
#include <string.h>

typedef struct Scaler {
    Arena *arena;
    const char *path;
    const Py *module;
    const TorchOptions *options;
    KnobList knobs;
    double budget_bytes, budget_flops;
    uint32_t nodes; /* of the full graph */
    const Graph *full;
    uint32_t trials;
    double cost; /* of the sizes in hand: at most 1 fits the budget */
    int stage;
} Scaler;

enum { MAX_TRIALS = 1500, STAGES = 4 };

static const char *const scale_names[] = {"full", "medium", "small", "fuzz", "tiny"};

const char *torch_scale_name(TorchScale scale) { return scale_names[scale]; }

bool torch_scale_from_name(Str name, TorchScale *scale)
{
    for (int i = 0; i <= SCALE_TINY; i++) {
        if (str_is(name, scale_names[i])) {
            *scale = (TorchScale)i;
            return true;
        }
    }
    return false;
}

/* How far over the budget: the larger of bytes and arithmetic, as parts of their budgets. */
static double cost_of(const Scaler *s, const Graph *graph)
{
    double bytes = 0;
    const Graph *both[] = {graph, graph->source};
    for (int g = 0; g < 2; g++) {
        int64_t all, largest;
        if (!graph_bytes(both[g], &all, &largest))
            return 1e300;
        bytes += (double)all;
    }
    double flops = graph_cost(graph).flops;
    double a = bytes / s->budget_bytes, b = flops / s->budget_flops;
    /* the smaller part counts a little, so that progress in it is seen */
    return a > b ? a + b / 64 : b + a / 64;
}

/* A group norm whose groups are single channels: the mean of each is 0. */
static bool single_channels(const Graph *g, const Node *node)
{
    return node->op == OP_GROUP_NORM &&
           graph_value(g, node->out)->shape.dim[1] == node_int(node, AT_GROUPS, 1);
}

/* Whether each sum and norm still runs over a few elements, where it did at full size. */
static bool telling(const Scaler *s, const Graph *graph)
{
    enum { FEW = 4 };
    for (uint32_t i = 0; i < graph->nodes.len && i < s->full->nodes.len; i++) {
        const Node *before = &s->full->nodes.at[i], *now = &graph->nodes.at[i];
        int64_t length = compare_reduction(graph, now);
        if (length < FEW && length < compare_reduction(s->full, before))
            return false;
        if (single_channels(graph, now) && !single_channels(s->full, before))
            return false;
    }
    return true;
}

static bool same_ints(const Attr *a, const Attr *b)
{
    bool same = (a != NULL) == (b != NULL) && (!a || a->ints.len == b->ints.len);
    for (uint32_t i = 0; same && a && i < a->ints.len; i++)
        same = a->ints.at[i] == b->ints.at[i];
    return same;
}

/* A window and its steps are no sizes: with others it is another operator, which no kernel for this
 * one could be. Where they follow from sizes (adaptive pools), those stay too. */
static bool same_windows(const Graph *full, const Graph *graph)
{
    static const AttrKey keys[] = {AT_KERNEL, AT_STRIDE, AT_PADDING, AT_DILATION};
    bool same = true;
    for (uint32_t i = 0; i < graph->nodes.len && i < full->nodes.len; i++)
        for (size_t k = 0; same && k < sizeof keys / sizeof *keys; k++)
            same = same_ints(node_attr(&full->nodes.at[i], keys[k]),
                             node_attr(&graph->nodes.at[i], keys[k]));
    return same;
}

/* Whether the operands, their last axes together, agree where those of the full graph do. */
static bool agree_alike(Shape a, Shape b, Shape full_a, Shape full_b)
{
    for (int i = 1; i <= full_a.rank && i <= full_b.rank; i++)
        if (full_a.dim[full_a.rank - i] == full_b.dim[full_b.rank - i] &&
            (i > a.rank || i > b.rank || a.dim[a.rank - i] != b.dim[b.rank - i]))
            return false;
    return true;
}

/* Two literals of one value may be drawn apart, so that one operand is broadcast along an axis that it has
 * in the file: another operator, too. */
static bool same_broadcasts(const Graph *full, const Graph *graph)
{
    bool same = true;
    for (uint32_t i = 0; same && i < graph->nodes.len && i < full->nodes.len; i++) {
        const Node *a = &full->nodes.at[i], *b = &graph->nodes.at[i];
        bool broadcast = a->op == OP_BINARY || a->op == OP_WHERE || a->op == OP_ADDCMUL ||
                         a->op == OP_ADDCDIV;
        for (uint32_t k = 1; same && broadcast && a->op == b->op && k < a->n_in; k++)
            same = agree_alike(
                graph_value(graph, b->in[0])->shape, graph_value(graph, b->in[k])->shape,
                graph_value(full, a->in[0])->shape, graph_value(full, a->in[k])->shape);
    }
    return same;
}

bool torch_same_operator(const Graph *full, const Graph *graph)
{
    return same_windows(full, graph) && same_broadcasts(full, graph);
}

/* Reads with the sizes in hand. False when the file does not read, or not as it should. */
static bool measure(Scaler *s, double *cost, uint32_t *nodes)
{
    Arena trial = {0};
    Diag diag = diag_make(&trial, s->path, (Str){0});
    s->trials++;
    knob_apply(s->arena, &s->knobs);
    TorchOptions options = *s->options;
    options.no_data = s->options->no_data;
    TorchTask *task = torch_read_tree(&trial, s->path, s->module, &s->knobs, &options, &diag);
    if (task) {
        *cost = cost_of(s, task->graph);
        *nodes = task->graph->nodes.len;
    }
    bool good = task && task->in_range && torch_same_operator(s->full, task->graph) &&
                (s->stage == 3 || telling(s, task->graph));
    arena_drop(&trial);
    return good;
}

/* A small least size, so that shapes stay telling: large sizes stay at 8, then at 4; only the
 * last stage goes down to 2. */
static bool movable(const Scaler *s, const KnobEntry *entry)
{
    int64_t large = entry->knob.original >= 64 ? 8 : 4;
    int64_t floor = s->stage == 0 ? large : s->stage < 3 ? 4 : 2;
    return !entry->pinned && (!entry->deep || s->stage > 0) && entry->knob.value / 2 >= floor;
}

/* How much a step must gain to be kept. */
static double gain_of(int stage) { return stage == 0 ? 0.98 : stage == 1 ? 0.95 : 0.9; }

static int64_t halved(int64_t value) { return value % 2 ? value / 2 + 1 : value / 2; }

/* Tries the set of knobs marked in `set`; keeps the change when it is good. */
static bool try_set(Scaler *s, const uint8_t *set)
{
    int64_t *old = arena_array(s->arena, int64_t, s->knobs.all.len + 1);
    bool any = false;
    for (uint32_t i = 0; i < s->knobs.all.len; i++) {
        KnobEntry *entry = &s->knobs.all.at[i];
        old[i] = entry->knob.value;
        if (set[i] && movable(s, entry)) {
            entry->knob.value = halved(old[i]);
            any = true;
        }
    }
    double cost;
    uint32_t nodes;
    if (any && s->trials < MAX_TRIALS && measure(s, &cost, &nodes) &&
        cost < s->cost * gain_of(s->stage) && (s->stage == 3 || nodes == s->nodes)) {
        s->cost = cost;
        return true;
    }
    for (uint32_t i = 0; i < s->knobs.all.len; i++)
        s->knobs.all.at[i].knob.value = old[i];
    return false;
}

static bool try_alone(Scaler *s, uint32_t which)
{
    uint8_t *set = arena_alloc(s->arena, s->knobs.all.len + 1);
    set[which] = 1;
    return try_set(s, set);
}

/* Together with every knob of the same value. */
static bool try_equals(Scaler *s, uint32_t which)
{
    uint8_t *set = arena_alloc(s->arena, s->knobs.all.len + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->knobs.all.len; i++) {
        set[i] = s->knobs.all.at[i].knob.value == s->knobs.all.at[which].knob.value;
        count += set[i];
    }
    return count > 1 && try_set(s, set);
}

static bool try_pairs(Scaler *s, uint32_t which)
{
    for (uint32_t i = 0; i < s->knobs.all.len && i < 32; i++) {
        uint8_t *set = arena_alloc(s->arena, s->knobs.all.len + 1);
        set[which] = set[i] = 1;
        if (i != which && movable(s, &s->knobs.all.at[i]) && try_set(s, set))
            return true;
    }
    return false;
}

static bool try_all(Scaler *s)
{
    uint8_t *set = arena_alloc(s->arena, s->knobs.all.len + 1);
    memset(set, 1, s->knobs.all.len);
    return try_set(s, set);
}

/* The movable knob with the largest value not yet tried in this round; the list's length: none. */
static uint32_t largest_left(const Scaler *s, const uint8_t *tried)
{
    uint32_t best = s->knobs.all.len;
    for (uint32_t i = 0; i < s->knobs.all.len; i++) {
        if (!tried[i] && movable(s, &s->knobs.all.at[i]) &&
            (best == s->knobs.all.len ||
             s->knobs.all.at[i].knob.value > s->knobs.all.at[best].knob.value))
            best = i;
    }
    return best;
}

/* One pass over the knobs, largest first. */
static bool one_round(Scaler *s)
{
    uint8_t *tried = arena_alloc(s->arena, s->knobs.all.len + 1);
    bool moved = false;
    for (;;) {
        uint32_t next = largest_left(s, tried);
        if (next == s->knobs.all.len || s->cost <= 1 || s->trials >= MAX_TRIALS)
            break;
        tried[next] = 1;
        moved = try_alone(s, next) || try_equals(s, next) || moved;
    }
    return moved;
}

static bool untangle(Scaler *s)
{
    if (try_all(s))
        return true;
    for (uint32_t i = 0; i < s->knobs.all.len && i < 32; i++) {
        if (movable(s, &s->knobs.all.at[i]) && try_pairs(s, i))
            return true;
    }
    return false;
}

static void shrink(Scaler *s)
{
    for (s->stage = 0; s->stage < STAGES; s->stage++) {
        while (s->cost > 1 && s->trials < MAX_TRIALS && (one_round(s) || untangle(s)))
            ;
        if (s->cost <= 1)
            break;
    }
}

/* --- fuzz --------------------------------------------------------------------------------- */

static int64_t odd_size(const Scaler *s, uint64_t draw)
{
    static const int64_t sizes[] = {1,  2,  3,  5,  7,  9,  11, 13,  15,  17, 19,
                                    23, 31, 33, 37, 63, 65, 67, 127, 129, 0};
    uint64_t pick = rng_u64(s->options->seed, 0xf022, draw);
    return sizes[pick % (sizeof sizes / sizeof *sizes)];
}

static bool may_draw(const KnobEntry *entry)
{
    return !entry->pinned && !entry->deep && entry->knob.original >= 8;
}

/* Whether the file reads with one size set, alone or together with those that have the same value
 * in the file: two literals that must agree have no name in common. */
static bool draw_one(Scaler *s, uint32_t which, bool equals, int64_t value)
{
    double cost;
    uint32_t nodes, others = 0;
    int64_t *old = arena_array(s->arena, int64_t, s->knobs.all.len + 1);
    int64_t original = s->knobs.all.at[which].knob.original;
    for (uint32_t i = 0; i < s->knobs.all.len; i++) {
        KnobEntry *entry = &s->knobs.all.at[i];
        old[i] = entry->knob.value;
        if (i != which && !(equals && may_draw(entry) && entry->knob.original == original))
            continue;
        others += i != which;
        entry->knob.value = value;
    }
    if ((!equals || others) && measure(s, &cost, &nodes) && nodes == s->nodes && cost < 4)
        return true;
    for (uint32_t i = 0; i < s->knobs.all.len; i++)
        s->knobs.all.at[i].knob.value = old[i];
    return false;
}

/* Gives each size an odd value that still reads. */
static void draw_odd(Scaler *s)
{
    enum { TRIES = 4 };
    for (uint32_t i = 0; i < s->knobs.all.len; i++) {
        if (!may_draw(&s->knobs.all.at[i]))
            continue;
        for (uint64_t n = 0; n < TRIES && s->trials < MAX_TRIALS; n++) {
            int64_t value = odd_size(s, i * TRIES + n);
            if (draw_one(s, i, false, value) || draw_one(s, i, true, value))
                break;
        }
    }
}

/* --- whole -------------------------------------------------------------------------------- */

static void set_budget(Scaler *s, TorchScale scale)
{
    bool medium = scale == SCALE_MEDIUM, tiny = scale == SCALE_TINY;
    s->budget_bytes = medium ? 0x1p29 : tiny ? 0x1p18 : 0x1p24;
    s->budget_flops = medium ? 2e10 : tiny ? 4e6 : 2e8;
}

TorchTask *torch_read_scaled(Arena *arena, const char *path, Str source,
                             const TorchOptions *options, TorchScale scale, Diag *diag)
{
    Scaler s = {.arena = arena, .path = path, .options = options};
    s.module = py_parse(arena, source, diag);
    if (!s.module || !knob_list(arena, s.module, options, &s.knobs, diag))
        return NULL;
    TorchTask *full = torch_read_tree(arena, path, s.module, &s.knobs, options, diag);
    bool fixed = options->cases && options->cases->lines.len && !s.knobs.row.len;
    if (!full || scale == SCALE_FULL || fixed)
        return full;
    set_budget(&s, scale);
    s.nodes = full->graph->nodes.len;
    s.full = full->graph;
    s.cost = cost_of(&s, full->graph);
    shrink(&s);
    s.stage = STAGES - 1;
    if (scale == SCALE_FUZZ)
        draw_odd(&s);
    knob_apply(arena, &s.knobs);
    TorchTask *task = torch_read_tree(arena, path, s.module, &s.knobs, options, diag);
    if (task && s.cost > 1 && scale != SCALE_FUZZ)
        vec_push(arena, &task->graph->notes, "the file's constants do not let it become smaller");
    return task;
}
