/* Rows that UB does not hold, in order. In: sort (descending) or topk (largest) along the last dimension. Out: a program
 * that works on windows of a row, with the values and their places in workspaces.
 *
 * sort: windows of two blocks are sorted by themselves, those that begin at a row's start and those that begin a
 * block later by turns. After as many turns as there are blocks the row is in order (odd-even transposition), and
 * equal values have kept theirs, since a window never changes their order.
 *
 * topk: the best of each window are kept, then the best of windows of those, until a row has one window. What fills up
 * the last window is -inf and stands behind all elements of the row, so that none of it is taken. */
#include "gen/plan/fit.h"
#include "gen/plan/sort_int.h"

enum { MOST_WINDOW = 4096, LEAST_WINDOW = 256, BLOCK = 64, MOST_TURNS = 512, KEPT = 8 };

static const char sort_text[] =
    "\n@kernel\ndef $F_first(x: gm[$T, outer, $N], v: ws[$T, outer, $N], at: ws[i32, outer, $N]):\n"
    "    a = ub($T, $W, depth=2)\n"
    "    b = ub($T, $W, depth=2)\n"
    "    p = ub(i32, $W, depth=2)\n"
    "    for r, t in mine(outer, tiles($N, $W)):\n"
    "        with copyin():\n"
    "            load(a[:t.size], x[r, t])\n"
    "        with compute():\n"
    "            sort(b[:t.size], p[:t.size], a[:t.size])\n"
    "            p[:t.size] = p[:t.size] + t.start\n"
    "        with copyout():\n"
    "            store(v[r, t], b[:t.size])\n"
    "            store(at[r, t], p[:t.size])\n"
    "\n@kernel\ndef $F_windows(v: ws[$T, outer, $N], at: ws[i32, outer, $N], begin: i32):\n"
    "    a = ub($T, $W, depth=2)\n"
    "    q = ub(i32, $W, depth=2)\n"
    "    b = ub($T, $W, depth=2)\n"
    "    p = ub(i32, $W)\n"
    "    o = ub(i32, $W, depth=2)\n"
    "    for r, t in mine(outer, tiles(begin, $N, $W)):\n"
    "        with copyin():\n"
    "            load(a[:t.size], v[r, t])\n"
    "            load(q[:t.size], at[r, t])\n"
    "        with compute():\n"
    "            sort(b[:t.size], p[:t.size], a[:t.size])\n"
    "            o[:t.size] = gather(q[:t.size], min(max(p[:t.size], 0), t.size - 1))\n"
    "        with copyout():\n"
    "            store(v[r, t], b[:t.size])\n"
    "            store(at[r, t], o[:t.size])\n";

/* $L pieces of a row. */
static const char first_text[] =
    "\n@kernel\ndef $F_first(x: gm[$T, outer, $N], v: ws[$T, outer, $L, $M], "
    "at: ws[i32, outer, $L, $M]):\n"
    "    a = ub($T, $W, depth=2)\n"
    "    b = ub($T, $M, depth=2)\n"
    "    p = ub(i32, $M, depth=2)\n"
    "    for r, t in mine(outer, tiles($N, $W)):\n"
    "        with copyin():\n"
    "            load(a, x[r, t], pad=-inf)\n"
    "        with compute():\n"
    "            topk(b, p, a)\n"
    "            p = p + t.start\n"
    "        with copyout():\n"
    "            store(v[r, t.index, :], b)\n"
    "            store(at[r, t.index, :], p)\n";

/* $C values that were kept become $L times $M. */
static const char again_text[] =
    "\n@kernel\ndef $F_again$I(v: ws[$T, outer, $C], at: ws[i32, outer, $C], "
    "w: ws[$T, outer, $L, $M], to: ws[i32, outer, $L, $M]):\n"
    "    a = ub($T, $W, depth=2)\n"
    "    q = ub(i32, $W, depth=2)\n"
    "    b = ub($T, $M, depth=2)\n"
    "    p = ub(i32, $M)\n"
    "    o = ub(i32, $M, depth=2)\n"
    "    for r, t in mine(outer, tiles($C, $W)):\n"
    "        with copyin():\n"
    "            load(a, v[r, t], pad=-inf)\n"
    "            load(q[:t.size], at[r, t])\n"
    "        with compute():\n"
    "            topk(b, p, a)\n"
    "            o = gather(q[:t.size], min(max(p, 0), t.size - 1))\n"
    "        with copyout():\n"
    "            store(w[r, t.index, :], b)\n"
    "            store(to[r, t.index, :], o)\n";

static int64_t parts(int64_t n, int64_t of) { return (n + of - 1) / of; }

static void put_launch(const Script *s, const char *kernel, int64_t pieces, const char *arguments,
                       Buf *out)
{
    script_put(s, "    $F_", out);
    buf_printf(out, "%s[min(chip.cores, outer * %lld)](%s)\n", kernel, (long long)pieces,
               arguments);
}

/* False: too many turns. */
static bool put_sort(Script *s, int64_t n, int64_t window, Buf *host, Buf *kernels)
{
    int64_t turns = parts(n, window / 2), pieces = parts(n, window);
    if (turns > MOST_TURNS)
        return false;
    script_put(s, "    v0 = workspace($T, outer, $N)\n    at0 = workspace(i32, outer, $N)\n", host);
    put_launch(s, "first", pieces, "x, v0, at0", host);
    for (int64_t i = 1; i < turns; i++)
        put_launch(s, "windows", pieces,
                   str_format(s->arena, "v0, at0, %lld", i % 2 ? (long long)(window / 2) : 0LL),
                   host);
    script_number(s, 'C', n);
    script_put(s, sort_text, kernels);
    return true;
}

/* The number of the workspaces that hold the best. */
static int put_topk(Script *s, int64_t n, int64_t most, int64_t window, Buf *host, Buf *kernels)
{
    int64_t length = n;
    int level = 0;
    for (;; level++) {
        int64_t pieces = parts(length, window);
        script_number(s, 'L', pieces);
        script_number(s, 'C', length);
        script_set(s, 'I', level > 1 ? str_format(s->arena, "%d", level) : "");
        buf_printf(host, "    v%d = workspace(%s, outer, %lld, %lld)\n", level, s->hole['T' - 'A'],
                   (long long)pieces, (long long)most);
        buf_printf(host, "    at%d = workspace(i32, outer, %lld, %lld)\n", level, (long long)pieces,
                   (long long)most);
        put_launch(
            s, level ? str_format(s->arena, "again%s", s->hole['I' - 'A']) : "first", pieces,
            level ? str_format(s->arena, "v%d, at%d, v%d, at%d", level - 1, level - 1, level, level)
                  : "x, v0, at0",
            host);
        script_put(s, level ? again_text : first_text, kernels);
        length = pieces * most;
        if (pieces == 1)
            break;
    }
    script_number(s, 'C', length);
    return level;
}

/* The first $K of $C. */
static void put_results(const Script *s, const SortRows *rows, int level, Buf *host, Buf *kernels)
{
    bool v = rows->values, at = rows->places;
    script_put(s, "    $F_result[min(chip.cores, outer * ceildiv($K, $W))](", host);
    if (v)
        buf_printf(host, "v%d, values%s", level, at ? ", " : ")\n");
    if (at)
        buf_printf(host, "at%d, places)\n", level);
    script_put(s, "\n@kernel\ndef $F_result(", kernels);
    script_put(s, v ? "v: ws[$T, outer, $C], values: out[$T, outer, $K]" : "", kernels);
    script_put(s, v && at ? ", " : "", kernels);
    script_put(s, at ? "at: ws[i32, outer, $C], places: out[i64, outer, $K]" : "", kernels);
    script_put(s, "):\n", kernels);
    script_put(s, v ? "    a = ub($T, $W, depth=2)\n    b = ub($T, $W, depth=2)\n" : "", kernels);
    script_put(s, at ? "    q = ub(i32, $W, depth=2)\n    o = ub(i64, $W, depth=2)\n" : "",
               kernels);
    script_put(s, "    for r, t in mine(outer, tiles($K, $W)):\n        with copyin():\n", kernels);
    script_put(s, v ? "            load(a[:t.size], v[r, t])\n" : "", kernels);
    script_put(s, at ? "            load(q[:t.size], at[r, t])\n" : "", kernels);
    script_put(s, "        with compute():\n", kernels);
    script_put(s, v ? "            b[:t.size] = a[:t.size]\n" : "", kernels);
    script_put(s, at ? "            o[:t.size] = cast(q[:t.size], i64)\n" : "", kernels);
    script_put(s, "        with copyout():\n", kernels);
    script_put(s, v ? "            store(values[r, t], b[:t.size])\n" : "", kernels);
    script_put(s, at ? "            store(places[r, t], o[:t.size])\n" : "", kernels);
}

static bool long_rows(const Script *task, const SortRows *rows, int64_t window, const NpuChip *chip,
                      Plan *plan)
{
    Script s = *task;
    int64_t most = parts(rows->k, BLOCK) * BLOCK;
    bool all = most * 2 > window; /* then nothing is saved by keeping the best */
    int level = 0;
    Buf out = {0}, kernels = {0};
    script_number(&s, 'W', window);
    script_number(&s, 'M', most);
    sort_head(
        chip,
        all ? "# A row is longer than UB: windows of two blocks are sorted, which begin at the "
              "row's start and a block\n# later by turns."
            : "# A row is longer than UB: the best of each window are kept, then the best of "
              "those.",
        &out);
    script_put(&s, "\n@host\ndef $F($P):\n", &out);
    bool ok = true;
    if (all)
        ok = put_sort(&s, rows->n, window, &out, &kernels);
    else
        level = put_topk(&s, rows->n, most, window, &out, &kernels);
    if (ok) {
        put_results(&s, rows, level, &out, &kernels);
        buf_str(&out, buf_view(&kernels));
        script_finish(&s, "sort", rows->n, &out, plan);
        ok = !fit_program(plan->craft, chip).exceeds;
    }
    buf_free(&kernels);
    buf_free(&out);
    return ok;
}

bool sort_long_rows(const Script *task, const SortRows *rows, const NpuChip *chip,
                    int64_t tile_limit, Plan *plan)
{
    /* Few are kept: the shorter a window, the fewer times it is merged. */
    int64_t most = rows->k * KEPT <= MOST_WINDOW / 2 ? MOST_WINDOW / 2 : MOST_WINDOW;
    for (int64_t window = most; window >= LEAST_WINDOW; window /= 2)
        if ((!tile_limit || window <= tile_limit || window == LEAST_WINDOW) &&
            long_rows(task, rows, window, chip, plan))
            return true;
    return false;
}
