/* Buffers on the chip and views of them. In: calls such as ub(f32, n) and indices such as
 * a[lo:hi]. Out: IrBuffer rows of the kernel, IrView values. */
#include "craft/sema.h"

#include "craft/fn.h"
#include <string.h>

/* ---- buffers ---- */

static const struct {
    const char *name;
    IrMemory memory;
    IrLayout layout;
    bool cube, vector; /* which roles it needs */
} memories[] = {
    {"ub", IR_UB, IR_ND, false, true},          {"mask", IR_UB, IR_ND, false, true},
    {"l1", IR_L1, IR_NZ, true, false},          {"l0a", IR_L0A, IR_NZ, true, false},
    {"l0b", IR_L0B, IR_ZN, true, false},        {"l0c", IR_L0C, IR_NZ, true, false},
    {"channel", IR_CHANNEL, IR_ND, true, true},
};
enum { MAX_ELEMENTS = 1 << 28 }; /* far above any memory on the chip */
enum { MEMORIES = sizeof memories / sizeof *memories };

bool sema_is_buffer_call(const AstExpr *e)
{
    if (e->kind != EX_CALL || e->a->kind != EX_NAME)
        return false;
    const FnRow *fn = craft_fn_find(e->a->text);
    return fn && fn->kind == FN_BUFFER;
}

static bool buffer_place(Sema *s, const AstExpr *call)
{
    if (s->in_host) {
        sema_error(s, HOST_STMT, call->at, "GM scratch is workspace(dtype, ...)",
                   "buffers are declared in kernels");
        return false;
    }
    if (!s->loop_depth && !s->cond_depth && !s->inline_depth && s->stage < 0 && s->role < 0)
        return true;
    if (s->inline_depth)
        sema_error(s, HELPER, call->at, "declare it in the kernel and pass it in",
                   "a helper has no buffers of its own");
    else
        sema_error(s, STAGE_WHERE, call->at, "move it to the top of the kernel",
                   "a buffer is declared inside a %s",
                   s->stage >= 0   ? "stage"
                   : s->loop_depth ? "loop"
                                   : "block");
    return false;
}

/* A size that is known when the kernel starts; 0: reported. */
static IrExprId buffer_size(Sema *s, const AstExpr *e)
{
    int64_t v;
    IrExprId size = sema_integer(s, e);
    if (!size)
        return 0;
    size = sema_expand(s, size);
    if (!sema_closed(s, size)) {
        sema_error(s, BUFFER, e->at, "use constants, dims, chip facts or scalar parameters",
                   "the size '%s' is not known when the kernel starts", sema_expr_text(s, size));
        return 0;
    }
    if (ir_is_int(s->ir, size, &v) && (v < 1 || v > MAX_ELEMENTS)) {
        sema_error(s, BUFFER, e->at, NULL, "a buffer of %lld elements", (long long)v);
        return 0;
    }
    return size;
}

static bool buffer_depth(Sema *s, const AstExpr *call, IrBuffer *b)
{
    const AstExpr *e = sema_keyword(call, "depth");
    int64_t v;
    if (!e)
        return true;
    b->depth = buffer_size(s, e);
    if (b->depth && ir_is_int(s->ir, b->depth, &v) && v > 8) {
        sema_error(s, BUFFER, e->at, "1 or 2 in most cases", "depth %lld; at most 8", (long long)v);
        return false;
    }
    return b->depth != 0;
}

static bool buffer_role(Sema *s, const AstExpr *call, int m)
{
    bool ok = (!memories[m].cube || s->kernel_def.cube) &&
              (!memories[m].vector || s->kernel_def.vector);
    if (!ok)
        sema_error(s, ROLE, call->at,
                   memories[m].cube && memories[m].vector ? "@kernel(cube, vector)"
                   : memories[m].cube                     ? "@kernel(cube)"
                                                          : "@kernel or @kernel(cube, vector)",
                   "%s does not exist in a kernel of these roles", memories[m].name);
    return ok;
}

static bool read_buffer(Sema *s, const AstExpr *call, IrBuffer *b)
{
    int m = 0;
    while (m < MEMORIES - 1 && !str_is(call->a->text, memories[m].name))
        m++;
    const FnRow *fn = craft_fn_find(call->a->text);
    b->mask = str_is(call->a->text, "mask");
    b->memory = memories[m].memory;
    b->layout = memories[m].layout;
    if (!buffer_place(s, call) || !buffer_role(s, call, m) ||
        !sema_want_args(s, call, fn->least, fn->most, b->mask ? NULL : "depth"))
        return false;
    uint32_t first = b->mask ? 0 : 1;
    b->dtype = DT_BOOL;
    if (!b->mask && !sema_dtype(s, call->items.at[0], &b->dtype))
        return false;
    if (b->dtype == DT_C64) {
        sema_error(s, BUFFER, call->items.at[0]->at, "use f32 with a last axis of 2",
                   "buffers have no c64");
        return false;
    }
    bool ok = true;
    for (uint32_t i = first; i < call->items.len; i++) {
        b->shape[b->rank] = buffer_size(s, call->items.at[i]);
        ok = ok && b->shape[b->rank++];
    }
    return ok && buffer_depth(s, call, b);
}

void sema_declare_buffer(Sema *s, Str name, const AstExpr *call)
{
    IrBuffer b = {.name = str_dup(s->arena, name), .at = call->at};
    if (!read_buffer(s, call, &b)) {
        sema_declare_value(s, name, call->at, "buffer", sema_bad(call->at));
        return;
    }
    IrKernel *k = &s->ir->kernels.at[s->kernel];
    vec_push(s->arena, &k->buffers, b);
    IrView whole = sema_whole_buffer(s, k->buffers.len - 1);
    Value v = sema_tile_value(sema_view_node(s, &whole, call->at));
    sema_declare_value(s, name, call->at, b.memory == IR_CHANNEL ? "channel" : "buffer", v);
}

IrView sema_whole_buffer(Sema *s, uint32_t buffer)
{
    const IrBuffer *b = &s->ir->kernels.at[s->kernel].buffers.at[buffer];
    IrView v = {.buffer = buffer, .dtype = b->dtype, .rank = b->rank, .at = b->at};
    IrExprId zero = ir_int(s->ir, 0);
    for (uint32_t i = 0; i < b->rank; i++) {
        v.start[i] = zero;
        v.size[i] = b->shape[i];
    }
    return v;
}

/* ---- indices ---- */

static bool check_bound(Sema *s, const AstExpr *e, IrExprId last, IrExprId extent, const char *what)
{
    int64_t gap, v;
    if (ir_is_int(s->ir, last, &v) && v < 0) {
        sema_error(s, VIEW, e->at, "negative indices do not count from the end", "%s is %lld", what,
                   (long long)v);
        return false;
    }
    if (!sema_constant_gap(s, extent, last, &gap) || gap >= 0)
        return true;
    sema_error(s, VIEW, e->at, NULL, "%s is %s, past the end: the axis has %s", what,
               sema_expr_text(s, last), sema_expr_text(s, extent));
    return false;
}

static bool slice_item(Sema *s, const AstExpr *e, IrExprId extent, IndexItem *item)
{
    int64_t v;
    item->start = e->a ? sema_integer(s, e->a) : ir_int(s->ir, 0);
    IrExprId stop = e->b ? sema_integer(s, e->b) : extent;
    if (!item->start || !stop)
        return false;
    if (e->b && !check_bound(s, e->b, stop, extent, "the end of the slice"))
        return false;
    if (e->a && !check_bound(s, e->a, item->start, extent, "the start of the slice"))
        return false;
    item->size = sema_minus(s, stop, item->start);
    if (ir_is_int(s->ir, item->size, &v) && v < 1) {
        sema_error(s, VIEW, e->at, NULL, "the slice has %lld elements", (long long)v);
        return false;
    }
    return true;
}

bool sema_index_item(Sema *s, const AstExpr *e, IrExprId extent, IndexItem *item)
{
    *item = (IndexItem){0};
    if (e->kind == EX_SLICE)
        return slice_item(s, e, extent, item);
    Value v = sema_eval(s, e);
    if (v.kind == VAL_RANGE) {
        *item = (IndexItem){v.start, v.size};
        return true;
    }
    if (v.kind != VAL_SCALAR || v.dtype != DT_I64) {
        if (v.kind != VAL_BAD)
            sema_error(s, KIND, e->at,
                       v.kind == VAL_TILE ? "gather(a, idx) takes a tile of indices" : NULL,
                       "an index is an integer, a range or lo:hi, this is %s",
                       sema_describe(s, &v));
        return false;
    }
    item->start = v.scalar;
    return check_bound(s, e, ir_expr2(s->ir, IR_E_ADD, v.scalar, ir_int(s->ir, 1)), extent,
                       "the index plus one");
}

/* ---- views ---- */

static IrExprId shifted(Sema *s, IrExprId base, IrExprId by)
{
    return ir_expr2(s->ir, IR_E_ADD, base, by);
}

/* Row `row` of a 2-D view, as a 1-D view. */
static IrView row_view(Sema *s, const IrView *v, IrExprId row)
{
    IrView out = *v;
    out.rank = 1;
    out.row = shifted(s, v->start[0], row);
    out.start[0] = v->start[1];
    out.size[0] = v->size[1];
    out.start[1] = out.size[1] = 0;
    return out;
}

static void narrow(Sema *s, IrView *v, uint32_t axis, const IndexItem *item)
{
    v->start[axis] = shifted(s, v->start[axis], item->start);
    v->size[axis] = item->size;
}

static bool select_1d(Sema *s, const AstExpr *e, IrView *v, IrExprId *element)
{
    IndexItem item;
    if (!sema_index_item(s, e->items.at[0], v->size[0], &item))
        return false;
    if (item.size)
        narrow(s, v, 0, &item);
    else
        *element = item.start;
    return true;
}

static bool select_2d(Sema *s, const AstExpr *e, IrView *v, IrExprId *element)
{
    IndexItem items[2] = {{0}, {0}};
    for (uint32_t i = 0; i < e->items.len; i++)
        if (!sema_index_item(s, e->items.at[i], v->size[i], &items[i]))
            return false;
    if (items[0].size) {
        if (e->items.len == 2 && !items[1].size) {
            sema_error(s, VIEW, e->at, "b[lo:hi, j:j+1] is a 2-D view of one column",
                       "a column of a buffer is not contiguous");
            return false;
        }
        narrow(s, v, 0, &items[0]);
        if (e->items.len == 2)
            narrow(s, v, 1, &items[1]);
        return true;
    }
    *v = row_view(s, v, items[0].start);
    if (e->items.len == 1)
        return true;
    if (items[1].size)
        narrow(s, v, 0, &items[1]);
    else
        *element = items[1].start;
    return true;
}

bool sema_select(Sema *s, const AstExpr *e, const TileNode *base, IrView *view, IrExprId *element)
{
    *element = 0;
    if (!base->is_view) {
        sema_error(s, VIEW, e->at, "put it into a buffer first",
                   "only a buffer or a view has indices");
        return false;
    }
    if (e->items.len > base->rank) {
        sema_error(s, RANK, e->at, NULL, "the buffer has %u %s, the index %u", base->rank,
                   base->rank == 1 ? "axis" : "axes", e->items.len);
        return false;
    }
    *view = base->view;
    view->at = e->at;
    return base->rank == 1 ? select_1d(s, e, view, element) : select_2d(s, e, view, element);
}

IrExprId sema_keep(Sema *s, IrExprId e, Span at)
{
    IrVarId var = sema_temp(s, "kept", DT_I64, at);
    IrStmt *stmt = sema_emit(s, IR_S_ASSIGN, at);
    stmt->var = var;
    stmt->value = e;
    return ir_var(s->ir, var);
}

static IrExprId frozen(Sema *s, IrExprId e, Span at)
{
    return !e || sema_fixed(s, e) ? e : sema_keep(s, e, at);
}

/* A named view keeps the bounds it was made with, whatever happens to the scalars in them. */
IrView sema_freeze(Sema *s, IrView view)
{
    view.row = frozen(s, view.row, view.at);
    for (uint32_t i = 0; i < view.rank; i++) {
        view.start[i] = frozen(s, view.start[i], view.at);
        view.size[i] = frozen(s, view.size[i], view.at);
    }
    return view;
}

static Value element_value(Sema *s, const IrView *view, IrExprId element, Span at)
{
    const IrBuffer *b = &s->ir->kernels.at[s->kernel].buffers.at[view->buffer];
    if (!sema_in_compute(s, at, "reading an element of a buffer"))
        return sema_bad(at);
    if (b->mask) {
        sema_error(s, MASK, at, "cast(m, f32) into a buffer makes 1 and 0",
                   "single bits of a mask cannot be read");
        return sema_bad(at);
    }
    IrView one = *view; /* just the element, so that only it has to be written before */
    one.start[0] = shifted(s, view->start[0], element);
    one.size[0] = ir_int(s->ir, 1);
    TileNode *n = sema_view_node(s, &one, at);
    DType type = dtype_is_float(n->dtype) ? DT_F32 : n->dtype == DT_BOOL ? DT_BOOL : DT_I64;
    IrExprId first = ir_int(s->ir, 0);
    return sema_scalar_value(s, sema_emit_scalar_op(s, IR_T_EXTRACT, n, first, type, at), at);
}

Value sema_index(Sema *s, const AstExpr *e)
{
    Value base = sema_eval(s, e->a);
    if (base.kind == VAL_BAD)
        return base;
    if (base.kind == VAL_TENSOR)
        return sema_index_tensor(s, e, base, true);
    if (base.kind != VAL_TILE) {
        sema_error(s, KIND, e->at, NULL, "%s has no elements", sema_describe(s, &base));
        return sema_bad(e->at);
    }
    IrView view;
    IrExprId element;
    if (!sema_select(s, e, base.tile, &view, &element))
        return sema_bad(e->at);
    return element ? element_value(s, &view, element, e->at)
                   : sema_tile_value(sema_view_node(s, &view, e->at));
}
