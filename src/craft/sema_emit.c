/* Tile expressions to IR: three-address operations, one result each. In: typed TileNodes. Out:
 * statements of the current block.
 *
 * A nested operand goes into the destination itself where nothing still needs what the
 * destination holds, else into a scratch buffer; scratch is given back as soon as it is read,
 * so that disjoint lives share. An operand that overlaps its destination without being the
 * same view (a shift in place) goes through scratch. */
#include "craft/sema.h"

#include <string.h>

/* Both vector cores of a core run the role: what leaves it, or comes through a channel, is of one of them. */
static void check_turns(Sema *s, IrStmtKind kind, Span at)
{
    bool leaves = kind == IR_S_STORE || kind == IR_S_GM_WRITE || kind == IR_S_SEND ||
                  kind == IR_S_RECV;
    if (leaves && !s->in_host && s->kernel_def.paired && s->role == IR_CORE_VECTOR && !s->turns)
        sema_error(s, TURNS, at, "for r in alternate(tiles(c.size, 32)):",
                   "both vector cores of a core would do this");
}

IrStmt *sema_emit(Sema *s, IrStmtKind kind, Span at)
{
    check_turns(s, kind, at);
    IrStmtId id = ir_stmt_new(s->ir, kind, at);
    vec_push(s->arena, s->block, id);
    return &s->ir->stmts.at[id];
}

IrVarId sema_temp(Sema *s, const char *stem, DType type, Span at)
{
    IrVarKind kind = s->in_host ? IR_VAR_HOST : IR_VAR_LOCAL;
    IrVarId var = ir_var_new(s->ir, kind, sema_unique(s, stem), type);
    s->ir->vars.at[var].kernel = s->kernel;
    s->ir->vars.at[var].at = at;
    return var;
}

bool sema_in_compute(Sema *s, Span at, const char *what)
{
    if (s->in_host) {
        sema_error(s, KERNEL_ONLY, at, NULL, "%s belongs to a kernel", what);
        return false;
    }
    if (s->stage == IR_COMPUTE)
        return true;
    const char *where = s->stage == IR_COPYIN    ? "a copyin block"
                        : s->stage == IR_COPYOUT ? "a copyout block"
                                                 : "no stage";
    sema_error(s, COMPUTE_STAGE, at, "put it under 'with compute():'",
               "%s belongs to compute; it stands in %s", what, where);
    return false;
}

/* ---- scratch ---- */

static IrBuffer *buffer_at(Sema *s, uint32_t buffer)
{
    return &s->ir->kernels.at[s->kernel].buffers.at[buffer];
}

static bool scratch_fits(Sema *s, const IrBuffer *b, const TileNode *n)
{
    if (b->mask != n->mask || b->rank != n->rank || (!n->mask && b->dtype != n->dtype))
        return false;
    for (uint32_t i = 0; i < b->rank; i++)
        if (!ir_same(s->ir, b->shape[i], n->cap[i]))
            return false;
    return true;
}

static uint32_t new_scratch(Sema *s, const TileNode *n)
{
    IrBuffer b = {.memory = IR_UB,
                  .mask = n->mask,
                  .scratch = true,
                  .rank = n->rank,
                  .at = n->at,
                  .dtype = n->mask ? DT_BOOL : n->dtype};
    uint32_t number = s->names_made;
    s->names_made = s->scratch.len;
    b.name = sema_unique(s, "tmp");
    s->names_made = number;
    memcpy(b.shape, n->cap, sizeof b.shape);
    IrKernel *k = &s->ir->kernels.at[s->kernel];
    vec_push(s->arena, &k->buffers, b);
    vec_push(s->arena, &s->scratch, (Scratch){.buffer = k->buffers.len - 1});
    return s->scratch.len - 1;
}

/* A view of a free scratch buffer that holds what the node gives. */
static IrView take_scratch(Sema *s, const TileNode *n)
{
    uint32_t i = 0;
    while (i < s->scratch.len &&
           (s->scratch.at[i].busy || !scratch_fits(s, buffer_at(s, s->scratch.at[i].buffer), n)))
        i++;
    if (i == s->scratch.len)
        i = new_scratch(s, n);
    s->scratch.at[i].busy = s->stmt_depth;
    IrView v = {.buffer = s->scratch.at[i].buffer,
                .rank = n->rank,
                .at = n->at,
                .dtype = n->mask ? DT_BOOL : n->dtype};
    for (uint32_t a = 0; a < n->rank; a++) {
        v.start[a] = ir_int(s->ir, 0);
        v.size[a] = n->size[a];
    }
    return v;
}

void sema_release(Sema *s, const IrView *view)
{
    for (uint32_t i = 0; i < s->scratch.len; i++)
        if (s->scratch.at[i].buffer == view->buffer)
            s->scratch.at[i].busy = 0;
}

void sema_release_since(Sema *s, uint32_t stmt_depth)
{
    for (uint32_t i = 0; i < s->scratch.len; i++)
        if (s->scratch.at[i].busy > stmt_depth)
            s->scratch.at[i].busy = 0;
}

/* ---- overlap ---- */

static bool same_view(Sema *s, const IrView *a, const IrView *b)
{
    if (a->buffer != b->buffer || a->dtype != b->dtype || a->rank != b->rank ||
        !a->row != !b->row || (a->row && !sema_same_size(s, a->row, b->row)))
        return false;
    for (uint32_t i = 0; i < a->rank; i++)
        if (!sema_same_size(s, a->start[i], b->start[i]) ||
            !sema_same_size(s, a->size[i], b->size[i]))
            return false;
    return true;
}

/* b begins where a ends or later, along an axis. */
static bool follows(Sema *s, const IrView *a, const IrView *b, uint32_t axis)
{
    int64_t gap;
    IrExprId end = ir_expr2(s->ir, IR_E_ADD, a->start[axis], a->size[axis]);
    return sema_constant_gap(s, b->start[axis], end, &gap) && gap >= 0;
}

static bool disjoint(Sema *s, const IrView *a, const IrView *b)
{
    int64_t gap;
    if (a->buffer != b->buffer)
        return true;
    if (a->rank != b->rank || a->dtype != b->dtype)
        return false;
    if (a->row && b->row && sema_constant_gap(s, a->row, b->row, &gap) && gap)
        return true;
    for (uint32_t i = 0; i < a->rank; i++)
        if (follows(s, a, b, i) || follows(s, b, a, i))
            return true;
    return false;
}

static bool touches(Sema *s, const TileNode *n, const IrView *dst)
{
    if (n->is_view)
        return !disjoint(s, &n->view, dst);
    for (uint32_t i = 0; i < n->src_count; i++)
        if (touches(s, n->src[i], dst))
            return true;
    return false;
}

/* May write its result over an operand that is the very same view. */
static bool in_place(IrTileOp op)
{
    switch (ir_tile_ops[op].kind) {
    case IR_CLASS_ELEM:
    case IR_CLASS_BITS:
    case IR_CLASS_SELECT:
    case IR_CLASS_CAST: return true;
    default: return false;
    }
}

static bool clashes(Sema *s, const TileNode *n, const IrView *dst)
{
    for (uint32_t i = 0; i < n->src_count; i++) {
        const TileNode *src = n->src[i];
        if (src->is_view && !disjoint(s, &src->view, dst) &&
            !(in_place(n->op) && same_view(s, &src->view, dst)))
            return true;
    }
    return false;
}

/* ---- emission ---- */

static bool same_kind(Sema *s, const TileNode *n, const IrView *dst)
{
    const IrBuffer *b = buffer_at(s, dst->buffer);
    return b->mask == n->mask && (n->mask || dst->dtype == n->dtype) && dst->rank == n->rank;
}

/* Operand i may be computed in dst: no operand that is still to be read needs what dst holds.
 * Nested operands before i have been computed already. */
static bool may_use_dst(Sema *s, const TileNode *n, uint32_t i, const IrView *dst)
{
    if (!in_place(n->op) || !same_kind(s, n->src[i], dst))
        return false;
    for (uint32_t a = 0; a < dst->rank; a++)
        if (!sema_same_size(s, n->src[i]->size[a], dst->size[a]))
            return false;
    for (uint32_t j = 0; j < n->src_count; j++)
        if (j != i && (j > i || n->src[j]->is_view) && touches(s, n->src[j], dst))
            return false;
    return true;
}

static void emit_op(Sema *s, const TileNode *n, const IrView *dst, const IrView *src)
{
    IrStmt *stmt = sema_emit(s, IR_S_OP, n->at);
    stmt->op = n->op;
    stmt->round = n->round;
    stmt->dst = *dst;
    stmt->src_count = n->src_count;
    stmt->scalar_count = n->scalar_count;
    for (uint32_t i = 0; i < n->src_count; i++)
        stmt->src[i] = src[i];
    for (uint32_t i = 0; i < n->scalar_count; i++)
        stmt->scalar[i] = n->scalar[i];
}

static void emit_copy(Sema *s, const IrView *dst, const IrView *src, Span at)
{
    IrStmt *stmt = sema_emit(s, IR_S_OP, at);
    stmt->op = IR_T_COPY;
    stmt->dst = *dst;
    stmt->src[0] = *src;
    stmt->src_count = 1;
}

static void emit_node(Sema *s, TileNode *n, const IrView *dst)
{
    IrView src[IR_MAX_OPERANDS];
    bool dst_used = false, made[IR_MAX_OPERANDS] = {0};
    for (uint32_t i = 0; i < n->src_count; i++) {
        TileNode *operand = n->src[i];
        if (operand->is_view) {
            src[i] = operand->view;
        } else if (!dst_used && may_use_dst(s, n, i, dst)) {
            src[i] = *dst;
            dst_used = true;
            sema_emit_into(s, operand, dst);
        } else {
            src[i] = sema_emit_view(s, operand);
            made[i] = true;
        }
    }
    emit_op(s, n, dst, src);
    for (uint32_t i = 0; i < n->src_count; i++)
        if (made[i])
            sema_release(s, &src[i]);
}

void sema_emit_into(Sema *s, TileNode *n, const IrView *dst)
{
    if (!sema_step(s, n->at))
        return;
    if (n->is_view && same_view(s, &n->view, dst))
        return;
    if (n->is_view && disjoint(s, &n->view, dst)) {
        emit_copy(s, dst, &n->view, n->at);
        return;
    }
    if (!n->is_view && !clashes(s, n, dst)) {
        emit_node(s, n, dst);
        return;
    }
    IrView aside = take_scratch(s, n);
    if (n->is_view)
        emit_copy(s, &aside, &n->view, n->at);
    else
        emit_node(s, n, &aside);
    emit_copy(s, dst, &aside, n->at);
    sema_release(s, &aside);
}

IrView sema_emit_view(Sema *s, TileNode *n)
{
    if (n->is_view)
        return n->view;
    IrView v = take_scratch(s, n);
    sema_emit_into(s, n, &v);
    return v;
}

IrExprId sema_emit_scalar_op(Sema *s, IrTileOp op, TileNode *src, IrExprId scalar, DType type,
                             Span at)
{
    IrView view = sema_emit_view(s, src);
    IrVarId var = sema_temp(s, "got", type, at);
    IrStmt *stmt = sema_emit(s, IR_S_OP, at);
    stmt->op = op;
    stmt->var = var;
    stmt->src[0] = view;
    stmt->src_count = 1;
    if (scalar) {
        stmt->scalar[0] = scalar;
        stmt->scalar_count = 1;
    }
    if (!src->is_view)
        sema_release(s, &view);
    return ir_var(s->ir, var);
}
