/* The tasks that a careless check lets a trivial answer pass: what the probe says of each under the
 * benchmark's own rule, and that under ours and the law the probe picks nothing trivial is left. */
#include "graph/probe.h"
#include "torch/torch.h"
#include "tests/t.h"
#include <string.h>

#define TRIVIAL                                                                    \
    (PROBE(ZEROS) | PROBE(ONES) | PROBE(CONSTANT) | PROBE(INPUT) | PROBE(AFFINE) | \
     PROBE(MOSTLY_ZERO) | PROBE(OTHER_SEED))

typedef struct Row {
    const char *task, *sets;
    CompareRule rule;
    unsigned flags;   /* what must be found under the file's own inputs */
    bool always_zero; /* whatever the inputs: the probe can only say so */
} Row;

static const Row rows[] = {
    {"activation/relu", "ROWS=16 COLS=768", RULE_MKB, PROBE(INPUT) | PROBE(DEAD_BRANCH), false},
    {"activation/leaky_relu", "ROWS=16 COLS=768", RULE_MKB, PROBE(INPUT), false},
    {"activation/elu", "ROWS=16 COLS=768", RULE_MKB, PROBE(INPUT), false},
    {"activation/hardtanh", "ROWS=16 COLS=768", RULE_MKB, PROBE(INPUT), false},
    {"activation/selu", "ROWS=16 COLS=768", RULE_MKB, PROBE(AFFINE), false},
    {"activation/hardsigmoid", "ROWS=16 COLS=768", RULE_MKB, PROBE(AFFINE), false},
    {"broadcast/clamp_broadcast", "ROWS=16 COLS=64", RULE_MKB, PROBE(DEAD_BRANCH), false},
    {"activation/softmax", "ROWS=1 COLS=65536", RULE_MKB, PROBE(ZEROS), false},
    {"normalization/frobenius_norm", "BATCH=2 CHANNELS=8 HEIGHT=64 WIDTH=64", RULE_MKB_LOOSE,
     PROBE(ZEROS), false},
    {"reduce/product_reduction_over_a_dimension", "BATCH=1 COLS=16", RULE_MKB, PROBE(ZEROS), false},
    {"math/cumprod", "ROWS=2 COLS=2048", RULE_MKB, PROBE(MOSTLY_ZERO), false},
    {"optimizer/adagrad", "ROWS=16 COLS=256", RULE_MKB, PROBE(AFFINE) | PROBE(DEAD_PARAM), false},
    {"optimizer/rmsprop", "ROWS=16 COLS=256", RULE_MKB, PROBE(AFFINE) | PROBE(DEAD_PARAM), false},
    {"optimizer/adam", "ROWS=16 COLS=256", RULE_MKB, PROBE(AFFINE) | PROBE(DEAD_PARAM), false},
    {"optimizer/sgd", "ROWS=16 COLS=256", RULE_MKB, PROBE(DEAD_PARAM), false},
    {"fuse/gemm_max_subtract_gelu", "BATCH=32 IN_FEATURES=64 OUT_FEATURES=64", RULE_MKB,
     PROBE(ZEROS) | PROBE(DEAD_STEP), true},
    {"fuse/conv3d_group_norm_mean", "BATCH=8 DEPTH=6 HEIGHT=8 WIDTH=8", RULE_MKB, PROBE(ZEROS),
     false},
    {"fuse/conv3d_group_norm_min_clamp_dropout", "BATCH=4 DEPTH=6 HEIGHT=8 WIDTH=8", RULE_MKB,
     PROBE(ZEROS), true},
    {"fuse/matmul_sum_max_avg_pool_log_sum_exp_log_sum_exp",
     "BATCH=32 IN_FEATURES=64 OUT_FEATURES=64", RULE_MKB, PROBE(DEAD_STEP), false},
    {"index/inplace_update", "ROWS=200 COLS=16 WRITTEN=64", RULE_MKB, PROBE(REPEATED_INDEX), false},
    {"index/index_copy", "ROWS=200 COLS=16 COPIED=64", RULE_MKB, PROBE(REPEATED_INDEX), false},
    {"index/scatter", "ROWS=8 COLS=128 WRITTEN=64", RULE_MKB, PROBE(REPEATED_INDEX), false},
    {"loss/cross_entropy_loss", "ROWS=1024 CLASSES=64", RULE_MKB_LOOSE, PROBE(OTHER_SEED), false},
    {"loss/cosine_similarity_loss", "ROWS=32 COLS=512", RULE_MKB_LOOSE, PROBE(OTHER_SEED), false},
    {"loss/hinge_loss", "ROWS=256 COLS=1024", RULE_MKB_LOOSE, PROBE(OTHER_SEED), false},
    {"loss/triplet_margin_loss", "ROWS=512 COLS=512", RULE_MKB_LOOSE, PROBE(OTHER_SEED), false},
    {"reduce/max_reduction_over_a_dimension", "BATCH=1 COLS=16", RULE_MKB_LOOSE, PROBE(CONSTANT),
     false},
    {"reduce/min_reduction_over_a_dimension", "BATCH=1 COLS=16", RULE_MKB_LOOSE, PROBE(ZEROS),
     false},
    {"normalization/l2_norm", "ROWS=1", RULE_MKB_LOOSE, PROBE(AFFINE), false},
};

static TorchTask *read_row(Arena *arena, const Row *row, Diag *diag)
{
    TorchSet sets[8] = {0};
    TorchOptions options = {.sets = sets};
    Str text = str_from(row->sets), word;
    while (text.len && str_next(&text, ' ', &word)) {
        Str name;
        str_next(&word, '=', &name);
        TorchSet *set = &sets[options.n_sets++];
        set->name = str_dup(arena, name);
        REQUIRE(str_to_i64(word, &set->value));
    }
    return torch_read_file(arena, str_format(arena, "tasks/%s.py", row->task), &options, diag);
}

static Probe probe_with(const TorchTask *task, CompareRule rule, Diag *diag)
{
    CompareSpec spec = compare_spec(task->graph, rule);
    EvalOptions options = {.wide = true};
    Probe probe = {0};
    CHECK(graph_probe(task->graph, &spec, &options, &probe, diag));
    return probe;
}

static const char *flags_text(Arena *arena, unsigned flags)
{
    Buf out = {0};
    buf_puts(&out, "");
    for (int b = 0; b < PROBE_FLAG_COUNT; b++) {
        if (flags >> b & 1)
            buf_printf(&out, "%s; ", probe_flag_text(b));
    }
    const char *text = str_dup(arena, buf_view(&out));
    buf_free(&out);
    return text;
}

static void check_row(const Row *row)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, row->task, (Str){0});
    TorchTask *task = read_row(&arena, row, &diag);
    if (CHECK_MSG(task != NULL, "%s does not read", row->task)) {
        Probe theirs = probe_with(task, row->rule, &diag);
        CHECK_MSG((theirs.given & row->flags) == row->flags, "%s: not found: %s", row->task,
                  flags_text(&arena, row->flags & ~theirs.given));
        Probe ours = probe_with(task, RULE_ACRAFT, &diag);
        unsigned left = ours.left & TRIVIAL;
        CHECK_MSG(row->always_zero ? (left & PROBE(ZEROS)) != 0 : left == 0,
                  "%s under law %s: left: %s", row->task, input_law_name(ours.law),
                  flags_text(&arena, left));
        CHECK_MSG(!(ours.left & PROBE(REPEATED_INDEX)), "%s: places repeat", row->task);
    }
    arena_drop(&arena);
}

static void check_part(size_t which)
{
    for (size_t i = which; i < sizeof rows / sizeof *rows; i += 3)
        check_row(&rows[i]);
}

T_TEST(probe_flags_loose_tasks_1) { check_part(0); }
T_TEST(probe_flags_loose_tasks_2) { check_part(1); }
T_TEST(probe_flags_loose_tasks_3) { check_part(2); }

/* What no input can show is said in notes: dropout is evaluated as the identity. */
T_TEST(probe_dropout_is_noted)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "dropout", (Str){0});
    TorchOptions options = {0};
    TorchTask *task = torch_read_file(&arena, "tasks/fuse/matmul_dropout_mean_softmax.py", &options,
                                      &diag);
    REQUIRE(task != NULL);
    REQUIRE(task->graph->notes.len > 0);
    CHECK(strstr(task->graph->notes.at[0], "dropout") != NULL);
    arena_drop(&arena);
}

static const char computed_buffer[] =
    "import torch\n"
    "import torch.nn as nn\n"
    "class Model(nn.Module):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    "        self.weight = nn.Parameter(torch.randn(30, 4))\n"
    "        i = torch.arange(40)\n"
    "        self.register_buffer('index', (i.flip(0) * 7 + i) % 30)\n"
    "    def forward(self, x):\n"
    "        return x + self.weight[self.index]\n"
    "def get_inputs():\n"
    "    return [torch.randn(40, 4)]\n"
    "def get_init_inputs():\n"
    "    return []\n";

/* One value alone is what it is among all of them. */
T_TEST(input_alone_is_the_same)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "m.py", str_from(computed_buffer));
    TorchOptions options = {0};
    TaskInputs all;
    TorchTask *task = torch_read(&arena, "m.py", str_from(computed_buffer), &options, &diag);
    REQUIRE(task && graph_inputs(task->graph, 3, LAW_GIVEN, &all, &diag));
    CHECK_EQ_INT(all.n_params, 2);
    for (uint32_t i = 0; i < all.n_params; i++) {
        Tensor *one = graph_input(task->graph, 3, task->graph->params.at[i], &diag);
        REQUIRE(one != NULL);
        for (int64_t k = 0; k < one->count; k++)
            CHECK(tensor_get(one, k) == tensor_get(all.params[i], k));
        tensor_free(one);
    }
    graph_inputs_free(&all);
    arena_drop(&arena);
}
