/* Writing moves. In: a move. Out: a Craft program; see move.h for the forms. */
#include "gen/plan/move_int.h"

#include "gen/plan/fit.h"

enum { BLOCK = 64, CHUNK = 1024, MOST_ROW = MOVE_STEP * BLOCK, MOST_PIECES = 16, LEAST = 64 };

/* ---- rows in place ---- */

/* A piece of the last dimension of the result: elements of the source, or the number. */
typedef struct Piece {
    int64_t start, stop, shift; /* source = result + shift */
    bool blank;
} Piece;

/* No dimension of the source but its last depends on the last of the result. */
static bool last_decides_last(const Move *m)
{
    for (int j = 0; j + 1 < m->from_rank; j++)
        for (int k = 0; k < m->dim[j].n; k++)
            if (m->dim[j].from[k] == m->rank - 1)
                return false;
    return true;
}

static bool is_run(const Move *m)
{
    const MoveDim *d = &m->dim[m->from_rank - 1];
    int last = m->rank - 1;
    if (!last_decides_last(m))
        return false;
    for (int k = 0; k < d->n; k++)
        if (d->from[k] == last)
            return d->mul[k] == 1 && d->div == 1 && (d->n == 1 || d->wrap == MOVE_INSIDE);
    return false;
}

/* Cuts the last dimension where the source jumps. False: too often. */
static uint32_t cut_pieces(const Move *m, Piece *pieces)
{
    const MoveDim *d = &m->dim[m->from_rank - 1];
    int64_t n = m->size[m->rank - 1], at = 0;
    uint32_t len = 0;
    if (d->n == 2 || d->wrap == MOVE_INSIDE) {
        pieces[0] = (Piece){0, n, d->add, false};
        return 1;
    }
    for (; at < n && len < MOST_PIECES; len++) {
        int64_t raw = at + d->add, stop = n;
        Piece p = {.start = at};
        if (d->wrap == MOVE_AROUND) {
            int64_t place = ((raw % d->size) + d->size) % d->size;
            p.shift = place - at;
            stop = at + d->size - place;
        } else if (d->wrap == MOVE_FILL) {
            p.blank = raw < 0 || raw >= d->size;
            p.shift = d->add;
            stop = raw < 0 ? at - raw : raw < d->size ? at + d->size - raw : n;
        } else {
            return 0;
        }
        p.stop = stop < n ? stop : n;
        pieces[len] = p;
        at = p.stop;
    }
    return at == n ? len : 0;
}

/* "t.start + 3:t.stop + 3" */
static const char *range_text(MoveText *w, int64_t by)
{
    if (by == 0)
        return "t";
    char sign = by < 0 ? '-' : '+';
    long long size = (long long)(by < 0 ? -by : by);
    return str_format(w->arena, "t.start %c %lld:t.stop %c %lld", sign, size, sign, size);
}

static void put_piece(MoveText *w, const Piece *p)
{
    const Move *m = w->m;
    const MoveDim *last = &m->dim[m->from_rank - 1];
    const char *to = str_format(w->arena, "y[%s%s]", move_result_before_last(w),
                                range_text(w, p->start));
    const char *inside = move_inside(w, false), *from = range_text(w, p->start + p->shift);
    int depth = 2;
    move_loop(w, 1u << (m->rank - 1), "t",
              str_format(w->arena, "tiles(%lld, %lld)", (long long)(p->stop - p->start),
                         (long long)w->tile));
    if (last->n == 2) {
        MoveDim other = *last;
        int k = other.from[0] == m->rank - 1;
        other.from[0] = last->from[k];
        other.mul[0] = last->mul[k];
        other.n = 1;
        const char *base = move_sum(w, &other);
        from = str_format(w->arena, "%s + t.start:%s + t.stop", base, base);
    }
    if (inside && !p->blank) {
        move_put(w, depth++, "if %s:", inside);
    }
    if (!p->blank) {
        move_put(w, depth, "with copyin():");
        move_put(w, depth + 1, "load(a[:t.size], x[%s%s])", move_before_last(w), from);
        move_put(w, depth, "with copyout():");
        move_put(w, depth + 1, "store(%s, a[:t.size])", to);
    }
    if (inside && !p->blank)
        move_put(w, depth - 1, "else:");
    if (inside || p->blank) {
        move_put(w, depth, "with copyout():");
        move_put(w, depth + 1, "store(%s, blank[:t.size])", to);
    }
}

static bool write_rows(MoveText *w, const NpuChip *chip)
{
    Piece pieces[MOST_PIECES];
    uint32_t n = is_run(w->m) ? cut_pieces(w->m, pieces) : 0;
    bool blank = false;
    if (!n)
        return false;
    move_open(w, "# Rows keep their order: they are copied through UB, piece by piece.\n", chip);
    for (uint32_t i = 0; i < n; i++)
        blank = blank || pieces[i].blank;
    move_put(w, 1, "a = ub(%s, %lld, depth=2)", w->type, (long long)w->tile);
    if (blank || move_inside(w, false))
        move_fill_buffer(w);
    for (uint32_t i = 0; i < n; i++)
        put_piece(w, &pieces[i]);
    return true;
}

/* ---- rows gathered ---- */

/* Positions in the piece of the source row that is loaded, by vector arithmetic. */
static void put_positions(MoveText *w, const MoveDim *d)
{
    long long step = (long long)(d->mul[0] < 0 ? -d->mul[0] : d->mul[0]);
    if (d->div > 1) {
        move_put(w, 2, "base = (t.start + %lld) // %lld", (long long)d->add, (long long)d->div);
        move_put(w, 2, "room = (t.stop - 1 + %lld) // %lld - base + 1", (long long)d->add,
                 (long long)d->div);
    } else if (d->mul[0] < 0) {
        move_put(w, 2, "base = %lld - (t.stop - 1) * %lld", (long long)d->add, step);
        move_put(w, 2, "room = (t.size - 1) * %lld + 1", step);
    } else {
        move_put(w, 2, "base = t.start * %lld + %lld", step, (long long)d->add);
        move_put(w, 2, "room = (t.size - 1) * %lld + 1", step);
    }
}

static void put_places(MoveText *w, const MoveDim *d)
{
    long long step = (long long)(d->mul[0] < 0 ? -d->mul[0] : d->mul[0]);
    if (d->div > 1) {
        move_put(w, 3, "near[:t.size] = iota(f32(t.start + %lld - base * %lld), 1.0, f32)",
                 (long long)d->add, (long long)d->div);
        move_put(w, 3, "place[:t.size] = cast((near[:t.size] + 0.5) / %lld.0, i32, \"floor\")",
                 (long long)d->div);
    } else if (d->mul[0] < 0) {
        move_put(w, 3, "place[:t.size] = iota((t.size - 1) * %lld, -%lld)", step, step);
    } else {
        move_put(w, 3, "place[:t.size] = iota(0, %lld)", step);
    }
}

/* f16 holds what one byte holds; elements of eight bytes are pairs. */
static const char *gathered_as(DType d) { return dtype_bytes(d) == 1 ? "f16" : dtype_name(d); }

static void put_gather(MoveText *w, const char *room)
{
    DType d = w->m->dtype;
    const char *row = "row";
    if (dtype_bytes(d) == 1) {
        move_put(w, 3, "wide[:%s] = cast(row[:%s], f16)", room, room);
        row = "wide";
    }
    move_put(w, 3, "found[:t.size] = gather(%s[:%s], place[:t.size])", row, room);
    if (d == DT_BOOL)
        move_put(w, 3, "o[:t.size] = cast(found[:t.size] != 0.0, bool)");
    else if (dtype_bytes(d) == 1)
        move_put(w, 3, "o[:t.size] = cast(found[:t.size], %s)", w->type);
}

static bool gathers(const Move *m, bool *table)
{
    const MoveDim *d = &m->dim[m->from_rank - 1];
    int last = m->rank - 1;
    if (!last_decides_last(m))
        return false;
    *table = d->wrap != MOVE_INSIDE;
    if (d->n != 1 || d->from[0] != last || dtype_bytes(m->dtype) == 8 || d->wrap == MOVE_FILL)
        return false;
    int64_t step = d->mul[0] < 0 ? -d->mul[0] : d->mul[0];
    return *table ? d->size <= MOST_ROW : step * BLOCK <= MOST_ROW;
}

static void put_gather_buffers(MoveText *w, const MoveDim *d, long long room, long long chunk)
{
    bool byte = dtype_bytes(w->m->dtype) == 1;
    move_put(w, 1, "row = ub(%s, %lld, depth=2)", w->type, room);
    if (byte)
        move_put(w, 1, "wide = ub(f16, %lld)", room);
    move_put(w, 1, "place = ub(i32, %lld)", chunk);
    if (d->div > 1)
        move_put(w, 1, "near = ub(f32, %lld)", chunk);
    move_put(w, 1, "found = ub(%s, %lld%s)", gathered_as(w->m->dtype), chunk,
             byte ? "" : ", depth=2");
    if (byte)
        move_put(w, 1, "o = ub(%s, %lld, depth=2)", w->type, chunk);
}

/* Where each element of the result's row stands in the source's row, worked out one by one. */
static void put_table(MoveText *w, const MoveDim *d, int depth, const char *count, const char *at)
{
    int last = w->m->rank - 1;
    const char *index = w->index[last];
    w->index[last] = at;
    move_put(w, depth, "for k in range(%s):", count);
    move_put(w, depth + 1, "place[k] = %s", move_place(w, d));
    w->index[last] = index;
}

/* The part of the row, and where in it the elements stand. */
static void put_gathered_row(MoveText *w, const MoveDim *d, bool table, bool known)
{
    const char *held = str_format(w->arena, "%lld", (long long)d->size);
    if (!table)
        put_positions(w, d);
    move_put(w, 2, "with copyin():");
    if (table)
        move_put(w, 3, "load(row[:%s], x[%s:])", held, move_before_last(w));
    else
        move_put(w, 3, "load(row[:room], x[%sbase:base + room])", move_before_last(w));
    move_put(w, 2, "with compute():");
    if (!table)
        put_places(w, d);
    else if (!known)
        put_table(w, d, 3, "t.size", "(t.start + k)");
    put_gather(w, table ? held : "room");
}

static void put_gathered_store(MoveText *w, const char *inside)
{
    const char *from = dtype_bytes(w->m->dtype) == 1 ? "o" : "found";
    const char *to = str_format(w->arena, "y[%st]", move_result_before_last(w));
    int depth = inside ? 3 : 2;
    if (inside)
        move_put(w, 2, "if %s:", inside);
    move_put(w, depth, "with copyout():");
    move_put(w, depth + 1, "store(%s, %s[:t.size])", to, from);
    if (!inside)
        return;
    move_put(w, 2, "else:");
    move_put(w, 3, "with copyout():");
    move_put(w, 4, "store(%s, blank[:t.size])", to);
}

static bool write_gathered(MoveText *w, const NpuChip *chip)
{
    const Move *m = w->m;
    const MoveDim *d = &m->dim[m->from_rank - 1];
    bool table = false;
    if (!gathers(m, &table))
        return false;
    if (move_block(w, chip))
        return true;
    int64_t step = d->mul[0] < 0 ? -d->mul[0] : d->mul[0], chunk = CHUNK;
    while (!table && chunk * step > MOST_ROW)
        chunk /= 2;
    w->tile = chunk < w->tile ? chunk : w->tile;
    move_open(w,
              "# A part of the source row is read whole and its elements gathered on chip, so "
              "that memory sees\n# long copies only.\n",
              chip);
    int64_t room = table ? d->size : d->div > 1 ? w->tile + 1 : w->tile * step;
    put_gather_buffers(w, d, (long long)room, (long long)w->tile);
    const char *inside = move_inside(w, false);
    if (inside)
        move_fill_buffer(w);
    long long width = (long long)m->size[m->rank - 1];
    bool known = table && width <= w->tile; /* the same for all rows */
    if (known) {
        move_put(w, 1, "with compute():");
        put_table(w, d, 2, str_format(w->arena, "%lld", width), "k");
    }
    move_loop(w, 1u << (m->rank - 1), "t",
              str_format(w->arena, "tiles(%lld, %lld)", width, (long long)w->tile));
    put_gathered_row(w, d, table, known);
    put_gathered_store(w, inside);
    return true;
}

/* ---- blocks transposed ---- */

static bool is_straight(const MoveDim *d)
{
    return d->n == 1 && d->mul[0] == 1 && d->div == 1 && d->wrap == MOVE_INSIDE;
}

/* The source dimension that the last index of the result runs along; -1: none, or not alone. */
static int crossed(const Move *m)
{
    int found = -1, last = m->rank - 1;
    for (int j = 0; j < m->from_rank; j++)
        for (int k = 0; k < m->dim[j].n; k++)
            if (m->dim[j].from[k] == last) {
                if (found >= 0 || !is_straight(&m->dim[j]))
                    return -1;
                found = j;
            }
    return found == m->from_rank - 1 ? -1 : found;
}

static const char *shifted(MoveText *w, const char *range, int64_t by)
{
    if (by == 0)
        return range;
    return str_format(w->arena, "%s.start + %lld:%s.stop + %lld", range, (long long)by, range,
                      (long long)by);
}

static bool write_transposed(MoveText *w, const NpuChip *chip)
{
    const Move *m = w->m;
    int row = crossed(m), column = m->from_rank - 1;
    if (row < 0 || !is_straight(&m->dim[column]) || dtype_bytes(m->dtype) == 8 ||
        move_inside(w, true))
        return false;
    int across = m->dim[column].from[0];
    for (int j = 0; j < column; j++)
        for (int k = 0; k < m->dim[j].n; k++)
            if (m->dim[j].from[k] == across)
                return false;
    long long block = w->tile < BLOCK ? w->tile : BLOCK;
    if (w->free)
        move_near(w, row, across);
    move_open(w,
              "# The last dimension of the result is another one of the source: blocks of 64 by "
              "64 are read in rows,\n# transposed on chip and written in rows.\n",
              chip);
    bool byte = dtype_bytes(m->dtype) == 1;
    move_put(w, 1, "a = ub(%s, %lld, %lld, depth=2)", w->type, block, block);
    if (byte) {
        move_put(w, 1, "wide = ub(f16, %lld, %lld)", block, block);
        move_put(w, 1, "turned = ub(f16, %lld, %lld)", block, block);
    }
    move_put(w, 1, "b = ub(%s, %lld, %lld, depth=2)", w->type, block, block);
    move_loop(w, 1u << across | 1u << (m->rank - 1), "p, t",
              str_format(w->arena, "tiles(%s, %lld), tiles(%s, %lld)", move_size(w, across), block,
                         move_size(w, m->rank - 1), block));
    Buf from = {0}, to = {0};
    for (int j = 0; j < m->from_rank; j++)
        buf_printf(&from, "%s%s", j ? ", " : "",
                   j == row      ? shifted(w, "t", m->dim[j].add)
                   : j == column ? shifted(w, "p", m->dim[j].add)
                                 : move_place(w, &m->dim[j]));
    for (int i = 0; i < m->rank; i++)
        buf_printf(&to, "%s%s", i ? ", " : "",
                   i == across        ? "p"
                   : i == m->rank - 1 ? "t"
                                      : w->index[i]);
    move_put(w, 2, "with copyin():");
    move_put(w, 3, "load(a[:t.size, :p.size], x[%s])", from.at);
    move_put(w, 2, "with compute():");
    if (byte) {
        move_put(w, 3, "wide[:t.size, :p.size] = cast(a[:t.size, :p.size], f16)");
        move_put(w, 3, "turned[:p.size, :t.size] = transpose(wide[:t.size, :p.size])");
        move_put(w, 3,
                 m->dtype == DT_BOOL
                     ? "b[:p.size, :t.size] = cast(turned[:p.size, :t.size] != 0.0, %s)"
                     : "b[:p.size, :t.size] = cast(turned[:p.size, :t.size], %s)",
                 w->type);
    } else {
        move_put(w, 3, "b[:p.size, :t.size] = transpose(a[:t.size, :p.size])");
    }
    move_put(w, 2, "with copyout():");
    move_put(w, 3, "store(y[%s], b[:p.size, :t.size])", to.at);
    buf_free(&from);
    buf_free(&to);
    return true;
}

/* ---- one by one ---- */

static bool write_elements(MoveText *w, const NpuChip *chip)
{
    const Move *m = w->m;
    long long tile = w->tile < CHUNK ? w->tile : CHUNK;
    move_open(w, "# Neighbours of the result lie apart in the source: they are read one by one.\n",
              chip);
    move_put(w, 1, "a = ub(%s, %lld, depth=2)", w->type, tile);
    const char *inside;
    move_loop(w, 1u << (m->rank - 1), "t",
              str_format(w->arena, "tiles(%lld, %lld)", (long long)m->size[m->rank - 1], tile));
    w->index[m->rank - 1] = "(t.start + k)";
    inside = move_inside(w, true);
    const char *from = str_format(w->arena, "x[%s%s]", move_before_last(w),
                                  move_place(w, &m->dim[m->from_rank - 1]));
    move_put(w, 2, "for k in range(t.size):");
    move_put(w, 3, "v = %s", from);
    move_put(w, 3, "with compute():");
    const char *blank = str_format(w->arena, dtype_is_float(m->dtype) ? "%#.9g" : "%.0f", m->fill);
    if (inside)
        move_put(w, 4, "a[k] = v if %s else %s", inside, blank);
    else
        move_put(w, 4, "a[k] = v");
    move_put(w, 2, "with copyout():");
    move_put(w, 3, "store(y[%st], a[:t.size])", move_result_before_last(w));
    return true;
}

static Shape source_shape(const Move *m)
{
    Shape s = {.rank = m->from_rank};
    for (int j = 0; j < m->from_rank; j++)
        s.dim[j] = m->dim[j].size;
    return s;
}

static Shape result_shape(const Move *m)
{
    Shape s = {.rank = m->rank};
    for (int i = 0; i < m->rank; i++)
        s.dim[i] = m->size[i];
    return s;
}

/* Every dimension of the source is one of the result, two of them change places: the kernel that
 * transposes takes any sizes. */
static bool only_turns(const Move *m)
{
    bool straight = m->rank == m->from_rank && crossed(m) >= 0 && dtype_bytes(m->dtype) != 8;
    for (int j = 0; j < m->from_rank && straight; j++)
        straight = is_straight(&m->dim[j]) && m->dim[j].add == 0 &&
                   m->dim[j].size == m->size[m->dim[j].from[0]];
    return straight;
}

bool plan_move(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
               const char *name, Plan *plan, Diag *diag)
{
    Move m;
    (void)diag;
    if (!move_read(graph, &m) || m.rank > 6)
        return false;
    int64_t tile = 4096;
    while (tile_limit && tile > LEAST && tile > tile_limit)
        tile /= 2;
    MoveText w = {.arena = arena,
                  .free = only_turns(&m),
                  .m = &m,
                  .name = name,
                  .type = dtype_name(m.dtype),
                  .tile = tile};
    for (int i = 0; i < m.rank; i++)
        w.index[i] = "";
    if (!write_rows(&w, chip) && !move_lanes(&w, chip) && !write_transposed(&w, chip) &&
        !write_gathered(&w, chip) && !write_elements(&w, chip))
        return false;
    *plan = (Plan){.strategy = "move", .name = name, .tile = tile};
    plan->craft = str_from(move_taken(&w, &w.out));
    PlanOperand x = {.value = m.x, .name = "x", .dtype = m.dtype, .shape = source_shape(w.m)};
    PlanOperand y = {.value = m.y, .output = true, .name = "y", .dtype = m.dtype};
    y.shape = result_shape(w.m);
    vec_push(arena, &plan->operands, x);
    vec_push(arena, &plan->operands, y);
    return true;
}
