/* Movement between GM and UB. In: loads, stores, scalar reads and writes of GM. Out: copies whose
 * form the align pass decides, and what orders GM that a kernel reads after writing it. */
#include "lower/lower_int.h"

static const IrTensor *tensor_of(const Lower *l, const IrAccess *a)
{
    return &l->source->tensors.at[a->tensor];
}

static IrExprId axis_stride(Lower *l, const IrTensor *t, uint32_t axis)
{
    IrExprId stride = lx_int(l, 1);
    for (uint32_t i = axis + 1; i < t->rank; i++)
        stride = lx_mul(l, stride, t->shape[i]);
    return stride;
}

static AscRef access_ref(Lower *l, const IrAccess *a)
{
    const IrTensor *t = tensor_of(l, a);
    IrExprId offset = 0;
    for (uint32_t i = 0; i < a->rank; i++) {
        IrExprId at = lower_scalar(l, a->start[i]);
        if (lx_is(l, at, 0))
            continue;
        offset = lx_add(l, offset, a->flat ? at : lx_mul(l, at, axis_stride(l, t, i)));
    }
    DType dtype = t->dtype == DT_BOOL ? DT_U8 : t->dtype;
    return (AscRef){.used = true,
                    .global = true,
                    .id = a->tensor,
                    .dtype = dtype,
                    .offset = offset,
                    .item = a->item};
}

static bool refuse_access(Lower *l, const IrAccess *a, const char *why)
{
    diag_error(l->diag, "E095", a->at, "'%s' is taken apart in a way DataCopy cannot: %s",
               tensor_of(l, a)->name, why);
    diag_hint(l->diag, "move whole runs of the last axis, then transpose or gather in UB");
    return false;
}

/* Rows and columns of what the access selects. */
static bool access_shape(Lower *l, const IrAccess *a, AscCopy *c)
{
    const IrTensor *t = tensor_of(l, a);
    uint32_t ranges = 0, axis[IR_MAX_RANK] = {0};
    for (uint32_t i = 0; i < a->rank; i++)
        if (a->size[i] && !(lx_is(l, a->size[i], 1) && i + 1 < a->rank))
            axis[ranges++] = i;
    if (ranges > 2)
        return refuse_access(l, a, "more than two of its axes are slices");
    if (!ranges) {
        c->cols = lx_int(l, 1);
        return true;
    }
    uint32_t last = axis[ranges - 1];
    if (!a->flat && !lx_is(l, axis_stride(l, t, last), 1)) {
        c->rows = a->size[axis[0]];
        c->cols = lx_int(l, 1);
        c->gm_row = axis_stride(l, t, axis[0]);
        return ranges == 1 || refuse_access(l, a, "its inner range is not along the last axis");
    }
    c->cols = a->size[last];
    if (ranges == 2) {
        c->rows = a->size[axis[0]];
        c->gm_row = axis_stride(l, t, axis[0]);
    }
    return true;
}

/* A copy moves no more rows than its buffer has. */
static void check_runs(Lower *l, IrExprId rows, const IrBuffer *b)
{
    enum { MOST_RUNS = 4095 };
    if (lx_most(l, rows) <= MOST_RUNS || lx_most(l, b->shape[0]) <= MOST_RUNS)
        return;
    diag_error(l->diag, "E095", l->span, "one copy moves at most %d rows, this may be more",
               MOST_RUNS);
    diag_hint(l->diag, "bound the number of rows of the tile");
}

static bool make_copy(Lower *l, const IrStmt *s, const IrView *view, AscCopy *c)
{
    View2 v = view_of(l, view);
    c->gm = access_ref(l, &s->access);
    c->ub = v.ref;
    if (!access_shape(l, &s->access, c))
        return false;
    if (c->rows && !v.rows)
        return refuse_access(l, &s->access, "a one-dimensional buffer takes no strided elements");
    if (c->rows) {
        c->ub_row = v.stride;
        check_runs(l, c->rows, &l->source->buffers.at[view->buffer]);
    }
    return true;
}

static void put_copy(Lower *l, AscCopy c) { ls_new(l, ASC_S_COPY)->copy = c; }

void lower_load(Lower *l, const IrStmt *s)
{
    AscCopy c = {.inward = true, .pad = s->pad};
    if (s->src_count) {
        cube_load_l0(l, s);
        return;
    }
    if (l->source->buffers.at[s->dst.buffer].memory == IR_UB) {
        if (make_copy(l, s, &s->dst, &c))
            put_copy(l, c);
        return;
    }
    c.gm = access_ref(l, &s->access);
    if (access_shape(l, &s->access, &c))
        cube_load_gm(l, s, &c);
}

void lower_store(Lower *l, const IrStmt *s)
{
    AscCopy c = {0};
    bool cube = l->source->buffers.at[s->src[0].buffer].memory != IR_UB;
    c.gm = access_ref(l, &s->access);
    if (cube ? !access_shape(l, &s->access, &c) : !make_copy(l, s, &s->src[0], &c))
        return;
    if (s->atomic != IR_PLAIN) {
        AscStmt *a = ls_new(l, ASC_S_ATOMIC);
        a->atomic = s->atomic;
        a->dtype = c.gm.dtype;
    }
    if (cube)
        cube_store(l, s, &c);
    else
        put_copy(l, c);
    if (s->atomic != IR_PLAIN)
        ls_new(l, ASC_S_ATOMIC)->atomic = IR_PLAIN;
}

static bool is_written(const IrTensor *t)
{
    return t->role == IR_ROLE_OUT || t->role == IR_ROLE_INOUT || t->role == IR_ROLE_WORKSPACE ||
           t->role == IR_ROLE_OUT_LIST;
}

void lower_gm_read(Lower *l, const IrStmt *s)
{
    AscRef from = access_ref(l, &s->access);
    if (is_written(tensor_of(l, &s->access)))
        ls_new(l, ASC_S_CLEAN)->a = from;
    ls_get(l, s->var, from);
}

/* Through UB and a copy of one element: a scalar store to GM goes through a cache line that other
 * cores may hold too, and one of the two would be lost. */
void lower_gm_write(Lower *l, const IrStmt *s)
{
    uint32_t mark = scratch_mark(l);
    IrExprId value = lower_scalar(l, s->value);
    AscCopy c = {.gm = access_ref(l, &s->access), .cols = lx_int(l, 1)};
    c.ub = scratch_take(l, c.gm.dtype, lx_int(l, 32 / (int64_t)dtype_bytes(c.gm.dtype)));
    ls_put(l, c.ub, value);
    ls_flag(l, ASC_S_MTE3);
    put_copy(l, c);
    ls_flag(l, ASC_MTE3_S);
    scratch_drop(l, mark);
}

/* ---- GM a kernel reads or writes again ---- */

typedef struct Order {
    Lower *l;
    const IrStmt *touch; /* a load or store */
    IrCore role;         /* the other role's stores come through channels */
    bool found;          /* another store may overlap it */
} Order;

static bool same_place(const Lower *l, const IrAccess *a, const IrAccess *b)
{
    bool same = a->rank == b->rank && a->flat == b->flat && ir_same(l->ir, a->item, b->item);
    for (uint32_t i = 0; same && i < a->rank; i++)
        same = ir_same(l->ir, a->start[i], b->start[i]) && ir_same(l->ir, a->size[i], b->size[i]);
    return same;
}

/* Different constants on some single-element axis. */
static bool apart(const Lower *l, const IrAccess *a, const IrAccess *b)
{
    for (uint32_t i = 0; i < a->rank && i < b->rank && !a->flat && !b->flat; i++) {
        int64_t x, y;
        if (!a->size[i] && !b->size[i] && ir_is_int(l->ir, a->start[i], &x) &&
            ir_is_int(l->ir, b->start[i], &y) && x != y)
            return true;
    }
    return false;
}

static void scan(Order *o, const IrBlock *block)
{
    for (uint32_t i = 0; i < block->len && !o->found; i++) {
        const IrStmt *s = &o->l->ir->stmts.at[block->at[i]];
        if (s->kind == IR_S_ROLE && s->core != o->role)
            continue;
        if (s->kind == IR_S_STORE && s != o->touch && s->access.tensor == o->touch->access.tensor) {
            bool in_place = o->touch->kind == IR_S_LOAD &&
                            same_place(o->l, &s->access, &o->touch->access);
            o->found = !in_place && !apart(o->l, &s->access, &o->touch->access);
        }
        scan(o, &s->body);
        scan(o, &s->orelse);
    }
}

/* Any store to the tensor in the kernel but those the loaded place is updated by, or that lie
 * elsewhere for certain; a sync_all between them is one barrier more than needed. */
static bool overlaps_store(Lower *l, const IrStmt *touch)
{
    Order o = {.l = l, .touch = touch, .role = l->role};
    scan(&o, &l->source->body);
    return o.found;
}

void lower_gm_order(Lower *l, IrStmtId stage)
{
    const IrBlock body = l->ir->stmts.at[stage].body;
    bool flag = false, barrier = false;
    for (uint32_t i = 0; i < body.len; i++) {
        const IrStmt *s = &l->ir->stmts.at[body.at[i]];
        if (lower_channel_end(l, body.at[i]))
            continue;
        if (s->kind == IR_S_LOAD && !s->src_count)
            flag = flag || overlaps_store(l, s);
        if (s->kind == IR_S_STORE)
            barrier = barrier || overlaps_store(l, s);
    }
    bool cube = l->role == IR_CORE_CUBE;
    if (flag)
        ls_flag(l, cube ? ASC_FIX_MTE2 : ASC_MTE3_MTE2);
    if (barrier)
        ls_new(l, ASC_S_BARRIER)->pipe = cube ? NPU_PIPE_FIX : NPU_PIPE_MTE3;
}
