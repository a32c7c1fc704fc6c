/* Convolutions as Craft. In: a graph that is one conv_taps. Out: the program, with its reasons. */
#include "gen/plan/cube/conv.h"

#include "gen/plan/clock.h"
#include "gen/plan/cube/tail.h"
#include "gen/plan/fit.h"

/* $M outputs, $N columns of a tile; $K $L k of L1, of L0; the number: columns of a tile of L1; $E depth of L0C; $C channels, $O outputs of a group;
 * $J columns of this tile; $S the shift of tap `u`; $D $Q loops over places; $X first place of the tile; $U images. A tile
 * has outputs `c` and whole rows `h` of places, or a part `t` of one row. */
static const char tiles_text[] = "    a1 = l1($T, $M, $K, depth=2)\n"
                                 "    b1 = l1($T, $K, %lld, depth=2)\n"
                                 "    a0 = l0a($T, $M, $L, depth=2)\n"
                                 "    b0 = l0b($T, $L, $N, depth=2)\n"
                                 "    acc = l0c(f32, $M, $N, depth=$E)\n";

/* Some channels of one tap after the other; %s multiplies. */
static const char deep_text[] =
    "        for u in range($Z):\n"
    "            for e in tiles($C, $K):\n"
    "                shift = $S\n"
    "                with copyin():\n"
    "                    load(a1[:c.size, :e.size], w[$R, u * $C + e.start : u * $C + e.stop])\n"
    "                    load(b1[:e.size, :$J], x[z, g * $C + e.start : g * $C + e.stop,\n"
    "                            $X + shift : $X + shift + $J])\n"
    "                for s in tiles(e.size, $L):\n"
    "                    with copyin():\n"
    "                        load(a0[:c.size, :s.size], a1[:c.size, s])\n"
    "                        load(b0[:s.size, :$J], b1[s, :$J])\n"
    "                    with compute():\n"
    "                        %s(acc[:c.size, :$J], a0[:c.size, :s.size], b0[:s.size, :$J],\n"
    "                                init=u == 0 and e.index == 0 and s.index == 0)\n";

/* All channels of several taps at once; %s multiplies. */
static const char taps_text[] =
    "        for e in tiles($Z, $B):\n"
    "            with copyin():\n"
    "                load(a1[:c.size, :e.size * $C], w[$R, e.start * $C : e.stop * $C])\n"
    "                for v in range(e.size):\n"
    "                    u = e.start + v\n"
    "                    shift = $S\n"
    "                    load(b1[v * $C : v * $C + $C, :$J], x[z, g * $C : g * $C + $C,\n"
    "                            $X + shift : $X + shift + $J])\n"
    "            for s in tiles(e.size * $C, $L):\n"
    "                with copyin():\n"
    "                    load(a0[:c.size, :s.size], a1[:c.size, s])\n"
    "                    load(b0[:s.size, :$J], b1[s, :$J])\n"
    "                with compute():\n"
    "                    %s(acc[:c.size, :$J], a0[:c.size, :s.size], b0[:s.size, :$J],\n"
    "                            init=e.index == 0 and s.index == 0)\n";

static const char *multiply(const Taps *t) { return t->hf32 ? "mmad_hf32" : "mmad"; }

/* Some channels of one column of the window at once: its rows stand whole rows of places apart. Numbers: columns and rows of
 * the window, columns that the rows add, from column to column, from row to row. */
static const char *shared_text(Arena *arena, const Taps *t)
{
    long long across = (long long)t->k[2], down = (long long)t->k[1];
    long long step = (long long)t->dilation[2], pitch = (long long)(t->dilation[1] * t->in[2]);
    long long more = (down - 1) * pitch;
    return str_format(
        arena,
        "        for v in range(%lld):\n"
        "            for e in tiles($C, $K):\n"
        "                with copyin():\n"
        "                    load(b1[:e.size, :$J + %lld], x[z, g * $C + e.start : g * $C + "
        "e.stop,\n"
        "                            $X + v * %lld : $X + v * %lld + $J + %lld])\n"
        "                for u in range(%lld):\n"
        "                    tap = u * %lld + v\n"
        "                    with copyin():\n"
        "                        load(a1[:c.size, :e.size], w[$R, tap * $C + e.start : tap * $C + "
        "e.stop])\n"
        "                    for s in tiles(e.size, $L):\n"
        "                        with copyin():\n"
        "                            load(a0[:c.size, :s.size], a1[:c.size, s])\n"
        "                            load(b0[:s.size, :$J], b1[s, u * %lld : u * %lld + $J])\n"
        "                        with compute():\n"
        "                            %s(acc[:c.size, :$J], a0[:c.size, :s.size], b0[:s.size, "
        ":$J],\n"
        "                                    init=v == 0 and e.index == 0 and u == 0 and s.index "
        "== 0)\n",
        across, more, step, step, more, down, across, pitch, pitch, multiply(t));
}

static const char rows_loop[] = "for z, g, d, h, c in mine($U, $G, $D, tiles($Q, $H), "
                                "tiles($O, $M)):\n";
static const char rows_store[] =
    "        with copyout():\n"
    "            for q in range(h.size):\n"
    "                store(y[z, $R, d, h.start + q, :], acc[:c.size, q * $I : q * $I + $Y])\n";
static const char part_loop[] = "for z, g, d, h, t, c in mine($U, $G, $D, $Q, "
                                "tiles($Y, $N), tiles($O, $M)):\n";
static const char part_store[] = "        with copyout():\n"
                                 "            store(y[z, $R, d, h, t], acc[:c.size, :t.size])\n";

static const char send_text[] = "        for r in tiles(c.size, $V):\n"
                                "            with copyout():\n"
                                "                send(done, acc[r, :$J])\n";

/* ---- reading ---- */

static bool is_tensor(const Graph *g, ValueId id)
{
    ValueKind kind = graph_value(g, id)->kind;
    return kind != VALUE_NODE && kind != VALUE_CONST;
}

bool conv_read(const Graph *graph, Taps *t)
{
    const Node *node = graph->nodes.len == 1 ? &graph->nodes.at[0] : NULL;
    if (!node || node->op != OP_CONV_TAPS || !is_tensor(graph, node->in[0]) ||
        !is_tensor(graph, node->in[1]) || node->in[0] == node->in[1] || graph->outputs.len != 1)
        return false;
    Shape x = graph_value(graph, node->in[0])->shape, w = graph_value(graph, node->in[1])->shape;
    Shape y = graph_value(graph, node->out)->shape;
    *t = (Taps){.x = node->in[0],
                .w = node->in[1],
                .y = node->out,
                .dtype = graph_value(graph, node->out)->dtype,
                .hf32 = node_bool(node, AT_HF32),
                .images = x.dim[0],
                .groups = node_int(node, AT_GROUPS, 1),
                .channels = w.dim[4],
                .phases = x.dim[2],
                .start = node_int(node, AT_START, 0)};
    t->outputs = w.dim[0] / t->groups;
    for (int i = 0; i < CONV_DIMS; i++) {
        t->in[i] = x.dim[3 + i];
        t->out[i] = y.dim[2 + i];
        t->k[i] = w.dim[1 + i];
        t->stride[i] = node_attr(node, AT_STRIDE)->ints.at[i];
        t->dilation[i] = node_attr(node, AT_DILATION)->ints.at[i];
    }
    return graph_value(graph, t->x)->dtype == t->dtype &&
           graph_value(graph, t->w)->dtype == t->dtype &&
           (t->dtype == DT_F32 || t->dtype == DT_F16 || t->dtype == DT_BF16);
}

/* ---- the text ---- */

/* How far tap `u` of dimension i stands from the first: "u // 3 % 3 * 2". NULL: there is one. */
static const char *tap_text(Arena *arena, const Taps *t, int i)
{
    int64_t inner = 1;
    bool outermost = true;
    for (int k = i + 1; k < CONV_DIMS; k++)
        inner *= t->k[k];
    for (int k = 0; k < i; k++)
        outermost = outermost && t->k[k] == 1;
    if (t->k[i] == 1)
        return NULL;
    const char *text = inner > 1 ? str_format(arena, "u // %lld", (long long)inner) : "u";
    if (!outermost)
        text = str_format(arena, "%s %% %lld", text, (long long)t->k[i]);
    return t->dilation[i] > 1 ? str_format(arena, "%s * %lld", text, (long long)t->dilation[i])
                              : text;
}

static void add_term(Buf *out, const char *text, int64_t times)
{
    if (times == 1)
        buf_printf(out, "%s%s", out->len ? " + " : "", text);
    else
        buf_printf(out, "%s%s * %lld", out->len ? " + " : "", text, (long long)times);
}

/* The place that tap `u` sees from place 0: phase by phase, row by row. */
static const char *shift_text(Arena *arena, const Taps *t)
{
    Buf out = {0};
    int64_t volume = t->in[0] * t->in[1] * t->in[2];
    for (int i = 0; i < CONV_DIMS; i++) {
        const char *tap = tap_text(arena, t, i);
        int64_t apart = 1, phases = volume;
        for (int k = i + 1; k < CONV_DIMS; k++) {
            apart *= t->in[k];
            phases *= t->stride[k];
        }
        if (!tap)
            continue;
        if (t->stride[i] == 1) {
            add_term(&out, tap, apart);
            continue;
        }
        long long stride = (long long)t->stride[i];
        add_term(&out, str_format(arena, "(%s) %% %lld", tap, stride), phases);
        if ((t->k[i] - 1) * t->dilation[i] >= t->stride[i])
            add_term(&out, str_format(arena, "(%s) // %lld", tap, stride), apart);
    }
    const char *text = out.len ? buf_take(&out, arena) : "0";
    buf_free(&out);
    return text;
}

static const char *numbers(Arena *arena, const char *first, int n, const int64_t *at)
{
    Buf out = {0};
    buf_puts(&out, first);
    for (int i = 0; i < n; i++)
        buf_printf(&out, ", %lld", (long long)at[i]);
    const char *text = buf_take(&out, arena);
    buf_free(&out);
    return text;
}

static void add_operands(Arena *arena, TailOperands *all, const Taps *t, const char *batch)
{
    int64_t plane = t->phases * t->in[0] * t->in[1] * t->in[2];
    int64_t taps = t->k[0] * t->k[1] * t->k[2], outputs = t->groups * t->outputs;
    int64_t x[] = {t->groups * t->channels, plane}, w[] = {taps * t->channels};
    TailOperand input = {t->x,
                         false,
                         t->dtype,
                         "x",
                         numbers(arena, batch, 2, x),
                         script_shape3(t->images, x[0], x[1])};
    TailOperand weight = {t->w,
                          false,
                          t->dtype,
                          "w",
                          str_format(arena, "%lld, %lld", (long long)outputs, (long long)w[0]),
                          script_shape2(outputs, w[0])};
    vec_push(arena, all, input);
    vec_push(arena, all, weight);
}

static void add_result(Arena *arena, TailOperands *all, const Taps *t, const char *batch)
{
    int64_t y[] = {t->groups * t->outputs, t->out[0], t->out[1], t->out[2]};
    TailOperand result = {t->y,
                          true,
                          t->dtype,
                          "y",
                          numbers(arena, batch, 4, y),
                          (Shape){5, {t->images, y[0], y[1], y[2], y[3]}}};
    vec_push(arena, all, result);
}

/* Columns and first place of a tile. */
static void set_places(Script *s, const Taps *t, const ConvBlocks *b)
{
    long long wide = (long long)t->in[2], plane = (long long)(t->in[1] * t->in[2]);
    long long past = (long long)(t->in[2] - t->out[2]);
    const char *of_d = t->out[0] > 1 ? str_format(s->arena, "d * %lld + ", plane) : "";
    if (t->start)
        of_d = str_format(s->arena, "%s%lld + ", of_d, (long long)t->start);
    if (b->rows) {
        script_set(s, 'J',
                   past ? str_format(s->arena, "h.size * %lld - %lld", wide, past)
                        : str_format(s->arena, "h.size * %lld", wide));
        script_set(s, 'X', str_format(s->arena, "%sh.start * %lld", of_d, wide));
    } else {
        script_set(s, 'J', "t.size");
        script_set(s, 'X', str_format(s->arena, "%sh * %lld + t.start", of_d, wide));
    }
}

static void set_holes(Script *s, const Taps *t, const ConvBlocks *b)
{
    int64_t places = b->rows ? (t->out[1] + b->rows - 1) / b->rows
                             : t->out[1] * ((t->out[2] + b->n - 1) / b->n);
    script_set(s, 'T', dtype_name(t->dtype));
    script_number(s, 'M', b->m);
    script_number(s, 'N', b->n);
    script_number(s, 'K', b->k1);
    script_number(s, 'L', b->k0);
    script_number(s, 'E', b->c_depth);
    script_number(s, 'C', t->channels);
    script_number(s, 'O', t->outputs);
    script_number(s, 'G', t->groups);
    script_number(s, 'W', t->out[0] * places * ((t->outputs + b->m - 1) / b->m));
    script_number(s, 'D', t->out[0]);
    script_number(s, 'Q', t->out[1]);
    script_number(s, 'Y', t->out[2]);
    script_number(s, 'I', t->in[2]);
    script_number(s, 'H', b->rows);
    script_number(s, 'Z', t->k[0] * t->k[1] * t->k[2]);
    script_number(s, 'B', b->taps);
    script_set(s, 'S', shift_text(s->arena, t));
    script_set(s, 'R',
               t->groups == 1 ? "c"
                              : str_format(s->arena, "g * %lld + c.start : g * %lld + c.stop",
                                           (long long)t->outputs, (long long)t->outputs));
    set_places(s, t, b);
}

static void put_head(const Taps *t, const ConvBlocks *b, const NpuChip *chip, Buf *out)
{
    buf_printf(out, "# Planned by acraft for %s, strategy convolution.\n", chip->name);
    buf_printf(out, "# Tiles of L0C: %lld outputs by ", (long long)b->m);
    if (b->rows)
        buf_printf(out,
                   "%lld rows of places, with the %lld columns between them that are not "
                   "stored;\n",
                   (long long)b->rows, (long long)(t->in[2] - t->out[2]));
    else
        buf_printf(out, "up to %lld places of one row;\n", (long long)b->n);
    if (b->shared)
        buf_printf(
            out,
            "# up to %lld channels of a column of the window are one step of L1: its rows are "
            "read from one tile.\n",
            (long long)b->k1);
    else if (b->taps)
        buf_printf(out, "# %lld taps with all their channels are one step of L1.\n",
                   (long long)b->taps);
    else
        buf_printf(out, "# up to %lld channels of one tap are one step of L1.\n", (long long)b->k1);
    buf_puts(out, "craft = 1\n\n");
}

/* The host function and the head of the kernel. */
static void put_launch(Script *s, const ConvBlocks *b, const TailOperands *all, bool vector,
                       Buf *out)
{
    script_put(s, "    $F_taps[min(chip.cube_cores, $U * $G * $W)](", out);
    tail_parameters(all, all, false, out);
    buf_printf(out, ")\n\n@kernel(cube%s)\ndef %s_taps(", vector ? ", vector" : "", s->name);
    tail_parameters(all, all, true, out);
    buf_puts(out, "):\n");
    long long columns = (long long)(b->shared ? b->shared : b->n);
    script_put(s, str_format(s->arena, tiles_text, columns), out);
}

static const char *steps_text(Arena *arena, const Taps *t, const ConvBlocks *b)
{
    return b->shared ? shared_text(arena, t)
                     : str_format(arena, b->taps ? taps_text : deep_text, multiply(t));
}

static const char *filled(const Script *s, const char *text)
{
    Buf out = {0};
    script_put(s, text, &out);
    const char *filled = buf_take(&out, s->arena);
    buf_free(&out);
    return filled;
}

/* ---- with what follows ---- */

/* Loop variables have the names that the rest gives its axes. */
static const char *tail_items(const Script *s, const Tail *tail, const ConvBlocks *b)
{
    static const char *const loops[] = {"z", NULL, "d", "h"};
    Buf out = {0};
    script_put(s, b->rows ? rows_loop : part_loop, &out);
    for (uint32_t i = 0; i < 4; i++)
        if (loops[i] && tail->axis[i] && !(i == 3 && b->rows))
            buf_printf(&out, "    %s = %s\n", tail_loop(tail, i), loops[i]);
    const char *text = buf_take(&out, s->arena);
    buf_free(&out);
    return text;
}

static TailTiles tail_tiles(Script *s, const Taps *t, const ConvBlocks *b, const Tail *tail,
                            int64_t rows)
{
    bool one = tail->axis[TAIL_ROWS] == 0, several = b->rows && tail->axis[3];
    const char *high = one ? "0" : ":r.size";
    TailTiles tiles = {.rows = rows,
                       .lanes = b->rows ? t->out[2] : b->n,
                       .whole = b->rows != 0,
                       .loop = tail_items(s, tail, b),
                       .walked = 3};
    tiles.receive = str_format(s->arena, "with copyin():\n    recv(p[:%s.size, :%s], done)\n",
                               one ? "c" : "r", filled(s, "$J"));
    if (several) {
        const char *row = tail_loop(tail, 3);
        const char *from = str_format(s->arena, "(%s - h.start) * %lld", row, (long long)t->in[2]);
        tiles.inner = str_format(s->arena, "for %s in range(h.start, h.stop):", row);
        tiles.view = str_format(s->arena, "p[%s, %s : %s + %lld]", high, from, from,
                                (long long)t->out[2]);
    } else {
        tiles.view = str_format(s->arena, "p[%s, :%s]", high, b->rows ? filled(s, "$Y") : "t.size");
    }
    return tiles;
}

static bool put_fused(Script *s, const Taps *t, const ConvBlocks *b, const TailOperands *all,
                      Tail *tail, int64_t rows, Buf *out)
{
    TailTiles tiles = tail_tiles(s, t, b, tail, rows);
    Buf body = {0};
    tail_dims(tail, out);
    script_number(s, 'V', rows);
    script_put(s, "\n@host\ndef $F($P):\n", out);
    tail_bounds(tail, out);
    put_launch(s, b, all, true, out);
    buf_printf(out, "    done = channel(f32, %lld, %lld, depth=4)\n", (long long)rows,
               (long long)b->n);
    buf_printf(out, "    p = ub(f32, %lld, %lld, depth=2)\n", (long long)rows, (long long)b->n);
    bool ok = tail_put(tail, &tiles, 2, out, &body);
    buf_puts(out, "    with cube():\n");
    Buf cube = {0};
    buf_puts(&cube, "    ");
    script_put(s, b->rows ? rows_loop : part_loop, &cube);
    script_put(s, steps_text(s->arena, t, b), &cube);
    script_put(s, send_text, &cube);
    Str rest = buf_view(&cube), line;
    while (str_next(&rest, '\n', &line))
        if (line.len)
            buf_printf(out, "    %.*s\n", STR_ARG(line));
    buf_puts(out, "    with vector():\n");
    buf_str(out, buf_view(&body));
    buf_free(&cube);
    buf_free(&body);
    return ok;
}

/* Rows of a part of the block that the vector role takes at once. */
static int64_t part_rows(const ConvBlocks *b, int64_t elements)
{
    int64_t rows = elements / b->n / 16 * 16;
    return rows < 16 ? 16 : rows > b->m ? b->m : rows;
}

enum { MOST_BLOCKS = 8 };

/* A program of its own for each size of tiles. */
typedef struct Writing {
    Arena *arena;
    const Graph *graph;
    const NpuChip *chip;
    const char *name;
    Taps t;
    Tail tail; /* of what follows */
} Writing;

/* A convolution and what follows it in one kernel. */
static bool write_fused(Writing *w, const ConvBlocks *b, Plan *plan)
{
    enum { MOST = 16384, LEAST = 2048 };
    Tail tail = w->tail;
    for (int64_t most = MOST; most >= LEAST; most /= 2) {
        Script s = {.arena = w->arena, .g = w->graph, .name = w->name};
        TailOperands all = {0};
        Buf out = {0};
        const char *batch = tail_size(&tail, 0);
        add_operands(w->arena, &all, &w->t, batch);
        tail_operands(&tail, &all);
        if (all.len > SCRIPT_MAX_OPERANDS)
            return false;
        tail_host(&s, &all);
        set_holes(&s, &w->t, b);
        script_set(&s, 'U', batch);
        put_head(&w->t, b, w->chip, &out);
        bool ok = put_fused(&s, &w->t, b, &all, &tail, part_rows(b, most), &out);
        script_finish(&s, "convolution", b->m * b->n, &out, plan);
        Fit fit = fit_program(plan->craft, w->chip);
        if (!ok || fit.crowded)
            return false;
        if (!fit.exceeds)
            return true;
    }
    return false;
}

/* Two cores whose Fixpipe writes into the same 512 bytes of GM may lose one of the writes (product_cost.c): what a
 * tile stores of each output is whole such lines. */
static bool keeps_lines(const Taps *t, const ConvBlocks *b)
{
    enum { LINE = 512 };
    int64_t size = (int64_t)dtype_bytes(t->dtype), row = t->out[2] * size;
    bool all = b->rows >= t->out[1] && t->out[0] == 1;
    bool run = b->rows ? all || b->rows * row % LINE == 0
                       : row % LINE == 0 && (b->n >= t->out[2] || b->n * size % LINE == 0);
    return run && t->out[0] * t->out[1] * row % LINE == 0;
}

static void write_plain(Writing *w, const ConvBlocks *b, Plan *plan)
{
    Script s = {.arena = w->arena, .g = w->graph, .name = w->name};
    TailOperands all = {0};
    Buf out = {0};
    add_operands(w->arena, &all, &w->t, "batch");
    add_result(w->arena, &all, &w->t, "batch");
    tail_host(&s, &all);
    set_holes(&s, &w->t, b);
    script_set(&s, 'U', "batch");
    put_head(&w->t, b, w->chip, &out);
    script_put(&s, "batch = dim(1, 1048576)\n\n@host\ndef $F($P):\n", &out);
    put_launch(&s, b, &all, false, &out);
    buf_puts(&out, "    ");
    script_put(&s, b->rows ? rows_loop : part_loop, &out);
    script_put(&s, steps_text(w->arena, &w->t, b), &out);
    script_put(&s, b->rows ? rows_store : part_store, &out);
    script_finish(&s, "convolution", b->m * b->n, &out, plan);
}

static void try_plain(Writing *w, bool lines, ClockBest *best)
{
    ConvBlocks list[MOST_BLOCKS];
    Plan made = {0};
    uint32_t n = conv_read(w->graph, &w->t) ? conv_list(&w->t, w->chip, list, MOST_BLOCKS) : 0;
    for (uint32_t i = 0; i < n && clock_wants(best); i++)
        if (!lines || keeps_lines(&w->t, &list[i])) {
            write_plain(w, &list[i], &made);
            clock_offer(best, &made, w->chip);
        }
}

static void try_fused(Writing *w, ClockBest *best)
{
    ConvBlocks list[MOST_BLOCKS];
    TailCut cut;
    Plan made = {0};
    const Taps *t = &w->t;
    if (!tail_cut(w->arena, w->graph, &cut) || !conv_read(cut.product, &w->t) || t->groups > 1)
        return;
    TailLevels levels = {5, {t->images, t->outputs, t->out[0], t->out[1], t->out[2]}};
    if (!tail_read(w->arena, &cut, &levels, w->chip, true, &w->tail))
        return;
    uint32_t n = conv_list(t, w->chip, list, MOST_BLOCKS);
    for (uint32_t i = 0; i < n && clock_wants(best); i++)
        if ((list[i].rows || !tail_reduces(&w->tail)) && write_fused(w, &list[i], &made))
            clock_offer(best, &made, w->chip);
}

/* Stored by the cube where its tiles are whole lines of memory, else by the vector role; groups have no vector role. */
bool plan_conv(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
               const char *name, Plan *plan, Diag *diag)
{
    Writing w = {.arena = arena, .graph = graph, .chip = chip, .name = name};
    ClockBest best = clock_best(graph);
    (void)tile_limit, (void)diag;
    try_plain(&w, true, &best);
    try_fused(&w, &best);
    if (!best.found)
        try_plain(&w, false, &best);
    return clock_take(&best, chip, plan);
}
