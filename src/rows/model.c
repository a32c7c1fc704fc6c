/* A graph as a PyTorch model file in KernelBench's form. In: a graph, how its sizes are written. Out: text
 * that the reader reads back to the same graph.
 *
 *     batch = 16
 *
 *     class Model(nn.Module):
 *         def forward(self, x, y):
 *             a = torch.tanh(x)
 *             return a * y
 *
 *     def get_inputs():
 *         return [torch.randn(batch, 1000), torch.randn(1000)]
 */
#include "rows/model_int.h"

#include <string.h>

static const char *const unary_text[UNARY_COUNT] = {
#define UNARY(kind, text, guard, often) [UNARY_##kind] = text,
#include "rows/spell.def"
#undef UNARY
};
static const char *const binary_text[BINARY_COUNT] = {
#define BINARY(kind, text, guard, often) [BINARY_##kind] = text,
#include "rows/spell.def"
#undef BINARY
};
static const char *const reduce_text[REDUCE_COUNT] = {
#define REDUCED(kind, text, often) [REDUCE_##kind] = text,
#include "rows/spell.def"
#undef REDUCED
};

const char *model_number(Arena *arena, double number)
{
    Buf out = {0};
    buf_double(&out, number);
    if (!strpbrk(out.at, ".en"))
        buf_puts(&out, ".0");
    char *text = buf_take(&out, arena);
    buf_free(&out);
    return text;
}

const char *model_operand(Writer *w, const Node *node, uint32_t i)
{
    if (i >= node->n_in || node->in[i] == VALUE_NONE)
        return NULL;
    const Value *v = graph_value(w->g, node->in[i]);
    if (v->kind == VALUE_CONST && !v->shape.rank && v->dtype == DT_I64)
        return str_format(w->arena, "%lld", (long long)dtype_load(v->dtype, v->data, 0));
    if (v->kind == VALUE_CONST)
        return v->shape.rank ? NULL : model_number(w->arena, dtype_load(v->dtype, v->data, 0));
    return w->name[node->in[i]];
}

const char *model_bracketed(Writer *w, const Node *node, uint32_t i)
{
    const char *text = model_operand(w, node, i);
    bool number = graph_value(w->g, node->in[i])->kind == VALUE_CONST;
    return text && !number && w->infix[node->in[i]] ? str_format(w->arena, "(%s)", text) : text;
}

/* "$0 + $1" with operands and attributes put in. */
static const char *filled(Writer *w, const char *form, const Node *node)
{
    Buf out = {0};
    bool call = strchr(form, '(') != NULL;
    for (const char *c = form; *c; c++) {
        if (*c != '$') {
            buf_char(&out, *c);
            continue;
        }
        c++;
        const char *text = *c == 'a'   ? model_number(w->arena, node_float(node, AT_A, 0))
                           : *c == 'b' ? model_number(w->arena, node_float(node, AT_B, 0))
                           : *c == 'c' ? model_number(w->arena, node_float(node, AT_C, 0))
                           : call      ? model_operand(w, node, (uint32_t)(*c - '0'))
                                       : model_bracketed(w, node, (uint32_t)(*c - '0'));
        w->failed = w->failed || !text;
        buf_puts(&out, text ? text : "");
    }
    char *text = buf_take(&out, w->arena);
    buf_free(&out);
    return text;
}

/* "torch.tanh($0)" or "$0.tanh()". */
static const char *unary_form(Writer *w, const Node *node)
{
    const char *form = unary_text[node->kind];
    Str all = str_from(form ? form : "");
    if (!form || !(w->wording & WORD_METHODS) || !str_starts(all, "torch.") ||
        !str_ends(all, "($0)") || node->in[0] == VALUE_NONE || w->infix[node->in[0]])
        return form;
    return str_format(w->arena, "$0.%.*s()", (int)(all.len - 10), form + 6);
}

static int64_t dim_text(const Writer *w, int64_t dim, int rank)
{
    return w->wording & WORD_NEGATIVE ? dim - rank : dim;
}

static const char *dims_text(Writer *w, const Attr *dims, int rank)
{
    Buf out = {0};
    uint32_t n = dims ? dims->ints.len : 0;
    buf_puts(&out, n == 1 ? "" : "(");
    for (uint32_t i = 0; i < n; i++)
        buf_printf(&out, "%s%lld", i ? ", " : "", (long long)dim_text(w, dims->ints.at[i], rank));
    buf_puts(&out, n == 1 ? "" : ")");
    char *text = buf_take(&out, w->arena);
    buf_free(&out);
    return text;
}

const char *model_list(Writer *w, const Attr *list)
{
    Buf out = {0};
    for (uint32_t i = 0; list && i < list->ints.len; i++)
        buf_printf(&out, "%s%lld", i ? ", " : "", (long long)list->ints.at[i]);
    char *text = buf_take(&out, w->arena);
    buf_free(&out);
    return text ? text : "";
}

static const char *reduced_text(Writer *w, const Node *node)
{
    int rank = graph_value(w->g, node->in[0])->shape.rank;
    const char *method = reduce_text[node->kind];
    if (!method)
        return NULL;
    bool spread = node->kind == REDUCE_var || node->kind == REDUCE_std;
    const char *of = model_bracketed(w, node, 0);
    if (node->kind == REDUCE_norm)
        method = str_format(w->arena, "norm(p=%s",
                            model_number(w->arena, node_float(node, AT_P, 2)));
    if (!node_attr(node, AT_DIMS)) /* all */
        return node->kind == REDUCE_norm  ? str_format(w->arena, "%s.%s)", of, method)
               : node->kind == REDUCE_max ? str_format(w->arena, "torch.max(%s)", of)
               : node->kind == REDUCE_min ? str_format(w->arena, "torch.min(%s)", of)
                                          : str_format(w->arena, "%s.%s()", of, method);
    if (node->kind == REDUCE_norm)
        return str_format(w->arena, "%s.%s, dim=%s%s)", of, method,
                          dims_text(w, node_attr(node, AT_DIMS), rank),
                          node_bool(node, AT_KEEPDIM) ? ", keepdim=True" : "");
    return str_format(
        w->arena, "%s.%s(dim=%s%s%s)", of, method, dims_text(w, node_attr(node, AT_DIMS), rank),
        node_bool(node, AT_KEEPDIM) ? ", keepdim=True" : "", spread ? ", unbiased=False" : "");
}

static const char *slice_text(Writer *w, const Node *node)
{
    Shape shape = graph_value(w->g, node->in[0])->shape;
    int64_t dim = node_int(node, AT_DIM, 0), n = shape.dim[dim];
    int64_t start = node_int(node, AT_START, 0), end = node_int(node, AT_END, n);
    int64_t step = node_int(node, AT_STEP, 1);
    if (step == 1 && n % 2 == 0 && end - start == n / 2 && (start == 0 || end == n))
        return str_format(w->arena, "torch.chunk(%s, 2, dim=%lld)[%d]", model_operand(w, node, 0),
                          (long long)dim, start != 0);
    Buf out = {0};
    buf_printf(&out, "%s[", model_bracketed(w, node, 0));
    for (int64_t i = 0; i < dim; i++)
        buf_puts(&out, ":, ");
    if (start)
        buf_printf(&out, "%lld", (long long)start);
    buf_char(&out, ':');
    if (end < n)
        buf_printf(&out, "%lld", (long long)(end - n));
    if (step > 1)
        buf_printf(&out, ":%lld", (long long)step);
    buf_char(&out, ']');
    char *text = buf_take(&out, w->arena);
    buf_free(&out);
    return text;
}

/* Axis `at` of `few` is axes `at` and `at + 1` of `many`, and the others are the same; -1: none is. */
static int split_axis(Shape few, Shape many)
{
    for (int at = 0; at < few.rank && many.rank == few.rank + 1; at++) {
        bool same = few.dim[at] == many.dim[at] * many.dim[at + 1];
        for (int i = 0; i < few.rank && same; i++)
            same = i == at || few.dim[i] == many.dim[i < at ? i : i + 1];
        if (same)
            return at;
    }
    return -1;
}

/* One axis in two, or two in one. */
static const char *reshape_text(Writer *w, const Node *node)
{
    Shape from = graph_value(w->g, node->in[0])->shape, to = graph_value(w->g, node->out)->shape;
    int joined = split_axis(to, from), at = split_axis(from, to);
    if (joined >= 0)
        return str_format(w->arena, "torch.flatten(%s, %d, %d)", model_operand(w, node, 0), joined,
                          joined + 1);
    if (at < 0)
        return NULL;
    bool inner = to.dim[at] > to.dim[at + 1]; /* the smaller factor is the one that is named */
    return inner ? str_format(w->arena, "%s.unflatten(%d, (-1, %lld))", model_bracketed(w, node, 0),
                              at, (long long)to.dim[at + 1])
                 : str_format(w->arena, "%s.unflatten(%d, (%lld, -1))", model_bracketed(w, node, 0),
                              at, (long long)to.dim[at]);
}

static const char *dtype_text(DType dtype)
{
    return dtype == DT_F16    ? "torch.float16"
           : dtype == DT_BF16 ? "torch.bfloat16"
           : dtype == DT_I32  ? "torch.int32"
                              : "torch.float32";
}

static const char *cat_text(Writer *w, const Node *node)
{
    Buf out = {0};
    buf_puts(&out, "torch.cat([");
    for (uint32_t i = 0; i < node->n_in; i++)
        buf_printf(&out, "%s%s", i ? ", " : "", model_operand(w, node, i));
    buf_printf(&out, "], dim=%lld)", (long long)node_int(node, AT_DIM, 0));
    char *text = buf_take(&out, w->arena);
    buf_free(&out);
    return text;
}

static const char *view_text(Writer *w, const Node *node)
{
    const char *x = model_operand(w, node, 0), *object = model_bracketed(w, node, 0);
    const Attr *dims = node_attr(node, AT_DIMS), *shape = node_attr(node, AT_SHAPE);
    switch (node->op) {
    case OP_RESHAPE: return reshape_text(w, node);
    case OP_PERMUTE: return str_format(w->arena, "%s.permute(%s)", object, model_list(w, dims));
    case OP_SLICE: return slice_text(w, node);
    case OP_CAT: return cat_text(w, node);
    case OP_FLIP: return str_format(w->arena, "torch.flip(%s, [%s])", x, model_list(w, dims));
    case OP_ROLL:
        return str_format(w->arena, "torch.roll(%s, %s, dims=%s)", x, model_list(w, shape),
                          model_list(w, dims));
    case OP_REPEAT: return str_format(w->arena, "%s.repeat(%s)", object, model_list(w, shape));
    case OP_PAD: {
        const Attr *mode = node_attr(node, AT_MODE);
        return str_format(w->arena, "F.pad(%s, (%s)%s)", x, model_list(w, node_attr(node, AT_PADS)),
                          str_is(mode->text, "constant")
                              ? ""
                              : str_format(w->arena, ", mode=\"%.*s\"", STR_ARG(mode->text)));
    }
    case OP_UNFOLD:
        return str_format(
            w->arena, "%s.unfold(%lld, %lld, %lld)", object, (long long)node_int(node, AT_DIM, 0),
            (long long)node_int(node, AT_SIZE, 1), (long long)node_int(node, AT_STEP, 1));
    default: return model_wide(w, node);
    }
}

/* ", weight, bias", of those that are there. */
static const char *affine_text(Writer *w, const Node *node, uint32_t first)
{
    const char *weight = model_operand(w, node, first), *bias = model_operand(w, node, first + 1);
    return !weight ? ""
           : !bias ? str_format(w->arena, ", weight=%s", weight)
                   : str_format(w->arena, ", weight=%s, bias=%s", weight, bias);
}

static const char *norm_text(Writer *w, const Node *node)
{
    const char *x = model_operand(w, node, 0), *of = model_bracketed(w, node, 0);
    const char *eps = model_number(w->arena, node_float(node, AT_EPS, 1e-5));
    const Attr *shape = node_attr(node, AT_SHAPE);
    const char *affine = affine_text(w, node, node->op == OP_BATCH_NORM ? 3 : 1);
    switch (node->op) {
    case OP_LAYER_NORM:
    case OP_RMS_NORM:
        return str_format(w->arena, "F.%s_norm(%s, %s.shape[-%u:]%s, eps=%s)",
                          node->op == OP_LAYER_NORM ? "layer" : "rms", x, of, shape->ints.len,
                          affine, eps);
    case OP_BATCH_NORM:
        return str_format(w->arena, "F.batch_norm(%s, None, None%s, training=True, eps=%s)", x,
                          affine, eps);
    case OP_INSTANCE_NORM:
        return str_format(w->arena, "F.instance_norm(%s%s, eps=%s)", x, affine, eps);
    default:
        return str_format(w->arena, "F.group_norm(%s, %lld%s, eps=%s)", x,
                          (long long)node_int(node, AT_GROUPS, 1), affine, eps);
    }
}

static const char *loss_text(Writer *w, const Node *node)
{
    static const char *const calls[LOSS_COUNT] = {
        [LOSS_mse] = "mse_loss",
        [LOSS_l1] = "l1_loss",
        [LOSS_smooth_l1] = "smooth_l1_loss",
        [LOSS_huber] = "huber_loss",
        [LOSS_kl_div] = "kl_div",
        [LOSS_soft_margin] = "soft_margin_loss",
        [LOSS_bce] = "binary_cross_entropy",
        [LOSS_bce_logits] = "binary_cross_entropy_with_logits",
        [LOSS_poisson_nll] = "poisson_nll_loss",
        [LOSS_hinge_embedding] = "hinge_embedding_loss"};
    const char *a = model_number(w->arena, node_float(node, AT_A, 1));
    const char *bend = node->kind == LOSS_smooth_l1 ? str_format(w->arena, ", beta=%s", a)
                       : node->kind == LOSS_huber   ? str_format(w->arena, ", delta=%s", a)
                                                    : "";
    const Attr *reduction = node_attr(node, AT_REDUCTION);
    return !calls[node->kind]
               ? NULL
               : str_format(w->arena, "F.%s(%s, %s, reduction=\"%.*s\"%s)", calls[node->kind],
                            model_operand(w, node, 0), model_operand(w, node, 1),
                            STR_ARG(reduction->text), bend);
}

/* Likeness and distance of rows, and the losses that are made of them. */
static const char *distance_text(Writer *w, const Node *node)
{
    const char *x = model_operand(w, node, 0), *y = model_operand(w, node, 1),
               *z = model_operand(w, node, 2);
    const char *p = model_number(w->arena, node_float(node, AT_P, 2));
    const char *eps = model_number(w->arena, node_float(node, AT_EPS, 1e-6));
    if (node->op == OP_COSINE_SIMILARITY)
        return str_format(w->arena, "F.cosine_similarity(%s, %s, dim=%lld, eps=%s)", x, y,
                          (long long)node_int(node, AT_DIM, 1), eps);
    if (node->op == OP_PAIRWISE_DISTANCE)
        return str_format(w->arena, "F.pairwise_distance(%s, %s, p=%s%s)", x, y, p,
                          node_bool(node, AT_KEEPDIM) ? ", keepdim=True" : "");
    return str_format(w->arena,
                      "F.triplet_margin_loss(%s, %s, %s, margin=%s, p=%s, reduction=\"%.*s\")", x,
                      y, z, model_number(w->arena, node_float(node, AT_MARGIN, 1)), p,
                      STR_ARG(node_attr(node, AT_REDUCTION)->text));
}

static const char *pick_text(Writer *w, const Node *node)
{
    const char *x = model_operand(w, node, 0), *index = model_operand(w, node, 1);
    long long dim = (long long)node_int(node, AT_DIM, 0);
    switch (node->op) {
    case OP_INDEX_SELECT:
        return str_format(w->arena, "torch.index_select(%s, %lld, %s)", x, dim, index);
    case OP_EMBEDDING: return str_format(w->arena, "F.embedding(%s, %s)", index, x);
    case OP_GATHER: return str_format(w->arena, "torch.gather(%s, %lld, %s)", x, dim, index);
    default:
        return str_format(w->arena, "F.cross_entropy(%s, %s, reduction=\"%.*s\")", x, index,
                          STR_ARG(node_attr(node, AT_REDUCTION)->text));
    }
}

static const char *three_text(Writer *w, const Node *node)
{
    const char *x = model_operand(w, node, 0), *y = model_operand(w, node, 1),
               *z = model_operand(w, node, 2);
    if (node->op == OP_LERP)
        return str_format(w->arena, "torch.lerp(%s, %s, %s)", x, y, z);
    return str_format(w->arena, "torch.addc%s(%s, %s, %s, value=%s)",
                      node->op == OP_ADDCMUL ? "mul" : "div", x, y, z,
                      model_number(w->arena, node_float(node, AT_VALUE, 1)));
}

static const char *clamp_text(Writer *w, const Node *node)
{
    const char *low = model_operand(w, node, 1), *high = model_operand(w, node, 2);
    return str_format(w->arena, "torch.clamp(%s%s%s%s%s)", model_operand(w, node, 0),
                      low ? ", min=" : "", low ? low : "", high ? ", max=" : "", high ? high : "");
}

static const char *node_text_of(Writer *w, const Node *node)
{
    const char *x = model_operand(w, node, 0);
    switch (node->op) {
    case OP_UNARY: {
        const char *form = unary_form(w, node);
        if (node->kind == UNARY_gelu && node_attr(node, AT_APPROX))
            return str_format(w->arena, "F.gelu(%s, approximate=\"tanh\")", x);
        return form ? filled(w, form, node) : NULL;
    }
    case OP_BINARY:
        return binary_text[node->kind] ? filled(w, binary_text[node->kind], node) : NULL;
    case OP_CLAMP: return clamp_text(w, node);
    case OP_WHERE:
        return str_format(w->arena, "torch.where(%s, %s, %s)", x, model_operand(w, node, 1),
                          model_operand(w, node, 2));
    case OP_CAST:
        return str_format(w->arena, "%s.to(%s)", model_bracketed(w, node, 0),
                          dtype_text(node_dtype(node, AT_DTYPE, DT_F32)));
    case OP_REDUCE: return reduced_text(w, node);
    case OP_SOFTMAX:
        return str_format(w->arena, "torch.%ssoftmax(%s, dim=%lld)",
                          node_bool(node, AT_LOG) ? "log_" : "", x,
                          (long long)dim_text(w, node_int(node, AT_DIM, 0),
                                              graph_value(w->g, node->out)->shape.rank));
    case OP_LAYER_NORM:
    case OP_RMS_NORM:
    case OP_BATCH_NORM:
    case OP_INSTANCE_NORM:
    case OP_GROUP_NORM: return norm_text(w, node);
    case OP_LERP:
    case OP_ADDCMUL:
    case OP_ADDCDIV: return three_text(w, node);
    case OP_LOSS: return loss_text(w, node);
    case OP_COSINE_SIMILARITY:
    case OP_PAIRWISE_DISTANCE:
    case OP_TRIPLET_LOSS: return distance_text(w, node);
    case OP_INDEX_SELECT:
    case OP_EMBEDDING:
    case OP_GATHER:
    case OP_CROSS_ENTROPY: return pick_text(w, node);
    case OP_REDUCE_INDEX:
        return str_format(
            w->arena, "torch.%s(%s, dim=%s%s)[0]", node->kind == REDUCE_max ? "max" : "min", x,
            dims_text(w, node_attr(node, AT_DIMS), graph_value(w->g, node->in[0])->shape.rank),
            node_bool(node, AT_KEEPDIM) ? ", keepdim=True" : "");
    case OP_SCAN:
        if (node->kind != SCAN_sum && node->kind != SCAN_prod)
            return model_wide(w, node);
        return str_format(w->arena, "torch.cum%s(%s, dim=%lld)",
                          node->kind == SCAN_sum ? "sum" : "prod", x,
                          (long long)node_int(node, AT_DIM, 0));
    case OP_TRI:
        return str_format(w->arena, "torch.tri%s(%s, diagonal=%lld)",
                          node_bool(node, AT_UPPER) ? "u" : "l", x,
                          (long long)node_int(node, AT_DIAGONAL, 0));
    default: return view_text(w, node);
    }
}

static bool is_infix(const Node *node)
{
    const char *text = node->op == OP_BINARY  ? binary_text[node->kind]
                       : node->op == OP_UNARY ? unary_text[node->kind]
                                              : NULL;
    if (node->op == OP_MATMUL) /* perhaps x @ y */
        return true;
    return text && !strchr(text, '(');
}

/* A value that is read once may stand where it is read; a norm names its operand twice. */
static bool may_inline(const Writer *w, const Node *node, const char *text)
{
    if (!(w->wording & WORD_INLINE) || graph_readers(w->g, model_result(w->g, node)) != 1 ||
        graph_is_output(w->g, model_result(w->g, node)) || strlen(text) > INLINE_MOST)
        return false;
    for (uint32_t i = 0; i < w->g->nodes.len; i++) {
        const Node *n = &w->g->nodes.at[i];
        if ((n->op == OP_LAYER_NORM || n->op == OP_RMS_NORM) &&
            n->in[0] == model_result(w->g, node))
            return false;
    }
    return true;
}

static bool is_input(const Writer *w, const char *name)
{
    for (uint32_t i = 0; i < w->g->inputs.len; i++)
        if (!strcmp(graph_value(w->g, w->g->inputs.at[i])->name, name))
            return true;
    return false;
}

static void put_node(Writer *w, const Node *node)
{
    static const char *const letters = "abcdefghijklmnopqr";
    const char *text = node_text_of(w, node);
    if (!text) {
        w->failed = true;
        return;
    }
    ValueId out = model_result(w->g, node);
    w->infix[out] = false;
    if (may_inline(w, node, text)) {
        w->infix[out] = is_infix(node);
        w->name[out] = text;
        return;
    }
    do {
        uint32_t k = w->next++;
        w->name[out] = k < 18 ? str_format(w->arena, "%c", letters[k])
                              : str_format(w->arena, "t%u", k);
    } while (is_input(w, w->name[out]));
    buf_printf(&w->body, "        %s = %s\n", w->name[out], text);
}

static void put_sizes(const Value *v, const char *const *text, Buf *out)
{
    for (int k = 0; k < v->shape.rank; k++)
        if (text)
            buf_printf(out, "%s%s", k ? ", " : "", text[k]);
        else
            buf_printf(out, "%s%lld", k ? ", " : "", (long long)v->shape.dim[k]);
}

/* torch.randn(batch, 1000), or integers below a size, or booleans. */
static void put_input(const Value *v, const char *const *sizes, const char *below, Buf *out)
{
    bool integers = v->dtype == DT_I64 || v->dtype == DT_I32;
    if (integers)
        buf_printf(out, "torch.randint(0, %s, (", below ? below : "2");
    else
        buf_puts(out, v->shape.rank ? "torch.randn(" : "torch.randn(()");
    put_sizes(v, sizes, out);
    if (integers)
        buf_puts(out, v->dtype == DT_I32 ? ",), dtype=torch.int32" : ",)");
    else if (v->dtype != DT_F32 && v->dtype != DT_BOOL)
        buf_printf(out, ", dtype=%s", dtype_text(v->dtype));
    buf_puts(out, v->dtype == DT_BOOL ? ") > 0" : ")");
}

static void put_inputs(Writer *w, const ModelDims *dims, Buf *out)
{
    buf_puts(out, "\n\ndef get_inputs():\n    return [");
    for (uint32_t i = 0; i < w->g->inputs.len; i++) {
        buf_puts(out, i ? ", " : "");
        put_input(graph_value(w->g, w->g->inputs.at[i]), dims->of[i], dims->below[i], out);
    }
    buf_puts(out, "]\n\n\ndef get_init_inputs():\n    return []\n");
}

static void put_forward(Writer *w, const ModelDims *dims, Buf *out)
{
    buf_puts(out, "\n\nclass Model(nn.Module):\n    def forward(self");
    for (uint32_t i = 0; i < w->g->inputs.len; i++)
        buf_printf(out, ", %s", graph_value(w->g, w->g->inputs.at[i])->name);
    buf_puts(out, "):\n");
    rows_put_pins(w->g, dims->pins, dims->n_pins, "        ", out);
    buf_str(out, buf_view(&w->body));
    buf_puts(out, "        return ");
    for (uint32_t i = 0; i < w->g->outputs.len; i++)
        buf_printf(out, "%s%s", i ? ", " : "", w->name[w->g->outputs.at[i]]);
}

bool model_write(Arena *arena, const Graph *graph, const ModelDims *dims, uint64_t wording,
                 Buf *out)
{
    Writer w = {.arena = arena, .g = graph, .wording = wording};
    w.name = arena_array(arena, const char *, graph->values.len + 1);
    w.infix = arena_array(arena, bool, graph->values.len + 1);
    for (uint32_t i = 0; i < graph->inputs.len; i++)
        w.name[graph->inputs.at[i]] = graph_value(graph, graph->inputs.at[i])->name;
    for (uint32_t i = 0; i < graph->nodes.len && !w.failed; i++)
        put_node(&w, &graph->nodes.at[i]);
    buf_puts(out, "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n");
    for (uint32_t i = 0; i < dims->n_knobs; i++)
        buf_printf(out, "%s = %lld\n", dims->knobs[i].name, (long long)dims->knobs[i].value);
    if (!w.failed) {
        put_forward(&w, dims, out);
        put_inputs(&w, dims, out);
    }
    buf_free(&w.body);
    return !w.failed;
}
