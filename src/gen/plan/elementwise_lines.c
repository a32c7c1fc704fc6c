/* Writing the loop of an elementwise job; see elementwise_lines.h. */
#include "gen/plan/elementwise_lines.h"

void elementwise_put(EachBody *b, Buf *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    buf_fill(out, ' ', (size_t)(b->depth + 1) * 4);
    buf_vprintf(out, format, args);
    buf_char(out, '\n');
    va_end(args);
}

int elementwise_take(EachBody *b, char stem, DType dtype, int depth)
{
    EachBuffers *all = b->buffers;
    for (uint32_t i = 0; i < all->len; i++)
        if (!all->at[i].busy && all->at[i].stem == stem && all->at[i].dtype == dtype) {
            all->at[i].busy = true;
            return (int)i;
        }
    if (all->len == sizeof all->at / sizeof *all->at) {
        all->failed = true;
        return 0;
    }
    uint32_t i = all->len++;
    all->at[i].stem = stem;
    all->at[i].dtype = dtype;
    all->at[i].depth = depth;
    all->at[i].busy = true;
    all->at[i].name = str_format(b->p->e->arena, "%c%u", stem, i);
    return (int)i;
}

const char *elementwise_view(EachBody *b, int slot)
{
    const char *name = b->buffers->at[slot].name;
    if (b->p->row)
        return str_format(b->p->e->arena, "%s[:r.size, :%lld]", name, (long long)b->p->row);
    return str_format(b->p->e->arena, "%s[:t.size]", name);
}

/* Loads and stores of an iteration stand together, so their buffers are not used twice in it. */
void elementwise_free(EachBody *b, int slot)
{
    if (slot >= 0 && b->buffers->at[slot].stem != 'a' && b->buffers->at[slot].stem != 'o')
        b->buffers->at[slot].busy = false;
}

/* ---- where a tensor is read or written ---- */

/* "r", or the row's part of the last axis */
static void put_block(const EachBody *b, const EachDim *d, bool last, Buf *out)
{
    if (last)
        buf_printf(out, "%lld:%lld", (long long)d->offset, (long long)(d->offset + b->p->row));
    else if (d->offset)
        buf_printf(out, "r.start + %lld:r.stop + %lld", (long long)d->offset, (long long)d->offset);
    else
        buf_puts(out, "r");
}

const char *elementwise_index(EachBody *b, const EachUse *use, const EachTensor *t, bool *tile)
{
    Buf out = {0};
    const EachAxes *axes = b->axes;
    *tile = false;
    for (int i = 0; i < t->n_kept; i++) {
        const EachDim *d = &use->dim[t->kept[i]];
        if (i && !t->apart[i - 1])
            continue;
        buf_puts(&out, out.len ? ", " : "");
        int group = d->axis < 0 ? -1 : axes->group_of[d->axis];
        bool last = group == axes->groups - 1;
        bool single = axes->n_active == 0 && i == t->n_kept - 1; /* one element: a tile of one */
        if (single)
            buf_printf(&out, "t.start + %lld:t.stop + %lld", (long long)d->offset,
                       (long long)d->offset);
        else if (group < 0)
            buf_printf(&out, "%lld", (long long)d->offset);
        else if (b->p->row && group >= axes->groups - 2)
            put_block(b, d, last, &out);
        else if (!last)
            buf_printf(&out, d->offset ? "i%d + %lld" : "i%d", group, (long long)d->offset);
        else if (d->offset)
            buf_printf(&out, "t.start + %lld:t.stop + %lld", (long long)d->offset,
                       (long long)d->offset);
        else
            buf_puts(&out, "t");
        *tile = *tile || last || single;
        if (last && i + 1 < t->n_kept && t->apart[i])
            b->buffers->failed = true;
    }
    if (t->n_kept == 0) {
        *tile = axes->n_active == 0;
        buf_puts(&out, *tile ? "t" : "0");
    }
    char *text = buf_take(&out, b->p->e->arena);
    buf_free(&out);
    return text;
}

static void put_loop(EachBody *b)
{
    int n = b->axes->groups - (b->p->row ? 1 : 0);
    const char *last = b->axes->name[n - 1];
    buf_puts(b->out, "    for ");
    for (int i = 0; i < n - 1; i++)
        buf_printf(b->out, "i%d, ", i);
    buf_puts(b->out, b->p->row ? "r in " : "t in ");
    if (n == 1 && b->p->row) {
        buf_printf(b->out, "mine(tiles(%s, tile)):\n", last);
        return;
    }
    if (n == 1) {
        buf_printf(b->out, "tiles(share(%s, 64), tile):\n", last);
        return;
    }
    buf_puts(b->out, "mine(");
    for (int i = 0; i < n - 1; i++)
        buf_printf(b->out, "%s, ", b->axes->name[i]);
    buf_printf(b->out, "tiles(%s, tile)):\n", last);
}

static void put_stage(EachBody *b, const char *name, const Buf *lines)
{
    if (lines->len)
        buf_printf(b->out, "        with %s():\n", name);
    buf_str(b->out, buf_view(lines));
}

void elementwise_finish(EachBody *b)
{
    put_loop(b);
    buf_str(b->out, buf_view(&b->reads));
    put_stage(b, "copyin", &b->loads);
    put_stage(b, "compute", &b->steps);
    put_stage(b, "copyout", &b->stores);
    for (uint32_t i = 0; i < b->buffers->len; i++)
        b->buffers->at[i].busy = false;
    Buf *all[] = {&b->loads, &b->reads, &b->steps, &b->stores};
    for (int i = 0; i < 4; i++)
        buf_free(all[i]);
}
