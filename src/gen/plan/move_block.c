/* Many rows gathered at once. In: a move whose last index decides the place in a row of the source, the same way
 * for all rows. Out: a kernel that loads several source rows, gathers all of their elements by one instruction
 * and stores several rows of the result.
 *
 * Rows of the table of places are padded to 32 bytes with place 0, so that they lie without gaps. */
#include "gen/plan/move_int.h"

enum { MOST_WIDTH = 2048, MOST_BLOCK = 128, SPACE = 150 * 1024, LEAST_TILE = 1024 };

typedef struct Block {
    const MoveDim *last; /* of the source */
    int across;          /* the dimension of the result that blocks are taken along */
    int along; /* the dimension of the source that it alone decides, one by one; -1: none */
    long long width, rows;   /* elements of a row of the result, rows of a block */
    long long padded, pitch; /* of a row of the result, of the source */
} Block;

static long long aligned(long long n, long long unit) { return (n + unit - 1) / unit * unit; }

/* Elements outside are another number, and rows of them need no copy. */
static bool has_fill(const Move *m)
{
    for (int j = 0; j < m->from_rank; j++)
        if (m->dim[j].wrap == MOVE_FILL)
            return true;
    return false;
}

/* The dimension of the source whose rows follow those of the block, but for its ends. */
static int row_dim(const Move *m, int across)
{
    int found = -1;
    for (int j = 0; j + 1 < m->from_rank; j++)
        for (int k = 0; k < m->dim[j].n; k++)
            if (m->dim[j].from[k] == across) {
                const MoveDim *d = &m->dim[j];
                bool one = found < 0 && j + 2 == m->from_rank && d->n == 1 && d->mul[0] == 1 &&
                           d->div == 1;
                found = one ? j : m->from_rank;
            }
    return found < m->from_rank ? found : -1;
}

static bool read_block(const MoveText *w, Block *b)
{
    const Move *m = w->m;
    int64_t bytes = (int64_t)dtype_bytes(m->dtype);
    if (m->rank < 2 || m->from_rank < 2 || (bytes != 4 && bytes != 2) || has_fill(m))
        return false;
    *b = (Block){.last = &m->dim[m->from_rank - 1], .across = m->rank - 2};
    b->width = m->size[m->rank - 1];
    b->padded = aligned(b->width, 16);
    b->pitch = aligned(b->last->size, 32 / bytes);
    b->along = row_dim(m, b->across);
    /* most of a source row is wanted */
    if (b->last->size > 4 * b->width || b->last->size > MOST_WIDTH || b->width > MOST_WIDTH)
        return false;
    b->rows = SPACE / (2 * bytes * (b->pitch + b->padded) + 12 * b->padded);
    b->rows = b->rows < MOST_BLOCK ? b->rows : MOST_BLOCK;
    b->rows = b->rows < m->size[b->across] ? b->rows : m->size[b->across];
    b->rows = w->tile < LEAST_TILE && b->rows > 2 ? 2 : b->rows;
    return b->rows >= 2;
}

/* Where the elements of one row stand in a row of the source. */
static void put_row_places(MoveText *w, const Block *b)
{
    const MoveDim *d = b->last;
    int last = w->m->rank - 1;
    const char *index = w->index[last];
    move_put(w, 2, "one = 0");
    if (d->wrap == MOVE_INSIDE && d->div == 1) {
        move_put(w, 2, "one[:%lld] = iota(%lld, %lld)", b->width, (long long)d->add,
                 (long long)d->mul[0]);
        return;
    }
    w->index[last] = "k";
    move_put(w, 2, "for k in range(%lld):", b->width);
    move_put(w, 3, "one[k] = %s", move_place(w, d));
    w->index[last] = index;
}

static void put_buffers(MoveText *w, const Block *b)
{
    move_put(w, 1, "rows = ub(%s, %lld, %lld, depth=2)", w->type, b->rows, b->pitch);
    move_put(w, 1, "found = ub(%s, %lld, %lld, depth=2)", w->type, b->rows, b->padded);
    move_put(w, 1, "one = ub(i32, %lld)", b->padded);
    move_put(w, 1, "begin = ub(i32, %lld)", aligned(b->rows, 8));
    move_put(w, 1, "place = ub(i32, %lld, %lld)", b->rows, b->padded);
    move_put(w, 1, "with compute():");
    put_row_places(w, b);
    move_put(w, 2, "begin = iota(0, %lld)", b->pitch);
    move_put(w, 2, "place = row(one) + col(begin[:%lld])", b->rows);
}

/* One copy where all rows lie one behind the other, else one for each. */
static void put_loads(MoveText *w, const Block *b)
{
    const Move *m = w->m;
    const char *index = w->index[b->across];
    long long size = (long long)b->last->size;
    int depth = 2;
    if (b->along >= 0) {
        const MoveDim *d = &m->dim[b->along];
        Buf before = {0};
        bool inside = d->wrap == MOVE_INSIDE;
        for (int j = 0; j < b->along; j++)
            buf_printf(&before, "%s, ", move_place(w, &m->dim[j]));
        const char *prefix = move_taken(w, &before);
        long long add = (long long)d->add;
        if (!inside)
            move_put(w, depth++, "if b.start + %lld >= 0 and b.stop + %lld <= %lld:", add, add,
                     (long long)d->size);
        move_put(w, depth, "with copyin():");
        move_put(w, depth + 1, "load(rows[:b.size, :%lld], x[%sb.start + %lld : b.stop + %lld, :])",
                 size, prefix ? prefix : "", add, add);
        if (inside)
            return;
        move_put(w, depth - 1, "else:");
    }
    w->index[b->across] = "(b.start + k)";
    move_put(w, depth, "with copyin():");
    move_put(w, depth + 1, "for k in range(b.size):");
    move_put(w, depth + 2, "load(rows[k, :%lld], x[%s:])", size, move_before_last(w));
    w->index[b->across] = index;
}

bool move_block(MoveText *w, const NpuChip *chip)
{
    const Move *m = w->m;
    Block b;
    if (!read_block(w, &b))
        return false;
    move_open(
        w, "# Several source rows are read whole, and their elements gathered on chip at once.\n",
        chip);
    put_buffers(w, &b);
    move_loop(w, 3u << b.across, "b",
              str_format(w->arena, "tiles(%lld, %lld)", (long long)m->size[b.across], b.rows));
    put_loads(w, &b);
    move_put(w, 2, "with compute():");
    move_put(w, 3, "found[:b.size, :] = gather(rows[:b.size, :%lld], place[:b.size, :])",
             (long long)b.last->size);
    w->index[b.across] = "b";
    move_put(w, 2, "with copyout():");
    move_put(w, 3, "store(y[%s:], found[:b.size, :%lld])", move_result_before_last(w), b.width);
    return true;
}
