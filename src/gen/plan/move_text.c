/* What all forms of a move are written with; see move_int.h. */
#include "gen/plan/move_int.h"

void move_put(MoveText *w, int depth, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    buf_fill(&w->out, ' ', (size_t)depth * 4);
    buf_vprintf(&w->out, format, args);
    buf_char(&w->out, '\n');
    va_end(args);
}

const char *move_taken(MoveText *w, Buf *text)
{
    const char *s = buf_take(text, w->arena);
    buf_free(text);
    return s;
}

/* ---- where the source is ---- */

/* "i0 * 2 + i3 - 1" */
const char *move_sum(MoveText *w, const MoveDim *d)
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
    const char *text = move_taken(w, &out);
    return d->div > 1 ? str_format(w->arena, "(%s) // %lld", text, (long long)d->div) : text;
}

const char *move_place(MoveText *w, const MoveDim *d)
{
    const char *sum = move_sum(w, d);
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
const char *move_inside(MoveText *w, bool also_last)
{
    const Move *m = w->m;
    Buf out = {0};
    for (int j = 0; j < m->from_rank - !also_last; j++) {
        const char *sum = move_sum(w, &m->dim[j]);
        if (m->dim[j].wrap == MOVE_FILL)
            buf_printf(&out, "%s%s >= 0 and %s < %lld", out.len ? " and " : "", sum, sum,
                       (long long)m->dim[j].size);
    }
    return out.len ? move_taken(w, &out) : NULL;
}

/* The indices of the source but for the last, each followed by a comma. */
const char *move_before_last(MoveText *w)
{
    Buf out = {0};
    for (int j = 0; j + 1 < w->m->from_rank; j++)
        buf_printf(&out, "%s, ", move_place(w, &w->m->dim[j]));
    return out.len ? move_taken(w, &out) : "";
}

const char *move_result_before_last(MoveText *w)
{
    Buf out = {0};
    for (int i = 0; i + 1 < w->m->rank; i++)
        buf_printf(&out, "%s, ", w->index[i]);
    return out.len ? move_taken(w, &out) : "";
}

/* ---- frame ---- */

/* The size of a dimension of the result. */
const char *move_size(MoveText *w, int index)
{
    return w->free ? str_format(w->arena, "e%d", index)
                   : str_format(w->arena, "%lld", (long long)w->m->size[index]);
}

static void put_shapes(MoveText *w)
{
    const Move *m = w->m;
    buf_printf(&w->out, "x: gm[%s", w->type);
    for (int j = 0; j < m->from_rank; j++) {
        if (w->free)
            buf_printf(&w->out, ", %s", move_size(w, m->dim[j].from[0]));
        else
            buf_printf(&w->out, ", %lld", (long long)m->dim[j].size);
    }
    buf_printf(&w->out, "], y: out[%s", w->type);
    for (int i = 0; i < m->rank; i++)
        buf_printf(&w->out, ", %s", move_size(w, i));
    buf_puts(&w->out, "]");
}

/* DataCopyPad takes the gap between two rows in 32 bits: rows of the source and of the result, which
 * stand one behind the other along `row` and `across`, are less than 4 GiB apart. */
void move_near(MoveText *w, int row, int across)
{
    const Move *m = w->m;
    long long most = UINT32_MAX / (long long)dtype_bytes(m->dtype);
    for (int j = row + 1; j < m->from_rank; j++)
        buf_printf(&w->host, "%s%s", j == row + 1 ? "    assert " : " * ",
                   move_size(w, m->dim[j].from[0]));
    buf_printf(&w->host, " <= %lld, \"rows of the source lie too far apart\"\n", most);
    for (int i = across + 1; i < m->rank; i++)
        buf_printf(&w->host, "%s%s", i == across + 1 ? "    assert " : " * ", move_size(w, i));
    buf_printf(&w->host, " <= %lld, \"rows of the result lie too far apart\"\n", most);
}

void move_open(MoveText *w, const char *reason, const NpuChip *chip)
{
    buf_printf(&w->out, "# Planned by acraft for %s, strategy move.\n%s", chip->name, reason);
    buf_printf(&w->out, "# Nothing is computed%s.\ncraft = 1\n\n",
               w->free ? ""
                       : "; where elements come from is worked out for the sizes of this task");
    for (int i = 0; i < w->m->rank && w->free; i++)
        buf_printf(&w->out, "%s = dim(1, %lld)\n", move_size(w, i), (long long)PLAN_DIM_MOST);
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
void move_loop(MoveText *w, uint32_t but, const char *variables, const char *axes)
{
    Buf names = {0}, sizes = {0};
    for (int i = 0; i < w->m->rank; i++) {
        if (but >> i & 1)
            continue;
        buf_printf(&names, "%s, ", w->index[i]);
        buf_printf(&sizes, "%s, ", move_size(w, i));
    }
    move_put(w, 1, "for %s%s in mine(%s%s):", names.len ? names.at : "", variables,
             sizes.len ? sizes.at : "", axes);
    buf_free(&names);
    buf_free(&sizes);
}

void move_fill_buffer(MoveText *w)
{
    DType d = w->m->dtype;
    const char *value = str_format(w->arena, "%#.9g", w->m->fill);
    move_put(w, 1, "blank = ub(%s, %lld)", w->type, (long long)w->tile);
    if (d != DT_F32)
        move_put(w, 1, "number = ub(f32, %lld)", (long long)w->tile);
    move_put(w, 1, "with compute():");
    move_put(w, 2, "%s = %s", d == DT_F32 ? "blank" : "number", value);
    if (d == DT_BOOL)
        move_put(w, 2, "blank = cast(number != 0.0, bool)");
    else if (d != DT_F32)
        move_put(w, 2, "blank = cast(number, %s)", w->type);
}
