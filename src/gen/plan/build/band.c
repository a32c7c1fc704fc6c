/* A band as loops and stages. In: a band of a schedule. Out: the lines of its kernel. */
#include "gen/plan/build/build_int.h"

enum {
    TURNS = 1 << 20, /* more reads than any pass has */
    LINE = 64        /* elements that shares of lanes are multiples of */
};

static uint64_t bit(uint32_t axis) { return axis ? UINT64_C(1) << axis : 0; }

/* Reduced axes that a core walks: all that are not whole in the tile. */
static uint64_t walked_axes(const Band *band)
{
    return band->reduced & ~(band->lanes.whole ? bit(band->lanes.axis) : 0) &
           ~(band->rows.whole ? bit(band->rows.axis) : 0);
}

/* ---- loops ---- */

/* Cores that share a reduced axis walk everything else all of them. */
static void open_shared(Build *b)
{
    const Band *band = b->band;
    build_line(b, "part%u = share(%s, %d)", b->number, b->layout->size[band->split],
               band->split == band->lanes.axis ? LINE : 1);
    for (uint32_t a = 1; a < b->nest->axes.len; a++) {
        if (!(band->kept & bit(a)))
            continue;
        if (!band_is_tiled(band, a))
            build_line(b, "for j%u in range(%s):", a, b->layout->size[a]);
        else
            build_line(b, "for %c in tiles(%s, %lld):", a == band->rows.axis ? 'r' : 't',
                       b->layout->size[a],
                       (long long)(a == band->rows.axis ? band->rows.tile : band->lanes.tile));
        b->depth++;
    }
}

/* The loop that deals out the work: its axes in the order of the first result's memory. */
static void open_cores(Build *b)
{
    const Affine *index = &b->nest->stores.at[b->band->stores.at[0]].index;
    Buf names = {0}, counts = {0};
    uint64_t left = 0;
    if (b->band->split) {
        open_shared(b);
        return;
    }
    for (uint32_t a = 1; a < b->nest->axes.len; a++)
        left |= band_deals(b->band, a) ? bit(a) : 0;
    if (!left) {
        build_line(b, "if core_id() == 0:");
        b->depth++;
        return;
    }
    while (left) {
        uint32_t outer = 0;
        for (uint32_t a = 1; a < b->nest->axes.len; a++)
            if (left & bit(a) && (!outer || affine_by(index, a) > affine_by(index, outer)))
                outer = a;
        left &= ~bit(outer);
        const char *comma = names.len ? ", " : "";
        if (outer == b->band->rows.axis) {
            buf_printf(&names, "%s%c", comma, b->band->chunked ? 'c' : 'r');
            buf_printf(&counts, "%stiles(%s, block%u)", comma, b->layout->size[outer], b->number);
        } else if (outer == b->band->lanes.axis) {
            buf_printf(&names, "%st", comma);
            buf_printf(&counts, "%stiles(%s, piece%u)", comma, b->layout->size[outer], b->number);
        } else {
            buf_printf(&names, "%sj%u", comma, outer);
            buf_printf(&counts, "%s%s", comma, b->layout->size[outer]);
        }
    }
    build_line(b, "for %.*s in mine(%.*s):", (int)names.len, names.at, (int)counts.len, counts.at);
    buf_free(&names);
    buf_free(&counts);
    b->depth++;
}

/* What a core walks of a reduced axis: all, or its share. */
static const char *walked_part(Build *b, uint32_t axis)
{
    return axis == b->band->split ? str_format(b->arena, "part%u", b->number)
                                  : b->layout->size[axis];
}

/* The loops over some of what is reduced and not whole; returns how many. */
static int open_walk(Build *b, uint64_t walked)
{
    int opened = 0;
    for (uint32_t a = 1; a < b->nest->axes.len; a++)
        if (walked & bit(a) && !band_is_tiled(b->band, a)) {
            if (a == b->band->split)
                build_line(b, "for j%u in range(part%u.start, part%u.stop):", a, b->number,
                           b->number);
            else
                build_line(b, "for j%u in range(%s):", a, b->layout->size[a]);
            b->depth++;
            opened++;
        }
    if (walked & bit(b->band->rows.axis)) {
        build_line(b, "for r in tiles(%s, %lld):", walked_part(b, b->band->rows.axis),
                   (long long)b->band->rows.tile);
        b->depth++;
        opened++;
    }
    if (walked & bit(b->band->lanes.axis)) {
        build_line(b, "for t in tiles(%s, %lld):", walked_part(b, b->band->lanes.axis),
                   (long long)b->band->lanes.tile);
        b->depth++;
        opened++;
    }
    return opened;
}

/* ---- what is needed ---- */

/* Marks what a value needs that has no name yet. */
static void mark(const Build *b, NestId id, bool *now)
{
    const NestValue *v = &b->nest->values.at[id];
    if (now[id] || b->name[id])
        return;
    now[id] = true;
    for (uint32_t i = 0; i < v->n_arg; i++)
        mark(b, v->arg[i], now);
}

/* How often each value is read, by the reductions that this walk gathers too (sums; NULL: none). What has no name is
 * computed again wherever it is read: masks, and values with one reader, which may itself be such a mask. */
static void count_left(Build *b, const bool *now, const char *const *sums)
{
    uint32_t *times = arena_array(b->arena, uint32_t, b->nest->values.len);
    for (uint32_t i = 0; i < b->band->stores.len; i++)
        times[b->nest->stores.at[b->band->stores.at[i]].value]++;
    for (uint32_t i = b->nest->values.len; i-- > 1;) {
        const NestValue *v = &b->nest->values.at[i];
        bool again = v->mask ? !build_keeps_mask(b, i) : v->uses == 1;
        uint32_t here = v->op == NEST_MAP && again && times[i] ? times[i] : 1;
        for (uint32_t k = 0; k < v->n_arg && (now[i] || (sums && sums[i])); k++) {
            times[v->arg[k]] += here;
            b->left[v->arg[k]] += here;
        }
    }
}

/* ---- passes ---- */

static bool is_walked(const Build *b, NestId id)
{
    return b->nest->values.at[id].op == NEST_REDUCE &&
           b->nest->values.at[id].over & walked_axes(b->band);
}

/* Forgets names that only held inside the loops of a pass, and frees their buffers. */
static void forget_inner(Build *b, bool all)
{
    uint64_t walked = walked_axes(b->band);
    for (uint32_t i = 1; i < b->nest->values.len; i++)
        if (all || b->nest->values.at[i].axes & walked)
            b->name[i] = NULL;
    build_forget_pads(b, walked);
    for (uint32_t i = 0; i < b->pool->len; i++)
        if (b->pool->at[i].owner && !b->name[b->pool->at[i].owner])
            b->pool->at[i].owner = 0;
    for (uint32_t i = 0; i < b->nest->values.len; i++)
        b->left[i] = 0;
}

/* Where partial results of a reduction gather: a buffer of the result's kind, or a scalar. */
static const char *accumulator(Build *b, NestId id)
{
    const NestValue *v = &b->nest->values.at[id];
    BuildKind kind = build_kind(b, v->axes);
    if (nest_roots(b->nest, v->axes) != v->axes)
        b->failed = "what windows read is reduced piece by piece";
    if (kind == BUILD_SCALAR) {
        const char *name = build_scalar(b);
        build_line(b, "%s = %s", name, build_start(v->reduce));
        return name;
    }
    const char *view = build_view(b, kind, build_buffer(b, 'g', kind, DT_F32, 1, id));
    build_line(b, "with compute():");
    build_line(b, "    %s = %s", view, build_start(v->reduce));
    return view;
}

/* ---- sums that follow the largest so far ---- */

#define LOWEST "-3.4028235e+38" /* the least finite number: what is shifted by it stays a number */

static NestPass pass_of(const Build *b)
{
    uint64_t tile = bit(b->band->rows.axis) | bit(b->band->lanes.axis);
    return (NestPass){walked_axes(b->band), b->band->split ? 0 : tile};
}

/* A sum that is moved to the largest value so far, tile by tile, instead of a walk of its own. */
static bool is_online(const Build *b, NestId id)
{
    return b->wanted[id] && nest_is_online(b->nest, id, pass_of(b));
}

static bool is_followed(const Build *b, NestId id)
{
    for (uint32_t i = id + 1; i < b->nest->values.len; i++)
        if (b->nest->values.at[i].follows == id && is_online(b, i))
            return true;
    return false;
}

/* What is gathered is folded once, after all turns: until then every element of the tile has a sum of its own. Cores
 * that share an axis do so, and who would wait in every turn for the one number that a tile gives. */
static bool is_wide(const Build *b, NestId id)
{
    const NestValue *v = &b->nest->values.at[id], *of = &b->nest->values.at[v->arg[0]];
    if (!(v->over & (bit(b->band->rows.axis) | bit(b->band->lanes.axis))) ||
        build_kind(b, of->axes) == BUILD_SCALAR)
        return false;
    return b->band->split || (build_kind(b, v->axes) == BUILD_SCALAR && !is_online(b, id) &&
                              !is_followed(b, id) && nest_roots(b->nest, of->axes) == of->axes);
}

static const char *wide_accumulator(Build *b, NestId id)
{
    const NestValue *v = &b->nest->values.at[id];
    BuildKind kind = build_kind(b, b->nest->values.at[v->arg[0]].axes);
    const char *buffer = build_buffer(b, 'g', kind, DT_F32, 1, id);
    build_line(b, "with compute():");
    build_line(b, "    %s = %s", buffer, build_start(v->reduce));
    return buffer;
}

/* One turn: all elements of the tile at once. */
static void gather_wide(Build *b, NestId id, const char *buffer)
{
    const NestValue *v = &b->nest->values.at[id];
    const NestValue *of = &b->nest->values.at[v->arg[0]];
    const char *view = build_view(b, build_kind(b, of->axes), buffer);
    const char *x = of->uses > 1 ? build_named(b, v->arg[0]) : build_expr(b, v->arg[0]);
    build_release(b, id);
    build_line(b, "%s = %s", view, build_combine(b, v->reduce, view, x));
}

static void fold_wide(Build *b, NestId id, const char *buffer)
{
    const NestValue *v = &b->nest->values.at[id];
    BuildKind of = build_kind(b, b->nest->values.at[v->arg[0]].axes), kind = build_kind(b, v->axes);
    const char *view = buffer, *name = NULL;
    if (of == BUILD_TILE && kind == BUILD_LANES)
        view = str_format(b->arena, "%s[:%lld, :%s]", buffer, (long long)b->band->rows.tile,
                          build_lanes(b));
    if (of == BUILD_TILE && kind == BUILD_ROWS)
        view = str_format(b->arena, "%s[:%s, :%lld]", buffer, build_rows(b),
                          (long long)b->band->lanes.tile);
    name = kind == BUILD_SCALAR ? build_scalar(b)
                                : build_view(b, kind, build_buffer(b, 'v', kind, DT_F32, 1, id));
    build_line(b, "with compute():");
    build_line(b, "    %s = %s", name,
               build_fold(b, v->reduce, kind != BUILD_ROWS, kind != BUILD_LANES, view));
    b->name[id] = name;
}

/* The largest so far, before and after this tile, as finite numbers. */
static void update_followed(Build *b, NestId id, const char *largest)
{
    BuildKind kind = build_kind(b, b->nest->values.at[id].axes);
    const char *before = build_view(b, kind, build_buffer(b, 'f', kind, DT_F32, 1, id));
    const char *now = build_view(b, kind, build_buffer(b, 'f', kind, DT_F32, 1, id));
    const char *part = build_named(b, id);
    build_line(b, "%s = max(%s, " LOWEST ")", before, largest);
    build_line(b, "%s = max(%s, %s)", largest, largest, part);
    build_line(b, "%s = max(%s, " LOWEST ")", now, largest);
    build_line(b, "%s = exp(%s - %s)", before, before, now);
    b->factor[id] = before;
    b->name[id] = now;
}

/* Some value that varies along what is walked reads it. */
static bool read_inside(const Build *b, NestId id, const bool *now)
{
    uint64_t walked = walked_axes(b->band);
    for (uint32_t i = id + 1; i < b->nest->values.len; i++)
        for (uint32_t k = 0; k < b->nest->values.at[i].n_arg && now[i]; k++)
            if (b->nest->values.at[i].arg[k] == id &&
                (b->nest->values.at[i].axes & walked || b->nest->values.at[i].mask))
                return true;
    return false;
}

/* What a walk needs and is the same in all its turns is computed before it. */
static void hoist(Build *b, bool *now)
{
    bool *ahead = arena_array(b->arena, bool, b->nest->values.len);
    uint64_t walked = walked_axes(b->band);
    for (uint32_t i = 1; i < b->nest->values.len; i++)
        ahead[i] = now[i] && !(b->nest->values.at[i].axes & walked);
    build_load_all(b, ahead);
    size_t before = b->body->len;
    build_line(b, "with compute():");
    size_t opened = b->body->len;
    b->depth++;
    build_cast_loads(b, ahead);
    for (uint32_t i = 1; i < b->nest->values.len; i++) {
        const NestValue *v = &b->nest->values.at[i];
        if (ahead[i] && !v->mask && (v->op == NEST_MAP || v->op == NEST_PLACE) &&
            read_inside(b, i, now))
            build_named(b, i);
    }
    b->depth--;
    if (b->body->len == opened)
        b->body->len = before;
    for (uint32_t i = 1; i < b->nest->values.len; i++) {
        now[i] = now[i] && !b->name[i];
        b->left[i] += b->name[i] ? TURNS : 0; /* the next turn reads it too */
    }
}

/* The loops of a walk; scans along it begin. */
static void begin_walk(Build *b, uint64_t axes, const bool *now)
{
    for (uint32_t i = 1; i < b->nest->values.len; i++)
        if (now[i] && b->nest->values.at[i].op == NEST_SCAN && b->nest->values.at[i].over & axes)
            build_open_scan(b, i);
    open_walk(b, axes);
}

static uint64_t store_axes(const NestStore *store)
{
    uint64_t axes = 0;
    for (uint32_t k = 0; k < store->index.n; k++)
        axes |= bit(store->index.term[k].axis);
    return axes;
}

static const NestStore *band_store(const Build *b, uint32_t i)
{
    return &b->nest->stores.at[b->band->stores.at[i]];
}

/* Which stores are due in a walk: those whose elements vary along just these of the axes that are walked, and
 * which need no reduction of this level or a later one. */
static bool *due_stores(const Build *b, uint64_t walk, uint32_t level)
{
    bool *due = arena_array(b->arena, bool, b->band->stores.len);
    for (uint32_t i = 0; i < b->band->stores.len; i++)
        due[i] = !b->stored[i] && b->level[band_store(b, i)->value] < level &&
                 (store_axes(band_store(b, i)) & walked_axes(b->band)) == walk;
    return due;
}

/* Marks the values that the stores in `due` need. False: no store is due. */
static bool mark_stores(Build *b, const bool *due, bool *now)
{
    bool any = false;
    for (uint32_t i = 0; i < b->band->stores.len; i++)
        if (due[i]) {
            mark(b, band_store(b, i)->value, now);
            b->left[band_store(b, i)->value]++;
            any = true;
        }
    return any;
}

/* Computes values that several stores read into buffers of their own, in a compute stage. */
static void prepare_stores(Build *b, const bool *due, const bool *now)
{
    for (uint32_t i = 0; i < b->band->stores.len; i++) {
        NestId id = band_store(b, i)->value;
        if (due[i] && now[id] && b->nest->values.at[id].uses > 1 &&
            b->nest->values.at[id].op == NEST_MAP)
            build_named(b, id);
    }
    for (uint32_t i = 1; i < b->nest->values.len; i++)
        if (now[i] &&
            (b->nest->values.at[i].op == NEST_REDUCE || b->nest->values.at[i].op == NEST_SCAN) &&
            !is_walked(b, i))
            build_named(b, i);
    for (uint32_t i = 0; i < b->band->stores.len; i++)
        if (due[i] && now[band_store(b, i)->value])
            build_prepare(b, band_store(b, i)->value);
}

static void put_stores(Build *b, const bool *due)
{
    for (uint32_t i = 0; i < b->band->stores.len; i++)
        if (due[i]) {
            build_store_value(b, band_store(b, i));
            b->stored[i] = true;
        }
}

/* The reductions of one level over the same axes, in one walk of these. Results that are known there are stored
 * in it. */
static void reduce_over(Build *b, uint32_t level, uint64_t axes)
{
    const char **sums = arena_array(b->arena, const char *, b->nest->values.len);
    bool *now = arena_array(b->arena, bool, b->nest->values.len);
    int deep = b->depth;
    for (uint32_t i = 1; i < b->nest->values.len; i++) {
        if (!b->wanted[i] || !is_walked(b, i) || b->level[i] != level || b->name[i] ||
            (b->nest->values.at[i].over & walked_axes(b->band)) != axes)
            continue;
        sums[i] = is_wide(b, i) ? wide_accumulator(b, i) : accumulator(b, i);
        mark(b, b->nest->values.at[i].arg[0], now);
    }
    const bool *due = due_stores(b, axes, level);
    bool stores = mark_stores(b, due, now);
    count_left(b, now, sums);
    hoist(b, now);
    begin_walk(b, axes, now);
    build_load_all(b, now);
    build_line(b, "with compute():");
    b->depth++;
    build_cast_loads(b, now);
    if (stores)
        prepare_stores(b, due, now);
    for (uint32_t i = 1; i < b->nest->values.len; i++) {
        if (!sums[i])
            continue;
        if (is_wide(b, i)) {
            gather_wide(b, i, sums[i]);
            b->name[i] = sums[i];
            continue;
        }
        if (is_followed(b, i)) {
            update_followed(b, i, sums[i]);
            continue;
        }
        if (is_online(b, i))
            build_line(b, "%s = %s * %s", sums[i], sums[i],
                       b->factor[b->nest->values.at[i].follows]);
        const char *part = build_named(b, i);
        build_line(b, "%s = %s", sums[i],
                   build_combine(b, b->nest->values.at[i].reduce, sums[i], part));
        b->name[i] = sums[i];
    }
    for (uint32_t i = 1; i < b->nest->values.len; i++)
        b->name[i] = sums[i] ? sums[i] : b->name[i];
    b->depth--;
    put_stores(b, due);
    b->depth = deep;
    forget_inner(b, false);
    for (uint32_t i = 1; i < b->nest->values.len; i++)
        if (sums[i] && is_wide(b, i))
            fold_wide(b, i, sums[i]);
}

static void reduce_level(Build *b, uint32_t level)
{
    for (uint32_t i = 1; i < b->nest->values.len; i++)
        if (b->wanted[i] && is_walked(b, i) && b->level[i] == level && !b->name[i])
            reduce_over(b, level, b->nest->values.at[i].over & walked_axes(b->band));
}

/* Stores whose elements vary along just these of the axes that are walked. */
static void store_over(Build *b, uint64_t walk)
{
    bool *now = arena_array(b->arena, bool, b->nest->values.len);
    const bool *due = due_stores(b, walk, UINT32_MAX);
    int deep = b->depth;
    if (!mark_stores(b, due, now))
        return;
    count_left(b, now, NULL);
    if (walk) {
        hoist(b, now);
        begin_walk(b, walk, now);
    }
    build_load_all(b, now);
    size_t before = b->body->len;
    build_line(b, "with compute():");
    size_t opened = b->body->len;
    b->depth++;
    build_cast_loads(b, now);
    prepare_stores(b, due, now);
    if (b->body->len == opened)
        b->body->len = before;
    b->depth--;
    put_stores(b, due);
    b->depth = deep;
    if (walk)
        forget_inner(b, false);
}

/* First what does not vary along anything that is walked. */
static void store_all(Build *b)
{
    store_over(b, 0);
    for (uint32_t i = 0; i < b->band->stores.len; i++)
        if (!b->stored[i])
            store_over(b, store_axes(band_store(b, i)) & walked_axes(b->band));
}

/* Which values are the same for all turns of the next loop and made of what is known before it. */
static bool *ready_values(const Build *b, uint64_t alike)
{
    bool *ready = arena_array(b->arena, bool, b->nest->values.len);
    for (uint32_t i = 1; i < b->nest->values.len; i++) {
        const NestValue *v = &b->nest->values.at[i];
        ready[i] = v->op == NEST_NUMBER || v->op == NEST_COUNT || b->name[i] ||
                   (b->wanted[i] && (v->op == NEST_MAP || v->op == NEST_PLACE) && !v->mask &&
                    !(v->axes & ~alike) && nest_roots(b->nest, v->axes) == v->axes &&
                    build_kind(b, v->axes) != BUILD_TILE);
        for (uint32_t k = 0; k < v->n_arg && !b->name[i]; k++)
            ready[i] = ready[i] && ready[v->arg[k]];
    }
    return ready;
}

/* It gets a name of its own before the loop; other numbers are part of the expressions that read them. */
static bool is_worth_name(const Build *b, NestId id)
{
    return b->nest->values.at[id].axes || build_needs_lanes(b, id);
}

/* Some value that is not known before the loop reads it, itself or inside an expression, or a store does. */
static bool is_read_later(const Build *b, NestId id, const bool *ready)
{
    for (uint32_t i = 0; i < b->band->stores.len; i++)
        if (band_store(b, i)->value == id)
            return true;
    for (uint32_t i = id + 1; i < b->nest->values.len; i++)
        for (uint32_t k = 0; k < b->nest->values.at[i].n_arg && b->wanted[i]; k++)
            if (b->nest->values.at[i].arg[k] == id &&
                (!ready[i] || (!is_worth_name(b, i) && is_read_later(b, i, ready))))
                return true;
    return false;
}

static void compute_shared(Build *b, uint64_t alike)
{
    size_t before = b->body->len;
    build_line(b, "with compute():");
    size_t opened = b->body->len;
    b->depth++;
    const bool *ready = ready_values(b, alike);
    for (uint32_t i = 1; i < b->nest->values.len; i++)
        b->left[i] += TURNS;
    for (uint32_t i = 1; i < b->nest->values.len; i++) {
        const NestValue *v = &b->nest->values.at[i];
        if (b->wanted[i] && is_worth_name(b, i) && ready[i] && !b->name[i] &&
            (v->op == NEST_MAP || v->op == NEST_PLACE) && is_read_later(b, i, ready))
            build_named(b, i);
    }
    b->depth--;
    if (b->body->len == opened)
        b->body->len = before;
    for (uint32_t i = 1; i < b->nest->values.len; i++)
        b->left[i] = 0;
}

/* What is the same for all turns of the next loop, as it varies along no other axes than these, is loaded
 * and computed before it. */
static void make_shared(Build *b, uint64_t alike)
{
    bool *now = arena_array(b->arena, bool, b->nest->values.len);
    for (uint32_t i = 1; i < b->nest->values.len; i++)
        now[i] = b->wanted[i] && nest_reads(&b->nest->values.at[i]) && !b->name[i] &&
                 !(b->nest->values.at[i].axes & ~alike) &&
                 nest_roots(b->nest, b->nest->values.at[i].axes) == b->nest->values.at[i].axes &&
                 !build_is_boxed(b, &b->nest->values.at[i]) &&
                 build_kind(b, b->nest->values.at[i].axes) != BUILD_TILE;
    int depth = b->load_depth;
    b->load_depth = 1;
    build_load_all(b, now);
    b->load_depth = depth;
    size_t before = b->body->len;
    build_line(b, "with compute():");
    size_t opened = b->body->len;
    b->depth++;
    build_cast_loads(b, now);
    b->depth--;
    if (b->body->len == opened)
        b->body->len = before;
    compute_shared(b, alike);
    for (uint32_t i = 0; i < b->pool->len; i++)
        b->pool->at[i].kept = b->pool->at[i].owner != 0;
}

/* Some comparison or selection of tiles reads it: these take no row that is the same for all. */
static bool is_compared(const Build *b, NestId id)
{
    for (uint32_t i = id + 1; i < b->nest->values.len; i++) {
        const NestValue *v = &b->nest->values.at[i];
        bool reads = false, selects = v->mask;
        for (uint32_t k = 0; k < v->n_arg; k++) {
            reads = reads || v->arg[k] == id;
            selects = selects || b->nest->values.at[v->arg[k]].mask;
        }
        if (b->wanted[i] && reads && selects && build_kind(b, v->axes) == BUILD_TILE)
            return true;
    }
    return false;
}

/* Places along the lanes that tiles are compared with. */
static bool is_compared_place(const Build *b, NestId id)
{
    const NestValue *v = &b->nest->values.at[id];
    return b->wanted[id] && v->op == NEST_PLACE && build_kind(b, v->axes) == BUILD_LANES &&
           is_compared(b, id);
}

static const char *take_spread(Build *b, NestId id)
{
    BuildBuffer want = {.kind = BUILD_TILE,
                        .dtype = DT_F32,
                        .depth = 1,
                        .stem = 'q',
                        .rows = b->band->rows.tile,
                        .lanes = b->band->lanes.tile,
                        .times = 1,
                        .owner = id,
                        .kept = true};
    return build_take(b, want);
}

const char *build_only_row(Build *b, NestId id)
{
    if (b->band->rows.tile != 1 || !b->band->lanes.whole || !is_compared_place(b, id))
        return NULL;
    b->spread[id] = take_spread(b, id);
    return str_format(b->arena, "%s[0, :%s]", b->spread[id], build_lanes(b));
}

/* They are put into every row of a tile once; where it has one row, they are in it. */
static void spread_places(Build *b)
{
    for (uint32_t i = 1; i < b->nest->values.len; i++) {
        if (!b->name[i] || b->spread[i] || !is_compared_place(b, i))
            continue;
        b->spread[i] = take_spread(b, i);
        build_line(b, "with compute():");
        build_line(b, "    %s[:%lld, :%s] = row(%s)", b->spread[i], (long long)b->band->rows.tile,
                   build_lanes(b), b->name[i]);
    }
}

static void put_lines(Build *b, const char *lines)
{
    Str rest = str_from(lines), line;
    while (str_next(&rest, '\n', &line))
        if (line.len)
            build_line(b, "%.*s", STR_ARG(line));
}

static void open_loop(Build *b, const char *loop)
{
    put_lines(b, loop);
    b->depth++;
}

static void receive_tile(Build *b)
{
    put_lines(b, b->fed->receive);
    if (b->fed->inner) {
        make_shared(b, ~(b->fed->walked | walked_axes(b->band)));
        open_loop(b, b->fed->inner);
    }
    for (uint32_t i = 1; i < b->nest->values.len; i++)
        if (b->nest->values.at[i].op == NEST_LOAD && b->nest->values.at[i].tensor == b->fed->tensor)
            b->name[i] = b->fed->view;
}

static void make_tables(Build *b)
{
    uint32_t n = b->nest->values.len;
    b->name = arena_array(b->arena, const char *, n);
    b->spread = arena_array(b->arena, const char *, n);
    b->filled = arena_array(b->arena, const char *, n);
    b->factor = arena_array(b->arena, const char *, n);
    b->carry = arena_array(b->arena, const char *, n);
    b->picked_from = arena_array(b->arena, const char *, n);
    b->left = arena_array(b->arena, uint32_t, n);
    b->level = arena_array(b->arena, uint32_t, n);
    b->stored = arena_array(b->arena, bool, b->band->stores.len + 1);
    b->straight = arena_array(b->arena, bool, n);
}

void build_open(Build *b) { make_tables(b); }

const char *build_value(Build *b, NestId id)
{
    bool *now = arena_array(b->arena, bool, b->nest->values.len);
    if (b->name[id])
        return b->name[id];
    mark(b, id, now);
    b->left[id]++;
    count_left(b, now, NULL);
    build_load_all(b, now);
    build_line(b, "with compute():");
    b->depth++;
    build_cast_loads(b, now);
    const char *name = build_named(b, id);
    b->depth--;
    return name;
}

void build_results(Build *b) { store_all(b); }

void build_band(Build *b)
{
    uint32_t most = 0;
    make_tables(b);
    for (uint32_t i = 1; i < b->nest->values.len; i++) {
        b->level[i] = b->wanted[i] ? nest_level(b->nest, i, pass_of(b)) : 0;
        if (b->wanted[i] && is_online(b, i)) /* in the walk of what it follows */
            b->level[i] = b->level[b->nest->values.at[i].follows];
        most = b->wanted[i] && b->level[i] > most ? b->level[i] : most;
    }
    make_shared(b, (b->band->lanes.whole ? bit(b->band->lanes.axis) : 0) |
                       (b->band->rows.whole ? bit(b->band->rows.axis) : 0));
    spread_places(b);
    build_places(b);
    build_window_places(b);
    if (b->fed)
        open_loop(b, b->fed->loop);
    else
        open_cores(b);
    if (b->band->chunked) {
        uint64_t inner = b->fed ? b->fed->walked : 0;
        make_shared(b, ~(bit(b->band->rows.axis) | walked_axes(b->band) | inner));
        build_line(b, "for r in tiles(c, %lld):", (long long)b->band->rows.tile);
        b->depth++;
    }
    if (b->fed)
        receive_tile(b);
    build_open_halos(b);
    for (uint32_t level = 1; level <= most; level++)
        reduce_level(b, level);
    store_all(b);
    build_fill_rooms(b);
    for (uint32_t i = 0; i < b->pool->len; i++) {
        b->pool->at[i].owner = 0;
        b->pool->at[i].kept = false;
    }
}
