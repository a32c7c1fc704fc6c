/* Sums of products that need no matrix unit. In: einsum or matmul in which one operand has every index
 * of the other (a matrix by a vector, a dot product, a weighted sum). Out: a product and a sum. */
#include "gen/plan/rewrite.h"

#include <string.h>

/* The operand with its dimensions in the order of `all`, size 1 where it lacks one. */
static ValueId lined_up(Rewrite *r, ValueId x, Str letters, Str all)
{
    Shape s = rw_value(r, x)->shape, to = {.rank = (int)all.len};
    int64_t order[GRAPH_MAX_RANK];
    int n = 0;
    bool sorted = true;
    for (size_t i = 0; i < all.len; i++) {
        const char *at = memchr(letters.at, all.at[i], letters.len);
        to.dim[i] = at ? s.dim[at - letters.at] : 1;
        if (!at)
            continue;
        sorted = sorted && at - letters.at == n;
        order[n++] = at - letters.at;
    }
    return rw_reshape(r, sorted ? x : rw_permute(r, x, order), to);
}

/* Every letter once. */
static bool distinct(Str letters)
{
    for (size_t i = 0; i < letters.len; i++)
        for (size_t k = 0; k < i; k++)
            if (letters.at[i] == letters.at[k])
                return false;
    return true;
}

static bool covers(Str a, Str b)
{
    for (size_t i = 0; i < b.len; i++)
        if (!memchr(a.at, b.at[i], a.len))
            return false;
    return true;
}

static ValueId product(Rewrite *r, const Node *node, const Str *terms, Str all)
{
    ValueId v = VALUE_NONE;
    for (uint32_t i = 0; i < node->n_in; i++) {
        ValueId x = lined_up(r, rw_cast(r, rw_in(r, node, i), DT_F32), terms[i], all);
        v = i ? rw_binary(r, BINARY_mul, v, x) : x;
    }
    return v;
}

/* "bij,j->bi" */
static bool einsum(Rewrite *r, const Node *node, ValueId *out)
{
    Str terms[3], result, rest;
    char all[GRAPH_MAX_RANK + 1] = {0};
    size_t n = 0;
    const Value *y = graph_value(r->from, node->out);
    if (!node_equation(node, &rest, &result) || node->n_in > 3 || !dtype_is_float(y->dtype))
        return false;
    uint32_t widest = 0;
    for (uint32_t i = 0; i < node->n_in; i++) {
        if (!str_next(&rest, ',', &terms[i]) || !distinct(terms[i]) ||
            terms[i].len > GRAPH_MAX_RANK)
            return false;
        widest = terms[i].len > terms[widest].len ? i : widest;
    }
    bool sums_none = true, covered = covers(terms[widest], result);
    for (uint32_t i = 0; i < node->n_in; i++) {
        covered = covered && covers(terms[widest], terms[i]);
        sums_none = sums_none && covers(result, terms[i]);
    }
    if (!distinct(result) || result.len > GRAPH_MAX_RANK)
        return false;
    if (sums_none) {
        out[0] = rw_cast(r, product(r, node, terms, result), y->dtype);
        return rw_value(r, out[0])->kind == VALUE_NODE && !r->failed;
    }
    if (!covered)
        return false;
    for (size_t i = 0; i < result.len; i++)
        all[n++] = result.at[i];
    uint32_t sums = 0;
    for (size_t i = 0; i < terms[widest].len; i++)
        if (!memchr(result.at, terms[widest].at[i], result.len)) {
            sums |= 1u << n;
            all[n++] = terms[widest].at[i];
        }
    ValueId v = product(r, node, terms, (Str){all, n});
    out[0] = rw_cast(r, rw_reduce(r, REDUCE_sum, v, sums, false), y->dtype);
    return rw_value(r, out[0])->kind == VALUE_NODE;
}

/* A vector on one side. */
static bool by_vector(Rewrite *r, const Node *node, ValueId *out)
{
    ValueId a = rw_in(r, node, 0), b = rw_in(r, node, 1);
    const Value *y = graph_value(r->from, node->out);
    int ranks[2] = {rw_value(r, a)->shape.rank, rw_value(r, b)->shape.rank};
    if ((ranks[0] != 1 && ranks[1] != 1) || !dtype_is_float(y->dtype))
        return false;
    bool left = ranks[0] == 1 && ranks[1] > 1; /* x A: rows of A are summed */
    a = rw_cast(r, a, DT_F32);
    b = rw_cast(r, b, DT_F32);
    ValueId v = rw_binary(r, BINARY_mul, left ? rw_with_dim(r, a, 1) : a, b);
    int rank = rw_value(r, v)->shape.rank;
    v = rw_reduce(r, REDUCE_sum, v, 1u << (left ? rank - 2 : rank - 1), false);
    out[0] = rw_cast(r, v, y->dtype);
    return true;
}

/* A matrix of one row or one column on one side, in batches. */
static bool by_column(Rewrite *r, const Node *node, ValueId *out)
{
    ValueId a = rw_in(r, node, 0), b = rw_in(r, node, 1);
    const Value *y = graph_value(r->from, node->out);
    Shape s = rw_value(r, a)->shape, t = rw_value(r, b)->shape;
    if (s.rank < 2 || t.rank < 2 || !dtype_is_float(y->dtype))
        return false;
    bool column = t.dim[t.rank - 1] == 1, row = s.dim[s.rank - 2] == 1;
    if (!column && !row)
        return false;
    a = rw_cast(r, a, DT_F32);
    b = rw_cast(r, b, DT_F32);
    if (column)
        b = rw_swap(r, b, t.rank - 2, t.rank - 1);
    else
        a = rw_swap(r, a, s.rank - 2, s.rank - 1);
    ValueId v = rw_binary(r, BINARY_mul, a, b);
    int rank = rw_value(r, v)->shape.rank;
    v = rw_reduce(r, REDUCE_sum, v, 1u << (column ? rank - 1 : rank - 2), true);
    out[0] = rw_cast(r, v, y->dtype);
    return true;
}

bool rewrite_sum(Rewrite *r, const Node *node, ValueId *out)
{
    switch (node->op) {
    case OP_EINSUM: return einsum(r, node, out);
    case OP_MATMUL:
        return !node_bool(node, AT_HF32) && (by_vector(r, node, out) || by_column(r, node, out));
    default: return false;
    }
}
