/* Loop nests of graphs that are drawn: elementwise steps, reductions of rows or of columns, and what reads both, all of
 * them results, in one kernel with large tiles and with tiny ones. The values must be the graph's. */
#include "base/rng.h"
#include "tests/gen/nest_run.h"

enum { GRAPHS = 40, STEPS = 9, FIRST = 2, MOST = FIRST + STEPS };

typedef struct Drawn {
    Buf text;        /* of forward; v0 is x, v1 has one number a row or a column */
    bool tile[MOST]; /* by value: it has all elements */
    uint32_t count;
    bool columns; /* reductions leave one number a column, else one a row */
    uint64_t seed, draws;
} Drawn;

static uint32_t draw(Drawn *d, uint32_t below)
{
    return (uint32_t)(rng_u64(d->seed, 0x6E657374u, d->draws++) % below);
}

static uint32_t draw_tile(Drawn *d)
{
    uint32_t i = draw(d, d->count);
    while (!d->tile[i])
        i = (i + 1) % d->count;
    return i;
}

static void put_reduction(Drawn *d)
{
    static const char *const folds[] = {"mean", "amax", "amin", "mean"};
    uint32_t fold = draw(d, 4), of = draw_tile(d);
    buf_printf(&d->text, "        v%u = ", d->count);
    if (fold == 3) /* of squares */
        buf_printf(&d->text, "(v%u * v%u)", of, of);
    else
        buf_printf(&d->text, "v%u", of);
    buf_printf(&d->text, ".%s(%d, keepdim=True)\n", folds[fold], d->columns ? 0 : 1);
    d->tile[d->count++] = false;
}

/* No step makes numbers larger than they are, so that rounding stays what it is. */
static void put_map(Drawn *d)
{
    uint32_t a = draw_tile(d), b = draw(d, d->count);
    buf_printf(&d->text, "        v%u = ", d->count);
    switch (draw(d, 5)) {
    case 0: buf_printf(&d->text, "torch.tanh(v%u)\n", a); break;
    case 1: buf_printf(&d->text, "torch.abs(v%u)\n", a); break;
    case 2: buf_printf(&d->text, "(v%u + v%u) * 0.5\n", a, b); break;
    case 3: buf_printf(&d->text, "(v%u - v%u) * 0.5\n", a, b); break;
    default: buf_printf(&d->text, "torch.sigmoid(v%u) * v%u\n", a, b);
    }
    d->tile[d->count++] = true;
}

static void put_graph(Drawn *d, bool halves)
{
    buf_printf(&d->text, "self, x, m):\n        v0, v1 = x%s, m\n", halves ? ".float()" : "");
    d->tile[0] = true;
    d->count = FIRST;
    while (d->count < MOST)
        if (draw(d, 5) < 2)
            put_reduction(d);
        else
            put_map(d);
    buf_puts(&d->text, "        return v2");
    for (uint32_t i = FIRST + 1; i < MOST; i++)
        if (!d->tile[i] || i + 2 >= MOST)
            buf_printf(&d->text, ", v%u", i);
    buf_char(&d->text, '\n');
}

static bool check_graph(uint32_t number)
{
    Arena arena = {0};
    Diag diag;
    Drawn d = {.seed = number, .columns = number % 3 == 2};
    bool halves = number % 2, right = true;
    put_graph(&d, halves);
    const char *dtype = halves ? ", dtype=torch.float16" : "";
    const char *inputs = d.columns
                             ? str_format(&arena, "torch.randn(130, 40%s), torch.randn(40)", dtype)
                             : str_format(&arena, "torch.randn(5, 700%s), torch.randn(5, 1)",
                                          dtype);
    Graph *g = read_model(&arena, buf_take(&d.text, &arena), inputs, &diag);
    for (int64_t limit = 0; limit <= 64; limit += 64) {
        Plan plan = {0};
        if (plan_nest(&arena, g, npu_chip_find(STR("910B2")), limit, "k", &plan, &diag))
            right = run_plan(&arena, g, &plan) && right;
    }
    buf_free(&d.text);
    arena_drop(&arena);
    return right;
}

T_TEST(nest_of_drawn_graphs)
{
    for (uint32_t i = 0; i < GRAPHS; i++)
        CHECK_MSG(check_graph(i), "graph %u", i);
}
