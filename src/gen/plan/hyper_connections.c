/* Streams mixed token by token. In: einsums over tokens, a few streams and a wide last axis, as
 *     out[t, m, d] = post[t, m] h[t, d] + sum over k of res[t, k, m] x[t, k, d]
 * and its four gradients. Out: one program that reads every wide tensor once. The streams are few,
 * so they are written out; the weights of a token are scalars. Instructions that follow each other write
 * different streams, so that none waits for the one before. Sums over the wide axis gather in 64 lanes per
 * pair of streams, a repeat each, and are folded once a token. */
#include "gen/plan/hyper_connections.h"

#include "gen/plan/cores.h"
#include "gen/plan/script.h"

enum {
    MOST_STREAMS = 8,
    WIDE_BYTES = 176 * 1024,
    LANES = 64,
    LINE = 128, /* elements of 512 bytes */
    FEW_TOKENS = 8,
    PARTS = 8,
    FEW_STREAMS = 4
};

typedef struct Streams {
    Script s;
    ValueId x, h, res, post, grad;                /* grad: of the output; gradients only */
    ValueId out, out_x, out_h, out_res, out_post; /* out: forward only */
    int64_t tokens, n, width, tile;
    Buf *text;
} Streams;

/* ---- reading ---- */

/* The equation with its letters renamed in order of appearance. */
static const char *canonical(Arena *arena, Str equation)
{
    char seen[26] = {0};
    int n = 0;
    Buf out = {0};
    for (size_t i = 0; i < equation.len; i++) {
        char c = equation.at[i];
        int k = 0;
        if (c < 'a' || c > 'z') {
            buf_char(&out, c);
            continue;
        }
        while (k < n && seen[k] != c)
            k++;
        if (k == n)
            seen[n++] = c;
        buf_char(&out, (char)('a' + k));
    }
    char *text = buf_take(&out, arena);
    buf_free(&out);
    return text;
}

static bool is_einsum(const Streams *p, const Node *node, const char *equation)
{
    return node->op == OP_EINSUM && node->n_in == 2 &&
           str_is(str_from(canonical(p->s.arena, node_text(node, AT_EQUATION))), equation);
}

static ValueId without_views(const Graph *g, ValueId id)
{
    const Node *node = graph_maker(g, id);
    while (node && node->op == OP_RESHAPE) {
        id = node->in[0];
        node = graph_maker(g, id);
    }
    return id;
}

static bool is_shape(const Graph *g, ValueId id, int rank, const int64_t *dim)
{
    const Value *v = graph_value(g, id);
    bool same = v->shape.rank == rank && v->dtype == DT_F32;
    for (int i = 0; same && i < rank; i++)
        same = v->shape.dim[i] == dim[i];
    return same;
}

static bool sizes_fit(Streams *p)
{
    const Graph *g = p->s.g;
    const Value *x = graph_value(g, p->x);
    if (x->shape.rank != 3 || x->dtype != DT_F32)
        return false;
    p->tokens = x->shape.dim[0];
    p->n = x->shape.dim[1];
    p->width = x->shape.dim[2];
    return p->n <= MOST_STREAMS && is_shape(g, p->h, 2, (int64_t[]){p->tokens, p->width}) &&
           is_shape(g, p->res, 3, (int64_t[]){p->tokens, p->n, p->n}) &&
           is_shape(g, p->post, 2, (int64_t[]){p->tokens, p->n});
}

static bool read_forward(Streams *p)
{
    const Graph *g = p->s.g;
    const Node *sum = graph_maker(g, g->outputs.at[0]);
    if (g->outputs.len != 1 || !sum || sum->op != OP_BINARY || sum->kind != BINARY_add)
        return false;
    for (int i = 0; i < 2; i++) {
        const Node *mixed = graph_maker(g, sum->in[i]), *scaled = graph_maker(g, sum->in[1 - i]);
        if (!mixed || !scaled || !is_einsum(p, mixed, "abc,abd->acd") || scaled->op != OP_BINARY ||
            scaled->kind != BINARY_mul)
            continue;
        p->res = mixed->in[0];
        p->x = mixed->in[1];
        for (int k = 0; k < 2; k++) {
            p->post = without_views(g, scaled->in[k]);
            p->h = without_views(g, scaled->in[1 - k]);
            if (sizes_fit(p) && p->n != p->width)
                return true;
        }
    }
    return false;
}

static bool read_gradients(Streams *p)
{
    static const char *const forms[] = {"abc,acd->abd", "ab,abc->ac", "abc,adc->abd", "abc,ac->ab"};
    const Graph *g = p->s.g;
    const Node *node[4];
    if (g->outputs.len != 4)
        return false;
    for (int i = 0; i < 4; i++) {
        node[i] = graph_maker(g, g->outputs.at[i]);
        if (!node[i] || !is_einsum(p, node[i], forms[i]))
            return false;
    }
    p->res = node[0]->in[0];
    p->grad = node[0]->in[1];
    p->post = node[1]->in[0];
    p->x = node[2]->in[0];
    p->h = node[3]->in[1];
    p->out_x = node[0]->out;
    p->out_h = node[1]->out;
    p->out_res = node[2]->out;
    p->out_post = node[3]->out;
    return node[1]->in[1] == p->grad && node[2]->in[1] == p->grad && node[3]->in[0] == p->grad &&
           sizes_fit(p) && is_shape(g, p->grad, 3, (int64_t[]){p->tokens, p->n, p->width});
}

/* ---- writing ---- */

static void put(Streams *p, int depth, const char *format, ...) ATTR_PRINTF(3, 4);
static void put(Streams *p, int depth, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    buf_fill(p->text, ' ', (size_t)depth * 4);
    buf_vprintf(p->text, format, args);
    buf_char(p->text, '\n');
    va_end(args);
}

static void put_weights(Streams *p, int depth)
{
    for (int k = 0; k < p->n; k++)
        for (int m = 0; m < p->n; m++)
            put(p, depth, "r%d_%d = res[t, %d, %d]", k, m, k, m);
    for (int m = 0; m < p->n; m++)
        put(p, depth, "p%d = post[t, %d]", m, m);
}

/* Weights that the first piece of a token reads, behind its loads: these wait for no scalar. */
static void put_no_weights(Streams *p, int depth)
{
    for (int k = 0; k < p->n; k++)
        for (int m = 0; m < p->n; m++)
            put(p, depth, "r%d_%d = 0.0", k, m);
    for (int m = 0; m < p->n; m++)
        put(p, depth, "p%d = 0.0", m);
}

/* A third slot lets a load arrive while two pieces are mixed and stored; many streams have no room. */
static int load_slots(const Streams *p) { return p->n <= FEW_STREAMS ? 3 : 2; }

static void put_forward(Streams *p)
{
    int n = (int)p->n;
    put(p, 1, "a = ub(f32, %d, %lld, depth=%d)", n, (long long)p->tile, load_slots(p));
    put(p, 1, "b = ub(f32, %lld, depth=%d)", (long long)p->tile, load_slots(p));
    put(p, 1, "o = ub(f32, %d, %lld, depth=2)", n, (long long)p->tile);
    put(p, 1, "for t, d in mine(tokens, tiles(width, piece)):");
    put(p, 2, "with copyin():");
    put(p, 3, "load(a[:%d, :d.size], x[t, :, d])", n);
    put(p, 3, "load(b[:d.size], h[t, d])");
    put_weights(p, 2);
    put(p, 2, "with compute():");
    for (int m = 0; m < n; m++)
        put(p, 3, "o[%d, :d.size] = b[:d.size] * p%d", m, m);
    for (int k = 0; k < n; k++)
        for (int m = 0; m < n; m++)
            put(p, 3, "o[%d, :d.size] = axpy(o[%d, :d.size], a[%d, :d.size], r%d_%d)", m, m, k, k,
                m);
    put(p, 2, "with copyout():");
    put(p, 3, "store(y[t, :, d], o[:%d, :d.size])", n);
}

/* What keeps the wide axis. */
static void put_wide_gradients(Streams *p, int depth)
{
    for (int m = 0; m < p->n; m++) {
        for (int k = 0; k < p->n; k++)
            if (m)
                put(p, depth, "o[%d, :d.size] = axpy(o[%d, :d.size], c[%d, :d.size], r%d_%d)", k, k,
                    m, k, m);
            else
                put(p, depth, "o[%d, :d.size] = c[0, :d.size] * r%d_0", k, k);
        put(p, depth,
            m ? "q[:d.size] = axpy(q[:d.size], c[%d, :d.size], p%d)"
              : "q[:d.size] = c[%d, :d.size] * p%d",
            m, m);
    }
}

/* Rows of the sums: of each pair of streams; then, where a block begins, of h with each stream. */
static int post_row(const Streams *p) { return (int)(p->n * p->n + 7) / 8 * 8; }
static int sum_rows(const Streams *p) { return post_row(p) + MOST_STREAMS; }

/* What sums over the wide axis. */
static void put_sums(Streams *p, int depth)
{
    int n = (int)p->n;
    put(p, depth, "for j in tiles(d.size, %d):", LANES);
    for (int k = 0; k <= n; k++) {
        const char *by = k < n ? str_format(p->s.arena, "a[%d, j]", k) : "b[j]";
        int row = k < n ? k * n : post_row(p);
        put(p, depth + 1, "s[%d:%d, :j.size] = fma(c[:%d, j], row(%s), s[%d:%d, :j.size])", row,
            row + n, n, by, row, row + n);
    }
}

/* The eight slots of a direction bound the depth of what is stored. */
static void put_gradient_buffers(Streams *p, int depth)
{
    int n = (int)p->n, rows = sum_rows(p);
    const char *wide[] = {"c", "a", "o"};
    for (int i = 0; i < 3; i++)
        put(p, 1, "%s = ub(f32, %d, %lld, depth=2)", wide[i], n, (long long)p->tile);
    put(p, 1, "b = ub(f32, %lld, depth=2)", (long long)p->tile);
    put(p, 1, "q = ub(f32, %lld, depth=2)", (long long)p->tile);
    put(p, 1, "s = ub(f32, %d, %d)", rows, LANES);
    put(p, 1, "u = ub(f32, %d)", rows);
    put(p, 1, "e = ub(f32, %d, depth=%d)", n * n, depth);
    put(p, 1, "f = ub(f32, 8, depth=%d)", depth);
}

/* A piece of a token: what keeps the wide axis is stored, sums go on. */
static void put_piece(Streams *p, int depth, bool first)
{
    int n = (int)p->n;
    put(p, depth, "with copyin():");
    put(p, depth + 1, "load(a[:%d, :d.size], x[t, :, d])", n);
    put(p, depth + 1, "load(c[:%d, :d.size], g[t, :, d])", n);
    put(p, depth + 1, "load(b[:d.size], h[t, d])");
    if (first) {
        put(p, depth, "if d.index == 0:");
        put_weights(p, depth + 1);
    } else {
        put_weights(p, depth);
    }
    put(p, depth, "with compute():");
    put_wide_gradients(p, depth + 1);
    put_sums(p, depth + 1);
    put(p, depth, "with copyout():");
    put(p, depth + 1, "store(gx[t, :, d], o[:%d, :d.size])", n);
    put(p, depth + 1, "store(gh[t, d], q[:d.size])");
}

/* The sums of a token, from u. */
static void put_results(Streams *p)
{
    int n = (int)p->n;
    put(p, 2, "with compute():");
    put(p, 3, "e[:%d] = u[:%d]", n * n, n * n);
    put(p, 3, "f[:%d] = u[%d:%d]", n, post_row(p), post_row(p) + n);
    put(p, 2, "with copyout():");
    put(p, 3, "store(gres[t, :], e[:%d])", n * n);
    put(p, 3, "store(gpost[t, :], f[:%d])", n);
}

static void put_gradients(Streams *p)
{
    put_gradient_buffers(p, 2);
    put(p, 1, "for t in mine(tokens):");
    put_no_weights(p, 2);
    put(p, 2, "with compute():");
    put(p, 3, "s = 0.0");
    put(p, 2, "for d in tiles(width, piece):");
    put_piece(p, 3, true);
    put(p, 2, "with compute():");
    put(p, 3, "u = row_sum(s)");
    put_results(p);
}

/* Few tokens: the pieces of one are spread over the cores, their sums meet in a workspace. */
static void put_gradient_parts(Streams *p)
{
    int rows = sum_rows(p);
    put_gradient_buffers(p, 1);
    put(p, 1, "v = ub(f32, %d)", rows);
    put(p, 1, "z = ub(f32, %d, %d, depth=2)", PARTS, rows);
    put(p, 1, "for t, d in mine(tokens, tiles(width, piece)):");
    put(p, 2, "with compute():");
    put(p, 3, "s = 0.0");
    put_piece(p, 2, false);
    put(p, 2, "with compute():");
    put(p, 3, "v = row_sum(s)");
    put(p, 2, "with copyout():");
    put(p, 3, "store(part[t, d.index, :], v)");
    put(p, 1, "sync_all()");
    put(p, 1, "for t in mine(tokens):");
    put(p, 2, "with compute():");
    put(p, 3, "u = 0.0");
    put(p, 2, "for k in tiles(ceildiv(width, piece), %d):", PARTS);
    put(p, 3, "with copyin():");
    put(p, 4, "load(z[:k.size, :%d], part[t, k, :])", rows);
    put(p, 3, "with compute():");
    put(p, 4, "u = u + col_sum(z[:k.size, :%d])", rows);
    put_results(p);
}

/* Few tokens are cut into pieces for as many cores as they are worth. */
static void put_launch(Streams *p)
{
    double n = (double)p->n, pairs = n * (n + 1);
    double piece = (double)(p->width < p->tile ? p->width : p->tile);
    double cycles = cores_cycles(pairs, 2 * pairs, piece); /* a weight is read for each pair */
    CoresRule rule = cores_rule((CoresWork){.in = 4 * (n + 1), .out = 4 * n, .cycles = cycles});
    put(p, 1,
        "cores = chip.cores if tokens * width >= %.0f else max(1, min(chip.cube_cores, "
        "i64(sqrt(f32(tokens * width) * %.6f))))",
        rule.least, rule.factor);
    script_put(&p->s,
               "    pieces = max(ceildiv(width, $W), cores // tokens)\n"
               "    piece = min($W, align_up(ceildiv(width, pieces), 64))\n"
               "    $F_mix[min(cores, tokens * ceildiv(width, piece))]($A, piece)\n",
               p->text);
}

/* A token on one core, but for a few that take several tiles each. */
static void put_gradient_launch(Streams *p)
{
    double n = (double)p->n;
    CoresRule rule = cores_rule(
        (CoresWork){.in = 4 * (2 * n + 1), .out = 4 * (n + 1), .cycles = 3 * n * (n + 1)});
    put(p, 1, "if tokens * %d <= chip.cores and width >= %lld:", FEW_TOKENS,
        (long long)(2 * p->tile));
    put(p, 2, "cores = max(1, min(chip.cube_cores // tokens, i64(sqrt(f32(width) * %.6f))))",
        rule.factor);
    script_number(&p->s, 'R', sum_rows(p));
    script_put(
        &p->s,
        "        pieces = max(ceildiv(width, $W), cores)\n"
        "        piece = min($W, align_up(ceildiv(width, pieces), 64))\n"
        "        part = workspace(f32, tokens, ceildiv(width, piece), $R)\n"
        "        $F_parts[min(chip.cores, tokens * ceildiv(width, piece))]($A, piece, part)\n"
        "    else:\n"
        "        piece = min($W, align_up(ceildiv(width, ceildiv(width, $W)), 64))\n"
        "        $F_mix[min(tokens, chip.cores)]($A, piece)\n",
        p->text);
}

static void add_operands(Streams *p, bool forward)
{
    Script *s = &p->s;
    const char *wide = str_format(s->arena, "tokens, %lld, width", (long long)p->n);
    Shape full = script_shape3(p->tokens, p->n, p->width);
    script_add(s, p->x, false, "x", wide, full);
    script_add(s, p->h, false, "h", "tokens, width", script_shape2(p->tokens, p->width));
    script_add(s, p->res, false, "res",
               str_format(s->arena, "tokens, %lld, %lld", (long long)p->n, (long long)p->n),
               script_shape3(p->tokens, p->n, p->n));
    script_add(s, p->post, false, "post", str_format(s->arena, "tokens, %lld", (long long)p->n),
               script_shape2(p->tokens, p->n));
    if (forward) {
        script_add(s, s->g->outputs.at[0], true, "y", wide, full);
        return;
    }
    script_add(s, p->grad, false, "g", wide, full);
    script_add(s, p->out_x, true, "gx", wide, full);
    script_add(s, p->out_h, true, "gh", "tokens, width", script_shape2(p->tokens, p->width));
    script_add(s, p->out_res, true, "gres",
               str_format(s->arena, "tokens, %lld", (long long)(p->n * p->n)),
               script_shape2(p->tokens, p->n * p->n));
    script_add(s, p->out_post, true, "gpost", str_format(s->arena, "tokens, %lld", (long long)p->n),
               script_shape2(p->tokens, p->n));
}

bool plan_hyper_connections(Arena *arena, const Graph *graph, const NpuChip *chip,
                            int64_t tile_limit, const char *name, Plan *plan, Diag *diag)
{
    Buf out = {0};
    Streams p = {.s = {.arena = arena, .g = graph, .name = name}, .text = &out};
    (void)diag;
    bool forward = read_forward(&p);
    if (!forward && !read_gradients(&p))
        return false;
    int64_t rows = forward ? load_slots(&p) * (p.n + 1) + 2 * p.n : 2 * (3 * p.n + 2);
    int64_t sums = forward ? 0 : (int64_t)sum_rows(&p) * LANES * 4;
    p.tile = (WIDE_BYTES - sums) / (rows * 4) / LINE * LINE;
    if (tile_limit && tile_limit < p.tile)
        p.tile = tile_limit < 64 ? 64 : tile_limit / 64 * 64;
    add_operands(&p, forward);
    put(&p, 0, "# Planned by acraft for %s, strategy streams.", chip->name);
    put(&p, 0,
        "# All %lld streams of %lld elements of a token are on chip at once: every wide tensor "
        "is read once,\n# every result written once. The weights of a token are scalars, and "
        "instructions that follow each\n# other write different streams: none waits for the one "
        "before.",
        (long long)p.n, (long long)p.tile);
    if (forward)
        put(&p, 0, "# A core costs launch time: few tokens take as many as their bytes are worth.");
    else
        put(&p, 0,
            "# Sums over the wide axis gather in %d lanes for each of %lld pairs, on chip for the "
            "whole token, and are\n# folded once: %d instructions for %d elements of all streams. "
            "A "
            "few wide tokens are spread over the\n# cores, whose sums meet in a workspace.",
            LANES, (long long)(p.n * p.n + p.n), (int)p.n + 1, LANES);
    put(&p, 0, "craft = 1\n\ntokens = dim(1, 16777216)\nwidth = dim(1, 16777216)");
    script_number(&p.s, 'W', p.tile);
    script_put(&p.s, "\n@host\ndef $F($P):\n", &out);
    if (forward) {
        put_launch(&p);
        script_put(&p.s, "\n@kernel\ndef $F_mix($P, piece: i32):\n", &out);
        put_forward(&p);
    } else {
        put_gradient_launch(&p);
        script_put(&p.s, "\n@kernel\ndef $F_mix($P, piece: i32):\n", &out);
        put_gradients(&p);
        script_put(&p.s,
                   "\n@kernel\ndef $F_parts($P, piece: i32, part: ws[f32, tokens, ceildiv(width, "
                   "piece), $R]):\n",
                   &out);
        put_gradient_parts(&p);
    }
    script_finish(&p.s, "hyper_connections", p.tile, &out, plan);
    return true;
}
