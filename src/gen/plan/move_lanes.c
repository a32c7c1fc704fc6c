/* Few lanes: rows that are put side by side element by element, and taken apart again, as pairs of a
 * complex number or of a rotation are. In: a move that turns a short dimension past a long one. Out: a
 * kernel whose copies are long on both sides; elements change places on chip.
 *
 *     apart   [n, 2] to [2, n]      side by side   [2, n] to [n, 2] */
#include "gen/plan/move_int.h"

/* More lanes than that are turned faster in blocks, but for rows of less than 32 bytes, of which each is a burst of its own; 8
 * loads may be on their way, two of each lane. */
enum { MOST_APART = 6, MOST_BESIDE = 4, LEAST_LENGTH = 64, ROOM = 4096, NARROW = 32 };

typedef struct Lanes {
    int64_t lanes, length, chunk;
    bool apart;
} Lanes;

/* All of a dimension of the source, in order. */
static bool is_whole(const Move *m, const MoveDim *d)
{
    return d->n == 1 && d->mul[0] == 1 && d->add == 0 && d->div == 1 && d->wrap == MOVE_INSIDE &&
           d->size == m->size[d->from[0]];
}

static bool read_lanes(const MoveText *w, Lanes *l)
{
    const Move *m = w->m;
    if (m->rank < 2 || m->from_rank < 2 || dtype_bytes(m->dtype) == 8 || dtype_bytes(m->dtype) == 1)
        return false;
    const MoveDim *outer = &m->dim[m->from_rank - 2], *inner = &m->dim[m->from_rank - 1];
    if (!is_whole(m, outer) || !is_whole(m, inner) || outer->from[0] != m->rank - 1 ||
        inner->from[0] != m->rank - 2)
        return false;
    for (int j = 0; j + 2 < m->from_rank; j++)
        for (int k = 0; k < m->dim[j].n; k++)
            if (m->dim[j].from[k] >= m->rank - 2)
                return false;
    l->apart = m->size[m->rank - 2] < m->size[m->rank - 1];
    l->lanes = m->size[l->apart ? m->rank - 2 : m->rank - 1];
    l->length = m->size[l->apart ? m->rank - 1 : m->rank - 2];
    l->chunk = ROOM / l->lanes / LEAST_LENGTH * LEAST_LENGTH;
    l->chunk = l->chunk < w->tile ? l->chunk : w->tile;
    bool narrow = l->apart && l->lanes * (int64_t)dtype_bytes(m->dtype) < NARROW;
    return (narrow || l->lanes <= (l->apart ? MOST_APART : MOST_BESIDE)) &&
           l->length >= LEAST_LENGTH;
}

/* The indices before the two, of source or result. */
static const char *before(MoveText *w, const Move *m, bool source)
{
    Buf out = {0};
    for (int i = 0; i + 2 < (source ? m->from_rank : m->rank); i++)
        buf_printf(&out, "%s, ", source ? move_place(w, &m->dim[i]) : w->index[i]);
    return out.len ? move_taken(w, &out) : "";
}

/* Merges the two dimensions of lanes where lanes are adjacent in memory. */
static void join(Move *m, const Lanes *l)
{
    int64_t both = l->lanes * l->length;
    if (l->apart)
        m->dim[--m->from_rank - 1].size = both;
    else
        m->size[--m->rank - 1] = both;
}

/* Where the elements of each lane stand is the same for every piece. */
static void put_lanes(MoveText *w, const Lanes *l)
{
    long long k = (long long)l->lanes, held = (long long)l->chunk;
    move_put(w, 1, "row = ub(%s, %lld, depth=2)", w->type, k * held);
    move_put(w, 1, "place = ub(i32, %lld, %lld)", k, held);
    move_put(w, 1, "first = ub(i32, %lld)", held);
    move_put(w, 1, "lane = ub(i32, %lld)", k);
    move_put(w, 1, "found = ub(%s, %lld, %lld, depth=2)", w->type, k, held);
    move_put(w, 1, "with compute():");
    move_put(w, 2, "first = iota(0, %lld)", k);
    move_put(w, 2, "lane = iota(0, 1)");
    move_put(w, 2, "place[:, :] = row(first) + col(lane)");
}

static void put_apart(MoveText *w, const Lanes *l, const char *from, const char *to)
{
    long long k = (long long)l->lanes;
    move_put(w, 2, "with copyin():");
    move_put(w, 3, "load(row[:t.size * %lld], x[%st.start * %lld:t.stop * %lld])", k, from, k, k);
    move_put(w, 2, "with compute():");
    move_put(w, 3, "found[:, :t.size] = gather(row[:t.size * %lld], place[:, :t.size])", k);
    move_put(w, 2, "with copyout():");
    move_put(w, 3, "store(y[%s:, t], found[:, :t.size])", to);
}

/* Element q of the result stands in lane q % k, at q // k. Lanes lie `chunk` apart on chip; where a lane
 * is shorter, zeros stand behind it. */
static void put_places(MoveText *w, const Lanes *l)
{
    long long k = (long long)l->lanes, room = k * (long long)l->chunk;
    for (long long j = 0; j < k; j++)
        move_put(w, 1, "a%lld = ub(%s, %lld, depth=2)", j, w->type, (long long)l->chunk);
    move_put(w, 1, "place = ub(i32, %lld)", room);
    move_put(w, 1, "found = ub(%s, %lld, depth=2)", w->type, room);
    move_put(w, 1, "row = ub(%s, %lld)", w->type, room);
    move_put(w, 1, "near = ub(f32, %lld)", room);
    move_put(w, 1, "whole = ub(i32, %lld)", room);
    move_put(w, 1, "with compute():");
    move_put(w, 2, "near = 0.0");
    move_put(w, 2, w->m->dtype == DT_F32 ? "row = near" : "row = cast(near, %s)", w->type);
    move_put(w, 2, "near = iota(0.5, 1.0, f32)");
    move_put(w, 2, "whole = cast(near / %lld.0, i32, \"floor\")", k);
    move_put(w, 2, "place = iota(0, 1)");
    move_put(w, 2, "place = (place - whole * %lld) * %lld + whole", k, (long long)l->chunk);
    move_put(w, 2, "place = min(max(place, 0), %lld)", room - 1);
}

static void put_beside(MoveText *w, const Lanes *l, const char *from, const char *to)
{
    long long k = (long long)l->lanes, chunk = (long long)l->chunk;
    move_put(w, 2, "first = t.start // %lld", k);
    move_put(w, 2, "size = t.size // %lld", k);
    move_put(w, 2, "with copyin():");
    for (long long j = 0; j < k; j++)
        move_put(w, 3, "load(a%lld[:size], x[%s%lld, first:first + size])", j, from, j);
    move_put(w, 2, "with compute():");
    for (long long j = 0; j < k; j++)
        move_put(w, 3, "row[%lld:%lld + size] = a%lld[:size]", j * chunk, j * chunk, j);
    move_put(w, 3, "found[:t.size] = gather(row, place[:t.size])");
    move_put(w, 2, "with copyout():");
    move_put(w, 3, "store(y[%st], found[:t.size])", to);
}

bool move_lanes(MoveText *w, const NpuChip *chip)
{
    Lanes l;
    if (!read_lanes(w, &l) || move_inside(w, true))
        return false;
    Move *joined = arena_new(w->arena, Move);
    *joined = *w->m;
    w->free = false;
    int rank = w->m->rank;
    const char *reason = str_format(
        w->arena, "# %lld lanes %s on chip: memory sees long copies only.\n", (long long)l.lanes,
        l.apart ? "are taken apart" : "are put side by side");
    join(joined, &l);
    const Move *own = w->m;
    w->m = joined;
    move_open(w, reason, chip);
    long long room = (long long)(l.lanes * l.chunk), held = l.apart ? (long long)l.chunk : room;
    if (l.apart)
        put_lanes(w, &l);
    else
        put_places(w, &l);
    move_loop(w, l.apart ? 3u << (rank - 2) : 1u << (rank - 2), "t",
              str_format(w->arena, "tiles(%lld, %lld)",
                         (long long)(l.apart ? l.length : l.length * l.lanes), held));
    if (l.apart)
        put_apart(w, &l, before(w, own, true), before(w, own, false));
    else
        put_beside(w, &l, before(w, own, true), before(w, own, false));
    return true;
}
