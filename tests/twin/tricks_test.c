/* Tricks: kernels that try to have the sum of an input without reading it where it counts, to write
 * records by hand, or to end in a way that is not held against them. Each says in its first line what
 * it tries. They were written without regard to how the twin defends itself; whatever verdict a trick
 * gets, it must be one that counts, and a right sum must have been paid for with records. */
#include "tests/t.h"

#include "base/file.h"
#include "tests/twin/twin_helper.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "tests/twin/tricks"
enum { COUNT = 4096, RESULTS = 64, LEAST_RECORDS = COUNT / 2 };

static float x[COUNT], y[RESULTS];

static float fill(void)
{
    float sum = 0;
    for (int i = 0; i < COUNT; i++)
        sum += x[i] = (float)((i * 7919 + 13) % 32 - 15);
    memset(y, 0, sizeof y);
    return sum;
}

static void try_one(const char *name, Str text, bool time_only)
{
    float sum = fill();
    TwinTensor tensors[] = {
        {.name = "x", .rank = 1, .shape = {COUNT}, .role = SIM_IN, .data = x, .bytes = sizeof x},
        {.name = "y", .rank = 1, .shape = {RESULTS}, .role = SIM_OUT, .data = y, .bytes = sizeof y},
    };
    tensors[0].dtype = tensors[1].dtype = DT_F32;
    if (time_only)
        tensors[0].data = tensors[1].data = NULL;
    TwinArg args[] = {{.index = 0}, {.index = 1}};
    TwinLaunch launch = {
        .tensors = tensors, .tensor_count = 2, .args = args, .arg_count = 2, .blocks = 1};
    Trial t = {.text = text.at,
               .kernel = "attack",
               .launch = &launch,
               .options = {.compile_seconds = 30, .run_seconds = 3, .time_only = time_only}};
    trial_run(&t);
    const VerdictStatusRow *row = verdict_status_row(t.verdict.status);
    bool right = !time_only && t.verdict.status == VERDICT_OK && sum != 0 && y[0] == sum &&
                 y[RESULTS - 1] == sum;
    CHECK_MSG(row->counted || (time_only && t.verdict.status == VERDICT_NEEDS_DATA),
              "%s: %s does not count: %s", name, row->text, t.verdict.reason);
    CHECK_MSG(!right || t.run.records >= LEAST_RECORDS, "%s: the right sum with %llu records", name,
              (unsigned long long)t.run.records);
    if (getenv("TRICK_TABLE"))
        printf("%-24s %-13s %6llu records  %s\n", name, row->text,
               (unsigned long long)t.run.records, t.verdict.reason);
    trial_drop(&t);
}

static void try_all(char first, char last, bool time_only)
{
    Arena a = {0};
    Diag diag = diag_make(&a, FOLDER, (Str){0});
    NameList names = {0};
    REQUIRE(file_list(&a, FOLDER, &names, &diag));
    CHECK(names.len >= 40);
    for (uint32_t i = 0; i < names.len; i++) {
        Str text;
        if (names.at[i][0] < first || names.at[i][0] > last)
            continue;
        REQUIRE(file_read(&a, path_join(&a, FOLDER, names.at[i]), 0, &text, &diag));
        CHECK_MSG(str_starts(text, "// "), "%s does not say what it tries", names.at[i]);
        try_one(names.at[i], text, time_only);
    }
    arena_drop(&a);
}

T_TEST(tricks_a_to_i) { try_all('a', 'i', false); }
T_TEST(tricks_j_to_z) { try_all('j', 'z', false); }
T_TEST(tricks_without_data) { try_all('a', 'z', true); }
