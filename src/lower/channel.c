/* Channels between the two roles of a kernel. In: sends and receives. Out: stores to and loads from
 * a workspace that the launch hands over, and for each of them the flags that go with it.
 *
 *     workspace[core, slot, rows, columns]      a slot begins at a multiple of 512 bytes
 *     sender:   wait `free`, store, signal `full` after the store
 *     receiver: wait `full`, load, signal `free` after the load
 *
 * At its start the receiver announces every slot as free; at its end the sender waits for all of them,
 * so that no flag is left up for the next launch. */
#include "lower/lower_int.h"

/* Numbers 11 to 15 belong to the vendor's own synchronisation (CrossCoreSetFlag.md). */
enum { MOST_CHANNELS = 5, SLOT_BYTES = 512, MOST_DEPTH = 8 };

const ChannelEnd *lower_channel_end(const Lower *l, IrStmtId stmt)
{
    for (uint32_t i = 0; i < l->ends.len; i++)
        if (l->ends.at[i].stmt == stmt)
            return &l->ends.at[i];
    return NULL;
}

/* ---- flags ---- */

static void put_signal(Lower *l, enum NpuPipe pipe, uint32_t flag)
{
    AscStmt *s = ls_new(l, ASC_S_CUBE);
    s->cube = ASC_CUBE_SIGNAL;
    s->pipe = pipe;
    s->flag = flag;
}

static void put_await(Lower *l, uint32_t flag)
{
    AscStmt *s = ls_new(l, ASC_S_CUBE);
    s->cube = ASC_CUBE_AWAIT;
    s->flag = flag;
}

/* The first end of each channel that this role of the kernel holds. */
static bool is_first(const Lower *l, uint32_t i, IrCore role)
{
    const ChannelEnd *e = &l->ends.at[i];
    if (&l->ir->kernels.at[e->kernel] != l->source || e->role != role)
        return false;
    for (uint32_t k = 0; k < i; k++)
        if (l->ends.at[k].slot == e->slot)
            return false;
    return true;
}

void lower_channels_open(Lower *l, IrCore role)
{
    for (uint32_t i = 0; i < l->ends.len; i++) {
        const ChannelEnd e = l->ends.at[i];
        if (!is_first(l, i, role))
            continue;
        ls_set(l, e.slot, lx_int(l, 0));
        for (int64_t k = 0; !e.sends && k < e.depth; k++)
            put_signal(l, NPU_PIPE_MTE2, e.free);
    }
}

void lower_channels_close(Lower *l, IrCore role)
{
    for (uint32_t i = 0; i < l->ends.len; i++)
        if (is_first(l, i, role) && l->ends.at[i].sends)
            for (int64_t k = 0; k < l->ends.at[i].depth; k++)
                put_await(l, l->ends.at[i].free);
}

void lower_channel_before(Lower *l, const ChannelEnd *end)
{
    put_await(l, end->sends ? end->free : end->full);
}

void lower_channel_after(Lower *l, const ChannelEnd *end)
{
    enum NpuPipe out = end->role == IR_CORE_CUBE ? NPU_PIPE_FIX : NPU_PIPE_MTE3;
    put_signal(l, end->sends ? out : NPU_PIPE_MTE2, end->sends ? end->full : end->free);
    IrExprId next = lx_add(l, lx_var(l, end->slot), lx_int(l, 1));
    ls_set(l, end->slot, ir_expr2(l->ir, IR_E_MOD, next, lx_int(l, end->depth)));
}

/* ---- the workspace ---- */

static IrExprId core_number(Lower *l)
{
    IrExpr e = {.op = IR_E_CORE_ID, .type = DT_I64, .at = l->span};
    vec_push(l->ir->arena, &l->ir->exprs, e);
    return l->ir->exprs.len - 1;
}

/* The expression of a kernel as its launch knows it. */
static IrExprId at_launch(Lower *l, const IrKernel *k, const IrStmt *launch, IrExprId e)
{
    const IrExpr x = l->ir->exprs.at[e];
    if (x.op == IR_E_VAR) {
        for (uint32_t i = 0; i < k->params.len && i < launch->args.len; i++)
            if (!k->params.at[i].is_tensor &&
                l->ir->exprs.at[k->params.at[i].value].of.var == x.of.var)
                return launch->args.at[i].value;
        return e;
    }
    int arity = ir_expr_rows[x.op].arity;
    if (arity == 1)
        return ir_expr1(l->ir, x.op, at_launch(l, k, launch, x.arg[0]));
    if (arity == 2)
        return ir_expr2(l->ir, x.op, at_launch(l, k, launch, x.arg[0]),
                        at_launch(l, k, launch, x.arg[1]));
    return e;
}

typedef struct ChannelPlace {
    uint32_t kernel, channel, tensor; /* tensor: of the kernel */
    int64_t depth;
} ChannelPlace;

/* [core, slot, rows, columns], the columns rounded up to whole 512 bytes. */
static IrTensor room_for(Lower *l, const IrBuffer *b, IrExprId cores, int64_t depth)
{
    IrTensor t = {.role = IR_ROLE_WORKSPACE, .dtype = b->dtype, .rank = 2 + b->rank, .at = b->at};
    t.name = str_format(l->arena, "%s.slots", b->name);
    t.shape[0] = cores;
    t.shape[1] = lx_int(l, depth);
    for (uint32_t i = 0; i < b->rank; i++)
        t.shape[2 + i] = b->shape[i];
    t.shape[t.rank - 1] = lx_align(l, b->shape[b->rank - 1],
                                   SLOT_BYTES / (int64_t)dtype_bytes(b->dtype));
    return t;
}

static void hand_over(Lower *l, IrStmtId launch, uint32_t kernel, const IrBuffer *b, int64_t depth)
{
    const IrKernel *k = &l->ir->kernels.at[kernel];
    IrTensor t = room_for(l, b, l->ir->stmts.at[launch].cores, depth);
    for (uint32_t i = 2; i < t.rank; i++)
        t.shape[i] = at_launch(l, k, &l->ir->stmts.at[launch], t.shape[i]);
    vec_push(l->arena, &l->ir->tensors, t);
    IrStmt *s = &l->ir->stmts.at[launch];
    IrArg arg = {.is_tensor = true, .tensor = l->ir->tensors.len - 1};
    VEC(IrArg) own = {0};
    for (uint32_t i = 0; i < s->args.len; i++)
        vec_push(l->arena, &own, s->args.at[i]);
    vec_push(l->arena, &own, arg);
    s->args.at = own.at;
    s->args.len = own.len;
    s->args.cap = own.cap;
}

static void give_launches(Lower *l, const IrBlock *block, uint32_t kernel, const IrBuffer *b,
                          int64_t depth)
{
    for (uint32_t i = 0; i < block->len; i++) {
        IrStmtId id = block->at[i];
        IrBlock body = l->ir->stmts.at[id].body, orelse = l->ir->stmts.at[id].orelse;
        if (l->ir->stmts.at[id].kind == IR_S_LAUNCH && l->ir->stmts.at[id].kernel == kernel)
            hand_over(l, id, kernel, b, depth);
        give_launches(l, &body, kernel, b, depth);
        give_launches(l, &orelse, kernel, b, depth);
    }
}

static uint32_t add_parameter(Lower *l, uint32_t kernel, const IrBuffer *b, int64_t depth)
{
    IrKernel *k = &l->ir->kernels.at[kernel];
    IrTensor t = room_for(l, b, lx_int(l, l->chip->aic), depth);
    VEC(IrTensor) tensors = {0};
    VEC(IrArg) params = {0};
    for (uint32_t i = 0; i < k->tensors.len; i++)
        vec_push(l->arena, &tensors, k->tensors.at[i]);
    for (uint32_t i = 0; i < k->params.len; i++)
        vec_push(l->arena, &params, k->params.at[i]);
    vec_push(l->arena, &tensors, t);
    vec_push(l->arena, &params, ((IrArg){.is_tensor = true, .tensor = k->tensors.len}));
    k->tensors.at = tensors.at;
    k->tensors.len = tensors.len;
    k->tensors.cap = tensors.cap;
    k->params.at = params.at;
    k->params.len = params.len;
    k->params.cap = params.cap;
    return k->tensors.len - 1;
}

/* ---- the transfers ---- */

static IrVarId slot_of(Lower *l, const ChannelPlace *place, IrCore role, const char *name)
{
    for (uint32_t i = 0; i < l->ends.len; i++) {
        const ChannelEnd *e = &l->ends.at[i];
        if (e->kernel == place->kernel && e->channel == place->channel && e->role == role)
            return e->slot;
    }
    IrVarId slot = lx_local(l, str_format(l->arena, "%s.slot", name), DT_I64);
    l->ir->vars.at[slot].lo = 0;
    l->ir->vars.at[slot].hi = place->depth - 1;
    return slot;
}

static void make_transfer(Lower *l, IrStmtId id, const ChannelPlace *place, IrCore role,
                          uint32_t number)
{
    IrStmt s = l->ir->stmts.at[id];
    bool sends = s.kind == IR_S_SEND;
    const IrView tile = sends ? s.src[0] : s.dst;
    const char *name = l->ir->kernels.at[place->kernel].buffers.at[place->channel].name;
    l->span = s.at;
    ChannelEnd end = {.stmt = id,
                      .kernel = place->kernel,
                      .channel = place->channel,
                      .role = role,
                      .sends = sends,
                      .slot = slot_of(l, place, role, name),
                      .depth = place->depth,
                      .full = 2 * number,
                      .free = 2 * number + 1};
    IrAccess a = {.tensor = place->tensor, .rank = 2 + tile.rank, .at = s.at};
    a.start[0] = core_number(l);
    a.start[1] = lx_var(l, end.slot);
    for (uint32_t i = 0; i < tile.rank; i++) {
        a.start[2 + i] = lx_int(l, 0);
        a.size[2 + i] = tile.size[i];
    }
    s.kind = sends ? IR_S_STORE : IR_S_LOAD;
    s.access = a;
    s.src_count = sends ? 1 : 0;
    l->ir->stmts.at[id] = s;
    vec_push(l->arena, &l->ends, end);
}

static void make_transfers(Lower *l, const IrBlock *block, const ChannelPlace *place, IrCore role,
                           uint32_t number)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt s = l->ir->stmts.at[block->at[i]];
        bool here = (s.kind == IR_S_SEND && s.dst.buffer == place->channel) ||
                    (s.kind == IR_S_RECV && s.src[0].buffer == place->channel);
        if (here)
            make_transfer(l, block->at[i], place, role, number);
        IrCore inside = s.kind == IR_S_ROLE ? s.core : role;
        make_transfers(l, &s.body, place, inside, number);
        make_transfers(l, &s.orelse, place, inside, number);
    }
}

static bool refuse_channel(Lower *l, const IrBuffer *b, const char *what, const char *hint)
{
    diag_error(l->diag, "E090", b->at, "channel '%s': %s", b->name, what);
    diag_hint(l->diag, "%s", hint);
    return false;
}

/* One role sends and the other receives. */
static bool one_way(const Lower *l, const ChannelPlace *place)
{
    for (uint32_t i = 0; i < l->ends.len; i++)
        for (uint32_t k = 0; k < i; k++) {
            const ChannelEnd *a = &l->ends.at[i], *b = &l->ends.at[k];
            bool both = a->kernel == place->kernel && b->kernel == place->kernel &&
                        a->channel == place->channel && b->channel == place->channel;
            if (both && (a->role == b->role) != (a->sends == b->sends))
                return false;
        }
    return true;
}

static bool place_channel(Lower *l, uint32_t kernel, uint32_t channel, uint32_t number)
{
    const IrBuffer b = l->ir->kernels.at[kernel].buffers.at[channel];
    ChannelPlace place = {.kernel = kernel, .channel = channel, .depth = 1};
    if (number >= MOST_CHANNELS)
        return refuse_channel(l, &b, "a kernel has flags for 5 channels",
                              "send several tiles through one channel");
    if (b.depth && !ir_is_int(l->ir, b.depth, &place.depth))
        return refuse_channel(l, &b, "its depth is not a constant", "depth=2");
    if (place.depth > MOST_DEPTH)
        return refuse_channel(l, &b, "a flag counts 8 slots", "depth=8 at most");
    l->span = b.at;
    place.tensor = add_parameter(l, kernel, &b, place.depth);
    give_launches(l, &l->ir->host, kernel, &b, place.depth);
    make_transfers(l, &l->ir->kernels.at[kernel].body, &place, IR_CORE_VECTOR, number);
    return one_way(l, &place) || refuse_channel(l, &b, "both roles send, or both receive",
                                                "use a channel for each direction");
}

bool lower_channels(Lower *l)
{
    for (uint32_t k = 0; k < l->ir->kernels.len; k++) {
        uint32_t number = 0;
        for (uint32_t i = 0; i < l->ir->kernels.at[k].buffers.len; i++)
            if (l->ir->kernels.at[k].buffers.at[i].memory == IR_CHANNEL &&
                !place_channel(l, k, i, number++))
                return false;
    }
    return true;
}
