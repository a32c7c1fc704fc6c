/* Rewriting: spellings that mean the same become one node of the normal form.
 *
 *   x ** 2, square(x)         x * x                max(dim)[0]     amax
 *   linear(x, w, b)           x @ w^T + b          clamp(min=0)    relu
 *   reshape of reshape        one reshape          dims=all        no dims
 *   x - 2                     x + -2               x * 1           x
 *   cast(reshape(x))          reshape(cast(x))     x[0, 1, ..]     x
 *   op(reshape(number))       reshape(op(number)), where the common dtype stays
 *   float32 const of rank 0   a weak number; weak numbers beside float32 are rounded to it
 *   einsum "bqhd,bk1d->bhqk"  letters by first use, dims of 1 left out
 */
#include "graph/normal_int.h"

#include <string.h>

enum { EINSUM_MOST = 8 };

static const Value *info(const Normal *n, ValueId id) { return graph_value(n->to, id); }

static ValueId add_simple(Normal *n, Op op, int kind, uint32_t n_in, const ValueId *in,
                          const Attr *attr)
{
    NodeSpec spec = {
        .op = op, .kind = kind, .n_in = n_in, .in = in, .n_attr = attr ? 1 : 0, .attr = attr};
    return normal_add(n, &spec);
}

static ValueId add_weak(Normal *n, double number)
{
    double *data = arena_new(n->arena, double);
    *data = number;
    Value value = {
        .dtype = DT_F64, .kind = VALUE_CONST, .weak = true, .node = NODE_NONE, .data = data};
    return normal_const(n, &value);
}

static const Node *producer(const Normal *n, ValueId id)
{
    const Value *value = info(n, id);
    return value->kind == VALUE_NODE ? &n->to->nodes.at[value->node] : NULL;
}

static bool weak_number(const Normal *n, ValueId id, double *number)
{
    const Value *value = info(n, id);
    if (value->kind != VALUE_CONST || !value->weak)
        return false;
    *number = dtype_load(value->dtype, value->data, 0);
    return true;
}

static Attr ints_attr(AttrKey key, const int64_t *at, uint32_t len)
{
    Attr attr = {.key = key};
    attr.ints.at = at;
    attr.ints.len = len;
    return attr;
}

static ValueId reshape_to(Normal *n, ValueId x, Shape shape)
{
    for (const Node *node = producer(n, x); node && node->op == OP_RESHAPE; node = producer(n, x))
        x = node->in[0];
    if (shape_equal(info(n, x)->shape, shape))
        return x;
    Attr attr = ints_attr(AT_SHAPE, shape.dim, (uint32_t)shape.rank);
    return add_simple(n, OP_RESHAPE, 0, 1, &x, &attr);
}

static ValueId permute_by(Normal *n, ValueId x, const int64_t *dims, uint32_t rank)
{
    int64_t both[GRAPH_MAX_RANK];
    bool same = true;
    const Node *node = producer(n, x);
    memcpy(both, dims, rank * sizeof *both);
    if (node && node->op == OP_PERMUTE) {
        const Attr *inner = node_attr(node, AT_DIMS);
        for (uint32_t i = 0; i < rank; i++)
            both[i] = inner->ints.at[dims[i]];
        x = node->in[0];
    }
    for (uint32_t i = 0; i < rank; i++)
        same = same && both[i] == i;
    if (same)
        return x;
    Attr attr = ints_attr(AT_DIMS, both, rank);
    return add_simple(n, OP_PERMUTE, 0, 1, &x, &attr);
}

/* x @ w^T + b */
static ValueId rewrite_linear(Normal *n, const ValueId *in)
{
    ValueId pair[] = {in[0], permute_by(n, in[1], (int64_t[]){1, 0}, 2)};
    ValueId product = add_simple(n, OP_MATMUL, 0, 2, pair, NULL);
    if (in[2] == VALUE_NONE)
        return product;
    ValueId sum[] = {product, in[2]};
    if (n->hashes.at[sum[0]] > n->hashes.at[sum[1]]) {
        sum[0] = in[2];
        sum[1] = product;
    }
    return add_simple(n, OP_BINARY, BINARY_add, 2, sum, NULL);
}

static bool is_commutative(int kind)
{
    switch ((BINARY_Kind)kind) {
    case BINARY_add:
    case BINARY_mul:
    case BINARY_maximum:
    case BINARY_minimum:
    case BINARY_eq:
    case BINARY_ne:
    case BINARY_logical_and:
    case BINARY_logical_or:
    case BINARY_logical_xor:
    case BINARY_bitwise_and:
    case BINARY_bitwise_or:
    case BINARY_bitwise_xor:
    case BINARY_logaddexp: return true;
    default: return false;
    }
}

/* An expand that broadcasting would do anyway is dropped. */
static void drop_expands(Normal *n, NodeSpec *spec, ValueId *in)
{
    for (uint32_t i = 0; i < spec->n_in; i++) {
        const Node *node = in[i] == VALUE_NONE ? NULL : producer(n, in[i]);
        if (!node || node->op != OP_EXPAND)
            continue;
        Shape with = {0}, without = {0};
        bool good = true;
        for (uint32_t k = 0; k < spec->n_in && good; k++) {
            if (in[k] == VALUE_NONE)
                continue;
            good = shape_broadcast(with, info(n, in[k])->shape, &with) &&
                   shape_broadcast(without, info(n, k == i ? node->in[0] : in[k])->shape, &without);
        }
        bool same_rank = info(n, node->in[0])->shape.rank > 0;
        if (good && same_rank && shape_equal(with, without))
            in[i] = node->in[0];
    }
}

/* The number of rank 0 under a reshape to dims of 1; else the value itself. */
static ValueId number_under(const Normal *n, ValueId id)
{
    const Node *node = id == VALUE_NONE ? NULL : producer(n, id);
    bool under = node && node->op == OP_RESHAPE && info(n, node->in[0])->shape.rank == 0;
    return under ? node->in[0] : id;
}

/* The node over numbers of rank 0, its result in the old node's shape. */
static ValueId reshaped(Normal *n, const Node *old, ValueId out)
{
    int64_t count = 0;
    Shape want = graph_value(n->from, old->out)->shape;
    bool one = old->n_out == 1 && info(n, out)->shape.rank == 0 && shape_count(want, &count);
    return one && count == 1 ? reshape_to(n, out, want) : out;
}

/* Whether the result has the same shape for these inputs, or is a single number for both. */
static bool keeps_shape(const Normal *n, const Node *old, const ValueId *in)
{
    Shape shape = {0}, want = graph_value(n->from, old->out)->shape;
    int64_t count = 0;
    for (uint32_t i = 0; i < old->n_in; i++) {
        if (in[i] != VALUE_NONE && !shape_broadcast(shape, info(n, in[i])->shape, &shape))
            return false;
    }
    return shape_equal(shape, want) || (shape.rank == 0 && shape_count(want, &count) && count == 1);
}

/* A number reshaped to broadcast is read as it is, where that changes no dtype. */
static void drop_reshapes(Normal *n, const Node *old, ValueId *in)
{
    uint32_t first = old->op == OP_WHERE ? 1 : 0; /* the condition has no part in the dtype */
    ValueId *bare = arena_array(n->arena, ValueId, old->n_in + 1);
    for (uint32_t i = 0; i < old->n_in; i++)
        bare[i] = number_under(n, in[i]);
    if (old->n_out == 1 && keeps_shape(n, old, bare) &&
        graph_promote(n->to, bare + first, old->n_in - first) ==
            graph_promote(n->to, in + first, old->n_in - first))
        memcpy(in, bare, old->n_in * sizeof *in);
}

/* Weak numbers as float64; beside float32 rounded to it, as the operator would. */
static void unify_numbers(Normal *n, DType common, ValueId *in)
{
    double number;
    for (uint32_t i = 0; i < 2; i++) {
        const Value *value = info(n, in[i]), *other = info(n, in[1 - i]);
        bool plain = value->kind == VALUE_CONST && value->dtype == DT_F32 && !value->weak &&
                     value->shape.rank == 0 && other->dtype == DT_F32;
        if (plain)
            number = dtype_load(DT_F32, value->data, 0);
        else if (!dtype_is_float(common) || !weak_number(n, in[i], &number))
            continue;
        in[i] = add_weak(n, common == DT_F32 ? (double)(float)number : number);
    }
}

static bool is_one(const Normal *n, ValueId id)
{
    double number;
    const Node *node = producer(n, id);
    if (node && node->op == OP_FULL)
        return node_float(node, AT_VALUE, 0) == 1;
    return weak_number(n, id, &number) && number == 1;
}

/* Which factor is the whole product, since the other is 1; 2: neither. */
static uint32_t whole_factor(const Normal *n, const ValueId *in, DType common)
{
    for (uint32_t i = 0; i < 2; i++) {
        const Value *value = info(n, in[i]);
        Shape shape;
        if (is_one(n, in[1 - i]) && !value->weak && value->dtype == common &&
            shape_broadcast(value->shape, info(n, in[1 - i])->shape, &shape) &&
            shape_equal(shape, value->shape))
            return i;
    }
    return 2;
}

static ValueId rewrite_binary(Normal *n, NodeSpec *spec, ValueId *in)
{
    double number;
    DType common = graph_promote(n->to, in, 2);
    unify_numbers(n, common, in);
    if (spec->kind == BINARY_mul && !spec->n_attr && whole_factor(n, in, common) < 2)
        return in[whole_factor(n, in, common)];
    if (spec->kind == BINARY_sub && !spec->n_attr && dtype_is_float(common) &&
        weak_number(n, in[1], &number)) {
        in[1] = add_weak(n, -number);
        spec->kind = BINARY_add;
    }
    if (spec->kind == BINARY_pow && weak_number(n, in[1], &number) && number == 2) {
        in[1] = in[0];
        spec->kind = BINARY_mul;
    } else if (spec->kind == BINARY_pow && weak_number(n, in[1], &number) && number == 0.5 &&
               dtype_is_float(common)) {
        return add_simple(n, OP_UNARY, UNARY_sqrt, 1, in, NULL);
    }
    if (is_commutative(spec->kind) && !spec->n_attr && n->hashes.at[in[0]] > n->hashes.at[in[1]]) {
        ValueId swap = in[0];
        in[0] = in[1];
        in[1] = swap;
    }
    return normal_add(n, spec);
}

static ValueId rewrite_unary(Normal *n, NodeSpec *spec, ValueId *in)
{
    if (spec->kind == UNARY_square)
        return add_simple(n, OP_BINARY, BINARY_mul, 2, (ValueId[]){in[0], in[0]}, NULL);
    if (spec->kind == UNARY_reciprocal)
        return add_simple(n, OP_BINARY, BINARY_div, 2, (ValueId[]){add_weak(n, 1), in[0]}, NULL);
    return normal_add(n, spec);
}

static ValueId rewrite_clamp(Normal *n, NodeSpec *spec, ValueId *in)
{
    double number;
    if (in[2] == VALUE_NONE && weak_number(n, in[1], &number) && number == 0 &&
        dtype_is_float(info(n, in[0])->dtype))
        return add_simple(n, OP_UNARY, UNARY_relu, 1, in, NULL);
    return normal_add(n, spec);
}

/* Views stand after casts. */
static ValueId rewrite_cast(Normal *n, NodeSpec *spec, ValueId *in)
{
    Shape shape = info(n, in[0])->shape;
    const Node *view = producer(n, in[0]);
    if (!view || view->op != OP_RESHAPE)
        return normal_add(n, spec);
    in[0] = view->in[0];
    return reshape_to(n, normal_add(n, spec), shape);
}

static ValueId rewrite_elementwise(Normal *n, NodeSpec *spec, ValueId *in)
{
    if (spec->op != OP_UNARY && spec->op != OP_CAST)
        drop_expands(n, spec, in);
    switch (spec->op) {
    case OP_BINARY: return rewrite_binary(n, spec, in);
    case OP_UNARY: return rewrite_unary(n, spec, in);
    case OP_CAST: return rewrite_cast(n, spec, in);
    case OP_CLAMP: return rewrite_clamp(n, spec, in);
    default: return normal_add(n, spec);
    }
}

/* All dims named is the same as none; one of two outputs is the plain reduction. */
static ValueId rewrite_reduce(Normal *n, const Node *old, NodeSpec *spec, ValueId *map_second)
{
    const Attr *dims = node_attr(old, AT_DIMS);
    int rank = info(n, spec->in[0])->shape.rank;
    Attr kept[8];
    uint32_t count = 0;
    for (uint32_t i = 0; i < spec->n_attr && count < 8; i++) {
        bool all = dims && &spec->attr[i] == dims && (int)dims->ints.len == rank &&
                   !node_bool(old, AT_KEEPDIM);
        if (!all)
            kept[count++] = spec->attr[i];
    }
    if (spec->op == OP_REDUCE) {
        spec->attr = kept;
        spec->n_attr = count;
        return normal_add(n, spec);
    }
    bool values = n->used[old->out], places = n->used[old->out + 1];
    if (values == places)
        return normal_add(n, spec);
    bool max = spec->kind == REDUCE_max;
    spec->op = OP_REDUCE;
    spec->n_out = 1;
    spec->kind = values ? spec->kind : max ? REDUCE_argmax : REDUCE_argmin;
    spec->attr = values ? kept : spec->attr;
    spec->n_attr = values ? count : spec->n_attr;
    ValueId out = normal_add(n, spec);
    *map_second = out;
    return out;
}

static bool is_noop(const Normal *n, const Node *old, const ValueId *in)
{
    const Value *x = old->n_in ? info(n, in[0]) : NULL, *y = graph_value(n->from, old->out);
    switch (old->op) {
    case OP_CAST: return x->dtype == y->dtype && !x->weak;
    case OP_SLICE:
    case OP_EXPAND:
    case OP_REPEAT: return shape_equal(x->shape, y->shape);
    default: return false;
    }
}

/* --- places ------------------------------------------------------------------------------- */

/* Whether the value is 0, 1, 2, ... up to the length of a vector. */
static bool is_every_place(const Normal *n, ValueId id, ValueId vector)
{
    const Value *places = info(n, id);
    Shape whole = info(n, vector)->shape;
    if (places->kind != VALUE_CONST || places->dtype != DT_I64 || whole.rank != 1 ||
        !shape_equal(places->shape, whole))
        return false;
    for (int64_t i = 0; i < whole.dim[0]; i++) {
        if (((const int64_t *)places->data)[i] != i)
            return false;
    }
    return true;
}

/* x[every place] is x; x with v put at every place is v. */
static ValueId rewrite_places(Normal *n, NodeSpec *spec, const ValueId *in)
{
    bool put = spec->op == OP_INDEX_PUT;
    ValueId result = put ? in[1] : in[0];
    const Value *x = info(n, in[0]), *y = info(n, result);
    bool plain = spec->n_in == (put ? 3 : 2) && x->dtype == y->dtype && !y->weak &&
                 shape_equal(x->shape, y->shape) && (!put || spec->n_attr == 1);
    return plain && is_every_place(n, in[spec->n_in - 1], in[0]) ? result : normal_add(n, spec);
}

/* --- einsum ------------------------------------------------------------------------------- */

/* The letters of each operand, and of the result after them. */
typedef struct Equation {
    char letters[EINSUM_MOST + 1][GRAPH_MAX_RANK];
    int len[EINSUM_MOST + 1];
    uint32_t operands;
} Equation;

static bool equation_read(Str text, uint32_t operands, Equation *eq)
{
    uint32_t at = 0;
    eq->operands = operands;
    if (operands > EINSUM_MOST)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (c == ',' || c == '-')
            at++;
        else if (c != '>' && (at > operands || eq->len[at] == GRAPH_MAX_RANK))
            return false;
        else if (c != '>')
            eq->letters[at][eq->len[at]++] = c;
    }
    return at == operands;
}

static int letter_at(const Equation *eq, uint32_t operand, char letter)
{
    const char *found = memchr(eq->letters[operand], letter, (size_t)eq->len[operand]);
    return found ? (int)(found - eq->letters[operand]) : -1;
}

/* Whether another operand carries the letter with a larger dim, or an earlier one with as large. */
static bool carried_elsewhere(const Normal *n, const Equation *eq, const ValueId *in,
                              uint32_t operand, char letter)
{
    for (uint32_t k = 0; k < eq->operands; k++) {
        int at = k == operand ? -1 : letter_at(eq, k, letter);
        if (at >= 0 && (k < operand || info(n, in[k])->shape.dim[at] > 1))
            return true;
    }
    return false;
}

/* Dims of 1 that only follow another operand's dim are removed from the operand. */
static void drop_ones(Normal *n, Equation *eq, ValueId *in, uint32_t operand)
{
    Shape from = info(n, in[operand])->shape, to = {0};
    char *letters = eq->letters[operand];
    for (int i = 0; i < from.rank; i++) {
        if (from.dim[i] == 1 && carried_elsewhere(n, eq, in, operand, letters[i]))
            continue;
        letters[to.rank] = letters[i];
        to.dim[to.rank++] = from.dim[i];
    }
    eq->len[operand] = to.rank;
    in[operand] = reshape_to(n, in[operand], to);
}

/* Letters in the order in which they first stand. */
static Str equation_write(Arena *arena, const Equation *eq)
{
    char name[256] = {0}, next = 'a';
    Buf out = {0};
    for (uint32_t k = 0; k <= eq->operands; k++) {
        buf_puts(&out, k == 0 ? "" : k == eq->operands ? "->" : ",");
        for (int i = 0; i < eq->len[k]; i++) {
            char *c = &name[(unsigned char)eq->letters[k][i]];
            if (!*c) {
                *c = next;
                next = next == 'z' ? 'A' : (char)(next + 1);
            }
            buf_char(&out, *c);
        }
    }
    Str text = str_copy(arena, buf_view(&out));
    buf_free(&out);
    return text;
}

static ValueId rewrite_einsum(Normal *n, const Node *old, NodeSpec *spec, ValueId *in)
{
    Equation eq = {0};
    if (!equation_read(node_text(old, AT_EQUATION), old->n_in, &eq))
        return normal_add(n, spec);
    for (uint32_t i = 0; i < old->n_in; i++)
        drop_ones(n, &eq, in, i);
    Attr attr = {.key = AT_EQUATION, .text = equation_write(n->arena, &eq)};
    return add_simple(n, OP_EINSUM, 0, old->n_in, in, &attr);
}

/* --- all ---------------------------------------------------------------------------------- */

ValueId normal_rewrite(Normal *n, const Node *old, NodeSpec *spec, ValueId *in, ValueId *second)
{
    const Attr *attr;
    if (is_noop(n, old, in))
        return in[0];
    switch (old->op) {
    case OP_RESHAPE: return reshape_to(n, in[0], graph_value(n->from, old->out)->shape);
    case OP_PERMUTE:
        attr = node_attr(old, AT_DIMS);
        return permute_by(n, in[0], attr->ints.at, attr->ints.len);
    case OP_LINEAR: return rewrite_linear(n, in);
    case OP_EINSUM: return rewrite_einsum(n, old, spec, in);
    case OP_BINARY:
    case OP_UNARY:
    case OP_CAST:
    case OP_CLAMP:
    case OP_WHERE:
        drop_reshapes(n, old, in);
        return reshaped(n, old, rewrite_elementwise(n, spec, in));
    case OP_INDEX:
    case OP_INDEX_PUT: return rewrite_places(n, spec, in);
    case OP_REDUCE:
    case OP_REDUCE_INDEX: return rewrite_reduce(n, old, spec, second);
    default: return normal_add(n, spec);
    }
}
