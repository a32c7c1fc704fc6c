/* Writing moves. In: a move. Out: a Craft program; see move.h for the four forms. */
#include "gen/plan/move.h"

#include "gen/plan/fit.h"

enum { BLOCK = 64, CHUNK = 1024, MOST_ROW = MOVE_STEP * BLOCK, MOST_PIECES = 16, LEAST = 64 };

typedef struct Writing {
    Arena *arena;
    const Move *m;
    const char *name;
    const char *index[GRAPH_MAX_RANK]; /* of the result */
    const char *type;
    int64_t tile;
    bool free; /* sizes may vary: dimensions only change places */
    Buf host;  /* lines of the host before the launch */
    Buf out;
} Writing;

static void put(Writing *w, int depth, const char *format, ...) ATTR_PRINTF(3, 4);
static void put(Writing *w, int depth, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    buf_fill(&w->out, ' ', (size_t)depth * 4);
    buf_vprintf(&w->out, format, args);
    buf_char(&w->out, '\n');
    va_end(args);
}

static const char *taken(Writing *w, Buf *text)
{
    const char *s = buf_take(text, w->arena);
    buf_free(text);
    return s;
}

/* ---- where the source is ---- */

/* "i0 * 2 + i3 - 1" */
static const char *sum_text(Writing *w, const MoveDim *d)
{
    Buf out = {0};
    for (int i = 0; i < d->n; i++) {
        long long mul = (long long)d->mul[i];
        if (mul < 0)
            buf_puts(&out, out.len ? " - " : "-");
        else
            buf_puts(&out, out.len ? " + " : "");
        buf_puts(&out, w->index[d->from[i]]);
        if (mul != 1 && mul != -1)
            buf_printf(&out, " * %lld", mul < 0 ? -mul : mul);
    }
    if (!out.len)
        buf_printf(&out, "%lld", (long long)d->add);
    else if (d->add)
        buf_printf(&out, d->add < 0 ? " - %lld" : " + %lld",
                   (long long)(d->add < 0 ? -d->add : d->add));
    const char *text = taken(w, &out);
    return d->div > 1 ? str_format(w->arena, "(%s) // %lld", text, (long long)d->div) : text;
}

static const char *place_text(Writing *w, const MoveDim *d)
{
    const char *sum = sum_text(w, d);
    long long n = (long long)d->size;
    switch (d->wrap) {
    case MOVE_AROUND: return str_format(w->arena, "(%s) %% %lld", sum, n);
    case MOVE_CLAMP: return str_format(w->arena, "min(max(%s, 0), %lld)", sum, n - 1);
    case MOVE_REFLECT:
        return str_format(w->arena, "min(abs(%s), %lld - abs(%s))", sum, 2 * (n - 1), sum);
    case MOVE_FILL: return str_format(w->arena, "min(max(%s, 0), %lld)", sum, n - 1);
    case MOVE_INSIDE: break;
    }
    return sum;
}

/* "i0 - 1 >= 0 and i0 - 1 < 8": where the source has the element, along dims that can lack it. */
static const char *inside_text(Writing *w, bool also_last)
{
    const Move *m = w->m;
    Buf out = {0};
    for (int j = 0; j < m->from_rank - !also_last; j++) {
        const char *sum = sum_text(w, &m->dim[j]);
        if (m->dim[j].wrap == MOVE_FILL)
            buf_printf(&out, "%s%s >= 0 and %s < %lld", out.len ? " and " : "", sum, sum,
                       (long long)m->dim[j].size);
    }
    return out.len ? taken(w, &out) : NULL;
}

/* The indices of the source but for the last, each followed by a comma. */
static const char *before_last(Writing *w)
{
    Buf out = {0};
    for (int j = 0; j + 1 < w->m->from_rank; j++)
        buf_printf(&out, "%s, ", place_text(w, &w->m->dim[j]));
    return out.len ? taken(w, &out) : "";
}

static const char *result_before_last(Writing *w)
{
    Buf out = {0};
    for (int i = 0; i + 1 < w->m->rank; i++)
        buf_printf(&out, "%s, ", w->index[i]);
    return out.len ? taken(w, &out) : "";
}

/* ---- frame ---- */

/* The size of a dimension of the result. */
static const char *size_text(Writing *w, int index)
{
    return w->free ? str_format(w->arena, "e%d", index)
                   : str_format(w->arena, "%lld", (long long)w->m->size[index]);
}

static void put_shapes(Writing *w)
{
    const Move *m = w->m;
    buf_printf(&w->out, "x: gm[%s", w->type);
    for (int j = 0; j < m->from_rank; j++) {
        if (w->free)
            buf_printf(&w->out, ", %s", size_text(w, m->dim[j].from[0]));
        else
            buf_printf(&w->out, ", %lld", (long long)m->dim[j].size);
    }
    buf_printf(&w->out, "], y: out[%s", w->type);
    for (int i = 0; i < m->rank; i++)
        buf_printf(&w->out, ", %s", size_text(w, i));
    buf_puts(&w->out, "]");
}

/* DataCopyPad takes the gap between two rows in 32 bits: rows of the source and of the result, which
 * stand one behind the other along `row` and `across`, are less than 4 GiB apart. */
static void put_near(Writing *w, int row, int across)
{
    const Move *m = w->m;
    long long most = UINT32_MAX / (long long)dtype_bytes(m->dtype);
    for (int j = row + 1; j < m->from_rank; j++)
        buf_printf(&w->host, "%s%s", j == row + 1 ? "    assert " : " * ",
                   size_text(w, m->dim[j].from[0]));
    buf_printf(&w->host, " <= %lld, \"rows of the source lie too far apart\"\n", most);
    for (int i = across + 1; i < m->rank; i++)
        buf_printf(&w->host, "%s%s", i == across + 1 ? "    assert " : " * ", size_text(w, i));
    buf_printf(&w->host, " <= %lld, \"rows of the result lie too far apart\"\n", most);
}

static void open_kernel(Writing *w, const char *reason, const NpuChip *chip)
{
    buf_printf(&w->out, "# Planned by acraft for %s, strategy move.\n%s", chip->name, reason);
    buf_printf(&w->out, "# Nothing is computed%s.\ncraft = 1\n\n",
               w->free ? ""
                       : "; where elements come from is worked out for the sizes of this task");
    for (int i = 0; i < w->m->rank && w->free; i++)
        buf_printf(&w->out, "%s = dim(1, %lld)\n", size_text(w, i), (long long)PLAN_DIM_MOST);
    buf_puts(&w->out, w->free ? "\n@host\n" : "@host\n");
    buf_printf(&w->out, "def %s(", w->name);
    put_shapes(w);
    buf_puts(&w->out, "):\n");
    buf_str(&w->out, buf_view(&w->host));
    buf_free(&w->host);
    buf_printf(&w->out, "    %s_move[chip.cores](x, y)\n\n@kernel\ndef %s_move(", w->name, w->name);
    put_shapes(w);
    buf_puts(&w->out, "):\n");
    for (int i = 0; i < w->m->rank; i++)
        w->index[i] = str_format(w->arena, "i%d", i);
}

/* for i0, i1, t in mine(4, 8, tiles(100, 64)): without the dims in `but`, as bits */
static void put_loop(Writing *w, uint32_t but, const char *variables, const char *axes)
{
    Buf names = {0}, sizes = {0};
    for (int i = 0; i < w->m->rank; i++) {
        if (but >> i & 1)
            continue;
        buf_printf(&names, "%s, ", w->index[i]);
        buf_printf(&sizes, "%s, ", size_text(w, i));
    }
    put(w, 1, "for %s%s in mine(%s%s):", names.len ? names.at : "", variables,
        sizes.len ? sizes.at : "", axes);
    buf_free(&names);
    buf_free(&sizes);
}

static void put_fill_buffer(Writing *w)
{
    DType d = w->m->dtype;
    const char *value = str_format(w->arena, "%#.9g", w->m->fill);
    put(w, 1, "blank = ub(%s, %lld)", w->type, (long long)w->tile);
    if (d != DT_F32)
        put(w, 1, "number = ub(f32, %lld)", (long long)w->tile);
    put(w, 1, "with compute():");
    put(w, 2, "%s = %s", d == DT_F32 ? "blank" : "number", value);
    if (d == DT_BOOL)
        put(w, 2, "blank = cast(number != 0.0, bool)");
    else if (d != DT_F32)
        put(w, 2, "blank = cast(number, %s)", w->type);
}

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
static const char *range_text(Writing *w, int64_t by)
{
    if (by == 0)
        return "t";
    char sign = by < 0 ? '-' : '+';
    long long size = (long long)(by < 0 ? -by : by);
    return str_format(w->arena, "t.start %c %lld:t.stop %c %lld", sign, size, sign, size);
}

static void put_piece(Writing *w, const Piece *p)
{
    const Move *m = w->m;
    const MoveDim *last = &m->dim[m->from_rank - 1];
    const char *to = str_format(w->arena, "y[%s%s]", result_before_last(w),
                                range_text(w, p->start));
    const char *inside = inside_text(w, false), *from = range_text(w, p->start + p->shift);
    int depth = 2;
    put_loop(w, 1u << (m->rank - 1), "t",
             str_format(w->arena, "tiles(%lld, %lld)", (long long)(p->stop - p->start),
                        (long long)w->tile));
    if (last->n == 2) {
        MoveDim other = *last;
        int k = other.from[0] == m->rank - 1;
        other.from[0] = last->from[k];
        other.mul[0] = last->mul[k];
        other.n = 1;
        const char *base = sum_text(w, &other);
        from = str_format(w->arena, "%s + t.start:%s + t.stop", base, base);
    }
    if (inside && !p->blank) {
        put(w, depth++, "if %s:", inside);
    }
    if (!p->blank) {
        put(w, depth, "with copyin():");
        put(w, depth + 1, "load(a[:t.size], x[%s%s])", before_last(w), from);
        put(w, depth, "with copyout():");
        put(w, depth + 1, "store(%s, a[:t.size])", to);
    }
    if (inside && !p->blank)
        put(w, depth - 1, "else:");
    if (inside || p->blank) {
        put(w, depth, "with copyout():");
        put(w, depth + 1, "store(%s, blank[:t.size])", to);
    }
}

static bool write_rows(Writing *w, const NpuChip *chip)
{
    Piece pieces[MOST_PIECES];
    uint32_t n = is_run(w->m) ? cut_pieces(w->m, pieces) : 0;
    bool blank = false;
    if (!n)
        return false;
    open_kernel(w, "# Rows keep their order: they are copied through UB, piece by piece.\n", chip);
    for (uint32_t i = 0; i < n; i++)
        blank = blank || pieces[i].blank;
    put(w, 1, "a = ub(%s, %lld, depth=2)", w->type, (long long)w->tile);
    if (blank || inside_text(w, false))
        put_fill_buffer(w);
    for (uint32_t i = 0; i < n; i++)
        put_piece(w, &pieces[i]);
    return true;
}

/* ---- rows gathered ---- */

/* Positions in the piece of the source row that is loaded, by vector arithmetic. */
static void put_positions(Writing *w, const MoveDim *d)
{
    long long step = (long long)(d->mul[0] < 0 ? -d->mul[0] : d->mul[0]);
    if (d->div > 1) {
        put(w, 2, "base = (t.start + %lld) // %lld", (long long)d->add, (long long)d->div);
        put(w, 2, "room = (t.stop - 1 + %lld) // %lld - base + 1", (long long)d->add,
            (long long)d->div);
    } else if (d->mul[0] < 0) {
        put(w, 2, "base = %lld - (t.stop - 1) * %lld", (long long)d->add, step);
        put(w, 2, "room = (t.size - 1) * %lld + 1", step);
    } else {
        put(w, 2, "base = t.start * %lld + %lld", step, (long long)d->add);
        put(w, 2, "room = (t.size - 1) * %lld + 1", step);
    }
}

static void put_places(Writing *w, const MoveDim *d)
{
    long long step = (long long)(d->mul[0] < 0 ? -d->mul[0] : d->mul[0]);
    if (d->div > 1) {
        put(w, 3, "near[:t.size] = iota(f32(t.start + %lld - base * %lld), 1.0, f32)",
            (long long)d->add, (long long)d->div);
        put(w, 3, "place[:t.size] = cast((near[:t.size] + 0.5) / %lld.0, i32, \"floor\")",
            (long long)d->div);
    } else if (d->mul[0] < 0) {
        put(w, 3, "place[:t.size] = iota((t.size - 1) * %lld, -%lld)", step, step);
    } else {
        put(w, 3, "place[:t.size] = iota(0, %lld)", step);
    }
}

/* f16 holds what one byte holds; elements of eight bytes are pairs. */
static const char *gathered_as(DType d) { return dtype_bytes(d) == 1 ? "f16" : dtype_name(d); }

static void put_gather(Writing *w, const char *room)
{
    DType d = w->m->dtype;
    const char *row = "row";
    if (dtype_bytes(d) == 1) {
        put(w, 3, "wide[:%s] = cast(row[:%s], f16)", room, room);
        row = "wide";
    }
    put(w, 3, "found[:t.size] = gather(%s[:%s], place[:t.size])", row, room);
    if (d == DT_BOOL)
        put(w, 3, "o[:t.size] = cast(found[:t.size] != 0.0, bool)");
    else if (dtype_bytes(d) == 1)
        put(w, 3, "o[:t.size] = cast(found[:t.size], %s)", w->type);
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

static void put_gather_buffers(Writing *w, const MoveDim *d, long long room, long long chunk)
{
    bool byte = dtype_bytes(w->m->dtype) == 1;
    put(w, 1, "row = ub(%s, %lld, depth=2)", w->type, room);
    if (byte)
        put(w, 1, "wide = ub(f16, %lld)", room);
    put(w, 1, "place = ub(i32, %lld)", chunk);
    if (d->div > 1)
        put(w, 1, "near = ub(f32, %lld)", chunk);
    put(w, 1, "found = ub(%s, %lld%s)", gathered_as(w->m->dtype), chunk, byte ? "" : ", depth=2");
    if (byte)
        put(w, 1, "o = ub(%s, %lld, depth=2)", w->type, chunk);
}

/* The part of the row, and where in it the elements stand: worked out one by one, or by vectors. */
static void put_gathered_row(Writing *w, const MoveDim *d, bool table)
{
    int last = w->m->rank - 1;
    const char *held = str_format(w->arena, "%lld", (long long)d->size), *index = w->index[last];
    if (!table)
        put_positions(w, d);
    put(w, 2, "with copyin():");
    if (table)
        put(w, 3, "load(row[:%s], x[%s:])", held, before_last(w));
    else
        put(w, 3, "load(row[:room], x[%sbase:base + room])", before_last(w));
    put(w, 2, "with compute():");
    if (table) {
        w->index[last] = "(t.start + k)";
        put(w, 3, "for k in range(t.size):");
        put(w, 4, "place[k] = %s", place_text(w, d));
        w->index[last] = index;
    } else {
        put_places(w, d);
    }
    put_gather(w, table ? held : "room");
}

static void put_gathered_store(Writing *w, const char *inside)
{
    const char *from = dtype_bytes(w->m->dtype) == 1 ? "o" : "found";
    const char *to = str_format(w->arena, "y[%st]", result_before_last(w));
    int depth = inside ? 3 : 2;
    if (inside)
        put(w, 2, "if %s:", inside);
    put(w, depth, "with copyout():");
    put(w, depth + 1, "store(%s, %s[:t.size])", to, from);
    if (!inside)
        return;
    put(w, 2, "else:");
    put(w, 3, "with copyout():");
    put(w, 4, "store(%s, blank[:t.size])", to);
}

static bool write_gathered(Writing *w, const NpuChip *chip)
{
    const Move *m = w->m;
    const MoveDim *d = &m->dim[m->from_rank - 1];
    bool table = false;
    if (!gathers(m, &table))
        return false;
    int64_t step = d->mul[0] < 0 ? -d->mul[0] : d->mul[0], chunk = CHUNK;
    while (!table && chunk * step > MOST_ROW)
        chunk /= 2;
    w->tile = chunk < w->tile ? chunk : w->tile;
    open_kernel(w,
                "# A part of the source row is read whole and its elements gathered on chip, so "
                "that memory sees\n# long copies only.\n",
                chip);
    int64_t room = table ? d->size : d->div > 1 ? w->tile + 1 : w->tile * step;
    put_gather_buffers(w, d, (long long)room, (long long)w->tile);
    const char *inside = inside_text(w, false);
    if (inside)
        put_fill_buffer(w);
    put_loop(w, 1u << (m->rank - 1), "t",
             str_format(w->arena, "tiles(%lld, %lld)", (long long)m->size[m->rank - 1],
                        (long long)w->tile));
    put_gathered_row(w, d, table);
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

static const char *shifted(Writing *w, const char *range, int64_t by)
{
    if (by == 0)
        return range;
    return str_format(w->arena, "%s.start + %lld:%s.stop + %lld", range, (long long)by, range,
                      (long long)by);
}

static bool write_transposed(Writing *w, const NpuChip *chip)
{
    const Move *m = w->m;
    int row = crossed(m), column = m->from_rank - 1;
    if (row < 0 || !is_straight(&m->dim[column]) || dtype_bytes(m->dtype) == 8 ||
        inside_text(w, true))
        return false;
    int across = m->dim[column].from[0];
    for (int j = 0; j < column; j++)
        for (int k = 0; k < m->dim[j].n; k++)
            if (m->dim[j].from[k] == across)
                return false;
    long long block = w->tile < BLOCK ? w->tile : BLOCK;
    if (w->free)
        put_near(w, row, across);
    open_kernel(w,
                "# The last dimension of the result is another one of the source: blocks of 64 by "
                "64 are read in rows,\n# transposed on chip and written in rows.\n",
                chip);
    bool byte = dtype_bytes(m->dtype) == 1;
    put(w, 1, "a = ub(%s, %lld, %lld, depth=2)", w->type, block, block);
    if (byte) {
        put(w, 1, "wide = ub(f16, %lld, %lld)", block, block);
        put(w, 1, "turned = ub(f16, %lld, %lld)", block, block);
    }
    put(w, 1, "b = ub(%s, %lld, %lld, depth=2)", w->type, block, block);
    put_loop(w, 1u << across | 1u << (m->rank - 1), "p, t",
             str_format(w->arena, "tiles(%s, %lld), tiles(%s, %lld)", size_text(w, across), block,
                        size_text(w, m->rank - 1), block));
    Buf from = {0}, to = {0};
    for (int j = 0; j < m->from_rank; j++)
        buf_printf(&from, "%s%s", j ? ", " : "",
                   j == row      ? shifted(w, "t", m->dim[j].add)
                   : j == column ? shifted(w, "p", m->dim[j].add)
                                 : place_text(w, &m->dim[j]));
    for (int i = 0; i < m->rank; i++)
        buf_printf(&to, "%s%s", i ? ", " : "",
                   i == across        ? "p"
                   : i == m->rank - 1 ? "t"
                                      : w->index[i]);
    put(w, 2, "with copyin():");
    put(w, 3, "load(a[:t.size, :p.size], x[%s])", from.at);
    put(w, 2, "with compute():");
    if (byte) {
        put(w, 3, "wide[:t.size, :p.size] = cast(a[:t.size, :p.size], f16)");
        put(w, 3, "turned[:p.size, :t.size] = transpose(wide[:t.size, :p.size])");
        put(w, 3,
            m->dtype == DT_BOOL ? "b[:p.size, :t.size] = cast(turned[:p.size, :t.size] != 0.0, %s)"
                                : "b[:p.size, :t.size] = cast(turned[:p.size, :t.size], %s)",
            w->type);
    } else {
        put(w, 3, "b[:p.size, :t.size] = transpose(a[:t.size, :p.size])");
    }
    put(w, 2, "with copyout():");
    put(w, 3, "store(y[%s], b[:p.size, :t.size])", to.at);
    buf_free(&from);
    buf_free(&to);
    return true;
}

/* ---- one by one ---- */

static bool write_elements(Writing *w, const NpuChip *chip)
{
    const Move *m = w->m;
    long long tile = w->tile < CHUNK ? w->tile : CHUNK;
    open_kernel(
        w, "# Neighbours of the result lie apart in the source: they are read one by one.\n", chip);
    put(w, 1, "a = ub(%s, %lld, depth=2)", w->type, tile);
    const char *inside;
    put_loop(w, 1u << (m->rank - 1), "t",
             str_format(w->arena, "tiles(%lld, %lld)", (long long)m->size[m->rank - 1], tile));
    w->index[m->rank - 1] = "(t.start + k)";
    inside = inside_text(w, true);
    const char *from = str_format(w->arena, "x[%s%s]", before_last(w),
                                  place_text(w, &m->dim[m->from_rank - 1]));
    put(w, 2, "for k in range(t.size):");
    put(w, 3, "v = %s", from);
    put(w, 3, "with compute():");
    const char *blank = str_format(w->arena, dtype_is_float(m->dtype) ? "%#.9g" : "%.0f", m->fill);
    if (inside)
        put(w, 4, "a[k] = v if %s else %s", inside, blank);
    else
        put(w, 4, "a[k] = v");
    put(w, 2, "with copyout():");
    put(w, 3, "store(y[%st], a[:t.size])", result_before_last(w));
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
    Writing w = {.arena = arena,
                 .free = only_turns(&m),
                 .m = &m,
                 .name = name,
                 .type = dtype_name(m.dtype),
                 .tile = tile};
    for (int i = 0; i < m.rank; i++)
        w.index[i] = "";
    if (!write_rows(&w, chip) && !write_transposed(&w, chip) && !write_gathered(&w, chip) &&
        !write_elements(&w, chip))
        return false;
    *plan = (Plan){.strategy = "move", .name = name, .tile = tile};
    plan->craft = str_from(taken(&w, &w.out));
    PlanOperand x = {m.x, false, "x", m.dtype, source_shape(&m)};
    PlanOperand y = {m.y, true, "y", m.dtype, result_shape(&m)};
    vec_push(arena, &plan->operands, x);
    vec_push(arena, &plan->operands, y);
    return true;
}
