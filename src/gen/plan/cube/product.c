/* Products as Craft. In: a graph that is one matrix product. Out: the program, with its reasons. */
#include "gen/plan/cube/product.h"

#include "gen/plan/clock.h"
#include "gen/plan/cube/tail.h"
#include "gen/plan/fit.h"

/* $I $J $K $L tiles in m, n, k of L1, k of L0; $E depth of L0C; $Z "z, " of batches; $U $V the
 * operands' axes in order; $X $Y their L1 tiles; $B $C their loads; $Q $R loads into L0; $M multiplies; $D what
 * is 0 in the first step of k. */
static const char tiles_text[] = "    a1 = l1($T, $X, depth=2)\n"
                                 "    b1 = l1($T, $Y, depth=2)\n"
                                 "    a0 = l0a($T, $I, $L, depth=2)\n"
                                 "    b0 = l0b($T, $L, $J, depth=2)\n"
                                 "    acc = l0c(f32, $I, $J, depth=$E)\n";

/* The loops over k of one block, rows c and columns t; $O is its indentation. */
static const char block_text[] =
    "$Ofor u in tiles($G$K):\n"
    "$O    with copyin():\n"
    "$O        load(a1[$B], a[$U])\n"
    "$O        load(b1[$C], b[$V])\n"
    "$O    for s in tiles(u.size, $L):\n"
    "$O        with copyin():\n"
    "$O            $Q\n"
    "$O            $R\n"
    "$O        with compute():\n"
    "$O            $M(acc[:c.size, :t.size], a0[:c.size, :s.size], b0[:s.size, :t.size], "
    "init=$D == 0 and s.index == 0)\n";

static const char store_text[] = "        with copyout():\n"
                                 "            store(y[$Zc, t], acc[:c.size, :t.size])\n";

static const char send_text[] = "            for r in tiles(c.size, $S):\n"
                                "                with copyout():\n"
                                "                    send(done, acc[r, :t.size])\n";

/* One part of the sum of all slices; $H rows, $W lanes of it. */
static const char sum_text[] = "with compute():\n"
                               "    p[:$H, :$W] = 0.0\n"
                               "for z in range(slices):\n"
                               "    with copyin():\n"
                               "        load(q[:$H, :$W], part[z, $N, $Z])\n"
                               "    with compute():\n"
                               "        p[:$H, :$W] += q[:$H, :$W]\n";

static const char *tile_pair(Arena *arena, bool turned, int64_t rows, int64_t cols)
{
    return str_format(arena, "%lld, %lld", (long long)(turned ? cols : rows),
                      (long long)(turned ? rows : cols));
}

/* `item` names the loop variable over batches. */
static void set_operands(Script *s, const Product *p, const Blocks *b, const char *item)
{
    bool ta = p->a.turned, tb = p->b.turned;
    const char *z = str_format(s->arena, "%s, ", item);
    const char *za = p->a.batched ? z : "", *zb = p->b.batched ? z : "";
    script_set(s, 'X', tile_pair(s->arena, ta, b->m, b->k1));
    script_set(s, 'Y', tile_pair(s->arena, tb, b->k1, b->n));
    script_set(s, 'B', ta ? ":u.size, :c.size" : ":c.size, :u.size");
    script_set(s, 'C', tb ? ":t.size, :u.size" : ":u.size, :t.size");
    script_set(s, 'U', str_format(s->arena, "%s%s", za, ta ? "u, c" : "c, u"));
    script_set(s, 'V', str_format(s->arena, "%s%s", zb, tb ? "t, u" : "u, t"));
    script_set(s, 'Q',
               ta ? "load_transposed(a0[:c.size, :s.size], a1[s, :c.size])"
                  : "load(a0[:c.size, :s.size], a1[:c.size, s])");
    script_set(s, 'R',
               tb ? "load_transposed(b0[:s.size, :t.size], b1[:t.size, s])"
                  : "load(b0[:s.size, :t.size], b1[s, :t.size])");
    script_set(s, 'T', dtype_name(p->dtype));
    script_set(s, 'M', p->hf32 ? "mmad_hf32" : "mmad");
    script_number(s, 'I', b->m);
    script_number(s, 'J', b->n);
    script_number(s, 'K', b->k1);
    script_number(s, 'L', b->k0);
    script_number(s, 'E', b->c_depth);
}

/* What the sizes are called. */
typedef struct Sizes {
    const char *batch, *m, *n, *k;
} Sizes;

/* Parameters of the kernel; the host function has each tensor once. */
typedef TailOperands Operands;

static void add_factor(Arena *arena, Operands *all, const Product *p, bool left, const Sizes *z)
{
    const ProductOperand *o = left ? &p->a : &p->b;
    const char *rows = left ? z->m : z->k, *cols = left ? z->k : z->n;
    int64_t r = left ? p->m : p->k, c = left ? p->k : p->n;
    const char *dims = str_format(arena, "%s%s%s, %s", o->batched ? z->batch : "",
                                  o->batched ? ", " : "", o->turned ? cols : rows,
                                  o->turned ? rows : cols);
    Shape pair = script_shape2(o->turned ? c : r, o->turned ? r : c);
    TailOperand operand = {.value = o->value,
                           .dtype = p->dtype,
                           .name = left ? "a" : "b",
                           .dims = dims,
                           .shape = o->batched ? script_shape3(p->batch, pair.dim[0], pair.dim[1])
                                               : pair};
    vec_push(arena, all, operand);
}

/* A tensor that is multiplied with itself has its sizes once. */
static Sizes plain_sizes(const Product *p)
{
    Sizes z = {"batch", "m", "n", "k"};
    if (p->a.value != p->b.value)
        return z;
    if (p->a.turned != p->b.turned)
        z.n = "m";
    else
        z.n = z.k = "m";
    return z;
}

static void put_head(const Product *p, const Blocks *b, const NpuChip *chip, Buf *out)
{
    buf_printf(out, "# Planned by acraft for %s, strategy product.\n", chip->name);
    buf_printf(out,
               "# A grid of %lld x %lld tiles of L0C over the cube cores; k in steps of %lld "
               "through L1, %lld through L0,\n# each doubled; L0C %s.\n",
               (long long)b->m, (long long)b->n, (long long)b->k1, (long long)b->k0,
               b->c_depth > 1 ? "doubled, so that a tile leaves beside the next one's products"
                              : "whole, so that operands are read as rarely as can be");
    if (b->slices > 1)
        buf_printf(out,
                   "# %lld slices of k, since there are few tiles; a second kernel adds them.\n",
                   (long long)b->slices);
    else if (p->end != PRODUCT_STORED)
        buf_puts(out, "# The vector role computes what follows while the cube multiplies the next "
                      "tile.\n");
    buf_puts(out, "craft = 1\n\n");
}

static void put_sizes(const Product *p, const Sizes *z, Buf *out)
{
    if (p->batch > 1)
        buf_puts(out, "batch = dim(1, 1048576)\n");
    buf_puts(out, "m = dim(1, 16777216)\n");
    if (*z->k == 'k')
        buf_puts(out, "k = dim(1, 16777216)\n");
    if (*z->n == 'n')
        buf_puts(out, "n = dim(1, 16777216)\n");
}

/* All steps through the part of k between `from` ("": 0) and `to`. Staggered ones begin at another place in each tile:
 * tiles that share rows or columns read different parts of them first, and find the rest in L2. */
static void put_block(Script *s, const Blocks *b, const char *from, const char *to,
                      const char *indent, Buf *out)
{
    const char *k = *from ? str_format(s->arena, "%s - %s", to, from) : to;
    const char *at = *from ? str_format(s->arena, "%s + ", from) : "";
    long long step = (long long)b->k1;
    script_set(s, 'O', indent);
    script_set(s, 'D', "u.index");
    script_set(s, 'G',
               *from ? str_format(s->arena, "%s, %s, ", from, to)
                     : str_format(s->arena, "%s, ", to));
    if (b->staggered) {
        buf_printf(out,
                   "%ssteps = ceildiv(%s, %lld)\n"
                   "%sfor v in range(steps):\n"
                   "%s    begin = %s(v + c.index + t.index) %% steps * %lld\n",
                   indent, k, step, indent, indent, at, step);
        script_set(s, 'O', str_format(s->arena, "%s    ", indent));
        script_set(s, 'D', "v");
        script_set(s, 'G', str_format(s->arena, "begin, min(begin + %lld, %s), ", step, to));
    }
    script_put(s, block_text, out);
}

/* "batch * ceildiv(m, 128) * ceildiv(n, 128)" */
static void put_launch(Script *s, const Product *p, const Blocks *b, const Sizes *z,
                       const Operands *all, bool vector, Buf *out)
{
    buf_printf(out, "    %s_products[min(chip.cube_cores, ", s->name);
    if (p->batch > 1)
        buf_printf(out, "%s * ", z->batch);
    buf_printf(out, "ceildiv(%s, %lld) * ceildiv(%s, %lld))](", z->m, (long long)b->m, z->n,
               (long long)b->n);
    tail_parameters(all, all, false, out);
    buf_printf(out, ")\n\n@kernel(cube%s)\ndef %s_products(", vector ? ", vector" : "", s->name);
    tail_parameters(all, all, true, out);
    buf_puts(out, "):\n");
    script_put(s, tiles_text, out);
}

/* "for z, c, t in cyclic(batch, tiles(m, 128), tiles(n, 128)):" */
static const char *block_loop(Arena *arena, const Product *p, const Blocks *b, const Sizes *z,
                              const char *item)
{
    const char *items = p->batch > 1 ? str_format(arena, "%s, ", item) : "";
    const char *batch = p->batch > 1 ? str_format(arena, "%s, ", z->batch) : "";
    return str_format(arena, "for %sc, t in cyclic(%stiles(%s, %lld), tiles(%s, %lld)):", items,
                      batch, z->m, (long long)b->m, z->n, (long long)b->n);
}

static void put_plain(Script *s, const Product *p, const Blocks *b, const Sizes *z,
                      const Operands *all, Buf *out)
{
    script_set(s, 'Z', p->batch > 1 ? "z, " : "");
    script_put(s, "\n@host\ndef $F($P):\n", out);
    put_launch(s, p, b, z, all, false, out);
    buf_printf(out, "    %s\n", block_loop(s->arena, p, b, z, "z"));
    put_block(s, b, "", z->k, "        ", out);
    script_put(s, store_text, out);
}

/* ---- with what follows ---- */

/* The size of k is that of m or n where a factor is read by the rest, too. */
static Sizes tail_sizes(const Product *p, const Tail *tail, const Operands *rest)
{
    Sizes z = {tail_size(tail, 0), tail_size(tail, 1), tail_size(tail, 2), "k"};
    for (uint32_t i = 0; i < rest->len; i++) {
        if (rest->at[i].value == p->a.value && p->k == p->n)
            z.k = z.n;
        if (rest->at[i].value == p->b.value && p->k == p->m)
            z.k = z.m;
    }
    if (p->a.value == p->b.value && p->a.turned == p->b.turned)
        z.k = z.m;
    return z;
}

/* Rows of a part of the block that the vector role takes at once. */
static int64_t part_rows(const Blocks *b, int64_t elements)
{
    int64_t rows = elements / b->n / 16 * 16;
    return rows < 16 ? 16 : rows > b->m ? b->m : rows;
}

static bool put_fused(Script *s, const Product *p, const Blocks *b, const Sizes *z,
                      const Operands *all, Tail *tail, int64_t rows, Buf *out)
{
    const char *item = tail_loop(tail, 0), *loop = block_loop(s->arena, p, b, z, item);
    bool one = tail->axis[TAIL_ROWS] == 0, whole = p->end == PRODUCT_ROWS;
    const char *lanes = whole ? z->n : "t.size", *high = one ? "c.size" : "r.size";
    Buf body = {0};
    TailTiles tiles = {.rows = rows, .lanes = b->n, .whole = whole, .loop = loop};
    tiles.receive = str_format(s->arena, "with copyin():\n    recv(p[:%s, :%s], done)\n", high,
                               lanes);
    tiles.view = one ? str_format(s->arena, "p[0, :%s]", lanes)
                     : str_format(s->arena, "p[:r.size, :%s]", lanes);
    if (*z->k == 'k')
        buf_puts(out, "k = dim(1, 16777216)\n");
    tail_dims(tail, out);
    script_number(s, 'S', rows);
    script_put(s, "\n@host\ndef $F($P):\n", out);
    tail_bounds(tail, out);
    put_launch(s, p, b, z, all, true, out);
    buf_printf(out, "    done = channel(f32, %lld, %lld, depth=4)\n", (long long)rows,
               (long long)b->n);
    buf_printf(out, "    p = ub(f32, %lld, %lld, depth=2)\n", (long long)rows, (long long)b->n);
    bool ok = tail_put(tail, &tiles, 2, out, &body);
    buf_printf(out, "    with cube():\n        %s\n", loop);
    put_block(s, b, "", z->k, "            ", out);
    script_put(s, send_text, out);
    buf_puts(out, "    with vector():\n");
    buf_str(out, buf_view(&body));
    buf_free(&body);
    return ok;
}

/* Half of the vector cores add up slices of so few bytes in less time than the launch of the others takes. */
static bool few_cores(const Product *p, const Blocks *b)
{
    enum { FEW = 8 << 20 };
    return b->slices * p->m * p->n * 4 <= FEW;
}

/* Elements of the result that a core adds at once: all cores get some, and a tile fits into UB. */
static TailTiles sum_tiles(const Product *p, const Blocks *b, const NpuChip *chip, bool whole,
                           int64_t most)
{
    enum { LINE = 64, LEAST = 256, LONG = 2048 };
    int64_t cores = few_cores(p, b) ? chip->aic : chip->aiv;
    int64_t each = (p->m * p->n + cores - 1) / cores;
    each = each < LEAST ? LEAST : each > most ? most : each;
    int64_t lanes = whole ? p->n : each < p->n ? each : p->n;
    lanes = (lanes + LINE - 1) / LINE * LINE;
    lanes = !whole && lanes > LONG ? LONG : lanes;
    int64_t rows = (each + lanes - 1) / lanes; /* a turn for each core, not one and a bit */
    rows = rows > p->m ? p->m : rows;
    return (TailTiles){.rows = rows, .lanes = lanes, .whole = whole};
}

/* Slices of k are multiplied by one kernel into a workspace; another one adds them and computes what follows. */
static bool put_sliced(Script *s, const Product *p, const Blocks *b, const Sizes *z,
                       const Operands *all, const Operands *rest, Tail *tail, TailTiles tiles,
                       Buf *out)
{
    bool one = tail->axis[TAIL_ROWS] == 0;
    const char *n = s->name, *wide = tiles.whole ? z->n : "t.size";
    long long rows = (long long)tiles.rows, lanes = (long long)tiles.lanes;
    Buf body = {0}, sum = {0};
    if (*z->k == 'k')
        buf_puts(out, "k = dim(1, 16777216)\n");
    tail_dims(tail, out);
    script_put(s, "\n@host\ndef $F($P):\n", out);
    tail_bounds(tail, out);
    /* Runs that begin inside a line of memory take the whole line. */
    enum { SECTOR = 128 };
    buf_printf(out, "    length = align_up(ceildiv(%s, min(%lld, ceildiv(%s, %lld))), %d)\n", z->k,
               (long long)b->slices, z->k, (long long)b->k1, SECTOR / (int)dtype_bytes(p->dtype));
    buf_printf(out, "    slices = ceildiv(%s, length)\n", z->k);
    buf_printf(out, "    part = workspace(f32, slices, %s, %s)\n", z->m, z->n);
    buf_printf(out,
               "    %s_slices[min(chip.cube_cores, slices * ceildiv(%s, %lld) * ceildiv(%s, "
               "%lld))](",
               n, z->m, (long long)b->m, z->n, (long long)b->n);
    Operands factors = {0};
    add_factor(s->arena, &factors, p, true, z);
    add_factor(s->arena, &factors, p, false, z);
    tail_parameters(&factors, &factors, false, out);
    buf_puts(out, ", part, slices, length)\n");
    buf_printf(out, "    %s_sum[min(chip.%s, ceildiv(%s, %lld) * ceildiv(%s, %lld))](part, ", n,
               few_cores(p, b) ? "cube_cores" : "cores", z->m, rows, z->n, lanes);
    tail_parameters(rest, all, false, out);
    buf_printf(out, ", slices)\n\n@kernel(cube)\ndef %s_slices(", n);
    tail_parameters(&factors, &factors, true, out);
    buf_printf(out, ", part: ws[f32, slices, %s, %s], slices: i64, length: i64):\n", z->m, z->n);
    script_put(s, tiles_text, out);
    /* A core goes on with its slice in another tile while L2 has it; else the cores share slices. */
    const char *grid = str_format(s->arena, "tiles(%s, %lld), tiles(%s, %lld)", z->m,
                                  (long long)b->m, z->n, (long long)b->n);
    buf_printf(out, "    for %s in cyclic(%s%s%s):\n", b->kept ? "c, t, z" : "z, c, t",
               b->kept ? "" : "slices, ", grid, b->kept ? ", slices" : "");
    buf_printf(out,
               "        first = z * length\n"
               "        last = min(first + length, %s)\n",
               z->k);
    put_block(s, b, "first", "last", "        ", out);
    buf_puts(out, "        with copyout():\n"
                  "            store(part[z, c, t], acc[:c.size, :t.size])\n");
    buf_printf(out, "\n@kernel\ndef %s_sum(part: ws[f32, slices, %s, %s], ", n, z->m, z->n);
    tail_parameters(rest, all, true, out);
    buf_printf(out, ", slices: i64):\n    p = ub(f32, %lld, %lld)\n", rows, lanes);
    buf_printf(out, "    q = ub(f32, %lld, %lld, depth=2)\n", rows, lanes);
    script_set(s, 'H', one ? "c.size" : "r.size");
    script_set(s, 'N', one ? "c" : "r");
    script_set(s, 'W', wide);
    script_set(s, 'Z', tiles.whole ? ":" : "t");
    script_put(s, sum_text, &sum);
    tiles.receive = buf_take(&sum, s->arena);
    tiles.loop = str_format(s->arena, "for c, t in mine(tiles(%s, %lld), tiles(%s, %lld)):", z->m,
                            rows, z->n, lanes);
    tiles.view = str_format(s->arena, "p[%s, :%s]", one ? "0" : ":r.size", wide);
    bool ok = tail_put(tail, &tiles, 1, out, &body);
    buf_str(out, buf_view(&body));
    buf_free(&body);
    buf_free(&sum);
    return ok;
}

/* A program of its own for each kind of blocks. */
typedef struct Writing {
    Arena *arena;
    const Graph *graph;
    const NpuChip *chip;
    const char *name;
    Product p;
    Tail tail; /* of what follows */
    Blocks fastest;
} Writing;

typedef bool Write(Writing *w, const Blocks *b, Plan *plan);

/* A product, and what follows it in the same kernel, or in that which adds its slices. */
static bool write_fused(Writing *w, const Blocks *b, Plan *plan)
{
    enum { MOST = 16384, LEAST = 1024 }; /* elements of a part */
    const Product *p = &w->p;
    bool whole = tail_reduces(&w->tail);
    for (int64_t most = MOST; most >= LEAST; most /= 2) {
        Script s = {.arena = w->arena, .g = w->graph, .name = w->name};
        Tail tail = w->tail;
        TailTiles tiles = sum_tiles(p, b, w->chip, whole, most / 4);
        Operands all = {0}, rest = {0};
        Buf out = {0};
        tail.band.lanes.whole = whole;
        tail.band.lanes.tile = b->slices > 1 ? tiles.lanes : b->n;
        tail_operands(&tail, &rest);
        Sizes z = tail_sizes(p, &tail, &rest);
        add_factor(w->arena, &all, p, true, &z);
        add_factor(w->arena, &all, p, false, &z);
        for (uint32_t i = 0; i < rest.len; i++)
            vec_push(w->arena, &all, rest.at[i]);
        if (all.len > SCRIPT_MAX_OPERANDS)
            return false;
        tail_host(&s, &all);
        set_operands(&s, p, b, tail_loop(&tail, 0));
        put_head(p, b, w->chip, &out);
        bool ok = b->slices > 1 ? put_sliced(&s, p, b, &z, &all, &rest, &tail, tiles, &out)
                                : put_fused(&s, p, b, &z, &all, &tail, part_rows(b, most), &out);
        script_finish(&s, "product", b->m * b->n, &out, plan);
        Fit fit = fit_program(plan->craft, w->chip);
        if (!ok || fit.crowded)
            return false;
        if (!fit.exceeds)
            return true;
    }
    return false;
}

/* Nothing follows, and k is not cut. */
static bool write_plain(Writing *w, const Blocks *b, Plan *plan)
{
    const Product *p = &w->p;
    Operands all = {0};
    Script s = {.arena = w->arena, .g = w->graph, .name = w->name};
    Sizes z = plain_sizes(p);
    Buf out = {0};
    add_factor(w->arena, &all, p, true, &z);
    add_factor(w->arena, &all, p, false, &z);
    TailOperand y = {.value = p->y, .output = true, .dtype = p->out, .name = "y"};
    y.dims = str_format(w->arena, "%s%s, %s", p->batch > 1 ? "batch, " : "", z.m, z.n);
    y.shape = p->batch > 1 ? script_shape3(p->batch, p->m, p->n) : script_shape2(p->m, p->n);
    vec_push(w->arena, &all, y);
    tail_host(&s, &all);
    set_operands(&s, p, b, "z");
    put_head(p, b, w->chip, &out);
    put_sizes(p, &z, &out);
    put_plain(&s, p, b, &z, &all, &out);
    script_finish(&s, "product", b->m * b->n, &out, plan);
    return true;
}

enum { MOST_BLOCKS = 10 };

/* Leaves so many programs to be timed. */
static void try_blocks(Writing *w, Write *write, const Blocks *b, uint32_t leave, ClockBest *best)
{
    Plan plan = {0};
    double us = best->us;
    bool first = !best->found;
    if ((best->found && best->left <= leave) || !write(w, b, &plan))
        return;
    clock_offer(best, &plan, w->chip);
    if (first || best->us < us)
        w->fastest = *b;
}

/* The fastest once more, its tiles beginning at different places of k. */
static void try_staggered(Writing *w, Write *write, ClockBest *best)
{
    Blocks b = w->fastest;
    if (b.m && b.k1 * b.slices < w->p.k) {
        b.staggered = true;
        try_blocks(w, write, &b, 0, best);
    }
}

/* Rows are reduced: a tile holds whole ones, unless the kernel that adds slices does. */
static bool may_slice(const Writing *w)
{
    enum { LONG = 2048 };
    return !tail_reduces(&w->tail) || w->p.n <= LONG;
}

static void try_fused(Writing *w, bool sliced_only, ClockBest *best)
{
    Blocks list[MOST_BLOCKS];
    TailCut cut;
    if (!tail_cut(w->arena, w->graph, &cut) || !product_read(cut.product, &w->p))
        return;
    TailLevels levels = {3, {w->p.batch, w->p.m, w->p.n}};
    if (!tail_read(w->arena, &cut, &levels, w->chip, false, &w->tail))
        return;
    if (w->p.a.value == w->p.b.value)
        tail_same(&w->tail, 1, 2);
    w->fastest = (Blocks){0};
    bool whole = tail_reduces(&w->tail);
    w->p.end = PRODUCT_SENT;
    uint32_t n = product_list(&w->p, w->chip, list, MOST_BLOCKS);
    for (uint32_t i = 0; i < n; i++)
        if (list[i].slices > 1 ? may_slice(w) : !whole && !sliced_only)
            try_blocks(w, write_fused, &list[i], 1, best);
    w->p.end = PRODUCT_ROWS;
    n = whole && !sliced_only ? product_list(&w->p, w->chip, list, MOST_BLOCKS) : 0;
    for (uint32_t i = 0; i < n; i++)
        try_blocks(w, write_fused, &list[i], 1, best);
    w->p.end = w->fastest.n >= w->p.n && whole ? PRODUCT_ROWS : PRODUCT_SENT;
    try_staggered(w, write_fused, best);
}

static void try_plain(Writing *w, ClockBest *best)
{
    Blocks list[MOST_BLOCKS];
    if (!product_read(w->graph, &w->p) || w->p.bias != VALUE_NONE)
        return;
    uint32_t n = product_list(&w->p, w->chip, list, MOST_BLOCKS);
    for (uint32_t i = 0; i < n; i++)
        if (list[i].slices == 1)
            try_blocks(w, write_plain, &list[i], 1, best);
    try_staggered(w, write_plain, best);
}

bool plan_product(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
                  const char *name, Plan *plan, Diag *diag)
{
    Writing w = {.arena = arena, .graph = graph, .chip = chip, .name = name};
    ClockBest best = clock_best(graph);
    (void)tile_limit, (void)diag;
    try_plain(&w, &best);
    try_fused(&w, best.found, &best);
    return clock_take(&best, chip, plan);
}
