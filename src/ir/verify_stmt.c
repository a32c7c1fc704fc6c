/* Statements of a valid program: what may stand in which stage, role and function; what is in
 * scope; which types and roles fit. In: the verifier's state and a block. Out: errors. */
#include "ir/verify_int.h"

#include <string.h>

static bool stage_is(Verifier *v, const IrStmt *s, int a, int b, const char *what)
{
    if (v->stage == a || v->stage == b)
        return true;
    static const char *const names[] = {"no stage", "copyin", "compute", "copyout"};
    return verify_fail(v, s->at, "%s stands in %s", what, names[v->stage + 1]);
}

static bool readable(const IrTensor *t)
{
    return t->role != IR_ROLE_OUT && t->role != IR_ROLE_OUT_LIST;
}

static bool writable(const IrTensor *t)
{
    return t->role == IR_ROLE_OUT || t->role == IR_ROLE_INOUT || t->role == IR_ROLE_WORKSPACE ||
           t->role == IR_ROLE_OUT_LIST;
}

static bool check_gm(Verifier *v, const IrStmt *s, bool write, bool one_element)
{
    if (!verify_access(v, s, one_element))
        return false;
    const IrTensor *t = verify_tensor(v, s->access.tensor);
    if (write ? !writable(t) : !readable(t))
        return verify_fail(v, s->at, "'%s' cannot be %s here", t->name, write ? "written" : "read");
    return true;
}

static uint32_t range_axes(const IrAccess *a)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->rank; i++)
        n += a->size[i] != 0;
    return n;
}

/* Elements leave L0C rounded to a narrower type; anywhere else types agree. */
static bool same_elements(const IrKernel *k, const IrView *from, DType to)
{
    DType d = from->dtype;
    bool out_of_l0c = k->buffers.at[from->buffer].memory == IR_L0C && d == DT_F32;
    return d == to || (out_of_l0c && (to == DT_F16 || to == DT_BF16));
}

static bool check_load(Verifier *v, const IrStmt *s)
{
    if (s->src_count > 1 || !verify_view(v, s->at, &s->dst))
        return verify_fail(v, s->at, "a load with wrong operands");
    if (v->k->buffers.at[s->dst.buffer].mask ||
        v->k->buffers.at[s->dst.buffer].memory == IR_CHANNEL)
        return verify_fail(v, s->at, "a load cannot fill this buffer");
    if (s->pad && !verify_expr(v, s->at, s->pad, ir_scalar_of(s->dst.dtype), "the padding value"))
        return false;
    if (s->src_count) {
        if (!stage_is(v, s, IR_COPYIN, IR_COMPUTE, "load") || !verify_view(v, s->at, &s->src[0]))
            return false;
        bool turns = !s->transpose || s->dst.rank == 2;
        return s->src[0].dtype == s->dst.dtype && s->src[0].rank == s->dst.rank && !s->pad && turns
                   ? true
                   : verify_fail(v, s->at, "the two sides of a load differ in type or axes");
    }
    if (s->transpose)
        return verify_fail(v, s->at, "a transposed load from GM");
    if (!stage_is(v, s, IR_COPYIN, IR_COPYIN, "load") || !check_gm(v, s, false, false))
        return false;
    if (verify_tensor(v, s->access.tensor)->dtype != s->dst.dtype)
        return verify_fail(v, s->at, "the two sides of a load differ in type");
    if (range_axes(&s->access) > s->dst.rank)
        return verify_fail(v, s->at, "a load of more ranges than its buffer has axes");
    return true;
}

static bool check_store(Verifier *v, const IrStmt *s)
{
    if (!stage_is(v, s, IR_COPYOUT, IR_COPYOUT, "store") || !check_gm(v, s, true, false))
        return false;
    if (s->src_count != 1 || !verify_view(v, s->at, &s->src[0]))
        return verify_fail(v, s->at, "a store with wrong operands");
    if ((uint32_t)s->atomic > IR_MIN)
        return verify_fail(v, s->at, "a store of no kind");
    if (v->k->buffers.at[s->src[0].buffer].mask)
        return verify_fail(v, s->at, "a mask cannot be stored");
    DType to = verify_tensor(v, s->access.tensor)->dtype;
    if (!same_elements(v->k, &s->src[0], to) || (s->atomic && to != s->src[0].dtype))
        return verify_fail(v, s->at, "the two sides of a store differ in type");
    if (range_axes(&s->access) > s->src[0].rank)
        return verify_fail(v, s->at, "a store of more ranges than its buffer has axes");
    return true;
}

/* Two vector cores run the role: what leaves it, or comes through a channel, is of one of them. */
static bool check_turns(Verifier *v, const IrStmt *s)
{
    return !v->k->paired || v->core != IR_CORE_VECTOR || v->turns ||
           verify_fail(v, s->at, "both vector cores of a core would do this");
}

static bool check_channel(Verifier *v, const IrStmt *s)
{
    bool send = s->kind == IR_S_SEND;
    if (!check_turns(v, s))
        return false;
    if (v->core < 0 || s->src_count != 1)
        return verify_fail(v, s->at, "channels join the two roles of a kernel");
    if (!stage_is(v, s, send ? IR_COPYOUT : IR_COPYIN, send ? -1 : IR_COPYIN,
                  send ? "send" : "recv"))
        return false;
    if (!verify_view(v, s->at, &s->dst) || !verify_view(v, s->at, &s->src[0]))
        return false;
    const IrView *channel = send ? &s->dst : &s->src[0], *tile = send ? &s->src[0] : &s->dst;
    if (v->k->buffers.at[channel->buffer].memory != IR_CHANNEL ||
        v->k->buffers.at[tile->buffer].memory == IR_CHANNEL || v->k->buffers.at[tile->buffer].mask)
        return verify_fail(v, s->at, "one side is to be a channel, the other a tile");
    if (tile->rank != channel->rank || !same_elements(v->k, tile, channel->dtype) ||
        (!send && tile->dtype != channel->dtype))
        return verify_fail(v, s->at, "the channel holds other tiles");
    return true;
}

static bool bind(Verifier *v, Span at, IrVarId var, const char *suffix)
{
    if (var == 0 || var >= v->p->vars.len)
        return verify_fail(v, at, "a loop binds variable %u", var);
    const IrVar *x = &v->p->vars.at[var];
    if (x->kind != IR_VAR_LOOP || x->kernel != v->kernel || x->type != DT_I64 || v->bound[var])
        return verify_fail(v, at, "a loop cannot bind '%s'", x->name);
    const char *dot = strchr(x->name, '.');
    if (strcmp(dot ? dot : "", suffix) != 0)
        return verify_fail(v, at, "'%s' is to be called ...%s", x->name, suffix);
    v->bound[var] = v->defined[var] = true;
    return true;
}

static bool bind_range(Verifier *v, Span at, const IrRange *r)
{
    if (!bind(v, at, r->start, ".start") || !bind(v, at, r->size, ".size") ||
        (r->index && !bind(v, at, r->index, ".index")))
        return false;
    size_t base = strcspn(v->p->vars.at[r->start].name, ".");
    const char *name = v->p->vars.at[r->start].name;
    if (strncmp(name, v->p->vars.at[r->size].name, base + 1) != 0 ||
        (r->index && strncmp(name, v->p->vars.at[r->index].name, base + 1) != 0))
        return verify_fail(v, at, "the variables of the range '%s' have different names", name);
    return true;
}

static void unbind(Verifier *v, const IrRange *r)
{
    v->defined[r->start] = v->defined[r->size] = v->defined[r->index] = false;
}

static bool check_axis(Verifier *v, const IrStmt *s, const IrAxis *a)
{
    if (!verify_expr(v, s->at, a->lo, DT_I64, "the start of a loop") ||
        !verify_expr(v, s->at, a->hi, DT_I64, "the end of a loop"))
        return false;
    if (a->step &&
        (s->loop != IR_LOOP_RANGE || !verify_expr(v, s->at, a->step, DT_I64, "the step of a loop")))
        return verify_fail(v, s->at, "this loop has no step");
    if ((s->loop == IR_LOOP_TILES && !a->tile) || (s->loop == IR_LOOP_RANGE && a->tile))
        return verify_fail(v, s->at, "a loop over tiles has a tile, one over a range has none");
    return !a->tile || verify_expr(v, s->at, a->tile, DT_I64, "the tile of a loop");
}

static bool check_list_loop(Verifier *v, const IrStmt *s)
{
    const IrTensor *t = verify_tensor(v, s->list);
    if (!t || !ir_is_list(t) || s->axis_count != 2)
        return verify_fail(v, s->at, "mine_list of what is not a list");
    return verify_expr(v, s->at, s->axes[1].tile, DT_I64, "the tile of a loop") &&
           bind(v, s->at, s->axes[0].range.start, "") && bind_range(v, s->at, &s->axes[1].range);
}

static bool enter_loop(Verifier *v, const IrStmt *s)
{
    if ((uint32_t)s->loop > IR_LOOP_MINE_LIST || s->axis_count < 1 || s->axis_count > IR_MAX_AXES)
        return verify_fail(v, s->at, "a loop of no kind");
    if (s->loop == IR_LOOP_MINE_LIST)
        return check_list_loop(v, s);
    if ((s->loop == IR_LOOP_RANGE || s->loop == IR_LOOP_TILES) && s->axis_count != 1)
        return verify_fail(v, s->at, "this loop has one axis");
    for (uint32_t i = 0; i < s->axis_count; i++)
        if (!check_axis(v, s, &s->axes[i]))
            return false;
    for (uint32_t i = 0; i < s->axis_count; i++) {
        const IrAxis *a = &s->axes[i];
        if (!(a->tile ? bind_range(v, s->at, &a->range) : bind(v, s->at, a->range.start, "")))
            return false;
    }
    return true;
}

static bool bounds_mention(const Verifier *v, const IrStmt *loop, IrVarId var)
{
    for (uint32_t i = 0; i < loop->axis_count; i++) {
        const IrAxis *a = &loop->axes[i];
        const IrExprId parts[] = {a->lo, a->hi, a->step, a->tile};
        for (int k = 0; k < 4; k++)
            if (parts[k] && ir_mentions(v->p, parts[k], var))
                return true;
    }
    return false;
}

/* The statement in the block that assigns what the bounds of the loop are made of; NULL: none. */
static const IrStmt *moves_bounds(const Verifier *v, const IrStmt *loop, const IrBlock *block)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &v->p->stmts.at[block->at[i]], *inside;
        if (s->var && bounds_mention(v, loop, s->var))
            return s;
        if ((inside = moves_bounds(v, loop, &s->body)) ||
            (inside = moves_bounds(v, loop, &s->orelse)))
            return inside;
    }
    return NULL;
}

static bool check_alternate(Verifier *v, const IrStmt *s)
{
    bool plain = s->loop == IR_LOOP_RANGE || s->loop == IR_LOOP_TILES;
    return !s->alternate ||
           (v->k->paired && v->core == IR_CORE_VECTOR && !v->turns && v->stage < 0 && plain) ||
           verify_fail(v, s->at, "turns are dealt to the two vector cores of a core, once");
}

/* Targets may take bounds when the loop begins or look again: nothing in it may move them. */
static bool check_for(Verifier *v, const IrStmt *s)
{
    bool outside = v->turns;
    if (!check_alternate(v, s) || !enter_loop(v, s))
        return false;
    v->turns = v->turns || s->alternate;
    verify_block(v, &s->body);
    v->turns = outside;
    const IrStmt *moves = v->bad ? NULL : moves_bounds(v, s, &s->body);
    if (moves)
        return verify_fail(v, moves->at, "'%s' is assigned in a loop whose bounds name it",
                           v->p->vars.at[moves->var].name);
    for (uint32_t i = 0; i < s->axis_count; i++)
        unbind(v, &s->axes[i].range);
    return true;
}

static bool check_share(Verifier *v, const IrStmt *s)
{
    return verify_expr(v, s->at, s->axes[0].hi, DT_I64, "what is shared") &&
           verify_expr(v, s->at, s->align, DT_I64, "the alignment of a share") &&
           bind_range(v, s->at, &s->axes[0].range);
}

static bool check_stage(Verifier *v, const IrStmt *s)
{
    if ((uint32_t)s->stage > IR_COPYOUT || v->stage >= 0)
        return verify_fail(v, s->at, "a stage inside a stage");
    if (v->k->has_cube && v->k->has_vector && v->core < 0)
        return verify_fail(v, s->at, "a stage of a kernel with two roles stands in one of them");
    v->stage = (int)s->stage;
    verify_block(v, &s->body);
    v->stage = -1;
    return true;
}

static bool check_role(Verifier *v, const IrStmt *s)
{
    if ((uint32_t)s->core > IR_CORE_CUBE || v->stage >= 0 || v->core >= 0)
        return verify_fail(v, s->at, "a role inside a stage or a role");
    if (!(s->core == IR_CORE_CUBE ? v->k->has_cube : v->k->has_vector))
        return verify_fail(v, s->at, "the kernel has no such role");
    v->core = (int)s->core;
    verify_block(v, &s->body);
    v->core = -1;
    return true;
}

static bool check_if(Verifier *v, const IrStmt *s)
{
    if (!verify_expr(v, s->at, s->cond, DT_BOOL, "a condition"))
        return false;
    verify_block(v, &s->body);
    verify_block(v, &s->orelse);
    return true;
}

static bool role_fits(IrRole given, IrRole wanted)
{
    switch (given) {
    case IR_ROLE_IN: return wanted == IR_ROLE_IN;
    case IR_ROLE_OPT: return wanted == IR_ROLE_OPT || wanted == IR_ROLE_IN;
    case IR_ROLE_OUT:
    case IR_ROLE_INOUT:
        return wanted == IR_ROLE_IN || wanted == IR_ROLE_OUT || wanted == IR_ROLE_INOUT;
    case IR_ROLE_IN_LIST: return wanted == IR_ROLE_IN_LIST;
    case IR_ROLE_OUT_LIST: return wanted == IR_ROLE_OUT_LIST;
    case IR_ROLE_WORKSPACE:
        return wanted == IR_ROLE_WORKSPACE || wanted == IR_ROLE_IN || wanted == IR_ROLE_INOUT;
    }
    return false;
}

static bool check_tensor_arg(Verifier *v, const IrStmt *s, uint32_t given, const IrTensor *wanted)
{
    if (given >= v->p->tensors.len)
        return verify_fail(v, s->at, "a launch passes tensor %u", given);
    const IrTensor *t = &v->p->tensors.at[given];
    if (t->role == IR_ROLE_WORKSPACE && !v->live[given])
        return verify_fail(v, s->at, "the workspace '%s' does not exist yet", t->name);
    if (t->dtype != wanted->dtype || ir_is_list(t) != ir_is_list(wanted) ||
        !role_fits(t->role, wanted->role) ||
        (wanted->role == IR_ROLE_OUT && wanted->upto != t->upto))
        return verify_fail(v, s->at, "'%s' does not fit the parameter '%s'", t->name, wanted->name);
    return true;
}

static bool check_launch(Verifier *v, const IrStmt *s)
{
    if (s->kernel >= v->p->kernels.len)
        return verify_fail(v, s->at, "a launch of kernel %u", s->kernel);
    const IrKernel *k = &v->p->kernels.at[s->kernel];
    if (!verify_expr(v, s->at, s->cores, DT_I64, "the number of cores"))
        return false;
    if (s->args.len != k->params.len)
        return verify_fail(v, s->at, "'%s' takes %u arguments, not %u", k->name, k->params.len,
                           s->args.len);
    for (uint32_t i = 0; i < k->params.len; i++) {
        const IrArg *want = &k->params.at[i], *have = &s->args.at[i];
        if (want->is_tensor != have->is_tensor)
            return verify_fail(v, s->at, "argument %u of '%s' is of another kind", i + 1, k->name);
        if (want->is_tensor ? want->tensor >= k->tensors.len : want->value >= v->p->exprs.len)
            return verify_fail(v, s->at, "parameter %u of '%s' does not exist", i + 1, k->name);
        if (want->is_tensor) {
            if (!check_tensor_arg(v, s, have->tensor, &k->tensors.at[want->tensor]))
                return false;
        } else if (!verify_expr(v, s->at, have->value, v->p->exprs.at[want->value].type,
                                "an argument")) {
            return false;
        }
    }
    return true;
}

static bool check_assign(Verifier *v, const IrStmt *s)
{
    if (s->var == 0 || s->var >= v->p->vars.len)
        return verify_fail(v, s->at, "a value goes to variable %u", s->var);
    return verify_expr(v, s->at, s->value, v->p->vars.at[s->var].type, "the value") &&
           verify_target(v, s->at, s->var, v->p->vars.at[s->var].type);
}

static bool check_workspace(Verifier *v, const IrStmt *s)
{
    if (s->tensor >= v->p->tensors.len || v->p->tensors.at[s->tensor].role != IR_ROLE_WORKSPACE ||
        v->live[s->tensor])
        return verify_fail(v, s->at, "tensor %u is no workspace to make", s->tensor);
    v->live[s->tensor] = true;
    return verify_tensor_decl(v, &v->p->tensors.at[s->tensor]);
}

static bool check_host_stmt(Verifier *v, const IrStmt *s)
{
    switch (s->kind) {
    case IR_S_IF: return check_if(v, s);
    case IR_S_ASSIGN: return check_assign(v, s);
    case IR_S_ASSERT:
        return verify_expr(v, s->at, s->cond, DT_BOOL, "a condition") &&
               (s->text || verify_fail(v, s->at, "an assertion without a text"));
    case IR_S_WORKSPACE: return check_workspace(v, s);
    case IR_S_LAUNCH: return check_launch(v, s);
    default: return verify_fail(v, s->at, "a statement of kernels stands in the host function");
    }
}

static bool check_kernel_stmt(Verifier *v, const IrStmt *s)
{
    DType element;
    switch (s->kind) {
    case IR_S_FOR: return check_for(v, s);
    case IR_S_IF: return check_if(v, s);
    case IR_S_STAGE: return check_stage(v, s);
    case IR_S_ROLE: return check_role(v, s);
    case IR_S_SHARE: return check_share(v, s);
    case IR_S_ASSIGN: return check_assign(v, s);
    case IR_S_GM_READ:
        if (!stage_is(v, s, IR_COPYIN, -1, "a read") || !check_gm(v, s, false, true))
            return false;
        element = verify_tensor(v, s->access.tensor)->dtype;
        return verify_target(v, s->at, s->var, ir_scalar_of(element));
    case IR_S_GM_WRITE:
        if (!stage_is(v, s, IR_COPYOUT, IR_COPYOUT, "a write") || !check_gm(v, s, true, true) ||
            !check_turns(v, s))
            return false;
        element = verify_tensor(v, s->access.tensor)->dtype;
        return verify_expr(v, s->at, s->value, ir_scalar_of(element), "the value");
    case IR_S_LOAD: return check_load(v, s);
    case IR_S_STORE: return check_turns(v, s) && check_store(v, s);
    case IR_S_OP: return stage_is(v, s, IR_COMPUTE, IR_COMPUTE, "arithmetic") && verify_op(v, s);
    case IR_S_SYNC_ALL: return stage_is(v, s, -1, -1, "sync_all()");
    case IR_S_SEND:
    case IR_S_RECV: return check_channel(v, s);
    case IR_S_ASSERT:
    case IR_S_WORKSPACE:
    case IR_S_LAUNCH: break;
    }
    return verify_fail(v, s->at, "a statement of the host stands in a kernel");
}

/* Ranges of a share live to the end of the block it stands in. */
static void leave_shares(Verifier *v, const IrBlock *block)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &v->p->stmts.at[block->at[i]];
        if (s->kind == IR_S_SHARE)
            unbind(v, &s->axes[0].range);
    }
}

void verify_block(Verifier *v, const IrBlock *block)
{
    if (++v->depth > IR_MAX_NEST) {
        verify_fail(v, (Span){0}, "blocks are nested more than %d deep", IR_MAX_NEST);
        v->depth--;
        return;
    }
    for (uint32_t i = 0; i < block->len && !v->bad; i++) {
        uint32_t id = block->at[i];
        if (id == 0 || id >= v->p->stmts.len || v->used[id]) {
            verify_fail(v, (Span){0}, "statement %u hangs in two places or none", id);
            break;
        }
        v->used[id] = true;
        const IrStmt *s = &v->p->stmts.at[id];
        if ((uint32_t)s->kind > IR_S_LAUNCH)
            verify_fail(v, s->at, "a statement of no kind");
        else if (v->k)
            check_kernel_stmt(v, s);
        else
            check_host_stmt(v, s);
    }
    if (!v->bad)
        leave_shares(v, block);
    v->depth--;
}
