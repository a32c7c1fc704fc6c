/* From a task to kernels with operands. In: a graph. Out: parts, each kernels over a nest; the launcher's arguments; the
 * places of tensors in the workspace. */
#include "gen/kernel/kernel_int.h"

#include "gen/plan/rewrite.h"

enum { ALIGN = 256, MOST_PARTS = 2048 };

/* A task while it is cut. */
typedef struct Cutting {
    Arena *arena;
    const Graph *task, *graph; /* as the file has it; with operators replaced by others */
    const ValueId *outer;      /* per value of graph: the task's; NULL: the same graph */
    const KernelLimits *limits;
    bool (*has_type)(DType dtype);
    bool *root; /* by value: it is in memory between parts */
    KernelTask *out;
    Diag *diag;
} Cutting;

static bool refuse_task(Diag *diag, const KernelLimits *limits, const char *why)
{
    diag_error(diag, "G002", (Span){0}, "%s: the task cannot be planned yet: %s", limits->platform,
               why);
    return false;
}

static void say_all(Diag *diag, const Diag *said)
{
    for (uint32_t i = 0; i < said->items.len; i++) {
        vec_push(diag->arena, &diag->items, said->items.at[i]);
        diag->errors += said->items.at[i].level == DIAG_ERROR;
    }
}

/* ---- parts ---- */

/* The graph of what the outputs rest on, with values in memory as its inputs. Values keep their numbers. */
static const Graph *part_graph(const Cutting *c, uint32_t n, const ValueId *outputs)
{
    Graph *g = arena_new(c->arena, Graph);
    *g = *c->graph;
    g->values.at = arena_array(c->arena, Value, c->graph->values.len + 1);
    for (uint32_t i = 0; i < c->graph->values.len; i++) {
        g->values.at[i] = c->graph->values.at[i];
        if (!c->root[i])
            continue;
        bool own = false;
        for (uint32_t k = 0; k < n; k++)
            own = own || outputs[k] == i;
        if (!own) {
            g->values.at[i].kind = VALUE_INPUT;
            g->values.at[i].node = NODE_NONE;
        }
    }
    g->outputs.at = arena_array(c->arena, ValueId, n + 1);
    g->outputs.len = g->outputs.cap = n;
    for (uint32_t k = 0; k < n; k++)
        g->outputs.at[k] = outputs[k];
    return g;
}

static bool add_part(Cutting *c, uint32_t n, const ValueId *outputs);

/* A value that is wanted in memory gets a part of its own. False: it has one, or no node makes it. */
static bool put_value(Cutting *c, ValueId id, bool *ok)
{
    if (id == VALUE_NONE || c->root[id] || !graph_maker(c->graph, id))
        return false;
    c->root[id] = true;
    *ok = add_part(c, 1, &id);
    return true;
}

/* Where a node cannot be part of the kernels around it, its result is put into memory; where it cannot be computed even
 * so, its operands are. False: they are there, or cannot be computed themselves. */
static bool put_around(Cutting *c, const Node *node, uint32_t n, const ValueId *outputs)
{
    bool own = false, ok = true, any = false;
    for (uint32_t k = 0; k < n; k++)
        own = own || (outputs[k] >= node->out && outputs[k] < node->out + node->n_out);
    for (uint32_t k = 0; k < node->n_out && !own && ok; k++)
        if (graph_readers(c->graph, node->out + k))
            any = put_value(c, node->out + k, &ok) || any;
    for (uint32_t k = 0; k < node->n_in && own && ok; k++)
        any = put_value(c, node->in[k], &ok) || any;
    return any && ok;
}

static Nest *derive_part(Cutting *c, uint32_t n, const ValueId *outputs)
{
    NestKind kind = c->limits->products ? NEST_PRODUCTS : NEST_GENERAL;
    for (;;) {
        Diag said = diag_make(c->arena, c->diag->file, c->diag->source);
        const Node *stuck = NULL;
        Nest *nest = nest_derive_until(c->arena, part_graph(c, n, outputs), kind, &stuck, &said);
        if (nest)
            return nest;
        if (!c->limits->products || !stuck || !put_around(c, stuck, n, outputs)) {
            say_all(c->diag, &said);
            return NULL;
        }
    }
}

static bool add_part(Cutting *c, uint32_t n, const ValueId *outputs)
{
    KernelPart part = {0};
    Nest *nest = derive_part(c, n, outputs);
    if (!nest)
        return false;
    if (c->out->parts.len == MOST_PARTS)
        return refuse_task(c->diag, c->limits, "it has too many matrix products");
    if (!c->limits->keep_axes)
        nest_merge(nest);
    if (!kernel_cut(c->arena, nest, c->limits, &part.kernels, c->diag))
        return false;
    for (uint32_t i = 0; i < nest->tensors.len; i++)
        if (!c->has_type(nest->tensors.at[i].dtype))
            return refuse_task(
                c->diag, c->limits,
                str_format(c->arena, "a tensor of %s", dtype_name(nest->tensors.at[i].dtype)));
    part.argument = arena_array(c->arena, const char *, nest->tensors.len + 1);
    part.place = arena_array(c->arena, int64_t, nest->tensors.len + 1);
    vec_push(c->arena, &c->out->parts, part);
    return true;
}

/* Every value in memory in the order of the task, then all other results at once. */
static bool add_parts(Cutting *c)
{
    const bool *known = c->root;
    VEC(ValueId) results = {0};
    c->root = arena_array(c->arena, bool, c->graph->values.len + 1);
    for (uint32_t i = 0; i < c->graph->values.len; i++)
        c->root[i] = known[i];
    for (uint32_t i = 0; i < c->graph->nodes.len; i++)
        for (uint32_t k = 0; k < c->graph->nodes.at[i].n_out; k++) {
            ValueId id = c->graph->nodes.at[i].out + k;
            if (known[id] && !add_part(c, 1, &id))
                return false;
        }
    for (uint32_t i = 0; i < c->graph->outputs.len; i++)
        if (!c->root[c->graph->outputs.at[i]])
            vec_push(c->arena, &results, c->graph->outputs.at[i]);
    return !results.len || add_part(c, results.len, results.at);
}

/* ---- operands ---- */

static ValueId task_value(const Cutting *c, ValueId id) { return c->outer ? c->outer[id] : id; }

static void add_operand(Cutting *c, ValueId value, bool output, const NestTensor *t)
{
    KernelOperand o = {.value = value, .output = output, .dtype = t->dtype, .count = t->count};
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->out->operands.len; i++)
        n += c->out->operands.at[i].output == output;
    o.name = str_format(c->arena, "%c%u", output ? 'y' : 'x', n);
    c->out->bytes += t->count * (int64_t)dtype_bytes(t->dtype);
    vec_push(c->arena, &c->out->operands, o);
}

static bool is_between(const Cutting *c, const NestTensor *t)
{
    return t->role == NEST_INPUT && c->root[t->value];
}

/* The first of the task's inputs and parameters after `after` that some kernel reads. NULL: there is none. */
static const NestTensor *next_input(const Cutting *c, uint32_t after, bool any, uint32_t *place)
{
    const NestTensor *best = NULL;
    for (uint32_t p = 0; p < c->out->parts.len; p++) {
        const Nest *nest = c->out->parts.at[p].kernels.nest;
        for (uint32_t i = 0; i < nest->tensors.len; i++) {
            const NestTensor *t = &nest->tensors.at[i];
            if (t->role != NEST_INPUT || is_between(c, t))
                continue;
            uint32_t at = graph_place(c->task, task_value(c, t->value));
            if ((any || at > after) && (!best || at < *place)) {
                best = t;
                *place = at;
            }
        }
    }
    return best;
}

/* The tensor that holds a result. */
static const NestTensor *stored_tensor(const Cutting *c, ValueId value)
{
    for (uint32_t p = 0; p < c->out->parts.len; p++) {
        const Nest *nest = c->out->parts.at[p].kernels.nest;
        for (uint32_t i = 0; i < nest->tensors.len; i++)
            if (nest->tensors.at[i].role == NEST_OUTPUT && nest->tensors.at[i].value == value)
                return &nest->tensors.at[i];
    }
    return NULL;
}

static bool name_operands(Cutting *c)
{
    for (uint32_t p = 0; p < c->out->parts.len; p++) {
        const Nest *nest = c->out->parts.at[p].kernels.nest;
        for (uint32_t i = 0; i < nest->tensors.len; i++) {
            const NestTensor *t = &nest->tensors.at[i];
            ValueId v = t->role == NEST_INPUT && !is_between(c, t) ? task_value(c, t->value) : 0;
            if (v == VALUE_NONE || (t->role == NEST_INPUT && !is_between(c, t) &&
                                    graph_value(c->task, v)->kind == VALUE_CONST))
                return refuse_task(c->diag, c->limits,
                                   "a tensor of numbers that the file itself holds");
        }
    }
    uint32_t place = 0;
    for (const NestTensor *t = next_input(c, 0, true, &place); t;
         t = next_input(c, place, false, &place))
        add_operand(c, task_value(c, t->value), false, t);
    for (uint32_t o = 0; o < c->graph->outputs.len; o++)
        add_operand(c, c->task->outputs.at[o], true, stored_tensor(c, c->graph->outputs.at[o]));
    return true;
}

/* The operand that a tensor of a part is; NULL: none. A value may be several results. */
static const char *operand_name(const Cutting *c, const Nest *nest, uint32_t tensor)
{
    const NestTensor *t = &nest->tensors.at[tensor];
    uint32_t before = 0;
    for (uint32_t i = 0; i < tensor && t->role == NEST_OUTPUT; i++)
        before += nest->tensors.at[i].role == NEST_OUTPUT && nest->tensors.at[i].value == t->value;
    ValueId v = VALUE_NONE;
    for (uint32_t o = 0; o < c->graph->outputs.len && t->role != NEST_WORKSPACE; o++)
        if (c->graph->outputs.at[o] == t->value)
            v = c->task->outputs.at[o];
    bool result = v != VALUE_NONE && (t->role == NEST_OUTPUT || is_between(c, t));
    if (!result && t->role == NEST_INPUT && !is_between(c, t))
        v = task_value(c, t->value);
    else if (!result)
        return NULL;
    for (uint32_t i = 0; i < c->out->operands.len; i++)
        if (c->out->operands.at[i].value == v && c->out->operands.at[i].output == result &&
            !(result && before--))
            return c->out->operands.at[i].name;
    return NULL;
}

/* ---- the workspace ---- */

/* Bytes of the workspace that are taken up to part `last`. */
typedef struct Room {
    int64_t from, size;
    uint32_t last;
    ValueId value;
} Room;

typedef struct Rooms {
    VEC(Room) at;
} Rooms;

/* The lowest place where `size` bytes are free from part `part` on. */
static int64_t find_room(const Rooms *rooms, uint32_t part, int64_t size)
{
    int64_t at = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t i = 0; i < rooms->at.len; i++) {
            const Room *r = &rooms->at.at[i];
            if (r->last >= part && at < r->from + r->size && r->from < at + size) {
                at = r->from + r->size;
                moved = true;
            }
        }
    }
    return at;
}

/* The last part that reads the value. */
static uint32_t last_reader(const KernelTask *task, ValueId value, uint32_t part)
{
    for (uint32_t p = 0; p < task->parts.len; p++) {
        const Nest *nest = task->parts.at[p].kernels.nest;
        for (uint32_t i = 0; i < nest->tensors.len; i++)
            if (nest->tensors.at[i].role == NEST_INPUT && nest->tensors.at[i].value == value)
                part = p > part ? p : part;
    }
    return part;
}

static void place_tensors(Cutting *c)
{
    Rooms rooms = {0};
    for (uint32_t p = 0; p < c->out->parts.len; p++) {
        KernelPart *part = &c->out->parts.at[p];
        const Nest *nest = part->kernels.nest;
        for (uint32_t i = 0; i < nest->tensors.len; i++) {
            const NestTensor *t = &nest->tensors.at[i];
            part->argument[i] = operand_name(c, nest, i);
            if (part->argument[i])
                continue;
            if (is_between(c, t)) {
                for (uint32_t r = 0; r < rooms.at.len; r++)
                    if (rooms.at.at[r].value == t->value)
                        part->place[i] = rooms.at.at[r].from;
                continue;
            }
            bool own = t->role == NEST_WORKSPACE;
            int64_t bytes = t->count * (own ? 4 : (int64_t)dtype_bytes(t->dtype));
            Room room = {.size = (bytes + ALIGN - 1) / ALIGN * ALIGN,
                         .last = own ? p : last_reader(c->out, t->value, p),
                         .value = own ? VALUE_NONE : t->value};
            room.from = part->place[i] = find_room(&rooms, p, room.size);
            vec_push(c->arena, &rooms.at, room);
            if (room.from + room.size > c->out->workspace)
                c->out->workspace = room.from + room.size;
        }
    }
}

/* ---- the task ---- */

static bool cut_task(Cutting *c)
{
    *c->out = (KernelTask){0};
    c->root = c->limits->products ? kernel_roots(c->arena, c->graph)
                                  : arena_array(c->arena, bool, c->graph->values.len + 1);
    if (!add_parts(c) || !name_operands(c))
        return false;
    place_tensors(c);
    return true;
}

/* Derives kernels for the graph as it is; where that fails, for the graph with operators
 * rewritten into others. */
bool kernel_task(Arena *arena, const Graph *graph, const KernelLimits *limits,
                 bool has_type(DType dtype), KernelTask *task, Diag *diag)
{
    Diag first = diag_make(arena, diag->file, diag->source), second = first;
    Cutting c = {.arena = arena,
                 .task = graph,
                 .graph = graph,
                 .limits = limits,
                 .has_type = has_type,
                 .out = task,
                 .diag = &first};
    *task = (KernelTask){0};
    if (graph_any_empty(graph))
        return refuse_task(diag, limits, "a tensor has no elements, nothing would be launched");
    if (cut_task(&c))
        return true;
    c.diag = &second;
    c.graph = limits->products ? rewrite_around_products(arena, graph, &c.outer, &second)
                               : rewrite_composites(arena, graph, &c.outer, &second);
    if (c.graph && cut_task(&c))
        return true;
    say_all(diag, second.items.len ? &second : &first);
    return false;
}

uint32_t kernel_total(const KernelTask *task)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < task->parts.len; i++)
        n += task->parts.at[i].kernels.at.len;
    return n;
}
