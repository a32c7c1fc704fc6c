/* Convolutions as Craft. In: a graph that is one conv_taps. Out: the program, with its reasons. */
#include "gen/plan/cube/conv.h"

#include "gen/plan/script.h"

/* $M outputs, $N columns of a tile; $K $L k of L1, of L0; $E depth of L0C; $C channels, $O outputs of a group;
 * $J columns of this tile; $S the shift of tap `u`; $D $Q loops over places; $X first place of the tile. */
static const char tiles_text[] = "    a1 = l1($T, $M, $K, depth=2)\n"
                                 "    b1 = l1($T, $K, $N, depth=2)\n"
                                 "    a0 = l0a($T, $M, $L, depth=2)\n"
                                 "    b0 = l0b($T, $L, $N, depth=2)\n"
                                 "    c = l0c(f32, $M, $N, depth=$E)\n";

static const char head_text[] = "\n@host\ndef $F($P):\n"
                                "    $F_taps[min(chip.cube_cores, batch * $G * $W)]($A)\n"
                                "\n@kernel(cube)\ndef $F_taps($P):\n";

/* Some channels of one tap after the other. */
static const char deep_text[] =
    "        for u in range($Z):\n"
    "            for t in tiles($C, $K):\n"
    "                shift = $S\n"
    "                with copyin():\n"
    "                    load(a1[:i.size, :t.size], w[$R, u * $C + t.start : u * $C + t.stop])\n"
    "                    load(b1[:t.size, :$J], x[z, g * $C + t.start : g * $C + t.stop,\n"
    "                            $X + shift : $X + shift + $J])\n"
    "                for s in tiles(t.size, $L):\n"
    "                    with copyin():\n"
    "                        load(a0[:i.size, :s.size], a1[:i.size, s])\n"
    "                        load(b0[:s.size, :$J], b1[s, :$J])\n"
    "                    with compute():\n"
    "                        mmad(c[:i.size, :$J], a0[:i.size, :s.size], b0[:s.size, :$J],\n"
    "                                init=u == 0 and t.index == 0 and s.index == 0)\n";

/* All channels of several taps at once. */
static const char taps_text[] =
    "        for t in tiles($Z, $B):\n"
    "            with copyin():\n"
    "                load(a1[:i.size, :t.size * $C], w[$R, t.start * $C : t.stop * $C])\n"
    "                for v in range(t.size):\n"
    "                    u = t.start + v\n"
    "                    shift = $S\n"
    "                    load(b1[v * $C : v * $C + $C, :$J], x[z, g * $C : g * $C + $C,\n"
    "                            $X + shift : $X + shift + $J])\n"
    "            for s in tiles(t.size * $C, $L):\n"
    "                with copyin():\n"
    "                    load(a0[:i.size, :s.size], a1[:i.size, s])\n"
    "                    load(b0[:s.size, :$J], b1[s, :$J])\n"
    "                with compute():\n"
    "                    mmad(c[:i.size, :$J], a0[:i.size, :s.size], b0[:s.size, :$J],\n"
    "                            init=t.index == 0 and s.index == 0)\n";

static const char rows_loop[] = "    for z, g, d, r, i in mine(batch, $G, $D, tiles($Q, $H), "
                                "tiles($O, $M)):\n";
static const char rows_store[] =
    "        with copyout():\n"
    "            for q in range(r.size):\n"
    "                store(y[z, $R, d, r.start + q, :], c[:i.size, q * $I : q * $I + $Y])\n";
static const char part_loop[] = "    for z, g, d, h, r, i in mine(batch, $G, $D, $Q, "
                                "tiles($Y, $N), tiles($O, $M)):\n";
static const char part_store[] = "        with copyout():\n"
                                 "            store(y[z, $R, d, h, r], c[:i.size, :r.size])\n";

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

static void add_operands(Script *s, const Taps *t)
{
    int64_t plane = t->phases * t->in[0] * t->in[1] * t->in[2];
    int64_t taps = t->k[0] * t->k[1] * t->k[2], outputs = t->groups * t->outputs;
    int64_t x[] = {t->groups * t->channels, plane}, w[] = {taps * t->channels};
    int64_t y[] = {outputs, t->out[0], t->out[1], t->out[2]};
    script_add(s, t->x, false, "x", numbers(s->arena, "batch", 2, x),
               script_shape3(t->images, x[0], x[1]));
    script_add(s, t->w, false, "w",
               str_format(s->arena, "%lld, %lld", (long long)outputs, (long long)w[0]),
               script_shape2(outputs, w[0]));
    script_add(s, t->y, true, "y", numbers(s->arena, "batch", 4, y),
               (Shape){5, {t->images, y[0], y[1], y[2], y[3]}});
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
                   past ? str_format(s->arena, "r.size * %lld - %lld", wide, past)
                        : str_format(s->arena, "r.size * %lld", wide));
        script_set(s, 'X', str_format(s->arena, "%sr.start * %lld", of_d, wide));
    } else {
        script_set(s, 'J', "r.size");
        script_set(s, 'X', str_format(s->arena, "%sh * %lld + r.start", of_d, wide));
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
               t->groups == 1 ? "i"
                              : str_format(s->arena, "g * %lld + i.start : g * %lld + i.stop",
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
    if (b->taps)
        buf_printf(out, "# %lld taps with all their channels are one step of L1.\n",
                   (long long)b->taps);
    else
        buf_printf(out, "# up to %lld channels of one tap are one step of L1.\n", (long long)b->k1);
    buf_puts(out, "craft = 1\n\nbatch = dim(1, 1048576)\n");
}

bool plan_conv(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
               const char *name, Plan *plan, Diag *diag)
{
    Taps t;
    Script s = {.arena = arena, .g = graph, .name = name};
    (void)tile_limit, (void)diag;
    if (!conv_read(graph, &t))
        return false;
    ConvBlocks b = conv_choose(&t, chip);
    if (!b.m)
        return false;
    Buf out = {0};
    add_operands(&s, &t);
    set_holes(&s, &t, &b);
    put_head(&t, &b, chip, &out);
    script_put(&s, head_text, &out);
    script_put(&s, tiles_text, &out);
    script_put(&s, b.rows ? rows_loop : part_loop, &out);
    script_put(&s, b.taps ? taps_text : deep_text, &out);
    script_put(&s, b.rows ? rows_store : part_store, &out);
    script_finish(&s, "convolution", b.m * b.n, &out, plan);
    return true;
}
