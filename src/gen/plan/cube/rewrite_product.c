/* Contractions of two tensors as one matrix product. In: einsum of two operands. Out: transpositions,
 * reshapes and a matmul. Of more operands two after two, the pair with the smallest result first. And products with
 * diagonal matrices, as products element by element; of batches that are broadcast in part, the smaller side is expanded.
 *
 *     letters in both and the result     batch
 *     in the left and the result         m
 *     in the right and the result        n
 *     in both, not in the result         k
 *
 *     einsum("bijl,lk->bijk", a, b)      matmul(a as [b i j, l], b) as [b, i, j, k]
 */
#include "gen/plan/rewrite.h"

#include <string.h>

typedef struct Letters {
    char of[GRAPH_MAX_RANK + 1];
    int n;
    int64_t count; /* their sizes multiplied */
} Letters;

typedef struct Contraction {
    Str left, right, result;
    Shape a, b;
    Letters batch, m, n, k;
} Contraction;

static bool has(Str text, char letter) { return memchr(text.at, letter, text.len) != NULL; }

static void add_letter(Letters *l, char letter, int64_t size)
{
    if (!l->n)
        l->count = 1;
    l->of[l->n++] = letter;
    l->count *= size;
}

static bool repeats(Str text)
{
    for (size_t i = 0; i < text.len; i++)
        for (size_t k = 0; k < i; k++)
            if (text.at[i] == text.at[k])
                return true;
    return false;
}

static bool sort_letters(Contraction *c)
{
    for (size_t i = 0; i < c->left.len; i++) {
        char letter = c->left.at[i];
        bool right = has(c->right, letter), kept = has(c->result, letter);
        Letters *to = right && kept ? &c->batch : right ? &c->k : kept ? &c->m : NULL;
        if (!to)
            return false;
        add_letter(to, letter, c->a.dim[i]);
    }
    for (size_t i = 0; i < c->right.len; i++) {
        if (has(c->left, c->right.at[i]))
            continue;
        if (!has(c->result, c->right.at[i]))
            return false;
        add_letter(&c->n, c->right.at[i], c->b.dim[i]);
    }
    return c->m.n && c->n.n && c->k.n;
}

static bool read_contraction(const Rewrite *r, const Node *node, Contraction *c)
{
    Str rest;
    if (node->n_in != 2 || !node_equation(node, &rest, &c->result))
        return false;
    if (!str_next(&rest, ',', &c->left) || !str_next(&rest, ',', &c->right))
        return false;
    c->a = rw_value(r, rw_in(r, node, 0))->shape;
    c->b = rw_value(r, rw_in(r, node, 1))->shape;
    return (size_t)c->a.rank == c->left.len && (size_t)c->b.rank == c->right.len &&
           !repeats(c->left) && !repeats(c->right) && !repeats(c->result) && sort_letters(c);
}

/* The tensor with its letters in this order; itself where they are. */
static ValueId in_order(Rewrite *r, ValueId x, Str letters, const char *order)
{
    int64_t dims[GRAPH_MAX_RANK];
    bool same = true;
    for (size_t i = 0; i < letters.len; i++) {
        const char *at = memchr(letters.at, order[i], letters.len);
        if (!at)
            return VALUE_NONE;
        dims[i] = at - letters.at;
        same = same && (size_t)dims[i] == i;
    }
    return same ? x : rw_permute(r, x, dims);
}

static ValueId as_matrices(Rewrite *r, ValueId x, Str letters, const Letters *batch,
                           const Letters *rows, const Letters *cols)
{
    char order[3 * GRAPH_MAX_RANK + 1] = {0};
    strcat(strcat(strcat(order, batch->of), rows->of), cols->of);
    x = in_order(r, x, letters, order);
    Shape s = batch->n ? (Shape){3, {batch->count, rows->count, cols->count}}
                       : (Shape){2, {rows->count, cols->count}};
    return rw_reshape(r, x, s);
}

/* The right side may lie as [n, k]: then it is turned as a matrix, which costs nothing. */
static ValueId right_side(Rewrite *r, ValueId x, const Contraction *c)
{
    char order[3 * GRAPH_MAX_RANK + 1] = {0};
    strcat(strcat(strcat(order, c->batch.of), c->n.of), c->k.of);
    if (!str_is(c->right, order))
        return as_matrices(r, x, c->right, &c->batch, &c->k, &c->n);
    x = as_matrices(r, x, c->right, &c->batch, &c->n, &c->k);
    int rank = rw_value(r, x)->shape.rank;
    return rw_swap(r, x, rank - 2, rank - 1);
}

/* A diagonal matrix scales the rows of what stands right of it, the columns of what stands left. */
static bool scale_by_diagonal(Rewrite *r, const Node *node, ValueId *out)
{
    for (uint32_t side = 0; side < 2; side++) {
        const Node *diag = graph_maker(r->from, node->in[side]);
        if (!diag || diag->op != OP_DIAG || node_int(diag, AT_DIAGONAL, 0) != 0)
            continue;
        ValueId other = rw_in(r, node, 1 - side), factors = rw_in(r, diag, 0);
        if (rw_value(r, other)->shape.rank < 2 ||
            !dtype_is_float(graph_value(r->from, node->out)->dtype))
            return false;
        factors = side == 0 ? rw_with_dim(r, factors, 1) : factors;
        out[0] = rw_binary(r, BINARY_mul, side == 0 ? factors : other, side == 0 ? other : factors);
        return true;
    }
    return false;
}

/* ---- several operands ---- */

enum { MOST_TERMS = 8, MOST_LETTERS = 2 * GRAPH_MAX_RANK };

typedef struct Term {
    ValueId value;
    Str letters;
} Term;

static int64_t letter_size(const Rewrite *r, const Term *t, char letter)
{
    const char *at = memchr(t->letters.at, letter, t->letters.len);
    return at ? rw_value(r, t->value)->shape.dim[at - t->letters.at] : 1;
}

/* Whether somebody other than terms a and b needs the letter. */
static bool needed(const Term *terms, uint32_t n, uint32_t a, uint32_t b, Str result, char letter)
{
    bool found = has(result, letter);
    for (uint32_t i = 0; i < n; i++)
        found = found || (i != a && i != b && has(terms[i].letters, letter));
    return found;
}

/* The letters of a contraction of two terms, in the order of these, and its elements. */
static double pair_letters(const Rewrite *r, const Term *terms, uint32_t n, uint32_t a, uint32_t b,
                           Str result, char *letters)
{
    double count = 1;
    size_t len = 0;
    for (int side = 0; side < 2; side++) {
        const Term *t = &terms[side ? b : a];
        for (size_t i = 0; i < t->letters.len; i++) {
            char letter = t->letters.at[i];
            if (memchr(letters, letter, len) || !needed(terms, n, a, b, result, letter))
                continue;
            int64_t other = letter_size(r, &terms[side ? a : b], letter);
            int64_t own = letter_size(r, t, letter);
            count *= (double)(own > other ? own : other);
            letters[len++] = letter;
        }
    }
    letters[len] = 0;
    return len <= GRAPH_MAX_RANK ? count : -1;
}

static ValueId make_einsum(Rewrite *r, uint32_t n, const Term *terms, Str result)
{
    Buf text = {0};
    ValueId in[MOST_TERMS];
    for (uint32_t i = 0; i < n; i++) {
        buf_printf(&text, "%s%.*s", i ? "," : "", STR_ARG(terms[i].letters));
        in[i] = terms[i].value;
    }
    buf_printf(&text, "->%.*s", STR_ARG(result));
    Attr equation = {.key = AT_EQUATION, .text = str_from(buf_take(&text, r->arena))};
    buf_free(&text);
    return rw_make(r, OP_EINSUM, 0, n, in, 1, &equation);
}

/* einsum of three operands and more: two of them, and what that gives with the others. */
static bool by_pairs(Rewrite *r, const Node *node, ValueId *out)
{
    Term terms[MOST_TERMS];
    Str rest, result;
    char letters[MOST_LETTERS + 1], best[MOST_LETTERS + 1] = "";
    double least = -1;
    uint32_t n = node->n_in, a = 0, b = 0;
    if (n < 3 || n > MOST_TERMS || !node_equation(node, &rest, &result))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        terms[i].value = rw_in(r, node, i);
        if (!str_next(&rest, ',', &terms[i].letters) || repeats(terms[i].letters) ||
            (size_t)rw_value(r, terms[i].value)->shape.rank != terms[i].letters.len)
            return false;
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = i + 1; k < n; k++) {
            double count = pair_letters(r, terms, n, i, k, result, letters);
            if (count < 0 || (least >= 0 && count >= least))
                continue;
            least = count;
            memcpy(best, letters, sizeof best);
            a = i;
            b = k;
        }
    if (least < 0)
        return false;
    Term pair[] = {terms[a], terms[b]};
    Str kept = str_from(str_dup(r->arena, str_from(best)));
    Term made = {make_einsum(r, 2, pair, kept), kept};
    if (r->failed)
        return false;
    terms[a] = made;
    for (uint32_t i = b; i + 1 < n; i++)
        terms[i] = terms[i + 1];
    out[0] = make_einsum(r, n - 1, terms, result);
    return !r->failed;
}

/* Batches of one side that repeat for some of the other's dimensions, but not for all of them. */
static bool expand_batch(Rewrite *r, const Node *node, ValueId *out)
{
    ValueId in[] = {rw_in(r, node, 0), rw_in(r, node, 1)};
    Shape s[] = {rw_value(r, in[0])->shape, rw_value(r, in[1])->shape}, batch = {0};
    int64_t count[] = {1, 1};
    for (int side = 0; side < 2; side++)
        for (int i = 0; i + 2 < s[side].rank; i++)
            count[side] *= s[side].dim[i];
    if (s[0].rank < 2 || s[1].rank < 2 || count[0] == 1 || count[1] == 1)
        return false;
    Shape of[] = {{.rank = s[0].rank - 2}, {.rank = s[1].rank - 2}};
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < of[side].rank; i++)
            of[side].dim[i] = s[side].dim[i];
    if (!shape_broadcast(of[0], of[1], &batch))
        return false;
    bool same = shape_equal(of[0], of[1]);
    for (int side = 0; side < 2 && !same; side++) {
        Shape to = {.rank = batch.rank + 2};
        for (int i = 0; i < batch.rank; i++)
            to.dim[i] = batch.dim[i];
        to.dim[batch.rank] = s[side].dim[s[side].rank - 2];
        to.dim[batch.rank + 1] = s[side].dim[s[side].rank - 1];
        if (!shape_equal(to, s[side]))
            in[side] = rw_expand(r, in[side], to);
    }
    if (same)
        return false;
    out[0] = rw_make(r, OP_MATMUL, 0, 2, in, node->n_attr, node->attr);
    return !r->failed;
}

bool rewrite_product(Rewrite *r, const Node *node, ValueId *out)
{
    if (node->op == OP_MATMUL)
        return scale_by_diagonal(r, node, out) || expand_batch(r, node, out);
    if (node->op == OP_EINSUM && by_pairs(r, node, out))
        return true;
    Contraction c = {0};
    const Value *y = graph_value(r->from, node->out);
    if (node->op != OP_EINSUM || !dtype_is_float(y->dtype) || !read_contraction(r, node, &c))
        return false;
    ValueId a = as_matrices(r, rw_in(r, node, 0), c.left, &c.batch, &c.m, &c.k);
    ValueId b = right_side(r, rw_in(r, node, 1), &c);
    ValueId v = rw_make(r, OP_MATMUL, 0, 2, (ValueId[]){a, b}, 0, NULL);
    char order[3 * GRAPH_MAX_RANK + 1] = {0};
    strcat(strcat(strcat(order, c.batch.of), c.m.of), c.n.of);
    Shape s = {.rank = (int)strlen(order)};
    for (int i = 0; i < s.rank; i++) {
        const char *left = memchr(c.left.at, order[i], c.left.len);
        s.dim[i] =
            left ? c.a.dim[left - c.left.at]
                 : c.b.dim[(const char *)memchr(c.right.at, order[i], c.right.len) - c.right.at];
    }
    v = rw_reshape(r, v, s);
    out[0] = in_order(r, v, str_from(order), str_dup(r->arena, c.result));
    return out[0] != VALUE_NONE && rw_value(r, out[0])->kind == VALUE_NODE;
}
