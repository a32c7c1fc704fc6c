/* Products as Craft. In: a graph that is one matrix product. Out: the program, with its reasons. */
#include "gen/plan/cube/product.h"

#include "gen/plan/script.h"

/* $I $J $K $L tiles in m, n, k of L1, k of L0; $E depth of L0C; $Z "z, " of batches; $U $V the
 * operands' axes in order; $X $Y their L1 tiles; $B $C their loads; $Q $R loads into L0. */
static const char tiles_text[] = "    a1 = l1($T, $X, depth=2)\n"
                                 "    b1 = l1($T, $Y, depth=2)\n"
                                 "    a0 = l0a($T, $I, $L, depth=2)\n"
                                 "    b0 = l0b($T, $L, $J, depth=2)\n"
                                 "    c = l0c(f32, $I, $J, depth=$E)\n";

/* The loops over k of one block; $O is its indentation. */
static const char block_text[] =
    "$Ofor t in tiles($G$K):\n"
    "$O    with copyin():\n"
    "$O        load(a1[$B], a[$U])\n"
    "$O        load(b1[$C], b[$V])\n"
    "$O    for s in tiles(t.size, $L):\n"
    "$O        with copyin():\n"
    "$O            $Q\n"
    "$O            $R\n"
    "$O        with compute():\n"
    "$O            mmad(c[:i.size, :j.size], a0[:i.size, :s.size], b0[:s.size, :j.size], "
    "init=t.index == 0 and s.index == 0)\n";

static const char plain_host[] =
    "\n@host\ndef $F($P):\n"
    "    $F_products[min(chip.cube_cores, $Nceildiv(m, $I) * ceildiv(n, $J))]($A)\n"
    "\n@kernel(cube)\ndef $F_products($P):\n";

static const char plain_loop[] = "    for $Zi, j in cyclic($Dtiles(m, $I), tiles(n, $J)):\n";

static const char plain_store[] = "        with copyout():\n"
                                  "            store(y[$Zi, j], c[:i.size, :j.size])\n";

static const char bias_host[] =
    "\n@host\ndef $F($P):\n"
    "    $F_products[min(chip.cube_cores, ceildiv(m, $I) * ceildiv(n, $J))]($A)\n"
    "\n@kernel(cube, vector)\ndef $F_products($P):\n";

static const char bias_send[] = "            for r in tiles(i.size, $S):\n"
                                "                with copyout():\n"
                                "                    send(done, c[r, :j.size])\n";

static const char bias_vector[] =
    "    with vector():\n"
    "        for i, j in cyclic(tiles(m, $I), tiles(n, $J)):\n"
    "            with copyin():\n"
    "                load(v[:j.size], bias[j])\n"
    "$H"
    "            for r in tiles(i.size, $S):\n"
    "                with copyin():\n"
    "                    recv(p[:r.size, :j.size], done)\n"
    "                with compute():\n"
    "                    p[:r.size, :j.size] += row($M[:j.size])\n"
    "$W"
    "                with copyout():\n"
    "                    store(y[i.start + r.start : i.start + r.stop, j], $Z[:r.size, :j.size])\n";

static const char slice_host[] =
    "\n@host\ndef $F($P):\n"
    "    slices = min($N, ceildiv(k, $K))\n"
    "    part = workspace(f32, slices, m, n)\n"
    "    $F_slices[min(chip.cube_cores, slices * ceildiv(m, $I) * ceildiv(n, $J))]"
    "($M, part, slices)\n"
    "    $F_sum[chip.cores](part, $W, slices)\n"
    "\n@kernel(cube)\ndef $F_slices($H, part: ws[f32, slices, m, n], slices: i64):\n";

static const char slice_loop[] = "    for z, i, j in cyclic(slices, tiles(m, $I), tiles(n, $J)):\n"
                                 "        first = z * ceildiv(k, slices)\n"
                                 "        last = min(first + ceildiv(k, slices), k)\n";

static const char slice_store[] =
    "        with copyout():\n"
    "            store(part[z, i, j], c[:i.size, :j.size])\n"
    "\n@kernel\ndef $F_sum(part: ws[f32, slices, m, n], $D, slices: i64):\n"
    "    x = ub(f32, 4096, depth=2)\n"
    "    total = ub(f32, 4096$S)\n"
    "$Q"
    "    for r, t in mine(m, tiles(n, 4096)):\n"
    "$R"
    "        with compute():\n"
    "            total[:t.size] = $E\n"
    "        for z in range(slices):\n"
    "            with copyin():\n"
    "                load(x[:t.size], part[z, r, t])\n"
    "            with compute():\n"
    "                total[:t.size] += x[:t.size]\n"
    "$O"
    "        with copyout():\n"
    "            store(y[r, t], $X[:t.size])\n";

static const char *tile_pair(Arena *arena, bool turned, int64_t rows, int64_t cols)
{
    return str_format(arena, "%lld, %lld", (long long)(turned ? cols : rows),
                      (long long)(turned ? rows : cols));
}

static void set_operands(Script *s, const Product *p, const Blocks *b)
{
    bool ta = p->a.turned, tb = p->b.turned;
    const char *za = p->a.batched ? "z, " : "", *zb = p->b.batched ? "z, " : "";
    script_set(s, 'X', tile_pair(s->arena, ta, b->m, b->k1));
    script_set(s, 'Y', tile_pair(s->arena, tb, b->k1, b->n));
    script_set(s, 'B', ta ? ":t.size, :i.size" : ":i.size, :t.size");
    script_set(s, 'C', tb ? ":j.size, :t.size" : ":t.size, :j.size");
    script_set(s, 'U', str_format(s->arena, "%s%s", za, ta ? "t, i" : "i, t"));
    script_set(s, 'V', str_format(s->arena, "%s%s", zb, tb ? "j, t" : "t, j"));
    script_set(s, 'Q',
               ta ? "load_transposed(a0[:i.size, :s.size], a1[s, :i.size])"
                  : "load(a0[:i.size, :s.size], a1[:i.size, s])");
    script_set(s, 'R',
               tb ? "load_transposed(b0[:s.size, :j.size], b1[:j.size, s])"
                  : "load(b0[:s.size, :j.size], b1[s, :j.size])");
    script_set(s, 'T', dtype_name(p->dtype));
    script_number(s, 'I', b->m);
    script_number(s, 'J', b->n);
    script_number(s, 'K', b->k1);
    script_number(s, 'L', b->k0);
    script_number(s, 'E', b->c_depth);
}

static void add_operand(Script *s, const Product *p, const ProductOperand *o, const char *name,
                        const char *rows, const char *cols, int64_t r, int64_t c)
{
    const char *dims = str_format(s->arena, "%s%s, %s", o->batched ? "batch, " : "",
                                  o->turned ? cols : rows, o->turned ? rows : cols);
    int64_t x = o->turned ? c : r, y = o->turned ? r : c;
    script_add(s, o->value, false, name, dims,
               o->batched ? script_shape3(p->batch, x, y) : script_shape2(x, y));
}

static void add_operands(Script *s, const Product *p)
{
    bool batched = p->batch > 1;
    add_operand(s, p, &p->a, "a", "m", "k", p->m, p->k);
    add_operand(s, p, &p->b, "b", "k", "n", p->k, p->n);
    if (p->bias != VALUE_NONE)
        script_add(s, p->bias, false, "bias", "n", (Shape){1, {p->n}});
    script_add(s, p->y, true, "y", batched ? "batch, m, n" : "m, n",
               batched ? script_shape3(p->batch, p->m, p->n) : script_shape2(p->m, p->n));
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
    else if (p->bias != VALUE_NONE)
        buf_puts(out, "# The vector role adds the bias while the cube multiplies the next tile.\n");
    buf_puts(out, "craft = 1\n\n");
    if (p->batch > 1)
        buf_puts(out, "batch = dim(1, 1048576)\n");
    buf_puts(out, "m = dim(1, 16777216)\nk = dim(1, 16777216)\nn = dim(1, 16777216)\n");
}

static void put_block(Script *s, const char *indent, Buf *out)
{
    script_set(s, 'O', indent);
    script_put(s, block_text, out);
}

static void put_plain(Script *s, const Product *p, Buf *out)
{
    bool batched = p->batch > 1;
    script_set(s, 'Z', batched ? "z, " : "");
    script_set(s, 'D', batched ? "batch, " : "");
    script_set(s, 'N', batched ? "batch * " : "");
    script_set(s, 'G', "k, ");
    script_put(s, plain_host, out);
    script_put(s, tiles_text, out);
    script_put(s, plain_loop, out);
    put_block(s, "        ", out);
    script_put(s, plain_store, out);
}

/* Rows of a part of the block that the vector role takes at once. */
static int64_t part_rows(const Blocks *b)
{
    enum { ELEMENTS = 8192 };
    int64_t rows = ELEMENTS / b->n / 16 * 16;
    return rows < 16 ? 16 : rows > b->m ? b->m : rows;
}

static void put_bias(Script *s, const Product *p, const Blocks *b, Buf *out)
{
    bool narrow = p->dtype != DT_F32;
    int64_t rows = part_rows(b);
    script_number(s, 'S', rows);
    script_set(s, 'G', "k, ");
    script_put(s, bias_host, out);
    script_put(s, tiles_text, out);
    buf_printf(out, "    done = channel(f32, %lld, %lld, depth=4)\n", (long long)rows,
               (long long)b->n);
    buf_printf(out, "    p = ub(f32, %lld, %lld, depth=2)\n", (long long)rows, (long long)b->n);
    buf_printf(out, "    v = ub(%s, %lld)\n", dtype_name(p->dtype), (long long)b->n);
    if (narrow) {
        buf_printf(out, "    w = ub(f32, %lld)\n", (long long)b->n);
        buf_printf(out, "    q = ub(%s, %lld, %lld, depth=2)\n", dtype_name(p->dtype),
                   (long long)rows, (long long)b->n);
    }
    buf_puts(out, "    with cube():\n        for i, j in cyclic(");
    script_put(s, "tiles(m, $I), tiles(n, $J)):\n", out);
    put_block(s, "            ", out);
    script_put(s, bias_send, out);
    script_set(s, 'M', narrow ? "w" : "v");
    script_set(s, 'H',
               narrow ? "            with compute():\n"
                        "                w[:j.size] = cast(v[:j.size], f32)\n"
                      : "");
    script_set(s, 'W',
               narrow ? str_format(s->arena,
                                   "                    q[:r.size, :j.size] = "
                                   "cast(p[:r.size, :j.size], %s)\n",
                                   dtype_name(p->dtype))
                      : "");
    script_set(s, 'Z', narrow ? "q" : "p");
    script_put(s, bias_vector, out);
}

static const char *parameters(const Script *s, const Product *p, bool factors, bool typed)
{
    Buf out = {0};
    for (uint32_t i = 0; i < s->n; i++) {
        const ScriptOperand *o = &s->operand[i];
        bool is_factor = o->value == p->a.value || o->value == p->b.value;
        if (is_factor != factors)
            continue;
        buf_printf(&out, "%s%s", out.len ? ", " : "", o->name);
        if (typed)
            buf_printf(&out, ": %s[%s, %s]", o->output ? "out" : "gm",
                       dtype_name(graph_value(s->g, o->value)->dtype), o->dims);
    }
    const char *text = buf_take(&out, s->arena);
    buf_free(&out);
    return text;
}

static void put_slices(Script *s, const Product *p, const Blocks *b, Buf *out)
{
    bool narrow = p->dtype != DT_F32, bias = p->bias != VALUE_NONE;
    const char *type = dtype_name(p->dtype);
    script_set(s, 'G', "first, last, ");
    script_number(s, 'N', b->slices);
    script_set(s, 'M', parameters(s, p, true, false));
    script_set(s, 'W', parameters(s, p, false, false));
    script_set(s, 'H', parameters(s, p, true, true));
    script_put(s, slice_host, out);
    script_put(s, tiles_text, out);
    script_put(s, slice_loop, out);
    put_block(s, "        ", out);
    script_set(s, 'D', parameters(s, p, false, true));
    script_set(s, 'S', narrow ? "" : ", depth=2");
    script_set(
        s, 'Q',
        str_format(s->arena, "%s%s",
                   narrow ? str_format(s->arena, "    w = ub(%s, 4096, depth=2)\n", type) : "",
                   bias ? str_format(s->arena, "    v = ub(%s, 4096)\n", type) : ""));
    script_set(s, 'R',
               bias ? "        with copyin():\n            load(v[:t.size], bias[t])\n" : "");
    script_set(s, 'E', !bias ? "0.0" : narrow ? "cast(v[:t.size], f32)" : "v[:t.size]");
    script_set(s, 'O',
               narrow ? str_format(s->arena,
                                   "        with compute():\n"
                                   "            w[:t.size] = cast(total[:t.size], %s)\n",
                                   type)
                      : "");
    script_set(s, 'X', narrow ? "w" : "total");
    script_put(s, slice_store, out);
}

bool plan_product(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
                  const char *name, Plan *plan, Diag *diag)
{
    Product p;
    Script s = {.arena = arena, .g = graph, .name = name};
    (void)tile_limit, (void)diag;
    if (!product_read(graph, &p))
        return false;
    Blocks b = product_choose(&p, chip);
    if (!b.m)
        return false;
    Buf out = {0};
    add_operands(&s, &p);
    set_operands(&s, &p, &b);
    put_head(&p, &b, chip, &out);
    if (b.slices > 1)
        put_slices(&s, &p, &b, &out);
    else if (p.bias != VALUE_NONE)
        put_bias(&s, &p, &b, &out);
    else
        put_plain(&s, &p, &out);
    script_finish(&s, "product", b.m * b.n, &out, plan);
    return true;
}
