/* Small matrices and windows, rewritten into sums that need no matrix unit: points turned by a 3 x 3 matrix,
 * colours mixed, depthwise and fixed filters.
 *
 *     a @ b        a[:, 0:1] * b[0:1, :] + a[:, 1:2] * b[1:2, :] + ...       few terms
 *     conv(x, w)   x shifted by each place of the window, times its weight
 *
 * In: matmul, linear, einsum of up to three operands, conv, attention. Out: slices, products and sums in f32. */
#include "gen/plan/rewrite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    FEW = 16,
    WINDOW = 49, /* most terms of a sum that is written out */
    MOST_OPERANDS = 3,
    MOST_PRODUCTS = 1 << 22 /* most products that go through memory */
};

static ValueId add_term(Rewrite *r, ValueId sum, ValueId term)
{
    return sum == VALUE_NONE ? term : rw_binary(r, BINARY_add, sum, term);
}

/* ---- contractions ---- */

typedef struct Term {
    ValueId value;
    char letters[GRAPH_MAX_RANK + 1];
} Term;

/* The operand at one place of the letters in `at`, as wide as the result. */
static ValueId part(Rewrite *r, const Term *t, const char *summed, const int64_t *at,
                    const char *result)
{
    ValueId x = t->value;
    int64_t order[GRAPH_MAX_RANK];
    int kept = 0;
    for (int i = 0; t->letters[i]; i++) {
        const char *s = strchr(summed, t->letters[i]);
        int64_t place = s ? at[s - summed] : 0;
        if (s && rw_value(r, x)->shape.dim[i] > 1)
            x = rw_slice(r, x, i, place, place + 1, 1);
    }
    Shape s = rw_value(r, x)->shape, to = {.rank = (int)strlen(result)};
    for (int k = 0; result[k]; k++) {
        const char *own = strchr(t->letters, result[k]);
        to.dim[k] = own ? s.dim[own - t->letters] : 1;
        if (own)
            order[kept++] = own - t->letters;
    }
    for (int i = 0; t->letters[i]; i++)
        if (strchr(summed, t->letters[i]))
            order[kept++] = i;
    bool sorted = true;
    for (int i = 0; i < kept; i++)
        sorted = sorted && order[i] == i;
    return rw_reshape(r, sorted ? x : rw_permute(r, x, order), to);
}

/* The next place, the last letter first; false: that was the last. */
static bool step(int64_t *at, const int64_t *sizes, int n)
{
    for (int i = n; i-- > 0;) {
        if (++at[i] < sizes[i])
            return true;
        at[i] = 0;
    }
    return false;
}

static int64_t size_of(const Rewrite *r, const Term *t, char letter)
{
    const char *at = strchr(t->letters, letter);
    return at ? rw_value(r, t->value)->shape.dim[at - t->letters] : 1;
}

static bool distinct(const char *letters)
{
    for (size_t i = 0; letters[i]; i++)
        if (strchr(letters + i + 1, letters[i]))
            return false;
    return true;
}

/* The letters that are summed over, and how far each goes. */
typedef struct Summed {
    char letters[MOST_OPERANDS * GRAPH_MAX_RANK + 1];
    int64_t sizes[MOST_OPERANDS * GRAPH_MAX_RANK + 1];
    int n;
    int64_t places; /* terms of one sum */
} Summed;

static int64_t widest(const Rewrite *r, const Term *terms, int count, char letter)
{
    int64_t size = 1;
    for (int i = 0; i < count; i++)
        size = size_of(r, &terms[i], letter) > 1 ? size_of(r, &terms[i], letter) : size;
    return size;
}

static Summed summed_of(const Rewrite *r, const Term *terms, int count, const char *result)
{
    Summed s = {.places = 1};
    for (int k = 0; k < count; k++)
        for (const char *l = terms[k].letters; *l; l++) {
            if (strchr(result, *l) || strchr(s.letters, *l))
                continue;
            s.sizes[s.n] = widest(r, terms, count, *l);
            s.places = s.places > MOST_PRODUCTS ? s.places : s.places * s.sizes[s.n];
            s.letters[s.n++] = *l;
        }
    return s;
}

static ValueId written_out(Rewrite *r, const Term *terms, int count, const Summed *s,
                           const char *result)
{
    int64_t at[sizeof s->letters] = {0};
    ValueId sum = VALUE_NONE;
    do {
        ValueId product = part(r, &terms[0], s->letters, at, result);
        for (int k = 1; k < count; k++)
            product = rw_binary(r, BINARY_mul, product, part(r, &terms[k], s->letters, at, result));
        sum = add_term(r, sum, product);
    } while (step(at, s->sizes, s->n));
    return sum;
}

/* All products, then their sums: the summed letters stand behind those of the result. */
static ValueId spread(Rewrite *r, const Term *terms, int count, const Summed *s, const char *result)
{
    int64_t products = s->places, none[1] = {0};
    int rank = (int)strlen(result);
    for (const char *l = result; *l && products <= MOST_PRODUCTS; l++)
        products *= widest(r, terms, count, *l);
    if (products > MOST_PRODUCTS || rank + s->n > GRAPH_MAX_RANK)
        return VALUE_NONE;
    const char *all = str_format(r->arena, "%s%s", result, s->letters);
    ValueId product = part(r, &terms[0], "", none, all);
    for (int k = 1; k < count; k++)
        product = rw_binary(r, BINARY_mul, product, part(r, &terms[k], "", none, all));
    return rw_reduce(r, REDUCE_sum, product, (1u << (rank + s->n)) - (1u << rank), false);
}

/* "bii" becomes "bi": what lies on the diagonal. */
static void take_diagonals(Rewrite *r, Term *t)
{
    for (int i = 0; t->letters[i]; i++) {
        const char *again = strchr(t->letters + i + 1, t->letters[i]);
        if (!again)
            continue;
        char letter = t->letters[i];
        int k = (int)(again - t->letters), n = 0;
        int64_t two[] = {i, k};
        Attr dims = {.key = AT_DIMS, .ints = {two, 2}};
        t->value = rw_make(r, OP_DIAGONAL, 0, 1, &t->value, 1, &dims);
        for (int j = 0; t->letters[j]; j++)
            if (j != i && j != k)
                t->letters[n++] = t->letters[j];
        t->letters[n++] = letter;
        t->letters[n] = 0;
        i = -1;
    }
}

/* VALUE_NONE: too many terms, or letters that are not understood. */
static ValueId contract(Rewrite *r, Term *terms, int count, const char *result)
{
    if (!distinct(result))
        return VALUE_NONE;
    for (int k = 0; k < count; k++)
        take_diagonals(r, &terms[k]);
    Summed s = summed_of(r, terms, count, result);
    return s.places <= FEW ? written_out(r, terms, count, &s, result)
                           : spread(r, terms, count, &s, result);
}

static Term term_of(Rewrite *r, ValueId x, const char *letters)
{
    Term t = {.value = rw_cast(r, x, DT_F32)};
    snprintf(t.letters, sizeof t.letters, "%s", letters);
    return t;
}

static bool einsum(Rewrite *r, const Node *node, ValueId *sum)
{
    Str word, rest, result;
    Term terms[MOST_OPERANDS];
    if (!node_equation(node, &rest, &result) || node->n_in > MOST_OPERANDS)
        return false;
    for (uint32_t i = 0; i < node->n_in; i++) {
        if (!str_next(&rest, ',', &word) || word.len > GRAPH_MAX_RANK)
            return false;
        terms[i] = term_of(r, rw_in(r, node, i), str_dup(r->arena, word));
    }
    if (result.len <= GRAPH_MAX_RANK)
        *sum = contract(r, terms, (int)node->n_in, str_dup(r->arena, result));
    return true;
}

/* Whether the cube multiplies these: [.., m, k] and [.., k, n] of one dtype that are no constants, but where a few vector
 * instructions an element do. */
static bool is_for_cube(const Rewrite *r, const Node *node, ValueId x, ValueId y, bool turned)
{
    if (node_bool(node, AT_HF32))
        return true;
    const Value *a = rw_value(r, x), *b = rw_value(r, y);
    DType dtype = graph_value(r->from, node->out)->dtype;
    if (b->shape.rank < 2 || a->dtype != dtype || b->dtype != dtype || a->kind == VALUE_CONST ||
        b->kind == VALUE_CONST)
        return false;
    int64_t k = a->shape.dim[a->shape.rank - 1], m = 1, n = b->shape.dim[b->shape.rank - 1];
    for (int i = 0; i + 1 < a->shape.rank && (turned || i == 0); i++)
        m *= turned ? a->shape.dim[i] : a->shape.dim[a->shape.rank - 2];
    n = turned ? b->shape.dim[b->shape.rank - 2] : n;
    return k > FEW || (m > FEW && n > FEW);
}

/* Batches line up from the right: "abmk", "bkn" gives "abmn". */
static bool matmul(Rewrite *r, const Node *node, ValueId *sum)
{
    static const char batch[] = "abcdef";
    ValueId x = rw_in(r, node, 0), y = rw_in(r, node, 1);
    int m = rw_value(r, x)->shape.rank - 2, n = rw_value(r, y)->shape.rank - 2;
    if (m < 0 || n < 0 || m > 6 || n > 6 || is_for_cube(r, node, x, y, false))
        return false;
    int most = m > n ? m : n;
    Term terms[] = {term_of(r, x, str_format(r->arena, "%.*smk", m, batch + most - m)),
                    term_of(r, y, str_format(r->arena, "%.*skn", n, batch + most - n))};
    *sum = contract(r, terms, 2, str_format(r->arena, "%.*smn", most, batch));
    return true;
}

static bool linear(Rewrite *r, const Node *node, ValueId *sum)
{
    static const char rows[] = "abcdefg";
    ValueId x = rw_in(r, node, 0);
    int n = rw_value(r, x)->shape.rank - 1;
    if (n < 0 || n > 7 || is_for_cube(r, node, x, rw_in(r, node, 1), true))
        return false;
    Term terms[] = {term_of(r, x, str_format(r->arena, "%.*sk", n, rows)),
                    term_of(r, rw_in(r, node, 1), "nk")};
    *sum = contract(r, terms, 2, str_format(r->arena, "%.*sn", n, rows));
    if (*sum != VALUE_NONE && node->in[2] != VALUE_NONE)
        *sum = add_term(r, *sum, rw_cast(r, rw_in(r, node, 2), DT_F32));
    return true;
}

/* ---- windows ---- */

typedef struct Conv {
    const Node *node;
    int dims;                          /* spatial */
    int64_t groups, channels, outputs; /* channels and outputs of one group */
    ValueId x, w;                      /* [N, G, C, ..] padded, [G, O, C, ..] */
    Shape y;
} Conv;

static int64_t attr_at(const Node *node, AttrKey key, int i, int64_t fallback)
{
    const Attr *a = node_attr(node, key);
    return a && i < (int)a->ints.len ? a->ints.at[i] : fallback;
}

/* The weight at one place of the window, [G, O, 1, ..]. */
static ValueId weight_at(Rewrite *r, const Conv *c, const int64_t *at)
{
    ValueId w = c->w;
    Shape to = {.rank = 2 + c->dims, .dim = {c->groups, c->outputs}};
    for (int i = 0; i <= c->dims; i++)
        if (rw_value(r, w)->shape.dim[2 + i] > 1)
            w = rw_slice(r, w, 2 + i, at[i], at[i] + 1, 1);
    for (int i = 0; i < c->dims; i++)
        to.dim[2 + i] = 1;
    return rw_reshape(r, w, to);
}

/* The input that one place of the window sees, [N, G, 1, ..]. */
static ValueId input_at(Rewrite *r, const Conv *c, const int64_t *at)
{
    ValueId x = c->channels > 1 ? rw_slice(r, c->x, 2, at[0], at[0] + 1, 1) : c->x;
    for (int i = 0; i < c->dims; i++) {
        int64_t stride = attr_at(c->node, AT_STRIDE, i, 1);
        int64_t from = at[1 + i] * attr_at(c->node, AT_DILATION, i, 1);
        int64_t to = from + (c->y.dim[2 + i] - 1) * stride + 1;
        if (from || to != rw_value(r, x)->shape.dim[3 + i] || stride != 1)
            x = rw_slice(r, x, 3 + i, from, to, stride);
    }
    return x;
}

static bool open_conv(Rewrite *r, const Node *node, Conv *c)
{
    ValueId x = rw_in(r, node, 0), w = rw_in(r, node, 1);
    Shape s = rw_value(r, x)->shape, k = rw_value(r, w)->shape;
    int64_t pads[2 * GRAPH_MAX_RANK] = {0};
    bool padded = false;
    c->node = node;
    c->dims = k.rank - 2;
    c->groups = node_int(node, AT_GROUPS, 1);
    c->y = graph_value(r->from, node->out)->shape;
    if (node_bool(node, AT_TRANSPOSED) || s.rank != k.rank || c->dims < 1 || c->dims > 3 ||
        c->groups < 1)
        return false;
    c->channels = k.dim[1];
    c->outputs = k.dim[0] / c->groups;
    int64_t terms = c->channels;
    for (int i = 0; i < c->dims; i++) {
        int64_t pad = attr_at(node, AT_PADDING, i, 0);
        pads[2 * (c->dims - 1 - i)] = pads[2 * (c->dims - 1 - i) + 1] = pad;
        padded = padded || pad;
        terms = terms > WINDOW ? terms : terms * k.dim[2 + i];
    }
    if (terms > WINDOW)
        return false;
    x = rw_cast(r, x, DT_F32);
    x = padded ? rw_pad(r, x, c->dims, pads, 0) : x;
    s = rw_value(r, x)->shape;
    Shape in = {.rank = 3 + c->dims, .dim = {s.dim[0], c->groups, c->channels}};
    Shape of = {.rank = 3 + c->dims, .dim = {c->groups, c->outputs, c->channels}};
    for (int i = 0; i < c->dims; i++) {
        in.dim[3 + i] = s.dim[2 + i];
        of.dim[3 + i] = k.dim[2 + i];
    }
    c->x = rw_reshape(r, x, in);
    c->w = rw_reshape(r, rw_cast(r, w, DT_F32), of);
    return true;
}

static bool conv(Rewrite *r, const Node *node, ValueId *sum)
{
    Conv c = {0};
    int64_t at[4] = {0}, sizes[4] = {0};
    if (!open_conv(r, node, &c))
        return false;
    Shape k = rw_value(r, c.w)->shape;
    for (int i = 0; i <= c.dims; i++)
        sizes[i] = k.dim[2 + i];
    do
        *sum = add_term(r, *sum,
                        rw_binary(r, BINARY_mul, input_at(r, &c, at), weight_at(r, &c, at)));
    while (step(at, sizes, c.dims + 1));
    *sum = rw_reshape(r, *sum, c.y);
    if (node->in[2] != VALUE_NONE) {
        Shape to = {.rank = 1 + c.dims, .dim = {c.groups * c.outputs, 1, 1, 1}};
        *sum = add_term(r, *sum, rw_reshape(r, rw_cast(r, rw_in(r, node, 2), DT_F32), to));
    }
    return true;
}

/* ---- attention ---- */

/* Scores of pairs that may not see each other become -inf. */
static ValueId hidden(Rewrite *r, const Node *node, ValueId scores, ValueId mask)
{
    Shape s = rw_value(r, scores)->shape;
    ValueId never = rw_number(r, -HUGE_VAL);
    if (node_bool(node, AT_CAUSAL)) {
        int64_t queries = s.dim[s.rank - 2], keys = s.dim[s.rank - 1];
        ValueId query = rw_reshape(r, rw_range(r, DT_F32, 0, queries, 1), (Shape){2, {queries, 1}});
        ValueId key = rw_reshape(r, rw_range(r, DT_F32, 0, keys, 1), (Shape){2, {1, keys}});
        scores = rw_where(r, rw_binary(r, BINARY_le, key, query), scores, never);
    }
    if (mask == VALUE_NONE)
        return scores;
    if (rw_value(r, mask)->dtype == DT_BOOL)
        return rw_where(r, mask, scores, never);
    return add_term(r, scores, rw_cast(r, mask, DT_F32));
}

/* The cube multiplies halves exactly and adds in f32. */
static ValueId wide_product(Rewrite *r, ValueId a, ValueId b)
{
    Attr wide = {.key = AT_DTYPE, .dtype = DT_F32};
    return rw_make(r, OP_MATMUL, 0, 2, (ValueId[]){a, b}, 1, &wide);
}

/* softmax(q k^T * scale + mask) v, its products are rewritten in the next round. Weights are not rounded as v is. */
static bool attention(Rewrite *r, const Node *node, ValueId *sum)
{
    ValueId q = rw_in(r, node, 0), k = rw_in(r, node, 1), v = rw_in(r, node, 2);
    Shape s = rw_value(r, q)->shape, t = rw_value(r, k)->shape;
    if (node_bool(node, AT_GQA) || s.rank < 2 || t.rank < 2)
        return false;
    double scale = node_float(node, AT_SCALE, 1 / sqrt((double)s.dim[s.rank - 1]));
    if (!node_attr(node, AT_SCALE))
        rw_hold(r, q, s.rank - 1);
    ValueId turned = rw_swap(r, k, t.rank - 2, t.rank - 1);
    ValueId scores = wide_product(r, q, turned);
    scores = rw_binary(r, BINARY_mul, scores, rw_number(r, scale));
    scores = hidden(r, node, scores, node->in[3] == VALUE_NONE ? VALUE_NONE : rw_in(r, node, 3));
    ValueId weights = rw_softmax(r, scores, rw_value(r, scores)->shape.rank - 1, false);
    *sum = rw_make(r, OP_MATMUL, 0, 2, (ValueId[]){weights, rw_cast(r, v, DT_F32)}, 0, NULL);
    return true;
}

bool rewrite_small(Rewrite *r, const Node *node, ValueId *out)
{
    const Value *y = graph_value(r->from, node->out);
    ValueId sum = VALUE_NONE;
    if (!dtype_is_float(y->dtype))
        return false;
    switch (node->op) {
    case OP_EINSUM: einsum(r, node, &sum); break;
    case OP_MATMUL: matmul(r, node, &sum); break;
    case OP_LINEAR: linear(r, node, &sum); break;
    case OP_CONV:
        if (!node_bool(node, AT_HF32))
            conv(r, node, &sum);
        break;
    case OP_SDPA: attention(r, node, &sum); break;
    default: break;
    }
    if (sum == VALUE_NONE)
        return false;
    out[0] = rw_cast(r, sum, y->dtype);
    return true;
}
