/* einops.rearrange, repeat and reduce: a pattern such as "b (h w) c -> b c h w" becomes a
 * reshape, a permute, an expand or a reduction, and a reshape. */
#include "torch/fn_int.h"

#include <string.h>

enum { MAX_AXES = 16 };

typedef struct Axis {
    Str name;     /* empty: a 1 */
    int64_t size; /* -1: not known yet */
} Axis;

/* One side of the arrow: axes in order, and where groups begin and end. */
typedef struct Side {
    uint32_t n, groups;
    Axis axes[MAX_AXES];
    uint32_t first[MAX_AXES], count[MAX_AXES]; /* of each group (dim of the tensor) */
} Side;

typedef struct E {
    Args *a;
    const CallArgs *call;
    int dots; /* dims that '...' stands for */
} E;

static void add_axis(E *e, Side *side, Str name)
{
    if (side->n == MAX_AXES)
        arg_fail(e->a, "the pattern has too many axes");
    side->axes[side->n++] = (Axis){name, -1};
}

static void open_group(E *e, Side *side)
{
    if (side->groups == MAX_AXES)
        arg_fail(e->a, "the pattern has too many axes");
    side->first[side->groups++] = side->n;
}

static void close_group(Side *side)
{
    side->count[side->groups - 1] = side->n - side->first[side->groups - 1];
}

static Side parse_side(E *e, Str text)
{
    Side side = {0};
    bool inside = false;
    for (size_t i = 0; i < text.len;) {
        char c = text.at[i];
        if (c == '(' || c == ')') {
            if (inside == (c == '('))
                arg_fail(e->a, "the brackets of the pattern do not match");
            inside = c == '(';
            if (inside)
                open_group(e, &side);
            else
                close_group(&side);
            i++;
        } else if (c == ' ') {
            i++;
        } else {
            size_t end = i;
            while (end < text.len && !strchr(" ()", text.at[end]))
                end++;
            Str name = str_slice(text, i, end);
            bool dots = str_is(name, "...");
            for (int k = 0; k < (dots ? e->dots : 1); k++) {
                static const char *const marks[] = {".0", ".1", ".2", ".3", ".4", ".5", ".6", ".7"};
                if (!inside)
                    open_group(e, &side);
                add_axis(e, &side, dots ? str_from(marks[k]) : str_is(name, "1") ? STR("") : name);
                if (!inside)
                    close_group(&side);
            }
            i = end;
        }
    }
    if (inside)
        arg_fail(e->a, "the brackets of the pattern do not match");
    return side;
}

static int64_t given_size(E *e, Str name)
{
    for (uint32_t i = 0; i < e->call->n_kw; i++) {
        if (str_equal(e->call->kw_names[i], name))
            return need_int(e->a->it, e->a->at, e->call->kw[i], "an axis length");
    }
    return -1;
}

/* Sizes of the left axes from the tensor's shape; one per group may be worked out. */
static void solve_left(E *e, Side *left, Shape shape)
{
    if ((int)left->groups != shape.rank)
        arg_fail(e->a, "the pattern names %u dims, the tensor has %d", left->groups, shape.rank);
    for (uint32_t g = 0; g < left->groups; g++) {
        int64_t known = 1;
        Axis *hole = NULL;
        for (uint32_t i = 0; i < left->count[g]; i++) {
            Axis *axis = &left->axes[left->first[g] + i];
            axis->size = axis->name.len ? given_size(e, axis->name) : 1;
            if (axis->size < 0 && hole)
                arg_fail(e->a, "two lengths of one dim are not known");
            if (axis->size < 0)
                hole = axis;
            else if (__builtin_mul_overflow(known, axis->size, &known))
                arg_fail(e->a, "sizes overflow 64 bits");
        }
        if (hole)
            hole->size = known > 0 ? shape.dim[g] / known : 0;
        if (known * (hole ? hole->size : 1) != shape.dim[g])
            arg_fail(e->a, "dim %u of size %lld does not split this way", g,
                     (long long)shape.dim[g]);
    }
}

static int find_axis(const Side *side, Str name)
{
    for (uint32_t i = 0; name.len && i < side->n; i++) {
        if (str_equal(side->axes[i].name, name))
            return (int)i;
    }
    return -1;
}

static Shape axes_shape(E *e, const Side *side)
{
    Shape shape = {.rank = (int)side->n};
    if (side->n > GRAPH_MAX_RANK)
        arg_fail(e->a, "more than %d axes are not supported", GRAPH_MAX_RANK);
    for (uint32_t i = 0; i < side->n; i++)
        shape.dim[i] = side->axes[i].size;
    return shape;
}

static Shape groups_shape(E *e, const Side *side)
{
    Shape shape = {.rank = (int)side->groups};
    if (side->groups > GRAPH_MAX_RANK)
        arg_fail(e->a, "more than %d dims are not supported", GRAPH_MAX_RANK);
    for (uint32_t g = 0; g < side->groups; g++) {
        shape.dim[g] = 1;
        for (uint32_t i = 0; i < side->count[g]; i++) {
            if (__builtin_mul_overflow(shape.dim[g], side->axes[side->first[g] + i].size,
                                       &shape.dim[g]))
                arg_fail(e->a, "sizes overflow 64 bits");
        }
    }
    return shape;
}

/* Axes that the right side lacks are reduced away. */
static ValueId reduce_missing(E *e, ValueId x, Side *left, const Side *right, int kind)
{
    int64_t gone[MAX_AXES];
    uint32_t n = 0, kept = 0;
    for (uint32_t i = 0; i < left->n; i++) {
        if (left->axes[i].name.len && find_axis(right, left->axes[i].name) < 0)
            gone[n++] = i;
        else if (!left->axes[i].name.len)
            gone[n++] = i;
        else
            left->axes[kept++] = left->axes[i];
    }
    left->n = kept;
    if (!n)
        return x;
    if (kind < 0) {
        for (uint32_t i = 0; i < n; i++) {
            if (emit_info(e->a->it, x)->shape.dim[gone[i]] != 1)
                arg_fail(e->a, "an axis stands only on the left");
        }
        return emit_reshape(e->a->it, e->a->at, x, axes_shape(e, left));
    }
    return fn_reduce_id(e->a, kind, x, gone, n, false);
}

/* Brings the kept axes into the right side's order; new ones are expanded from 1. */
static ValueId order_axes(E *e, ValueId x, const Side *left, Side *right)
{
    int64_t dims[MAX_AXES];
    uint32_t n = 0;
    bool moved = false, widened = false;
    for (uint32_t i = 0; i < right->n; i++) {
        Axis *axis = &right->axes[i];
        int from = find_axis(left, axis->name);
        if (from >= 0) {
            axis->size = left->axes[from].size;
            moved = moved || from != (int)n;
            dims[n++] = from;
            continue;
        }
        axis->size = axis->name.len ? given_size(e, axis->name) : 1;
        if (axis->size < 0)
            arg_fail(e->a, "the length of axis '%.*s' is not given", STR_ARG(axis->name));
        widened = true;
    }
    if (n != left->n)
        arg_fail(e->a, "an axis stands only on the left, or twice on the right");
    if (moved) {
        Attrs attrs = {0};
        attrs_ints(&attrs, AT_DIMS, dims, n);
        x = emit1(e->a->it, e->a->at, OP_PERMUTE, 0, x, &attrs);
    }
    if (!widened)
        return x;
    Shape narrow = axes_shape(e, right), wide = narrow;
    for (uint32_t i = 0; i < right->n; i++) {
        if (find_axis(left, right->axes[i].name) < 0)
            narrow.dim[i] = 1;
    }
    x = emit_reshape(e->a->it, e->a->at, x, narrow);
    Attrs attrs = {0};
    attrs_shape(&attrs, AT_SHAPE, &wide);
    return emit1(e->a->it, e->a->at, OP_EXPAND, 0, x, &attrs);
}

static int reduction_kind(Args *a, Str name)
{
    static const struct {
        const char *name;
        int kind;
    } table[] = {{"mean", REDUCE_mean},
                 {"sum", REDUCE_sum},
                 {"max", REDUCE_max},
                 {"min", REDUCE_min},
                 {"prod", REDUCE_prod}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (str_is(name, table[i].name))
            return table[i].kind;
    }
    arg_fail(a, "reduction '%.*s' is unknown", STR_ARG(name));
}

bool einops_call(Interp *it, Span at, Str path, const CallArgs *call, PyVal *result)
{
    bool reduce = str_is(path, "einops.reduce");
    if (!reduce && !str_is(path, "einops.rearrange") && !str_is(path, "einops.repeat"))
        return false;
    Args a = {.it = it, .at = at, .name = "einops"};
    E e = {.a = &a, .call = call};
    if (call->n < (reduce ? 3 : 2))
        arg_fail(&a, "an argument is missing");
    ValueId x = tvar_read(it, need_tensor(it, at, call->v[0], "einops"));
    Str pattern = need_str(it, at, call->v[1], "the pattern");
    int kind = reduce ? reduction_kind(&a, need_str(it, at, call->v[2], "the reduction")) : -1;
    ptrdiff_t arrow = str_find(pattern, STR("->"));
    if (arrow < 0)
        arg_fail(&a, "the pattern has no '->'");
    Shape shape = emit_info(it, x)->shape;
    Str left_text = str_slice(pattern, 0, (size_t)arrow);
    Side left = parse_side(&e, left_text);
    if (str_find(left_text, STR("...")) >= 0) {
        e.dots = shape.rank - (int)left.groups;
        if (e.dots < 0)
            arg_fail(&a, "the tensor has too few dims");
        left = parse_side(&e, left_text);
    }
    Side right = parse_side(&e, str_slice(pattern, (size_t)arrow + 2, pattern.len));
    solve_left(&e, &left, shape);
    x = emit_reshape(it, at, x, axes_shape(&e, &left));
    x = order_axes(&e, reduce_missing(&e, x, &left, &right, kind), &left, &right);
    *result = tensor_of(it, emit_reshape(it, at, x, groups_shape(&e, &right)));
    return true;
}
