/* Statements that are calls: load, store and its atomic forms, sort, topk, compact, sync_all,
 * and the cube's mmad, send, recv. */
#include "craft/sema.h"

#include "craft/fn.h"

static const IrBuffer *buffer_of(Sema *s, const TileNode *n)
{
    return &s->ir->kernels.at[s->kernel].buffers.at[n->view.buffer];
}

static bool in_stage(Sema *s, const AstExpr *call, IrStage stage)
{
    static const char *const names[] = {"copyin", "compute", "copyout"};
    static const CraftCodeId codes[] = {CC_LOAD_STAGE, CC_COMPUTE_STAGE, CC_STORE_STAGE};
    if (s->in_host) {
        sema_error(s, KERNEL_ONLY, call->at, NULL, "%.*s belongs to a kernel",
                   STR_ARG(call->a->text));
        return false;
    }
    if (s->stage == (int)stage)
        return true;
    s->errors++;
    craft_report(s->diag, codes[stage], call->at,
                 sema_format(s, "put it under 'with %s():'", names[stage]),
                 "%.*s belongs to %s; it stands in %s", STR_ARG(call->a->text), names[stage],
                 s->stage < 0 ? "no stage" : names[s->stage]);
    return false;
}

/* A view as an argument; expressions are refused, since a transfer computes nothing. */
static TileNode *view_arg(Sema *s, const AstExpr *call, uint32_t i)
{
    Value v = sema_eval(s, call->items.at[i]);
    if (v.kind == VAL_TILE && v.tile->is_view)
        return v.tile;
    if (v.kind == VAL_TILE)
        sema_error(s, COMPUTE_STAGE, v.at, "compute it into a buffer in a compute block first",
                   "%.*s takes a buffer or view, this is a computation", STR_ARG(call->a->text));
    else if (v.kind != VAL_BAD)
        sema_error(s, KIND, v.at,
                   i == 0 && v.kind == VAL_REGION ? "load(buffer, gm): the buffer comes first"
                   : v.kind == VAL_SCALAR         ? "y[i] = s writes one element"
                   : v.kind == VAL_TENSOR         ? "L0A and L0B are loaded from L1"
                                                  : NULL,
                   "a buffer or view is needed here, this is %s", sema_describe(s, &v));
    return NULL;
}

static bool whole_tensor(Sema *s, Value *v)
{
    const IrTensor *t = sema_tensor(s, v->access.tensor);
    if (v->access.flat || ((t->role == IR_ROLE_IN_LIST || t->role == IR_ROLE_OUT_LIST))) {
        sema_error(s, RANK, v->at, "flat(x)[lo:hi], xs[i][t]", "an index is needed here");
        return false;
    }
    IrExprId zero = ir_int(s->ir, 0);
    v->kind = VAL_REGION;
    v->access.rank = t->rank;
    v->access.at = v->at;
    for (uint32_t i = 0; i < t->rank; i++) {
        v->access.start[i] = zero;
        v->access.size[i] = t->shape[i];
    }
    return true;
}

/* A GM region as an argument, in the direction of the transfer. */
static bool region_arg(Sema *s, const AstExpr *call, const AstExpr *arg, Value *v, bool write)
{
    if (write && arg->kind == EX_INDEX) { /* so that a single element is not read */
        Value base = sema_eval(s, arg->a);
        *v = base.kind == VAL_TENSOR ? sema_index_tensor(s, arg, base, false) : base;
        if (base.kind != VAL_TENSOR && base.kind != VAL_BAD) {
            sema_error(s, KIND, arg->at, "store(gm, buffer): the GM region comes first",
                       "a region of a GM tensor is needed here, this is a part of %s",
                       sema_describe(s, &base));
            return false;
        }
    } else {
        *v = sema_eval(s, arg);
    }
    if (v->kind == VAL_TENSOR && !whole_tensor(s, v))
        return false;
    if (v->kind == VAL_REGION)
        return write ? sema_may_write(s, &v->access, v->at) : sema_may_read(s, &v->access, v->at);
    if (v->kind == VAL_SCALAR)
        sema_error(s, REGION, v->at,
                   "s = x[i, j] reads one element; x[i, j:j+1] is a region of one",
                   "%.*s moves a region, this is one element", STR_ARG(call->a->text));
    else if (v->kind != VAL_BAD)
        sema_error(s, KIND, v->at, write ? "store(gm, buffer): the GM region comes first" : NULL,
                   "a region of a GM tensor is needed here, this is %s", sema_describe(s, v));
    return false;
}

/* The region as a tile shape; false: no transfer can move it. */
static bool region_shape(Sema *s, const Value *v, TileNode *shape)
{
    const IrAccess *a = &v->access;
    uint32_t ranges = 0;
    for (uint32_t i = 0; i < a->rank; i++)
        ranges += a->size[i] != 0;
    bool last = a->size[a->rank - 1] != 0;
    if (!last || ranges > 2) {
        sema_error(s, REGION, v->at,
                   last
                       ? "loop over one of the axes"
                       : "the last axis must be a range: x[t, j:j+1] is a 2-D region of one column",
                   last ? "the region has %u range axes; a transfer moves one or two"
                        : "the last axis of the region is a single index (%u range axes)",
                   ranges);
        return false;
    }
    *shape = (TileNode){.at = v->at};
    for (uint32_t i = 0; i < a->rank; i++)
        if (a->size[i])
            shape->size[shape->rank++] = a->size[i];
    return true;
}

static bool same_dtype(Sema *s, const TileNode *n, const Value *gm, Span at)
{
    const IrTensor *t = sema_tensor(s, gm->access.tensor);
    bool rounds = buffer_of(s, n)->memory == IR_L0C && n->dtype == DT_F32 &&
                  (t->dtype == DT_F16 || t->dtype == DT_BF16);
    if (n->dtype == t->dtype || rounds)
        return true;
    sema_error(s, DTYPE, at,
               sema_format(s, "use a buffer of %s for the transfer, and cast in compute",
                           dtype_name(t->dtype)),
               "the buffer is %s, '%s' is %s", dtype_name(n->dtype), t->name, dtype_name(t->dtype));
    return false;
}

static bool no_mask(Sema *s, const TileNode *n)
{
    if (!n->mask)
        return true;
    sema_error(s, MASK, n->at, "cast(m, bool) into a buffer of bool, and store that",
               "masks are not moved to or from GM");
    return false;
}

/* pad: the view may be longer than the region along the last axis. */
static bool padded_shape(Sema *s, const TileNode *dst, const TileNode *region, Span at)
{
    int64_t gap;
    if (dst->rank != region->rank)
        return sema_same_shape(s, dst, region, at, "load");
    if (dst->rank == 2 && !sema_same_size(s, dst->size[0], region->size[0]))
        return sema_same_shape(s, dst, region, at, "load");
    uint32_t last = dst->rank - 1;
    if (!sema_constant_gap(s, dst->size[last], region->size[last], &gap) || gap >= 0)
        return true;
    sema_error(s, SHAPE, at, NULL, "the view has %s elements, the region %s: pad= only lengthens",
               sema_expr_text(s, dst->size[last]), sema_expr_text(s, region->size[last]));
    return false;
}

static bool may_load(Sema *s, const AstExpr *call, IrMemory from, IrMemory to, bool gm)
{
    bool ok = gm ? to == IR_UB || to == IR_L1 : from == IR_L1 && (to == IR_L0A || to == IR_L0B);
    if (!ok)
        sema_error(s, ROLE, call->at,
                   "GM to UB or L1; L1 to L0A or L0B; UB to UB is an assignment in compute",
                   "load does not move between these memories");
    return ok;
}

static void load_on_chip(Sema *s, const AstExpr *call, const TileNode *dst, const TileNode *src,
                         bool transpose)
{
    if (!may_load(s, call, buffer_of(s, src)->memory, buffer_of(s, dst)->memory, false))
        return;
    if (dst->dtype != src->dtype) {
        sema_error(s, DTYPE, call->at,
                   sema_format(s, "declare both buffers as %s", dtype_name(src->dtype)),
                   "a load from %s into %s", dtype_name(src->dtype), dtype_name(dst->dtype));
        return;
    }
    TileNode turned = *src;
    if (transpose && src->rank == 2) {
        turned.size[0] = src->size[1];
        turned.size[1] = src->size[0];
    }
    if (!sema_same_shape(s, dst, &turned, call->at, transpose ? "load_transposed" : "load"))
        return;
    IrStmt *stmt = sema_emit(s, IR_S_LOAD, call->at);
    stmt->dst = dst->view;
    stmt->src[0] = src->view;
    stmt->src_count = 1;
    stmt->transpose = transpose;
}

static bool load_pad(Sema *s, const AstExpr *call, DType dtype, IrExprId *pad)
{
    const AstExpr *e = sema_keyword(call, "pad");
    *pad = 0;
    if (!e)
        return true;
    *pad = sema_scalar(s, e);
    if (*pad && dtype == DT_BOOL && sema_type(s, *pad) == DT_BOOL)
        return true;
    if (*pad)
        *pad = sema_fit_scalar(s, *pad, dtype, e->at);
    return *pad != 0;
}

static void load_stmt(Sema *s, const AstExpr *call, bool transpose)
{
    const AstExpr *from = call->items.at[1];
    TileNode region;
    Value v = {0};
    IrExprId pad;
    bool placed = in_stage(s, call, IR_COPYIN);
    TileNode *dst = s->in_host ? NULL : view_arg(s, call, 0);
    if (!dst || !placed || !no_mask(s, dst))
        return;
    if (buffer_of(s, dst)->memory == IR_L0A || buffer_of(s, dst)->memory == IR_L0B) {
        TileNode *src = view_arg(s, call, 1);
        if (src)
            load_on_chip(s, call, dst, src, transpose);
        return;
    }
    if (transpose) {
        sema_error(s, ROLE, call->at,
                   "load(l1_tile, x[...]), then load_transposed(l0_tile, l1_tile)",
                   "load_transposed moves from L1 to L0A or L0B");
        return;
    }
    if (!region_arg(s, call, from, &v, false) ||
        !may_load(s, call, IR_UB, buffer_of(s, dst)->memory, true) ||
        !region_shape(s, &v, &region) || !same_dtype(s, dst, &v, call->at) ||
        !load_pad(s, call, dst->dtype, &pad))
        return;
    if (pad ? !padded_shape(s, dst, &region, call->at)
            : !sema_same_shape(s, dst, &region, call->at, "load"))
        return;
    IrStmt *stmt = sema_emit(s, IR_S_LOAD, call->at);
    stmt->dst = dst->view;
    stmt->access = v.access;
    stmt->pad = pad;
}

static void store_stmt(Sema *s, const AstExpr *call, IrAtomic atomic)
{
    Value v = {0};
    TileNode region;
    bool placed = in_stage(s, call, IR_COPYOUT);
    TileNode *src = s->in_host ? NULL : view_arg(s, call, 1);
    if (!src || !placed || !no_mask(s, src) || !region_arg(s, call, call->items.at[0], &v, true) ||
        !region_shape(s, &v, &region) || !same_dtype(s, src, &v, call->at))
        return;
    IrMemory memory = buffer_of(s, src)->memory;
    if (memory != IR_UB && memory != IR_L0C) {
        sema_error(s, ROLE, call->at, "UB and L0C have a way out to GM",
                   "store does not move from this memory");
        return;
    }
    uint32_t atomics = D_FLOAT | D_INT;
    if (atomic && !(atomics >> src->dtype & 1)) {
        sema_error(s, NO_OP, call->at, NULL, "atomic stores do not exist for %s",
                   dtype_name(src->dtype));
        return;
    }
    if (!sema_same_shape(s, &region, src, call->at, "store"))
        return;
    IrStmt *stmt = sema_emit(s, IR_S_STORE, call->at);
    stmt->access = v.access;
    stmt->src[0] = src->view;
    stmt->src_count = 1;
    stmt->atomic = atomic;
}

/* ---- sorting and compaction ---- */

static bool want_vector(Sema *s, const TileNode *n, DType dtype, const char *what)
{
    if (!n->mask && n->rank == 1 && n->dtype == dtype)
        return true;
    sema_error(s, DTYPE, n->at, sema_format(s, "v = ub(%s, n), and v[:n] here", dtype_name(dtype)),
               "%s is a 1-D view of %s", what, dtype_name(dtype));
    return false;
}

/* A source that may be a computation; NULL: reported. */
static TileNode *source_arg(Sema *s, const AstExpr *call, uint32_t i, uint32_t dtypes)
{
    Value v = sema_eval(s, call->items.at[i]);
    const FnRow *fn = craft_fn_find(call->a->text);
    if (!sema_want_tile(s, &v, fn->name))
        return NULL;
    sema_settle(s, v.tile);
    if (v.tile->rank != 1) {
        sema_error(s, RANK, v.at, "b[i, :n] is one row", "%s works on a 1-D tile", fn->name);
        return NULL;
    }
    return sema_check_dtype(s, fn->op, dtypes, v.tile->dtype, v.at) ? v.tile : NULL;
}

static void sort_stmt(Sema *s, const AstExpr *call, IrTileOp op)
{
    if (!in_stage(s, call, IR_COMPUTE))
        return;
    TileNode *values = view_arg(s, call, 0), *places = view_arg(s, call, 1);
    TileNode *src = source_arg(s, call, 2, D_FLOAT);
    if (!values || !places || !src || !want_vector(s, values, src->dtype, "the first argument") ||
        !want_vector(s, places, DT_I32, "the second argument") ||
        !sema_same_shape(s, values, places, call->at, ir_tile_ops[op].name) ||
        (op == IR_T_SORT && !sema_same_shape(s, values, src, call->at, "sort")))
        return;
    IrView from = sema_emit_view(s, src);
    IrStmt *stmt = sema_emit(s, IR_S_OP, call->at);
    stmt->op = op;
    stmt->dst = values->view;
    stmt->dst2 = places->view;
    stmt->src[0] = from;
    stmt->src_count = 1;
}

void sema_assign_compact(Sema *s, const AstExpr *target, const AstExpr *call)
{
    if (!sema_want_args(s, call, 3, 3, NULL) || !in_stage(s, call, IR_COMPUTE))
        return;
    TileNode *dst = view_arg(s, call, 0);
    TileNode *src = source_arg(s, call, 1, D_FLOAT | D_I16 | D_I32);
    Value mask = sema_eval(s, call->items.at[2]);
    if (!dst || !src || !sema_want_mask(s, &mask, "compact") ||
        !want_vector(s, dst, src->dtype, "the first argument") ||
        !sema_same_shape(s, dst, src, call->at, "compact") ||
        !sema_same_shape(s, src, mask.tile, call->at, "compact"))
        return;
    IrView from = sema_emit_view(s, src), by = sema_emit_view(s, mask.tile);
    IrVarId var = sema_temp(s, "got", DT_I64, call->at);
    IrStmt *stmt = sema_emit(s, IR_S_OP, call->at);
    stmt->op = IR_T_COMPACT;
    stmt->var = var;
    stmt->dst = dst->view;
    stmt->src[0] = from;
    stmt->src[1] = by;
    stmt->src_count = 2;
    sema_assign_scalar(s, target->text, target->at, ir_var(s->ir, var), call->at);
}

/* ---- cube ---- */

static bool want_memory(Sema *s, const TileNode *n, IrMemory memory, const char *name)
{
    if (buffer_of(s, n)->memory == memory && n->rank == 2)
        return true;
    sema_error(s, ROLE, n->at, "mmad(c, a, b, init=...): c in l0c, a in l0a, b in l0b",
               "a 2-D view of %s is needed here", name);
    return false;
}

static bool mmad_sizes(Sema *s, const AstExpr *call, const TileNode *c, const TileNode *a,
                       const TileNode *b)
{
    bool ok = sema_same_size(s, c->size[0], a->size[0]) &&
              sema_same_size(s, a->size[1], b->size[0]) &&
              sema_same_size(s, c->size[1], b->size[1]);
    if (!ok)
        sema_error(s, SHAPE, call->at, "c[m, n], a[m, k], b[k, n]",
                   "mmad: c is [%s, %s], a is [%s, %s], b is [%s, %s]",
                   sema_expr_text(s, c->size[0]), sema_expr_text(s, c->size[1]),
                   sema_expr_text(s, a->size[0]), sema_expr_text(s, a->size[1]),
                   sema_expr_text(s, b->size[0]), sema_expr_text(s, b->size[1]));
    return ok;
}

static void mmad_stmt(Sema *s, const AstExpr *call, IrTileOp op)
{
    if (!in_stage(s, call, IR_COMPUTE))
        return;
    TileNode *c = view_arg(s, call, 0), *a = view_arg(s, call, 1), *b = view_arg(s, call, 2);
    const AstExpr *init = sema_keyword(call, "init");
    if (!init)
        sema_error(
            s, ARGS, call->at,
            "init=True starts from zero, init=False adds; in a loop over k: init=t.index == 0",
            "mmad needs init=");
    IrExprId first = init ? sema_boolean(s, init) : 0;
    if (!c || !a || !b || !first || !want_memory(s, c, IR_L0C, "l0c") ||
        !want_memory(s, a, IR_L0A, "l0a") || !want_memory(s, b, IR_L0B, "l0b") ||
        !mmad_sizes(s, call, c, a, b))
        return;
    DType sum = a->dtype == DT_I8 ? DT_I32 : DT_F32;
    bool hf32 = op == IR_T_MMAD_HF32;
    bool types = a->dtype == b->dtype && c->dtype == sum &&
                 (hf32 ? a->dtype == DT_F32 : dtype_is_float(a->dtype) || a->dtype == DT_I8);
    if (!types) {
        sema_error(s, NO_OP, call->at,
                   hf32 ? "f32 x f32 into f32; mmad takes other types"
                        : "f16 x f16, bf16 x bf16 or f32 x f32 into f32, i8 x i8 into i32",
                   "%s of %s and %s into %s does not exist", ir_tile_ops[op].name,
                   dtype_name(a->dtype), dtype_name(b->dtype), dtype_name(c->dtype));
        return;
    }
    IrStmt *stmt = sema_emit(s, IR_S_OP, call->at);
    stmt->op = op;
    stmt->dst = c->view;
    stmt->src[0] = a->view;
    stmt->src[1] = b->view;
    stmt->src_count = 2;
    stmt->scalar[0] = first;
    stmt->scalar_count = 1;
}

static void channel_stmt(Sema *s, const AstExpr *call, bool send)
{
    if (!in_stage(s, call, send ? IR_COPYOUT : IR_COPYIN))
        return;
    TileNode *first = view_arg(s, call, 0), *second = view_arg(s, call, 1);
    if (!first || !second)
        return;
    TileNode *channel = send ? first : second, *tile = send ? second : first;
    if (buffer_of(s, channel)->memory != IR_CHANNEL || buffer_of(s, tile)->memory == IR_CHANNEL ||
        tile->mask) {
        sema_error(s, ROLE, call->at, "send(ch, tile), recv(tile, ch)",
                   "one side is a channel, the other a tile");
        return;
    }
    bool rounds = send && buffer_of(s, tile)->memory == IR_L0C && tile->dtype == DT_F32;
    if ((tile->dtype != channel->dtype && !rounds) || tile->rank != channel->rank) {
        sema_error(s, DTYPE, call->at,
                   sema_format(s, "declare the tile as %s, with %u sizes",
                               dtype_name(channel->dtype), channel->rank),
                   "the channel holds %u-D tiles of %s, this is %u-D of %s", channel->rank,
                   dtype_name(channel->dtype), tile->rank, dtype_name(tile->dtype));
        return;
    }
    IrView ends = channel->view;
    for (uint32_t i = 0; i < tile->rank; i++)
        ends.size[i] = tile->size[i];
    IrStmt *stmt = sema_emit(s, send ? IR_S_SEND : IR_S_RECV, call->at);
    stmt->dst = send ? ends : tile->view;
    stmt->src[0] = send ? tile->view : ends;
    stmt->src_count = 1;
}

static void sync_stmt(Sema *s, const AstExpr *call)
{
    if (s->in_host)
        sema_error(s, KERNEL_ONLY, call->at, "launches run one after the other by themselves",
                   "sync_all belongs to a kernel");
    else if (s->stage >= 0)
        sema_error(s, SYNC_STAGE, call->at, "put it between the blocks",
                   "sync_all() inside a stage");
    else if (s->split_depth)
        sema_error(
            s, SYNC_STAGE, call->at, "put it after the loop",
            "sync_all() inside a loop that is split over cores: they do not run it equally often");
    else
        sema_emit(s, IR_S_SYNC_ALL, call->at);
}

bool sema_call_stmt(Sema *s, const AstExpr *call)
{
    const FnRow *fn = call->a->kind == EX_NAME ? craft_fn_find(call->a->text) : NULL;
    if (!fn || fn->kind != FN_STMT)
        return false;
    Str name = call->a->text;
    const char *keyword = str_is(name, "load") ? "pad" : str_starts(name, "mmad") ? "init" : NULL;
    if (!sema_want_args(s, call, fn->least, fn->most, keyword))
        return true;
    if (str_is(name, "load") || str_is(name, "load_transposed"))
        load_stmt(s, call, str_is(name, "load_transposed"));
    else if (str_is(name, "store"))
        store_stmt(s, call, IR_PLAIN);
    else if (str_is(name, "store_add"))
        store_stmt(s, call, IR_ADD);
    else if (str_is(name, "store_max"))
        store_stmt(s, call, IR_MAX);
    else if (str_is(name, "store_min"))
        store_stmt(s, call, IR_MIN);
    else if (fn->op == IR_T_SORT || fn->op == IR_T_TOPK)
        sort_stmt(s, call, fn->op);
    else if (ir_is_mmad(fn->op) && fn->kind == FN_STMT)
        mmad_stmt(s, call, fn->op);
    else if (str_is(name, "sync_all"))
        sync_stmt(s, call);
    else
        channel_stmt(s, call, str_is(name, "send"));
    return true;
}
