/* One direction of one recurrent layer as one kernel that stays on its cores for all steps. In: a graph that
 * is an LSTM, GRU or plain layer in f32, steps first (rewrite_recurrent.c makes layers and directions of it).
 * Out: the program, with its reasons.
 *
 *     each core has tiles of samples and hidden units and keeps to them:
 *     every step   gates = x[t] w_x^T + h w_h^T + b for its units, new state into `next` and y[t]
 *                  sync_all(), its part of `next` into `h`, sync_all()
 *
 * Weights pass by every step, from L2 where they fit. The products are rows times a vector: samples are few
 * and the chain of steps is what takes the time. */
#include "gen/plan/planners.h"
#include "gen/plan/script.h"

enum { SAMPLES = 16, UNITS = 8, DEEP = 256 };

typedef struct Layer {
    const Node *node;
    int kind;
    int64_t steps, batch, width, hidden;
    uint32_t gates, sums;               /* sums: tiles that products are added to */
    uint32_t x_sum[4], h_sum[4];        /* per gate: which one takes the products of x, of h */
    bool bias, h0, c0, same, wanted[3]; /* same: h0 and c0 are one tensor */
} Layer;

enum { IN_X, IN_H, IN_C, IN_WX, IN_WH, IN_BX, IN_BH };

static bool is_given(const Node *node, uint32_t i)
{
    return i < node->n_in && node->in[i] != VALUE_NONE;
}

/* GRU resets the products of h before it adds those of x: they have sums of their own. */
static void set_sums(Layer *a)
{
    a->gates = a->kind == RNN_lstm ? 4 : a->kind == RNN_gru ? 3 : 1;
    a->sums = a->kind == RNN_gru ? 4 : a->gates;
    for (uint32_t i = 0; i < a->gates; i++)
        a->x_sum[i] = a->h_sum[i] = i;
    if (a->kind == RNN_gru)
        a->h_sum[2] = 3;
}

static bool read_layer(const Graph *g, Layer *a)
{
    const Node *node = g->nodes.len == 1 ? &g->nodes.at[0] : NULL;
    if (!node || node->op != OP_RNN || node_int(node, AT_LAYERS, 1) != 1 ||
        node_bool(node, AT_BIDIRECTIONAL) || node_bool(node, AT_BATCH_FIRST) ||
        node_int(node, AT_SIZE, 0))
        return false;
    Shape x = graph_value(g, node->in[IN_X])->shape;
    if (x.rank != 3 || graph_value(g, node->out)->dtype != DT_F32)
        return false;
    *a = (Layer){.node = node,
                 .kind = node->kind,
                 .steps = x.dim[0],
                 .batch = x.dim[1],
                 .width = x.dim[2],
                 .hidden = node_int(node, AT_HIDDEN, 1),
                 .bias = node_bool(node, AT_BIAS),
                 .h0 = is_given(node, IN_H),
                 .c0 = is_given(node, IN_C)};
    a->same = a->h0 && a->c0 && node->in[IN_H] == node->in[IN_C];
    for (uint32_t i = 0; i < g->outputs.len; i++)
        a->wanted[g->outputs.at[i] - node->out] = true;
    for (uint32_t i = 0; i < node->n_in; i++)
        for (uint32_t k = 0; k < i; k++)
            if (is_given(node, i) && node->in[i] == node->in[k] && !(i == IN_C && k == IN_H))
                return false;
    set_sums(a);
    return true;
}

/* ---- operands ---- */

static void add_operands(Script *s, const Layer *a)
{
    const Node *node = a->node;
    Shape state = script_shape2(a->batch, a->hidden);
    int64_t n = a->gates;
    script_add(s, node->in[IN_X], false, "x", "steps, batch, width",
               script_shape3(a->steps, a->batch, a->width));
    if (a->h0)
        script_add(s, node->in[IN_H], false, "h0", "batch, hidden", state);
    if (a->c0 && !a->same)
        script_add(s, node->in[IN_C], false, "c0", "batch, hidden", state);
    script_add(s, node->in[IN_WX], false, "wx", "gates, hidden, width",
               script_shape3(n, a->hidden, a->width));
    script_add(s, node->in[IN_WH], false, "wh", "gates, hidden, hidden",
               script_shape3(n, a->hidden, a->hidden));
    if (a->bias) {
        script_add(s, node->in[IN_BX], false, "bx", "gates, hidden", script_shape2(n, a->hidden));
        script_add(s, node->in[IN_BH], false, "bh", "gates, hidden", script_shape2(n, a->hidden));
    }
    if (a->wanted[0])
        script_add(s, node->out, true, "y", "steps, batch, hidden",
                   script_shape3(a->steps, a->batch, a->hidden));
    if (a->wanted[1])
        script_add(s, node->out + 1, true, "hn", "batch, hidden", state);
    if (a->wanted[2])
        script_add(s, node->out + 2, true, "cn", "batch, hidden", state);
}

/* ---- the kernel ---- */

static const char rooms[] = ", h: ws[f32, batch, hidden], next: ws[f32, batch, hidden]";
static const char pieces[] = "for b, u in mine(tiles(batch, $S), tiles(hidden, $U)):\n";

/* At most eight slots of queues into UB: matrices and biases come gate by gate. */
static void put_buffers(const Layer *a, const Script *s, Buf *out)
{
    script_put(s, "    v = ub(f32, $S, $K, depth=2)\n    w = ub(f32, $U, $K, depth=2)\n", out);
    for (uint32_t i = 0; i < a->sums; i++)
        buf_printf(out, "    p%u = ub(f32, %d, %d)\n", i, SAMPLES, UNITS);
    if (a->bias)
        script_put(s, "    of_x = ub(f32, $U)\n    of_h = ub(f32, $U)\n", out);
    script_put(s,
               "    part = ub(f32, $U)\n    old = ub(f32, $S, $U)\n"
               "    new = ub(f32, $S, $U, depth=2)\n",
               out);
    if (a->kind == RNN_lstm)
        script_put(s, "    inner = ub(f32, $S, $U, depth=2)\n", out);
}

/* A part of a tensor from one place to another; NULL: zeros. */
static void put_copy(const char *indent, const char *from, const char *to, Buf *out)
{
    if (from)
        buf_printf(out, "%swith copyin():\n%s    load(old[:b.size, :u.size], %s[b, u])\n", indent,
                   indent, from);
    buf_printf(out, "%swith compute():\n%s    new[:b.size, :u.size] = %s\n", indent, indent,
               from ? "old[:b.size, :u.size] + 0.0" : "0.0");
    buf_printf(out, "%swith copyout():\n%s    store(%s[b, u], new[:b.size, :u.size])\n", indent,
               indent, to);
}

/* What the sums begin with. */
static void put_start(const Layer *a, Buf *out)
{
    const char *in = "            ";
    for (uint32_t p = 0; p < a->sums && !a->bias; p++)
        buf_printf(out, "%s%s    p%u[:b.size, :u.size] = 0.0\n",
                   p ? "" : "            with compute():\n", in, p);
    for (uint32_t i = 0; i < a->gates && a->bias; i++) {
        buf_printf(out,
                   "%swith copyin():\n%s    load(of_x[:u.size], bx[%u, u])\n"
                   "%s    load(of_h[:u.size], bh[%u, u])\n"
                   "%sfor i in range(b.size):\n%s    with compute():\n",
                   in, in, i, in, i, in, in);
        if (a->x_sum[i] == a->h_sum[i])
            buf_printf(out, "%s        p%u[i, :u.size] = of_x[:u.size] + of_h[:u.size]\n", in, i);
        else
            buf_printf(out,
                       "%s        p%u[i, :u.size] = of_x[:u.size] + 0.0\n"
                       "%s        p%u[i, :u.size] = of_h[:u.size] + 0.0\n",
                       in, a->x_sum[i], in, a->h_sum[i]);
    }
}

/* Products of the rows of one matrix with x[t] or h. */
static void put_products(const Layer *a, const char *depth, const char *vectors, const char *matrix,
                         const uint32_t *sum, Buf *out)
{
    const char *in = "            ";
    buf_printf(out, "%sfor k in tiles(%s, %d):\n%s    with copyin():\n", in, depth, DEEP, in);
    buf_printf(out, "%s        load(v[:b.size, :k.size], %s)\n", in, vectors);
    for (uint32_t i = 0; i < a->gates; i++) {
        buf_printf(out, "%s    with copyin():\n%s        load(w[:u.size, :k.size], %s[%u, u, k])\n",
                   in, in, matrix, i);
        buf_printf(out, "%s    for i in range(b.size):\n%s        with compute():\n", in, in);
        buf_printf(
            out,
            "%s            part[:u.size] = row_sum(w[:u.size, :k.size] * row(v[i, :k.size]))\n"
            "%s            p%u[i, :u.size] += part[:u.size]\n",
            in, in, sum[i]);
    }
}

#define ALL "[:b.size, :u.size]"

static const char lstm_cell[] = "            with copyin():\n"
                                "                load(old" ALL ", cell[b, u])\n"
                                "            with compute():\n"
                                "                p1" ALL " = sigmoid(p1" ALL ") * old" ALL "\n"
                                "                inner" ALL " = p1" ALL " + sigmoid(p0" ALL
                                ") * tanh(p2" ALL ")\n"
                                "                new" ALL " = sigmoid(p3" ALL ") * tanh(inner" ALL
                                ")\n"
                                "            with copyout():\n"
                                "                store(cell[b, u], inner" ALL ")\n";

static const char gru_cell[] = "            with copyin():\n"
                               "                load(old" ALL ", h[b, u])\n"
                               "            with compute():\n"
                               "                p1" ALL " = sigmoid(p1" ALL ")\n"
                               "                p2" ALL " += sigmoid(p0" ALL ") * p3" ALL "\n"
                               "                p2" ALL " = tanh(p2" ALL ")\n"
                               "                old" ALL " = p1" ALL " * (old" ALL " - p2" ALL ")\n"
                               "                new" ALL " = p2" ALL " + old" ALL "\n";

static void put_cell(const Layer *a, Buf *out)
{
    if (a->kind == RNN_lstm)
        buf_puts(out, lstm_cell);
    else if (a->kind == RNN_gru)
        buf_puts(out, gru_cell);
    else
        buf_printf(out, "            with compute():\n                new" ALL " = %s(p0" ALL ")\n",
                   a->kind == RNN_relu ? "relu" : "tanh");
    buf_puts(out, "            with copyout():\n                store(next[b, u], new" ALL ")\n");
    if (a->wanted[0])
        buf_puts(out, "                store(y[t, b, u], new" ALL ")\n");
}

static void put_kernel(const Layer *a, const Script *s, Buf *out)
{
    bool cell = a->kind == RNN_lstm;
    put_buffers(a, s, out);
    buf_puts(out, "    ");
    script_put(s, pieces, out);
    put_copy("        ", a->h0 ? "h0" : NULL, "h", out);
    if (cell)
        put_copy("        ", !a->c0 ? NULL : a->same ? "h0" : "c0", "cell", out);
    buf_puts(out, "    sync_all()\n    for t in range(steps):\n        ");
    script_put(s, pieces, out);
    put_start(a, out);
    put_products(a, "width", "x[t, b, k]", "wx", a->x_sum, out);
    put_products(a, "hidden", "h[b, k]", "wh", a->h_sum, out);
    put_cell(a, out);
    buf_puts(out, "        sync_all()\n        ");
    script_put(s, pieces, out);
    put_copy("            ", "next", "h", out);
    buf_puts(out, "        sync_all()\n");
    if (!a->wanted[1] && !a->wanted[2])
        return;
    buf_puts(out, "    ");
    script_put(s, pieces, out);
    if (a->wanted[1])
        put_copy("        ", "h", "hn", out);
    if (a->wanted[2])
        put_copy("        ", "cell", "cn", out);
}

static void put_head(const Layer *a, const NpuChip *chip, Buf *out)
{
    buf_printf(out, "# Planned by acraft for %s, strategy recurrent.\n", chip->name);
    buf_printf(
        out,
        "# One kernel for all steps: each core keeps to tiles of %d samples and %d units, reads "
        "the state of all\n# units every step, and waits for the others twice.\n",
        SAMPLES, UNITS);
    buf_puts(out, "craft = 1\n\nsteps = dim(1, 1048576)\nbatch = dim(1, 1048576)\n"
                  "width = dim(1, 65536)\nhidden = dim(1, 65536)\n");
    buf_printf(out, "gates = dim(%u)\n", a->gates);
}

bool plan_recurrent(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
                    const char *name, Plan *plan, Diag *diag)
{
    Layer a;
    Script s = {.arena = arena, .g = graph, .name = name};
    Buf out = {0};
    (void)tile_limit, (void)diag;
    if (!read_layer(graph, &a))
        return false;
    bool cell = a.kind == RNN_lstm;
    add_operands(&s, &a);
    script_number(&s, 'S', SAMPLES);
    script_number(&s, 'U', UNITS);
    script_number(&s, 'K', DEEP);
    script_set(&s, 'W', rooms);
    script_set(&s, 'C', cell ? ", cell: ws[f32, batch, hidden]" : "");
    script_set(&s, 'D', cell ? ", cell" : "");
    script_set(&s, 'R', cell ? "    cell = workspace(f32, batch, hidden)\n" : "");
    put_head(&a, chip, &out);
    script_put(&s,
               "\n@host\ndef $F($P):\n"
               "    h = workspace(f32, batch, hidden)\n    next = workspace(f32, batch, hidden)\n$R"
               "    $F_steps[chip.cores]($A, h, next$D)\n"
               "\n@kernel\ndef $F_steps($P$W$C):\n",
               &out);
    put_kernel(&a, &s, &out);
    script_finish(&s, "recurrent", SAMPLES * UNITS, &out, plan);
    return true;
}
