/* One tile operation becomes calls. In: an operation of the IR on views. Out: calls on runs of
 * contiguous elements; a 2-D operation is one run when its rows have the same layout in all operands,
 * else a loop over rows. The families are in op_*.c. */
#include "lower/lower_int.h"

void op_unsupported(Lower *l, const IrStmt *s, const char *what)
{
    const char *name = s->kind == IR_S_OP ? ir_tile_ops[s->op].name : "statement";
    diag_error(l->diag, "E091", s->at, "'%s' has no AscendC form yet: %s", name, what);
}

DType view_dtype(const IrView *view) { return view->dtype == DT_BOOL ? DT_U8 : view->dtype; }

/* Elements from row to row of a 2-D buffer: of its own dtype, or as the view sees them. */
static IrExprId row_stride(Lower *l, uint32_t buffer, IrExprId cols, DType dtype)
{
    const IrBuffer *b = &l->source->buffers.at[buffer];
    const Placed *p = &l->plan->placed.at[buffer];
    int64_t own = (int64_t)dtype_bytes(b->dtype), seen = (int64_t)dtype_bytes(dtype);
    bool as_wide = p->tight || p->dense;
    if (b->mask || own == seen)
        return lx_align(l, as_wide ? cols : b->shape[1], p->unit);
    IrExprId bytes = lx_align(l, lx_mul(l, b->shape[1], lx_int(l, own)), 32);
    return ir_expr2(l->ir, IR_E_FLOORDIV, bytes, lx_int(l, seen));
}

/* Bits to bytes of a mask: whole bytes, as views of masks start at multiples of 8. */
static IrExprId mask_bytes(Lower *l, IrExprId bits)
{
    return bits ? ir_expr2(l->ir, IR_E_FLOORDIV, bits, lx_int(l, 8)) : 0;
}

View2 view_of(Lower *l, const IrView *view)
{
    const IrBuffer *b = &l->source->buffers.at[view->buffer];
    bool two = view->rank == 2;
    uint32_t col = two ? 1 : 0;
    View2 v = {.cols = view->size[col], .mask = b->mask};
    const Placed *p = &l->plan->placed.at[view->buffer];
    IrExprId stride = b->rank == 2 ? row_stride(l, view->buffer, view->size[col], view_dtype(view))
                                   : 0;
    IrExprId offset = lx_is(l, view->start[col], 0) ? 0 : view->start[col];
    IrExprId row = two ? view->start[0] : view->row;
    if (stride && row && !lx_is(l, row, 0))
        offset = lx_add(l, offset, lx_mul(l, row, stride));
    if (two) {
        v.rows = view->size[0];
        v.stride = stride;
        v.full = lx_is(l, view->start[1], 0) && ir_same(l->ir, view->size[1], b->shape[1]) &&
                 dtype_bytes(b->dtype) == dtype_bytes(view_dtype(view));
        v.full = b->mask ? p->dense : p->tight || v.full;
    }
    uint32_t local = p->local;
    v.ref = ref_local(local, b->mask ? DT_U8 : view_dtype(view),
                      b->mask ? mask_bytes(l, offset) : offset);
    return v;
}

IrExprId view_room(Lower *l, const IrView *view)
{
    const IrBuffer *b = &l->source->buffers.at[view->buffer];
    int64_t own = (int64_t)dtype_bytes(b->dtype), seen = (int64_t)dtype_bytes(view_dtype(view));
    IrExprId cols = b->rank == 2 ? row_stride(l, view->buffer, b->shape[1], b->dtype) : b->shape[0];
    if (own > seen)
        cols = lx_mul(l, cols, lx_int(l, own / seen));
    return b->rank == 2 ? lx_mul(l, b->shape[0], cols) : cols;
}

/* ---- the type to compute in ---- */

DType op_wide(DType dtype)
{
    switch (dtype) {
    case DT_BF16:
    case DT_F16:
    case DT_I16: return DT_F32;
    case DT_I8:
    case DT_U8:
    case DT_BOOL: return DT_F16;
    default: return DT_COUNT;
    }
}

/* ---- runs ---- */

static void lower_run(Lower *l, const IrStmt *s, AscRef dst, const AscRef *src, Run run)
{
    const IrTileOpRow *row = &ir_tile_ops[s->op];
    const IrView *from = s->src_count ? &s->src[0] : NULL;
    bool mask_src = from && l->source->buffers.at[from->buffer].mask;
    switch (row->kind) {
    case IR_CLASS_COMPARE: op_compare(l, s, dst, src, run); break;
    case IR_CLASS_SELECT: op_select(l, s, dst, src, run); break;
    case IR_CLASS_BITS: op_bits(l, s, dst, src, mask_src, run); break;
    case IR_CLASS_ELEM:
        if (mask_src)
            op_bits(l, s, dst, src, true, run);
        else
            op_elementwise(l, s, s->op, dst, src, run);
        break;
    default: op_elementwise(l, s, s->op, dst, src, run); break;
    }
}

static bool one_run(const Lower *l, const View2 *dst, const View2 *src, uint32_t count)
{
    bool one = dst->full;
    for (uint32_t i = 0; one && i < count; i++)
        one = src[i].full && ir_same(l->ir, dst->stride, src[i].stride);
    return one;
}

static AscRef at_row(Lower *l, const View2 *v, IrExprId row)
{
    IrExprId step = v->mask ? mask_bytes(l, v->stride) : v->stride;
    return v->rows ? ref_at(l, v->ref, lx_mul(l, row, step)) : v->ref;
}

static void by_rows(Lower *l, const IrStmt *s, const View2 *dst, const View2 *src, IrExprId room)
{
    IrVarId row = lx_local(l, "row", DT_I64);
    l->ir->vars.at[row].lo = 0;
    AscStmtId owner = ls_for(l, row, lx_int(l, 0), dst->rows, lx_int(l, 1));
    Opened body;
    ls_open(l, &body);
    AscRef refs[IR_MAX_OPERANDS];
    for (uint32_t i = 0; i < s->src_count; i++)
        refs[i] = at_row(l, &src[i], lx_var(l, row));
    lower_run(l, s, at_row(l, dst, lx_var(l, row)), refs, (Run){dst->cols, room});
    ls_close(l, &body, owner, false);
}

/* ---- many short rows: an instruction for 256 bytes of each, a repeat per row ---- */

bool op_short_rows(const Lower *l, const IrView *view)
{
    const IrBuffer *b = &l->source->buffers.at[view->buffer];
    int64_t size = (int64_t)dtype_bytes(view_dtype(view));
    int64_t rows = lx_most(l, b->shape[0]), cols = lx_most(l, b->shape[1]);
    bool one = view->rank == 2 && lx_most(l, view->size[1]) * size <= 256;
    return view->rank == 2 && !b->mask && dtype_bytes(b->dtype) == (size_t)size && size >= 2 &&
           rows <= 255 && cols * size <= 255 * 32 && (one || 2 * cols * size <= rows * 256);
}

IrExprId op_blocks(Lower *l, IrExprId elements, DType dtype)
{
    IrExprId size = lx_int(l, 32 / (int64_t)dtype_bytes(dtype));
    return ir_expr2(l->ir, IR_E_FLOORDIV, lx_align(l, elements, 32 / (int64_t)dtype_bytes(dtype)),
                    size);
}

static bool all_short(const Lower *l, const IrStmt *s)
{
    bool cast = ir_tile_ops[s->op].kind == IR_CLASS_CAST;
    bool all = op_short_rows(l, &s->dst) && (cast || s->dst.dtype != DT_BF16);
    for (uint32_t i = 0; all && i < s->src_count; i++)
        all = op_short_rows(l, &s->src[i]) &&
              (cast || dtype_bytes(s->src[i].dtype) == dtype_bytes(s->dst.dtype));
    return all;
}

/* Elements that one repeat takes: 256 bytes of the widest operand. */
static int64_t repeat_lanes(const View2 *dst, const View2 *src, uint32_t n)
{
    size_t widest = dtype_bytes(dst->ref.dtype);
    for (uint32_t i = 0; i < n; i++)
        widest = dtype_bytes(src[i].ref.dtype) > widest ? dtype_bytes(src[i].ref.dtype) : widest;
    return 256 / (int64_t)widest;
}

/* From row to row of whichever view the operand is of. */
static IrExprId row_blocks(Lower *l, const AscRef *r, const View2 *dst, const View2 *src,
                           uint32_t n)
{
    IrExprId stride = dst->stride;
    for (uint32_t i = 0; i < n; i++)
        stride = src[i].ref.id == r->id ? src[i].stride : stride;
    return r->used ? op_blocks(l, stride, r->dtype) : 0;
}

/* False, and nothing written, when the operation is more than one call that can step. */
static bool by_columns(Lower *l, const IrStmt *s, const View2 *dst, const View2 *src)
{
    int64_t lanes = repeat_lanes(dst, src, s->src_count);
    IrVarId col = lx_local(l, "col", DT_I64);
    l->ir->vars.at[col].lo = 0;
    l->ir->vars.at[col].multiple = lanes;
    IrExprId at = lx_var(l, col), one = lx_int(l, 1);
    IrExprId mask = lx_min(l, lx_int(l, lanes), lx_sub(l, dst->cols, at));
    AscRef refs[IR_MAX_OPERANDS];
    for (uint32_t i = 0; i < s->src_count; i++)
        refs[i] = ref_at(l, src[i].ref, at);
    Opened trial;
    ls_open(l, &trial);
    lower_run(l, s, ref_at(l, dst->ref, at), refs, (Run){mask, lx_int(l, lanes)});
    l->at = trial.outer;
    AscStmt *c = &l->out->stmts.at[ls_last(l)];
    AscForm form = asc_apis[c->api].form;
    if (trial.block.len != 1 || c->kind != ASC_S_CALL || c->count != mask ||
        (form != ASC_F_BINARY && form != ASC_F_UNARY && form != ASC_F_SCALAR && form != ASC_F_CAST))
        return false;
    IrExprId d = row_blocks(l, &c->dst, dst, src, s->src_count);
    IrExprId a = row_blocks(l, &c->a, dst, src, s->src_count);
    IrExprId b = row_blocks(l, &c->b, dst, src, s->src_count);
    c->count = 0;
    c->mask = mask;
    c->repeat = dst->rows;
    c->strides = (AscStrides){one, one, form == ASC_F_BINARY ? one : 0, d, a, b};
    AscStmtId owner = ls_for(l, col, lx_int(l, 0), dst->cols, lx_int(l, lanes));
    l->out->stmts.at[owner].body = trial.block;
    return true;
}

static void elementwise(Lower *l, const IrStmt *s)
{
    View2 dst = view_of(l, &s->dst), src[IR_MAX_OPERANDS];
    AscRef refs[IR_MAX_OPERANDS] = {0};
    for (uint32_t i = 0; i < s->src_count; i++) {
        src[i] = view_of(l, &s->src[i]);
        refs[i] = src[i].ref;
    }
    const IrView *wide = dst.mask && s->src_count ? &s->src[s->src_count - 1] : &s->dst;
    IrExprId room = view_room(l, wide);
    if (!dst.rows)
        lower_run(l, s, dst.ref, refs, (Run){dst.cols, room});
    else if (one_run(l, &dst, src, s->src_count))
        lower_run(l, s, dst.ref, refs, (Run){lx_mul(l, dst.rows, dst.stride), room});
    else if (!all_short(l, s) || !by_columns(l, s, &dst, src))
        by_rows(l, s, &dst, src, room);
}

static void insert(Lower *l, const IrStmt *s)
{
    View2 dst = view_of(l, &s->dst);
    ls_put(l, ref_at(l, dst.ref, lower_scalar(l, s->scalar[0])), lower_scalar(l, s->scalar[1]));
}

void op_lower(Lower *l, const IrStmt *s)
{
    uint32_t mark = scratch_mark(l);
    IrStmt copy = *s;
    for (uint32_t i = 0; i < s->scalar_count && i < 2; i++)
        copy.scalar[i] = lower_scalar(l, s->scalar[i]);
    uint8_t scaled = lower_scales(s->op) ? l->plan->placed.at[s->dst.buffer].scaled : 0;
    for (uint32_t i = 0; scaled && i < s->scalar_count && i < 2; i++)
        copy.scalar[i] = lx_mul(l, copy.scalar[i], lx_int(l, scaled));
    switch (ir_tile_ops[s->op].kind) {
    case IR_CLASS_REDUCE: op_reduce(l, &copy); break;
    case IR_CLASS_ROWS: op_row_reduce(l, &copy); break;
    case IR_CLASS_COLS: op_cols(l, &copy); break;
    case IR_CLASS_SHAPE: op_shape(l, &copy); break;
    case IR_CLASS_SCAN: op_scan(l, &copy); break;
    case IR_CLASS_SORT: op_sort(l, &copy); break;
    case IR_CLASS_CUBE: op_unsupported(l, s, "the cube"); break;
    default:
        if (s->op == IR_T_INSERT)
            insert(l, &copy);
        else
            elementwise(l, &copy);
    }
    scaled = lower_scales_after(s) ? l->plan->placed.at[s->dst.buffer].scaled : 0;
    if (scaled) {
        View2 d = view_of(l, &s->dst);
        call_const(l, ASC_MULS, d.ref, d.ref, scaled, d.cols);
    }
    scratch_drop(l, mark);
}

/* ---- scalars ---- */

static bool needs_lane(const Lower *l, IrExprId e)
{
    const IrExpr *x = &l->ir->exprs.at[e];
    if (x->op == IR_E_EXP || x->op == IR_E_LOG || x->op == IR_E_SQRT)
        return true;
    for (int i = 0; i < ir_expr_rows[x->op].arity; i++)
        if (needs_lane(l, x->arg[i]))
            return true;
    return false;
}

static IrExprId on_lane(Lower *l, IrExprOp op, IrExprId value)
{
    uint32_t mark = scratch_mark(l);
    AscApi api = op == IR_E_EXP ? ASC_EXP : op == IR_E_LOG ? ASC_LN : ASC_SQRT;
    IrExprId lanes = lx_int(l, 8);
    AscRef lane = scratch_take(l, DT_F32, lanes);
    call_fill(l, lane, value, lanes);
    call_unary(l, api, lane, lane, lanes);
    IrVarId var = lx_local(l,
                           op == IR_E_EXP   ? "exp.value"
                           : op == IR_E_LOG ? "log.value"
                                            : "root.value",
                           DT_F32);
    ls_get(l, var, lane);
    scratch_drop(l, mark);
    return lx_var(l, var);
}

IrExprId lower_scalar(Lower *l, IrExprId e)
{
    if (!e || !needs_lane(l, e))
        return e;
    IrExpr x = l->ir->exprs.at[e];
    IrExprId arg[3] = {0};
    int arity = ir_expr_rows[x.op].arity;
    for (int i = 0; i < arity; i++)
        arg[i] = lower_scalar(l, x.arg[i]);
    if (x.op == IR_E_EXP || x.op == IR_E_LOG || x.op == IR_E_SQRT)
        return on_lane(l, x.op, arg[0]);
    return arity == 1   ? ir_expr1(l->ir, x.op, arg[0])
           : arity == 2 ? ir_expr2(l->ir, x.op, arg[0], arg[1])
                        : ir_expr3(l->ir, x.op, arg[0], arg[1], arg[2]);
}
