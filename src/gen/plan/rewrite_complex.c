/* Complex numbers as pairs of real ones. In: nodes that read or give c64. Out: the same on real and
 * imaginary parts. In memory the two stand side by side, so that a complex tensor seen as real
 * ones costs nothing; taking the parts out and putting them together are moves. */
#include "gen/plan/rewrite.h"

#include "gen/plan/script.h"

static bool is_complex(const Rewrite *r, ValueId id)
{
    return id != VALUE_NONE && graph_value(r->from, id)->dtype == DT_C64;
}

static ValueId mul(Rewrite *r, ValueId a, ValueId b) { return rw_binary(r, BINARY_mul, a, b); }
static ValueId add_values(Rewrite *r, ValueId a, ValueId b)
{
    return rw_binary(r, BINARY_add, a, b);
}
static ValueId sub(Rewrite *r, ValueId a, ValueId b) { return rw_binary(r, BINARY_sub, a, b); }

/* Every second element of [..., 2] from `first` on. */
static ValueId part_of(Rewrite *r, ValueId pairs, Shape shape, int64_t first)
{
    int64_t count = script_product(shape, 0, shape.rank);
    ValueId flat = rw_reshape(r, pairs, (Shape){1, {count * 2}});
    return rw_reshape(r, rw_slice(r, flat, 0, first, count * 2, 2), shape);
}

/* The parts of an operand; of a real one it is itself and 0. */
static RewritePair parts_of(Rewrite *r, ValueId id)
{
    RewritePair p = r->pair[id];
    const Value *v = graph_value(r->from, id);
    if (v->dtype != DT_C64)
        return (RewritePair){v->kind == VALUE_CONST ? r->map[id] : rw_cast(r, r->map[id], DT_F32),
                             VALUE_NONE};
    if (p.re == VALUE_NONE && v->kind != VALUE_NODE) {
        ValueId x = r->map[id];
        ValueId pairs = rw_make(r, OP_VIEW_AS_REAL, 0, 1, &x, 0, NULL);
        p.re = part_of(r, pairs, v->shape, 0);
        p.im = part_of(r, pairs, v->shape, 1);
        r->pair[id] = p;
    }
    r->failed = r->failed || p.re == VALUE_NONE;
    return p;
}

/* [..., 2] of the parts */
static ValueId side_by_side(Rewrite *r, RewritePair p)
{
    Shape s = rw_value(r, p.re)->shape;
    ValueId im = p.im == VALUE_NONE ? rw_full(r, s, DT_F32, 0) : rw_expand(r, p.im, s);
    ValueId in[] = {rw_with_dim(r, p.re, s.rank), rw_with_dim(r, im, s.rank)};
    Attr dim = {.key = AT_DIM, .i = s.rank};
    return rw_make(r, OP_CAT, 0, 2, in, 1, &dim);
}

static bool is_output(const Rewrite *r, ValueId id)
{
    for (uint32_t i = 0; i < r->from->outputs.len; i++)
        if (r->from->outputs.at[i] == id)
            return true;
    return false;
}

static bool give(Rewrite *r, const Node *node, RewritePair p, ValueId *out)
{
    r->pair[node->out] = p;
    if (!is_output(r, node->out) || r->failed)
        return true;
    ValueId pairs = side_by_side(r, p);
    out[0] = rw_make(r, OP_VIEW_AS_COMPLEX, 0, 1, &pairs, 0, NULL);
    return true;
}

static bool unary(Rewrite *r, const Node *node, ValueId *out)
{
    RewritePair x = parts_of(r, node->in[0]);
    switch (node->kind) {
    case UNARY_real: out[0] = rw_make(r, OP_DROPOUT, 0, 1, &x.re, 0, NULL); return true;
    case UNARY_imag: out[0] = rw_make(r, OP_DROPOUT, 0, 1, &x.im, 0, NULL); return true;
    case UNARY_abs: out[0] = rw_binary(r, BINARY_hypot, x.re, x.im); return true;
    case UNARY_conj: x.im = rw_unary(r, UNARY_neg, x.im); break;
    case UNARY_neg:
        x.re = rw_unary(r, UNARY_neg, x.re);
        x.im = rw_unary(r, UNARY_neg, x.im);
        break;
    default: return false;
    }
    return give(r, node, x, out);
}

static RewritePair product(Rewrite *r, RewritePair a, RewritePair b)
{
    if (b.im == VALUE_NONE)
        return (RewritePair){mul(r, a.re, b.re), mul(r, a.im, b.re)};
    if (a.im == VALUE_NONE)
        return (RewritePair){mul(r, a.re, b.re), mul(r, a.re, b.im)};
    return (RewritePair){sub(r, mul(r, a.re, b.re), mul(r, a.im, b.im)),
                         add_values(r, mul(r, a.re, b.im), mul(r, a.im, b.re))};
}

/* a / b = a conj(b) / |b|^2 */
static RewritePair ratio(Rewrite *r, RewritePair a, RewritePair b)
{
    if (b.im == VALUE_NONE)
        return (RewritePair){rw_binary(r, BINARY_div, a.re, b.re),
                             rw_binary(r, BINARY_div, a.im, b.re)};
    ValueId size = add_values(r, mul(r, b.re, b.re), mul(r, b.im, b.im));
    RewritePair p = product(r, a, (RewritePair){b.re, rw_unary(r, UNARY_neg, b.im)});
    return (RewritePair){rw_binary(r, BINARY_div, p.re, size),
                         rw_binary(r, BINARY_div, p.im, size)};
}

static bool binary(Rewrite *r, const Node *node, ValueId *out)
{
    RewritePair a = parts_of(r, node->in[0]), b = parts_of(r, node->in[1]);
    ValueId zero = rw_number(r, 0);
    ValueId ai = a.im == VALUE_NONE ? zero : a.im, bi = b.im == VALUE_NONE ? zero : b.im;
    if (node_float(node, AT_ALPHA, 1) != 1)
        return false;
    switch (node->kind) {
    case BINARY_complex: return give(r, node, (RewritePair){a.re, b.re}, out);
    case BINARY_add:
        return give(r, node, (RewritePair){add_values(r, a.re, b.re), add_values(r, ai, bi)}, out);
    case BINARY_sub: return give(r, node, (RewritePair){sub(r, a.re, b.re), sub(r, ai, bi)}, out);
    case BINARY_mul: return give(r, node, product(r, a, b), out);
    case BINARY_div:
        if (a.im == VALUE_NONE)
            a.im = zero;
        return give(r, node, ratio(r, a, b), out);
    case BINARY_eq:
    case BINARY_ne: {
        bool same = node->kind == BINARY_eq;
        out[0] = rw_binary(r, same ? BINARY_logical_and : BINARY_logical_or,
                           rw_binary(r, (BINARY_Kind)node->kind, a.re, b.re),
                           rw_binary(r, (BINARY_Kind)node->kind, ai, bi));
        return true;
    }
    default: return false;
    }
}

/* Operators that treat elements as they are, or linearly: once for each part. */
static bool by_parts(Rewrite *r, const Node *node, ValueId *out)
{
    ValueId *re = arena_array(r->arena, ValueId, node->n_in + 1);
    ValueId *im = arena_array(r->arena, ValueId, node->n_in + 1);
    for (uint32_t i = 0; i < node->n_in; i++) {
        re[i] = im[i] = rw_in(r, node, i);
        if (!is_complex(r, node->in[i]))
            continue;
        RewritePair p = parts_of(r, node->in[i]);
        re[i] = p.re;
        im[i] = p.im;
    }
    return give(r, node, (RewritePair){rw_again(r, node, re), rw_again(r, node, im)}, out);
}

static bool is_linear(const Node *node)
{
    switch (node->op) {
    case OP_REDUCE: return node->kind == REDUCE_sum || node->kind == REDUCE_mean;
    case OP_SCAN: return node->kind == SCAN_sum;
    case OP_CAT: return true;
    default: return op_only_moves(node) && op_move(node).inputs == 1;
    }
}

static bool by_operator(Rewrite *r, const Node *node, ValueId *out)
{
    const Value *x = node->n_in && node->in[0] != VALUE_NONE ? graph_value(r->from, node->in[0])
                                                             : NULL;
    switch (node->op) {
    case OP_UNARY: return unary(r, node, out);
    case OP_BINARY: return binary(r, node, out);
    case OP_VIEW_AS_REAL:
        if (x->kind != VALUE_NODE)
            return false;
        out[0] = side_by_side(r, parts_of(r, node->in[0]));
        return true;
    case OP_VIEW_AS_COMPLEX:
        if (is_output(r, node->out))
            return false;
        return give(
            r, node,
            (RewritePair){part_of(r, rw_in(r, node, 0), graph_value(r->from, node->out)->shape, 0),
                          part_of(r, rw_in(r, node, 0), graph_value(r->from, node->out)->shape, 1)},
            out);
    case OP_CAST: {
        RewritePair p = parts_of(r, node->in[0]);
        if (is_complex(r, node->out))
            return give(r, node, p, out);
        out[0] = rw_cast(r, p.re, graph_value(r->from, node->out)->dtype);
        return true;
    }
    default: return is_linear(node) && by_parts(r, node, out);
    }
}

/* An operand that exists only as its two parts can neither be copied nor seen by another rule. */
bool rewrite_complex(Rewrite *r, const Node *node, ValueId *out)
{
    bool any = is_complex(r, node->out), apart = false;
    for (uint32_t i = 0; i < node->n_in; i++) {
        any = any || is_complex(r, node->in[i]);
        apart = apart || (node->in[i] != VALUE_NONE && r->map[node->in[i]] == VALUE_NONE);
    }
    if (!any)
        return false;
    if (by_operator(r, node, out))
        return true;
    r->failed = r->failed || apart;
    return false;
}
