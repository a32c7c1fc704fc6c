/* einsum. In: operands and an explicit equation ("bij,bjk->bik"); out: the sum of products.
 * Operands are joined from left to right; each join sorts its letters into batch (in both, wanted
 * later), row (first only), column (second only) and summed, and is one batched matrix product. */
#include "graph/eval_int.h"
#include <string.h>

/* A tensor (f32 or f64) whose dims carry letters, each once. */
typedef struct Term {
    Tensor *t;
    char letters[GRAPH_MAX_RANK + 1];
} Term;

typedef struct Einsum {
    EvalNode *e;
    DType as;
    int64_t extent[128];
} Einsum;

static bool has(const char *letters, char c) { return c && strchr(letters, c) != NULL; }

/* The term with its dims in the order of `letters`, every one of which it has. */
static Tensor *arrange(const Einsum *s, const Term *term, const char *letters)
{
    Shape shape = {.rank = (int)strlen(letters)};
    int64_t stride[GRAPH_MAX_RANK];
    for (int i = 0; i < shape.rank; i++) {
        int d = (int)(strchr(term->letters, letters[i]) - term->letters);
        shape.dim[i] = term->t->shape.dim[d];
        stride[i] = eval_row_stride(term->t->shape, d);
    }
    if (strcmp(letters, term->letters) == 0)
        return tensor_alias(term->t, term->t->shape);
    Tensor *t = eval_scratch(s->e, s->as, shape);
    if (t)
        eval_copy_strided(term->t, 0, stride, t);
    return t;
}

/* Operand with letters `names`: repeated letters become a diagonal, size 1 is stretched. */
static bool read_operand(const Einsum *s, const Tensor *in, Str names, Term *term)
{
    Shape shape = {0};
    int64_t stride[GRAPH_MAX_RANK] = {0};
    *term = (Term){0};
    for (size_t i = 0; i < names.len; i++) {
        char *seen = strchr(term->letters, names.at[i]);
        int d = seen ? (int)(seen - term->letters) : shape.rank++;
        term->letters[d] = names.at[i];
        shape.dim[d] = s->extent[(int)names.at[i]];
        stride[d] += in->shape.dim[i] == 1 ? 0 : eval_row_stride(in->shape, (int)i);
    }
    Tensor *as = eval_as(s->e, in, s->as);
    term->t = as ? eval_scratch(s->e, s->as, shape) : NULL;
    if (term->t)
        eval_copy_strided(as, 0, stride, term->t);
    tensor_free(as);
    return term->t != NULL;
}

/* Sums away the letters that are not in `wanted`. */
static bool sum_unwanted(const Einsum *s, Term *term, const char *wanted)
{
    enum { RUN = 256 };
    Term out = {0};
    char order[GRAPH_MAX_RANK + 1] = {0};
    Shape shape = {0};
    int n = 0;
    for (const char *c = term->letters; *c; c++)
        if (has(wanted, *c)) {
            out.letters[shape.rank] = order[n++] = *c;
            shape.dim[shape.rank++] = s->extent[(int)*c];
        }
    if (shape.rank == (int)strlen(term->letters))
        return true;
    for (const char *c = term->letters; *c; c++)
        if (!has(wanted, *c))
            order[n++] = *c;
    Tensor *t = arrange(s, term, order);
    out.t = t ? eval_scratch(s->e, s->as, shape) : NULL;
    int64_t len = out.t && out.t->count ? t->count / out.t->count : 0;
    for (int64_t i = 0; out.t && i < out.t->count; i++) {
        double sum = 0, x[RUN];
        for (int64_t k = 0; k < len; k += RUN) {
            int64_t run = len - k < RUN ? len - k : RUN;
            tensor_load_f64(t, i * len + k, 1, run, x);
            sum += eval_sum(x, run);
        }
        tensor_set(out.t, i, sum);
    }
    tensor_free(t);
    tensor_free(term->t);
    *term = out;
    return out.t != NULL;
}

static int64_t extent_of(const Einsum *s, const char *letters)
{
    int64_t n = 1;
    for (; *letters; letters++)
        n *= s->extent[(int)*letters];
    return n;
}

static void append(char *to, char c)
{
    size_t n = strlen(to);
    to[n] = c;
    to[n + 1] = 0;
}

/* Replaces `a` by its product with `b`; `wanted` are the letters needed afterwards. */
static bool join(const Einsum *s, Term *a, Term *b, const char *wanted)
{
    enum { BOTH = 2 * GRAPH_MAX_RANK + 1 };
    char batch[BOTH] = {0}, row[BOTH] = {0}, col[BOTH] = {0}, sum[BOTH] = {0};
    for (const char *c = a->letters; *c; c++)
        append(!has(b->letters, *c) ? row : has(wanted, *c) ? batch : sum, *c);
    for (const char *c = b->letters; *c; c++)
        if (!has(a->letters, *c))
            append(col, *c);
    char left[2 * BOTH], right[2 * BOTH], both[3 * BOTH];
    Buf text = {0};
    buf_printf(&text, "%s%s%s", batch, row, sum);
    memcpy(left, text.at, text.len + 1);
    buf_clear(&text);
    buf_printf(&text, "%s%s%s", batch, col, sum);
    memcpy(right, text.at, text.len + 1);
    buf_clear(&text);
    buf_printf(&text, "%s%s%s", batch, row, col);
    memcpy(both, text.at, text.len + 1);
    buf_free(&text);
    if (strlen(both) > GRAPH_MAX_RANK)
        return eval_fail(s->e, "an intermediate product has more than %d dims", GRAPH_MAX_RANK);
    Term out = {0};
    Shape shape = {0};
    for (const char *c = both; *c; c++) {
        out.letters[shape.rank] = *c;
        shape.dim[shape.rank++] = s->extent[(int)*c];
    }
    Tensor *x = arrange(s, a, left), *y = x ? arrange(s, b, right) : NULL;
    out.t = y ? eval_scratch(s->e, s->as, shape) : NULL;
    int64_t m = extent_of(s, row), n = extent_of(s, col), k = extent_of(s, sum);
    if (out.t)
        eval_matmul(&(EvalMatmul){.dtype = s->as,
                                  .m = m,
                                  .n = n,
                                  .k = k,
                                  .batch = extent_of(s, batch),
                                  .a = x->at,
                                  .b = y->at,
                                  .c = out.t->at,
                                  .a_batch = m * k,
                                  .a_row = k,
                                  .a_col = 1,
                                  .b_batch = n * k,
                                  .b_row = 1,
                                  .b_col = k,
                                  .c_batch = m * n});
    tensor_free(x);
    tensor_free(y);
    tensor_free(a->t);
    *a = out;
    return out.t != NULL;
}

static void find_extents(Einsum *s, Str inputs)
{
    Str names;
    for (uint32_t i = 0; i < s->e->node->n_in && (inputs.len || i == 0); i++) {
        if (!str_next(&inputs, ',', &names))
            names = (Str){0};
        for (size_t c = 0; c < names.len && (int)c < s->e->in[i]->shape.rank; c++) {
            int64_t *have = &s->extent[names.at[c] & 127], size = s->e->in[i]->shape.dim[c];
            *have = *have == 0 || *have == 1 || size != 1 ? size : *have;
        }
    }
}

/* Letters of the result and of the operands still to come. */
static void wanted_after(Str output, Str rest, char *wanted)
{
    size_t n = 0;
    for (size_t i = 0; i < output.len; i++)
        wanted[n++] = output.at[i];
    for (size_t i = 0; i < rest.len && n < 127; i++)
        if (rest.at[i] != ',' && !memchr(wanted, rest.at[i], n))
            wanted[n++] = rest.at[i];
    wanted[n] = 0;
}

static bool contract(Einsum *s, Str inputs, Str output, Term *sum)
{
    Str names = {0}, rest = inputs;
    char wanted[128];
    for (uint32_t i = 0; i < s->e->node->n_in; i++) {
        Term term;
        if (!str_next(&rest, ',', &names))
            names = (Str){0};
        if (!read_operand(s, s->e->in[i], names, &term))
            return false;
        wanted_after(output, rest, wanted);
        if (i == 0) {
            *sum = term;
            if (!sum_unwanted(s, sum, wanted))
                return false;
            continue;
        }
        char beside[256];
        Buf text = {0};
        buf_printf(&text, "%s%s", wanted, sum->letters);
        memcpy(beside, text.at, text.len + 1);
        buf_free(&text);
        bool ok = sum_unwanted(s, &term, beside) && join(s, sum, &term, wanted) &&
                  sum_unwanted(s, sum, wanted);
        tensor_free(term.t);
        if (!ok)
            return false;
    }
    return sum->t != NULL;
}

bool eval_op_EINSUM(EvalNode *e)
{
    Einsum s = {.e = e, .as = eval_compute_dtype(e->out[0]->dtype)};
    Str inputs, output;
    if (!node_equation(e->node, &inputs, &output) || inputs.len + output.len > 98)
        return eval_fail(e, "the equation is not in explicit form, or too long");
    find_extents(&s, inputs);
    Term sum = {0};
    char letters[GRAPH_MAX_RANK + 1] = {0};
    memcpy(letters, output.at, output.len < GRAPH_MAX_RANK ? output.len : GRAPH_MAX_RANK);
    Tensor *out = contract(&s, inputs, output, &sum) ? arrange(&s, &sum, letters) : NULL;
    Tensor *as = out ? eval_as(e, out, e->out[0]->dtype) : NULL;
    tensor_free(sum.t);
    tensor_free(out);
    if (!as)
        return false;
    tensor_free(e->out[0]);
    e->out[0] = as;
    return true;
}
