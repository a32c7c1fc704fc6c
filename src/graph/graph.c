/* Graphs are built here: values, nodes, attributes, shapes, and PyTorch's dtype promotion.
 * In: node specs from the reader or the text parser. Out: a graph whose every value has a
 * dtype and a shape (infer.c says which). */
#include "graph/graph.h"

#include "graph/infer_int.h"
#include <string.h>

#define KIND(table, name, ...) #name,
#define KIND_TABLE(table) static const char *const kinds_##table[] = {
#define KIND_END(table) \
    NULL                \
    }                   \
    ;
#include "graph/op.def"
#undef KIND
#undef KIND_TABLE
#undef KIND_END

#define kinds_NONE NULL
#define NONE_COUNT 0

const OpRow op_rows[OP_COUNT] = {
#define OP(enum_name, text, mini, maxi, mino, maxo, table, shape_rule, dtype_rule, attr_bits, \
           what)                                                                              \
    [OP_##enum_name] = {text,          mini,          maxi,      mino, maxo,                  \
                        kinds_##table, table##_COUNT, attr_bits, what},
#include "graph/op.def"
#undef OP
};

static const OpMove op_moves[OP_COUNT] = {
#define MOVE(enum_name, inputs, flags) [OP_##enum_name] = {inputs, flags},
#include "graph/op.def"
#undef MOVE
};

const AttrRow attr_rows[AT_COUNT] = {
#define ATTR(enum_name, text, attr_type) [AT_##enum_name] = {text, ATTR_##attr_type},
#include "graph/op.def"
#undef ATTR
};

_Static_assert(AT_COUNT <= 64, "attributes are a 64-bit set in op.def");

OpMove op_move(const Node *node)
{
    bool adds = (node->op == OP_SCATTER && node->kind != SCATTER_set) ||
                (node->op == OP_INDEX_PUT && node_bool(node, AT_ACCUMULATE));
    return adds ? (OpMove){0} : op_moves[node->op];
}

bool op_only_moves(const Node *node)
{
    OpMove move = op_move(node);
    return move.inputs && !(move.flags & MOVE_FILLS);
}

bool op_is_elementwise(Op op)
{
    switch (op) {
    case OP_UNARY:
    case OP_BINARY:
    case OP_CLAMP:
    case OP_WHERE:
    case OP_LERP:
    case OP_ADDCMUL:
    case OP_ADDCDIV:
    case OP_CAST: return true;
    default: return false;
    }
}

bool graph_any_empty(const Graph *graph)
{
    for (uint32_t i = 0; i < graph->values.len; i++)
        for (int d = 0; d < graph->values.at[i].shape.rank; d++)
            if (graph->values.at[i].shape.dim[d] == 0)
                return true;
    return false;
}

bool graph_is_output(const Graph *graph, ValueId id)
{
    for (uint32_t i = 0; i < graph->outputs.len; i++)
        if (graph->outputs.at[i] == id)
            return true;
    return false;
}

uint32_t graph_readers(const Graph *graph, ValueId id)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < graph->nodes.len; i++)
        for (uint32_t k = 0; k < graph->nodes.at[i].n_in; k++)
            n += graph->nodes.at[i].in[k] == id;
    for (uint32_t i = 0; i < graph->outputs.len; i++)
        n += graph->outputs.at[i] == id;
    return n;
}

uint32_t graph_place(const Graph *graph, ValueId id)
{
    for (uint32_t i = 0; i < graph->inputs.len; i++)
        if (graph->inputs.at[i] == id)
            return i;
    for (uint32_t i = 0; i < graph->params.len; i++)
        if (graph->params.at[i] == id)
            return graph->inputs.len + i;
    return graph->inputs.len + graph->params.len + id;
}

Graph *graph_new(Arena *arena, const char *name)
{
    Graph *graph = arena_new(arena, Graph);
    graph->arena = arena;
    graph->name = name;
    return graph;
}

ValueId graph_add_value(Graph *graph, Value value)
{
    vec_push(graph->arena, &graph->values, value);
    return graph->values.len - 1;
}

static ValueId add_scalar(Graph *graph, DType dtype, const void *bytes)
{
    void *data = arena_alloc(graph->arena, 8);
    memcpy(data, bytes, dtype_bytes(dtype));
    return graph_add_value(
        graph,
        (Value){
            .dtype = dtype, .kind = VALUE_CONST, .weak = true, .node = NODE_NONE, .data = data});
}

ValueId graph_const_int(Graph *graph, int64_t value) { return add_scalar(graph, DT_I64, &value); }

ValueId graph_const_float(Graph *graph, double value) { return add_scalar(graph, DT_F64, &value); }

ValueId graph_const_bool(Graph *graph, bool value)
{
    uint8_t byte = value;
    return add_scalar(graph, DT_BOOL, &byte);
}

/* --- nodes ------------------------------------------------------------------------------ */

static bool check_arity(const NodeSpec *spec, const OpRow *row, uint32_t n_out, Diag *diag)
{
    if ((int)spec->n_in < row->min_in || (row->max_in >= 0 && (int)spec->n_in > row->max_in)) {
        diag_error(diag, "G101", spec->at, "%s takes %d inputs at least, got %u", row->name,
                   row->min_in, spec->n_in);
        return false;
    }
    if ((int)n_out < row->min_out || (int)n_out > row->max_out) {
        diag_error(diag, "G101", spec->at, "%s has %d to %d outputs, not %u", row->name,
                   row->min_out, row->max_out, n_out);
        return false;
    }
    if (spec->kind < 0 || spec->kind > row->n_kinds ||
        (row->n_kinds && spec->kind == row->n_kinds)) {
        diag_error(diag, "G101", spec->at, "%s has no kind %d", row->name, spec->kind);
        return false;
    }
    return true;
}

static bool check_attrs(const NodeSpec *spec, const OpRow *row, Diag *diag)
{
    uint64_t seen = 0;
    for (uint32_t i = 0; i < spec->n_attr; i++) {
        uint64_t bit = UINT64_C(1) << spec->attr[i].key;
        if (!(row->attrs & bit) || (seen & bit)) {
            diag_error(diag, "G102", spec->at, "%s: attribute '%s' is %s", row->name,
                       attr_rows[spec->attr[i].key].name, seen & bit ? "given twice" : "unknown");
            return false;
        }
        seen |= bit;
    }
    return true;
}

static bool check_inputs(const Graph *graph, const NodeSpec *spec, Diag *diag)
{
    for (uint32_t i = 0; i < spec->n_in; i++) {
        if (spec->in[i] != VALUE_NONE && spec->in[i] >= graph->values.len) {
            diag_error(diag, "G101", spec->at, "%s: input %u is not defined before it",
                       op_rows[spec->op].name, i);
            return false;
        }
    }
    return true;
}

static Attr copy_attr(Arena *arena, Attr attr)
{
    if (attr_rows[attr.key].type == ATTR_INTS && attr.ints.len) {
        int64_t *ints = arena_array(arena, int64_t, attr.ints.len);
        memcpy(ints, attr.ints.at, attr.ints.len * sizeof *ints);
        attr.ints.at = ints;
    } else if (attr_rows[attr.key].type == ATTR_TEXT) {
        attr.text = str_copy(arena, attr.text);
    }
    return attr;
}

static Node node_from_spec(Arena *arena, const NodeSpec *spec, uint32_t n_out)
{
    Node node = {.op = spec->op,
                 .kind = (uint16_t)spec->kind,
                 .n_out = (uint16_t)n_out,
                 .n_in = spec->n_in,
                 .n_attr = spec->n_attr,
                 .at = spec->at,
                 .scope = spec->scope};
    node.in = arena_array(arena, ValueId, spec->n_in ? spec->n_in : 1);
    if (spec->n_in)
        memcpy(node.in, spec->in, spec->n_in * sizeof *node.in);
    node.attr = arena_array(arena, Attr, spec->n_attr ? spec->n_attr : 1);
    for (uint32_t i = 0; i < spec->n_attr; i++) {
        uint32_t place = i;
        for (; place > 0 && node.attr[place - 1].key > spec->attr[i].key; place--)
            node.attr[place] = node.attr[place - 1];
        node.attr[place] = copy_attr(arena, spec->attr[i]);
    }
    return node;
}

bool graph_add(Graph *graph, const NodeSpec *spec, Diag *diag, ValueId *out)
{
    const OpRow *row = &op_rows[spec->op];
    uint32_t n_out = spec->n_out ? spec->n_out : (uint32_t)row->min_out;
    if (!check_arity(spec, row, n_out, diag) || !check_attrs(spec, row, diag) ||
        !check_inputs(graph, spec, diag))
        return false;
    Node node = node_from_spec(graph->arena, spec, n_out);
    Infer infer = {.graph = graph, .node = &node, .diag = diag};
    if (!infer_node(&infer))
        return false;
    node.out = graph->values.len;
    for (uint32_t i = 0; i < n_out; i++)
        graph_add_value(graph, (Value){.dtype = infer.dtype[i],
                                       .shape = infer.out[i],
                                       .kind = VALUE_NODE,
                                       .node = graph->nodes.len});
    vec_push(graph->arena, &graph->nodes, node);
    *out = node.out;
    return true;
}

/* --- attributes ------------------------------------------------------------------------- */

const Attr *node_attr(const Node *node, AttrKey key)
{
    for (uint32_t i = 0; i < node->n_attr; i++) {
        if (node->attr[i].key == key)
            return &node->attr[i];
    }
    return NULL;
}

int64_t node_int(const Node *node, AttrKey key, int64_t fallback)
{
    const Attr *attr = node_attr(node, key);
    return attr ? attr->i : fallback;
}

double node_float(const Node *node, AttrKey key, double fallback)
{
    const Attr *attr = node_attr(node, key);
    return attr ? attr->f : fallback;
}

bool node_bool(const Node *node, AttrKey key) { return node_int(node, key, 0) != 0; }

DType node_dtype(const Node *node, AttrKey key, DType fallback)
{
    const Attr *attr = node_attr(node, key);
    return attr ? attr->dtype : fallback;
}

Str node_text(const Node *node, AttrKey key)
{
    const Attr *attr = node_attr(node, key);
    return attr ? attr->text : (Str){"", 0};
}

bool node_equation(const Node *node, Str *operands, Str *result)
{
    Str equation = node_text(node, AT_EQUATION);
    ptrdiff_t arrow = str_find(equation, STR("->"));
    if (arrow < 0)
        return false;
    *operands = str_slice(equation, 0, (size_t)arrow);
    *result = str_slice(equation, (size_t)arrow + 2, equation.len);
    return true;
}

const char *node_kind_name(const Node *node)
{
    const OpRow *row = &op_rows[node->op];
    return row->n_kinds ? row->kinds[node->kind] : "";
}

/* --- shapes ----------------------------------------------------------------------------- */

bool shape_equal(Shape a, Shape b)
{
    if (a.rank != b.rank)
        return false;
    for (int i = 0; i < a.rank; i++) {
        if (a.dim[i] != b.dim[i])
            return false;
    }
    return true;
}

bool shape_count(Shape shape, int64_t *count)
{
    int64_t product = 1;
    bool empty = false, fits = true;
    for (int i = 0; i < shape.rank; i++) {
        if (shape.dim[i] == 0)
            empty = true;
        else if (__builtin_mul_overflow(product, shape.dim[i], &product) ||
                 product > (INT64_C(1) << 62))
            fits = false;
    }
    *count = empty ? 0 : product;
    return empty || fits;
}

bool shape_bytes(Shape shape, DType dtype, int64_t *bytes)
{
    int64_t count;
    return shape_count(shape, &count) &&
           !__builtin_mul_overflow(count, (int64_t)dtype_bytes(dtype), bytes) &&
           *bytes <= (INT64_C(1) << 62);
}

bool shape_broadcast(Shape a, Shape b, Shape *out)
{
    Shape result = {.rank = a.rank > b.rank ? a.rank : b.rank};
    for (int i = 1; i <= result.rank; i++) {
        int64_t x = i <= a.rank ? a.dim[a.rank - i] : 1;
        int64_t y = i <= b.rank ? b.dim[b.rank - i] : 1;
        if (x != y && x != 1 && y != 1)
            return false;
        result.dim[result.rank - i] = x == 1 ? y : x;
    }
    *out = result;
    return true;
}

bool shape_dim(Shape shape, int64_t dim, int *out)
{
    int64_t rank = shape.rank ? shape.rank : 1;
    if (dim < -rank || dim >= rank)
        return false;
    *out = (int)(dim < 0 ? dim + rank : dim);
    return true;
}

void shape_print(Shape shape, Buf *out)
{
    buf_char(out, '[');
    for (int i = 0; i < shape.rank; i++)
        buf_printf(out, "%s%lld", i ? "," : "", (long long)shape.dim[i]);
    buf_char(out, ']');
}

/* --- promotion -------------------------------------------------------------------------- */

static bool is_wide_unsigned(DType d) { return d == DT_U16 || d == DT_U32 || d == DT_U64; }

/* PyTorch refuses most mixes with its late unsigned types; those become i64 here. */
static DType promote_ints(DType a, DType b)
{
    if (is_wide_unsigned(a) || is_wide_unsigned(b))
        return DT_I64;
    if (a == DT_U8 || b == DT_U8) {
        DType other = a == DT_U8 ? b : a;
        return other == DT_I8 ? DT_I16 : other;
    }
    return dtype_bytes(a) >= dtype_bytes(b) ? a : b;
}

DType dtype_promote(DType a, DType b)
{
    if (a == b)
        return a;
    if (dtype_rows[a].kind == DTC_C || dtype_rows[b].kind == DTC_C)
        return DT_C64;
    if (dtype_is_float(a) && dtype_is_float(b)) {
        if (dtype_bytes(a) == dtype_bytes(b))
            return DT_F32;
        return dtype_bytes(a) > dtype_bytes(b) ? a : b;
    }
    if (dtype_is_float(a) || b == DT_BOOL)
        return a;
    if (dtype_is_float(b) || a == DT_BOOL)
        return b;
    return promote_ints(a, b);
}

enum { UNDEFINED = -1 };

static int promote_into(int have, DType add)
{
    return have == UNDEFINED ? (int)add : (int)dtype_promote((DType)have, add);
}

/* PyTorch: a scalar changes the type of a tensor only when its class (bool, int, float, complex) is higher. */
static int combine_categories(int higher, int lower)
{
    if (higher == UNDEFINED)
        return lower;
    if (lower == UNDEFINED)
        return higher;
    DTypeClass high = dtype_rows[higher].kind, low = dtype_rows[lower].kind;
    if (high == DTC_C || (high == DTC_F && low != DTC_C))
        return higher;
    if (high == DTC_B || low == DTC_F || low == DTC_C)
        return (int)dtype_promote((DType)higher, (DType)lower);
    return higher;
}

DType graph_promote(const Graph *graph, const ValueId *ids, uint32_t count)
{
    int ranked = UNDEFINED, scalar = UNDEFINED, weak = UNDEFINED;
    for (uint32_t i = 0; i < count; i++) {
        if (ids[i] == VALUE_NONE)
            continue;
        const Value *value = graph_value(graph, ids[i]);
        if (value->weak)
            weak = promote_into(weak, value->dtype == DT_F64 ? DT_F32 : value->dtype);
        else if (value->shape.rank == 0)
            scalar = promote_into(scalar, value->dtype);
        else
            ranked = promote_into(ranked, value->dtype);
    }
    int result = combine_categories(ranked, combine_categories(scalar, weak));
    return result == UNDEFINED ? DT_F32 : (DType)result;
}

bool graph_bytes(const Graph *graph, int64_t *all, int64_t *largest)
{
    *all = *largest = 0;
    for (uint32_t i = 0; i < graph->values.len; i++) {
        int64_t bytes;
        if (!shape_bytes(graph->values.at[i].shape, graph->values.at[i].dtype, &bytes) ||
            __builtin_add_overflow(*all, bytes, all))
            return false;
        if (bytes > *largest)
            *largest = bytes;
    }
    return true;
}
