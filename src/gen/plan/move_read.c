/* Reading an operator as a move. In: a graph of one node. Out: per dimension of the source, which
 * index of the result leads to it. */
#include "gen/plan/move.h"

#include "gen/plan/script.h"

static MoveDim plain(int64_t size, int from)
{
    return (MoveDim){.size = size, .n = from >= 0, .from = {from}, .mul = {1}, .div = 1};
}

static void identity(Move *m, Shape from, Shape to)
{
    m->rank = to.rank;
    m->from_rank = from.rank;
    for (int i = 0; i < to.rank; i++)
        m->size[i] = to.dim[i];
    for (int i = 0; i < from.rank; i++)
        m->dim[i] = plain(from.dim[i], i + to.rank - from.rank);
}

static const Attr *ints_of(const Node *node, AttrKey key, uint32_t most)
{
    const Attr *a = node_attr(node, key);
    return a && a->ints.len && a->ints.len <= most ? a : NULL;
}

static bool read_permute(const Node *node, Move *m)
{
    const Attr *dims = ints_of(node, AT_DIMS, GRAPH_MAX_RANK);
    for (int i = 0; dims && i < m->rank; i++) {
        int64_t to = dims->ints.at[i] < 0 ? dims->ints.at[i] + m->rank : dims->ints.at[i];
        m->dim[to].from[0] = i;
    }
    return dims != NULL;
}

static bool read_slice(const Node *node, Shape from, Move *m)
{
    int dim = 0;
    if (!shape_dim(from, node_int(node, AT_DIM, 0), &dim))
        return false;
    m->dim[dim].mul[0] = node_int(node, AT_STEP, 1);
    m->dim[dim].add = node_int(node, AT_START, 0);
    return true;
}

static bool read_flip(const Node *node, Shape from, Move *m)
{
    const Attr *dims = ints_of(node, AT_DIMS, GRAPH_MAX_RANK);
    for (uint32_t i = 0; dims && i < dims->ints.len; i++) {
        int dim = 0;
        if (!shape_dim(from, dims->ints.at[i], &dim))
            return false;
        m->dim[dim].mul[0] = -1;
        m->dim[dim].add = from.dim[dim] - 1;
    }
    return dims != NULL;
}

static bool read_roll(const Node *node, Shape from, Move *m)
{
    const Attr *by = ints_of(node, AT_SHAPE, GRAPH_MAX_RANK);
    const Attr *dims = ints_of(node, AT_DIMS, GRAPH_MAX_RANK);
    if (!by)
        return false;
    if (!dims) {
        from = (Shape){1, {script_product(from, 0, from.rank)}};
        identity(m, from, from);
    }
    for (uint32_t i = 0; i < by->ints.len; i++) {
        int dim = 0;
        if (dims && (i >= dims->ints.len || !shape_dim(from, dims->ints.at[i], &dim)))
            return false;
        int64_t n = from.dim[dim], shift = n ? by->ints.at[i] % n : 0;
        m->dim[dim].add += shift > 0 ? n - shift : -shift;
        m->dim[dim].add %= n ? n : 1;
        m->dim[dim].wrap = MOVE_AROUND;
    }
    return true;
}

static bool read_repeat(Move *m)
{
    for (int i = 0; i < m->from_rank; i++)
        if (m->dim[i].size != m->size[m->dim[i].from[0]])
            m->dim[i].wrap = MOVE_AROUND;
    return true;
}

static bool read_interleave(const Node *node, Shape from, Move *m)
{
    const Attr *times = ints_of(node, AT_SHAPE, 1);
    int dim = 0;
    if (!times || times->ints.at[0] < 1 || !shape_dim(from, node_int(node, AT_DIM, 0), &dim))
        return false;
    m->dim[dim].div = times->ints.at[0];
    return true;
}

static bool read_pad(const Node *node, Move *m)
{
    const Attr *pads = ints_of(node, AT_PADS, 2 * GRAPH_MAX_RANK);
    Str mode = node_text(node, AT_MODE);
    MoveWrap wrap = str_is(mode, "reflect")     ? MOVE_REFLECT
                    : str_is(mode, "replicate") ? MOVE_CLAMP
                    : str_is(mode, "circular")  ? MOVE_AROUND
                                                : MOVE_FILL;
    m->fill = node_float(node, AT_VALUE, 0);
    for (uint32_t i = 0; pads && i < pads->ints.len / 2; i++) {
        int64_t low = pads->ints.at[2 * i], high = pads->ints.at[2 * i + 1];
        MoveDim *d = &m->dim[m->from_rank - 1 - (int)i];
        d->add = -low;
        d->wrap = low > 0 || high > 0 ? wrap : MOVE_INSIDE;
    }
    return pads != NULL;
}

static bool read_unfold(const Node *node, Shape from, Move *m)
{
    int dim = 0;
    if (!shape_dim(from, node_int(node, AT_DIM, 0), &dim))
        return false;
    for (int i = 0; i < from.rank; i++)
        m->dim[i] = plain(from.dim[i], i);
    m->dim[dim].n = 2;
    m->dim[dim].mul[0] = node_int(node, AT_STEP, 1);
    m->dim[dim].from[1] = m->rank - 1;
    m->dim[dim].mul[1] = 1;
    return true;
}

static int64_t window(const Node *node, AttrKey key, int i, int64_t otherwise)
{
    const Attr *a = node_attr(node, key);
    return a && a->ints.len ? a->ints.at[(uint32_t)i < a->ints.len ? (uint32_t)i : 0] : otherwise;
}

/* [N, C, H, W] to [N, C, kh, kw, rows, columns] */
static bool read_im2col(const Node *node, Shape from, Move *m)
{
    if (from.rank != 4)
        return false;
    Shape to = {6, {from.dim[0], from.dim[1]}};
    for (int i = 0; i < 2; i++) {
        int64_t kernel = window(node, AT_KERNEL, i, 1), pad = window(node, AT_PADDING, i, 0);
        int64_t step = window(node, AT_STRIDE, i, 1), apart = window(node, AT_DILATION, i, 1);
        int64_t room = from.dim[2 + i] + 2 * pad - apart * (kernel - 1) - 1;
        to.dim[2 + i] = kernel;
        to.dim[4 + i] = room / step + 1;
        m->dim[2 + i] = (MoveDim){.size = from.dim[2 + i],
                                  .n = 2,
                                  .from = {4 + i, 2 + i},
                                  .mul = {step, apart},
                                  .add = -pad,
                                  .div = 1,
                                  .wrap = pad ? MOVE_FILL : MOVE_INSIDE};
    }
    m->rank = 6;
    for (int i = 0; i < 6; i++)
        m->size[i] = to.dim[i];
    for (int i = 0; i < 2; i++)
        m->dim[i] = plain(from.dim[i], i);
    return true;
}

static bool read_diagonal(const Node *node, Shape from, Move *m)
{
    const Attr *dims = ints_of(node, AT_DIMS, 2);
    int at[2] = {0, 1}, next = 0;
    int64_t offset = node_int(node, AT_DIAGONAL, 0);
    for (uint32_t i = 0; dims && i < dims->ints.len; i++)
        if (!shape_dim(from, dims->ints.at[i], &at[i]))
            return false;
    for (int i = 0; i < from.rank; i++)
        m->dim[i] = plain(from.dim[i], i == at[0] || i == at[1] ? m->rank - 1 : next++);
    m->dim[at[0]].add = offset < 0 ? -offset : 0;
    m->dim[at[1]].add = offset > 0 ? offset : 0;
    return true;
}

static bool read_node(const Node *node, Shape from, Shape to, Move *m)
{
    identity(m, from, to);
    switch (node->op) {
    case OP_EXPAND: return true;
    case OP_PERMUTE: return read_permute(node, m);
    case OP_SLICE: return read_slice(node, from, m);
    case OP_FLIP: return read_flip(node, from, m);
    case OP_ROLL: return read_roll(node, from, m);
    case OP_REPEAT: return read_repeat(m);
    case OP_REPEAT_INTERLEAVE: return read_interleave(node, from, m);
    case OP_PAD: return read_pad(node, m);
    case OP_UNFOLD: return read_unfold(node, from, m);
    case OP_IM2COL: return read_im2col(node, from, m);
    case OP_DIAGONAL: return read_diagonal(node, from, m);
    default: return false;
    }
}

/* ---- fewer dimensions ---- */

static bool depends(const MoveDim *d, int index)
{
    for (int i = 0; i < d->n; i++)
        if (d->from[i] == index)
            return true;
    return false;
}

static void drop_index(Move *m, int index)
{
    for (int j = 0; j < m->from_rank; j++) {
        MoveDim *d = &m->dim[j];
        int kept = 0;
        for (int i = 0; i < d->n; i++) {
            if (d->from[i] == index)
                continue;
            d->from[kept] = d->from[i] - (d->from[i] > index);
            d->mul[kept++] = d->mul[i];
        }
        d->n = kept;
    }
    for (int i = index; i + 1 < m->rank; i++)
        m->size[i] = m->size[i + 1];
    m->rank--;
}

static void drop_source(Move *m, int dim)
{
    for (int i = dim; i + 1 < m->from_rank; i++)
        m->dim[i] = m->dim[i + 1];
    m->from_rank--;
}

static void drop_ones(Move *m)
{
    for (int j = m->from_rank; j-- > 0;)
        if (m->dim[j].size == 1 && m->dim[j].wrap != MOVE_FILL)
            drop_source(m, j);
    for (int i = m->rank; i-- > 0;)
        if (m->size[i] == 1)
            drop_index(m, i);
}

/* The source dimension that is a step of this index and nothing else, from its first elements to its last
 * ones: of a row, every second; -1: none. */
static int strided(const Move *m, int index)
{
    int found = -1;
    for (int j = 0; j < m->from_rank; j++) {
        const MoveDim *d = &m->dim[j];
        if (!depends(d, index))
            continue;
        bool alone = d->n == 1 && d->mul[0] > 0 && d->add >= 0 && d->add < d->mul[0] &&
                     d->div == 1 && d->wrap == MOVE_INSIDE &&
                     d->size == d->mul[0] * m->size[index] && found < 0;
        if (!alone)
            return -1;
        found = j;
    }
    return found;
}

static int straight(const Move *m, int index)
{
    int j = strided(m, index);
    return j >= 0 && m->dim[j].mul[0] == 1 ? j : -1;
}

static void merge(Move *m)
{
    for (int i = m->rank - 1; i-- > 0;) {
        int a = straight(m, i), b = strided(m, i + 1);
        if (a < 0 || b != a + 1)
            continue;
        m->size[i] *= m->size[i + 1];
        int64_t size = m->dim[a].size * m->dim[b].size;
        int from = m->dim[a].from[0];
        m->dim[a] = m->dim[b];
        m->dim[a].size = size;
        m->dim[a].from[0] = from;
        drop_source(m, b);
        for (int j = 0; j < m->from_rank; j++)
            for (int k = 0; k < m->dim[j].n; k++)
                m->dim[j].from[k] -= m->dim[j].from[k] > i;
        for (int k = i + 1; k + 1 < m->rank; k++)
            m->size[k] = m->size[k + 1];
        m->rank--;
    }
}

/* One element of every row, x[:, 2]: a part of a row of all of them, as long as rows are short;
 * else a row of the result of its own, so that blocks of rows are read and turned. */
static void fold_constant(Move *m)
{
    int last = m->from_rank - 1;
    MoveDim *d = &m->dim[last], *row = last > 0 ? &m->dim[last - 1] : NULL;
    if (!row || d->n || d->wrap != MOVE_INSIDE || d->div != 1 || row->n != 1 || row->div != 1 ||
        row->wrap != MOVE_INSIDE || row->from[0] != m->rank - 1)
        return;
    if (d->size * (row->mul[0] < 0 ? -row->mul[0] : row->mul[0]) <= MOVE_STEP) {
        row->add = row->add * d->size + d->add;
        row->mul[0] *= d->size;
        row->size *= d->size;
        m->from_rank--;
    } else if (m->rank < GRAPH_MAX_RANK) {
        for (int i = m->rank++; i > 0; i--)
            m->size[i] = m->size[i - 1];
        m->size[0] = 1;
        for (int j = 0; j <= last; j++)
            for (int k = 0; k < m->dim[j].n; k++)
                m->dim[j].from[k]++;
        d->n = 1;
        d->from[0] = 0;
        d->mul[0] = 1;
    }
}

bool move_read(const Graph *graph, Move *m)
{
    if (graph->nodes.len != 1 || graph->outputs.len != 1)
        return false;
    const Node *node = &graph->nodes.at[0];
    if (node->n_in != 1 || graph_value(graph, node->in[0])->kind == VALUE_NODE)
        return false;
    const Value *x = graph_value(graph, node->in[0]), *y = graph_value(graph, node->out);
    *m = (Move){.g = graph, .x = node->in[0], .y = node->out, .dtype = x->dtype};
    if (x->dtype == DT_C64 || x->dtype == DT_F64 || !read_node(node, x->shape, y->shape, m))
        return false;
    drop_ones(m);
    merge(m);
    fold_constant(m);
    if (m->rank == 0)
        m->size[m->rank++] = 1;
    if (m->from_rank == 0)
        m->dim[m->from_rank++] = (MoveDim){.size = 1, .div = 1};
    return true;
}
