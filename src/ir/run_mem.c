/* Memory of a run: on-chip buffers with their shadow, views, regions of GM with their marks.
 * In: views and accesses. Out: checked tiles and regions, or a fault with the numbers. */
#include "ir/run_int.h"

#include <string.h>

/* ---- buffers ---- */

static bool buffer_size(Thread *t, const IrBuffer *b, Buffer *out)
{
    int64_t width = b->mask ? 1 : (int64_t)dtype_bytes(b->dtype), shape[2] = {1, 1};
    *out = (Buffer){.depth = 1};
    for (uint32_t i = 0; i < b->rank; i++)
        if (!run_int(&t->scope, b->shape[i], &shape[i + 2 - b->rank]))
            return false;
    if (b->depth && !run_int(&t->scope, b->depth, &out->depth))
        return false;
    if (shape[0] < 0 || shape[1] < 0 || out->depth < 1 || shape[1] > INT32_MAX ||
        shape[0] > INT32_MAX || out->depth > 1024) {
        run_fault(&t->scope, IR_FAULT_CAPACITY, b->at, "'%s' has %lld x %lld elements, depth %lld",
                  b->name, (long long)shape[0], (long long)shape[1], (long long)out->depth);
        return false;
    }
    out->rows = shape[0];
    out->cols = shape[1];
    out->pitch = (shape[1] * width + 31) / 32 * 32;
    if (__builtin_mul_overflow(out->pitch, out->rows, &out->bytes) || out->bytes > INT32_MAX) {
        run_fault(&t->scope, IR_FAULT_CAPACITY, b->at, "'%s' takes %lld rows of %lld bytes",
                  b->name, (long long)out->rows, (long long)out->pitch);
        return false;
    }
    return true;
}

static int64_t memory_limit(const NpuChip *chip, IrMemory m)
{
    switch (m) {
    case IR_UB: return chip->ub;
    case IR_L1: return chip->l1;
    case IR_L0A: return chip->l0a;
    case IR_L0B: return chip->l0b;
    case IR_L0C: return chip->l0c;
    case IR_CHANNEL: break;
    }
    return INT64_MAX;
}

static bool check_capacity(Thread *t)
{
    static const char *const names[] = {"UB", "L1", "L0A", "L0B", "L0C"};
    for (IrMemory m = IR_UB; m < IR_CHANNEL; m++) {
        int64_t used = 0, limit = memory_limit(t->scope.run->io->chip, m);
        for (uint32_t i = 0; i < t->k->buffers.len; i++) {
            const IrBuffer *b = &t->k->buffers.at[i];
            const Buffer *have = &t->core->buffers[i];
            int64_t bits = (have->cols + 255) / 256 * 32 * have->rows;
            if (b->memory == m)
                used += (b->mask ? bits : have->bytes) * have->depth;
        }
        if (used > limit) {
            run_fault(&t->scope, IR_FAULT_CAPACITY, t->k->at,
                      "the buffers of '%s' take %lld bytes of %s, a core has %lld", t->k->name,
                      (long long)used, names[m], (long long)limit);
            return false;
        }
    }
    return true;
}

static bool make_memory(Thread *t, Buffer *b, bool channel)
{
    int64_t bytes = b->bytes * (channel ? b->depth : 1);
    b->shadow = run_memory(&t->scope, bytes);
    if (b->shadow && !t->scope.run->io->addresses_only)
        b->data = run_memory(&t->scope, bytes);
    return b->shadow && (b->data || t->scope.run->io->addresses_only);
}

bool run_make_buffers(Thread *t)
{
    uint32_t n = t->k->buffers.len;
    t->core->buffers = arena_array(&t->scope.run->scratch, Buffer, n + 1);
    for (uint32_t i = 0; i < n; i++)
        if (!buffer_size(t, &t->k->buffers.at[i], &t->core->buffers[i]))
            return false;
    if (!check_capacity(t) && t->scope.run->stop)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!make_memory(t, &t->core->buffers[i], t->k->buffers.at[i].memory == IR_CHANNEL))
            return false;
    for (uint32_t i = 0; i < n; i++)
        t->core->buffers[i].touched = t->core->buffers[i].bytes;
    run_reset_buffers(t);
    return true;
}

/* Poison: all ones is NaN for floats and -1 for integers. */
void run_reset_buffers(Thread *t)
{
    for (uint32_t i = 0; i < t->k->buffers.len; i++) {
        Buffer *b = &t->core->buffers[i];
        bool channel = t->k->buffers.at[i].memory == IR_CHANNEL;
        size_t bytes = (size_t)(channel ? b->bytes * b->depth : b->touched);
        memset(b->shadow, 0, bytes);
        if (b->data)
            memset(b->data, t->k->buffers.at[i].mask ? 0 : 0xff, bytes);
        memset(b->sent, 0, sizeof b->sent);
        memset(b->taken, 0, sizeof b->taken);
        b->touched = 0;
    }
}

/* ---- views ---- */

static bool axis_fits(Thread *t, const IrView *v, const char *what, int64_t start, int64_t size,
                      int64_t limit)
{
    if (start >= 0 && size >= 0 && size <= limit && start <= limit - size)
        return true;
    run_fault(&t->scope, IR_FAULT_VIEW, v->at.line ? v->at : t->scope.at,
              "%s sees '%s' %s %lld .. %lld, it has %lld", run_who(&t->scope),
              t->k->buffers.at[v->buffer].name, what, (long long)start, (long long)(start + size),
              (long long)limit);
    return false;
}

static bool is_aligned(Thread *t, const IrView *v, const IrBuffer *b, int64_t start)
{
    int64_t unit = b->mask ? 256 : 32 / (int64_t)dtype_bytes(v->dtype);
    if (b->memory != IR_UB || start % unit == 0)
        return true;
    run_fault(&t->scope, IR_FAULT_ALIGN, v->at.line ? v->at : t->scope.at,
              "%s: the view of '%s' starts at element %lld, not a multiple of %lld",
              run_who(&t->scope), b->name, (long long)start, (long long)unit);
    return false;
}

bool run_tile(Thread *t, const IrView *v, bool aligned, Tile *tile)
{
    const IrBuffer *b = &t->k->buffers.at[v->buffer];
    Buffer *have = &t->core->buffers[v->buffer];
    int64_t start[2] = {0, 0}, size[2] = {1, 1};
    size_t own = b->mask ? 1 : dtype_bytes(b->dtype), width = b->mask ? 1 : dtype_bytes(v->dtype);
    for (uint32_t i = 0; i < v->rank; i++)
        if (!run_int(&t->scope, v->start[i], &start[i + 2 - v->rank]) ||
            !run_int(&t->scope, v->size[i], &size[i + 2 - v->rank]))
            return false;
    if (v->row && !run_int(&t->scope, v->row, &start[0]))
        return false;
    int64_t cols = have->cols * (int64_t)own / (int64_t)width;
    if (!axis_fits(t, v, "at row", start[0], size[0], have->rows) ||
        !axis_fits(t, v, "at", start[1], size[1], cols))
        return false;
    if (aligned && !is_aligned(t, v, b, start[1]))
        return false;
    int64_t offset = start[0] * have->pitch + start[1] * (int64_t)width;
    int64_t end = (start[0] + size[0]) * have->pitch;
    if (size[0] == 1)
        end = offset + size[1] * (int64_t)width;
    have->touched = end > have->touched ? end : have->touched;
    *tile = (Tile){.name = b->name,
                   .data = have->data ? have->data + offset : NULL,
                   .shadow = have->shadow + offset,
                   .rows = size[0],
                   .cols = size[1],
                   .pitch = have->pitch,
                   .row0 = start[0],
                   .byte0 = start[1] * (int64_t)width,
                   .buffer = v->buffer,
                   .rank = v->rank,
                   .dtype = v->dtype,
                   .width = width,
                   .mask = b->mask};
    return run_work(&t->scope, size[0] * size[1]);
}

bool run_need(Thread *t, const Tile *tile)
{
    size_t bytes = (size_t)tile->cols * tile->width;
    for (int64_t r = 0; r < tile->rows; r++) {
        const uint8_t *row = tile->shadow + r * tile->pitch;
        const uint8_t *hole = memchr(row, 0, bytes);
        if (!hole)
            continue;
        long long at = (long long)((size_t)(hole - row) / tile->width);
        if (tile->rank == 2)
            run_fault(&t->scope, IR_FAULT_WRITTEN, t->scope.at,
                      "%s reads '%s' at [%lld, %lld] of the view, which was never written",
                      run_who(&t->scope), tile->name, (long long)r, at);
        else
            run_fault(&t->scope, IR_FAULT_WRITTEN, t->scope.at,
                      "%s reads '%s' at [%lld] of the view, which was never written",
                      run_who(&t->scope), tile->name, at);
        return false;
    }
    return true;
}

void run_wrote(const Tile *tile)
{
    for (int64_t r = 0; r < tile->rows; r++)
        memset(tile->shadow + r * tile->pitch, 1, (size_t)tile->cols * tile->width);
}

/* Copies into UB move blocks of 32 bytes: what stood after each row in its last block is lost,
 * and poison again. */
void run_lose_block_ends(Thread *t, const Tile *tile)
{
    int64_t used = tile->cols * (int64_t)tile->width, lost = (32 - used % 32) % 32;
    if (t->k->buffers.at[tile->buffer].memory != IR_UB)
        return;
    for (int64_t r = 0; r < tile->rows && used > 0; r++) {
        memset(tile->shadow + r * tile->pitch + used, 0, (size_t)lost);
        if (tile->data)
            memset(tile->data + r * tile->pitch + used, 0xff, (size_t)lost);
    }
}

void run_forget(Thread *t, const IrView *v)
{
    if (t->k->buffers.at[v->buffer].memory == IR_CHANNEL)
        return;
    Buffer *b = &t->core->buffers[v->buffer];
    b->touched = b->bytes;
    memset(b->shadow, 1, (size_t)b->bytes);
}

/* ---- GM ---- */

const char *run_index(Arena *arena, const Gm *gm, int64_t flat)
{
    Buf out = {0};
    int64_t stride = gm->count;
    buf_printf(&out, "%s[", gm->name);
    for (uint32_t i = 0; i < gm->rank; i++) {
        stride = gm->dims[i] ? stride / gm->dims[i] : 0;
        buf_printf(&out, "%s%lld", i ? ", " : "", (long long)(stride ? flat / stride : 0));
        flat = stride ? flat % stride : 0;
    }
    buf_char(&out, ']');
    char *text = buf_take(&out, arena);
    buf_free(&out);
    return text;
}

static void bad_access(Thread *t, const IrAccess *a, const Gm *gm, bool write, uint32_t axis,
                       int64_t start, int64_t size)
{
    const char *verb = write ? "writes" : "reads", *who = run_who(&t->scope);
    Span at = a->at.line ? a->at : t->scope.at;
    int64_t limit = a->flat || a->item ? gm->count : gm->dims[axis];
    long long bad = (long long)(start < 0 ? start : start > limit ? start : limit);
    if (a->flat || a->item)
        run_fault(&t->scope, IR_FAULT_BOUNDS, at,
                  "%s %s %s at %soffset %lld of %lld (the access is %lld .. %lld)", who, verb,
                  gm->name, a->flat ? "flat " : "", bad, (long long)limit, (long long)start,
                  (long long)(start + size));
    else
        run_fault(&t->scope, IR_FAULT_BOUNDS, at,
                  "%s %s %s at %lld on axis %u, which has %lld elements (the access is %lld .. "
                  "%lld)",
                  who, verb, gm->name, bad, axis, (long long)limit, (long long)start,
                  (long long)(start + size));
}

static Gm *pick_tensor(Thread *t, const IrAccess *a)
{
    GmList *list = t->scope.tensors[a->tensor];
    int64_t item = 0;
    if (a->item && !run_int(&t->scope, a->item, &item))
        return NULL;
    if (item >= 0 && item < list->count)
        return &list->items[item];
    run_fault(&t->scope, IR_FAULT_BOUNDS, a->at.line ? a->at : t->scope.at,
              "%s uses tensor %lld of '%s', which has %u", run_who(&t->scope), (long long)item,
              t->k->tensors.at[a->tensor].name, list->count);
    return NULL;
}

/* Adds a range axis: the last becomes the columns, the one before the rows. */
static void add_range(Region *r, int64_t size, int64_t stride)
{
    r->rows = r->cols;
    r->row_stride = r->col_stride;
    r->cols = size;
    r->col_stride = stride;
    r->ranges++;
}

bool run_region(Thread *t, const IrAccess *a, bool write, Region *r)
{
    *r = (Region){.rows = 1, .cols = 1, .gm = pick_tensor(t, a)};
    if (!r->gm)
        return false;
    bool whole = a->flat || a->item;
    int64_t stride = r->gm->count;
    for (uint32_t i = 0; i < a->rank; i++) {
        int64_t start, size = 1, limit = whole ? r->gm->count : r->gm->dims[i];
        if (!run_int(&t->scope, a->start[i], &start) ||
            (a->size[i] && !run_int(&t->scope, a->size[i], &size)))
            return false;
        if (start < 0 || size < 0 || size > limit || start > limit - size) {
            bad_access(t, a, r->gm, write, i, start, size);
            return false;
        }
        stride = whole ? 1 : limit ? stride / limit : 0;
        r->base += start * stride;
        if (a->size[i])
            add_range(r, size, stride);
    }
    return run_work(&t->scope, r->rows * r->cols);
}

static uint32_t mark_of(const Thread *t)
{
    return t->scope.run->epoch << MARK_CORE_BITS |
           (uint32_t)(t->scope.core + 1 + t->scope.vector * t->scope.cores);
}

/* Whether another core made the mark since the cores last met. */
static bool is_foreign(uint32_t mark, uint32_t mine)
{
    return mark && mark != mine && mark >> MARK_CORE_BITS == mine >> MARK_CORE_BITS;
}

static const char *marked_core(Thread *t, uint32_t mark)
{
    uint32_t core = mark & MARK_ATOMIC;
    return core == MARK_ATOMIC ? "several cores"
                               : str_format(&t->scope.run->scratch, "core %u", core ? core - 1 : 0);
}

bool run_gm_read(Thread *t, const Region *r)
{
    uint32_t mine = mark_of(t);
    Gm *gm = r->gm;
    if (!gm->wrote)
        return true;
    for (int64_t i = 0; i < r->rows; i++) {
        for (int64_t k = 0; k < r->cols; k++) {
            int64_t at = r->base + i * r->row_stride + k * r->col_stride;
            uint32_t mark = gm->wrote[at];
            if (!mark && !gm->initialised && !gm->uncertain) {
                run_fault(&t->scope, IR_FAULT_WRITTEN, t->scope.at,
                          "%s reads %s, which was never written", run_who(&t->scope),
                          run_index(&t->scope.run->scratch, gm, at));
                return false;
            }
            if (is_foreign(mark, mine)) {
                run_fault(&t->scope, IR_FAULT_RACE, t->scope.at,
                          "%s reads %s, which %s writes without a sync_all() between",
                          run_who(&t->scope), run_index(&t->scope.run->scratch, gm, at),
                          marked_core(t, mark));
                return false;
            }
            gm->read[at] = is_foreign(gm->read[at], mine) ? mine | MARK_ATOMIC : mine;
        }
    }
    return true;
}

static bool write_mark(Thread *t, Gm *gm, int64_t at, IrAtomic atomic)
{
    uint32_t mine = mark_of(t), mark = gm->wrote[at], both = mine | MARK_ATOMIC;
    Scope *s = &t->scope;
    if (atomic != IR_PLAIN && !mark && !gm->initialised && !gm->uncertain) {
        run_fault(s, IR_FAULT_WRITTEN, s->at, "%s adds to %s, which was never initialised",
                  run_who(s), run_index(&s->run->scratch, gm, at));
        return false;
    }
    if (is_foreign(mark, mine) && !(atomic != IR_PLAIN && mark == both)) {
        run_fault(s, IR_FAULT_ONCE, s->at, "%s is written by %s and by %s",
                  run_index(&s->run->scratch, gm, at), marked_core(t, mark), run_who(s));
        return false;
    }
    if (is_foreign(gm->read[at], mine)) {
        run_fault(s, IR_FAULT_RACE, s->at,
                  "%s writes %s, which %s reads without a sync_all() between", run_who(s),
                  run_index(&s->run->scratch, gm, at), marked_core(t, gm->read[at]));
        return false;
    }
    gm->wrote[at] = atomic != IR_PLAIN ? both : mine;
    return true;
}

bool run_gm_write(Thread *t, const Region *r, IrAtomic atomic)
{
    for (uint32_t f = 0; f < t->depth; f++)
        r->gm->uncertain |= t->frames[f].data;
    r->gm->stored = t->scope.at;
    for (int64_t i = 0; i < r->rows; i++)
        for (int64_t k = 0; k < r->cols; k++)
            if (!write_mark(t, r->gm, r->base + i * r->row_stride + k * r->col_stride, atomic))
                return false;
    return true;
}

/* ---- one element ---- */

Scalar run_get(DType d, const void *e)
{
    Scalar v = {.set = true, .data = true};
    if (dtype_is_float(d))
        v.f = (float)dtype_load(d, e, 0);
    else if (d == DT_I64)
        memcpy(&v.i, e, sizeof v.i);
    else
        v.i = (int64_t)dtype_load(d, e, 0);
    if (d == DT_BOOL)
        v.i = v.i != 0;
    return v;
}

void run_set(DType d, void *e, Scalar v)
{
    uint64_t bits = (uint64_t)v.i;
    if (dtype_is_float(d))
        dtype_store(d, e, 0, v.f);
    else if (d == DT_BOOL)
        *(uint8_t *)e = v.i != 0;
    else
        memcpy(e, &bits, dtype_bytes(d)); /* little endian: the low bytes */
}
