/* The vector role of a product; see tail.h. */
#include "gen/plan/cube/tail.h"

/* ---- cutting ---- */

static bool is_product(Op op) { return op == OP_MATMUL || op == OP_LINEAR || op == OP_CONV_TAPS; }

/* The one product of the graph; NODE_NONE: there is none, or several. */
static uint32_t find_product(const Graph *g)
{
    uint32_t found = NODE_NONE;
    for (uint32_t i = 0; i < g->nodes.len; i++) {
        if (!is_product(g->nodes.at[i].op))
            continue;
        if (found != NODE_NONE)
            return NODE_NONE;
        found = i;
    }
    return found;
}

Graph *tail_copy_nodes(Arena *arena, const Graph *g, const bool *kept)
{
    Graph *copy = arena_new(arena, Graph);
    *copy = *g;
    copy->arena = arena;
    copy->nodes.at = NULL;
    copy->nodes.len = copy->nodes.cap = 0;
    copy->values.at = NULL;
    copy->values.len = copy->values.cap = 0;
    copy->outputs.at = NULL;
    copy->outputs.len = copy->outputs.cap = 0;
    copy->inputs.at = NULL;
    copy->inputs.len = copy->inputs.cap = 0;
    for (uint32_t i = 0; i < g->values.len; i++)
        vec_push(arena, &copy->values, g->values.at[i]);
    for (uint32_t i = 0; i < g->inputs.len; i++)
        vec_push(arena, &copy->inputs, g->inputs.at[i]);
    for (uint32_t i = 0; i < g->nodes.len; i++) {
        if (!kept[i])
            continue;
        for (uint32_t k = 0; k < g->nodes.at[i].n_out; k++)
            copy->values.at[g->nodes.at[i].out + k].node = copy->nodes.len;
        vec_push(arena, &copy->nodes, g->nodes.at[i]);
    }
    return copy;
}

/* Nodes that the product rests on, itself among them. */
static bool *find_before(Arena *arena, const Graph *g, uint32_t product)
{
    bool *before = arena_array(arena, bool, g->nodes.len + 1);
    before[product] = true;
    for (uint32_t i = product + 1; i-- > 0;)
        for (uint32_t k = 0; k < g->nodes.at[i].n_in && before[i]; k++) {
            const Value *v = g->nodes.at[i].in[k] == VALUE_NONE
                                 ? NULL
                                 : graph_value(g, g->nodes.at[i].in[k]);
            if (v && v->kind == VALUE_NODE)
                before[v->node] = true;
        }
    return before;
}

/* The bias of a linear layer is added by the rest. */
static void add_bias(Graph *rest, const Node *linear, ValueId result, uint32_t at)
{
    Node add = {.op = OP_BINARY, .kind = BINARY_add, .n_out = 1, .n_in = 2, .out = linear->out};
    add.in = arena_array(rest->arena, ValueId, 2);
    add.in[0] = result;
    add.in[1] = linear->in[2];
    add.at = linear->at;
    add.scope = linear->scope;
    vec_push(rest->arena, &rest->nodes, add);
    for (uint32_t i = rest->nodes.len - 1; i > at; i--)
        rest->nodes.at[i] = rest->nodes.at[i - 1];
    rest->nodes.at[at] = add;
    for (uint32_t i = 0; i < rest->nodes.len; i++)
        for (uint32_t k = 0; k < rest->nodes.at[i].n_out; k++)
            rest->values.at[rest->nodes.at[i].out + k].node = i;
}

/* Nothing follows: the result is the product's, in the task's dtype. */
static void add_copy(Graph *rest, const Node *product, ValueId result)
{
    Attr *to = arena_array(rest->arena, Attr, 1);
    *to = (Attr){.key = AT_DTYPE, .dtype = graph_value(rest, product->out)->dtype};
    Node cast = {
        .op = OP_CAST, .n_out = 1, .n_in = 1, .out = product->out, .n_attr = 1, .attr = to};
    cast.in = arena_array(rest->arena, ValueId, 1);
    cast.in[0] = result;
    rest->values.at[product->out].node = rest->nodes.len;
    vec_push(rest->arena, &rest->nodes, cast);
}

void tail_read_other(Graph *rest, ValueId from, ValueId to)
{
    for (uint32_t i = 0; i < rest->nodes.len; i++) {
        Node *node = &rest->nodes.at[i];
        ValueId *in = arena_array(rest->arena, ValueId, node->n_in + 1);
        for (uint32_t k = 0; k < node->n_in; k++)
            in[k] = node->in[k] == from ? to : node->in[k];
        node->in = in;
    }
}

static ValueId *copy_inputs(Arena *arena, const Node *node, uint32_t n)
{
    ValueId *in = arena_array(arena, ValueId, n + 1);
    for (uint32_t i = 0; i < n; i++)
        in[i] = node->in[i];
    return in;
}

bool tail_cut(Arena *arena, const Graph *graph, TailCut *cut)
{
    uint32_t at = find_product(graph);
    if (at == NODE_NONE || graph->nodes.at[at].n_out != 1)
        return false;
    const Node *node = &graph->nodes.at[at];
    bool bias = node->op == OP_LINEAR && node->n_in > 2 && node->in[2] != VALUE_NONE;
    bool half = graph_value(graph, node->out)->dtype != DT_F32;
    bool *before = find_before(arena, graph, at);
    bool *after = arena_array(arena, bool, graph->nodes.len + 1);
    uint32_t rest = 0;
    for (uint32_t i = 0; i < graph->nodes.len; i++) {
        after[i] = i != at;
        rest += !before[i];
    }
    bool result = graph_is_output(graph, node->out);
    if (rest && !bias && (result || (half && prim_widens(graph))))
        return false;
    cut->product = tail_copy_nodes(arena, graph, before);
    Node *own = &cut->product->nodes.at[cut->product->nodes.len - 1];
    own->in = copy_inputs(arena, own, own->n_in);
    own->n_in = bias ? 2 : own->n_in;
    vec_push(arena, &cut->product->outputs, node->out);
    cut->rest = tail_copy_nodes(arena, graph, after);
    for (uint32_t i = 0; i < graph->outputs.len; i++)
        vec_push(arena, &cut->rest->outputs, graph->outputs.at[i]);
    Value channel = *graph_value(graph, node->out);
    channel.kind = VALUE_INPUT;
    channel.node = NODE_NONE;
    channel.dtype = DT_F32;
    cut->result = graph_add_value(cut->rest, channel);
    vec_push(arena, &cut->rest->inputs, cut->result);
    if (bias)
        add_bias(cut->rest, node, cut->result, at);
    else if (result)
        add_copy(cut->rest, node, cut->result);
    else
        tail_read_other(cut->rest, node->out, cut->result);
    return true;
}

/* ---- reading ---- */

static uint64_t bit(uint32_t axis) { return axis ? UINT64_C(1) << axis : 0; }

/* The one index at which the product's result is read; NULL: at several, or at none. */
static const Affine *result_index(const Tail *t)
{
    const Affine *found = NULL;
    for (uint32_t i = 1; i < t->nest->values.len; i++) {
        const NestValue *v = &t->nest->values.at[i];
        if (v->op != NEST_LOAD || v->tensor != t->tensor || !v->uses)
            continue;
        Affine apart = v->index;
        if (found && (!affine_add(&apart, found, -1) || apart.n || apart.at))
            return NULL;
        found = &v->index;
    }
    return found;
}

static int64_t level_stride(const TailLevels *levels, uint32_t level)
{
    int64_t stride = 1;
    for (uint32_t i = level + 1; i < levels->n; i++)
        stride *= levels->size[i];
    return stride;
}

/* The level that an axis is part of; `n`: it is part of none, or of several. */
static uint32_t level_of(const TailLevels *levels, int64_t by, int64_t size)
{
    for (uint32_t i = 0; i < levels->n; i++) {
        int64_t stride = level_stride(levels, i);
        if (by >= stride && by * size <= stride * levels->size[i])
            return i;
    }
    return levels->n;
}

/* Axes of one level become one. */
static bool merge_levels(Tail *t, const TailLevels *levels)
{
    uint32_t group[NEST_MAX_AXES] = {0};
    const Affine *index = result_index(t);
    if (!index)
        return false;
    for (uint32_t a = 1; a < t->nest->axes.len; a++) {
        int64_t size = t->nest->axes.at[a].size;
        group[a] = size > 1 ? level_of(levels, affine_by(index, a), size) : 0;
        if (group[a] == levels->n)
            return false;
    }
    nest_merge_groups(t->nest, group);
    index = result_index(t);
    for (uint32_t a = 1; a < t->nest->axes.len; a++) {
        int64_t size = t->nest->axes.at[a].size;
        if (size == 1)
            continue;
        uint32_t level = level_of(levels, affine_by(index, a), size);
        if (t->axis[level] || size != levels->size[level])
            return false;
        t->axis[level] = a;
    }
    for (uint32_t i = 0; i < levels->n; i++)
        if (!t->axis[i] && levels->size[i] > 1)
            return false;
    return index->at == 0;
}

static bool set_roles(Tail *t, const TailLevels *levels)
{
    Schedule s = {0};
    Diag quiet = diag_make(t->arena, "plan", STR(""));
    if (!schedule_bands(t->nest, true, &s, &quiet) || s.bands.len != 1)
        return false;
    t->band = s.bands.at[0];
    t->lanes = levels->n - 1;
    t->band.rows = (BandTile){.axis = t->axis[TAIL_ROWS], .tile = levels->size[TAIL_ROWS]};
    t->band.lanes = (BandTile){.axis = t->axis[t->lanes], .tile = levels->size[t->lanes]};
    t->band.chunked = t->band.rows.axis != 0;
    return t->band.lanes.axis && !(t->band.reduced & ~bit(t->band.lanes.axis)) &&
           !schedule_fault(t->nest, &t->band, schedule_values(t->nest, &t->band)).why;
}

static void fix_sizes(Tail *t, uint32_t except)
{
    uint32_t free = t->layout.same[except];
    for (uint32_t a = 1; a < t->nest->axes.len; a++)
        if (!except || t->layout.same[a] != free) {
            t->layout.free[a] = false;
            t->layout.size[a] = str_format(t->arena, "%lld", (long long)t->nest->axes.at[a].size);
        }
}

bool tail_read(Arena *arena, const TailCut *cut, const TailLevels *levels, const NpuChip *chip,
               bool fixed, Tail *tail)
{
    Diag quiet = diag_make(arena, "plan", STR(""));
    *tail = (Tail){.arena = arena, .chip = chip};
    tail->nest = nest_derive(arena, cut->rest, &quiet);
    if (!tail->nest)
        return false;
    bool found = false;
    for (uint32_t i = 0; i < tail->nest->tensors.len; i++)
        if (tail->nest->tensors.at[i].value == cut->result) {
            tail->tensor = i;
            found = true;
        }
    if (!found || !merge_levels(tail, levels) || !set_roles(tail, levels) ||
        !layout_make(tail->nest, false, &tail->layout, &quiet))
        return false;
    if (fixed)
        fix_sizes(tail, tail->axis[0]);
    return true;
}

void tail_same(Tail *tail, uint32_t one, uint32_t other)
{
    Layout *l = &tail->layout;
    uint32_t to = l->same[tail->axis[one]], from = l->same[tail->axis[other]];
    if (!tail->axis[one] || !tail->axis[other])
        return;
    bool free = l->free[tail->axis[one]] && l->free[tail->axis[other]];
    const char *name = free ? l->size[tail->axis[one]]
                            : str_format(tail->arena, "%lld",
                                         (long long)tail->nest->axes.at[tail->axis[one]].size);
    for (uint32_t a = 1; a < tail->nest->axes.len; a++)
        if (l->same[a] == to || l->same[a] == from) {
            l->same[a] = to;
            l->size[a] = name;
            l->free[a] = free;
        }
}

const char *tail_size(const Tail *tail, uint32_t level)
{
    return tail->axis[level] ? tail->layout.size[tail->axis[level]] : "1";
}

const char *tail_loop(const Tail *tail, uint32_t level)
{
    return tail->axis[level] ? str_format(tail->arena, "j%u", tail->axis[level])
                             : str_format(tail->arena, "one%u", level);
}

bool tail_reduces(const Tail *tail) { return tail->band.reduced != 0; }

/* ---- text ---- */

void tail_operands(const Tail *tail, TailOperands *out)
{
    for (uint32_t i = 0; i < tail->nest->tensors.len; i++) {
        const NestTensor *t = &tail->nest->tensors.at[i];
        const LayoutTensor *l = &tail->layout.tensors[i];
        TailOperand o = {.value = t->value,
                         .output = t->role == NEST_OUTPUT,
                         .dtype = t->dtype,
                         .name = nest_tensor_name(tail->nest, i),
                         .dims = layout_shape(tail->nest, &tail->layout, i),
                         .shape = {.rank = (int)l->rank}};
        for (uint32_t k = 0; k < l->rank; k++)
            o.shape.dim[k] = l->dim[k].size;
        if (i != tail->tensor)
            vec_push(tail->arena, out, o);
    }
}

static const TailOperand *first_of(const TailOperands *all, ValueId value)
{
    uint32_t i = 0;
    while (all->at[i].value != value)
        i++;
    return &all->at[i];
}

void tail_host(Script *s, const TailOperands *all)
{
    for (uint32_t i = 0; i < all->len; i++) {
        const TailOperand *o = &all->at[i];
        if (first_of(all, o->value) == o)
            script_add(s, o->value, o->output, o->name, o->dims, o->shape);
    }
}

void tail_parameters(const TailOperands *some, const TailOperands *all, bool typed, Buf *out)
{
    for (uint32_t i = 0; i < some->len; i++) {
        const TailOperand *o = &some->at[i];
        buf_puts(out, i ? ", " : "");
        if (typed)
            buf_printf(out, "%s: %s[%s, %s]", o->name, o->output ? "out" : "gm",
                       dtype_name(o->dtype), o->dims);
        else
            buf_puts(out, first_of(all, o->value)->name);
    }
}

void tail_dims(const Tail *tail, Buf *out)
{
    enum { PLACES = 1 << 24 }; /* counted in f32 */
    const Layout *l = &tail->layout;
    for (uint32_t a = 1; a < tail->nest->axes.len; a++) {
        if (!l->free[a] || l->same[a] != a || tail->nest->axes.at[a].size == 1)
            continue;
        int64_t most = 16777216;
        const BandTile *lanes = &tail->band.lanes;
        if (lanes->whole && l->same[lanes->axis] == a)
            most = lanes->tile;
        buf_printf(out, "n%u = dim(1, %lld)\n", a, (long long)(most < PLACES ? most : PLACES));
    }
}

/* A piece of a row behind each other row lies less than 4 GiB away. */
static void put_bound(const Tail *tail, uint32_t tensor, const Affine *index, Buf *out)
{
    const LayoutTensor *t = &tail->layout.tensors[tensor];
    LayoutIndex at[LAYOUT_RANK];
    Buf product = {0}, line = {0};
    bool rows = false, varies = false;
    layout_index(tail->nest, t, index, at);
    for (uint32_t i = 0; i < t->rank; i++) {
        uint32_t axis = t->dim[i].axis;
        if (rows) {
            buf_puts(&product, product.len ? " * " : "");
            if (axis && t->dim[i].stride == t->dim[i].unit)
                buf_puts(&product, tail->layout.size[axis]);
            else
                buf_printf(&product, "%lld", (long long)t->dim[i].size);
            varies = varies || (axis && tail->layout.free[axis]);
        }
        rows = rows || (at[i].axis && at[i].axis == tail->band.rows.axis);
    }
    if (varies)
        buf_printf(&line, "    assert %.*s <= %d, \"rows are too far apart\"\n", (int)product.len,
                   product.at, SCHEDULE_ROW_GAP);
    if (line.len && str_find(buf_view(out), buf_view(&line)) < 0)
        buf_str(out, buf_view(&line));
    buf_free(&product);
    buf_free(&line);
}

void tail_bounds(const Tail *tail, Buf *out)
{
    for (uint32_t i = 1; i < tail->nest->values.len; i++) {
        const NestValue *v = &tail->nest->values.at[i];
        if (v->op == NEST_LOAD && v->uses && v->tensor != tail->tensor)
            put_bound(tail, v->tensor, &v->index, out);
    }
    for (uint32_t i = 0; i < tail->nest->stores.len; i++)
        put_bound(tail, tail->nest->stores.at[i].tensor, &tail->nest->stores.at[i].index, out);
}

bool tail_put(Tail *tail, const TailTiles *tiles, int depth, Buf *buffers, Buf *body)
{
    BuildPool pool = {0};
    uint32_t next = 0;
    Band *band = &tail->band;
    band->rows.tile = tiles->rows;
    band->lanes.tile = tiles->lanes;
    band->lanes.whole = tiles->whole;
    BuildFed fed = {.tensor = tail->tensor,
                    .loop = tiles->loop,
                    .receive = tiles->receive,
                    .inner = tiles->inner,
                    .walked = tiles->inner ? bit(tail->axis[tiles->walked]) : 0,
                    .view = tiles->view};
    Build b = {.arena = tail->arena,
               .nest = tail->nest,
               .layout = &tail->layout,
               .chip = tail->chip,
               .band = band,
               .wanted = schedule_values(tail->nest, band),
               .body = body,
               .depth = depth,
               .pool = &pool,
               .next = &next,
               .fed = &fed,
               .load_depth = 2,
               .store_depth = 2};
    build_band(&b);
    build_declare(&pool, buffers);
    return !b.failed;
}
