/* What a task cannot do without, for the bound (npu.h). In: its graph. Out: bytes and products.
 *
 * An input counts as far as somebody needs it: of a table that rows are taken from, no more than is
 * taken. One whose total is in every element of a result that also has the input's own element must be
 * read to its end before the first is stored, and again. Products count as they stand in the task;
 * padding is left out of them. */
#include "eval/bound.h"

#include "eval/eval_int.h"

static double count_of(const Value *v)
{
    double n = 1;
    for (int i = 0; i < v->shape.rank; i++)
        n *= (double)v->shape.dim[i];
    return n;
}

static double bytes_of(const Value *v) { return count_of(v) * (double)dtype_bytes(v->dtype); }

/* --- how much of a value is needed --- */

/* Elements of input 0 that one element of the output may come from; 0: all of the input. */
static double taken_per_output(const Node *node)
{
    switch (node->op) {
    case OP_SLICE:
    case OP_GATHER:
    case OP_INDEX_SELECT:
    case OP_INDEX:
    case OP_EMBEDDING:
    case OP_DIAGONAL:
    case OP_UNFOLD:
    case OP_MASKED_SELECT: return 1;
    case OP_INTERPOLATE:
    case OP_GRID_SAMPLE: return 16; /* bicubic */
    default: return 0;
    }
}

static int64_t of_axis(const Node *node, AttrKey key, int axis, int64_t otherwise)
{
    const Attr *a = node_attr(node, key);
    return a && (uint32_t)axis < a->ints.len ? a->ints.at[axis] : otherwise;
}

/* Windows that lie apart leave elements out: the part of input 0 that they cover. */
double bound_windows(const Graph *g, const Node *node)
{
    const Value *x = graph_value(g, node->in[0]), *y = graph_value(g, node->out);
    const Value *w = node->op == OP_CONV ? graph_value(g, node->in[1]) : NULL;
    const Attr *kernel = node_attr(node, AT_KERNEL);
    int axes = w ? w->shape.rank - 2 : kernel ? (int)kernel->ints.len : 0;
    double part = 1;
    if ((node->op != OP_POOL && node->op != OP_CONV) || node_bool(node, AT_TRANSPOSED) ||
        axes < 1 || axes > x->shape.rank || axes > y->shape.rank)
        return 1;
    for (int a = 0; a < axes; a++) {
        double taps = (double)(w ? w->shape.dim[2 + a] : kernel->ints.at[a]);
        double reach = taps * (double)y->shape.dim[y->shape.rank - axes + a];
        double in = (double)x->shape.dim[x->shape.rank - axes + a];
        part *= reach < in ? reach / in : 1;
    }
    return part;
}

static bool only_moves(const Node *node)
{
    OpMove move = op_move(node);
    return node->op == OP_CAST || (move.inputs == 1 && move.flags & MOVE_ALL);
}

/* The table a loss looks its class numbers up in: as many elements as there are numbers. */
static double taken_by_loss(const Graph *g, const Node *node)
{
    return node->op == OP_NLL_LOSS && node->in[1] != VALUE_NONE
               ? count_of(graph_value(g, node->in[1]))
               : 0;
}

static double need_of(const Graph *g, const Node *node, uint32_t i, const double *need)
{
    const Value *v = graph_value(g, node->in[i]);
    double size = (double)dtype_bytes(v->dtype), all = bytes_of(v), taken = 0, least = 0;
    for (uint32_t o = 0; o < node->n_out; o++)
        least += need[node->out + o];
    if (least <= 0)
        return 0; /* nobody asks for what it makes */
    if (i == 0 && taken_per_output(node) > 0)
        taken = taken_per_output(node) * count_of(graph_value(g, node->out)) * size;
    else if (i == 0 && only_moves(node))
        taken = least / (double)dtype_bytes(graph_value(g, node->out)->dtype) * size;
    else if (i == 0 && node->op == OP_NLL_LOSS)
        taken = taken_by_loss(g, node) * size;
    else if (i == 0)
        taken = bound_windows(g, node) * all;
    return taken > 0 && taken < all ? taken : all;
}

/* Bytes needed of every value, by id. */
static double *needs_of(Arena *arena, const Graph *g)
{
    double *need = arena_array(arena, double, g->values.len + 1);
    for (uint32_t i = 0; i < g->outputs.len; i++)
        need[g->outputs.at[i]] = bytes_of(graph_value(g, g->outputs.at[i]));
    for (uint32_t n = g->nodes.len; n-- > 0;) {
        const Node *node = &g->nodes.at[n];
        for (uint32_t i = 0; i < node->n_in; i++) {
            double bytes = node->in[i] == VALUE_NONE ? 0 : need_of(g, node, i, need);
            if (bytes > 0 && bytes > need[node->in[i]])
                need[node->in[i]] = bytes;
        }
    }
    return need;
}

/* --- what is needed a second time --- */

/* What a value has of an input: depends on its own element of it; keeps that element's value; depends
 * on a total over all of them. */
enum { OF_EACH = 1, OF_VALUE = 2, OF_ALL = 4 };

static bool by_element(const Node *node)
{
    return op_is_elementwise(node->op) || node->op == OP_RESHAPE;
}

static bool keeps_value(const Node *node)
{
    return node->op == OP_RESHAPE ||
           (node->op == OP_BINARY && (node->kind == BINARY_add || node->kind == BINARY_sub ||
                                      node->kind == BINARY_mul || node->kind == BINARY_div));
}

static uint8_t marks_of(const Graph *g, const Node *node, double count, const uint8_t *marks)
{
    uint8_t all = 0, same = 0;
    for (uint32_t i = 0; i < node->n_in; i++) {
        ValueId in = node->in[i];
        all |= in == VALUE_NONE ? 0 : marks[in];
        same |= in == VALUE_NONE || count_of(graph_value(g, in)) != count ? 0 : marks[in];
    }
    double out = count_of(graph_value(g, node->out));
    if (node->op == OP_REDUCE)
        return out == 1 && same & OF_EACH ? OF_ALL : 0;
    if (!by_element(node))
        return 0;
    uint8_t own = out == count ? same & (keeps_value(node) ? OF_EACH | OF_VALUE : OF_EACH) : 0;
    return own | (all & OF_ALL);
}

static bool needed_twice(Arena *arena, const Graph *g, ValueId input)
{
    uint8_t *marks = arena_array(arena, uint8_t, g->values.len + 1);
    double count = count_of(graph_value(g, input));
    marks[input] = count > 1 ? OF_EACH | OF_VALUE : 0;
    for (uint32_t n = 0; n < g->nodes.len; n++)
        if (g->nodes.at[n].n_out == 1)
            marks[g->nodes.at[n].out] = marks_of(g, &g->nodes.at[n], count, marks);
    for (uint32_t i = 0; i < g->outputs.len; i++)
        if ((marks[g->outputs.at[i]] & (OF_VALUE | OF_ALL)) == (OF_VALUE | OF_ALL))
            return true;
    return false;
}

/* --- arithmetic --- */

/* Positions of the output that a tap of the window finds inside the input, over all taps. */
static double taps_inside(int64_t in, int64_t out, int64_t taps, int64_t stride, int64_t pad,
                          int64_t dilation)
{
    double inside = 0;
    for (int64_t t = 0; t < taps; t++) {
        int64_t shift = t * dilation - pad; /* of output 0 */
        int64_t first = shift < 0 ? (-shift + stride - 1) / stride : 0;
        int64_t last = in - 1 - shift < 0 ? -1 : (in - 1 - shift) / stride;
        last = last > out - 1 ? out - 1 : last;
        inside += last >= first ? (double)(last - first + 1) : 0;
    }
    return inside;
}

static double conv_products(const Graph *g, const Node *node)
{
    const Value *x = graph_value(g, node->in[0]), *w = graph_value(g, node->in[1]);
    const Value *y = graph_value(g, node->out);
    int axes = w->shape.rank - 2;
    double each = count_of(w);
    if (axes < 1 || y->shape.rank < axes || x->shape.rank < axes || w->shape.dim[0] == 0)
        return 0;
    bool back = node_bool(node, AT_TRANSPOSED);
    const Value *large = back ? x : y, *other = back ? y : x; /* each element of it by every tap */
    double products = count_of(large) * each / (double)w->shape.dim[0];
    for (int a = 0; a < axes; a++) {
        int64_t out = large->shape.dim[large->shape.rank - axes + a];
        int64_t in = other->shape.dim[other->shape.rank - axes + a], taps = w->shape.dim[2 + a];
        double all = (double)out * (double)taps;
        double inside = taps_inside(in, out, taps, of_axis(node, AT_STRIDE, a, 1),
                                    of_axis(node, AT_PADDING, a, 0),
                                    of_axis(node, AT_DILATION, a, 1));
        products *= all > 0 ? inside / all : 0;
    }
    return products;
}

static double products_of(const Graph *g, const Node *node)
{
    const Value *x = graph_value(g, node->in[0]), *y = graph_value(g, node->out);
    switch (node->op) {
    case OP_MATMUL:
    case OP_LINEAR:
        return x->shape.rank ? count_of(y) * (double)x->shape.dim[x->shape.rank - 1] : 0;
    case OP_CONV: return conv_products(g, node);
    default: return 0;
    }
}

/* Functions that no other instruction stands in for. */
static bool is_special(const Node *node)
{
    if (node->op == OP_SOFTMAX)
        return true;
    if (node->op != OP_UNARY)
        return false;
    switch (node->kind) {
    case UNARY_exp:
    case UNARY_log:
    case UNARY_sqrt:
    case UNARY_rsqrt:
    case UNARY_tanh:
    case UNARY_sigmoid:
    case UNARY_gelu:
    case UNARY_silu:
    case UNARY_mish:
    case UNARY_softplus:
    case UNARY_erf: return true;
    default: return false;
    }
}

NpuWork eval_work(const Graph *g)
{
    Arena arena = {0};
    const double *need = needs_of(&arena, g);
    NpuWork w = {.narrow = true};
    for (uint32_t i = 0; i < g->inputs.len; i++) {
        w.read += need[g->inputs.at[i]];
        w.again += needed_twice(&arena, g, g->inputs.at[i]) ? need[g->inputs.at[i]] : 0;
    }
    for (uint32_t i = 0; i < g->params.len; i++)
        w.read += need[g->params.at[i]];
    for (uint32_t i = 0; i < g->outputs.len; i++)
        w.written += bytes_of(graph_value(g, g->outputs.at[i]));
    for (uint32_t n = 0; n < g->nodes.len; n++) {
        const Node *node = &g->nodes.at[n];
        if (node->n_in == 0 || node->in[0] == VALUE_NONE || need[node->out] <= 0)
            continue;
        double products = products_of(g, node);
        w.products += products;
        w.narrow = w.narrow &&
                   (products <= 0 || dtype_bytes(graph_value(g, node->in[0])->dtype) == 1);
        w.special += is_special(node) ? bytes_of(graph_value(g, node->out)) : 0;
    }
    arena_drop(&arena);
    return w;
}

/* At other sizes than the graph's: the bytes of the operands, as large a part of each. */
double eval_bound_us(const EvalRun *run, const EvalOperand *operands)
{
    Arena arena = {0};
    const Graph *g = run->ref->graph;
    const double *need = needs_of(&arena, g);
    NpuWork own = eval_work(g), w = {0};
    bool same = true;
    for (uint32_t i = 0; i < run->candidate->operand_count; i++) {
        const IrTensor *t = &run->program->tensors.at[i];
        const Value *v = graph_value(g, operands[i].value);
        double bytes = bytes_of(&(Value){.dtype = t->dtype, .shape = operands[i].shape});
        double part = bytes_of(v) > 0 ? need[operands[i].value] / bytes_of(v) : 1;
        same = same && bytes == bytes_of(v);
        w.read += t->role == IR_ROLE_OUT ? 0 : bytes * part;
        w.written += t->role == IR_ROLE_IN ? 0 : bytes;
    }
    arena_drop(&arena);
    if (same) {
        w.again = own.again;
        w.special = own.special;
        w.products = own.products;
        w.narrow = own.narrow;
    }
    return npu_bound(run->config->chip, &w).us;
}
