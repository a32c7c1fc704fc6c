/* The parts of make: ranges, sizes between scales, rules over the shape, several dtypes in one
 * file, and what the summary says of the model's error. */
#include "loop/make.h"

#include "base/file.h"
#include "craft/craft.h"
#include "loop/make_join.h"
#include "tests/t.h"
#include <math.h>

static const char rows_task[] =
    "import torch\nimport torch.nn as nn\nROWS = 4096\nCOLS = 30000\nclass Model(nn.Module):\n"
    "    def forward(self, x):\n        return torch.softmax(x * 2, dim=1)\n"
    "def get_inputs():\n    return [torch.rand(ROWS, COLS)]\n"
    "def get_init_inputs():\n    return []\n";

static MakeSpec spec_of(const char *source)
{
    return (MakeSpec){.path = "twice.py",
                      .source = str_from(source),
                      .chip = npu_chip_find(STR("910B2")),
                      .engine = EVAL_INTERP};
}

static bool contains(Str text, const char *piece) { return str_find(text, str_from(piece)) >= 0; }

static bool craft_ok(Arena *arena, Str text)
{
    Diag diag = diag_make(arena, "t.craft", text);
    CraftFile *file = craft_read(arena, "t.craft", text, &diag);
    bool ok = file && diag_ok(&diag);
    for (uint32_t v = 0; ok && v < craft_variant_count(file); v++)
        ok = craft_program(arena, file, v, &diag) != NULL;
    return ok;
}

T_TEST(make_range_texts)
{
    Arena arena = {0};
    MakeRange r;
    REQUIRE(sizes_range(&arena, STR("ROWS=2..65536"), &r));
    CHECK_EQ_STR(r.name, "ROWS");
    CHECK_EQ_INT(r.lo, 2);
    CHECK_EQ_INT(r.hi, 65536);
    static const char *const bad[] = {"",
                                      "N",
                                      "N=",
                                      "N=1",
                                      "N=1..",
                                      "N=0..4",
                                      "N=5..4",
                                      "=1..2",
                                      "N=1...2",
                                      "1..2=N",
                                      "N=1..99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_MSG(!sizes_range(&arena, str_from(bad[i]), &r), "'%s' was taken", bad[i]);
    arena_drop(&arena);
}

T_TEST(make_ranges_reach_the_program_and_the_cases)
{
    Arena arena = {0};
    MakeRange ranges[] = {{"ROWS", 3, 700}, {"COLS", 5, 90}};
    MakeSpec spec = spec_of(rows_task);
    spec.ranges = (MakeRanges){ranges, 2};
    spec.fuzz = 4;
    Diag diag = diag_make(&arena, spec.path, spec.source);
    MakeResult made;
    CHECK(make_kernel(&arena, &spec, &made, &diag));
    CHECK(contains(made.plan.craft, " = dim(3, 700)"));
    CHECK(contains(made.plan.craft, " = dim(5, 90)"));
    CHECK_EQ_INT(made.verdicts.len, 5);
    arena_drop(&arena);
}

T_TEST(make_joins_dtypes)
{
    Arena arena = {0};
    const DType dtypes[] = {DT_F32, DT_F16, DT_BF16};
    MakeResult made[3];
    MakeVariant variants[3];
    Diag diag = diag_make(&arena, "twice.py", STR(""));
    for (int i = 0; i < 3; i++) {
        MakeSpec spec = spec_of(rows_task);
        spec.float_type = dtypes[i];
        REQUIRE(make_kernel(&arena, &spec, &made[i], &diag));
        variants[i] = (MakeVariant){&made[i].plan, dtypes[i]};
    }
    Str craft;
    REQUIRE(make_join(&arena, variants, 3, &craft, &diag));
    CHECK(contains(craft, "T = dtype(f32, f16, bf16)"));
    CHECK(contains(craft, "x: gm[T, n0, n1]"));
    CHECK(craft_ok(&arena, craft));
    for (int i = 0; i < 3; i++) {
        MakeSpec spec = spec_of(rows_task);
        Verdict v = verdict_make();
        spec.float_type = dtypes[i];
        CHECK_MSG(make_again(&arena, &spec, &made[i], craft, &v), "%s: %s", dtype_name(dtypes[i]),
                  v.reason);
    }
    variants[1].plan = &(Plan){.name = "twice", .craft = STR("craft = 1\n")};
    CHECK(!make_join(&arena, variants, 2, &craft, &diag));
    arena_drop(&arena);
}

/* Windows of every float dtype are planned alike, of rows that are two axes of the task. */
T_TEST(make_joins_pools)
{
    Arena arena = {0};
    const DType dtypes[] = {DT_F32, DT_BF16};
    MakeResult made[2];
    MakeVariant variants[2];
    const char *path = "tasks/pooling/average_pooling_1d.py";
    Diag diag = diag_make(&arena, path, STR(""));
    for (int i = 0; i < 2; i++) {
        MakeSpec spec = {.path = path,
                         .chip = npu_chip_find(STR("910B2")),
                         .float_type = dtypes[i],
                         .plan_only = true};
        REQUIRE(file_read(&arena, path, 0, &spec.source, &diag));
        REQUIRE(make_kernel(&arena, &spec, &made[i], &diag));
        variants[i] = (MakeVariant){&made[i].plan, dtypes[i]};
    }
    Str craft;
    REQUIRE(make_join(&arena, variants, 2, &craft, &diag));
    CHECK(contains(craft, "x: gm[T, h0_0, h0_1, h1], output0: out[T, h0_0, h0_1, h1 + 1]"));
    CHECK(craft_ok(&arena, craft));
    arena_drop(&arena);
}

T_TEST(make_takes_the_largest_activations)
{
    Arena arena = {0};
    MakeSpec spec = {
        .path = "tasks/activation/relu.py", .chip = npu_chip_find(STR("910B2")), .plan_only = true};
    Diag diag = diag_make(&arena, spec.path, STR(""));
    MakeResult made;
    REQUIRE(file_read(&arena, spec.path, 0, &spec.source, &diag));
    REQUIRE(make_kernel(&arena, &spec, &made, &diag));
    CHECK(contains(made.plan.craft, "dim(1, 1099511627776)"));
    int64_t count = 0;
    CHECK(shape_count(made.plan.operands.at[0].shape, &count) && count > PLAN_DIM_MOST);
    arena_drop(&arena);
}

/* Two sizes, three values: 512 is best for few elements, 2048 for many. */
static TuneTable table_of(Arena *arena, double (*us)(int64_t n, int64_t tile))
{
    static const int64_t sizes[] = {1000, 4000, 100000, 1000000}, tiles[] = {1024, 512, 2048};
    TuneTable t = {.name = {"n0"}, .names = 1};
    for (int i = 0; i < 3; i++) {
        EvalSetting *s = arena_new(arena, EvalSetting);
        *s = (EvalSetting){"tile", (double)tiles[i]};
        vec_push(arena, &t.rows, ((TuneRow){.settings = s, .setting_count = 1}));
    }
    for (int k = 0; k < 4; k++) {
        TuneShape shape = {.size = {sizes[k]}, .us = arena_array(arena, double, 3)};
        for (int i = 0; i < 3; i++)
            shape.us[i] = us(sizes[k], tiles[i]);
        vec_push(arena, &t.shapes, shape);
    }
    return t;
}

static double turning(int64_t n, int64_t tile)
{
    return n < 50000 ? 10 + (double)tile / 100 : 100 - (double)tile / 100;
}

static double flat(int64_t n, int64_t tile) { return (double)n + (double)tile * 1e-6; }
static double one_best(int64_t n, int64_t tile) { return (double)n * (tile == 2048 ? 1 : 2); }

/* A program whose host function has this line. */
static Str program_with(Arena *arena, const char *line)
{
    return str_from(str_format(arena,
                               "craft = 1\n\nn0 = dim(1, 1024)\n\n@host\n"
                               "def op(x: gm[f32, n0]):\n    %s\n    work[1](x, tile)\n\n@kernel\n"
                               "def work(x: gm[f32, n0], tile: i32):\n    pass\n",
                               line));
}

T_TEST(tune_rule_asks_a_size_where_it_matters)
{
    Arena arena = {0};
    TuneTable t = table_of(&arena, turning);
    TuneRule rule = tune_fit(&t);
    CHECK_EQ_STR(tune_rule_text(&arena, &t, &rule), "tile = 512 if n0 < 16384 else 2048");
    CHECK(rule.worst < 1e-9);
    Str craft = program_with(&arena, "tile = choose(\"tile\", [1024, 512, 2048])");
    Str want = program_with(&arena, "tile = 512 if n0 < 16384 else 2048");
    CHECK(str_equal(tune_rule_apply(&arena, craft, &t, &rule), want));
    arena_drop(&arena);
}

T_TEST(tune_rule_is_a_constant_where_sizes_do_not_matter)
{
    Arena arena = {0};
    TuneTable same = table_of(&arena, flat), best = table_of(&arena, one_best);
    TuneRule rule = tune_fit(&same);
    CHECK_EQ_STR(tune_rule_text(&arena, &same, &rule), "tile = 1024");
    rule = tune_fit(&best);
    CHECK_EQ_STR(tune_rule_text(&arena, &best, &rule), "tile = 2048");
    Str craft = program_with(&arena, "tile = choose(\"tile\", [1024, 512, 2048])");
    Str want = program_with(&arena, "tile = choose(\"tile\", [2048, 1024, 512])");
    CHECK(str_equal(tune_rule_apply(&arena, craft, &best, &rule), want));
    arena_drop(&arena);
}

static double partly(int64_t n, int64_t tile)
{
    return tile == 512 || (tile == 1024 && n < 5000) ? (double)n : -1;
}

T_TEST(tune_rule_takes_only_what_runs)
{
    Arena arena = {0};
    TuneTable t = table_of(&arena, partly);
    TuneRule rule = tune_fit(&t);
    CHECK_EQ_STR(tune_rule_text(&arena, &t, &rule), "tile = 512");
    CHECK(isfinite(rule.worst));
    arena_drop(&arena);
}

/* The ranges that stand beside predictions are those of the document. */
T_TEST(make_names_the_models_error_as_documented)
{
    static const struct {
        const char *name;
        NpuTimeClass class;
        double us;
    } rows[] = {{"vector, under 10 us", NPU_TIME_VECTOR, 5},
                {"vector, 10 to 30 us", NPU_TIME_VECTOR, 20},
                {"vector, 30 us and more", NPU_TIME_VECTOR, 100},
                {"cube", NPU_TIME_CUBE, 100},
                {"cube and vector", NPU_TIME_MIXED, 100}};
    Arena arena = {0};
    Diag diag = diag_make(&arena, "docs", STR(""));
    Str text;
    REQUIRE(file_read(&arena, "docs/cycle-model.md", 0, &text, &diag));
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        NpuInterval of = npu_interval(rows[i].class, rows[i].us);
        const char *row = str_format(&arena, "| %s | %.2f to %.2f | %u |", rows[i].name,
                                     of.low / rows[i].us, of.high / rows[i].us, of.rows);
        CHECK_MSG(contains(text, row), "docs/cycle-model.md has no row '%s'", row);
    }
    arena_drop(&arena);
}
