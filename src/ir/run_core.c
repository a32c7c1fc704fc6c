/* One thread of a kernel, statement by statement, resumable where it waits. In: a thread ready
 * to go on. Out: the thread ended, waiting, or the run stopped by a fault. */
#include "ir/run_int.h"

#include <string.h>

void run_assign(Thread *t, IrVarId var, Scalar value)
{
    for (uint32_t f = 0; f < t->depth; f++)
        value.data |= t->frames[f].data;
    value.set = true;
    t->scope.vars[var] = value;
}

static void push(Thread *t, const IrBlock *block, bool data)
{
    Frame *f = &t->frames[t->depth++];
    f->block = block;
    f->at = 0;
    f->loop = NULL;
    f->data = data;
    f->walked = 0;
    f->idle = t->depth > 1 && t->frames[t->depth - 2].idle;
}

/* ---- what depends on data ---- */

static void touch_view(Thread *t, const IrView *v)
{
    if (v->rank)
        run_forget(t, v);
}

/* Whether these statements run depends on data: what they write is no longer certain. */
static void taint(Thread *t, const IrBlock *block, bool unknown)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &t->scope.run->p->stmts.at[block->at[i]];
        if (s->var && (unknown || t->scope.vars[s->var].set))
            t->scope.vars[s->var].set = t->scope.vars[s->var].data = true;
        if (s->kind == IR_S_STORE || s->kind == IR_S_GM_WRITE) {
            GmList *list = t->scope.tensors[s->access.tensor];
            for (uint32_t k = 0; k < list->count; k++)
                list->items[k].uncertain = true;
        }
        if (unknown && s->kind != IR_S_SEND) {
            touch_view(t, &s->dst);
            touch_view(t, &s->dst2);
        }
        taint(t, &s->body, unknown);
        taint(t, &s->orelse, unknown);
    }
}

/* ---- loops ---- */

static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }

static bool positive(Thread *t, const IrStmt *s, const char *what, int64_t value)
{
    if (value > 0)
        return true;
    run_fault(&t->scope, IR_FAULT_LOOP, s->at, "%s: the %s is %lld", run_who(&t->scope), what,
              (long long)value);
    return false;
}

static bool loop_axis(Thread *t, const IrStmt *s, Frame *f, uint32_t i)
{
    const IrAxis *a = &s->axes[i];
    f->unit[i] = 1;
    IrExprId unit = a->tile ? a->tile : a->step;
    if (!run_int(&t->scope, a->lo, &f->lo[i]) || !run_int(&t->scope, a->hi, &f->hi[i]) ||
        (unit && !run_int(&t->scope, unit, &f->unit[i])))
        return false;
    if (!positive(t, s, a->tile ? "tile" : "step", f->unit[i]))
        return false;
    int64_t span;
    if (__builtin_sub_overflow(f->hi[i], f->lo[i], &span))
        span = INT64_MAX;
    f->count[i] = span <= 0 ? 0 : (span - 1) / f->unit[i] + 1;
    return true;
}

/* The pieces of all tensors of a list, counted. */
static bool list_axes(Thread *t, const IrStmt *s, Frame *f, int64_t *total)
{
    const GmList *list = t->scope.tensors[s->list];
    *total = 0;
    if (!run_int(&t->scope, s->axes[1].tile, &f->unit[1]) || !positive(t, s, "tile", f->unit[1]))
        return false;
    for (uint32_t i = 0; i < list->count; i++)
        *total += (list->items[i].count + f->unit[1] - 1) / f->unit[1];
    return true;
}

static bool loop_data(Thread *t, const IrStmt *s)
{
    bool data = false;
    for (uint32_t i = 0; i < s->axis_count; i++) {
        IrExprId e[4] = {s->axes[i].lo, s->axes[i].hi, s->axes[i].step, s->axes[i].tile};
        for (int k = 0; k < 4; k++)
            data |= e[k] && run_eval(&t->scope, e[k]).data;
    }
    return data;
}

/* Contiguous shares, the remainder spread over the first cores. */
static int64_t share_start(int64_t total, int64_t core, int64_t cores)
{
    return core * (total / cores) + min64(core, total % cores);
}

static bool split_items(Thread *t, const IrStmt *s, Frame *f)
{
    int64_t total = 1, core = t->scope.core, cores = t->scope.cores;
    if (s->loop == IR_LOOP_MINE_LIST) {
        if (!list_axes(t, s, f, &total))
            return false;
    } else {
        for (uint32_t i = 0; i < s->axis_count; i++)
            if (!loop_axis(t, s, f, i) || __builtin_mul_overflow(total, f->count[i], &total))
                return false;
    }
    f->stride = 1;
    switch (s->loop) {
    case IR_LOOP_RANGE:
    case IR_LOOP_TILES: f->item = 0, f->stop = total; break;
    case IR_LOOP_CYCLIC: f->item = core, f->stop = total, f->stride = cores; break;
    case IR_LOOP_MINE:
    case IR_LOOP_MINE_LIST:
        f->item = share_start(total, core, cores);
        f->stop = share_start(total, core + 1, cores);
        break;
    }
    return true;
}

static void bind(Thread *t, IrVarId var, int64_t value, bool data)
{
    if (var)
        t->scope.vars[var] = (Scalar){.i = value, .set = true, .data = data};
}

static void bind_axis(Thread *t, const Frame *f, const IrAxis *a, uint32_t i, int64_t k)
{
    int64_t start = f->lo[i] + k * f->unit[i];
    bind(t, a->range.start, start, f->data);
    if (!a->tile)
        return;
    bind(t, a->range.size, min64(f->unit[i], f->hi[i] - start), f->data);
    bind(t, a->range.index, k, f->data);
}

static void bind_list_item(Thread *t, const Frame *f)
{
    const GmList *list = t->scope.tensors[f->loop->list];
    const IrAxis *a = f->loop->axes;
    int64_t k = f->item;
    for (uint32_t i = 0; i < list->count; i++) {
        int64_t size = list->items[i].count, pieces = (size + f->unit[1] - 1) / f->unit[1];
        if (k < pieces) {
            bind(t, a[0].range.start, i, f->data);
            bind(t, a[1].range.start, k * f->unit[1], f->data);
            bind(t, a[1].range.size, min64(f->unit[1], size - k * f->unit[1]), f->data);
            bind(t, a[1].range.index, k, f->data);
            return;
        }
        k -= pieces;
    }
}

static void bind_item(Thread *t, Frame *f)
{
    int64_t k = f->item;
    if (f->loop->alternate && t->pair)
        f->idle = k % 2 != t->scope.vector;
    if (f->loop->loop == IR_LOOP_MINE_LIST) {
        bind_list_item(t, f);
        return;
    }
    for (uint32_t i = f->loop->axis_count; i-- > 0;) {
        bind_axis(t, f, &f->loop->axes[i], i, k % f->count[i]);
        k /= f->count[i];
    }
}

/* How often it turns depends on data: what sizes decide in it is noted once. */
static void walk_once(Thread *t, const IrStmt *s, Frame *f)
{
    for (uint32_t i = 0; i < s->axis_count; i++) {
        bind(t, s->axes[i].range.start, 0, true);
        bind(t, s->axes[i].range.size, 0, true);
        bind(t, s->axes[i].range.index, 0, true);
    }
    f->item = 0;
    f->stop = f->stride = 1;
}

static void start_loop(Thread *t, const IrStmt *s)
{
    bool walking = t->scope.run->decided != NULL;
    push(t, &s->body, false);
    Frame *f = &t->frames[t->depth - 1];
    f->data = !walking && s->loop != IR_LOOP_MINE_LIST && loop_data(t, s);
    if (f->data)
        taint(t, &s->body, false);
    if (!split_items(t, s, f)) {
        if (walking) {
            walk_once(t, s, f);
            return;
        }
        t->depth--;
        taint(t, &s->body, true);
        return;
    }
    if (walking)
        decide_loop(t, s, f);
    f->loop = s;
    if (f->item < f->stop)
        bind_item(t, f);
    else
        t->depth--;
}

/* The block of the frame is at its end: the next item, or out. */
static void end_block(Thread *t)
{
    Frame *f = &t->frames[t->depth - 1];
    f->item = f->loop && t->scope.run->decided ? decide_next(t, f) : f->item + f->stride;
    f->walked++;
    if (f->loop && f->item < f->stop) {
        f->at = 0;
        bind_item(t, f);
    } else {
        t->depth--;
    }
}

static void run_share(Thread *t, const IrStmt *s)
{
    const IrRange *r = &s->axes[0].range;
    int64_t n, align, core = t->scope.core, cores = t->scope.cores;
    if (!run_int(&t->scope, s->axes[0].hi, &n) || !run_int(&t->scope, s->align, &align) ||
        !positive(t, s, "alignment of the share", align)) {
        bind(t, r->start, 0, true);
        bind(t, r->size, 0, true);
        return;
    }
    n = n > 0 ? n : 0;
    int64_t blocks = n / align + (n % align != 0);
    int64_t first = share_start(blocks, core, cores), last = share_start(blocks, core + 1, cores);
    int64_t start = first >= blocks ? n : first * align, stop = last >= blocks ? n : last * align;
    bool data = run_eval(&t->scope, s->axes[0].hi).data;
    bind(t, r->start, start, data);
    bind(t, r->size, stop - start, data);
}

static void walk_if(Thread *t, const IrStmt *s)
{
    Scalar cond = run_eval(&t->scope, s->cond);
    bool known = !run_unknown(&t->scope, cond);
    if (known)
        decide_if(&t->scope, s, cond.i != 0);
    if (!known || !cond.i)
        push(t, &s->orelse, false);
    if (!known || cond.i)
        push(t, &s->body, false);
}

static void run_if(Thread *t, const IrStmt *s)
{
    if (t->scope.run->decided) {
        walk_if(t, s);
        return;
    }
    Scalar cond = run_eval(&t->scope, s->cond);
    if (cond.data) {
        taint(t, &s->body, run_unknown(&t->scope, cond));
        taint(t, &s->orelse, run_unknown(&t->scope, cond));
    }
    if (!run_unknown(&t->scope, cond))
        push(t, cond.i ? &s->body : &s->orelse, cond.data);
}

/* ---- the machine ---- */

/* Whether the statement is left out in the other vector core's turn. */
static bool rests(const IrStmt *s)
{
    bool goes_on = s->kind == IR_S_FOR || s->kind == IR_S_IF || s->kind == IR_S_STAGE ||
                   s->kind == IR_S_ASSIGN || s->kind == IR_S_SEND || s->kind == IR_S_RECV;
    return !goes_on;
}

/* False: it waits, and will be tried again. */
static bool step(Thread *t, const IrStmt *s)
{
    t->scope.at = s->at;
    if (t->frames[t->depth - 1].idle) {
        if (rests(s))
            return true;
        if (s->kind == IR_S_SEND || s->kind == IR_S_RECV)
            return run_skip(t, s);
    }
    if (t->scope.run->decided && s->kind >= IR_S_GM_READ) {
        decide_stmt(t, s);
        return true;
    }
    switch (s->kind) {
    case IR_S_FOR: start_loop(t, s); break;
    case IR_S_IF: run_if(t, s); break;
    case IR_S_STAGE: push(t, &s->body, false); break;
    case IR_S_ROLE:
        if (s->core == t->role)
            push(t, &s->body, false);
        break;
    case IR_S_SHARE: run_share(t, s); break;
    case IR_S_ASSIGN: run_assign(t, s->var, run_eval(&t->scope, s->value)); break;
    case IR_S_GM_READ:
    case IR_S_GM_WRITE: run_gm_scalar(t, s); break;
    case IR_S_LOAD: run_load(t, s); break;
    case IR_S_STORE: run_store(t, s); break;
    case IR_S_OP: run_op(t, s); break;
    case IR_S_SYNC_ALL: t->state = THREAD_SYNC; break;
    case IR_S_SEND: return run_send(t, s);
    case IR_S_RECV: return run_recv(t, s);
    case IR_S_ASSERT:
    case IR_S_WORKSPACE:
    case IR_S_LAUNCH: panic("a host statement in a kernel");
    }
    return true;
}

void run_thread_start(Thread *t)
{
    t->state = THREAD_READY;
    t->depth = 0;
    push(t, &t->k->body, false);
}

void run_thread(Thread *t)
{
    t->state = THREAD_READY;
    while (t->state == THREAD_READY && !t->scope.run->stop) {
        if (t->depth == 0) {
            t->state = THREAD_DONE;
            return;
        }
        Frame *f = &t->frames[t->depth - 1];
        if (f->at == f->block->len) {
            end_block(t);
            continue;
        }
        const IrStmt *s = &t->scope.run->p->stmts.at[f->block->at[f->at]];
        t->waits = s;
        if (!run_work(&t->scope, 0))
            return;
        if (step(t, s))
            f->at++;
        else
            t->state = THREAD_CHANNEL;
    }
}
