/* An elementwise job of integers that need 64 bits. In: its values with their places. Out: a loop nest
 * of load, compute and store whose elements the scalar unit computes one after the other: slow, exact. */
#include "gen/plan/elementwise_lines.h"

#include "graph/bounds.h"
#include <math.h>

/* A value of one element: the scalar that holds it, or a number. */
typedef struct Wide {
    const char *text;
    bool truth; /* a bool */
    bool real;  /* an f32 */
} Wide;

typedef struct WideBody {
    EachBody b;
    Arena *arena;
    Wide *at; /* per use of the job */
    Buf before, each;
} WideBody;

static const char *text(WideBody *w, const char *format, ...) ATTR_PRINTF(2, 3);
static const char *text(WideBody *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *made = str_vformat(w->arena, format, args);
    va_end(args);
    return made;
}

static void refuse_int64(WideBody *w, const Node *node)
{
    const char *kind = node_kind_name(node);
    if (!w->b.buffers->failed)
        diag_error(w->b.p->e->diag, "G001", node->at,
                   "the planner cannot plan %s%s%s yet where integers need 64 bits",
                   op_rows[node->op].name, *kind ? "." : "", kind);
    w->b.buffers->failed = true;
}

/* ---- leaves ---- */

static Wide number(WideBody *w, const Value *v)
{
    if (v->dtype == DT_I64)
        return (Wide){.text = text(w, "%lld", (long long)*(const int64_t *)v->data)};
    double x = dtype_load(v->dtype, v->data, 0);
    if (dtype_is_float(v->dtype))
        return (Wide){.text = text(w, "%#.9g", x), .real = true};
    return (Wide){.text = text(w, "%lld", (long long)x)};
}

static Wide leaf(WideBody *w, const EachUse *use)
{
    EachBody *b = &w->b;
    const Value *v = graph_value(b->p->e->g, use->value);
    const EachTensor *t = elementwise_tensor(b->p, use->value, false);
    bool tile = false;
    if (!t)
        return number(w, v);
    const char *at = elementwise_index(b, use, t, &tile);
    Wide is = {.truth = v->dtype == DT_BOOL, .real = dtype_is_float(v->dtype)};
    if (!tile) {
        is.text = text(w, "s%u_%u", b->number, b->scalars++);
        b->depth = 1;
        elementwise_put(b, &b->reads, "%s = %s[%s]", is.text, t->name, at);
        return is;
    }
    int slot = elementwise_take(b, 'a', v->dtype, 2);
    b->depth = 2;
    elementwise_put(b, &b->loads, "load(%s, %s[%s])", elementwise_view(b, slot), t->name, at);
    if (is.truth) {
        int plain = elementwise_take(b, 'k', DT_I32, 1);
        elementwise_put(b, &w->before, "%s = where(%s != 0, 1, 0)", elementwise_view(b, plain),
                        elementwise_view(b, slot));
        slot = plain;
    }
    is.text = text(w, is.truth ? "(%s[k] != 0)" : "%s[k]", b->buffers->at[slot].name);
    return is;
}

/* ---- nodes ---- */

static const char *as_integer(WideBody *w, Wide x)
{
    return x.truth ? text(w, "(1 if %s else 0)", x.text) : x.text;
}

static const char *as_truth(WideBody *w, Wide x)
{
    return x.truth ? x.text : text(w, "(%s != 0)", x.text);
}

/* How many bits hold both, the sign apart. */
static int bits_of(const Value *a, const Value *b)
{
    const Value *both[] = {a, b};
    double most = 0;
    for (int i = 0; i < 2; i++) {
        if (!both[i]->bounds.known)
            return 62;
        most = fmax(most, fmax(fabs(both[i]->bounds.low), fabs(both[i]->bounds.high)));
    }
    int bits = (int)ceil(log2(most + 1));
    return bits > 62 ? 62 : bits < 1 ? 1 : bits;
}

static bool is_low_mask(const Value *v, int *bits)
{
    double x = v->bounds.known && v->bounds.low == v->bounds.high ? v->bounds.low + 1 : 0;
    *bits = x >= 2 && x <= 0x1p62 ? (int)log2(x) : 0;
    return *bits && x == ldexp(1, *bits);
}

/* & | ^: the last bits by a remainder, else bit by bit. */
static const char *bits_form(WideBody *w, const Node *node, const char *x, const char *y)
{
    const Graph *g = w->b.p->e->g;
    const Value *b = graph_value(g, node->in[1]);
    int bits = 0;
    if (node->kind == BINARY_bitwise_and && is_low_mask(b, &bits))
        return text(w, "%s %% %lld", x, 1LL << bits);
    return text(w, "%s_bits(%s, %s, %d)",
                node->kind == BINARY_bitwise_and  ? "and"
                : node->kind == BINARY_bitwise_or ? "or"
                                                  : "xor",
                x, y, bits_of(graph_value(g, node->in[0]), b));
}

static const char *shift_form(WideBody *w, const Node *node, const char *x)
{
    const Value *by = graph_value(w->b.p->e->g, node->in[1]);
    if (!by->bounds.known || by->bounds.low != by->bounds.high || !bounds_within(by, 0, 62))
        return NULL;
    return text(w, "%s %s %lld", x, node->kind == BINARY_shift_left ? "*" : "//",
                1LL << (int)by->bounds.low);
}

static const char *binary_form(WideBody *w, const Node *node, Wide a, Wide b, bool *truth)
{
    static const char *const compares[] = {
        [BINARY_eq] = "==", [BINARY_ne] = "!=", [BINARY_lt] = "<",
        [BINARY_le] = "<=", [BINARY_gt] = ">",  [BINARY_ge] = ">="};
    const char *x = as_integer(w, a), *y = as_integer(w, b);
    const char *quotient = text(w, "(%s // %s + (1 if %s %% %s != 0 and %s // %s < 0 else 0))", x,
                                y, x, y, x, y);
    *truth = true;
    switch (node->kind) {
    case BINARY_eq:
    case BINARY_ne:
    case BINARY_lt:
    case BINARY_le:
    case BINARY_gt:
    case BINARY_ge: return text(w, "%s %s %s", x, compares[node->kind], y);
    case BINARY_logical_and: return text(w, "%s and %s", as_truth(w, a), as_truth(w, b));
    case BINARY_logical_or: return text(w, "%s or %s", as_truth(w, a), as_truth(w, b));
    default: break;
    }
    *truth = false;
    switch (node->kind) {
    case BINARY_add: return text(w, "%s + %s", x, y);
    case BINARY_sub: return text(w, "%s - %s", x, y);
    case BINARY_mul: return text(w, "%s * %s", x, y);
    case BINARY_floor_div: return text(w, "%s // %s", x, y);
    case BINARY_remainder: return text(w, "%s %% %s", x, y);
    case BINARY_trunc_div: return quotient;
    case BINARY_fmod: return text(w, "%s - %s * %s", x, y, quotient);
    case BINARY_maximum: return text(w, "max(%s, %s)", x, y);
    case BINARY_minimum: return text(w, "min(%s, %s)", x, y);
    case BINARY_bitwise_and:
    case BINARY_bitwise_or:
    case BINARY_bitwise_xor: return bits_form(w, node, x, y);
    case BINARY_shift_left:
    case BINARY_shift_right: return shift_form(w, node, x);
    default: return NULL;
    }
}

static const char *unary_form(WideBody *w, const Node *node, Wide a, bool *truth)
{
    const char *x = as_integer(w, a);
    *truth = node->kind == UNARY_logical_not;
    switch (node->kind) {
    case UNARY_logical_not: return text(w, "not %s", as_truth(w, a));
    case UNARY_neg: return text(w, "0 - %s", x);
    case UNARY_abs: return text(w, "abs(%s)", x);
    case UNARY_square: return text(w, "%s * %s", x, x);
    case UNARY_relu: return text(w, "max(%s, 0)", x);
    case UNARY_sign: return text(w, "min(max(%s, -1), 1)", x);
    case UNARY_bitwise_not: return text(w, "0 - %s - 1", x);
    default: return NULL;
    }
}

/* Narrower integers wrap. */
static const char *cast_form(WideBody *w, const Value *from, DType to, Wide a, bool *truth)
{
    int bits = to == DT_I64 ? 64 : (int)dtype_bytes(to) * 8;
    const char *x = as_integer(w, a);
    double low = to == DT_U8 ? 0 : -ldexp(1, bits - 1);
    double high = to == DT_U8 ? 255 : ldexp(1, bits - 1) - 1;
    *truth = to == DT_BOOL;
    if (to == DT_BOOL)
        return as_truth(w, a);
    if (dtype_is_float(to))
        return text(w, "f32(%s)", x);
    if (bits == 64 || bounds_within(from, low, high))
        return x;
    if (to == DT_U8)
        return text(w, "%s %% 256", x);
    long long half = 1LL << (bits - 1);
    return text(w, "(%s + %lld) %% %lld - %lld", x, half, 2 * half, half);
}

static const char *clamp_form(WideBody *w, const Node *node, const Wide *in)
{
    const char *x = as_integer(w, in[0]);
    if (node->in[1] != VALUE_NONE)
        x = text(w, "max(%s, %s)", x, as_integer(w, in[1]));
    return node->in[2] != VALUE_NONE ? text(w, "min(%s, %s)", x, as_integer(w, in[2])) : x;
}

static const char *where_form(WideBody *w, const Wide *in)
{
    return text(w, "%s if %s else %s", as_integer(w, in[1]), as_truth(w, in[0]),
                as_integer(w, in[2]));
}

static Wide node_of(WideBody *w, const Node *node, const EachUse *use)
{
    const Graph *g = w->b.p->e->g;
    Wide in[3] = {{0}}, is = {0};
    const char *form = NULL;
    bool reals = false;
    for (uint32_t i = 0; i < node->n_in && i < 3; i++)
        if (node->in[i] != VALUE_NONE) {
            in[i] = w->at[use->in[i]];
            reals = reals || in[i].real;
        }
    DType to = graph_value(g, node->out)->dtype;
    switch (node->op) {
    case OP_BINARY: form = binary_form(w, node, in[0], in[1], &is.truth); break;
    case OP_UNARY: form = unary_form(w, node, in[0], &is.truth); break;
    case OP_CLAMP: form = clamp_form(w, node, in); break;
    case OP_WHERE: form = where_form(w, in); break;
    case OP_CAST: form = cast_form(w, graph_value(g, node->in[0]), to, in[0], &is.truth); break;
    case OP_FULL: form = text(w, "%lld", (long long)node_float(node, AT_VALUE, 0)); break;
    default: break;
    }
    is.real = dtype_is_float(to);
    if (!form || reals || (is.real && node->op != OP_CAST) || node_float(node, AT_ALPHA, 1) != 1) {
        refuse_int64(w, node);
        form = "0";
    }
    is.text = text(w, "w%u_%u", w->b.number, w->b.scalars++);
    w->b.depth = 3;
    elementwise_put(&w->b, &w->each, "%s = %s", is.text, form);
    return is;
}

/* ---- results ---- */

static void result(WideBody *w, uint32_t i)
{
    EachBody *b = &w->b;
    EachUse use = elementwise_region(b->p, b->job, i);
    const EachTensor *t = elementwise_tensor(b->p, use.value, true);
    DType dtype = graph_value(b->p->e->g, use.value)->dtype;
    Wide x = w->at[b->job->stored.at[i]];
    bool tile = false;
    const char *at = elementwise_index(b, &use, t, &tile);
    DType held = dtype == DT_I64 ? DT_I64 : dtype_is_float(dtype) ? DT_F32 : DT_I32;
    int out = elementwise_take(b, 'o', dtype, 2),
        own = dtype == held ? out : elementwise_take(b, 'k', held, 1);
    b->depth = 3;
    elementwise_put(b, &w->each, "%s[k] = %s", b->buffers->at[own].name, as_integer(w, x));
    b->depth = 2;
    if (dtype == DT_BOOL)
        elementwise_put(b, &b->steps, "%s = cast(%s != 0, bool)", elementwise_view(b, out),
                        elementwise_view(b, own));
    else if (own != out)
        elementwise_put(b, &b->steps, "%s = cast(%s, %s)", elementwise_view(b, out),
                        elementwise_view(b, own), dtype_name(dtype));
    elementwise_put(b, &b->stores, "store(%s[%s], %s)", t->name, at, elementwise_view(b, out));
    b->buffers->failed = b->buffers->failed || !tile;
}

const char elementwise_int64_helpers[] =
    "\ndef and_bits(x, y, bits):\n"
    "    a = x\n    b = y\n    all = 0\n    bit = 1\n"
    "    for j in range(bits):\n"
    "        all = all + bit * ((a % 2) * (b % 2))\n"
    "        a = a // 2\n        b = b // 2\n        bit = bit * 2\n"
    "    return all - bit * (a * b)\n"
    "\ndef xor_bits(x, y, bits):\n"
    "    return x + y - 2 * and_bits(x, y, bits)\n"
    "\ndef or_bits(x, y, bits):\n"
    "    return x + y - and_bits(x, y, bits)\n";

void elementwise_int64_body(EachPlan *p, uint32_t number, EachBuffers *buffers, Buf *out)
{
    const EachJob *job = &p->e->jobs.at[number];
    WideBody w = {.arena = p->e->arena,
                  .b = {.p = p,
                        .job = job,
                        .axes = &p->axes[number],
                        .buffers = buffers,
                        .out = out,
                        .number = number}};
    w.at = arena_array(w.arena, Wide, job->uses.len + 1);
    for (uint32_t i = 0; i < job->uses.len; i++) {
        const Value *v = graph_value(p->e->g, job->uses.at[i].value);
        w.b.depth = 2;
        w.at[i] = v->kind == VALUE_NODE ? node_of(&w, &p->e->g->nodes.at[v->node], &job->uses.at[i])
                                        : leaf(&w, &job->uses.at[i]);
    }
    for (uint32_t i = 0; i < job->results.len; i++)
        result(&w, i);
    Buf casts = w.b.steps;
    w.b.steps = w.before;
    w.b.depth = 2;
    elementwise_put(&w.b, &w.b.steps, "for k in range(t.size):");
    buf_str(&w.b.steps, buf_view(&w.each));
    buf_str(&w.b.steps, buf_view(&casts));
    elementwise_finish(&w.b);
    buf_free(&w.each);
    buf_free(&casts);
}
