/* Kernels of the lowered program as code for the interpreter. In: an AscKernel. Out:
 * instructions in execution order, loops and branches as jumps, every expression compiled. */
#include "emit/sim_int.h"

#include <string.h>

static const uint8_t events[ASC_EVENT_COUNT] = {
    [ASC_MTE2_V] = EV_MTE2_V,       [ASC_V_MTE2] = EV_V_MTE2, [ASC_MTE2_MTE3] = EV_MTE2_MTE3,
    [ASC_MTE3_MTE2] = EV_MTE3_MTE2, [ASC_V_MTE3] = EV_V_MTE3, [ASC_MTE3_V] = EV_MTE3_V,
    [ASC_S_MTE3] = EV_S_MTE3,       [ASC_MTE3_S] = EV_MTE3_S, [ASC_S_MTE2] = EV_S_MTE2,
    [ASC_MTE2_S] = EV_MTE2_S,       [ASC_V_S] = EV_V_S,       [ASC_S_V] = EV_S_V,
    [ASC_FIX_MTE2] = EV_FIX_MTE2};

uint32_t esim_name(EmitSim *sim, const char *name)
{
    for (uint32_t i = 1; i <= sim->name_count; i++)
        if (strcmp(sim->names[i], name) == 0)
            return i;
    if (sim->name_count + 1 == SIM_MOST_NAMES)
        return 0;
    sim->names[++sim->name_count] = name;
    return sim->name_count;
}

/* ---- parts of an instruction ---- */

static SimRef build_ref(SimBuilder *b, const AscRef *r)
{
    DType dtype = r->dtype == DT_BOOL ? DT_U8 : r->dtype;
    b->failed = b->failed || (r->used && r->item);
    return (SimRef){.used = r->used,
                    .global = r->global,
                    .id = r->id,
                    .dtype = (uint8_t)dtype,
                    .bytes = (uint32_t)dtype_bytes(dtype),
                    .offset = r->used ? esim_build_expr(b, r->offset) : (SimExpr){0}};
}

/* Calls that are made of others say so in their records. */
static uint32_t api_name(SimBuilder *b, AscApi api)
{
    switch (api) {
    case ASC_REDUCE_SUM: return esim_name(b->sim, "ReduceSum");
    case ASC_REDUCE_MAX: return esim_name(b->sim, "ReduceMax");
    case ASC_REDUCE_MIN: return esim_name(b->sim, "ReduceMin");
    case ASC_INDEX: return esim_name(b->sim, "CreateVecIndex");
    case ASC_SORT: return esim_name(b->sim, "Sort");
    case ASC_EXTRACT: return esim_name(b->sim, "Extract");
    default: return 0;
    }
}

static void build_call(SimBuilder *b, const AscStmt *s, SimIns *in)
{
    const AscStrides *t = &s->strides;
    const IrExprId e[SE_CALL_COUNT] = {
        [SE_SCALAR] = s->scalar,    [SE_COUNT] = s->count,           [SE_MASK] = s->mask,
        [SE_REPEAT] = s->repeat,    [SE_DST_BLOCK] = t->dst_block,   [SE_A_BLOCK] = t->a_block,
        [SE_B_BLOCK] = t->b_block,  [SE_DST_REPEAT] = t->dst_repeat, [SE_A_REPEAT] = t->a_repeat,
        [SE_B_REPEAT] = t->b_repeat};
    in->kind = SIN_CALL;
    in->api = s->api;
    in->api_name = api_name(b, s->api);
    in->mode = s->mode;
    in->var = s->var;
    in->dst = build_ref(b, &s->dst);
    in->a = build_ref(b, &s->a);
    in->b = build_ref(b, &s->b);
    in->c = build_ref(b, &s->c);
    for (int i = 0; i < SE_CALL_COUNT; i++)
        in->e[i] = esim_build_expr(b, e[i]);
}

static void build_copy(SimBuilder *b, const AscCopy *c, SimIns *in)
{
    in->kind = SIN_COPY;
    in->form = c->form;
    in->inward = c->inward;
    in->dst = build_ref(b, c->inward ? &c->ub : &c->gm);
    in->a = build_ref(b, c->inward ? &c->gm : &c->ub);
    in->e[SE_ROWS] = esim_build_expr(b, c->rows);
    in->e[SE_LEN] = esim_build_expr(b, c->len);
    in->e[SE_SRC_GAP] = esim_build_expr(b, c->inward ? c->gm_gap : c->ub_gap);
    in->e[SE_DST_GAP] = esim_build_expr(b, c->inward ? c->ub_gap : c->gm_gap);
    in->e[SE_RIGHT] = esim_build_expr(b, c->right);
    in->e[SE_PAD] = esim_build_expr(b, c->pad);
    b->failed = b->failed || c->form == ASC_COPY_UNDECIDED;
}

/* What goes through a helper has the line of the call in there. */
static void build_cube(SimBuilder *b, const AscStmt *s, SimIns *in)
{
    uint32_t line = b->sim->lines.cube[s->cube];
    in->kind = SIN_CUBE;
    in->cube = s->cube;
    in->mode = s->mode;
    in->pipe = (uint8_t)s->pipe;
    in->flag = s->flag;
    in->dst = build_ref(b, &s->dst);
    in->a = build_ref(b, &s->a);
    in->b = build_ref(b, &s->b);
    for (int i = 0; i < ASC_CUBE_ARGS; i++)
        in->e[i] = esim_build_expr(b, s->arg[i]);
    if (line) {
        in->file = b->sim->text_file;
        in->line = line;
    }
}

/* ---- statements ---- */

static uint32_t add_ins(SimBuilder *b, SimIns in)
{
    vec_push(b->arena, &b->out->ins, in);
    return b->out->ins.len - 1;
}

static void set_target(SimBuilder *b, uint32_t at) { b->out->ins.at[at].target = b->out->ins.len; }

static void build_block(SimBuilder *b, const AscBlock *block, uint32_t function);

/* A variable whose value does not come from before is zero where it is declared. */
static void build_declared(SimBuilder *b, AscStmtId id, uint32_t function)
{
    for (IrVarId v = 1; v < b->p->ir->vars.len; v++)
        if (b->scopes[function].vars[v].before == id)
            add_ins(b, (SimIns){.kind = SIN_SET, .var = v, .type = b->p->ir->vars.at[v].type});
}

static void build_for(SimBuilder *b, const AscStmt *s, uint32_t function)
{
    add_ins(b,
            (SimIns){
                .kind = SIN_SET, .var = s->var, .type = DT_I64, .e[0] = esim_build_expr(b, s->lo)});
    uint32_t test = add_ins(b, (SimIns){.kind = SIN_LOOP_TEST, .var = s->var});
    b->out->ins.at[test].e[0] = esim_build_expr(b, s->hi);
    build_block(b, &s->body, function);
    SimExpr step = esim_build_expr(b, s->step);
    add_ins(b, (SimIns){.kind = SIN_LOOP_NEXT, .var = s->var, .target = test, .e[0] = step});
    set_target(b, test);
}

static void build_while(SimBuilder *b, const AscStmt *s, uint32_t function)
{
    SimExpr cond = esim_build_expr(b, s->value);
    uint32_t test = add_ins(b, (SimIns){.kind = SIN_JUMP_IF_NOT, .e[0] = cond});
    build_block(b, &s->body, function);
    add_ins(b, (SimIns){.kind = SIN_JUMP, .target = test});
    set_target(b, test);
}

static void build_if(SimBuilder *b, const AscStmt *s, uint32_t function)
{
    SimExpr cond = esim_build_expr(b, s->value);
    uint32_t test = add_ins(b, (SimIns){.kind = SIN_JUMP_IF_NOT, .e[0] = cond}), end = 0;
    build_block(b, &s->body, function);
    if (s->orelse.len)
        end = add_ins(b, (SimIns){.kind = SIN_JUMP});
    set_target(b, test);
    build_block(b, &s->orelse, function);
    if (s->orelse.len)
        set_target(b, end);
}

static void build_role(SimBuilder *b, const AscStmt *s, uint32_t function)
{
    uint32_t test = add_ins(b, (SimIns){.kind = SIN_ROLE, .core = s->core});
    build_block(b, &s->body, function);
    set_target(b, test);
}

static SimInsKind queue_kind(AscStmtKind kind)
{
    return kind == ASC_S_ALLOC   ? SIN_ALLOC
           : kind == ASC_S_ENQUE ? SIN_ENQUE
           : kind == ASC_S_DEQUE ? SIN_DEQUE
                                 : SIN_FREE;
}

static void build_stmt(SimBuilder *b, AscStmtId id, uint32_t function)
{
    const AscStmt *s = &b->p->stmts.at[id];
    LineAt at = b->sim->lines.stmt[id];
    SimIns in = {.file = esim_file(b->sim, at), .line = at.line};
    build_declared(b, id, function);
    switch (s->kind) {
    case ASC_S_FOR: build_for(b, s, function); return;
    case ASC_S_WHILE: build_while(b, s, function); return;
    case ASC_S_IF: build_if(b, s, function); return;
    case ASC_S_SET:
        in.kind = SIN_SET;
        in.var = s->var;
        in.type = b->p->ir->vars.at[s->var].type;
        in.e[0] = esim_build_expr(b, s->value);
        break;
    case ASC_S_RUN:
        in.kind = SIN_RUN;
        in.target = s->callee; /* its number; where it stands is known at the end */
        break;
    case ASC_S_CALL: build_call(b, s, &in); break;
    case ASC_S_COPY: build_copy(b, &s->copy, &in); break;
    case ASC_S_ALLOC:
    case ASC_S_ENQUE:
    case ASC_S_DEQUE:
    case ASC_S_FREE:
        in.kind = queue_kind(s->kind);
        in.local = s->local;
        in.hand = s->hand;
        break;
    case ASC_S_GET:
        in.kind = SIN_GET;
        in.var = s->var;
        in.type = b->p->ir->vars.at[s->var].type;
        in.a = build_ref(b, &s->a);
        break;
    case ASC_S_PUT:
        in.kind = SIN_PUT;
        in.dst = build_ref(b, &s->dst);
        in.e[0] = esim_build_expr(b, s->value);
        break;
    case ASC_S_FLAG: /* its two calls stand in Order, before any marked line */
        in.kind = SIN_FLAG;
        in.event = events[s->event];
        in.file = b->sim->text_file;
        in.line = b->sim->lines.order;
        break;
    case ASC_S_BARRIER:
        in.kind = SIN_BARRIER;
        in.pipe = (uint8_t)s->pipe;
        break;
    case ASC_S_ATOMIC:
        in.kind = SIN_ATOMIC;
        in.atomic = s->atomic;
        in.type = s->dtype == DT_BOOL ? DT_U8 : s->dtype;
        break;
    case ASC_S_CLEAN:
        in.kind = SIN_CLEAN;
        in.a = build_ref(b, &s->a);
        break;
    case ASC_S_SYNC_ALL: in.kind = SIN_SYNC_ALL; break;
    case ASC_S_CUBE: build_cube(b, s, &in); break;
    case ASC_S_ROLE: build_role(b, s, function); return;
    }
    add_ins(b, in);
}

static void build_block(SimBuilder *b, const AscBlock *block, uint32_t function)
{
    for (uint32_t i = 0; i < block->len; i++)
        build_stmt(b, block->at[i], function);
}

/* ---- functions ---- */

static void build_function(SimBuilder *b, uint32_t function)
{
    uint32_t text = b->lines->same ? b->lines->same[function] : function;
    LineAt at = b->lines->function[text];
    const FunctionScope *scope = &b->scopes[function];
    b->function_at[function] = b->out->ins.len;
    for (uint32_t i = 0; i < scope->tbufs.len; i++)
        add_ins(b, (SimIns){.kind = SIN_BUFFER_GET,
                            .local = scope->tbufs.at[i],
                            .file = esim_file(b->sim, at),
                            .line = at.line});
    build_block(b, &b->k->functions.at[function].body, function);
    add_ins(b, (SimIns){.kind = SIN_RETURN});
}

/* A function whose text another one serves has that one's lines, statement by statement. */
static void share_lines(SimBuilder *b, const AscBlock *of, const AscBlock *from)
{
    for (uint32_t i = 0; i < of->len && i < from->len; i++) {
        const AscStmt *s = &b->p->stmts.at[of->at[i]], *t = &b->p->stmts.at[from->at[i]];
        b->sim->lines.stmt[of->at[i]] = b->sim->lines.stmt[from->at[i]];
        share_lines(b, &s->body, &t->body);
        share_lines(b, &s->orelse, &t->orelse);
    }
}

static void note_written(SimBuilder *b, const AscBlock *block)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const AscStmt *s = &b->p->stmts.at[block->at[i]];
        b->written[s->var] = true;
        note_written(b, &s->body);
        note_written(b, &s->orelse);
    }
}

static void build_buffers(SimBuilder *b)
{
    for (uint32_t i = 0; i < b->k->buffers.len; i++) {
        const AscBuffer *from = &b->k->buffers.at[i];
        LineAt at = b->lines->buffer[i];
        SimBuffer made = {.memory = from->memory,
                          .storage = from->storage,
                          .ahead = from->ahead != ASC_AHEAD_NO,
                          .file = esim_file(b->sim, at),
                          .line = at.line,
                          .depth = esim_build_expr(b, from->depth),
                          .bytes = esim_build_expr(b, from->bytes)};
        vec_push(b->arena, &b->out->buffers, made);
    }
    for (uint32_t i = 0; i < b->k->streams.len; i++) {
        const AscStream *from = &b->k->streams.at[i];
        SimStream made = {.tensor = from->tensor,
                          .bytes = esim_build_expr(b, from->bytes),
                          .together = esim_build_expr(b, from->together),
                          .least = from->least,
                          .most = from->most};
        if (gm_param_used(b->p, b->k, from->tensor))
            vec_push(b->arena, &b->out->streams, made);
    }
}

static void resolve_calls(SimBuilder *b)
{
    for (uint32_t i = 0; i < b->out->ins.len; i++)
        if (b->out->ins.at[i].kind == SIN_RUN)
            b->out->ins.at[i].target = b->function_at[b->out->ins.at[i].target];
}

bool esim_build_kernel(EmitSim *sim, uint32_t kernel, Diag *diag)
{
    const AscKernel *k = &sim->p->kernels.at[kernel];
    SimKernel *out = &sim->kernels[kernel];
    uint32_t vars = sim->p->ir->vars.len;
    SimBuilder b = {.sim = sim,
                    .arena = sim->arena,
                    .p = sim->p,
                    .k = k,
                    .out = out,
                    .written = arena_array(sim->arena, bool, vars + 1),
                    .function_at = arena_array(sim->arena, uint32_t, k->functions.len + 1),
                    .scopes = scope_kernel(sim->arena, sim->p, k),
                    .lines = &sim->lines.kernel[kernel],
                    .made = arena_array(sim->arena, SimExpr, sim->p->ir->exprs.len + 1),
                    .diag = diag};
    out->k = k;
    out->slots = vars;
    out->locals = k->locals.len;
    out->tensors = k->source->tensors.len;
    for (uint32_t f = 0; f < k->functions.len; f++) {
        note_written(&b, &k->functions.at[f].body);
        uint32_t same = b.lines->same ? b.lines->same[f] : f;
        if (same != f)
            share_lines(&b, &k->functions.at[f].body, &k->functions.at[same].body);
    }
    build_buffers(&b);
    for (uint32_t f = 0; f < k->functions.len; f++)
        build_function(&b, f);
    resolve_calls(&b);
    out->entry = k->functions.len ? b.function_at[0] : 0;
    if (b.failed)
        diag_error(
            diag, "E099", (Span){0},
            "kernel %s uses lists of tensors, whose records come from its AscendC text alone",
            k->name);
    return !b.failed;
}
