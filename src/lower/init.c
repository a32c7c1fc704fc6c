/* Pass 2, init. In: the launched kernels. Out: each class's members: which storage every buffer
 * of the source gets, queues with their slots, TBufs shared by what never lives at one time.
 *
 *     loads and vector work          TQue<VECIN>
 *     vector work and stores         TQue<VECOUT>
 *     loads and stores               TQueBind<VECIN, VECOUT>, with a hand-over to V in between
 *     vector work only               TBuf
 *     transfers in any other order   TBuf, and flags by hand around each transfer stage
 */
#include "lower/lower_int.h"

/* ---- load(..., pad=v): what lies past the last loaded block is filled by the vector unit ---- */

static bool needs_fill(const Lower *l, const IrStmt *s)
{
    if (s->kind != IR_S_LOAD || !s->pad || s->src_count)
        return false;
    uint32_t axis = s->dst.rank - 1;
    for (uint32_t i = s->access.rank; i-- > 0;) {
        if (!s->access.size[i])
            continue;
        if (!ir_same(l->ir, s->access.size[i], s->dst.size[axis]))
            return true;
        if (axis-- == 0)
            break;
    }
    return false;
}

static IrStmtId new_fill(Lower *l, const IrStmt *load, IrView dst)
{
    IrStmtId id = ir_stmt_new(l->ir, IR_S_OP, load->at);
    IrStmt *f = &l->ir->stmts.at[id];
    f->op = IR_T_FILL;
    f->dst = dst;
    f->scalar_count = 1;
    f->scalar[0] = load->pad;
    return id;
}

static IrExprId range_size(const IrAccess *a, uint32_t from_end)
{
    for (uint32_t i = a->rank; i-- > 0;)
        if (a->size[i] && from_end-- == 0)
            return a->size[i];
    return 0;
}

/* Fills what the load leaves unwritten of the tile: the columns right of its last 32-byte block, then the rows below. */
static void add_fills(Lower *l, const IrStmt *load, IrBlock *to)
{
    const IrView *v = &load->dst;
    uint32_t col = v->rank - 1;
    int64_t block = 32 / (int64_t)dtype_bytes(view_dtype(v));
    IrView right = *v;
    IrExprId got = lx_align(l, range_size(&load->access, 0), block);
    right.start[col] = lx_add(l, v->start[col], got);
    right.size[col] = lx_max(l, lx_sub(l, v->size[col], got), lx_int(l, 0));
    if (lx_most(l, right.size[col]) > 0)
        vec_push(l->arena, to, new_fill(l, load, right));
    IrExprId rows = v->rank == 2 ? range_size(&load->access, 1) : 0;
    if (!rows || ir_same(l->ir, rows, v->size[0]))
        return;
    IrView below = *v;
    below.start[0] = lx_add(l, v->start[0], rows);
    below.size[0] = lx_sub(l, v->size[0], rows);
    vec_push(l->arena, to, new_fill(l, load, below));
}

static void collect_fills(Lower *l, const IrBlock *block, IrBlock *fills)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt s = l->ir->stmts.at[block->at[i]];
        if (needs_fill(l, &s))
            add_fills(l, &s, fills);
    }
}

static void split_pads(Lower *l, IrBlock *block);

static void split_pads_in(Lower *l, IrStmtId id)
{
    IrBlock body = l->ir->stmts.at[id].body, orelse = l->ir->stmts.at[id].orelse;
    split_pads(l, &body);
    split_pads(l, &orelse);
    l->ir->stmts.at[id].body = body;
    l->ir->stmts.at[id].orelse = orelse;
}

/* The fills go first in a compute stage of their own, right after the loads. */
static void split_pads(Lower *l, IrBlock *block)
{
    IrBlock out = {0};
    for (uint32_t i = 0; i < block->len; i++) {
        IrStmtId id = block->at[i];
        vec_push(l->arena, &out, id);
        IrStmt *s = &l->ir->stmts.at[id];
        if (s->kind != IR_S_STAGE) {
            split_pads_in(l, id);
            continue;
        }
        IrBlock fills = {0}, body = s->body;
        Span at = s->at;
        collect_fills(l, &body, &fills);
        if (!fills.len)
            continue;
        IrStmtId stage = ir_stmt_new(l->ir, IR_S_STAGE, at);
        l->ir->stmts.at[stage].stage = IR_COMPUTE;
        l->ir->stmts.at[stage].body = fills;
        vec_push(l->arena, &out, stage);
    }
    *block = out;
}

/* ---- which storage ---- */

static bool in_order(const Part *a, const Part *b)
{
    return !a->any || !b->any || a->last < b->first;
}

static bool fits_queue(const Episode *e)
{
    return in_order(&e->load, &e->vector) && in_order(&e->vector, &e->store) &&
           in_order(&e->load, &e->store);
}

static void classify(Lower *l, uint32_t buffer)
{
    Placed *p = &l->plan->placed.at[buffer];
    for (uint32_t i = 0; i < l->plan->episodes.len; i++) {
        const Episode *e = &l->plan->episodes.at[i];
        if (e->buffer != buffer)
            continue;
        p->touches |= (uint8_t)((e->load.any ? TOUCH_LOAD : 0) |
                                (e->vector.any ? TOUCH_VECTOR : 0) |
                                (e->store.any ? TOUCH_STORE : 0));
        p->loose = p->loose || !fits_queue(e);
    }
    if (!(p->touches & (TOUCH_LOAD | TOUCH_STORE)))
        p->loose = false;
    p->direct = p->touches == (TOUCH_LOAD | TOUCH_STORE);
}

static AscStorage storage_of(const Placed *p)
{
    bool load = p->touches & TOUCH_LOAD, store = p->touches & TOUCH_STORE;
    if (p->loose || (!load && !store))
        return ASC_TBUF;
    return load && store ? ASC_QUE_BIND : load ? ASC_QUE_IN : ASC_QUE_OUT;
}

static void mark_compared(Lower *l, const IrBlock *block)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &l->ir->stmts.at[block->at[i]];
        mark_compared(l, &s->body);
        mark_compared(l, &s->orelse);
        if (s->kind != IR_S_OP || ir_tile_ops[s->op].kind != IR_CLASS_COMPARE)
            continue;
        for (uint32_t k = 0; k < s->src_count; k++)
            l->plan->placed.at[s->src[k].buffer].compared = true;
    }
}

/* ---- positions that only gathers use are kept in bytes, so that no gather multiplies them ---- */

bool lower_scales(IrTileOp op)
{
    switch (op) {
    case IR_T_IOTA:
    case IR_T_FILL:
    case IR_T_ROW:
    case IR_T_COL:
    case IR_T_COPY:
    case IR_T_ADD:
    case IR_T_SUB:
    case IR_T_ADDS:
    case IR_T_MAXS:
    case IR_T_MINS: return true;
    default: return false;
    }
}

bool lower_scales_after(const IrStmt *s)
{
    return s->kind == IR_S_OP && s->op == IR_T_CAST && s->dst.dtype == DT_I32 && s->dst.rank == 1 &&
           s->src[0].dtype != DT_I32;
}

/* The width of the elements that all gathers take at a buffer's positions. */
enum { NO_GATHER = 0, NOT_SCALED = -1 };

static bool join_width(int *a, int *b)
{
    int both = *a == *b ? *a : *a == NO_GATHER ? *b : *b == NO_GATHER ? *a : NOT_SCALED;
    bool changed = *a != both || *b != both;
    *a = *b = both;
    return changed;
}

/* What a statement says of the positions in each buffer. True: something new. */
static bool join_widths(const Lower *l, IrStmtId id, int *width)
{
    const IrStmt *s = &l->ir->stmts.at[id];
    bool changed = false, gathers = s->kind == IR_S_OP && s->op == IR_T_GATHER;
    bool sums = s->kind == IR_S_OP && lower_scales(s->op) && s->dst.dtype == DT_I32;
    for (uint32_t i = 0; sums && i < s->src_count; i++)
        changed = join_width(&width[s->dst.buffer], &width[s->src[i].buffer]) || changed;
    for (uint32_t b = 0; b < l->source->buffers.len && !sums; b++) {
        if (lower_scales_after(s) && s->dst.buffer == b)
            continue;
        bool positions = gathers && s->src[1].buffer == b && s->src[0].buffer != b &&
                         s->dst.buffer != b;
        int own = positions ? (int)dtype_bytes(s->dst.dtype) : NOT_SCALED;
        if (width[b] != NOT_SCALED && lower_touch(l, id, b))
            changed = join_width(&width[b], &own) || changed;
    }
    return changed;
}

static bool join_block(const Lower *l, const IrBlock *block, int *width)
{
    bool changed = false;
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &l->ir->stmts.at[block->at[i]];
        if (s->body.len || s->orelse.len) {
            changed = join_block(l, &s->body, width) || changed;
            changed = join_block(l, &s->orelse, width) || changed;
        } else {
            changed = join_widths(l, block->at[i], width) || changed;
        }
    }
    return changed;
}

static void mark_positions(Lower *l, const IrBlock *body)
{
    uint32_t n = l->source->buffers.len;
    int *width = arena_array(l->arena, int, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        const IrBuffer *b = &l->source->buffers.at[i];
        width[i] = b->dtype == DT_I32 && !b->mask ? NO_GATHER : NOT_SCALED;
    }
    while (join_block(l, body, width))
        ;
    for (uint32_t i = 0; i < n; i++)
        l->plan->placed.at[i].scaled = (uint8_t)(width[i] > 0 ? width[i] : 0);
}

/* ---- sizes ---- */

static IrExprId buffer_bytes(Lower *l, const IrBuffer *b, const Placed *p)
{
    if (b->memory != IR_UB)
        return cube_bytes(l, b);
    IrExprId cols = b->shape[b->rank - 1];
    IrExprId bytes;
    if (p->dense)
        cols = lx_mul(l, b->shape[0], lx_align(l, cols, p->unit));
    if (b->mask)
        bytes = ir_expr2(l->ir, IR_E_FLOORDIV, lx_align(l, cols, 256), lx_int(l, 8));
    else
        bytes = lx_align(l, lx_mul(l, cols, lx_int(l, (int64_t)dtype_bytes(b->dtype))), 32);
    if (b->rank == 2 && !p->dense)
        bytes = lx_mul(l, b->shape[0], bytes);
    if (p->compared)
        bytes = lx_add(l, lx_align(l, bytes, 256), b->rank == 2 ? lx_int(l, 256) : 0);
    return bytes;
}

/* ---- lives as intervals, for sharing ---- */

typedef struct Span2 {
    uint32_t begin, end;
} Span2;

static uint32_t number(const Lower *l, const IrBlock *block, Span2 *at, uint32_t next)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &l->ir->stmts.at[block->at[i]];
        at[block->at[i]].begin = next++;
        next = number(l, &s->body, at, next);
        next = number(l, &s->orelse, at, next);
        at[block->at[i]].end = next - 1;
    }
    return next;
}

static Span2 episode_span(const Lower *l, const Span2 *at, const Episode *e)
{
    const IrBlock *block = lower_block(l, e->home);
    return (Span2){at[block->at[e->first]].begin, at[block->at[e->last]].end};
}

static bool live_together(const Lower *l, const Span2 *at, uint32_t a, uint32_t b)
{
    const KernelPlan *plan = l->plan;
    for (uint32_t i = 0; i < plan->episodes.len; i++) {
        if (plan->episodes.at[i].buffer != a)
            continue;
        Span2 x = episode_span(l, at, &plan->episodes.at[i]);
        for (uint32_t j = 0; j < plan->episodes.len; j++) {
            if (plan->episodes.at[j].buffer != b)
                continue;
            Span2 y = episode_span(l, at, &plan->episodes.at[j]);
            if (x.begin <= y.end && y.begin <= x.end)
                return true;
        }
    }
    return false;
}

/* A TBuf whose present owners all live at other times. */
static uint32_t shared_tbuf(const Lower *l, const Span2 *at, uint32_t buffer)
{
    for (uint32_t t = 0; t < l->k->buffers.len; t++) {
        bool free = l->k->buffers.at[t].storage == ASC_TBUF &&
                    l->k->buffers.at[t].memory == l->source->buffers.at[buffer].memory;
        bool owned = false;
        for (uint32_t i = 0; free && i < l->k->locals.len; i++) {
            const AscLocal *o = &l->k->locals.at[i];
            if (o->buffer != t)
                continue;
            owned = true;
            free = !l->plan->placed.at[o->source].loose && !live_together(l, at, buffer, o->source);
        }
        if (free && owned)
            return t;
    }
    return UINT32_MAX;
}

/* Only what goes through a queue can be double-buffered. */
static void warn_of_depth(Lower *l, const IrBuffer *b, const Placed *p)
{
    if (!b->depth || lx_most(l, b->depth) < 2)
        return;
    diag_warn(l->diag, "W093", b->at, "the depth of '%s' has no effect: %s", b->name,
              p->loose ? "it is loaded again, or stored, while its old contents are still in use"
                       : "no load and no store touches it");
    diag_hint(l->diag, p->loose ? "load into one buffer and keep what lasts in another, or leave "
                                  "depth out"
                                : "leave depth out");
}

/* The cube's buffers are queues: what is written is read by the next engine, then free again. */
static void refuse_order(Lower *l, const IrBuffer *b)
{
    static const char *const ways[] = {[IR_L1] = "loaded from GM, then into L0",
                                       [IR_L0A] = "loaded from L1, then multiplied",
                                       [IR_L0B] = "loaded from L1, then multiplied",
                                       [IR_L0C] = "multiplied into, then stored or sent"};
    diag_error(l->diag, "E090", b->at,
               "'%s' is written again while its old contents are still in use", b->name);
    diag_hint(l->diag, "a tile here is %s, and only then written again", ways[b->memory]);
}

static void place(Lower *l, const Span2 *at, uint32_t buffer)
{
    const IrBuffer *b = &l->source->buffers.at[buffer];
    Placed *p = &l->plan->placed.at[buffer];
    AscStorage storage = storage_of(p);
    IrExprId bytes = buffer_bytes(l, b, p);
    uint32_t member = UINT32_MAX;
    if (p->loose && b->memory != IR_UB) {
        refuse_order(l, b);
        return;
    }
    if (storage == ASC_TBUF)
        warn_of_depth(l, b, p);
    if (storage == ASC_TBUF && !p->loose)
        member = shared_tbuf(l, at, buffer);
    if (member != UINT32_MAX) {
        AscBuffer *shared = &l->k->buffers.at[member];
        shared->bytes = lx_max(l, shared->bytes, bytes);
    } else {
        AscBuffer made = {.memory = b->memory, .storage = storage, .bytes = bytes, .at = b->at};
        made.name = str_format(l->arena, "%s.%s", b->name, storage == ASC_TBUF ? "buf" : "que");
        if (storage != ASC_TBUF)
            made.depth = b->depth ? b->depth : lx_int(l, 1);
        member = l->k->buffers.len;
        vec_push(l->arena, &l->k->buffers, made);
    }
    DType dtype = b->mask || b->dtype == DT_BOOL ? DT_U8 : b->dtype;
    vec_push(l->arena, &l->k->locals, ((AscLocal){b->name, dtype, member, buffer}));
    p->local = l->k->locals.len - 1;
}

/* ---- limits ---- */

enum { QUEUE_SLOTS = 8 };

/* Tiles of L0A and L0B wait on the same two pipes; three of their flags are the vendor's own. */
static void check_cube_slots(Lower *l)
{
    enum { L0_SLOTS = 5 };
    int64_t slots[IR_CHANNEL] = {0};
    for (uint32_t i = 0; i < l->k->buffers.len; i++) {
        const AscBuffer *b = &l->k->buffers.at[i];
        IrMemory m = b->memory == IR_L0B ? IR_L0A : b->memory;
        if (!asc_is_queue(b->storage) || m == IR_UB)
            continue;
        slots[m] += lx_most(l, b->depth);
        int64_t most = m == IR_L0A ? L0_SLOTS : QUEUE_SLOTS;
        if (slots[m] <= most)
            continue;
        diag_error(l->diag, "E093", b->at,
                   "'%s' is the buffer that makes more than %lld slots between two engines",
                   asc_buffer_stem(l->arena, b), (long long)most);
        diag_hint(l->diag,
                  "a slot costs one of the chip's event numbers: use depth=1 for some buffers");
        return;
    }
}

static void check_slots(Lower *l)
{
    int64_t in = 0, out = 0;
    check_cube_slots(l);
    for (uint32_t i = 0; i < l->k->buffers.len; i++) {
        const AscBuffer *b = &l->k->buffers.at[i];
        if (!asc_is_queue(b->storage) || b->memory != IR_UB)
            continue;
        int64_t slots = lx_most(l, b->depth);
        in += b->storage == ASC_QUE_OUT ? 0 : slots;
        out += b->storage == ASC_QUE_IN ? 0 : slots;
        if ((in > QUEUE_SLOTS && b->storage != ASC_QUE_OUT) ||
            (out > QUEUE_SLOTS && b->storage != ASC_QUE_IN)) {
            diag_error(l->diag, "E093", b->at,
                       "'%s' is the buffer that makes more than %d queue slots of one direction",
                       asc_buffer_stem(l->arena, b), QUEUE_SLOTS);
            diag_hint(l->diag,
                      "a slot costs one of the chip's event numbers: use depth=1 for some buffers");
            return;
        }
    }
}

static void members(Lower *l)
{
    for (uint32_t i = 0; i < l->source->params.len; i++)
        if (!l->source->params.at[i].is_tensor)
            vec_push(l->arena, &l->k->members,
                     l->ir->exprs.at[l->source->params.at[i].value].of.var);
    for (uint32_t i = 0; i < l->ir->dims.len; i++) {
        const IrVar *v = &l->ir->vars.at[l->ir->dims.at[i]];
        if (v->lo != v->hi && ir_kernels_read(l->ir, l->ir->dims.at[i]))
            vec_push(l->arena, &l->k->members, l->ir->dims.at[i]);
    }
    if (l->k->cores)
        vec_push(l->arena, &l->k->members, l->k->cores);
}

static void init_kernel(Lower *l, uint32_t kernel)
{
    IrKernel *source = &l->ir->kernels.at[kernel];
    l->k = &l->out->kernels.at[kernel];
    l->plan = &l->plans.at[kernel];
    l->k->source = l->source = source;
    split_pads(l, &source->body);
    for (uint32_t i = 0; i < source->buffers.len; i++)
        vec_push(l->arena, &l->plan->placed, ((Placed){.local = ASC_NO_LOCAL}));
    lower_lives(l);
    lower_pitches(l);
    mark_compared(l, &source->body);
    mark_positions(l, &source->body);
    Span2 *at = arena_array(l->arena, Span2, l->ir->stmts.len);
    number(l, &source->body, at, 1);
    for (uint32_t i = 0; i < source->buffers.len; i++) {
        classify(l, i);
        if (l->plan->placed.at[i].touches)
            place(l, at, i);
    }
    members(l);
    check_slots(l);
}

/* requires: paths and fields; sends and receives are stores and loads.
 * keeps: queue buffers have a member of their own; a TBuf's owners are never live together. */
bool lower_init(Lower *l)
{
    for (uint32_t i = 0; i < l->out->kernels.len; i++)
        vec_push(l->arena, &l->plans, (KernelPlan){0});
    for (uint32_t i = 0; i < l->out->kernels.len; i++)
        if (l->out->kernels.at[i].launched)
            init_kernel(l, i);
    lower_streams(l);
    return diag_ok(l->diag);
}
