/* Windows over a tile. In: windows along rows or lanes. Out: lines of Craft.
 *
 *     rows 4 to 7 of the result, windows of 3 rows     ─▶   rows 3 to 8 of the argument
 *     h5b = r.start - 1, h5u = max(h5b, 0), h5n of them exist; the first stands at row h5g of the buffer
 *
 * What windows read is computed once for the tile and what surrounds it, into a buffer in which elements outside the
 * tensor have the neutral value. Along rows the elements of a window are views of that buffer, shifted; along lanes,
 * where views have to begin at multiples of 32 bytes, and in steps they are picked by tables of places that are
 * made once. */
#include "gen/plan/build/build_int.h"

#include "gen/plan/prim_int.h"
#include <math.h>
#include <string.h>

enum { BLOCK = 8 }; /* elements of 32 bytes */

static int64_t aligned(int64_t n) { return (n + BLOCK - 1) / BLOCK * BLOCK; }

static const NestHalo *halo_of(const Build *b, uint32_t axis)
{
    return &b->nest->axes.at[axis].halo;
}

static bool on_rows(const Build *b, uint32_t axis)
{
    uint32_t root = halo_of(b, axis)->root ? halo_of(b, axis)->root : axis;
    return root == b->band->rows.axis;
}

static const BandTile *tile_of(const Build *b, uint32_t axis)
{
    return on_rows(b, axis) ? &b->band->rows : &b->band->lanes;
}

uint32_t build_halo(const Build *b, uint32_t root)
{
    for (uint32_t a = 1; a < b->nest->axes.len && root; a++)
        if (b->frame >> a & 1 && halo_of(b, a)->root == root)
            return a;
    return 0;
}

/* Element 0 of a buffer stands for element scale * (first of the tile) + bias; along lanes at multiples of
 * 32 bytes. */
static int64_t bias_of(const Build *b, uint32_t axis)
{
    const NestHalo *h = halo_of(b, axis);
    if (!h->root || on_rows(b, axis))
        return h->root ? h->low : 0;
    return -aligned((h->low < 0 ? -h->low : 0) + BLOCK * h->scale * (h->level - 1));
}

/* How many elements of a buffer windows of a whole tile reach. */
static int64_t pad_most(const Build *b, uint32_t axis)
{
    const NestHalo *h = halo_of(b, axis);
    const BandTile *t = tile_of(b, axis);
    int64_t size = b->nest->axes.at[t->axis].size,
            tile = t->whole || t->tile > size ? size : t->tile;
    return h->scale * (tile - 1) + h->high + 1 - bias_of(b, axis);
}

static int64_t first_inside(const Build *b, uint32_t axis)
{
    int64_t bias = bias_of(b, axis);
    return bias > 0 ? bias : 0;
}

/* ... of an axis of which every tile has all. */
static int64_t count_whole(const Build *b, uint32_t axis)
{
    int64_t end = bias_of(b, axis) + pad_most(b, axis), size = b->nest->axes.at[axis].size;
    return (end < size ? end : size) - first_inside(b, axis);
}

int64_t build_halo_most(const Build *b, uint32_t axis)
{
    int64_t most = pad_most(b, axis), size = b->nest->axes.at[axis].size;
    most = most < size ? most : size;
    return on_rows(b, axis) ? most : aligned(most);
}

const char *build_halo_from(Build *b, uint32_t axis)
{
    return tile_of(b, axis)->whole ? str_format(b->arena, "%lld", (long long)first_inside(b, axis))
                                   : str_format(b->arena, "h%uu", axis);
}

const char *build_halo_count(Build *b, uint32_t axis)
{
    return tile_of(b, axis)->whole ? str_format(b->arena, "%lld", (long long)count_whole(b, axis))
                                   : str_format(b->arena, "h%un", axis);
}

/* Where the first element inside the tensor stands in a buffer. */
static const char *gap_of(Build *b, uint32_t axis)
{
    return tile_of(b, axis)->whole
               ? str_format(b->arena, "%lld", (long long)(first_inside(b, axis) - bias_of(b, axis)))
               : str_format(b->arena, "h%ug", axis);
}

/* How many elements of a buffer windows of the present tile reach. */
static const char *need_of(Build *b, uint32_t axis)
{
    const NestHalo *h = halo_of(b, axis);
    long long more = h->high + 1 - bias_of(b, axis), scale = h->scale;
    if (tile_of(b, axis)->whole)
        return str_format(b->arena, "%lld", (long long)pad_most(b, axis));
    return str_format(b->arena, "%lld * (%c.size - 1) + %lld", scale, on_rows(b, axis) ? 'r' : 't',
                      more);
}

void build_open_halos(Build *b)
{
    uint64_t used = 0;
    for (uint32_t i = 1; i < b->nest->values.len; i++)
        used |= b->wanted[i] ? b->nest->values.at[i].axes : 0;
    for (uint32_t a = 1; a < b->nest->axes.len; a++) {
        const NestHalo *h = halo_of(b, a);
        if (!(used >> a & 1) || !h->root || tile_of(b, a)->whole)
            continue;
        char range = on_rows(b, a) ? 'r' : 't';
        build_line(b, "h%ub = %lld * %c.start + %lld", a, (long long)h->scale, range,
                   (long long)bias_of(b, a));
        build_line(b, "h%uu = min(max(h%ub, 0), %lld)", a, a, (long long)b->nest->axes.at[a].size);
        build_line(b, "h%un = min(max(min(%lld * (%c.stop - 1) + %lld, %lld) - h%uu, 0), %lld)", a,
                   (long long)h->scale, range, (long long)(h->high + 1),
                   (long long)b->nest->axes.at[a].size, a, (long long)build_halo_most(b, a));
        build_line(b, "h%ug = max(min(h%uu - h%ub, %lld), 0)", a, a, a,
                   (long long)pad_most(b, a)); /* a tile may begin behind the last element */
    }
}

/* ---- buffers ---- */

static uint32_t window_axis(const NestValue *v)
{
    uint32_t axis = 1;
    while (!(v->over >> axis & 1))
        axis++;
    return axis;
}

static BuildPad *pad_of(Build *b, const NestValue *v)
{
    for (uint32_t i = 0; i < b->pads.len; i++) {
        BuildPad *p = &b->pads.at[i];
        if (p->arg == v->arg[0] && p->axis == window_axis(v) && p->edge == v->window.edge &&
            !memcmp(&p->fill, &v->number, sizeof p->fill))
            return p;
    }
    return NULL;
}

static bool leaves(const Build *b, const NestValue *v)
{
    const NestWindow *w = &v->window;
    int64_t last = w->by * (b->nest->axes.at[w->to].size - 1) + w->at + w->step * (w->count - 1);
    return w->at < 0 || last >= b->nest->axes.at[window_axis(v)].size;
}

static const char *fill_text(Build *b, double fill)
{
    Buf out = {0};
    prim_literal(&out, fill);
    char *text = buf_take(&out, b->arena);
    buf_free(&out);
    return text;
}

static bool same_fill(double a, double b) { return !memcmp(&a, &b, sizeof a); }

/* What windows along rows read has the outside of those along lanes around it, so that rows lie side by side. */
static uint32_t wide_axis(const Build *b, const BuildPad *p)
{
    uint32_t lanes = build_halo(b, b->band->lanes.axis);
    return on_rows(b, p->axis) && p->edge == NEST_FILL && b->band->lanes.whole ? lanes : 0;
}

static void add_pad(Build *b, const NestValue *v)
{
    BuildPad *known = pad_of(b, v);
    if (known) {
        known->leaves = known->leaves || leaves(b, v);
        known->left = ++known->readers;
        return;
    }
    uint64_t outer = b->frame;
    BuildPad p = {.arg = v->arg[0],
                  .axis = window_axis(v),
                  .fill = v->number,
                  .edge = v->window.edge,
                  .leaves = leaves(b, v),
                  .readers = 1,
                  .left = 1};
    b->frame = b->nest->values.at[p.arg].axes;
    uint32_t rows = build_halo(b, b->band->rows.axis), lanes = build_halo(b, b->band->lanes.axis);
    p.kind = build_kind(b, b->frame);
    p.wide = wide_axis(b, &p);
    p.rows = rows ? build_halo_most(b, rows) : b->band->rows.tile;
    p.lanes = aligned(lanes ? build_halo_most(b, lanes) : b->band->lanes.tile);
    p.rows = on_rows(b, p.axis) ? pad_most(b, p.axis) : p.rows;
    if (p.wide || !on_rows(b, p.axis)) /* whole blocks behind any element */
        p.lanes = aligned(pad_most(b, p.wide ? p.wide : p.axis) + BLOCK - 1);
    b->frame = outer;
    vec_push(b->arena, &b->pads, p);
}

/* What is outside is outside in all tiles: the fill that is there before the first stays. */
static bool is_filled_once(const Build *b, const BuildPad *p)
{
    return p->edge == NEST_FILL && (p->wide || (p->leaves && tile_of(b, p->axis)->whole));
}

static bool lie_alike(const Build *b, const BuildPad *a, const BuildPad *o)
{
    bool same = a->kind == o->kind && a->rows == o->rows && a->lanes == o->lanes &&
                is_filled_once(b, a) == is_filled_once(b, o);
    return same && (!is_filled_once(b, a) ||
                    (a->axis == o->axis && a->wide == o->wide && same_fill(a->fill, o->fill)));
}

static const char *buffer_of(const Build *b, const BuildPad *p)
{
    return b->rooms.at[p->room - 1].name;
}

static void take_room(Build *b, BuildPad *p)
{
    for (uint32_t i = 0; i < b->rooms.len && !p->room; i++)
        if (!b->rooms.at[i].busy && lie_alike(b, p, &b->rooms.at[i].pad))
            p->room = i + 1;
    if (!p->room) {
        BuildBuffer want = {.kind = p->kind,
                            .dtype = DT_F32,
                            .depth = 1,
                            .stem = 'k',
                            .rows = p->rows,
                            .lanes = p->lanes,
                            .times = 1,
                            .kept = true};
        BuildRoom room = {.pad = *p, .name = build_take(b, want)};
        for (uint32_t i = 0; i < b->pool->len; i++)
            b->pool->at[i].kept = b->pool->at[i].kept || b->pool->at[i].name == room.name;
        vec_push(b->arena, &b->rooms, room);
        p->room = b->rooms.len;
    }
    b->rooms.at[p->room - 1].busy = true;
}

/* One window is computed; after the last another pad may have the buffer. */
static void leave_pad(Build *b, BuildPad *p)
{
    if (--p->left)
        return;
    b->rooms.at[p->room - 1].busy = false;
    p->room = 0;
}

void build_forget_pads(Build *b, uint64_t walked)
{
    for (uint32_t i = 0; i < b->pads.len; i++) {
        BuildPad *p = &b->pads.at[i];
        if (!(b->nest->values.at[p->arg].axes & walked))
            continue;
        if (p->room)
            b->rooms.at[p->room - 1].busy = false;
        p->room = 0;
        p->left = p->readers;
    }
}

void build_fill_rooms(Build *b)
{
    Buf *body = b->body, rest = {0};
    int depth = b->depth;
    buf_str(&rest, (Str){body->at + b->before_loops, body->len - b->before_loops});
    body->len = b->before_loops;
    b->depth = 1;
    for (uint32_t i = 0; i < b->rooms.len; i++) {
        build_line(b, "with compute():");
        build_line(b, "    %s = %s", b->rooms.at[i].name, fill_text(b, b->rooms.at[i].pad.fill));
    }
    buf_str(body, buf_view(&rest));
    buf_free(&rest);
    b->depth = depth;
}

/* ---- places ---- */

static bool is_view(const Build *b, const NestValue *v, int64_t k)
{
    uint32_t axis = window_axis(v);
    const NestWindow *w = &v->window;
    int64_t off = w->by * bias_of(b, w->to) + w->at + w->step * k - bias_of(b, axis);
    bool rows = on_rows(b, axis);
    return w->by == 1 && (rows || (w->edge == NEST_FILL && off % BLOCK == 0));
}

/* Lanes of a buffer for the value, in whole blocks. */
static int64_t full_lanes(const Build *b, const NestValue *v)
{
    for (uint32_t a = 1; a < b->nest->axes.len; a++)
        if (v->axes >> a & 1 && halo_of(b, a)->root == b->band->lanes.axis)
            return aligned(build_halo_most(b, a));
    return aligned(b->band->lanes.tile);
}

static int64_t full_rows(const Build *b, const NestValue *v)
{
    for (uint32_t a = 1; a < b->nest->axes.len; a++)
        if (v->axes >> a & 1 && halo_of(b, a)->root == b->band->rows.axis)
            return build_halo_most(b, a);
    return b->band->rows.tile;
}

/* Lanes of the value that are picked: the others of whole blocks are the last one again. */
static int64_t picked_lanes(const Build *b, const NestValue *v)
{
    uint32_t to = v->window.to;
    if (!b->band->lanes.whole)
        return full_lanes(b, v);
    return halo_of(b, to)->root ? count_whole(b, to) : b->nest->axes.at[to].size;
}

/* `wide`: lanes of a pad that windows along rows fill; 0: those of the value. */
static BuildTapTable table_for(Build *b, const NestValue *v, int64_t wide)
{
    const NestWindow *w = &v->window;
    int64_t pitch = pad_of(b, v)->lanes;
    bool rows = on_rows(b, window_axis(v));
    BuildTapTable t = {.kind = build_kind(b, v->axes),
                       .by_row = rows ? w->by * pitch : pitch,
                       .by_lane = rows ? 1 : w->by,
                       .rows = full_rows(b, v),
                       .lanes = wide ? wide : full_lanes(b, v)};
    if (rows)
        return t;
    t.edge = w->edge;
    t.last = w->by * (picked_lanes(b, v) - 1);
    if (w->edge != NEST_FILL) {
        t.at = w->by * (halo_of(b, w->to)->root ? first_inside(b, w->to) : 0) + w->at;
        t.last = b->nest->axes.at[window_axis(v)].size - 1;
    }
    return t;
}

static const char *find_tap(const Build *b, const BuildTapTable *t)
{
    for (uint32_t i = 0; i < b->taps.len; i++) {
        const BuildTapTable *o = &b->taps.at[i];
        if (o->kind == t->kind && o->by_row == t->by_row && o->by_lane == t->by_lane &&
            o->edge == t->edge && o->at == t->at && o->last == t->last && o->rows >= t->rows &&
            o->lanes == t->lanes)
            return o->places;
    }
    return NULL;
}

/* Elements outside are replaced by what stands for them. */
static void bend_places(Build *b, const BuildTapTable *t, const char *lanes)
{
    long long last = t->last;
    if (t->edge == NEST_REFLECT) {
        build_line(b, "    %s = max(%s, %s * -1)", lanes, lanes, lanes);
        build_line(b, "    %s = min(%s, %s * -1 + %lld)", lanes, lanes, lanes, 2 * last);
    }
    if (t->edge == NEST_FILL && last && last < (t->lanes - 1) * t->by_lane)
        build_line(b, "    %s = min(%s, %lld)", lanes, lanes, last);
    if (t->edge != NEST_FILL) /* lanes behind the last, too */
        build_line(b, "    %s = min(max(%s, 0), %lld)", lanes, lanes, last);
}

static void add_tap(Build *b, const NestValue *v, int64_t wide)
{
    BuildTapTable t = table_for(b, v, wide);
    if (find_tap(b, &t))
        return;
    BuildBuffer line = {.kind = BUILD_LANES,
                        .dtype = DT_I32,
                        .depth = 1,
                        .stem = 'u',
                        .lanes = t.lanes,
                        .times = 1,
                        .owner = 1};
    BuildBuffer all = {.kind = t.kind,
                       .dtype = DT_I32,
                       .depth = 1,
                       .stem = 'e',
                       .rows = t.rows,
                       .lanes = t.lanes,
                       .times = 1,
                       .kept = true};
    bool tile = t.kind == BUILD_TILE;
    const char *lanes = build_take(b, tile ? line : all), *rows = NULL;
    t.places = tile ? build_take(b, all) : lanes;
    if (tile) {
        BuildBuffer begins = {.kind = BUILD_ROWS,
                              .dtype = DT_I32,
                              .depth = 1,
                              .stem = 'u',
                              .rows = aligned(t.rows),
                              .times = 1,
                              .owner = 1};
        rows = build_take(b, begins);
    }
    build_line(b, "with compute():");
    build_line(b, "    %s = iota(%lld, %lld)", lanes, (long long)t.at, (long long)t.by_lane);
    bend_places(b, &t, lanes);
    if (tile) {
        build_line(b, "    %s = iota(0, %lld)", rows, (long long)t.by_row);
        build_line(b, "    %s[:%lld, :%lld] = row(%s[:%lld]) + col(%s[:%lld])", t.places,
                   (long long)t.rows, (long long)t.lanes, lanes, (long long)t.lanes, rows,
                   (long long)t.rows);
    }
    for (uint32_t i = 0; i < b->pool->len; i++) {
        BuildBuffer *f = &b->pool->at[i];
        f->owner = f->stem == 'u' ? 0 : f->owner;
        f->kept = f->kept || f->name == t.places;
    }
    vec_push(b->arena, &b->taps, t);
}

void build_window_places(Build *b)
{
    for (uint32_t i = 1; i < b->nest->values.len; i++)
        if (b->wanted[i] && b->nest->values.at[i].op == NEST_WINDOW)
            add_pad(b, &b->nest->values.at[i]);
    for (uint32_t i = 1; i < b->nest->values.len; i++) {
        const NestValue *v = &b->nest->values.at[i];
        bool gathers = false;
        for (int64_t k = 0; k < v->window.count && b->wanted[i] && v->op == NEST_WINDOW; k++)
            gathers = gathers || !is_view(b, v, k);
        if (gathers && v->window.edge != NEST_FILL && !on_rows(b, window_axis(v)) &&
            !b->band->lanes.whole)
            b->failed = "lanes are reflected that are not whole";
        if (gathers)
            add_tap(b, v, 0);
        if (gathers && pad_of(b, v)->wide)
            add_tap(b, v, pad_of(b, v)->lanes);
    }
    b->before_loops = b->body->len;
}

/* ---- what windows read ---- */

/* "8 : 8 + 128" of the lanes of a pad that are inside. */
static const char *lanes_inside(Build *b, const BuildPad *p)
{
    uint32_t axis = p->wide ? p->wide : on_rows(b, p->axis) ? 0 : p->axis;
    if (!axis)
        return str_format(b->arena, ":%s", build_lanes(b));
    const char *gap = gap_of(b, axis);
    return str_format(b->arena, "%s : %s + %s", gap, gap, build_halo_count(b, axis));
}

static const char *interior(Build *b, const BuildPad *p)
{
    const char *gap = gap_of(b, p->axis), *n = build_halo_count(b, p->axis);
    const char *lanes = lanes_inside(b, p), *name = buffer_of(b, p);
    if (on_rows(b, p->axis))
        return str_format(b->arena, "%s[%s : %s + %s, %s]", name, gap, gap, n, lanes);
    if (p->kind == BUILD_TILE)
        return str_format(b->arena, "%s[:%s, %s]", name, build_rows(b), lanes);
    return str_format(b->arena, "%s[%s]", name, lanes);
}

/* Tiles at the borders of the tensor. */
static void fill_outside(Build *b, const BuildPad *p)
{
    uint32_t a = p->axis;
    if (!p->leaves || p->edge != NEST_FILL || tile_of(b, a)->whole)
        return;
    build_line(b, "if h%ug > 0 or h%ug + h%un < %s:", a, a, a, need_of(b, a));
    build_line(b, "    %s = %s", buffer_of(b, p), fill_text(b, p->fill));
}

/* Rows outside are copies of rows inside. */
static void bend_rows(Build *b, const BuildPad *p)
{
    if (!p->leaves || p->edge == NEST_FILL || !on_rows(b, p->axis))
        return;
    const char *gap = gap_of(b, p->axis), *n = build_halo_count(b, p->axis);
    const char *lanes = build_lanes(b), *row = buffer_of(b, p), *need = need_of(b, p->axis);
    bool clamp = p->edge == NEST_CLAMP;
    build_line(b, "for k_ in range(%s):", gap);
    if (clamp)
        build_line(b, "    %s[k_, :%s] = %s[%s, :%s]", row, lanes, row, gap, lanes);
    else
        build_line(b, "    %s[k_, :%s] = %s[2 * %s - k_, :%s]", row, lanes, row, gap, lanes);
    build_line(b, "for k_ in range(%s + %s, %s):", gap, n, need);
    if (clamp)
        build_line(b, "    %s[k_, :%s] = %s[%s + %s - 1, :%s]", row, lanes, row, gap, n, lanes);
    else
        build_line(b, "    %s[k_, :%s] = %s[2 * (%s + %s - 1) - k_, :%s]", row, lanes, row, gap, n,
                   lanes);
}

/* Where the results of a window go: whole blocks of a buffer of its own or of a pad, or a view. */
typedef struct Target {
    const char *buffer;  /* NULL: the view */
    const BuildPad *pad; /* the buffer is this pad's; NULL: it is not */
    const char *view;
} Target;

static void window_into(Build *b, NestId id, Target to);

/* Windows along rows over a pad with lanes outside give what another pad has there: the fill stays the fill. */
static bool keeps_outside(Build *b, const BuildPad *to)
{
    const NestValue *arg = &b->nest->values.at[to->arg];
    const BuildPad *from = arg->op == NEST_WINDOW ? pad_of(b, arg) : NULL;
    return from && from->wide == to->axis && to->kind == BUILD_TILE && from->lanes == to->lanes &&
           from->edge == NEST_FILL && to->edge == NEST_FILL && same_fill(from->fill, to->fill) &&
           (arg->window.count == 1 || same_fill(to->fill, arg->reduce == PRIM_SUM ? 0 : -INFINITY));
}

static void make_ready(Build *b, BuildPad *p)
{
    const NestValue *arg = &b->nest->values.at[p->arg];
    uint64_t outer = b->frame;
    if (p->room)
        return;
    b->frame = arg->axes;
    bool own = !b->name[p->arg] && arg->uses == 1;
    const char *x = own && arg->op == NEST_MAP      ? build_expr(b, p->arg)
                    : own && arg->op == NEST_WINDOW ? NULL
                                                    : build_named(b, p->arg);
    b->frame = arg->axes;
    if (x) {
        take_room(b, p);
        fill_outside(b, p);
        build_line(b, "%s = %s", interior(b, p), x);
    } else {
        make_ready(b, pad_of(b, arg));
        b->frame = arg->axes;
        take_room(b, p);
        fill_outside(b, p);
        Target to = {.view = interior(b, p)};
        if (keeps_outside(b, p))
            to = (Target){.buffer = buffer_of(b, p), .pad = p};
        window_into(b, p->arg, to);
    }
    bend_rows(b, p);
    b->frame = outer;
}

/* ---- elements of windows ---- */

/* "3", or "3 + 2 * h5g" where the result is itself under windows. */
static const char *offset_of(Build *b, const NestValue *v, int64_t k)
{
    const NestWindow *w = &v->window;
    uint32_t axis = window_axis(v);
    long long off = w->by * bias_of(b, w->to) + w->at + w->step * k - bias_of(b, axis);
    if (!halo_of(b, w->to)->root)
        return str_format(b->arena, "%lld", off);
    if (tile_of(b, axis)->whole)
        return str_format(b->arena, "%lld",
                          off + w->by * (first_inside(b, w->to) - bias_of(b, w->to)));
    return str_format(b->arena, "%lld + %lld * h%ug", off, (long long)w->by, w->to);
}

/* "[:r.size, :136]": whole blocks of lanes. */
static const char *blocks_of(Build *b, const char *buffer, BuildKind kind, int64_t lanes)
{
    return kind == BUILD_TILE
               ? str_format(b->arena, "%s[:%s, :%lld]", buffer, build_rows(b), (long long)lanes)
               : str_format(b->arena, "%s[:%lld]", buffer, (long long)lanes);
}

/* `lanes` of them, whole blocks; 0: those of the tile. */
static const char *view_at(Build *b, const NestValue *v, const BuildPad *p, int64_t k,
                           int64_t lanes)
{
    const char *off = offset_of(b, v, k), *name = buffer_of(b, p);
    const char *n = lanes ? str_format(b->arena, "%lld", (long long)lanes) : build_lanes(b);
    if (on_rows(b, p->axis)) {
        const char *first = p->wide && lanes != p->lanes ? gap_of(b, p->wide) : "0";
        return str_format(b->arena, "%s[%s : %s + %s, %s : %s + %s]", name, off, off, build_rows(b),
                          first, first, n);
    }
    if (p->kind == BUILD_TILE)
        return str_format(b->arena, "%s[:%s, %s : %s + %s]", name, build_rows(b), off, off, n);
    return str_format(b->arena, "%s[%s : %s + %s]", name, off, off, n);
}

/* "3 : 3 + 2 * (r.size - 1) + 1" */
static const char *steps_from(Build *b, const char *off, int64_t by, const char *n)
{
    return by == 1
               ? str_format(b->arena, "%s : %s + %s", off, off, n)
               : str_format(b->arena, "%s : %s + %lld * (%s - 1) + 1", off, off, (long long)by, n);
}

static void gather_at(Build *b, const NestValue *v, const BuildPad *p, int64_t k, int64_t lanes,
                      const char *dest)
{
    bool wide = on_rows(b, p->axis) && p->wide && lanes == p->lanes;
    BuildTapTable t = table_for(b, v, wide ? lanes : 0);
    const char *places = blocks_of(b, find_tap(b, &t), t.kind, lanes), *name = buffer_of(b, p);
    const char *n = str_format(b->arena, "%lld", (long long)picked_lanes(b, v));
    const char *first = offset_of(b, v, k);
    if (on_rows(b, p->axis)) {
        const char *gap = p->wide && !wide ? gap_of(b, p->wide) : "0";
        build_line(b, "%s = gather(%s[%s, %s : %s + %lld], %s)", dest, name,
                   steps_from(b, first, v->window.by, build_rows(b)), gap, gap, (long long)lanes,
                   places);
        return;
    }
    const char *from = t.edge == NEST_FILL ? steps_from(b, first, v->window.by, n)
                                           : lanes_inside(b, p);
    if (t.kind == BUILD_TILE)
        build_line(b, "%s = gather(%s[:%s, %s], %s)", dest, name, build_rows(b), from, places);
    else
        build_line(b, "%s = gather(%s[%s], %s)", dest, name, from, places);
}

static const char *room_for(Build *b, BuildKind kind, int64_t rows, int64_t lanes)
{
    BuildBuffer want = {.kind = kind,
                        .dtype = DT_F32,
                        .depth = 1,
                        .stem = 'x',
                        .rows = rows,
                        .lanes = lanes,
                        .times = 1};
    return build_take(b, want);
}

/* The elements of all windows, one of each at a time. */
static void window_into(Build *b, NestId id, Target to)
{
    const NestValue *v = &b->nest->values.at[id];
    BuildPad *p = pad_of(b, v);
    BuildKind kind = build_kind(b, v->axes);
    uint64_t outer = b->frame;
    int64_t lanes = to.pad ? to.pad->lanes : full_lanes(b, v), rows = full_rows(b, v);
    const char *sum = NULL, *room = NULL;
    make_ready(b, p);
    b->frame = v->axes;
    const char *buffer = to.buffer ? to.buffer : room_for(b, kind, rows, lanes);
    const char *dest = blocks_of(b, buffer, kind, lanes);
    for (int64_t k = 0; k < v->window.count; k++) {
        const char *x;
        if (is_view(b, v, k)) {
            x = view_at(b, v, p, k, lanes);
        } else {
            if (k && !room) {
                for (uint32_t i = 0; i < b->pool->len; i++) /* another one than the sum's */
                    b->pool->at[i].owner += b->pool->at[i].name == buffer && !to.buffer ? id : 0;
                room = blocks_of(b, room_for(b, kind, rows, lanes), kind, lanes);
            }
            x = k ? room : dest;
            gather_at(b, v, p, k, lanes, x);
        }
        if (sum)
            build_line(b, "%s = %s", dest, build_combine(b, v->reduce, sum, x));
        sum = sum ? dest : x;
    }
    if (sum != dest && to.buffer)
        build_line(b, "%s = %s", dest, sum);
    else if (!to.buffer && sum != dest)
        build_line(b, "%s = %s", to.view, view_at(b, v, p, 0, 0));
    else if (!to.buffer)
        build_line(b, "%s = %s", to.view, build_view(b, kind, buffer));
    for (uint32_t i = 0; i < b->pool->len; i++)
        b->pool->at[i].owner = b->pool->at[i].stem == 'x' ? 0 : b->pool->at[i].owner;
    leave_pad(b, p);
    b->frame = outer;
}

/* The window is all of its argument, which stays where it is: a load, or rows of a pad. */
static bool is_argument(const Build *b, const NestValue *v)
{
    const NestValue *arg = &b->nest->values.at[v->arg[0]];
    const NestWindow *w = &v->window;
    uint32_t axis = window_axis(v);
    bool stays = arg->op == NEST_LOAD ||
                 (arg->op == NEST_WINDOW && arg->window.count == 1 && is_view(b, arg, 0));
    return stays && !on_rows(b, axis) && b->band->lanes.whole && w->count == 1 && w->by == 1 &&
           !w->at && !halo_of(b, w->to)->root &&
           b->nest->axes.at[axis].size == b->nest->axes.at[w->to].size;
}

const char *build_windowed(Build *b, NestId id)
{
    const NestValue *v = &b->nest->values.at[id];
    BuildKind kind = build_kind(b, v->axes);
    uint64_t outer = b->frame;
    if (is_argument(b, v)) {
        b->name[id] = build_named(b, v->arg[0]);
    } else if (v->window.count == 1 && is_view(b, v, 0)) {
        BuildPad *p = pad_of(b, v); /* which stays */
        make_ready(b, p);
        b->frame = v->axes;
        b->name[id] = view_at(b, v, p, 0, 0);
    } else {
        b->frame = v->axes;
        Target own = {.buffer = build_result(b, 'v', kind, DT_F32, id)};
        b->name[id] = build_view(b, kind, own.buffer);
        window_into(b, id, own);
    }
    build_release(b, id);
    b->frame = outer;
    return b->name[id];
}
