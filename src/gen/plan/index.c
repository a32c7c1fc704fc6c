/* Planning one indexing operator. In: a graph of one node. Out: a Craft program. A tensor is seen
 * as [outer, n, inner] around the indexed dimension. */
#include "gen/plan/index.h"

#include "gen/plan/script.h"

enum { MOST_BLOCK = 1024 }; /* rows of a copy */

typedef struct Index {
    Script s;
    const Node *node;
    const Value *x, *at, *y;
    ValueId x_id, at_id, from_id; /* from_id: what is written; VALUE_NONE: nothing */
    int dim;
    int64_t outer, n, inner, m;
    int64_t tile;
} Index;

static const char head[] = "craft = 1\n\n"
                           "outer = dim(1, 16777216)\nn = dim(1, 16777216)\nm = dim(1, 16777216)\n";
static const char positions[] =
    "# Positions of 64 bits are read as 32: the tiling function takes sizes up to 2^24 only.\n";
static const char inner_dim[] = "inner = dim(1, 16777216)\n";

/* ---- rows by number: embedding, index_select, x[i] ---- */

static const char take_host[] = "\n@host\ndef $F($P):\n"
                                "    tile = choose(\"tile\", [$S, 4096, 2048])\n";
static const char take_launch[] = "    $F_take[chip.cores]($A, tile)\n";
static const char take_blocks_launch[] =
    "    if inner <= $W:\n"
    "        block = min($R, ceildiv(outer * m, chip.cores))\n"
    "        $F_blocks[min(chip.cores, outer * ceildiv(m, block))]($A, block)\n"
    "    else:\n"
    "        $F_take[chip.cores]($A, tile)\n";

static const char take_rows[] = "\n@kernel\ndef $F_take($P, tile: i32):\n"
                                "    a = ub($T, tile, depth=2)\n"
                                "    for i, o, t in mine(m, outer, tiles(inner, tile)):\n"
                                "        p = at[i]\n"
                                "        r = p + n if p < 0 else p\n"
                                "        with copyin():\n"
                                "            load(a[:t.size], x[o, r, t])\n"
                                "        with copyout():\n"
                                "            store(y[o, i, t], a[:t.size])\n";

static const char take_blocks[] = "\n@kernel\ndef $F_blocks($P, block: i32):\n"
                                  "    a = ub($T, $R, $W, depth=2)\n"
                                  "    for o, b in mine(outer, tiles(m, block)):\n"
                                  "        for i in range(b.size):\n"
                                  "            p = at[b.start + i]\n"
                                  "            r = p + n if p < 0 else p\n"
                                  "            with copyin():\n"
                                  "                load(a[i, :inner], x[o, r, :])\n"
                                  "        with copyout():\n"
                                  "            store(y[o, b, :], a[:b.size, :inner])\n";

/* Blocks of rows that are next to each other are one copy, where two and more fit on chip. */
static bool set_blocks(Index *x)
{
    int64_t width = (x->inner + 7) / 8 * 8, rows = 4 * x->tile / width;
    script_number(&x->s, 'W', width);
    script_number(&x->s, 'R', rows < MOST_BLOCK ? rows : MOST_BLOCK);
    return rows > 1;
}

static void put_take_rows(Index *x, Buf *out)
{
    bool blocks = set_blocks(x);
    buf_puts(out, "# Rows are copied whole, one scalar index each; bound by memory, nothing is "
                  "computed.\n");
    buf_puts(out, head);
    buf_puts(out, inner_dim);
    script_put(&x->s, take_host, out);
    script_put(&x->s, blocks ? take_blocks_launch : take_launch, out);
    if (blocks)
        script_put(&x->s, take_blocks, out);
    script_put(&x->s, take_rows, out);
}

/* ---- elements of a row by number ---- */

static const char take_elements[] =
    "\n@host\ndef $F($P):\n"
    "    $F_gather[chip.cores]($A)\n"
    "\n@kernel\ndef $F_gather($P):\n"
    "    row = ub($T, $S, depth=2)\n"
    "    index = ub($I, $C, depth=2)\n"
    "    place = ub(i32, $C)\n"
    "    near = ub(i32, $C)\n"
    "    found = ub($T, $C)\n"
    "    y_out = ub($T, $C, depth=2)\n"
    "    for o, t in mine(outer, tiles(m, $C)):\n"
    "        with copyin():\n"
    "            load(index[:t.size], at[$Ot])\n"
    "        with compute():\n"
    "            place[:t.size] = cast(index[:t.size], i32)\n"
    "            y_out[:t.size] = $Z\n"
    "        for c in tiles(n, $S):\n"
    "            with copyin():\n"
    "                load(row[:c.size], x[o, c])\n"
    "            with compute():\n"
    "                near[:t.size] = min(max(place[:t.size] - c.start, 0), c.size - 1)\n"
    "                found[:t.size] = gather(row[:c.size], near[:t.size])\n"
    "                y_out[:t.size] = where(place[:t.size] >= c.start, found[:t.size], "
    "y_out[:t.size])\n"
    "        with copyout():\n"
    "            store(y[o, t], y_out[:t.size])\n";

/* Elements of 1 and 8 bytes: Gather has no form for them. */
static const char take_single[] = "\n@host\ndef $F($P):\n"
                                  "    $F_pick[chip.cores]($A)\n"
                                  "\n@kernel\ndef $F_pick($P):\n"
                                  "    row = ub($T, $S, depth=2)\n"
                                  "    index = ub($I, $C, depth=2)\n"
                                  "    place = ub(i32, $C)\n"
                                  "    y_out = ub($T, $C, depth=2)\n"
                                  "    for o, t in mine(outer, tiles(m, $C)):\n"
                                  "        with copyin():\n"
                                  "            load(index[:t.size], at[$Ot])\n"
                                  "        with compute():\n"
                                  "            place[:t.size] = cast(index[:t.size], i32)\n"
                                  "        for c in tiles(n, $S):\n"
                                  "            with copyin():\n"
                                  "                load(row[:c.size], x[o, c])\n"
                                  "            with compute():\n"
                                  "                for k in range(t.size):\n"
                                  "                    p = place[k]\n"
                                  "                    q = (p + n if p < 0 else p) - c.start\n"
                                  "                    if q >= 0 and q < c.size:\n"
                                  "                        y_out[k] = row[q]\n"
                                  "        with copyout():\n"
                                  "            store(y[o, t], y_out[:t.size])\n";

static void put_take_single(Index *x, Buf *out)
{
    script_number(&x->s, 'S', x->tile * 2);
    script_number(&x->s, 'C', x->tile);
    buf_puts(out, "# Rows are read whole and their elements picked one by one: no instruction "
                  "gathers elements of this width.\n");
    buf_puts(out, positions);
    buf_puts(out, head);
    script_put(&x->s, take_single, out);
}

static void put_take_elements(Index *x, Buf *out)
{
    script_number(&x->s, 'S', x->tile * 2);
    script_number(&x->s, 'C', x->tile);
    script_set(&x->s, 'Z', dtype_is_int(x->x->dtype) ? "0" : "0.0");
    buf_printf(out,
               "# Rows are read whole, %lld elements at a time, and gathered from on chip: random "
               "access costs\n# nothing in memory. A longer row is read in pieces; the last piece "
               "that holds a place wins.\n",
               (long long)x->tile * 2);
    buf_puts(out, positions);
    buf_puts(out, head);
    script_put(&x->s, take_elements, out);
}

/* ---- rows added: copy, then atomic adds ---- */

static const char add_host[] = "\n@host\ndef $F($P):\n"
                               "    tile = choose(\"tile\", [$S, 4096, 2048])\n";
static const char add_launch[] = "    $F_copy[chip.cores](x, y, tile)\n"
                                 "    $F_add[chip.cores](at, v, y, tile)\n";
static const char add_blocks_launch[] =
    "    if inner <= $W:\n"
    "        each = min($R, ceildiv(outer * n, chip.cores))\n"
    "        block = min($R, ceildiv(outer * m, chip.cores))\n"
    "        $F_copy_blocks[min(chip.cores, outer * ceildiv(n, each))](x, y, each)\n"
    "        $F_add_blocks[min(chip.cores, outer * ceildiv(m, block))](at, v, y, block)\n"
    "    else:\n"
    "        $F_copy[chip.cores](x, y, tile)\n"
    "        $F_add[chip.cores](at, v, y, tile)\n";

static const char add_blocks[] =
    "\n@kernel\ndef $F_copy_blocks(x: gm[$T, outer, n, inner], y: out[$T, outer, n, inner], "
    "each: i32):\n"
    "    a = ub($T, $R, $W, depth=2)\n"
    "    for o, b in mine(outer, tiles(n, each)):\n"
    "        with copyin():\n"
    "            load(a[:b.size, :inner], x[o, b, :])\n"
    "        with copyout():\n"
    "            store(y[o, b, :], a[:b.size, :inner])\n"
    "\n@kernel\ndef $F_add_blocks(at: gm[$I, m], v: gm[$T, outer, m, inner], "
    "y: inout[$T, outer, n, inner], block: i32):\n"
    "    a = ub($T, $R, $W, depth=2)\n"
    "$D"
    "    for o, b in mine(outer, tiles(m, block)):\n"
    "        with copyin():\n"
    "            load(a[:b.size, :inner], v[o, b, :])\n"
    "$E"
    "        for i in range(b.size):\n"
    "            p = at[b.start + i]\n"
    "            r = p + n if p < 0 else p\n"
    "            with copyout():\n"
    "                $K(y[o, r, :], $V[i, :inner])\n";

static const char add_rows[] =
    "\n@kernel\ndef $F_copy(x: gm[$T, outer, n, inner], y: out[$T, outer, n, inner], tile: i32):\n"
    "    a = ub($T, tile, depth=2)\n"
    "    for o, r, t in mine(outer, n, tiles(inner, tile)):\n"
    "        with copyin():\n"
    "            load(a[:t.size], x[o, r, t])\n"
    "        with copyout():\n"
    "            store(y[o, r, t], a[:t.size])\n"
    "\n@kernel\ndef $F_add(at: gm[$I, m], v: gm[$T, outer, m, inner], "
    "y: inout[$T, outer, n, inner], tile: i32):\n"
    "    a = ub($T, tile, depth=2)\n"
    "$B"
    "    for o, i, t in mine(outer, m, tiles(inner, tile)):\n"
    "        p = at[i]\n"
    "        r = p + n if p < 0 else p\n"
    "        with copyin():\n"
    "            load(a[:t.size], v[o, i, t])\n"
    "$C"
    "        with copyout():\n"
    "            $K(y[o, r, t], $V[:t.size])\n";

static void put_add_rows(Index *x, Buf *out)
{
    double alpha = node_float(x->node, AT_ALPHA, 1);
    bool blocks = set_blocks(x);
    Str reduction = node_text(x->node, AT_REDUCTION);
    script_set(&x->s, 'K',
               str_is(reduction, "max")   ? "store_max"
               : str_is(reduction, "min") ? "store_min"
                                          : "store_add");
    script_set(&x->s, 'V', alpha == 1 ? "a" : "c");
    if (alpha != 1) {
        const char *type = dtype_name(x->x->dtype);
        script_set(&x->s, 'B', str_format(x->s.arena, "    c = ub(%s, tile, depth=2)\n", type));
        script_set(&x->s, 'C',
                   str_format(x->s.arena,
                              "        with compute():\n            c[:t.size] = a[:t.size] * "
                              "%.9g\n",
                              alpha));
        script_set(&x->s, 'D',
                   str_format(x->s.arena, "    c = ub(%s, %s, %s, depth=2)\n", type,
                              x->s.hole['R' - 'A'], x->s.hole['W' - 'A']));
        script_set(&x->s, 'E',
                   str_format(x->s.arena,
                              "        with compute():\n            c[:b.size, :inner] = "
                              "a[:b.size, :inner] * %.9g\n",
                              alpha));
    }
    buf_puts(out, "# x is copied, then each row is added to its place by an atomic store: places "
                  "may repeat, and\n# no core waits for another; the order of additions varies.\n");
    buf_puts(out, head);
    buf_puts(out, inner_dim);
    script_put(&x->s, add_host, out);
    script_put(&x->s, blocks ? add_blocks_launch : add_launch, out);
    if (blocks)
        script_put(&x->s, add_blocks, out);
    script_put(&x->s, add_rows, out);
}

/* ---- rows replaced: each result row looks up who writes it last ---- */

static const char set_rows[] = "\n@host\ndef $F($P):\n"
                               "    block = min(ceildiv(n, chip.cores), 2048)\n"
                               "    $F_set[chip.cores]($A, block)\n"
                               "\n@kernel\ndef $F_set($P, block: i32):\n"
                               "    index = ub($I, 1024, depth=2)\n"
                               "    place = ub(i32, 1024)\n"
                               "    last = ub(i32, 2048)\n"
                               "    a = ub($T, $S, depth=2)\n"
                               "    for b in mine(tiles(n, block)):\n"
                               "        with compute():\n"
                               "            last[:b.size] = -1\n"
                               "        for t in tiles(m, 1024):\n"
                               "            with copyin():\n"
                               "                load(index[:t.size], at[t])\n"
                               "            with compute():\n"
                               "                place[:t.size] = cast(index[:t.size], i32)\n"
                               "                for k in range(t.size):\n"
                               "                    p = place[k]\n"
                               "                    q = p + n if p < 0 else p\n"
                               "                    if q >= b.start and q < b.stop:\n"
                               "                        last[q - b.start] = t.start + k\n"
                               "        for r in range(b.start, b.stop):\n"
                               "            with compute():\n"
                               "                w = last[r - b.start]\n"
                               "            for o in range(outer):\n"
                               "                for t in tiles(inner, $S):\n"
                               "                    if w < 0:\n"
                               "                        with copyin():\n"
                               "                            load(a[:t.size], x[o, r, t])\n"
                               "                        with copyout():\n"
                               "                            store(y[o, r, t], a[:t.size])\n"
                               "                    else:\n"
                               "                        with copyin():\n"
                               "                            load(a[:t.size], v[o, $W, t])\n"
                               "                        with copyout():\n"
                               "                            store(y[o, r, t], a[:t.size])\n";

static void put_set_rows(Index *x, Buf *out)
{
    const Value *v = graph_value(x->s.g, x->from_id);
    bool one = x->m > 1 && script_product(v->shape, 0, v->shape.rank) == x->outer * x->inner;
    script_set(&x->s, 'W', one ? "0" : "w");
    buf_puts(out,
             "# Each core looks through the places once for the rows it owns and keeps the "
             "last that names each;\n# then every row of the result is written once, from x or "
             "from the new rows: no order between\n# cores matters.\n");
    buf_puts(out, positions);
    buf_puts(out, head);
    buf_puts(out, inner_dim);
    script_put(&x->s, set_rows, out);
}

/* ---- elements of a row written ---- */

static const char set_elements[] = "\n@host\ndef $F($P):\n"
                                   "    $F_scatter[chip.cores]($A)\n"
                                   "\n@kernel\ndef $F_scatter($P):\n"
                                   "    row = ub($T, $S, depth=2)\n"
                                   "    index = ub($I, $C, depth=2)\n"
                                   "    place = ub(i32, $C)\n"
                                   "$B"
                                   "    for o, c in mine(outer, tiles(n, $S)):\n"
                                   "        with copyin():\n"
                                   "            load(row[:c.size], x[o, c])\n"
                                   "        for t in tiles(m, $C):\n"
                                   "            with copyin():\n"
                                   "                load(index[:t.size], at[o, t])\n"
                                   "$L"
                                   "            with compute():\n"
                                   "                place[:t.size] = cast(index[:t.size], i32)\n"
                                   "                for k in range(t.size):\n"
                                   "                    p = place[k] - c.start\n"
                                   "                    if p >= 0 and p < c.size:\n"
                                   "                        row[p] = $V\n"
                                   "        with copyout():\n"
                                   "            store(y[o, c], row[:c.size])\n";

static const char *scatter_value(uint16_t kind)
{
    switch (kind) {
    case SCATTER_set: return "%s";
    case SCATTER_add: return "row[p] + %s";
    case SCATTER_multiply: return "row[p] * %s";
    case SCATTER_max: return "max(row[p], %s)";
    case SCATTER_min: return "min(row[p], %s)";
    default: return NULL;
    }
}

static void put_set_elements(Index *x, Buf *out)
{
    const char *form = scatter_value(x->node->kind), *value = "v_in[k]";
    const Value *v = graph_value(x->s.g, x->from_id);
    Buf text = {0};
    if (v->kind == VALUE_CONST) {
        value = str_format(x->s.arena, dtype_is_int(x->x->dtype) ? "%.0f" : "%#.9g",
                           dtype_load(v->dtype, v->data, 0));
    } else {
        script_set(&x->s, 'B',
                   str_format(x->s.arena, "    v_in = ub(%s, %lld, depth=2)\n",
                              dtype_name(v->dtype), (long long)x->tile));
        script_set(&x->s, 'L', "                load(v_in[:t.size], v[o, t])\n");
    }
    for (const char *c = form; *c; c++)
        if (*c == '%' && *++c == 's')
            buf_puts(&text, value);
        else
            buf_char(&text, *c);
    script_set(&x->s, 'V', buf_take(&text, x->s.arena));
    buf_free(&text);
    script_number(&x->s, 'S', x->tile * 2);
    script_number(&x->s, 'C', x->tile);
    buf_printf(out,
               "# A row, or %lld elements of it, stays on chip while its places are written one by "
               "one, in order:\n# of repeated places the last counts, and no atomics are needed.\n",
               (long long)x->tile * 2);
    buf_puts(out, positions);
    buf_puts(out, head);
    script_put(&x->s, set_elements, out);
}

/* ---- which one ---- */

typedef void IndexForm(Index *x, Buf *out);

static void add_operands(Index *x, bool rows)
{
    Script *s = &x->s;
    if (rows) {
        script_add(s, x->x_id, false, "x", "outer, n, inner",
                   script_shape3(x->outer, x->n, x->inner));
        script_add(s, x->at_id, false, "at", "m", (Shape){1, {x->m}});
        script_add(s, x->node->out, true, "y",
                   x->from_id == VALUE_NONE ? "outer, m, inner" : "outer, n, inner",
                   script_shape3(x->outer, x->from_id == VALUE_NONE ? x->m : x->n, x->inner));
    } else {
        bool each = x->at->shape.rank == x->x->shape.rank && x->node->op != OP_INDEX_SELECT;
        script_set(s, 'O', each ? "o, " : "");
        script_add(s, x->x_id, false, "x", "outer, n", script_shape2(x->outer, x->n));
        script_add(s, x->at_id, false, "at", each ? "outer, m" : "m",
                   each ? script_shape2(x->outer, x->m) : (Shape){1, {x->m}});
        script_add(s, x->node->out, true, "y", x->from_id == VALUE_NONE ? "outer, m" : "outer, n",
                   script_shape2(x->outer, x->from_id == VALUE_NONE ? x->m : x->n));
    }
    script_set(s, 'T', dtype_name(x->x->dtype));
    script_set(s, 'I', dtype_name(x->at->dtype));
}

static bool narrow(DType d)
{
    return d == DT_F32 || d == DT_F16 || d == DT_BF16 || d == DT_I32 || d == DT_I16;
}

/* Gather and scatter want the same rows in x, index and source. */
static bool same_rows(const Index *x, const Value *v)
{
    bool same = v->shape.rank == x->x->shape.rank;
    for (int i = 0; same && i < x->dim; i++)
        same = v->shape.dim[i] == x->x->shape.dim[i];
    return same;
}

static const char *choose_form(Index *x, IndexForm **form)
{
    bool last = x->dim == x->x->shape.rank - 1;
    const Value *from = x->from_id == VALUE_NONE ? NULL : graph_value(x->s.g, x->from_id);
    switch (x->node->op) {
    case OP_GATHER:
        if (!last || !same_rows(x, x->at))
            return "only along the last dimension";
        *form = narrow(x->x->dtype) ? put_take_elements : put_take_single;
        return NULL;
    case OP_SCATTER:
        if (!last || !same_rows(x, x->at))
            return "only along the last dimension";
        if (!scatter_value(x->node->kind) || node_float(x->node, AT_B, 0) != 0)
            return "this reduction";
        if (from->kind != VALUE_CONST && !shape_equal(from->shape, x->at->shape))
            return "a source larger than the index";
        *form = put_set_elements;
        return NULL;
    case OP_INDEX_ADD: *form = put_add_rows; break;
    case OP_INDEX_COPY:
    case OP_INDEX_PUT: *form = put_set_rows; break;
    default:
        *form = !last || x->inner != 1 || x->n == 1 ? put_take_rows
                : narrow(x->x->dtype)               ? put_take_elements
                                                    : put_take_single;
        break;
    }
    if (from && from->dtype != x->x->dtype)
        return "rows of another dtype";
    return NULL;
}

static const char *read_index(Index *x)
{
    const Node *node = x->node;
    const Graph *g = x->s.g;
    bool put = node->op == OP_INDEX_PUT, index = node->op == OP_INDEX;
    x->x_id = node->in[0];
    x->from_id = node->n_in > 2 ? node->in[put ? 1 : 2] : VALUE_NONE;
    x->at_id = node->in[put ? 2 : 1];
    if ((put && node->n_in != 3) || (index && node->n_in != 2) ||
        (put && node_bool(node, AT_ACCUMULATE)))
        return "more than one index";
    x->x = graph_value(g, x->x_id);
    x->at = graph_value(g, x->at_id);
    x->y = graph_value(g, node->out);
    const Attr *dims = node_attr(node, AT_DIMS);
    int64_t dim = put || index ? (dims && dims->ints.len ? dims->ints.at[0] : 0)
                               : node_int(node, AT_DIM, 0);
    if (x->x->shape.rank == 0 || !shape_dim(x->x->shape, dim, &x->dim))
        return "a scalar";
    if (!dtype_is_int(x->at->dtype) || (x->at->dtype != DT_I64 && x->at->dtype != DT_I32))
        return "an index that is no i64 or i32";
    x->outer = script_product(x->x->shape, 0, x->dim);
    x->n = x->x->shape.dim[x->dim];
    x->inner = script_product(x->x->shape, x->dim + 1, x->x->shape.rank);
    bool elements = node->op == OP_GATHER || node->op == OP_SCATTER;
    x->m = elements ? x->at->shape.dim[x->at->shape.rank - 1]
                    : script_product(x->at->shape, 0, x->at->shape.rank);
    return NULL;
}

static bool is_index(Op op)
{
    return op == OP_GATHER || op == OP_SCATTER || op == OP_INDEX_SELECT || op == OP_INDEX_ADD ||
           op == OP_INDEX_COPY || op == OP_INDEX || op == OP_INDEX_PUT || op == OP_EMBEDDING;
}

static const char *write_index(Index *x, const NpuChip *chip, Plan *plan)
{
    IndexForm *form = NULL;
    const char *why = read_index(x);
    why = why ? why : choose_form(x, &form);
    if (why)
        return why;
    bool rows = form != put_take_elements && form != put_take_single && form != put_set_elements;
    add_operands(x, rows);
    if (x->from_id != VALUE_NONE && graph_value(x->s.g, x->from_id)->kind != VALUE_CONST) {
        int64_t count = script_product(graph_value(x->s.g, x->from_id)->shape, 0,
                                       graph_value(x->s.g, x->from_id)->shape.rank);
        bool one = rows && count == x->outer * x->inner && x->m > 1;
        if (count != x->outer * x->m * (rows ? x->inner : 1) && !one)
            return "a source that is repeated";
        script_add(&x->s, x->from_id, false, "v",
                   rows ? (one ? "outer, 1, inner" : "outer, m, inner") : "outer, m",
                   rows ? script_shape3(x->outer, one ? 1 : x->m, x->inner)
                        : script_shape2(x->outer, x->m));
    }
    if (rows)
        script_number(&x->s, 'S', x->tile * 4);
    Buf out = {0};
    buf_printf(&out, "# Planned by acraft for %s, strategy index.\n", chip->name);
    form(x, &out);
    script_finish(&x->s, "index", x->tile, &out, plan);
    return NULL;
}

bool plan_index(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
                const char *name, Plan *plan, Diag *diag)
{
    Index x = {.node = &graph->nodes.at[0], .tile = 2048};
    if (graph->nodes.len != 1 || !is_index(x.node->op))
        return false;
    x.s = (Script){.arena = arena, .g = graph, .name = name};
    if (tile_limit && tile_limit < x.tile)
        x.tile = tile_limit;
    const char *why = write_index(&x, chip, plan);
    if (why)
        diag_error(diag, "G001", x.node->at, "the planner cannot plan %s yet: %s",
                   op_rows[x.node->op].name, why);
    return !why;
}
