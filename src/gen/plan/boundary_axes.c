/* Which axes of the task a size of the planned program stands for. In: tensors as the task and as the
 * program sees them, the same elements in the same order. Out: per size its axes, per axis a text.
 *
 *     x  task [8, 512, 4096], program [n0, n1]      n0 is axes 0 and 1, n1 is axis 2
 *
 * The factors of the program's shape and the task's axes are walked side by side. Of several tensors
 * with one size the one with the most axes says what it is made of; the others must have it whole or
 * in runs of these axes, else the size becomes a number. */
#include "gen/plan/boundary_int.h"

enum { MOST_FACTORS = 16 };

typedef struct Factors {
    BoundFactor at[MOST_FACTORS];
    uint32_t len;
    bool failed;
} Factors;

static BoundSize *size_of(Boundary *b, IrExprId id)
{
    const IrExpr *e = &b->program->exprs.at[id];
    for (uint32_t i = 0; e->op == IR_E_VAR && i < b->program->dims.len; i++)
        if (b->program->dims.at[i] == e->of.var)
            return &b->sizes[i];
    return NULL;
}

static bool value_of(Boundary *b, IrExprId id, int64_t *value)
{
    const IrExpr *e = &b->program->exprs.at[id];
    const BoundSize *size = size_of(b, id);
    int64_t x = 0, y = 0;
    if (e->op == IR_E_INT) {
        *value = e->of.i;
        return true;
    }
    if (e->op == IR_E_VAR) {
        *value = size ? size->value : 0;
        return size && size->value;
    }
    int arity = ir_expr_rows[e->op].arity;
    return arity >= 1 && arity <= 2 && e->op != IR_E_LIST_SIZE && value_of(b, e->arg[0], &x) &&
           (arity == 1 || value_of(b, e->arg[1], &y)) && ir_eval_int(e->op, x, y, value);
}

static void add_factor(Boundary *b, IrExprId id, Factors *f)
{
    const IrExpr *e = &b->program->exprs.at[id];
    if (e->op == IR_E_MUL) {
        add_factor(b, e->arg[0], f);
        add_factor(b, e->arg[1], f);
        return;
    }
    BoundFactor one = {.size = size_of(b, id), .expr = id};
    f->failed = f->failed || f->len == MOST_FACTORS || !value_of(b, id, &one.value);
    if (!f->failed)
        f->at[f->len++] = one;
}

/* ---- one tensor ---- */

static void fix_sizes_in(Boundary *b, IrExprId id)
{
    const IrExpr *e = &b->program->exprs.at[id];
    BoundSize *size = size_of(b, id);
    if (size)
        size->fixed = true;
    for (int i = 0; i < ir_expr_rows[e->op].arity; i++)
        fix_sizes_in(b, b->program->exprs.at[id].arg[i]);
}

/* A factor that several axes of the task share, from *at on. */
static bool split_factor(BoundTensor *t, int *at, const BoundFactor *f)
{
    int64_t left = f->value;
    while (left > 1 && *at < t->shape.rank) {
        BoundAxis *axis = &t->axis[(*at)++];
        int64_t size = axis->number;
        if (left % size)
            return false;
        left /= size;
        if (size == 1)
            continue;
        if (f->size) {
            axis->kind = AXIS_PART;
            axis->factors = 1;
            axis->factor[0] = *f;
        }
    }
    return left == 1;
}

/* Several factors that are one axis of the task. */
static bool merge_factors(BoundAxis *axis, const Factors *f, uint32_t *next)
{
    int64_t product = 1;
    while (product < axis->number && *next < f->len && axis->factors < GRAPH_MAX_RANK) {
        product *= f->at[*next].value;
        axis->factor[axis->factors++] = f->at[(*next)++];
    }
    axis->kind = AXIS_PRODUCT;
    return product == axis->number;
}

static bool walk_factors(BoundTensor *t, const Factors *f)
{
    uint32_t next = 0;
    for (int a = 0; a < t->shape.rank;) {
        BoundAxis *axis = &t->axis[a];
        bool single = next < f->len && f->at[next].value == 1;
        bool takes = single && f->at[next].size && axis->number == 1;
        if (takes)
            *axis = (BoundAxis){AXIS_PRODUCT, 1, 1, {f->at[next]}};
        next += single;
        a += takes || (axis->number == 1 && !single);
        if (single || axis->number == 1)
            continue;
        if (next == f->len)
            return false;
        bool split = f->at[next].value > axis->number;
        if (split ? !split_factor(t, &a, &f->at[next++]) : !merge_factors(axis, f, &next))
            return false;
        a += !split;
    }
    while (next < f->len && f->at[next].value == 1)
        next++;
    return next == f->len;
}

/* An expression of several sizes cannot be split. */
static bool splits_expression(const Boundary *b, const BoundTensor *t, const Factors *f)
{
    for (uint32_t i = 0; i < f->len; i++) {
        if (f->at[i].size || b->program->exprs.at[f->at[i].expr].op == IR_E_INT)
            continue;
        bool whole = false;
        for (int a = 0; a < t->shape.rank; a++)
            for (int k = 0; k < t->axis[a].factors; k++)
                whole = whole || (t->axis[a].kind == AXIS_PRODUCT &&
                                  t->axis[a].factor[k].expr == f->at[i].expr);
        if (!whole && f->at[i].value != 1)
            return true;
    }
    return false;
}

static void bind_axes(Boundary *b, BoundTensor *t)
{
    Factors f = {0};
    for (int a = 0; a < t->shape.rank; a++)
        t->axis[a] = (BoundAxis){.kind = AXIS_NUMBER, .number = t->shape.dim[a]};
    if (!t->seen || t->seen->upto)
        return;
    for (uint32_t i = 0; i < t->seen->rank; i++)
        add_factor(b, t->seen->shape[i], &f);
    if (!f.failed && walk_factors(t, &f) && !splits_expression(b, t, &f))
        return;
    for (uint32_t i = 0; i < t->seen->rank; i++)
        fix_sizes_in(b, t->seen->shape[i]);
    for (int a = 0; a < t->shape.rank; a++)
        t->axis[a] = (BoundAxis){.kind = AXIS_NUMBER, .number = t->shape.dim[a]};
}

/* Sizes that numbers of the graph were computed from are those of the task. */
static void fix_held(Boundary *b, const BoundTensor *t)
{
    uint32_t held = graph_value(b->graph, t->value)->held_axes;
    held |= t->seen ? b->plan->operands.at[t->planned].held : 0;
    for (int a = 0; a < t->shape.rank && !t->output; a++)
        for (int k = 0; k < t->axis[a].factors && held >> a & 1; k++)
            fix_sizes_in(b, t->axis[a].factor[k].expr);
}

/* ---- what a size is made of ---- */

/* The axes of the tensor that are this size, or parts of it; 0: none stands alone. */
static int axes_of(const BoundTensor *t, const BoundSize *size, int64_t part[GRAPH_MAX_RANK])
{
    int n = 0;
    for (int a = 0; a < t->shape.rank; a++) {
        const BoundAxis *axis = &t->axis[a];
        if (axis->factors != 1 || axis->factor[0].size != size)
            continue;
        part[n++] = axis->number;
        if (axis->kind == AXIS_PRODUCT)
            return n; /* whole; it may stand here again */
        int64_t all = 1;
        for (int k = 0; k < n; k++)
            all *= part[k];
        if (all == size->value)
            return n;
    }
    return n;
}

static bool is_read(const BoundTensor *t)
{
    return t->seen && (!t->output || t->updates != UINT32_MAX) && t->seen->role != IR_ROLE_OPT;
}

static void define_size(Boundary *b, BoundSize *size)
{
    for (uint32_t i = 0; i < b->tensors.len; i++) {
        int64_t part[GRAPH_MAX_RANK];
        int n = is_read(&b->tensors.at[i]) ? axes_of(&b->tensors.at[i], size, part) : 0;
        if (n <= size->parts)
            continue;
        size->parts = n;
        for (int k = 0; k < n; k++)
            size->part[k] = part[k];
    }
    size->fixed = size->fixed || size->parts == 0;
}

/* The axes are runs of the size's parts, in their order. */
static bool is_coarser(const BoundSize *size, const int64_t *part, int n)
{
    int next = 0;
    for (int k = 0; k < n; k++) {
        int64_t product = 1;
        do
            product *= next < size->parts ? size->part[next] : 0;
        while (product && product < part[k] && ++next);
        if (product != part[k])
            return false;
        next++;
    }
    return next == size->parts;
}

/* The axes are the size's parts in another order, each told by its number. */
static bool is_reordered(const BoundSize *size, const int64_t *part, int n)
{
    bool same = n == size->parts;
    for (int k = 0; k < n && same; k++) {
        int found = 0, again = 0;
        for (int i = 0; i < n; i++) {
            found += size->part[i] == part[k];
            again += part[i] == part[k];
        }
        same = found == 1 && again == 1;
    }
    return same;
}

static void check_size(Boundary *b, BoundSize *size)
{
    for (uint32_t i = 0; i < b->tensors.len && !size->fixed; i++) {
        const BoundTensor *t = &b->tensors.at[i];
        int64_t part[GRAPH_MAX_RANK];
        int n = t->seen && !t->seen->upto ? axes_of(t, size, part) : 0;
        if (n && !is_coarser(size, part, n) && !(t->output && is_reordered(size, part, n)))
            size->fixed = true;
    }
}

/* ---- the program's sizes at the task's ---- */

static void learn_values(Boundary *b)
{
    for (uint32_t i = 0; i < b->tensors.len; i++) {
        const BoundTensor *t = &b->tensors.at[i];
        const Shape *seen = t->seen ? &b->plan->operands.at[t->planned].shape : NULL;
        for (uint32_t a = 0; seen && a < t->seen->rank && (int)a < seen->rank; a++) {
            BoundSize *size = size_of(b, t->seen->shape[a]);
            if (size && !(t->seen->upto && a == 0))
                size->value = seen->dim[a];
        }
    }
}

void boundary_axes(Boundary *b)
{
    learn_values(b);
    for (uint32_t i = 0; i < b->tensors.len; i++)
        bind_axes(b, &b->tensors.at[i]);
    for (uint32_t i = 0; i < b->tensors.len; i++)
        fix_held(b, &b->tensors.at[i]);
    for (uint32_t i = 0; i < b->program->dims.len; i++)
        define_size(b, &b->sizes[i]);
    for (uint32_t i = 0; i < b->program->dims.len; i++)
        check_size(b, &b->sizes[i]);
}
