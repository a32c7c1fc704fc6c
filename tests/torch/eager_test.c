/* tasks/kernelbench.tsv: every row reads, and its task at its sizes finds its time again. */
#include "torch/eager.h"
#include "tests/t.h"
#include <string.h>

static TorchTask *read_with(Arena *arena, const TorchEager *row, Diag *diag)
{
    const char *path = str_format(arena, "tasks/%s.py", row->task);
    TorchOptions options = {.sets = row->sets, .n_sets = row->n_sets};
    return torch_read_file(arena, path, &options, diag);
}

T_TEST(eager_every_row_is_found_at_its_sizes)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "tasks/kernelbench.tsv", (Str){0});
    TorchEagerTable table = {0};
    REQUIRE(torch_eager_beside(&arena, "tasks/fuse/gemm_add_relu.py", &table, &diag));
    CHECK(table.len == 229);
    uint32_t ours = 0;
    for (uint32_t i = 0; i < table.len; i++) {
        const TorchEager *row = &table.at[i];
        if (!*row->task) {
            CHECK_MSG(*row->note, "%s: neither task nor note", row->problem);
            continue;
        }
        TorchTask *task = read_with(&arena, row, &diag);
        const TorchEager *found = task ? torch_eager_find(&table, task) : NULL;
        CHECK_MSG(found && strcmp(found->task, row->task) == 0 && found->n_sets == row->n_sets,
                  "%s is not found again", row->problem);
        ours++;
    }
    CHECK(ours == 181);
    arena_drop(&arena);
}

T_TEST(eager_other_sizes_are_not_measured)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "tasks/kernelbench.tsv", (Str){0});
    TorchEagerTable table = {0};
    REQUIRE(torch_eager_read(&arena, "tasks/kernelbench.tsv", &table, &diag));
    TorchSet set = {"N", 2049};
    TorchOptions options = {.sets = &set, .n_sets = 1};
    TorchTask *task = torch_read_file(&arena, "tasks/matmul/square_matrix_multiplication.py",
                                      &options, &diag);
    REQUIRE(task != NULL);
    CHECK(torch_eager_find(&table, task) == NULL);
    set.value = 2048;
    task = torch_read_file(&arena, "tasks/matmul/square_matrix_multiplication.py", &options, &diag);
    REQUIRE(task != NULL);
    CHECK_NEAR(torch_eager_find(&table, task)->us, 274.18, 1e-9);
    arena_drop(&arena);
}

static bool reads(const char *rows)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "t.tsv", (Str){0});
    const char *dir;
    TorchEagerTable table = {0};
    REQUIRE(file_temp_dir(&arena, "eager", &dir, &diag));
    const char *path = path_join(&arena, dir, "t.tsv");
    REQUIRE(file_write(path, str_from(rows), &diag));
    bool good = torch_eager_read(&arena, path, &table, &diag);
    CHECK(good == diag_ok(&diag));
    file_remove_tree(dir, &diag);
    arena_drop(&arena);
    return good;
}

T_TEST(eager_bad_tables_are_refused)
{
    const char *head = "problem\ttask\tsets\teager_us\tnote\n";
    Arena arena = {0};
    CHECK(reads(head));
    CHECK(reads(str_format(&arena, "%sp\tfuse/a\tN=1 M[2]=3\t1.5\t\n", head)));
    CHECK(!reads(str_format(&arena, "%sp\tfuse/a\tN=1\n", head)));
    CHECK(!reads(str_format(&arena, "%sp\tfuse/a\tN\t1.5\t\n", head)));
    CHECK(!reads(str_format(&arena, "%sp\tfuse/a\tN=x\t1.5\t\n", head)));
    CHECK(!reads(str_format(&arena, "%sp\tfuse/a\tN=1\tfast\t\n", head)));
    CHECK(!reads(str_format(&arena, "%sp\tfuse/a\tN=1\t-3\t\n", head)));
    arena_drop(&arena);
}
