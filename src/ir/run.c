/* A run from the host function on. In: a program, operands, decisions. Out: outputs, or why
 * not. Sizes are read from the operands' shapes, the host's statements run in order, each launch
 * runs all its cores; at the end every element of an output must have been written. */
#include "ir/run_int.h"

#include "base/rng.h"
#include <string.h>

static bool refuse_run(Run *run, const char *format, ...) ATTR_PRINTF(2, 3);
static bool refuse_run(Run *run, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (run->io->status == IR_RUN_OK)
        run->io->text = str_vformat(run->arena, format, args);
    va_end(args);
    run->io->status = IR_RUN_REFUSED;
    run->stop = true;
    return false;
}

static Scope host_scope(Run *run, GmList *const *tensors)
{
    return (Scope){
        .run = run, .vars = run->vars, .tensors = tensors, .core = -1, .kernel = UINT32_MAX};
}

/* ---- sizes, attributes, choices ---- */

static bool set_dim(Run *run, IrVarId var, int64_t value, const char *whose)
{
    const IrVar *v = &run->p->vars.at[var];
    Scalar *s = &run->vars[var];
    if (s->set && s->i != value)
        return refuse_run(run, "%s is %lld in one place and %lld in '%s'", v->name, (long long)s->i,
                          (long long)value, whose);
    *s = (Scalar){.i = value, .set = true};
    if (value < v->lo || value > v->hi || value % v->multiple != 0)
        return refuse_run(run, "%s = %lld is outside its range %lld..%lld (a multiple of %lld)",
                          v->name, (long long)value, (long long)v->lo, (long long)v->hi,
                          (long long)v->multiple);
    return true;
}

static bool infer_from(Run *run, const IrTensor *t, const IrData *data)
{
    if (data->rank != t->rank)
        return refuse_run(run, "'%s' has %u axes, not %u", t->name, data->rank, t->rank);
    for (uint32_t i = 0; i < t->rank; i++) {
        const IrExpr *e = &run->p->exprs.at[t->shape[i]];
        if (data->dims[i] < 0)
            return refuse_run(run, "'%s' has a negative size", t->name);
        if (e->op == IR_E_VAR && run->p->vars.at[e->of.var].kind == IR_VAR_DIM &&
            !set_dim(run, e->of.var, data->dims[i], t->name))
            return false;
    }
    return true;
}

static bool is_bound(const Run *run, uint32_t operand)
{
    const IrOperand *o = &run->io->operands[operand];
    IrRole role = run->p->tensors.at[operand].role;
    return o->count > 0 && (role != IR_ROLE_OUT || o->items[0].data || run->host);
}

static bool infer_dims(Run *run)
{
    const IrProgram *p = run->p;
    for (uint32_t i = 0; i < p->dims.len; i++) {
        const IrVar *v = &p->vars.at[p->dims.at[i]];
        if (ir_is_derived(v))
            continue;
        if (run->io->dims ? !set_dim(run, p->dims.at[i], run->io->dims[i], "the sizes given")
                          : v->lo == v->hi && !set_dim(run, p->dims.at[i], v->lo, v->name))
            return false;
    }
    for (uint32_t i = 0; i < p->operand_count && (!run->io->addresses_only || run->host); i++) {
        const IrTensor *t = &p->tensors.at[i];
        if (ir_is_list(t))
            continue;
        if (run->io->operands[i].count == 0 && t->role != IR_ROLE_OPT)
            return refuse_run(run, "'%s' is not given", t->name);
        if (is_bound(run, i) && !infer_from(run, t, &run->io->operands[i].items[0]))
            return false;
    }
    for (uint32_t i = 0; i < p->dims.len; i++)
        if (!ir_is_derived(&p->vars.at[p->dims.at[i]]) && !run->vars[p->dims.at[i]].set)
            return refuse_run(run, "the size %s is not given by any input",
                              p->vars.at[p->dims.at[i]].name);
    return true;
}

/* Sizes that are made of others, in their order. */
static bool derive_dims(Run *run, Scope *scope)
{
    const IrProgram *p = run->p;
    for (uint32_t i = 0; i < p->dims.len; i++) {
        const IrVar *v = &p->vars.at[p->dims.at[i]];
        int64_t value;
        if (ir_is_derived(v) && (!run_int(scope, v->value, &value) ||
                                 !set_dim(run, p->dims.at[i], value, "what it is made of")))
            return false;
    }
    return true;
}

static bool set_attrs(Run *run, Scope *scope)
{
    const IrProgram *p = run->p;
    for (uint32_t i = 0; i < p->attrs.len; i++) {
        const IrVar *v = &p->vars.at[p->attrs.at[i]];
        Scalar *s = &run->vars[p->attrs.at[i]];
        if (run->io->attrs)
            *s = (Scalar){.i = run->io->attrs[i].i, .f = run->io->attrs[i].f, .set = true};
        else if (v->value)
            *s = run_eval(scope, v->value);
        else
            return refuse_run(run, "the attribute %s is not given", v->name);
    }
    uint32_t choice = 0;
    for (uint32_t i = 1; i < p->vars.len; i++) {
        const IrVar *v = &p->vars.at[i];
        if (v->kind != IR_VAR_CHOICE)
            continue;
        int64_t value = run->io->choices ? run->io->choices[choice] : v->choices.at[0];
        run->vars[i] = (Scalar){.i = value, .set = true};
        choice++;
    }
    return true;
}

/* ---- tensors ---- */

static bool count_elements(Run *run, Gm *gm)
{
    gm->count = 1;
    for (uint32_t i = 0; i < gm->rank; i++)
        if (gm->dims[i] < 0 || __builtin_mul_overflow(gm->count, gm->dims[i], &gm->count) ||
            gm->count > INT64_MAX / 16)
            return refuse_run(run, "'%s' has no possible size", gm->name);
    return true;
}

static bool eval_shape(Scope *s, const IrTensor *t, Gm *gm)
{
    gm->rank = t->rank;
    for (uint32_t i = 0; i < t->rank; i++)
        if (!run_int(s, t->shape[i], &gm->dims[i]))
            return false;
    return count_elements(s->run, gm);
}

static bool make_marks(Scope *s, Gm *gm)
{
    if (s->run->host)
        return true;
    int64_t bytes = gm->count * (int64_t)sizeof(uint32_t);
    gm->wrote = run_memory(s, bytes);
    gm->read = gm->wrote ? run_memory(s, bytes) : NULL;
    return gm->read != NULL;
}

static bool check_shape(Run *run, const IrTensor *t, const IrData *data, const Gm *gm)
{
    for (uint32_t i = 0; i < gm->rank; i++)
        if (data->rank != gm->rank || data->dims[i] != gm->dims[i])
            return refuse_run(run, "axis %u of '%s' has %lld elements, not %lld", i, t->name,
                              (long long)data->dims[i], (long long)gm->dims[i]);
    return true;
}

static bool bind_data(Run *run, const IrTensor *t, IrData *data, Gm *gm)
{
    int64_t bytes = gm->count * (int64_t)dtype_bytes(gm->dtype);
    if (run->io->addresses_only)
        return !run->host || check_shape(run, t, data, gm);
    if (t->role == IR_ROLE_OUT && !data->data) {
        data->rank = gm->rank;
        memcpy(data->dims, gm->dims, sizeof data->dims);
        uint64_t most = run->io->max_bytes ? run->io->max_bytes : UINT64_C(1) << 32;
        if ((uint64_t)bytes > most)
            return refuse_run(run, "'%s' takes %lld bytes", t->name, (long long)bytes);
        data->data = arena_alloc(run->arena, (size_t)bytes + 1);
    }
    if (!check_shape(run, t, data, gm))
        return false;
    gm->data = data->data;
    if (t->role == IR_ROLE_OUT)
        memset(gm->data, 0xff, (size_t)bytes);
    return gm->data || bytes == 0 || refuse_run(run, "'%s' has no data", t->name);
}

static bool bind_operand(Run *run, Scope *s, uint32_t i)
{
    const IrTensor *t = &run->p->tensors.at[i];
    GmList *list = &run->tensors[i];
    bool fake = run->io->addresses_only && !ir_is_list(t);
    IrOperand *o = run->io->operands ? &run->io->operands[i] : NULL;
    bool absent = o && t->role == IR_ROLE_OPT && o->count == 0;
    list->count = fake ? !absent : o ? o->count : 0;
    list->items = arena_array(&run->scratch, Gm, list->count + 1);
    list->live = true;
    for (uint32_t k = 0; k < list->count; k++) {
        Gm *gm = &list->items[k];
        *gm = (Gm){.name = t->name, .dtype = t->dtype};
        gm->initialised = t->role != IR_ROLE_OUT && t->role != IR_ROLE_OUT_LIST;
        if (ir_is_list(t)) {
            gm->rank = o->items[k].rank;
            memcpy(gm->dims, o->items[k].dims, sizeof gm->dims);
            if (gm->rank > IR_MAX_RANK || !count_elements(run, gm))
                return refuse_run(run, "'%s' has no possible size", t->name);
        } else if (!eval_shape(s, t, gm)) {
            return false;
        }
        if (!bind_data(run, t, fake && !run->host ? NULL : &o->items[k], gm))
            return false;
        bool written = t->role == IR_ROLE_OUT || t->role == IR_ROLE_INOUT ||
                       t->role == IR_ROLE_OUT_LIST;
        if (written && !make_marks(s, gm))
            return false;
    }
    return true;
}

/* Whatever launched the kernel gave an output list the sizes of the first input list. */
static bool check_lists(Run *run)
{
    const IrProgram *p = run->p;
    uint32_t first = 0;
    while (first < p->operand_count && p->tensors.at[first].role != IR_ROLE_IN_LIST)
        first++;
    for (uint32_t i = 0; i < p->operand_count && first < p->operand_count; i++) {
        const GmList *in = &run->tensors[first], *out = &run->tensors[i];
        if (p->tensors.at[i].role != IR_ROLE_OUT_LIST)
            continue;
        bool same = in->count == out->count;
        for (uint32_t k = 0; k < in->count && same; k++)
            same = in->items[k].count == out->items[k].count;
        if (!same)
            return refuse_run(run, "the tensors of '%s' do not have the sizes of those of '%s'",
                              p->tensors.at[i].name, p->tensors.at[first].name);
    }
    return true;
}

/* Lists come first: shapes may count them. */
static bool bind_operands(Run *run, Scope *s, bool lists)
{
    for (uint32_t i = 0; i < run->p->operand_count; i++)
        if (ir_is_list(&run->p->tensors.at[i]) == lists && (!bind_operand(run, s, i) || run->stop))
            return false;
    return !lists || check_lists(run);
}

static void make_workspace(Run *run, Scope *s, const IrStmt *stmt)
{
    const IrTensor *t = &run->p->tensors.at[stmt->tensor];
    GmList *list = &run->tensors[stmt->tensor];
    Gm *gm = arena_new(&run->scratch, Gm);
    *gm = (Gm){.name = t->name, .dtype = t->dtype};
    *list = (GmList){.count = 1, .items = gm, .live = true};
    if (!eval_shape(s, t, gm) || !make_marks(s, gm) || run->io->addresses_only)
        return;
    int64_t bytes = gm->count * (int64_t)dtype_bytes(gm->dtype);
    gm->data = run_memory(s, bytes);
    if (gm->data)
        memset(gm->data, 0xff, (size_t)bytes);
}

/* ---- launches ---- */

typedef struct Launch {
    Run *run;
    const IrStmt *s;
    const IrKernel *k;
    Scalar *vars; /* parameters set */
    GmList **tensors;
    int64_t cores;
} Launch;

/* The tensor as the kernel sees it: its own, or the same memory under another shape. */
static GmList *seen_as(Launch *l, GmList *given, const Gm *want)
{
    const Gm *have = &given->items[0];
    bool same = have->rank == want->rank;
    for (uint32_t i = 0; i < want->rank && same; i++)
        same = want->dims[i] == have->dims[i];
    if (same)
        return given;
    GmList *other = arena_new(&l->run->scratch, GmList);
    *other = *given;
    other->items = arena_new(&l->run->scratch, Gm);
    other->items[0] = *have;
    other->items[0].rank = want->rank;
    memcpy(other->items[0].dims, want->dims, sizeof want->dims);
    return other;
}

static bool check_param_shape(Launch *l, Scope *s, uint32_t param)
{
    const IrTensor *t = &l->k->tensors.at[param];
    GmList *given = l->tensors[param];
    Gm want = {.name = t->name};
    if (ir_is_list(t) || given->count == 0)
        return true;
    if (!eval_shape(s, t, &want))
        return false;
    if (want.count == given->items[0].count) {
        l->tensors[param] = seen_as(l, given, &want);
        return true;
    }
    run_fault(s, IR_FAULT_SHAPES, l->s->at,
              "'%s' has %lld elements, the parameter '%s' of '%s' says %lld", given->items[0].name,
              (long long)given->items[0].count, t->name, l->k->name, (long long)want.count);
    return false;
}

/* What a kernel did to a tensor that it saw under another shape. */
static void note_seen(Launch *l)
{
    for (uint32_t i = 0; i < l->k->params.len; i++) {
        if (!l->k->params.at[i].is_tensor)
            continue;
        const GmList *seen = l->tensors[l->k->params.at[i].tensor];
        GmList *own = &l->run->tensors[l->s->args.at[i].tensor];
        if (seen == own || !own->count)
            continue;
        own->items[0].stored = seen->items[0].stored;
        own->items[0].uncertain = seen->items[0].uncertain;
    }
}

static bool pass_arguments(Launch *l, Scope *host)
{
    const IrProgram *p = l->run->p;
    l->vars = arena_array(&l->run->scratch, Scalar, p->vars.len);
    l->tensors = arena_array(&l->run->scratch, GmList *, l->k->tensors.len + 1);
    for (uint32_t i = 0; i < p->dims.len; i++)
        l->vars[p->dims.at[i]] = l->run->vars[p->dims.at[i]];
    for (uint32_t i = 0; i < l->k->params.len; i++) {
        const IrArg *want = &l->k->params.at[i], *have = &l->s->args.at[i];
        if (want->is_tensor)
            l->tensors[want->tensor] = &l->run->tensors[have->tensor];
        else
            l->vars[p->exprs.at[want->value].of.var] = run_eval(host, have->value);
    }
    Scope scope = {.run = l->run,
                   .vars = l->vars,
                   .tensors = l->tensors,
                   .core = -1,
                   .kernel = l->s->kernel,
                   .at = l->s->at};
    for (uint32_t i = 0; i < l->k->tensors.len && !l->run->stop; i++)
        check_param_shape(l, &scope, i);
    return !l->run->stop;
}

static void init_thread(Launch *l, Thread *t, Core *core, int64_t id, IrCore role)
{
    uint32_t n = l->run->p->vars.len;
    if (!t->scope.vars)
        t->scope.vars = arena_array(&l->run->scratch, Scalar, n);
    memcpy(t->scope.vars, l->vars, n * sizeof(Scalar));
    Scalar *vars = t->scope.vars;
    t->scope = (Scope){.run = l->run,
                       .vars = vars,
                       .tensors = l->tensors,
                       .core = id,
                       .cores = l->cores,
                       .kernel = l->s->kernel,
                       .at = l->s->at};
    t->k = l->k;
    t->core = core;
    t->role = role;
    run_thread_start(t);
}

static bool block_waits(const IrProgram *p, const IrBlock *block)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &p->stmts.at[block->at[i]];
        if (s->kind == IR_S_SYNC_ALL || block_waits(p, &s->body) || block_waits(p, &s->orelse))
            return true;
    }
    return false;
}

/* Cores in an order that the seed decides. */
static int64_t *core_order(Launch *l)
{
    int64_t *order = arena_array(&l->run->scratch, int64_t, (size_t)l->cores);
    for (int64_t i = 0; i < l->cores; i++)
        order[i] = i;
    for (int64_t i = l->cores - 1; i > 0 && l->run->io->seed; i--) {
        int64_t k = rng_range(l->run->io->seed, l->run->epoch, (uint64_t)i, 0, i + 1),
                old = order[i];
        order[i] = order[k];
        order[k] = old;
    }
    return order;
}

/* Nobody waits for anybody: one core at a time, in the same memory. */
static void run_one_by_one(Launch *l, const int64_t *order)
{
    Core core = {0};
    Thread *t = arena_new(&l->run->scratch, Thread);
    for (int64_t i = 0; i < l->cores && !l->run->stop; i++) {
        init_thread(l, t, &core, order[i], l->k->has_cube ? IR_CORE_CUBE : IR_CORE_VECTOR);
        if (!core.buffers && !run_make_buffers(t))
            return;
        run_reset_buffers(t);
        run_thread(t);
    }
}

static void report_hang(Launch *l, Thread *threads, int64_t n)
{
    int64_t done = 0, waiting = -1;
    for (int64_t i = 0; i < n; i++) {
        done += threads[i].state == THREAD_DONE;
        if (threads[i].state != THREAD_DONE && waiting < 0)
            waiting = i;
    }
    Thread *t = &threads[waiting];
    bool sync = t->state == THREAD_SYNC;
    run_fault(&t->scope, sync ? IR_FAULT_SYNC : IR_FAULT_HANG, t->waits->at,
              "%s waits here for ever: %lld of %lld %s have ended", run_who(&t->scope),
              (long long)done, (long long)n,
              l->k->has_cube && l->k->has_vector ? "roles" : "cores");
    l->run->stop = true;
}

/* All that have not ended stand at sync_all, and none of their kind has ended. */
static bool all_at_sync(const Thread *threads, int64_t n)
{
    bool waits[2] = {0}, ended[2] = {0};
    for (int64_t i = 0; i < n; i++) {
        if (threads[i].state == THREAD_CHANNEL)
            return false;
        waits[threads[i].role] |= threads[i].state == THREAD_SYNC;
        ended[threads[i].role] |= threads[i].state == THREAD_DONE;
    }
    return !(waits[0] && ended[0]) && !(waits[1] && ended[1]) && (waits[0] || waits[1]);
}

/* One round: everybody goes as far as possible. True when somebody moved. */
static bool run_round(Launch *l, Thread *threads, int64_t n)
{
    bool moved = false;
    for (int64_t i = 0; i < n && !l->run->stop; i++) {
        Thread *t = &threads[i];
        if (t->state != THREAD_READY && t->state != THREAD_CHANNEL)
            continue;
        uint64_t before = l->run->steps;
        run_thread(t);
        moved |= t->state != THREAD_CHANNEL || l->run->steps > before + 1;
    }
    return moved;
}

static void run_together(Launch *l, Thread *threads, int64_t n)
{
    while (!l->run->stop) {
        if (run_round(l, threads, n))
            continue;
        bool done = true;
        for (int64_t i = 0; i < n; i++)
            done &= threads[i].state == THREAD_DONE;
        if (done)
            return;
        if (!all_at_sync(threads, n)) {
            report_hang(l, threads, n);
            return;
        }
        l->run->epoch++;
        for (int64_t i = 0; i < n; i++)
            if (threads[i].state == THREAD_SYNC)
                threads[i].state = THREAD_READY;
    }
}

/* Its channels are those of the first. */
static bool make_second(Thread *t, Core *first)
{
    if (!run_make_buffers(t))
        return false;
    t->core->first = first;
    for (uint32_t i = 0; i < t->k->buffers.len; i++)
        if (t->k->buffers.at[i].memory == IR_CHANNEL)
            t->core->buffers[i] = first->buffers[i];
    return true;
}

/* A core of two roles is a vector core and its cube core, and perhaps a second vector core. */
static void run_all(Launch *l, const int64_t *order)
{
    enum { SECOND = 2 };
    bool both = l->k->has_cube && l->k->has_vector;
    int64_t roles = both ? 2 + l->k->paired : 1, n = l->cores * roles;
    Core *cores = arena_array(&l->run->scratch, Core, (size_t)n);
    Thread *threads = arena_array(&l->run->scratch, Thread, (size_t)n);
    for (int64_t i = 0; i < n; i++) {
        int64_t which = i % roles;
        IrCore role = (both ? which == IR_CORE_CUBE : l->k->has_cube) ? IR_CORE_CUBE
                                                                      : IR_CORE_VECTOR;
        Core *first = &cores[i - which], *own = which == SECOND ? &cores[i] : first;
        init_thread(l, &threads[i], own, order[i / roles], role);
        threads[i].pair = l->k->paired && role == IR_CORE_VECTOR;
        threads[i].scope.vector = which == SECOND;
        if (which != IR_CORE_CUBE &&
            !(which == SECOND ? make_second(&threads[i], first) : run_make_buffers(&threads[i])))
            return;
    }
    run_together(l, threads, n);
}

static void note_launch(const Launch *l, Scope *host, IrStmtId id)
{
    IrHostLaunch note = {.stmt = id, .cores = l->cores};
    note.args = arena_array(l->run->arena, IrScalar, l->s->args.len + 1);
    for (uint32_t i = 0; i < l->s->args.len; i++) {
        const IrArg *a = &l->s->args.at[i];
        Scalar v = a->is_tensor ? (Scalar){0} : run_eval(host, a->value);
        if (!a->is_tensor)
            note.args[i] = (IrScalar){l->run->p->exprs.at[a->value].type, v.i, v.f};
    }
    vec_push(l->run->arena, &l->run->host->launches, note);
}

/* Some cores of every role, one after the other; nobody waits for anybody. */
static void walk_launch(Launch *l, Scope *host, IrStmtId id)
{
    Core core = {0};
    Thread *t = arena_new(&l->run->scratch, Thread);
    bool roles[] = {l->k->has_vector || !l->k->has_cube, l->k->has_cube};
    decide_launch(l->run->decided, id);
    if (!pass_arguments(l, host))
        return;
    for (int64_t i = 0; i < l->cores; i++)
        for (int role = 0; role < 2 && !l->run->stop; role++) {
            if (!roles[role] || !decide_core(l->run, i, l->cores))
                continue;
            init_thread(l, t, &core, i, role ? IR_CORE_CUBE : IR_CORE_VECTOR);
            decide_buffers(t);
            run_thread(t);
        }
    decide_launch(l->run->decided, 0);
}

static void run_launch(Run *run, Scope *host, IrStmtId id)
{
    const IrStmt *s = &run->p->stmts.at[id];
    Launch l = {.run = run, .s = s, .k = &run->p->kernels.at[s->kernel]};
    int64_t most = l.k->has_cube ? run->io->chip->aic : run->io->chip->aiv;
    if (!run_int(host, s->cores, &l.cores))
        return;
    if (l.cores < 1 || l.cores > most || l.cores >= MARK_ATOMIC) {
        run_fault(host, IR_FAULT_CORES, s->at, "'%s' is launched on %lld cores, the chip has %lld",
                  l.k->name, (long long)l.cores, (long long)most);
        run->stop = true;
        return;
    }
    if (run->host) {
        note_launch(&l, host, id);
        if (run->decided)
            walk_launch(&l, host, id);
        return;
    }
    run->epoch++;
    if (!pass_arguments(&l, host))
        return;
    const int64_t *order = core_order(&l);
    if ((l.k->has_cube && l.k->has_vector) || block_waits(run->p, &l.k->body))
        run_all(&l, order);
    else
        run_one_by_one(&l, order);
    note_seen(&l);
}

/* ---- the host function ---- */

void run_host(Run *run, Scope *s, const IrBlock *block)
{
    for (uint32_t i = 0; i < block->len && !run->stop; i++) {
        const IrStmt *stmt = &run->p->stmts.at[block->at[i]];
        s->at = stmt->at;
        switch (stmt->kind) {
        case IR_S_ASSIGN: run->vars[stmt->var] = run_eval(s, stmt->value); break;
        case IR_S_IF: {
            bool taken = run_eval(s, stmt->cond).i != 0;
            if (run->decided)
                decide_if(s, stmt, taken);
            run_host(run, s, taken ? &stmt->body : &stmt->orelse);
            break;
        }
        case IR_S_ASSERT:
            if (!run_eval(s, stmt->cond).i)
                refuse_run(run, "%s", stmt->text);
            break;
        case IR_S_WORKSPACE: make_workspace(run, s, stmt); break;
        case IR_S_LAUNCH: run_launch(run, s, block->at[i]); break;
        default: panic("a kernel statement in the host");
        }
    }
}

/* After a fault of the host nobody can tell what kernels were to do. */
static bool host_faulted(const Run *run)
{
    for (uint32_t i = 0; i < run->io->faults.len; i++)
        if (run->io->faults.at[i].kernel == UINT32_MAX)
            return true;
    return false;
}

/* The elements that must have been written: all, or all rows up to the last that was touched. */
static int64_t due(const IrTensor *t, const Gm *gm)
{
    int64_t n = gm->count, row = t->upto && gm->dims[0] ? gm->count / gm->dims[0] : 1;
    while (t->upto && n > 0 && !gm->wrote[n - 1])
        n--;
    return row ? (n + row - 1) / row * row : n;
}

static void check_coverage(Run *run, Scope *s)
{
    for (uint32_t i = 0; i < run->p->operand_count; i++) {
        const IrTensor *t = &run->p->tensors.at[i];
        if (t->role != IR_ROLE_OUT && t->role != IR_ROLE_OUT_LIST)
            continue;
        for (uint32_t k = 0; k < run->tensors[i].count; k++) {
            const Gm *gm = &run->tensors[i].items[k];
            int64_t at = 0, missing = 0;
            for (int64_t e = due(t, gm); e-- > 0;)
                if (!gm->wrote[e])
                    missing++, at = e;
            if (missing && (!gm->uncertain || (t->upto && !run->io->addresses_only)))
                run_fault(s, IR_FAULT_COVER, gm->stored.line ? gm->stored : t->at,
                          "element %s is never written (%lld of %lld are missing)",
                          run_index(&run->scratch, gm, at), (long long)missing,
                          (long long)gm->count);
        }
    }
}

static Run start_run(Arena *arena, IrRun *io, Scope *scope)
{
    Run run = {.io = io, .p = io->p, .arena = arena, .epoch = 1};
    uint32_t n = io->p->tensors.len;
    run.vars = arena_array(&run.scratch, Scalar, io->p->vars.len);
    run.tensors = arena_array(&run.scratch, GmList, n + 1);
    GmList **names = arena_array(&run.scratch, GmList *, n + 1);
    for (uint32_t i = 0; i < n; i++)
        names[i] = &run.tensors[i];
    *scope = host_scope(&run, names);
    return run;
}

/* What the operator refuses has no shapes: the asserts that stand before all else come first. */
static bool heads_hold(Run *run, Scope *s)
{
    for (uint32_t i = 0; i < run->p->host.len && !run->stop; i++) {
        const IrStmt *stmt = &run->p->stmts.at[run->p->host.at[i]];
        s->at = stmt->at;
        if (stmt->kind == IR_S_ASSIGN)
            run->vars[stmt->var] = run_eval(s, stmt->value);
        else if (stmt->kind != IR_S_ASSERT)
            break;
        else if (!run_eval(s, stmt->cond).i && !run->stop)
            return refuse_run(run, "%s", stmt->text);
    }
    return !run->stop;
}

bool run_begin(Arena *arena, IrRun *io, IrHostRun *host, Run *run, Scope *scope)
{
    io->status = IR_RUN_OK;
    io->text = NULL;
    memset(&io->faults, 0, sizeof io->faults);
    *run = start_run(arena, io, scope);
    run->host = host;
    scope->run = run;
    return infer_dims(run) && derive_dims(run, scope) && set_attrs(run, scope) &&
           bind_operands(run, scope, true) && heads_hold(run, scope) &&
           bind_operands(run, scope, false);
}

bool ir_run(Arena *arena, IrRun *io)
{
    Scope scope;
    Run run;
    if (run_begin(arena, io, NULL, &run, &scope)) {
        run_host(&run, &scope, &io->p->host);
        if (!run.stop && !host_faulted(&run))
            check_coverage(&run, &scope);
    }
    io->steps = run.steps;
    arena_drop(&run.scratch);
    return io->status == IR_RUN_OK;
}

bool ir_operand_shape(const IrProgram *p, const NpuChip *chip, const int64_t *dims,
                      const IrValue *attrs, IrOperand *operands, uint32_t operand, IrData *shape)
{
    Arena arena = {0};
    IrRun io = {.p = p,
                .chip = chip,
                .dims = dims,
                .attrs = attrs,
                .operands = operands,
                .addresses_only = true};
    Scope scope;
    Run run = start_run(&arena, &io, &scope);
    Gm gm = {0};
    scope.run = &run;
    bool ok = infer_dims(&run) && derive_dims(&run, &scope) && set_attrs(&run, &scope) &&
              bind_operands(&run, &scope, true) && eval_shape(&scope, &p->tensors.at[operand], &gm);
    *shape = (IrData){.rank = gm.rank};
    memcpy(shape->dims, gm.dims, sizeof shape->dims);
    arena_drop(&run.scratch);
    arena_drop(&arena);
    return ok;
}
