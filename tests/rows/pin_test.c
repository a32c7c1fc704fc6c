/* Sizes that a program fixes are asserted in the task's file; tasks in 16 bits that rounding decides. */
#include "rows/rows_int.h"

#include "tests/t.h"

/* The first task of the family whose program fixes a size (or none). */
static bool find_task(Arena *arena, RowsFamily family, bool pinned, RowsTask *task,
                      RowsProgram *program)
{
    const NpuChip *chip = npu_chip_find(STR("910B2"));
    PlanPoint point = {.parts = 4};
    bool differs;
    for (uint64_t number = 0; number < 400; number++)
        if (rows_draw(arena, 4, number, task, &differs) && task->family == family &&
            rows_program(arena, task, chip, &point, program) &&
            rows_pin(arena, task, program->craft, chip) && (task->pinned != 0) == pinned)
            return true;
    return false;
}

T_TEST(a_size_that_the_program_fixes_is_asserted)
{
    Arena arena = {0};
    RowsTask task;
    RowsProgram program;
    REQUIRE(find_task(&arena, FAMILY_PAD, true, &task, &program));
    CHECK(str_find(task.model, STR("        assert ")) > 0);
    for (uint32_t i = 0; i < task.knobs.len; i++) {
        TorchSet set = {task.knobs.at[i].name, task.knobs.at[i].value + 2};
        const TorchTask *other = rows_read(&arena, task.model, &set, 1);
        if (task.pinned >> i & 1)
            CHECK_MSG(!other, "%s", set.name);
    }
    Buf text = {0};
    rows_put_task(&task, SHOW_GRAPH, &text);
    CHECK(str_find(buf_view(&text), STR("assert ")) > 0);
    buf_free(&text);
    arena_drop(&arena);
}

T_TEST(a_program_of_free_sizes_has_no_assertion)
{
    Arena arena = {0};
    RowsTask task;
    RowsProgram program;
    REQUIRE(find_task(&arena, FAMILY_ARITHMETIC, false, &task, &program));
    CHECK(str_find(task.model, STR("assert")) < 0);
    CHECK(program.tail);
    CHECK_EQ_INT(program.double_buffered, str_find(program.craft, STR("depth=2")) >= 0);
    arena_drop(&arena);
}

static bool decides(Arena *arena, const char *line)
{
    Str model = str_from(str_format(
        arena,
        "import torch\nimport torch.nn as nn\nclass Model(nn.Module):\n    def forward(self, x):\n"
        "        %s\n\ndef get_inputs():\n    return [torch.randn(64, 32, dtype=torch.float16)]\n\n"
        "def get_init_inputs():\n    return []\n",
        line));
    const TorchTask *task = rows_read(arena, model, NULL, 0);
    REQUIRE(task != NULL);
    CHECK(rows_is_short(task->graph));
    return rows_rounding_decides(arena, task->graph);
}

T_TEST(rounding_decides_where_rounded_values_are_compared)
{
    Arena arena = {0};
    CHECK(!decides(&arena, "return torch.where(x > 0.5, x, x + 1.0)"));
    CHECK(
        !decides(&arena, "return torch.where(torch.abs(x.amax(dim=1, keepdim=True)) > 1, x, -x)"));
    CHECK(!decides(&arena, "return torch.tanh(x) * 2.0"));
    CHECK(decides(&arena, "return torch.where(torch.sin(x) > 0.5, x, x + 1.0)"));
    CHECK(decides(&arena, "return torch.floor(x * 3.0)"));
    CHECK(decides(&arena, "return torch.sign(torch.relu(x * 0.1))"));
    arena_drop(&arena);
}
