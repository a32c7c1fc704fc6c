/* Movement: loads, stores, single elements of GM, channels between roles. In: a statement and a
 * thread. Out: data moved and marked, or a fault. */
#include "ir/run_int.h"

#include <math.h>
#include <string.h>

static bool addresses_only(const Thread *t) { return t->scope.run->io->addresses_only; }

static void sizes_differ(Thread *t, const char *what, int64_t a, int64_t b, int64_t c, int64_t d)
{
    run_fault(&t->scope, IR_FAULT_SHAPES, t->scope.at,
              "%s: %s of %lld x %lld elements and %lld x %lld", run_who(&t->scope), what,
              (long long)a, (long long)b, (long long)c, (long long)d);
}

/* ---- GM to tile ---- */

static void fill_rest(Thread *t, const IrStmt *s, const Tile *d, const Region *r)
{
    uint8_t element[8];
    Scalar pad = run_eval(&t->scope, s->pad);
    run_set(d->dtype, element, pad);
    for (int64_t i = 0; i < d->rows; i++)
        for (int64_t k = i < r->rows ? r->cols : 0; k < d->cols; k++)
            memcpy(d->data + i * d->pitch + k * (int64_t)d->width, element, d->width);
}

static void copy_in(const Tile *d, const Region *r)
{
    size_t w = d->width;
    for (int64_t i = 0; i < r->rows; i++) {
        uint8_t *to = d->data + i * d->pitch;
        const uint8_t *from = r->gm->data + (r->base + i * r->row_stride) * (int64_t)w;
        if (r->col_stride == 1 || r->cols == 1) {
            memcpy(to, from, (size_t)r->cols * w);
            continue;
        }
        for (int64_t k = 0; k < r->cols; k++)
            memcpy(to + k * (int64_t)w, from + k * r->col_stride * (int64_t)w, w);
    }
}

/* A view with more axes than the access has ranges: the rest are of size 1. */
static bool region_fits(Thread *t, const Region *r, const Tile *d, bool padded, const char *what)
{
    bool fits = padded ? r->rows <= d->rows && r->cols <= d->cols
                       : r->rows == d->rows && r->cols == d->cols;
    if (!fits)
        sizes_differ(t, what, d->rows, d->cols, r->rows, r->cols);
    return fits;
}

static void turn_tile(const Tile *d, const Tile *a)
{
    int64_t w = (int64_t)d->width;
    for (int64_t i = 0; i < d->rows && d->data; i++)
        for (int64_t k = 0; k < d->cols; k++)
            memcpy(d->data + i * d->pitch + k * w, a->data + k * a->pitch + i * w, (size_t)w);
}

static void load_tile(Thread *t, const IrStmt *s)
{
    Tile d, a;
    bool known = run_tile(t, &s->src[0], false, &a), to = run_tile(t, &s->dst, false, &d);
    if (!known || !to) {
        run_forget(t, &s->dst);
        return;
    }
    int64_t rows = s->transpose ? a.cols : a.rows, cols = s->transpose ? a.rows : a.cols;
    if (rows != d.rows || cols != d.cols) {
        sizes_differ(t, "a load", d.rows, d.cols, rows, cols);
        return;
    }
    if (!run_need(t, &a))
        return;
    if (s->transpose) {
        turn_tile(&d, &a);
        run_wrote(&d);
        return;
    }
    for (int64_t i = 0; i < d.rows && d.data; i++)
        memmove(d.data + i * d.pitch, a.data + i * a.pitch, (size_t)d.cols * d.width);
    run_wrote(&d);
}

void run_load(Thread *t, const IrStmt *s)
{
    Tile d;
    Region r;
    if (s->src_count) {
        load_tile(t, s);
        return;
    }
    bool known = run_region(t, &s->access, false, &r), to = run_tile(t, &s->dst, true, &d);
    if (!known || !to) {
        run_forget(t, &s->dst);
        return;
    }
    if (!region_fits(t, &r, &d, s->pad != 0, "a load") || !run_gm_read(t, &r)) {
        run_wrote(&d);
        return;
    }
    if (!addresses_only(t)) {
        copy_in(&d, &r);
        if (s->pad)
            fill_rest(t, s, &d, &r);
    }
    run_wrote(&d);
    run_lose_block_ends(t, &d);
}

/* ---- tile to GM ---- */

static void merge_ints(DType d, uint8_t *to, const uint8_t *from, IrAtomic atomic)
{
    Scalar a = run_get(d, to), b = run_get(d, from);
    if (atomic == IR_ADD)
        a.i = (int64_t)((uint64_t)a.i + (uint64_t)b.i);
    else if (atomic == IR_MAX ? b.i > a.i : b.i < a.i)
        a.i = b.i;
    run_set(d, to, a);
}

static void merge(DType d, uint8_t *to, const uint8_t *from, IrAtomic atomic)
{
    if (!dtype_is_float(d)) {
        merge_ints(d, to, from, atomic);
        return;
    }
    double a = dtype_load(d, to, 0), b = dtype_load(d, from, 0);
    if (atomic == IR_ADD)
        a += b;
    else if (a != a || b != b)
        a = NAN;
    else if (atomic == IR_MAX ? b > a : b < a)
        a = b;
    dtype_store(d, to, 0, a);
}

static void copy_out(const Region *r, const Tile *a, IrAtomic atomic)
{
    int64_t w = (int64_t)dtype_bytes(r->gm->dtype);
    bool whole = atomic == IR_PLAIN && r->gm->dtype == a->dtype && r->col_stride == 1;
    for (int64_t i = 0; i < r->rows; i++) {
        if (whole)
            memcpy(r->gm->data + (r->base + i * r->row_stride) * w, a->data + i * a->pitch,
                   (size_t)(r->cols * w));
        for (int64_t k = 0; k < r->cols && !whole; k++) {
            uint8_t *to = r->gm->data + (r->base + i * r->row_stride + k * r->col_stride) * w;
            const uint8_t *from = a->data + i * a->pitch + k * (int64_t)a->width;
            if (r->gm->dtype != a->dtype)
                dtype_store(r->gm->dtype, to, 0, dtype_load(a->dtype, from, 0));
            else if (atomic == IR_PLAIN)
                memcpy(to, from, a->width);
            else
                merge(a->dtype, to, from, atomic);
        }
    }
}

static void lose_coverage(Thread *t, const IrAccess *a)
{
    GmList *list = t->scope.tensors[a->tensor];
    for (uint32_t i = 0; i < list->count; i++)
        list->items[i].uncertain = true;
}

/* Does where it goes, or how much, depend on data? */
static bool access_is_data(Thread *t, const IrAccess *a)
{
    bool data = a->item && run_eval(&t->scope, a->item).data;
    for (uint32_t i = 0; i < a->rank; i++)
        data |= run_eval(&t->scope, a->start[i]).data ||
                (a->size[i] && run_eval(&t->scope, a->size[i]).data);
    return data;
}

void run_store(Thread *t, const IrStmt *s)
{
    Tile a;
    Region r;
    if (access_is_data(t, &s->access))
        lose_coverage(t, &s->access);
    bool known = run_region(t, &s->access, true, &r), from = run_tile(t, &s->src[0], true, &a);
    if (!known || !from) {
        lose_coverage(t, &s->access);
        return;
    }
    if (!region_fits(t, &r, &a, false, "a store") || !run_need(t, &a) ||
        !run_gm_write(t, &r, s->atomic)) {
        lose_coverage(t, &s->access);
        return;
    }
    if (!addresses_only(t))
        copy_out(&r, &a, s->atomic);
}

void run_gm_scalar(Thread *t, const IrStmt *s)
{
    Region r;
    bool write = s->kind == IR_S_GM_WRITE;
    Scalar value = {.set = true, .data = true};
    if (write && access_is_data(t, &s->access))
        lose_coverage(t, &s->access);
    bool known = run_region(t, &s->access, write, &r);
    int64_t w = known ? (int64_t)dtype_bytes(r.gm->dtype) : 0;
    if (!write) {
        if (known && run_gm_read(t, &r) && !addresses_only(t))
            value = run_get(r.gm->dtype, r.gm->data + r.base * w);
        run_assign(t, s->var, value);
        return;
    }
    value = run_eval(&t->scope, s->value);
    if (!known)
        lose_coverage(t, &s->access);
    else if (run_gm_write(t, &r, IR_PLAIN) && !addresses_only(t))
        run_set(r.gm->dtype, r.gm->data + r.base * w, value);
}

/* ---- channels ---- */

static void copy_tile(const Tile *d, const Tile *a)
{
    for (int64_t i = 0; i < d->rows && d->data; i++) {
        uint8_t *to = d->data + i * d->pitch;
        const uint8_t *from = a->data + i * a->pitch;
        if (a->dtype == d->dtype)
            memmove(to, from, (size_t)d->cols * d->width);
        for (int64_t k = 0; k < d->cols && a->dtype != d->dtype; k++)
            dtype_store(d->dtype, to, (size_t)k, dtype_load(a->dtype, from, (size_t)k));
    }
    run_wrote(d);
}

static void move_to_slot(Tile *tile, const Buffer *channel, int64_t slot)
{
    tile->shadow += slot * channel->bytes;
    if (tile->data)
        tile->data += slot * channel->bytes;
}

static bool same_size(Thread *t, const Tile *a, const Tile *b, const char *what)
{
    if (a->rows == b->rows && a->cols == b->cols)
        return true;
    sizes_differ(t, what, a->rows, a->cols, b->rows, b->cols);
    return false;
}

/* The channel, and how far everybody is who holds an end of it; the vector role may have two vector cores. */
static Buffer *channel_of(Thread *t, uint32_t buffer)
{
    Core *core = t->core->first ? t->core->first : t->core;
    return &core->buffers[buffer];
}

/* Of the other role. */
static int64_t least_of(const Thread *t, const int64_t count[2])
{
    bool two = t->k->paired && t->role == IR_CORE_CUBE;
    return two && count[1] < count[0] ? count[1] : count[0];
}

/* The slot that the transfer is about. False: it must wait. */
static bool take_slot(Thread *t, Buffer *channel, bool send, int64_t *slot)
{
    int64_t *mine = &(send ? channel->sent : channel->taken)[t->scope.vector];
    int64_t limit = send ? least_of(t, channel->taken) + channel->depth
                         : least_of(t, channel->sent);
    if (*mine >= limit)
        return false;
    *slot = (*mine)++ % channel->depth;
    return true;
}

bool run_skip(Thread *t, const IrStmt *s)
{
    int64_t slot;
    bool send = s->kind == IR_S_SEND;
    return take_slot(t, channel_of(t, send ? s->dst.buffer : s->src[0].buffer), send, &slot);
}

bool run_send(Thread *t, const IrStmt *s)
{
    Buffer *channel = channel_of(t, s->dst.buffer);
    int64_t slot;
    Tile d, a;
    if (!take_slot(t, channel, true, &slot))
        return false;
    memset(channel->shadow + slot * channel->bytes, 0, (size_t)channel->bytes);
    if (!run_tile(t, &s->dst, false, &d) || !run_tile(t, &s->src[0], false, &a)) {
        memset(channel->shadow + slot * channel->bytes, 1, (size_t)channel->bytes);
        return true;
    }
    move_to_slot(&d, channel, slot);
    if (same_size(t, &d, &a, "a send") && run_need(t, &a))
        copy_tile(&d, &a);
    return true;
}

bool run_recv(Thread *t, const IrStmt *s)
{
    Buffer *channel = channel_of(t, s->src[0].buffer);
    int64_t slot;
    Tile d, a;
    if (!take_slot(t, channel, false, &slot))
        return false;
    if (!run_tile(t, &s->dst, true, &d) || !run_tile(t, &s->src[0], false, &a)) {
        run_forget(t, &s->dst);
        return true;
    }
    move_to_slot(&a, channel, slot);
    if (same_size(t, &d, &a, "a receive") && run_need(t, &a))
        copy_tile(&d, &a);
    return true;
}
