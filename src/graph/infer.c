/* Shape and dtype inference: runs the rules of a node's row in op.def, without data, at any
 * size. This file has the driver, the dtype rules, and the elementwise and source operators;
 * infer_view.c, infer_reduce.c, infer_index.c, infer_matrix.c and infer_nn.c have the rest. */
#include "graph/infer_int.h"

#include <math.h>

typedef enum DTypeRule {
    RULE_same,
    RULE_promote,
    RULE_floating,
    RULE_boolean,
    RULE_index,
    RULE_attr,
    RULE_cast,
    RULE_own
} DTypeRule;

static const struct {
    InferRule *shape;
    DTypeRule dtype;
} rules[OP_COUNT] = {
#define OP(name, text, mini, maxi, mino, maxo, table, shape_rule, dtype_rule, ...) \
    [OP_##name] = {infer_##shape_rule, RULE_##dtype_rule},
#include "graph/op.def"
#undef OP
};

bool infer_fail(Infer *infer, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = str_vformat(infer->diag->arena, format, args);
    va_end(args);
    const char *kind = node_kind_name(infer->node);
    diag_error(infer->diag, "G103", infer->node->at, "%s%s%s: %s", op_rows[infer->node->op].name,
               *kind ? "." : "", kind, text);
    return false;
}

bool infer_has(const Infer *infer, uint32_t input)
{
    return input < infer->node->n_in && infer->node->in[input] != VALUE_NONE;
}

const Value *infer_in(const Infer *infer, uint32_t input)
{
    return graph_value(infer->graph, infer->node->in[input]);
}

bool infer_dim(Infer *infer, Shape shape, int64_t fallback, int *dim)
{
    int64_t want = node_int(infer->node, AT_DIM, fallback);
    if (shape_dim(shape, want, dim))
        return true;
    return infer_fail(infer, "dim %lld is outside %s", (long long)want, infer_text(infer, shape));
}

bool infer_ints(Infer *infer, AttrKey key, uint32_t count, int64_t least, const int64_t **out)
{
    const Attr *attr = node_attr(infer->node, key);
    if (!attr || attr->ints.len != count)
        return infer_fail(infer, "%s must have %u numbers", attr_rows[key].name, count);
    for (uint32_t i = 0; i < count; i++) {
        if (attr->ints.at[i] < least)
            return infer_fail(infer, "%s must be at least %lld, got %lld", attr_rows[key].name,
                              (long long)least, (long long)attr->ints.at[i]);
    }
    *out = attr->ints.at;
    return true;
}

bool infer_muladd(Infer *infer, int64_t a, int64_t b, int64_t c, int64_t *out)
{
    int64_t product;
    if (__builtin_mul_overflow(a, b, &product) || __builtin_add_overflow(product, c, out))
        return infer_fail(infer, "sizes overflow 64 bits");
    return true;
}

const char *infer_text(Infer *infer, Shape shape)
{
    Buf buf = {0};
    shape_print(shape, &buf);
    char *text = buf_take(&buf, infer->diag->arena);
    buf_free(&buf);
    return text;
}

/* --- driver ----------------------------------------------------------------------------- */

static bool need_attr_dtype(Infer *infer, DType *dtype)
{
    const Attr *attr = node_attr(infer->node, AT_DTYPE);
    if (!attr)
        return infer_fail(infer, "needs a dtype");
    *dtype = attr->dtype;
    return true;
}

static bool infer_dtype(Infer *infer)
{
    const Node *node = infer->node;
    DType dtype = DT_F32;
    switch (rules[node->op].dtype) {
    case RULE_same: dtype = infer_in(infer, 0)->dtype; break;
    case RULE_promote: dtype = graph_promote(infer->graph, node->in, node->n_in); break;
    case RULE_floating:
        dtype = graph_promote(infer->graph, node->in, node->n_in);
        if (dtype_is_int(dtype) || dtype == DT_BOOL)
            dtype = DT_F32;
        break;
    case RULE_boolean: dtype = DT_BOOL; break;
    case RULE_index: dtype = DT_I64; break;
    case RULE_attr:
        if (!need_attr_dtype(infer, &dtype))
            return false;
        break;
    case RULE_cast: dtype = node_dtype(node, AT_DTYPE, infer_in(infer, 0)->dtype); break;
    case RULE_own: return true;
    }
    for (int i = 0; i < node->n_out; i++)
        infer->dtype[i] = dtype;
    return true;
}

/* Which inputs of which operators may be absent: those op.def marks with a question mark. */
static bool may_be_absent(const Node *node, uint32_t input)
{
    switch (node->op) {
    case OP_CLAMP:
    case OP_BATCH_NORM:
    case OP_LAYER_NORM:
    case OP_GROUP_NORM:
    case OP_INSTANCE_NORM:
    case OP_RMS_NORM: return input >= 1;
    case OP_LINEAR:
    case OP_CONV:
    case OP_LOSS:
    case OP_NLL_LOSS:
    case OP_CROSS_ENTROPY:
    case OP_GROUPED_MATMUL: return input == 2;
    case OP_SDPA: return input == 3;
    case OP_MHA: return input == 6 || input >= 8;
    case OP_RNN: return input == 1 || input == 2;
    default: return false;
    }
}

static bool outputs_fit(Infer *infer)
{
    for (int i = 0; i < infer->node->n_out; i++) {
        int64_t bytes;
        if (!shape_bytes(infer->out[i], infer->dtype[i], &bytes))
            return infer_fail(infer, "a result of shape %s is too large",
                              infer_text(infer, infer->out[i]));
    }
    return true;
}

bool infer_node(Infer *infer)
{
    const Node *node = infer->node;
    for (uint32_t i = 0; i < node->n_in; i++) {
        if (!infer_has(infer, i) && !may_be_absent(node, i))
            return infer_fail(infer, "input %u is missing", i);
    }
    return infer_dtype(infer) && rules[node->op].shape(infer) && outputs_fit(infer);
}

/* --- sources ---------------------------------------------------------------------------- */

bool infer_shape(Infer *infer)
{
    const Attr *attr = node_attr(infer->node, AT_SHAPE);
    uint32_t rank = attr ? attr->ints.len : 0;
    if (rank > GRAPH_MAX_RANK)
        return infer_fail(infer, "%u dims; at most %d are supported", rank, GRAPH_MAX_RANK);
    if (infer->node->op == OP_EYE && rank != 2)
        return infer_fail(infer, "needs two sizes");
    infer->out[0].rank = (int)rank;
    for (uint32_t i = 0; i < rank; i++) {
        if (attr->ints.at[i] < 0)
            return infer_fail(infer, "negative size %lld", (long long)attr->ints.at[i]);
        infer->out[0].dim[i] = attr->ints.at[i];
    }
    return true;
}

bool infer_arange(Infer *infer)
{
    double from = node_float(infer->node, AT_A, 0), to = node_float(infer->node, AT_B, 0);
    double step = node_float(infer->node, AT_C, 1);
    double count = step == 0 ? -1 : ceil((to - from) / step);
    if (!(count >= 0 && count < 0x1p62))
        return infer_fail(infer, "bounds %g to %g do not agree with step %g", from, to, step);
    infer->out[0] = (Shape){1, {(int64_t)count}};
    return true;
}

bool infer_linspace(Infer *infer)
{
    int64_t size = node_int(infer->node, AT_SIZE, -1);
    if (size < 0)
        return infer_fail(infer, "needs a number of steps, not %lld", (long long)size);
    infer->out[0] = (Shape){1, {size}};
    return true;
}

/* --- elementwise ------------------------------------------------------------------------ */

typedef enum UnaryClass { CLOSED, FLOATING, FLOAT_ONLY, TO_BOOL, INTEGER } UnaryClass;

static UnaryClass unary_class(int kind)
{
    switch ((UNARY_Kind)kind) {
    case UNARY_neg:
    case UNARY_abs:
    case UNARY_sign:
    case UNARY_square:
    case UNARY_floor:
    case UNARY_ceil:
    case UNARY_trunc:
    case UNARY_round:
    case UNARY_frac:
    case UNARY_relu:
    case UNARY_threshold:
    case UNARY_nan_to_num:
    case UNARY_real:
    case UNARY_imag:
    case UNARY_conj: return CLOSED;
    case UNARY_bitwise_not: return INTEGER;
    case UNARY_logical_not:
    case UNARY_isnan:
    case UNARY_isinf:
    case UNARY_isfinite:
    case UNARY_signbit: return TO_BOOL;
    case UNARY_leaky_relu:
    case UNARY_elu:
    case UNARY_selu:
    case UNARY_celu:
    case UNARY_gelu:
    case UNARY_silu:
    case UNARY_mish:
    case UNARY_softplus:
    case UNARY_softsign:
    case UNARY_tanhshrink:
    case UNARY_hardsigmoid:
    case UNARY_hardswish:
    case UNARY_hardshrink:
    case UNARY_softshrink:
    case UNARY_log_sigmoid: return FLOAT_ONLY;
    default: return FLOATING;
    }
}

static bool unary_closed_dtype(Infer *infer, DType in)
{
    int kind = infer->node->kind;
    infer->dtype[0] = in;
    if (in == DT_C64 && (kind == UNARY_abs || kind == UNARY_real || kind == UNARY_imag))
        infer->dtype[0] = DT_F32;
    else if (kind == UNARY_imag)
        return infer_fail(infer, "needs a complex tensor");
    else if (kind == UNARY_neg && in == DT_BOOL)
        return infer_fail(infer, "is not defined for bool; use ~");
    return true;
}

static bool unary_dtype(Infer *infer)
{
    DType in = infer_in(infer, 0)->dtype;
    bool whole = dtype_is_int(in) || in == DT_BOOL;
    switch (unary_class(infer->node->kind)) {
    case CLOSED: return unary_closed_dtype(infer, in);
    case FLOATING: infer->dtype[0] = whole ? DT_F32 : in; return true;
    case TO_BOOL: infer->dtype[0] = DT_BOOL; return true;
    case INTEGER:
        infer->dtype[0] = in;
        return whole || infer_fail(infer, "needs integers or bool, got %s", dtype_name(in));
    case FLOAT_ONLY:
        infer->dtype[0] = in;
        return !whole || infer_fail(infer, "needs a floating dtype, got %s", dtype_name(in));
    }
    return false;
}

bool infer_same(Infer *infer)
{
    infer->out[0] = infer_in(infer, 0)->shape;
    return infer->node->op != OP_UNARY || unary_dtype(infer);
}

static bool binary_dtype(Infer *infer)
{
    const Node *node = infer->node;
    DType common = graph_promote(infer->graph, node->in, 2);
    bool whole = dtype_is_int(common) || common == DT_BOOL;
    infer->dtype[0] = common;
    switch ((BINARY_Kind)node->kind) {
    case BINARY_div:
    case BINARY_atan2:
    case BINARY_hypot:
    case BINARY_logaddexp:
    case BINARY_logaddexp2:
    case BINARY_xlogy:
    case BINARY_copysign: infer->dtype[0] = whole ? DT_F32 : common; return true;
    case BINARY_eq:
    case BINARY_ne:
    case BINARY_lt:
    case BINARY_le:
    case BINARY_gt:
    case BINARY_ge:
    case BINARY_logical_and:
    case BINARY_logical_or:
    case BINARY_logical_xor:
    case BINARY_isclose: infer->dtype[0] = DT_BOOL; return true;
    case BINARY_bitwise_and:
    case BINARY_bitwise_or:
    case BINARY_bitwise_xor:
    case BINARY_shift_left:
    case BINARY_shift_right:
        return whole || infer_fail(infer, "needs integers or bool, got %s", dtype_name(common));
    case BINARY_sub:
        return common != DT_BOOL || infer_fail(infer, "is not defined for bool; use ^");
    case BINARY_complex: infer->dtype[0] = DT_C64; return true;
    default: return true;
    }
}

static bool elementwise_dtype(Infer *infer)
{
    const Node *node = infer->node;
    if (node->op == OP_BINARY)
        return binary_dtype(infer);
    if (node->op == OP_WHERE) {
        DType cond = infer_in(infer, 0)->dtype;
        if (cond != DT_BOOL && cond != DT_U8)
            return infer_fail(infer, "the condition must be bool, not %s", dtype_name(cond));
        infer->dtype[0] = graph_promote(infer->graph, node->in + 1, 2);
    } else if (node->op == OP_CLAMP) {
        infer->dtype[0] = graph_promote(infer->graph, node->in, 3);
    }
    return true;
}

bool infer_broadcast(Infer *infer)
{
    const Node *node = infer->node;
    Shape out = {0};
    for (uint32_t i = 0; i < node->n_in; i++) {
        if (!infer_has(infer, i))
            continue;
        Shape next = infer_in(infer, i)->shape;
        if (!shape_broadcast(out, next, &out))
            return infer_fail(infer, "shapes %s and %s do not broadcast", infer_text(infer, out),
                              infer_text(infer, next));
    }
    infer->out[0] = out;
    if (node->op == OP_CROSS) {
        int dim;
        if (!infer_dim(infer, out, -1, &dim))
            return false;
        if (!out.rank || out.dim[dim] != 3)
            return infer_fail(infer, "needs size 3 along the dim of the product");
    }
    return elementwise_dtype(infer);
}
