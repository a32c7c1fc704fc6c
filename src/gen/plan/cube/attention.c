/* Attention as Craft. In: a graph. Out: the program, with its reasons.
 *
 * A tile of queries meets one tile of keys after the other. In turn u the cube multiplies q with keys u, and the weights of turn
 * u - 2 with values u - 2, so that neither role waits for what the other has just begun:
 *
 *     cube    q k(0) ─▶ q k(1) ─▶ q k(2), w(0) v(0) ─▶ q k(3), w(1) v(1) ─▶ ...
 *     vector            w(0)   ─▶ w(1)              ─▶ w(2), adds (0)    ─▶ ...
 *
 * Where a tile of queries is handed over in more than four parts, the channels hold one turn only, and the cube is one turn ahead.
 *
 * The vector role keeps for each query the largest score so far and the sum of exponentials that is taken from it; what was added
 * up moves to a larger one by a factor (`now`; `before` and `past` are those of the turns before). Weights of f16 and bf16 are handed over in
 * two parts, what they round to and what that leaves, so that they are as exact as those of f32. */
#include "gen/plan/cube/attention.h"

#include "gen/plan/clock.h"
#include "gen/plan/fit.h"

#include <math.h>
#include <string.h>

#define LOWEST "-3.4028235e+38" /* the least finite number: what is shifted by it stays a number */

/* Tiles of queries and keys; queries that the vector role takes at once; steps through L0 along the depth of q k and along the
 * keys of values. */
typedef struct Tiles {
    int64_t m, n, part, step, along;
    int l1, left,
        l0c;   /* buffers of tiles of keys and values; of their left sides in L0A; of products */
    int ahead; /* turns */
    bool pair; /* two vector cores beside each cube core, which take parts by turns */
} Tiles;

typedef struct Writing {
    Attention *a;
    Tiles tiles;
    Script *s;
    TailOperands all;
} Writing;

/* Weights are handed over in two parts: rounded to the dtype of v, sums of many that cancel are outside the tolerance. */
static bool in_parts(const Attention *a) { return a->dtype != DT_F32; }

/* ---- tiles ---- */

enum { MOST_TILES = 160, CHANNEL_DEPTH = 8 };

static int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }
static int64_t parts(int64_t n, int64_t of) { return (n + of - 1) / of; }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* Keys and values halve L0B between them; L0A holds the left sides of both, of halves also what their rounding left. */
static bool fit_l0(const Attention *a, Tiles *t)
{
    enum { MOST = 128 };
    int64_t size = (int64_t)dtype_bytes(a->dtype), half = (int64_t)a->chip->l0b / 2 / size;
    int64_t d = round_up(a->size[ATTENTION_DEPTH], 16), room = (int64_t)a->chip->l0a / size;
    int64_t wide = round_up(a->size[ATTENTION_WIDTH], 16), low = in_parts(a) ? 1 : 0;
    t->step = smaller(smaller(half / t->n / 16 * 16, MOST), d);
    for (t->along = smaller(smaller(half / wide / 16 * 16, MOST), t->n); t->along >= 16;
         t->along = t->along / 32 * 16)
        for (t->left = 2; t->left > 0; t->left--)
            if (t->m * (t->left * larger(t->step, t->along) + low * t->along) <= room)
                return t->step >= 16;
    return false;
}

/* Steps and depths with which tiles fit into L1, L0 and L0C. False: they do not. */
static bool fit_cube(const Attention *a, Tiles *t)
{
    int64_t size = (int64_t)dtype_bytes(a->dtype), d = round_up(a->size[ATTENTION_DEPTH], 16);
    int64_t wide = round_up(a->size[ATTENTION_WIDTH], 16);
    int64_t once = t->m * d, turn = t->n * (d + wide) + t->m * t->n * (in_parts(a) ? 2 : 1);
    t->l1 = (once + 2 * turn) * size <= (int64_t)a->chip->l1 ? 2 : 1;
    int64_t c = t->m * (t->n + wide) * 4;
    t->l0c = 2 * c <= (int64_t)a->chip->l0c ? 2 : 1;
    /* Both roles may have two turns of every channel under way, or each could wait for the other. */
    t->ahead = 2 * (t->m / t->part) <= CHANNEL_DEPTH ? 2 : 1;
    return fit_l0(a, t) && (once + turn) * size <= (int64_t)a->chip->l1 &&
           c <= (int64_t)a->chip->l0c;
}

/* Cycles of the vector role for a turn: passes over scores and results, and the calls for each part. */
static double vector_cycles(const Attention *a, const Tiles *t, int64_t rows, int64_t keys)
{
    enum { LANES = 64, CALLS = 700, TURN = 100 };
    const double passes = in_parts(a) ? 14 : 9, result_passes = 4.5;
    int64_t wide = round_up(a->size[ATTENTION_WIDTH], 16), part = smaller(rows, t->part);
    double shared = ceil((double)parts(rows, t->part) / (t->pair ? 2 : 1));
    double each = ((double)keys * passes + (double)wide * result_passes) * (double)part / LANES;
    return shared * (each + CALLS) + TURN;
}

/* Cycles of the cube for a turn: the calls of its queues, what is copied into L1, or its products. */
static double cube_cycles(const Attention *a, const Tiles *t, int64_t rows, int64_t keys)
{
    enum { COPY = 100, BYTES = 65, TILE = 4, STEP = 8, PARTS = 12 };
    double rate = a->chip->cube_rate / (a->dtype == DT_F32 ? 4.0 : 1.0);
    double ways = in_parts(a) ? 2 : 1;
    int64_t size = (int64_t)dtype_bytes(a->dtype), d = round_up(a->size[ATTENTION_DEPTH], 16);
    int64_t wide = round_up(a->size[ATTENTION_WIDTH], 16);
    double calls = (4 + ways) * TILE + (double)parts(d, t->step) * STEP +
                   (double)parts(keys, t->along) * (in_parts(a) ? PARTS : STEP);
    double copied = (double)(keys * (d + wide) * size) / BYTES +
                    2 * (double)keys * npu_constants[NPU_C_ND2NZ_ROW].value +
                    ways * (double)parts(rows, t->part) * COPY;
    double mac = (double)(rows * keys) * ((double)d + ways * (double)wide) / rate;
    double scalar = calls * npu_constants[NPU_C_QUEUE_CALL].value;
    return fmax(fmax(scalar, copied), mac);
}

/* Cycles of the slowest core, about. One turn ahead, the roles wait for each other. */
static double predict(const Attention *a, const Tiles *t)
{
    int64_t tiles = a->size[ATTENTION_BATCH] * parts(a->size[ATTENTION_QUERIES], t->m);
    int64_t turns = parts(a->size[ATTENTION_KEYS], t->n);
    int64_t keys = smaller(a->size[ATTENTION_KEYS], t->n);
    int64_t rows = smaller(a->size[ATTENTION_QUERIES], t->m);
    double vector = vector_cycles(a, t, rows, keys), cube = cube_cycles(a, t, rows, keys);
    double turn = fmax(vector, cube) + (t->ahead == 1 ? fmin(vector, cube) / 2 : 0);
    double more = t->pair ? a->chip->aic * npu_constants[NPU_C_CORE_US].value * a->chip->mhz : 0;
    return (double)parts(tiles, a->chip->aic) * (double)(turns + t->ahead) * turn + more;
}

/* All that fit the cube, the fastest first. */
static uint32_t list_tiles(const Attention *a, Tiles *out)
{
    static const int64_t rows[] = {16, 32, 48, 64, 96, 128}, keys[] = {32, 64, 128, 256},
                         part[] = {16, 32, 64};
    uint32_t n = 0;
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 24; k++) {
            Tiles t = {.m = rows[i], .n = keys[k / 6], .part = part[k / 2 % 3], .pair = k % 2};
            bool past = (i && rows[i - 1] >= a->size[ATTENTION_QUERIES]) ||
                        (k / 6 && keys[k / 6 - 1] >= a->size[ATTENTION_KEYS]);
            bool alone = t.pair && (t.m <= t.part || a->size[ATTENTION_QUERIES] <= t.part);
            if (past || alone || t.m % t.part || t.m / t.part > CHANNEL_DEPTH || !fit_cube(a, &t))
                continue;
            uint32_t at = n++;
            for (; at && predict(a, &t) < predict(a, &out[at - 1]); at--)
                out[at] = out[at - 1];
            out[at] = t;
        }
    return n;
}

/* ---- accesses of the cube ---- */

/* One index of an operand; `keys` is the loop variable over keys. NULL: it walks memory in another way. */
static const char *put_place(const Attention *a, const LayoutIndex *at, const char *keys)
{
    long long from = at->at;
    if (!at->axis)
        return str_format(a->arena, "%lld", from);
    if (at->by != 1 || at->inner)
        return NULL;
    AttentionAxis is = a->is[at->axis];
    const char *range = is == ATTENTION_QUERIES ? "c" : keys;
    if (is == ATTENTION_BATCH)
        return from ? str_format(a->arena, "j%u + %lld", at->axis, from)
                    : str_format(a->arena, "j%u", at->axis);
    if (is == ATTENTION_DEPTH || is == ATTENTION_WIDTH)
        return str_format(a->arena, "%lld : %lld", from, from + (long long)a->size[is]);
    return from ? str_format(a->arena, "%s.start + %lld : %s.stop + %lld", range, from, range, from)
                : range;
}

static const char *put_access(const Attention *a, NestId id, const char *keys)
{
    const NestValue *v = &a->nest->values.at[id];
    const LayoutTensor *t = &a->layout.tensors[v->tensor];
    LayoutIndex at[LAYOUT_RANK];
    Buf out = {0};
    bool ok = true;
    layout_index(a->nest, t, &v->index, at);
    buf_printf(&out, "%s[", nest_tensor_name(a->nest, v->tensor));
    for (uint32_t i = 0; i < t->rank; i++) {
        const char *place = put_place(a, &at[i], keys);
        ok = ok && place;
        buf_printf(&out, "%s%s", i ? ", " : "", place ? place : "");
    }
    buf_char(&out, ']');
    const char *text = ok ? buf_take(&out, a->arena) : NULL;
    buf_free(&out);
    return text;
}

/* It lies with rows and columns exchanged: the axis of its columns is not the one whose elements are next to each other. */
static bool is_turned(const Attention *a, NestId id, AttentionAxis columns)
{
    return affine_by(&a->nest->values.at[id].index, a->axis[columns]) != 1;
}

/* ---- text ---- */

/* The rows of the present part in what a tile of queries has. */
#define OWN "r.index * $L : r.index * $L + r.size"

/* $T dtype, $M queries, $L of a part, $N keys, $D depth, $W width, $S step of it, $U step of keys; $X $Y $Z tiles of L1 of q, k,
 * v, $G how many; $O the longer step, $E left sides in L0A */
static const char cube_buffers[] = "    q1 = l1($T, $X)\n"
                                   "    k1 = l1($T, $Y, depth=$G)\n"
                                   "    v1 = l1($T, $Z, depth=$G)\n"
                                   "    left = l0a($T, $M, $O, depth=$E)\n"
                                   "    turned = l0b($T, $S, $N)\n"
                                   "    values = l0b($T, $U, $W)\n"
                                   "    product = l0c(f32, $M, $N, depth=$H)\n"
                                   "    sums = l0c(f32, $M, $W, depth=$H)\n"
                                   "    scores = channel($C, $L, $N, depth=8)\n"
                                   "    weights = channel($T, $L, $N, depth=8)\n"
                                   "    added = channel(f32, $L, $W, depth=8)\n";

static const char vector_buffers[] = "    score = ub(f32, $L, $N, depth=2)\n"
                                     "    part = ub(f32, $L, $W, depth=2)\n"
                                     "    total = ub(f32, $M, $W)\n"
                                     "    largest = ub(f32, $M)\n"
                                     "    higher = ub(f32, $L)\n"
                                     "    sum = ub(f32, $M)\n"
                                     "    now = ub(f32, $M)\n"
                                     "    before = ub(f32, $M)\n"
                                     "    weight = ub($T, $L, $N, depth=2)\n";

/* $V the loop over queries, $R keys, $G turns more than tiles of them, $H keys of the turn whose weights are there; $I $J $K what is loaded of q, k, v; $O $B $Q loads into L0 */
static const char cube_text[] =
    "    with cube():\n"
    "        $V\n"
    "            with copyin():\n"
    "                load($I)\n"
    "            for u in range(ceildiv($R, $N) + $G):\n"
    "                for t in tiles($N * u, min($N * u + $N, $R), $N):\n"
    "                    with copyin():\n"
    "                        load($J)\n"
    "                    for s in tiles($D, $S):\n"
    "                        with copyin():\n"
    "                            $O\n"
    "                            $B\n"
    "                        with compute():\n"
    "                            mmad(product[:c.size, :t.size], left[:c.size, :s.size], "
    "turned[:s.size, :t.size], init=s.index == 0)\n"
    "                    for r in tiles(c.size, $L):\n"
    "                        with copyout():\n"
    "                            send(scores, product[r, :t.size])\n"
    "                for w in tiles($H):\n"
    "                    with copyin():\n"
    "                        load($K)\n";

static const char take_whole[] = "                    for r in tiles(c.size, $L):\n"
                                 "                        with copyin():\n"
                                 "                            recv(w1[r, :w.size], weights)\n";

static const char take_parts[] = "                    for r in tiles(c.size, $L):\n"
                                 "                        with copyin():\n"
                                 "                            recv(w1[r, :w.size], weights)\n"
                                 "                            recv(w2[r, :w.size], rest)\n";

/* $Q loads values */
static const char weigh_whole[] =
    "                    for s in tiles(w.size, $U):\n"
    "                        with copyin():\n"
    "                            load(left[:c.size, :s.size], w1[:c.size, s])\n"
    "                            $Q\n"
    "                        with compute():\n"
    "                            mmad(sums[:c.size, :$W], left[:c.size, :s.size], values[:s.size, "
    ":$W], init=s.index == 0)\n";

static const char weigh_parts[] =
    "                    for s in tiles(w.size, $U):\n"
    "                        with copyin():\n"
    "                            load(left[:c.size, :s.size], w1[:c.size, s])\n"
    "                            load(low[:c.size, :s.size], w2[:c.size, s])\n"
    "                            $Q\n"
    "                        with compute():\n"
    "                            mmad(sums[:c.size, :$W], left[:c.size, :s.size], values[:s.size, "
    ":$W], init=s.index == 0)\n"
    "                            mmad(sums[:c.size, :$W], low[:c.size, :s.size], values[:s.size, "
    ":$W], init=False)\n";

static const char send_sums[] = "                    for r in tiles(c.size, $L):\n"
                                "                        with copyout():\n"
                                "                            send(added, sums[r, :$W])\n";

/* $I $J what is kept of the turn before the last, $K the factor of what comes */
static const char vector_text[] =
    "    with vector():\n"
    "        $V\n"
    "            with compute():\n"
    "                largest[:c.size] = " LOWEST "\n"
    "                sum[:c.size] = 0.0\n"
    "                now[:c.size] = 0.0\n"
    "                before[:c.size] = 0.0\n"
    "$I"
    "                total[:c.size, :$W] = 0.0\n"
    "            for u in range(ceildiv($R, $N) + $G):\n"
    "                for t in tiles($N * u, min($N * u + $N, $R), $N):\n";

/* $B what softmax is taken of; $E where its exponentials go */
static const char weigh_text[] = "$Owith compute():\n"
                                 "$O    higher[:r.size] = max(largest[" OWN "], row_max($B))\n"
                                 "$O    now[" OWN "] = exp(largest[" OWN "] - higher[:r.size])\n"
                                 "$O    $E = exp($B - col(higher[:r.size]))\n"
                                 "$O    sum[" OWN "] = sum[" OWN "] * now[" OWN "] + row_sum($E)\n"
                                 "$O    largest[" OWN "] = higher[:r.size]\n";

static const char send_whole[] = "$Owith copyout():\n"
                                 "$O    send(weights, weight[:r.size, :t.size])\n";

static const char send_parts[] =
    "$O    weight[:r.size, :t.size] = cast(score[:r.size, :t.size], $T)\n"
    "$O    $Y = cast(weight[:r.size, :t.size], f32)\n"
    "$O    score[:r.size, :t.size] = score[:r.size, :t.size] - $Y\n"
    "$O    least[:r.size, :t.size] = cast(score[:r.size, :t.size], $T)\n"
    "$Owith copyout():\n"
    "$O    send(weights, weight[:r.size, :t.size])\n"
    "$O    send(rest, least[:r.size, :t.size])\n";

static const char add_text[] = "                for w in tiles($H):\n"
                               "                    for r in $X:\n"
                               "                        with copyin():\n"
                               "                            recv(part[:r.size, :$W], added)\n"
                               "                        with compute():\n"
                               "                            total[" OWN ", :$W] = total[" OWN
                               ", :$W] * col($K[" OWN "])\n"
                               "                            total[" OWN ", :$W] = total[" OWN
                               ", :$W] + part[:r.size, :$W]\n"
                               "                with compute():\n"
                               "$J"
                               "                    before[:c.size] = now[:c.size]\n"
                               "            for r in $X:\n"
                               "                with compute():\n"
                               "                    total[" OWN ", :$W] = total[" OWN
                               ", :$W] / col(sum[" OWN "])\n";

static const char *pair(const Attention *a, bool turned, int64_t rows, int64_t columns)
{
    return str_format(a->arena, "%lld, %lld", (long long)(turned ? columns : rows),
                      (long long)(turned ? rows : columns));
}

/* How L1 holds an operand, as it is declared and as it is loaded. */
typedef struct Held {
    char declared, loaded; /* holes */
    const char *tile, *rows, *access;
    bool turned;
    int64_t most, columns;
} Held;

static void set_tile(Writing *w, const Held *h)
{
    Arena *arena = w->a->arena;
    long long columns = (long long)h->columns;
    script_set(w->s, h->declared, pair(w->a, h->turned, h->most, h->columns));
    script_set(
        w->s, h->loaded,
        h->turned
            ? str_format(arena, "%s[:%lld, :%s.size], %s", h->tile, columns, h->rows, h->access)
            : str_format(arena, "%s[:%s.size, :%lld], %s", h->tile, h->rows, columns, h->access));
}

static bool set_holes(Writing *w)
{
    Attention *a = w->a;
    Script *s = w->s;
    const Tiles *t = &w->tiles;
    int64_t d = a->size[ATTENTION_DEPTH], wide = a->size[ATTENTION_WIDTH];
    bool tq = is_turned(a, a->q, ATTENTION_DEPTH), tk = is_turned(a, a->k, ATTENTION_DEPTH);
    bool tv = is_turned(a, a->v, ATTENTION_WIDTH);
    const char *q = put_access(a, a->q, "t"), *k = put_access(a, a->k, "t"),
               *v = put_access(a, a->v, "w");
    if (!q || !k || !v)
        return false;
    script_set(s, 'T', dtype_name(a->dtype));
    script_set(s, 'C', dtype_name(a->product_dtype));
    script_number(s, 'M', t->m);
    script_number(s, 'L', t->part);
    script_number(s, 'N', t->n);
    script_number(s, 'S', t->step);
    script_number(s, 'D', d);
    script_number(s, 'W', wide);
    script_number(s, 'G', t->l1);
    script_number(s, 'H', t->l0c);
    script_number(s, 'U', t->along);
    set_tile(w, &(Held){'X', 'I', "q1", "c", q, tq, t->m, d});
    set_tile(w, &(Held){'Y', 'J', "k1", "t", k, tk, t->n, d});
    set_tile(w, &(Held){'Z', 'K', "v1", "w", v, tv, t->n, wide});
    script_set(s, 'B',
               tk ? "load(turned[:s.size, :t.size], k1[s, :t.size])"
                  : "load_transposed(turned[:s.size, :t.size], k1[:t.size, s])");
    script_set(s, 'Q',
               tv ? str_format(a->arena, "load_transposed(values[:s.size, :%lld], v1[:%lld, s])",
                               (long long)wide, (long long)wide)
                  : str_format(a->arena, "load(values[:s.size, :%lld], v1[s, :%lld])",
                               (long long)wide, (long long)wide));
    return true;
}

static void set_left(Writing *w)
{
    bool turned = is_turned(w->a, w->a->q, ATTENTION_DEPTH);
    script_set(w->s, 'O',
               turned ? "load_transposed(left[:c.size, :s.size], q1[s, :c.size])"
                      : "load(left[:c.size, :s.size], q1[:c.size, s])");
}

/* "for j1, c in cyclic(n1, tiles(n2, 64)):" and how many pieces of work that is. */
static const char *put_loop(Writing *w, const char **pieces)
{
    const Attention *a = w->a;
    Buf names = {0}, counts = {0}, work = {0};
    for (uint32_t i = 1; i < a->nest->axes.len; i++)
        if (a->is[i] == ATTENTION_BATCH) {
            buf_printf(&names, "j%u, ", i);
            buf_printf(&counts, "%s, ", a->layout.size[i]);
            buf_printf(&work, "%s * ", a->layout.size[i]);
        }
    const char *m = a->layout.size[a->axis[ATTENTION_QUERIES]];
    *pieces = str_format(a->arena, "%.*sceildiv(%s, %lld)", (int)work.len, work.len ? work.at : "",
                         m, (long long)w->tiles.m);
    const char *text = str_format(a->arena,
                                  "for %.*sc in cyclic(%.*stiles(%s, %lld)):", (int)names.len,
                                  names.len ? names.at : "", (int)counts.len,
                                  counts.len ? counts.at : "", m, (long long)w->tiles.m);
    buf_free(&names);
    buf_free(&counts);
    buf_free(&work);
    return text;
}

static Build open_build(Writing *w, Band *band, BuildPool *pool, uint32_t *next, bool *wanted,
                        Buf *body, int depth)
{
    Attention *a = w->a;
    Build b = {.arena = a->arena,
               .nest = a->nest,
               .layout = &a->layout,
               .chip = a->chip,
               .band = band,
               .wanted = wanted,
               .body = body,
               .depth = depth,
               .pool = pool,
               .next = next,
               .load_depth = 1,
               .store_depth = 1};
    build_open(&b);
    return b;
}

static bool *all_wanted(const Attention *a)
{
    bool *wanted = arena_array(a->arena, bool, a->nest->values.len + 1);
    for (uint32_t i = 1; i < a->nest->values.len; i++)
        wanted[i] = a->nest->values.at[i].uses > 0;
    return wanted;
}

/* What the cube handed over has this name. */
static void name_fed(Build *b, uint32_t tensor, const char *view)
{
    for (uint32_t i = 1; i < b->nest->values.len; i++)
        if (b->nest->values.at[i].op == NEST_LOAD && b->nest->values.at[i].tensor == tensor)
            b->name[i] = view;
}

/* Scores come as the product is rounded; lines of a part are six levels deep. */
static void receive_scores(Writing *w, Buf *body, Buf *buffers)
{
    bool half = w->a->product_dtype != DT_F32;
    script_set(w->s, 'O', "                        ");
    script_set(w->s, 'E', half ? "rounded" : "score");
    script_put(w->s,
               "                    for r in $X:\n$Owith copyin():\n"
               "$O    recv($E[:r.size, :t.size], scores)\n",
               body);
    if (!half)
        return;
    script_put(
        w->s,
        "$Owith compute():\n$O    score[:r.size, :t.size] = cast($E[:r.size, :t.size], f32)\n",
        body);
    script_put(w->s, "    rounded = ub($C, $L, $N, depth=2)\n", buffers);
}

static bool put_vector(Writing *w, Buf *buffers, Buf *body)
{
    Attention *a = w->a;
    BuildPool pool = {0};
    uint32_t next = 0, queries = a->axis[ATTENTION_QUERIES];
    bool *wanted = all_wanted(a);
    Band scores = {.rows = {queries, w->tiles.part, false},
                   .lanes = {a->axis[ATTENTION_KEYS], w->tiles.n, false}};
    Band results = {.rows = {queries, w->tiles.part, false},
                    .lanes = {a->axis[ATTENTION_WIDTH], a->size[ATTENTION_WIDTH], true}};
    for (uint32_t i = 0; i < a->nest->stores.len; i++)
        vec_push(a->arena, &results.stores, i);
    static const char received[] = "score[:r.size, :t.size]";
    bool two = in_parts(a), late = w->tiles.ahead > 1;
    script_set(w->s, 'K', late ? "past" : "before");
    script_set(w->s, 'I', late ? "                past[:c.size] = 0.0\n" : "");
    script_set(w->s, 'J', late ? "                    past[:c.size] = before[:c.size]\n" : "");
    script_set(w->s, 'X', /* from here on the parts of a tile; the cube's texts are put */
               str_format(a->arena, w->tiles.pair ? "alternate(tiles(c, %lld))" : "tiles(c, %lld)",
                          (long long)w->tiles.part));
    script_put(w->s, vector_buffers, buffers);
    if (late)
        script_put(w->s, "    past = ub(f32, $M)\n", buffers);
    if (two)
        script_put(w->s, "    least = ub($T, $L, $N, depth=2)\n", buffers);
    script_put(w->s, vector_text, body);
    receive_scores(w, body, buffers);
    Build b = open_build(w, &scores, &pool, &next, wanted, body, 6);
    name_fed(&b, a->product, received);
    const char *scores_view = build_value(&b, a->scores);
    /* What softmax was taken of is not read again: its tile takes what weights are rounded to. */
    bool apart = strcmp(scores_view, received) != 0;
    if (two && !apart)
        script_put(w->s, "    wide = ub(f32, $L, $N)\n", buffers);
    script_set(w->s, 'B', scores_view);
    script_set(w->s, 'Y', apart ? scores_view : "wide[:r.size, :t.size]");
    script_set(w->s, 'E', two ? "score[:r.size, :t.size]" : "weight[:r.size, :t.size]");
    script_put(w->s, weigh_text, body);
    script_put(w->s, two ? send_parts : send_whole, body);
    script_put(w->s, add_text, body);
    for (uint32_t i = 0; i < pool.len; i++)
        pool.at[i].owner = 0;
    Build y = open_build(w, &results, &pool, &next, wanted, body, 4);
    name_fed(&y, a->sums,
             str_format(a->arena, "total[r.index * %lld : r.index * %lld + r.size, :%lld]",
                        (long long)w->tiles.part, (long long)w->tiles.part,
                        (long long)a->size[ATTENTION_WIDTH]));
    build_results(&y);
    build_declare(&pool, buffers);
    return !b.failed && !y.failed;
}

static void put_head(const Writing *w, Buf *out)
{
    const Attention *a = w->a;
    const Tiles *t = &w->tiles;
    buf_printf(out, "# Planned by acraft for %s, strategy attention.\n", a->chip->name);
    buf_printf(out,
               "# Tiles of %lld queries, %lld at once in UB, meet %lld keys a turn; the cube "
               "multiplies %s ahead of "
               "the vector role, which keeps\n# the largest score and the sum of exponentials so "
               "far: scores are never in memory whole.\n",
               (long long)t->m, (long long)t->part, (long long)t->n,
               t->ahead > 1 ? "two turns" : "a turn");
    if (a->causal)
        buf_puts(out, "# Keys behind the last query of a tile are skipped.\n");
    buf_puts(out, "craft = 1\n\n");
    for (uint32_t i = 1; i < a->nest->axes.len; i++)
        if (a->layout.free[i] && a->layout.same[i] == i && a->nest->axes.at[i].size > 1)
            buf_printf(out, "n%u = dim(1, 16777216)\n", i);
}

/* Tensors that are in memory. */
static void list_operands(Writing *w)
{
    TailOperands all = {0};
    Tail tail = {
        .arena = w->a->arena, .nest = w->a->nest, .layout = w->a->layout, .tensor = w->a->product};
    tail_operands(&tail, &all);
    const char *sums = nest_tensor_name(w->a->nest, w->a->sums);
    for (uint32_t i = 0; i < all.len; i++)
        if (all.at[i].name && !str_is(str_from(all.at[i].name), sums))
            vec_push(w->a->arena, &w->all, all.at[i]);
}

static void put_cube(Writing *w, Buf *body)
{
    bool two = in_parts(w->a);
    script_put(w->s, cube_text, body);
    script_put(w->s, two ? take_parts : take_whole, body);
    script_put(w->s, two ? weigh_parts : weigh_whole, body);
    script_put(w->s, send_sums, body);
}

/* How many keys the queries of a tile see: those behind the last one's have no weight. */
static const char *seen_keys(const Attention *a)
{
    const char *all = a->layout.size[a->axis[ATTENTION_KEYS]];
    if (!a->causal)
        return all;
    if (a->ahead < 0)
        return str_format(a->arena, "min(%s, max(c.stop - %lld, 0))", all, -(long long)a->ahead);
    return a->ahead ? str_format(a->arena, "min(%s, c.stop + %lld)", all, (long long)a->ahead)
                    : str_format(a->arena, "min(%s, c.stop)", all);
}

/* How many turns the weights are behind the scores, and which keys are theirs. */
static void set_turns(const Tiles *t, const char *keys, Script *s)
{
    long long n = (long long)t->n, ahead = t->ahead;
    script_number(s, 'G', ahead);
    const char *last = ahead > 1 ? str_format(s->arena, "max(%lld * u - %lld, 0)", n, n)
                                 : str_format(s->arena, "%lld * u", n);
    script_set(s, 'H',
               str_format(s->arena, "max(%lld * u - %lld, 0), min(%s, %s), %lld", n, ahead * n,
                          last, keys, n));
}

static bool put_program(Writing *w, Buf *out)
{
    Attention *a = w->a;
    Script *s = w->s;
    const char *pieces;
    Buf body = {0};
    put_head(w, out);
    script_set(s, 'V', put_loop(w, &pieces));
    const char *keys = seen_keys(a);
    script_set(s, 'R', keys);
    script_put(s, "\n@host\ndef $F($P):\n", out);
    buf_printf(out, "    %s_attention[min(chip.cube_cores, %s)](", s->name, pieces);
    tail_parameters(&w->all, &w->all, false, out);
    buf_printf(out, ")\n\n@kernel(cube, vector%s)\ndef %s_attention(",
               w->tiles.pair ? ", vector" : "", s->name);
    tail_parameters(&w->all, &w->all, true, out);
    buf_puts(out, "):\n");
    script_number(s, 'O', larger(w->tiles.step, w->tiles.along));
    script_number(s, 'E', w->tiles.left);
    script_put(s, cube_buffers, out);
    set_left(w);
    script_put(s, /* tiles of L1 have eight slots */
               in_parts(a) ? "    w1 = l1($T, $M, $N)\n    w2 = l1($T, $M, $N)\n"
                             "    low = l0a($T, $M, $U)\n"
                             "    rest = channel($T, $L, $N, depth=8)\n"
                           : "    w1 = l1($T, $M, $N, depth=$G)\n",
               out);
    set_turns(&w->tiles, keys, s);
    put_cube(w, &body);
    bool ok = put_vector(w, out, &body);
    buf_str(out, buf_view(&body));
    buf_free(&body);
    return ok;
}

/* The program of one size of tiles. False: it does not fit, or cannot be written at all (*never). */
static bool write_attention(Attention *a, const Graph *graph, const char *name, const Tiles *tiles,
                            Plan *plan, bool *never)
{
    Script s = {.arena = a->arena, .g = graph, .name = name};
    Writing w = {.a = a, .tiles = *tiles, .s = &s};
    Buf out = {0};
    list_operands(&w);
    *never = w.all.len > SCRIPT_MAX_OPERANDS;
    if (*never)
        return false;
    tail_host(&s, &w.all);
    *never = !set_holes(&w);
    if (*never)
        return false;
    bool ok = put_program(&w, &out);
    script_finish(&s, "attention", tiles->m * tiles->n, &out, plan);
    Fit fit = fit_program(plan->craft, a->chip);
    *never = !ok || fit.crowded;
    return !*never && !fit.exceeds;
}

/* Whether one kernel for attention is worth it: its first tiles are timed and the fastest taken;
 * choose.c compares it with several kernels. Where neither is timed, one kernel is taken if L2
 * does not hold the scores, or a causal mask hides half of them. */
static bool attention_pays(const Attention *a)
{
    int64_t scores = a->size[ATTENTION_BATCH] * a->size[ATTENTION_QUERIES] *
                     a->size[ATTENTION_KEYS];
    return a->causal || scores * 4 > ((int64_t)a->chip->l2_mib << 20) * 2 / 3;
}

bool plan_attention(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
                    const char *name, Plan *plan, Diag *diag)
{
    enum { MOST_TIMED = 4 };
    Attention a;
    Tiles tiles[MOST_TILES];
    ClockBest best = clock_best(graph);
    Plan made = {0};
    bool never = false;
    (void)tile_limit, (void)diag;
    if (!attention_read(arena, graph, chip, &a) || (!best.left && !attention_pays(&a)))
        return false;
    uint32_t n = list_tiles(&a, tiles);
    best.left = best.left < MOST_TIMED ? best.left : MOST_TIMED;
    for (uint32_t i = 0; i < n && !never && clock_wants(&best); i++)
        if (write_attention(&a, graph, name, &tiles[i], &made, &never))
            clock_offer(&best, &made, chip);
    return clock_take(&best, chip, plan);
}
