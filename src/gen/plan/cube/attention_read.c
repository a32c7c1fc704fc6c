/* Which tasks are attention. In: a graph. Out: an Attention, or that it is none. */
#include "gen/plan/cube/attention.h"

enum { STORES = 4, STORE_SCORES = 0, STORE_Q, STORE_K, STORE_V };

/* The operators that are not part of the nest. */
typedef struct Found {
    uint32_t first, softmax, second; /* nodes: product, softmax, product */
    ValueId product, sums; /* of the first and the second product, as the nest reads them */
} Found;

/* ---- the graph ---- */

/* The elements in the same order under rows and columns of the same sizes: the batch alone may be regrouped. */
static bool keeps_matrices(const Graph *g, const Node *node)
{
    if (node->op == OP_DROPOUT || node->op == OP_CAST)
        return true;
    Shape from = graph_value(g, node->in[0])->shape, to = graph_value(g, node->out)->shape;
    return node->op == OP_RESHAPE && from.rank >= 2 && to.rank >= 2 &&
           from.dim[from.rank - 1] == to.dim[to.rank - 1] &&
           from.dim[from.rank - 2] == to.dim[to.rank - 2];
}

/* The softmax whose rows the second product takes. */
static uint32_t softmax_behind(const Graph *g, ValueId id)
{
    const Node *node = graph_maker(g, id);
    while (node && keeps_matrices(g, node) && graph_readers(g, node->in[0]) == 1)
        node = graph_maker(g, node->in[0]);
    if (!node || node->op != OP_SOFTMAX || node_bool(node, AT_LOG))
        return NODE_NONE;
    int rank = graph_value(g, node->out)->shape.rank;
    int64_t dim = node_int(node, AT_DIM, -1);
    return dim == -1 || dim == rank - 1 ? (uint32_t)(node - g->nodes.at) : NODE_NONE;
}

/* Exactly two products, and a softmax between them that nothing else reads. */
static bool find_nodes(const Graph *g, Found *f)
{
    uint32_t products = 0, softmaxes = 0;
    *f = (Found){.first = NODE_NONE, .second = NODE_NONE};
    for (uint32_t i = 0; i < g->nodes.len; i++) {
        Op op = g->nodes.at[i].op;
        softmaxes += op == OP_SOFTMAX;
        if (op == OP_LINEAR || op == OP_CONV_TAPS || op == OP_CONV || op == OP_EINSUM ||
            node_bool(&g->nodes.at[i], AT_HF32))
            return false;
        if (op != OP_MATMUL)
            continue;
        if (products++ == 0)
            f->first = i;
        else
            f->second = i;
    }
    if (products != 2 || softmaxes != 1)
        return false;
    const Node *second = &g->nodes.at[f->second];
    f->softmax = softmax_behind(g, second->in[0]);
    return f->softmax != NODE_NONE && f->softmax > f->first &&
           graph_readers(g, g->nodes.at[f->softmax].out) == 1 &&
           !graph_is_output(g, g->nodes.at[f->softmax].out) &&
           !graph_is_output(g, g->nodes.at[f->first].out);
}

static bool is_matrix(const Graph *g, ValueId id) { return graph_value(g, id)->shape.rank >= 2; }

/* ---- the graph without its products ---- */

/* An input that stands for what a node gives. */
static ValueId add_fed(Graph *rest, ValueId of)
{
    Value v = *graph_value(rest, of);
    v.kind = VALUE_INPUT;
    v.node = NODE_NONE;
    v.dtype = DT_F32;
    ValueId id = graph_add_value(rest, v);
    vec_push(rest->arena, &rest->inputs, id);
    return id;
}

static void replace_value(Graph *rest, ValueId from, ValueId to)
{
    tail_read_other(rest, from, to);
    for (uint32_t i = 0; i < rest->outputs.len; i++)
        if (rest->outputs.at[i] == from)
            rest->outputs.at[i] = to;
}

/* The result itself is what the second product gives: it is stored in its own dtype. */
static void copy_result(Graph *rest, ValueId y, ValueId sums)
{
    Attr *to = arena_array(rest->arena, Attr, 1);
    *to = (Attr){.key = AT_DTYPE, .dtype = graph_value(rest, y)->dtype};
    Node cast = {.op = OP_CAST, .n_out = 1, .n_in = 1, .out = y, .n_attr = 1, .attr = to};
    cast.in = arena_array(rest->arena, ValueId, 1);
    cast.in[0] = sums;
    rest->values.at[y].node = rest->nodes.len;
    vec_push(rest->arena, &rest->nodes, cast);
}

/* Results first, then scores and the operands of the products. */
static Graph *rest_of(Arena *arena, const Graph *g, Found *f)
{
    const Node *first = &g->nodes.at[f->first], *second = &g->nodes.at[f->second];
    bool *kept = arena_array(arena, bool, g->nodes.len + 1);
    for (uint32_t i = 0; i < g->nodes.len; i++)
        kept[i] = i != f->first && i != f->second && i != f->softmax;
    Graph *rest = tail_copy_nodes(arena, g, kept);
    for (uint32_t i = 0; i < g->outputs.len; i++)
        vec_push(arena, &rest->outputs, g->outputs.at[i]);
    ValueId own[STORES] = {[STORE_SCORES] = g->nodes.at[f->softmax].in[0],
                           [STORE_Q] = first->in[0],
                           [STORE_K] = first->in[1],
                           [STORE_V] = second->in[1]};
    f->product = add_fed(rest, first->out);
    f->sums = add_fed(rest, second->out);
    bool result = graph_is_output(g, second->out);
    if (!result)
        replace_value(rest, second->out, f->sums);
    for (int i = 0; i < STORES; i++)
        vec_push(arena, &rest->outputs, own[i]);
    replace_value(rest, first->out, f->product);
    if (result)
        copy_result(rest, second->out, f->sums);
    return rest;
}

/* ---- axes ---- */

/* Which dimension of a shape an index walks by an axis, and how far inside it; -1: none, or several. */
static int dim_of(Shape shape, int64_t by, int64_t size, int64_t *inner)
{
    int64_t stride = 1;
    for (int d = shape.rank; d-- > 0; stride *= shape.dim[d])
        if (by >= stride && by % stride == 0 && by * size <= stride * shape.dim[d]) {
            *inner = by / stride;
            return d;
        }
    return -1;
}

/* An axis of the nest that is read: what it is, and the distance of its elements there. Equal ones are one axis. */
typedef struct Place {
    AttentionAxis is;
    int64_t inner, size;
} Place;

typedef struct Reader {
    const Nest *from;
    Nest *to;
    Place place[NEST_MAX_AXES]; /* of the axes of `to` */
    uint32_t map[NEST_MAX_AXES];
    NestId *made; /* per value of `from`: its copy for the present store; 0: none */
} Reader;

static uint32_t axis_at(Reader *r, Place p)
{
    for (uint32_t a = 1; a < r->to->axes.len; a++) {
        const Place *q = &r->place[a];
        if (q->is == p.is && q->inner == p.inner && q->size == p.size)
            return a;
    }
    if (r->to->axes.len >= NEST_MAX_AXES)
        return 0;
    r->place[r->to->axes.len] = p;
    vec_push(r->to->arena, &r->to->axes, ((NestAxis){.size = p.size, .whole = p.size}));
    return r->to->axes.len - 1;
}

/* Matrices of a product: the shape that an index walks, and that of the product, whose batch it may have in part. */
typedef struct Matrices {
    Shape shape, all;
    AttentionAxis rows, columns;
} Matrices;

/* Distance of neighbours along dimension `d`, counted in matrices of the whole product. */
static int64_t batch_step(const Matrices *m, int d)
{
    int64_t step = 1;
    for (int i = m->all.rank - (m->shape.rank - d) + 1; i + 2 < m->all.rank; i++)
        step *= m->all.dim[i];
    return step;
}

/* What an axis is by where `index` has it. */
static bool place_of(const Reader *r, const AffineTerm *term, const Matrices *m, Place *p)
{
    *p = (Place){.size = r->from->axes.at[term->axis].size};
    int d = dim_of(m->shape, term->by, p->size, &p->inner);
    if (d < 0)
        return false;
    p->is = d == m->shape.rank - 1   ? m->columns
            : d == m->shape.rank - 2 ? m->rows
                                     : ATTENTION_BATCH;
    p->inner *= p->is == ATTENTION_BATCH ? batch_step(m, d) : 1;
    return true;
}

/* What the axes of a store are, by where they stand in the matrices that `index` walks. */
static bool map_axes(Reader *r, const Affine *index, const Matrices *m)
{
    for (uint32_t a = 0; a < NEST_MAX_AXES; a++)
        r->map[a] = 0;
    for (uint32_t i = 0; i < index->n; i++) {
        uint32_t a = index->term[i].axis;
        Place p;
        if (r->from->axes.at[a].size == 1)
            continue;
        if (!place_of(r, &index->term[i], m, &p))
            return false;
        r->map[a] = axis_at(r, p);
        if (!r->map[a])
            return false;
    }
    return true;
}

/* Another index has the axes of the store at the same places. */
static bool same_places(const Reader *r, const Affine *index, const Matrices *m)
{
    for (uint32_t i = 0; i < index->n; i++) {
        uint32_t a = r->map[index->term[i].axis];
        Place p;
        if (r->from->axes.at[index->term[i].axis].size == 1)
            continue;
        if (!a || !place_of(r, &index->term[i], m, &p) || p.is != r->place[a].is ||
            p.inner != r->place[a].inner)
            return false;
    }
    return true;
}

static bool map_index(const Reader *r, Affine *index)
{
    Affine to = affine_number(index->at);
    for (uint32_t i = 0; i < index->n; i++) {
        Affine term = affine_axis(r->map[index->term[i].axis], index->term[i].by);
        if (r->from->axes.at[index->term[i].axis].size == 1)
            continue;
        if (!r->map[index->term[i].axis] || !affine_add(&to, &term, 1))
            return false;
    }
    *index = to;
    return true;
}

static bool map_set(const Reader *r, uint64_t *axes)
{
    uint64_t to = 0;
    for (uint32_t a = 1; a < r->from->axes.len; a++)
        if (*axes >> a & 1 && r->from->axes.at[a].size > 1) {
            if (!r->map[a])
                return false;
            to |= UINT64_C(1) << r->map[a];
        }
    *axes = to;
    return true;
}

/* The value over the axes of `to`; 0: it reduces, or varies along another axis. */
static NestId copy_value(Reader *r, NestId id)
{
    NestValue v = r->from->values.at[id];
    if (r->made[id])
        return r->made[id];
    bool known = v.op == NEST_NUMBER || v.op == NEST_COUNT || v.op == NEST_LOAD ||
                 v.op == NEST_PLACE || v.op == NEST_MAP;
    if (!known || (v.op == NEST_COUNT && v.over))
        return 0;
    for (uint32_t i = 0; i < v.n_arg; i++) {
        v.arg[i] = copy_value(r, v.arg[i]);
        if (!v.arg[i])
            return 0;
    }
    if (!map_set(r, &v.axes) || (v.op == NEST_LOAD && !map_index(r, &v.index)))
        return 0;
    v.uses = 0;
    vec_push(r->to->arena, &r->to->values, v);
    r->made[id] = r->to->values.len - 1;
    return r->made[id];
}

/* The index at which a store's value reads a tensor; NULL: at none, or at several. */
static const Affine *index_in(const Nest *nest, NestId id, uint32_t tensor)
{
    bool *in = arena_array(nest->arena, bool, nest->values.len + 1);
    const Affine *found = NULL;
    in[id] = true;
    for (NestId i = id + 1; i-- > 1;) {
        const NestValue *v = &nest->values.at[i];
        for (uint32_t k = 0; k < v->n_arg && in[i]; k++)
            in[v->arg[k]] = true;
        if (!in[i] || v->op != NEST_LOAD || v->tensor != tensor)
            continue;
        if (found && !affine_equal(found, &v->index))
            return NULL;
        found = &v->index;
    }
    return found;
}

static uint32_t find_tensor(const Nest *nest, ValueId value)
{
    uint32_t i = 0;
    while (i < nest->tensors.len && nest->tensors.at[i].value != value)
        i++;
    return i;
}

static void count_uses(Nest *nest, const NestId *more, uint32_t n)
{
    for (uint32_t i = 0; i < nest->stores.len; i++)
        nest->values.at[nest->stores.at[i].value].uses++;
    for (uint32_t i = 0; i < n; i++)
        nest->values.at[more[i]].uses++;
    for (uint32_t i = nest->values.len; i-- > 1;)
        for (uint32_t k = 0; k < nest->values.at[i].n_arg && nest->values.at[i].uses; k++)
            nest->values.at[nest->values.at[i].arg[k]].uses++;
}

/* One nest in which every axis is one of queries, keys, depth, width or the batch. */
static bool line_up(const Graph *rest, const Graph *g, const Found *f, const Nest *from,
                    Attention *a, Reader *r)
{
    static const AttentionAxis rows[] = {ATTENTION_QUERIES, ATTENTION_QUERIES, ATTENTION_DEPTH,
                                         ATTENTION_KEYS};
    static const AttentionAxis columns[] = {ATTENTION_KEYS, ATTENTION_DEPTH, ATTENTION_KEYS,
                                            ATTENTION_WIDTH};
    uint32_t outputs = g->outputs.len;
    NestId own[STORES];
    if (from->stores.len != rest->outputs.len)
        return false;
    for (uint32_t i = 0; i < from->stores.len; i++) {
        NestStore s = from->stores.at[i];
        bool result = i < outputs;
        uint32_t which = result ? 0 : i - outputs;
        Matrices m = {graph_value(rest, rest->outputs.at[i])->shape,
                      graph_value(rest, result || which == STORE_V ? f->sums : f->product)->shape,
                      result ? ATTENTION_QUERIES : rows[which],
                      result ? ATTENTION_WIDTH : columns[which]};
        bool fed = result || which == STORE_SCORES;
        const Affine *read = fed ? index_in(from, s.value, result ? a->sums : a->product) : NULL;
        if (result) /* as what the cube hands over is read */
            m.shape = m.all;
        if ((fed && (!read || read->at)) || !map_axes(r, result ? read : &s.index, &m))
            return false;
        if (which == STORE_SCORES && !result) {
            m.shape = m.all;
            if (!same_places(r, read, &m))
                return false;
        }
        r->made = arena_array(a->arena, NestId, from->values.len + 1);
        s.value = copy_value(r, s.value);
        if (!s.value || !map_index(r, &s.index))
            return false;
        if (result)
            vec_push(a->arena, &r->to->stores, s);
        else
            own[i - outputs] = s.value;
    }
    a->scores = own[STORE_SCORES];
    a->q = own[STORE_Q];
    a->k = own[STORE_K];
    a->v = own[STORE_V];
    count_uses(r->to, own, STORES);
    return true;
}

static int64_t matrices_of(Shape s)
{
    int64_t n = 1;
    for (int i = 0; i + 2 < s.rank; i++)
        n *= s.dim[i];
    return n;
}

/* Axes of the same kind are one where every access walks them as one; all but the batch are one. */
static bool merge_axes(Attention *a, const Reader *r, int64_t matrices)
{
    uint32_t group[NEST_MAX_AXES] = {0};
    for (uint32_t i = 1; i < a->nest->axes.len; i++)
        group[i] = (uint32_t)r->place[i].is;
    nest_merge_groups(a->nest, group);
    a->size[ATTENTION_BATCH] = 1;
    for (uint32_t i = 1; i < a->nest->axes.len; i++) {
        int64_t size = a->nest->axes.at[i].size;
        AttentionAxis is = r->place[i].is;
        if (size == 1)
            continue;
        a->is[i] = is;
        if (is == ATTENTION_BATCH) {
            a->size[is] *= size;
            continue;
        }
        if (a->axis[is])
            return false;
        a->axis[is] = i;
        a->size[is] = size;
    }
    for (int is = ATTENTION_QUERIES; is < ATTENTION_AXES; is++)
        if (!a->axis[is])
            return false;
    return a->size[ATTENTION_BATCH] == matrices;
}

/* ---- operands ---- */

/* Read as it lies: rows of one axis, columns next to each other of another. */
static bool is_operand(const Attention *a, NestId id, AttentionAxis one, AttentionAxis other)
{
    const NestValue *v = &a->nest->values.at[id];
    if (v->op != NEST_LOAD || v->n_arg || v->tensor == a->product || v->tensor == a->sums)
        return false;
    int64_t x = affine_by(&v->index, a->axis[one]), y = affine_by(&v->index, a->axis[other]);
    DType dtype = a->nest->tensors.at[v->tensor].dtype;
    return x && y && (x == 1 || y == 1) && (dtype == DT_F32 || dtype == DT_F16 || dtype == DT_BF16);
}

static bool read_operands(Attention *a)
{
    const NestId of[] = {a->q, a->k, a->v};
    if (!is_operand(a, a->q, ATTENTION_QUERIES, ATTENTION_DEPTH) ||
        !is_operand(a, a->k, ATTENTION_KEYS, ATTENTION_DEPTH) ||
        !is_operand(a, a->v, ATTENTION_KEYS, ATTENTION_WIDTH))
        return false;
    a->dtype = a->nest->tensors.at[a->nest->values.at[a->q].tensor].dtype;
    for (int i = 0; i < 3; i++)
        if (a->nest->tensors.at[a->nest->values.at[of[i]].tensor].dtype != a->dtype)
            return false;
    return true;
}

/* Sizes that are numbers in the kernel. */
static void fix_size(Attention *a, uint32_t axis)
{
    uint32_t same = a->layout.same[axis];
    for (uint32_t i = 1; i < a->nest->axes.len; i++)
        if (a->layout.same[i] == same) {
            a->layout.free[i] = false;
            a->layout.size[i] = str_format(a->arena, "%lld", (long long)a->nest->axes.at[i].size);
        }
}

bool attention_read(Arena *arena, const Graph *graph, const NpuChip *chip, Attention *a)
{
    Found f;
    Diag quiet = diag_make(arena, "plan", STR(""));
    *a = (Attention){.arena = arena, .chip = chip};
    if (!find_nodes(graph, &f) || prim_widens(graph))
        return false;
    const Node *first = &graph->nodes.at[f.first], *second = &graph->nodes.at[f.second];
    if (!is_matrix(graph, first->in[0]) || !is_matrix(graph, first->in[1]) ||
        !is_matrix(graph, second->in[1]))
        return false;
    a->product_dtype = graph_value(graph, first->out)->dtype;
    a->causal = attention_causal(graph, graph->nodes.at[f.softmax].in[0], &a->ahead);
    Graph *rest = rest_of(arena, graph, &f);
    Nest *from = nest_derive(arena, rest, &quiet);
    if (!from)
        return false;
    a->product = find_tensor(from, f.product);
    a->sums = find_tensor(from, f.sums);
    if (a->product >= from->tensors.len || a->sums >= from->tensors.len)
        return false;
    Reader *r = arena_new(arena, Reader);
    r->from = from;
    r->to = a->nest = arena_new(arena, Nest);
    *a->nest = *from;
    a->nest->axes.at = NULL;
    a->nest->axes.len = a->nest->axes.cap = 0;
    a->nest->values.at = NULL;
    a->nest->values.len = a->nest->values.cap = 0;
    a->nest->stores.at = NULL;
    a->nest->stores.len = a->nest->stores.cap = 0;
    vec_push(arena, &a->nest->axes, from->axes.at[0]);
    vec_push(arena, &a->nest->values, from->values.at[0]);
    a->nest->tensors.len -= STORES; /* those of scores and operands are never stored */
    if (!line_up(rest, graph, &f, from, a, r) ||
        !merge_axes(a, r, matrices_of(graph_value(rest, f.product)->shape)) || !read_operands(a) ||
        !layout_make(a->nest, false, &a->layout, &quiet))
        return false;
    fix_size(a, a->axis[ATTENTION_DEPTH]);
    fix_size(a, a->axis[ATTENTION_WIDTH]);
    return true;
}
