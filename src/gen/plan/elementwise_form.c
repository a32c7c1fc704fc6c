/* What an elementwise node is in Craft, by dtype. In: a node. Out: an expression over its
 * operands, and the classes of operands and result. The f32 forms are those of form.def. */
#include "gen/plan/elementwise_int.h"

#include "gen/plan/prim_int.h"

EachClass elementwise_class(DType dtype)
{
    if (dtype == DT_BOOL)
        return EACH_MASK;
    return dtype_is_int(dtype) ? EACH_I32 : EACH_F32;
}

static const char *int_unary(uint16_t kind)
{
    switch (kind) {
    case UNARY_neg: return "-$0";
    case UNARY_abs: return "abs($0)";
    case UNARY_sign: return "min(max($0, -1), 1)";
    case UNARY_square: return "$0 * $0";
    case UNARY_relu: return "max($0, 0)";
    case UNARY_bitwise_not: return "-$0 - 1";
    default: return NULL;
    }
}

/* NaN and the infinities become numbers of the dtype. */
static const char *finite_form(Arena *arena, DType dtype, const Node *node)
{
    double most = dtype == DT_F16 ? 65504.0 : dtype == DT_BF16 ? 0x1.fep127 : 0x1.fffffep127;
    double nan = node_float(node, AT_A, 0), high = node_float(node, AT_B, most);
    double low = node_float(node, AT_C, -most);
    if (high >= most && low <= -most) /* infinities are the only numbers beyond */
        return str_format(arena, "where($0 == $0, min(max($0, %#.9g), %#.9g), %#.9g)", low, high,
                          nan);
    return str_format(
        arena, "where($0 == $0, where(abs($0) < inf, $0, where($0 > 0.0, %#.9g, %#.9g)), %#.9g)",
        high, low, nan);
}

static const char *unary_form(Arena *arena, const Graph *g, const Node *node, EachClass *in,
                              EachClass *out)
{
    EachClass from = elementwise_class(graph_value(g, node->in[0])->dtype);
    *out = EACH_MASK;
    switch (node->kind) {
    case UNARY_isnan: return "$0 != $0";
    case UNARY_isinf: return "abs($0) == inf";
    case UNARY_isfinite: return "abs($0) < inf";
    case UNARY_signbit: return "$0 < 0.0";
    case UNARY_logical_not: in[0] = EACH_MASK; return "~$0";
    case UNARY_bitwise_not:
        if (from == EACH_MASK) {
            in[0] = EACH_MASK;
            return "~$0";
        }
        break;
    default: break;
    }
    if (from == EACH_I32 && int_unary(node->kind)) {
        in[0] = *out = EACH_I32;
        return int_unary(node->kind);
    }
    *out = EACH_F32;
    if (node->kind == UNARY_round && node_float(node, AT_A, 0) != 0)
        return NULL;
    if (node->kind == UNARY_nan_to_num)
        return finite_form(arena, graph_value(g, node->out)->dtype, node);
    if (node->kind == UNARY_gelu && str_is(node_text(node, AT_APPROX), "tanh"))
        return "$0 * 0.5 * (tanh(($0 * $0 * $0 * 0.044715 + $0) * 0.7978845608028654) + 1.0)";
    return prim_unary_forms[node->kind] ? prim_fill(arena, prim_unary_forms[node->kind], node)
                                        : NULL;
}

static const char *logic_form(uint16_t kind, bool masks)
{
    switch (kind) {
    case BINARY_logical_and: return "$0 & $1";
    case BINARY_logical_or: return "$0 | $1";
    case BINARY_logical_xor: return "$0 ^ $1";
    case BINARY_bitwise_and: return "$0 & $1";
    case BINARY_bitwise_or: return "$0 | $1";
    case BINARY_bitwise_xor: return "$0 ^ $1";
    case BINARY_shift_left: return masks ? NULL : "$0 << $1";
    case BINARY_shift_right: return masks ? NULL : "$0 >> $1";
    default: return NULL;
    }
}

/* An integer to the power of a small constant: factors. */
static const char *int_power(Arena *arena, const Graph *g, const Node *node)
{
    const Value *v = graph_value(g, node->in[1]);
    int64_t count = 0;
    if (v->kind != VALUE_CONST || !shape_count(v->shape, &count) || count != 1)
        return NULL;
    double n = dtype_load(v->dtype, v->data, 0);
    if (n < 1 || n > 16 || n != (double)(int)n)
        return n == 0 ? "$0 * 0 + 1" : NULL;
    Buf out = {0};
    for (int i = 0; i < (int)n; i++)
        buf_puts(&out, i ? " * $0" : "$0");
    char *text = buf_take(&out, arena);
    buf_free(&out);
    return text;
}

static const char *binary_form(Arena *arena, const Graph *g, const Node *node, EachClass *in,
                               EachClass *out)
{
    EachClass both = elementwise_class(graph_promote(g, node->in, 2));
    double alpha = node_float(node, AT_ALPHA, 1);
    bool logical = node->kind == BINARY_logical_and || node->kind == BINARY_logical_or ||
                   node->kind == BINARY_logical_xor;
    if (logical || (logic_form(node->kind, true) && both == EACH_MASK)) {
        in[0] = in[1] = *out = EACH_MASK;
        return logic_form(node->kind, true);
    }
    if (both == EACH_MASK)
        both = EACH_I32;
    in[0] = in[1] = *out = both;
    if (node->kind == BINARY_isclose || prim_mask_forms[node->kind]) {
        *out = EACH_MASK;
        if (node->kind == BINARY_isclose)
            in[0] = in[1] = EACH_F32;
        return prim_mask_forms[node->kind]
                   ? prim_mask_forms[node->kind]
                   : prim_fill(arena, "abs($0 - $1) <= abs($1) * $a + $b", node);
    }
    if (both == EACH_I32 && logic_form(node->kind, false))
        return logic_form(node->kind, false);
    bool closed = node->kind == BINARY_add || node->kind == BINARY_sub ||
                  node->kind == BINARY_mul || node->kind == BINARY_maximum ||
                  node->kind == BINARY_minimum;
    if (both == EACH_I32 && node->kind == BINARY_pow)
        return int_power(arena, g, node);
    if (both == EACH_I32 && !closed) {
        if (node->kind != BINARY_div)
            return NULL;
        in[0] = in[1] = *out = EACH_F32;
    }
    if (alpha != 1 && both == EACH_F32)
        return str_format(arena, node->kind == BINARY_add ? "$0 + $1 * %.9g" : "$0 - $1 * %.9g",
                          alpha);
    return alpha == 1 ? prim_binary_forms[node->kind] : NULL;
}

static const char *clamp_form(const Node *node)
{
    bool low = node->in[1] != VALUE_NONE, high = node->in[2] != VALUE_NONE;
    return low && high ? "min(max($0, $1), $2)" : low ? "max($0, $1)" : "min($0, $2)";
}

static const char *three_form(Arena *arena, const Graph *g, const Node *node, EachClass *in,
                              EachClass *out)
{
    EachClass all = elementwise_class(graph_value(g, node->out)->dtype);
    double value = node_float(node, AT_VALUE, 1);
    for (int i = 0; i < 3; i++)
        in[i] = all;
    *out = all;
    if (node->op == OP_CLAMP)
        return all == EACH_MASK ? NULL : clamp_form(node);
    if (node->op == OP_WHERE) {
        in[0] = EACH_MASK;
        if (all == EACH_MASK)
            in[1] = in[2] = *out = EACH_I32;
        return "where($0, $1, $2)";
    }
    if (all != EACH_F32)
        return NULL;
    if (node->op == OP_LERP)
        return "$0 + $2 * ($1 - $0)";
    return str_format(arena, node->op == OP_ADDCMUL ? "$0 + $1 * $2 * %.9g" : "$0 + $1 / $2 * %.9g",
                      value);
}

const char *elementwise_form(Arena *arena, const Graph *g, const Node *node, EachClass *in,
                             EachClass *out)
{
    in[0] = in[1] = in[2] = *out = EACH_F32;
    switch (node->op) {
    case OP_UNARY: return unary_form(arena, g, node, in, out);
    case OP_BINARY: return binary_form(arena, g, node, in, out);
    case OP_CLAMP:
    case OP_WHERE:
    case OP_LERP:
    case OP_ADDCMUL:
    case OP_ADDCDIV: return three_form(arena, g, node, in, out);
    default: return NULL;
    }
}
