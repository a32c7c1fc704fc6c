/* Pass 3, compute. In: kernels with placed buffers. Out: Process and one function per stage, with
 * every slot allocated and handed over where its episode says, and every tile operation as calls.
 *
 * What synchronises what (2201; facts from asc-devkit 同步控制/核内同步/关键特性说明.md): the queue
 * hands over between MTE2, V and MTE3; the device compiler orders S against all and V against V;
 * this pass adds the rest: transfers on a TBuf, GM that the kernel wrote itself, all cores. */
#include "lower/lower_int.h"

static void walk(Lower *l, Home home);

/* ---- queue calls at the ends of a part ---- */

typedef enum PartKind { PART_LOAD, PART_VECTOR, PART_STORE } PartKind;

static void hand(Lower *l, uint32_t local, AscHand how, bool push)
{
    if (push)
        ls_queue(l, ASC_S_ENQUE, local, how);
    ls_queue(l, ASC_S_DEQUE, local, how);
}

static void acquire_bound(Lower *l, const Episode *e, PartKind part, uint32_t local, bool direct)
{
    if (part == PART_LOAD) {
        ls_queue(l, ASC_S_ALLOC, local, ASC_HAND_PLAIN);
    } else if (direct) {
        hand(l, local, ASC_HAND_PLAIN, false);
    } else if (part == PART_VECTOR) {
        if (!e->load.any)
            ls_queue(l, ASC_S_ALLOC, local, ASC_HAND_PLAIN);
        hand(l, local, ASC_HAND_IN, !e->load.any);
    } else {
        if (!e->vector.any)
            hand(l, local, ASC_HAND_IN, false);
        hand(l, local, ASC_HAND_OUT, !e->vector.any);
    }
}

static void release_bound(Lower *l, const Episode *e, PartKind part, uint32_t local, bool direct)
{
    if (part == PART_STORE) {
        ls_queue(l, ASC_S_FREE, local, ASC_HAND_PLAIN);
        return;
    }
    AscHand how = direct ? ASC_HAND_PLAIN : part == PART_LOAD ? ASC_HAND_IN : ASC_HAND_OUT;
    ls_queue(l, ASC_S_ENQUE, local, how);
    bool last = !e->store.any && (part == PART_VECTOR || !e->vector.any);
    if (last) {
        ls_queue(l, ASC_S_DEQUE, local, how);
        ls_queue(l, ASC_S_FREE, local, ASC_HAND_PLAIN);
    }
}

static void acquire(Lower *l, const Episode *e, PartKind part)
{
    const Placed *p = &l->plan->placed.at[e->buffer];
    AscStorage storage = l->k->buffers.at[l->k->locals.at[p->local].buffer].storage;
    bool first = part == PART_LOAD || (part == PART_VECTOR && !e->load.any);
    if (storage == ASC_QUE_BIND)
        acquire_bound(l, e, part, p->local, p->direct);
    else if (storage != ASC_TBUF)
        ls_queue(l, first ? ASC_S_ALLOC : ASC_S_DEQUE, p->local, ASC_HAND_PLAIN);
}

static void release(Lower *l, const Episode *e, PartKind part)
{
    const Placed *p = &l->plan->placed.at[e->buffer];
    AscStorage storage = l->k->buffers.at[l->k->locals.at[p->local].buffer].storage;
    if (storage == ASC_QUE_BIND) {
        release_bound(l, e, part, p->local, p->direct);
        return;
    }
    if (storage == ASC_TBUF)
        return;
    bool more = part == PART_LOAD || (part == PART_VECTOR && e->store.any);
    if (more)
        ls_queue(l, ASC_S_ENQUE, p->local, ASC_HAND_PLAIN);
    if (part == PART_LOAD && !e->vector.any)
        ls_queue(l, ASC_S_DEQUE, p->local, ASC_HAND_PLAIN);
    if (!more || (part == PART_LOAD && !e->vector.any))
        ls_queue(l, ASC_S_FREE, p->local, ASC_HAND_PLAIN);
}

static const Part *part_of(const Episode *e, PartKind kind)
{
    return kind == PART_LOAD ? &e->load : kind == PART_VECTOR ? &e->vector : &e->store;
}

static bool same_home(Home a, Home b) { return a.stmt == b.stmt && a.orelse == b.orelse; }

/* Queue calls due before (after) child `child` of `home`; of parts that are a single stage when
 * `alone`, these stand inside that stage's function. */
static void due(Lower *l, Home home, uint32_t child, bool before, bool alone)
{
    for (uint32_t i = 0; i < l->plan->episodes.len; i++) {
        const Episode *e = &l->plan->episodes.at[i];
        if (!same_home(e->home, home))
            continue;
        for (PartKind k = PART_LOAD; k <= PART_STORE; k++) {
            const Part *p = part_of(e, k);
            if (!p->any || p->alone != alone || (before ? p->first : p->last) != child)
                continue;
            if (before)
                acquire(l, e, k);
            else
                release(l, e, k);
        }
    }
}

/* ---- flags by hand for transfers on a TBuf ---- */

static uint8_t loose_touch(const Lower *l, const IrBlock *block, uint8_t *also)
{
    uint8_t t = 0;
    for (uint32_t b = 0; b < l->plan->placed.len; b++) {
        const Placed *p = &l->plan->placed.at[b];
        uint8_t here = 0;
        for (uint32_t i = 0; p->loose && i < block->len; i++)
            here |= lower_touch(l, block->at[i], b);
        t |= here;
        if (here)
            *also |= p->touches;
    }
    return t;
}

static void flags_before(Lower *l, uint8_t touch, uint8_t also)
{
    if (touch & TOUCH_LOAD) {
        if (also & TOUCH_VECTOR)
            ls_flag(l, ASC_V_MTE2);
        if (also & TOUCH_STORE)
            ls_flag(l, ASC_MTE3_MTE2);
    }
    if (touch & TOUCH_STORE) {
        if (also & TOUCH_VECTOR)
            ls_flag(l, ASC_V_MTE3);
        if (also & TOUCH_LOAD)
            ls_flag(l, ASC_MTE2_MTE3);
    }
}

static void flags_after(Lower *l, uint8_t touch, uint8_t also)
{
    if ((touch & TOUCH_LOAD) && (also & TOUCH_VECTOR))
        ls_flag(l, ASC_MTE2_V);
    if ((touch & TOUCH_STORE) && (also & TOUCH_VECTOR))
        ls_flag(l, ASC_MTE3_V);
}

/* ---- statements ---- */

static const char *stage_name(Lower *l, IrStage stage)
{
    static const char *const words[] = {"CopyIn", "Compute", "CopyOut"};
    uint32_t n = 1;
    for (uint32_t i = 0; i < l->k->functions.len; i++)
        n += l->k->functions.at[i].is_stage && l->k->functions.at[i].stage == stage;
    return n == 1 ? words[stage] : str_format(l->arena, "%s%u", words[stage], n);
}

static void walk_stage(Lower *l, Home home, uint32_t child, IrStmtId id)
{
    const IrStmt s = l->ir->stmts.at[id];
    if (!s.body.len)
        return;
    AscFunction f = {
        .name = stage_name(l, s.stage), .is_stage = true, .stage = s.stage, .at = s.at};
    uint32_t index = l->k->functions.len;
    vec_push(l->arena, &l->k->functions, f);
    ls_new(l, ASC_S_RUN)->callee = index;
    Opened body;
    ls_open(l, &body);
    uint8_t also = 0, touch = s.stage == IR_COMPUTE ? 0 : loose_touch(l, &s.body, &also);
    due(l, home, child, true, true);
    flags_before(l, touch, also);
    lower_gm_order(l, id);
    walk(l, (Home){id, false});
    flags_after(l, touch, also);
    due(l, home, child, false, true);
    l->at = body.outer;
    l->k->functions.at[index].body = body.block;
}

static void walk_if(Lower *l, IrStmtId id)
{
    IrExprId cond = lower_scalar(l, l->ir->stmts.at[id].cond);
    ls_new(l, ASC_S_IF)->value = cond;
    AscStmtId owner = ls_last(l);
    Opened body;
    ls_open(l, &body);
    walk(l, (Home){id, false});
    ls_close(l, &body, owner, false);
    ls_open(l, &body);
    walk(l, (Home){id, true});
    ls_close(l, &body, owner, true);
}

/* ---- two vector cores beside a cube core ---- */

/* Flags between the roles count both vector cores: one that has nothing to do here still waits and signals. */
static bool has_channel(const Lower *l, const IrBlock *block)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &l->ir->stmts.at[block->at[i]];
        if (lower_channel_end(l, block->at[i]) || has_channel(l, &s->body) ||
            has_channel(l, &s->orelse))
            return true;
    }
    return false;
}

static void idle(Lower *l, IrBlock block);

static void idle_if(Lower *l, const IrStmt *s)
{
    IrExprId cond = lower_scalar(l, s->cond);
    ls_new(l, ASC_S_IF)->value = cond;
    AscStmtId owner = ls_last(l);
    Opened body;
    ls_open(l, &body);
    idle(l, s->body);
    ls_close(l, &body, owner, false);
    ls_open(l, &body);
    idle(l, s->orelse);
    ls_close(l, &body, owner, true);
}

/* What is left of statements for the vector core whose turn it is not: scalars and flags. */
static void idle(Lower *l, IrBlock block)
{
    for (uint32_t i = 0; i < block.len; i++) {
        const IrStmt s = l->ir->stmts.at[block.at[i]];
        const ChannelEnd *end = lower_channel_end(l, block.at[i]);
        OpenLoop loop;
        l->span = s.at;
        if (s.kind == IR_S_FOR && has_channel(l, &s.body)) {
            loop_open(l, &s, &loop);
            idle(l, s.body);
            loop_close(l, &loop);
        } else if (s.kind == IR_S_IF) {
            idle_if(l, &s);
        } else if (s.kind == IR_S_STAGE) {
            idle(l, s.body);
        } else if (s.kind == IR_S_ASSIGN) {
            ls_set(l, s.var, lower_scalar(l, s.value));
        } else if (end) {
            lower_channel_before(l, end);
            lower_channel_after(l, end);
        }
    }
}

static IrExprId vector_id(Lower *l) { return ir_leaf(l->ir, IR_E_VECTOR_ID, 0, 0); }

/* `if (which == 0) { the statements of `home` } else { their flags }` */
static void walk_one_of_two(Lower *l, Home home, IrExprId which)
{
    ls_new(l, ASC_S_IF)->value = ir_expr2(l->ir, IR_E_EQ, which, lx_int(l, 0));
    AscStmtId owner = ls_last(l);
    Opened body;
    ls_open(l, &body);
    walk(l, home);
    ls_close(l, &body, owner, false);
    ls_open(l, &body);
    idle(l, *lower_block(l, home));
    ls_close(l, &body, owner, true);
}

/* Turns 0, 2, 4 ... are of vector core 0. */
static void walk_for(Lower *l, IrStmtId id)
{
    const IrStmt s = l->ir->stmts.at[id];
    OpenLoop loop;
    IrVarId turn = 0;
    if (s.alternate) {
        turn = lx_local(l, "turn", DT_I64);
        l->ir->vars.at[turn].lo = 0;
        l->ir->vars.at[turn].hi = 1;
        ls_set(l, turn, vector_id(l));
    }
    loop_open(l, &s, &loop);
    if (s.alternate) {
        walk_one_of_two(l, (Home){id, false}, lx_var(l, turn));
        ls_set(l, turn, lx_sub(l, lx_int(l, 1), lx_var(l, turn)));
    } else {
        walk(l, (Home){id, false});
    }
    loop_close(l, &loop);
}

static void walk_transfer(Lower *l, IrStmtId id)
{
    const IrStmt s = l->ir->stmts.at[id];
    const ChannelEnd *end = lower_channel_end(l, id);
    if (end)
        lower_channel_before(l, end);
    if (s.kind == IR_S_LOAD)
        lower_load(l, &s);
    else
        lower_store(l, &s);
    if (end)
        lower_channel_after(l, end);
}

/* What a core of this role does. */
static void walk_core(Lower *l, Home home)
{
    bool cube = l->role == IR_CORE_CUBE;
    if (cube)
        cube_set_hf32(l, lower_block(l, home), true);
    walk(l, home);
    if (cube)
        cube_set_hf32(l, lower_block(l, home), false);
}

static void walk_role(Lower *l, IrStmtId id)
{
    IrCore role = l->ir->stmts.at[id].core;
    ls_new(l, ASC_S_ROLE)->core = role;
    AscStmtId owner = ls_last(l);
    Opened body;
    ls_open(l, &body);
    l->role = role;
    lower_channels_open(l, role);
    /* Beside a kernel that takes two, this one leaves the second vector core idle. */
    if (role == IR_CORE_VECTOR && l->out->task == ASC_TASK_MIX_1_2 && !l->source->paired)
        walk_one_of_two(l, (Home){id, false}, vector_id(l));
    else
        walk_core(l, (Home){id, false});
    lower_channels_close(l, role);
    l->role = IR_CORE_VECTOR;
    ls_close(l, &body, owner, false);
}

static void walk_sync(Lower *l, const IrStmt *s)
{
    if (l->source->has_cube) {
        diag_error(l->diag, "E090", s->at, "sync_all() in a kernel of the cube is not built yet");
        diag_hint(l->diag, "make two kernels: a launch begins when the one before has ended");
        return;
    }
    ls_new(l, ASC_S_SYNC_ALL);
    l->k->uses_sync = true;
}

static void walk_stmt(Lower *l, Home home, uint32_t child)
{
    IrStmtId id = lower_block(l, home)->at[child];
    const IrStmt s = l->ir->stmts.at[id];
    l->span = s.at;
    switch (s.kind) {
    case IR_S_FOR: walk_for(l, id); break;
    case IR_S_IF: walk_if(l, id); break;
    case IR_S_STAGE: walk_stage(l, home, child, id); break;
    case IR_S_SHARE: lower_share(l, &s); break;
    case IR_S_ASSIGN: ls_set(l, s.var, lower_scalar(l, s.value)); break;
    case IR_S_GM_READ: lower_gm_read(l, &s); break;
    case IR_S_GM_WRITE: lower_gm_write(l, &s); break;
    case IR_S_LOAD:
    case IR_S_STORE: walk_transfer(l, id); break;
    case IR_S_ROLE: walk_role(l, id); break;
    case IR_S_OP:
        if (ir_is_mmad(s.op))
            cube_mmad(l, &s);
        else
            op_lower(l, &s);
        break;
    case IR_S_SYNC_ALL: walk_sync(l, &s); break;
    default: op_unsupported(l, &s, "this statement"); break;
    }
}

/* A row or column that only the next statement uses is lowered together with it. */
static bool joins_next(const Lower *l, Home home, uint32_t i)
{
    const IrBlock *block = lower_block(l, home);
    return i + 1 < block->len &&
           op_spread_joins(l, &l->ir->stmts.at[block->at[i]], &l->ir->stmts.at[block->at[i + 1]]);
}

static void walk_joined(Lower *l, Home home, uint32_t i)
{
    const IrBlock *block = lower_block(l, home);
    const IrStmt spread = l->ir->stmts.at[block->at[i - 1]], s = l->ir->stmts.at[block->at[i]];
    l->span = s.at;
    op_spread(l, &spread, &s);
}

static void walk(Lower *l, Home home)
{
    uint32_t count = lower_block(l, home)->len;
    bool joined = false;
    for (uint32_t i = 0; i < count; i++) {
        bool joins = !joined && joins_next(l, home, i);
        due(l, home, i, true, false);
        if (joined)
            walk_joined(l, home, i);
        else if (!joins)
            walk_stmt(l, home, i);
        joined = joins;
        due(l, home, i, false, false);
    }
}

/* What operations want made once stands in a stage of its own before everything else. */
static void run_once(Lower *l)
{
    if (!l->once.len)
        return;
    AscBlock body = {0};
    AscFunction f = {.name = "Prepare", .is_stage = true, .stage = IR_COMPUTE, .at = l->source->at};
    f.body = l->once;
    l->at = &body;
    ls_new(l, ASC_S_RUN)->callee = l->k->functions.len;
    for (uint32_t i = 0; i < l->k->functions.at[0].body.len; i++)
        vec_push(l->arena, &body, l->k->functions.at[0].body.at[i]);
    l->k->functions.at[0].body = body;
    vec_push(l->arena, &l->k->functions, f);
}

static void compute_kernel(Lower *l, uint32_t kernel)
{
    l->k = &l->out->kernels.at[kernel];
    l->source = &l->ir->kernels.at[kernel];
    l->plan = &l->plans.at[kernel];
    l->scratch_used = 0;
    vec_push(l->arena, &l->k->functions, ((AscFunction){.name = "Process", .at = l->source->at}));
    AscBlock body = {0};
    l->at = &body;
    l->once = (AscBlock){0};
    l->scans.len = 0;
    l->mirror[0] = l->mirror[1] = (AscRef){0};
    l->role = l->source->has_cube && !l->source->has_vector ? IR_CORE_CUBE : IR_CORE_VECTOR;
    walk_core(l, (Home){0});
    l->k->functions.at[0].body = body;
    run_once(l);
}

/* All cores that this operator's vector kernels can have. */
static bool is_all_cores(const Lower *l, const IrExpr *cores)
{
    bool one = l->out->task == ASC_TASK_MIX_1_1;
    if (cores->op == IR_E_CHIP)
        return cores->of.fact == (one ? IR_CHIP_CUBE_CORES : IR_CHIP_CORES);
    if (one || cores->op != IR_E_MUL)
        return false;
    const IrExpr *chip = &l->ir->exprs.at[cores->arg[0]];
    return chip->op == IR_E_CHIP && chip->of.fact == IR_CHIP_CUBE_CORES &&
           lx_is(l, cores->arg[1], 2);
}

/* Launched on every core of the chip, wherever it is launched: then no grid is wider. */
static bool takes_all_cores(const Lower *l, uint32_t kernel)
{
    for (uint32_t i = 0; i < l->out->paths.len; i++)
        for (uint32_t k = 0; k < l->out->paths.at[i].launches.len; k++) {
            const AscLaunch *launch = &l->out->paths.at[i].launches.at[k];
            const IrExpr *cores = &l->ir->exprs.at[l->ir->stmts.at[launch->stmt].cores];
            if (launch->kernel == kernel && !is_all_cores(l, cores))
                return false;
        }
    return true;
}

/* A grid that several launches share has a SyncAll between them that all its cores execute; one
 * inside a kernel would be executed by that kernel's cores only. */
static void check_sync(Lower *l)
{
    for (uint32_t i = 0; i < l->out->kernels.len; i++) {
        const AscKernel *k = &l->out->kernels.at[i];
        if (!k->launched || !k->uses_sync || !k->cores || takes_all_cores(l, i))
            continue;
        diag_error(l->diag, "E096", k->source->at,
                   "kernel '%s' calls sync_all() and shares its grid with another launch",
                   k->source->name);
        diag_hint(l->diag, "make it one kernel, with sync_all() between its parts");
    }
}

/* requires: every touched buffer has a local; episodes of a queue buffer are in load, vector,
 *           store order.
 * keeps: each Alloc is followed on every path by one Free; hand-overs pair up in one block. */
bool lower_compute(Lower *l)
{
    for (uint32_t i = 0; i < l->out->kernels.len; i++)
        if (l->out->kernels.at[i].launched)
            compute_kernel(l, i);
    check_sync(l);
    lower_ahead(l);
    lower_banks(l);
    return diag_ok(l->diag);
}
