/* Rows of tasks: what they say, that they repeat, that a stopped run is taken up. */
#include "rows/kinds_int.h"

#include "base/file.h"
#include "base/hash.h"
#include "eval/candidate.h"
#include "graph/eval.h"
#include "nn/bpe.h"
#include "tests/t.h"
#include <string.h>
#include <unistd.h>

static RowsMaker maker_of(uint64_t seed)
{
    graph_eval_threads(1);
    return (RowsMaker){.chip = npu_chip_find(STR("910B2")), .seed = seed};
}

/* The first task from `number` on that gives rows. */
static RowsMade rows_from(Arena *arena, const RowsMaker *maker, uint64_t *number, uint32_t kinds)
{
    RowsMade made = {.arena = arena};
    for (; !made.rows.len && !made.contradiction; ++*number) {
        made = (RowsMade){.arena = arena};
        rows_of_task(maker, *number, kinds, &made);
    }
    CHECK_MSG(!made.contradiction, "%s", made.contradiction ? made.contradiction : "");
    return made;
}

T_TEST(a_write_answer_is_read_as_a_craft_program)
{
    Arena arena = {0};
    RowsMaker maker = maker_of(2);
    uint64_t number = 0;
    RowsMade made = rows_from(&arena, &maker, &number, 1u << ROWS_WRITE);
    EvalCandidate candidate;
    const char *reason;
    bool cut;
    REQUIRE(eval_candidate_extract(&arena, made.rows.at[0].answer, FORM_CRAFT, &candidate, &reason,
                                   &cut));
    CHECK_EQ_INT(candidate.form, FORM_CRAFT);
    CHECK(str_starts(candidate.texts.at[0].text, "craft = 1"));
    CHECK(str_find(made.rows.at[0].answer, STR("kernel\nband ")) > 0);
    arena_drop(&arena);
}

T_TEST(a_brief_answer_is_a_schedule_and_a_program)
{
    Arena arena = {0};
    RowsMaker maker = maker_of(2);
    uint64_t number = 0;
    maker.brief = true;
    RowsMade made = rows_from(&arena, &maker, &number, 1u << ROWS_WRITE);
    const Row *row = &made.rows.at[0];
    CHECK(str_starts(row->answer, "axes "));
    CHECK(str_find(row->prompt, STR("Write a Craft kernel for this task on 910B2.\n\n%0 = ")) == 0);
    CHECK(str_find(row->answer, STR("predicted")) < 0);
    arena_drop(&arena);
}

T_TEST(a_kernel_for_one_shape_is_an_answer_of_npukernelbench)
{
    Arena arena = {0};
    RowsMaker maker = maker_of(2);
    uint64_t number = 0;
    maker.brief = true;
    RowsMade made = rows_from(&arena, &maker, &number, 1u << ROWS_ASCENDC);
    EvalCandidate candidate;
    const char *reason;
    bool cut;
    REQUIRE(eval_candidate_extract(&arena, made.rows.at[0].answer, FORM_NPUKB_KERNEL, &candidate,
                                   &reason, &cut));
    CHECK_EQ_INT(candidate.form, FORM_NPUKB_KERNEL);
    Str text = candidate.texts.at[0].text;
    CHECK(str_find(text, STR("GET_TILING_DATA")) < 0 && str_find(text, STR("//")) < 0);
    CHECK(str_find(text, STR("} t;")) > 0);
    arena_drop(&arena);
}

static bool is_operator(Arena *arena, Str answer)
{
    EvalCandidate candidate;
    const char *reason;
    bool cut;
    return eval_candidate_extract(arena, answer, FORM_NPUKB_FULL, &candidate, &reason, &cut) &&
           candidate.form == FORM_NPUKB_FULL && candidate.texts.len == 3;
}

T_TEST(a_whole_operator_is_a_tiling_header_a_host_and_a_kernel)
{
    Arena arena = {0};
    RowsMaker maker = maker_of(2);
    uint64_t number = 0;
    maker.brief = true;
    RowsMade made = rows_from(&arena, &maker, &number, 1u << ROWS_FULL);
    CHECK(str_starts(made.rows.at[0].prompt, "Write an AscendC operator for this task on 910B2"));
    CHECK(is_operator(&arena, made.rows.at[0].answer));
    arena_drop(&arena);
}

T_TEST(a_broken_operator_names_what_the_twin_finds)
{
    Arena arena = {0};
    RowsMaker maker = maker_of(2);
    uint64_t number = 0;
    maker.brief = true;
    RowsMade made = rows_from(&arena, &maker, &number, 1u << ROWS_MEND_FULL);
    const Row *row = &made.rows.at[0];
    CHECK(str_starts(row->prompt, "This AscendC operator fails."));
    CHECK(is_operator(&arena, row->answer) && is_operator(&arena, row->right));
    CHECK(*row->error && *row->code && !str_equal(row->right, row->worse));
    CHECK(str_find(row->answer, STR(" of the repaired kernel reads `")) > 0);
    arena_drop(&arena);
}

T_TEST(rows_have_twins_in_ascendc)
{
    Arena arena = {0};
    RowsMaker maker = maker_of(2);
    maker.brief = true;
    for (int kind = ROWS_WRITE; kind <= ROWS_REPAIR; kind++) {
        uint64_t number = 0, again = 0;
        maker.twins = false;
        RowsMade plain = rows_from(&arena, &maker, &number, 1u << kind);
        maker.twins = true;
        RowsMade made = rows_from(&arena, &maker, &again, 1u << kind);
        REQUIRE(plain.rows.len == made.rows.len && number == again);
        for (uint32_t i = 0; i < made.rows.len; i++) {
            const Row *row = &made.rows.at[i];
            CHECK(!plain.rows.at[i].twins && str_equal(row->answer, plain.rows.at[i].answer));
            REQUIRE(row->twins == 2);
            CHECK_EQ_INT(row->twin[0].kind, kind == ROWS_WRITE ? ROWS_ASCENDC : ROWS_MEND);
            CHECK(is_operator(&arena, row->twin[1].answer));
            CHECK(kind == ROWS_WRITE ||
                  str_starts(row->twin[1].answer, "The values are wrong: line "));
            CHECK(str_starts(str_from(row->twin[0].number), row->number));
        }
    }
    arena_drop(&arena);
}

T_TEST(errors_of_kernels_have_a_place_and_a_cause)
{
    Arena arena = {0};
    RowsMaker maker = maker_of(2);
    uint64_t number = 0;
    Dice dice = {1, 2, 0};
    maker.brief = true;
    RowsMade made = rows_from(&arena, &maker, &number, 1u << ROWS_ASCENDC);
    uint32_t placed = 0;
    for (uint32_t i = 0; i < rows_twin_break_count(); i++) {
        RowsBreak broken;
        if (!rows_twin_break(&arena, made.rows.at[0].answer, i, &dice, &broken))
            continue;
        placed++;
        CHECK(strlen(broken.cause) > 20 && !str_equal(broken.craft, made.rows.at[0].answer));
    }
    CHECK_MSG(placed > 20, "%u", placed);
    arena_drop(&arena);
}

T_TEST(a_composition_has_no_sizes_and_no_element_types)
{
    uint64_t a = rows_composition(STR("%0 = input \"x\" f32[7,20]\nreturn %0\nassert x"));
    uint64_t b = rows_composition(STR("%0 = input \"x\" bf16[128,9]\nreturn %0\n"));
    uint64_t other = rows_composition(STR("%0 = input \"x\" f32[7,20,1]\nreturn %0\n"));
    uint64_t value = rows_composition(STR("%1 = input \"x\" f32[7,20]\nreturn %0\n"));
    CHECK(a == b && a != other && a != value);
}

T_TEST(rows_of_a_kind_do_not_depend_on_the_other_kinds)
{
    Arena arena = {0};
    RowsMaker maker = maker_of(2);
    uint64_t number = 0, again = 0;
    RowsMade all = rows_from(&arena, &maker, &number, 15);
    RowsMade one = rows_from(&arena, &maker, &again, 1u << ROWS_REPAIR);
    uint32_t found = 0;
    CHECK_EQ_INT(number, again);
    for (uint32_t i = 0; i < all.rows.len; i++)
        for (uint32_t k = 0; k < one.rows.len; k++)
            found += str_equal(all.rows.at[i].prompt, one.rows.at[k].prompt) &&
                     str_equal(all.rows.at[i].answer, one.rows.at[k].answer);
    CHECK_EQ_INT(found, one.rows.len);
    arena_drop(&arena);
}

T_TEST(explanations_are_distinct_and_short)
{
    Arena arena = {0};
    const RowsFacts *facts = rows_facts(&arena);
    Map seen = {0};
    CHECK(rows_fact_count(facts) > 800);
    for (uint32_t i = 0; i < rows_fact_count(facts); i++) {
        Row row = rows_explain(&arena, facts, i);
        uint32_t found;
        CHECK_MSG(!map_get(&seen, row.prompt, &found), "%.*s", STR_ARG(row.prompt));
        map_put(&arena, &seen, row.prompt, i);
        CHECK(row.answer.len < 2000);
    }
    arena_drop(&arena);
}

T_TEST(an_index_line_is_read_back)
{
    Row row = {.kind = ROWS_REPAIR,
               .number = "3-1",
               .family = "slice",
               .flow = "chain",
               .dtype = "f32",
               .error = "STAGE",
               .code = "E040",
               .verdict = "interpreter",
               .operators = 4,
               .prompt = STR("p\n"),
               .answer = STR("a \"b\"\n"),
               .task = STR("t"),
               .right = STR("r"),
               .worse = STR("w")};
    RowsSpec spec = {.seed = 9};
    Buf out = {0};
    rows_put_row(&spec, &row, &out);
    Str text = buf_view(&out), line;
    RowsEntry entry;
    REQUIRE(str_next(&text, '\n', &line) && rows_entry_parse(line, &entry));
    CHECK_EQ_INT(entry.kind, ROWS_REPAIR);
    CHECK_EQ_SLICE(entry.code, "E040");
    CHECK_EQ_INT(entry.operators, 4);
    CHECK_EQ_INT(entry.bytes, 8);
    REQUIRE(str_next(&text, '\n', &line));
    CHECK(str_starts(line, "{\"id\": \"9-3-1\", \"kind\": \"repair\""));
    CHECK(str_ends(line, "\"content\": \"a \\\"b\\\"\\n\"}]}"));
    REQUIRE(str_next(&text, '\n', &line));
    CHECK(str_starts(line, "P {\"prompt\": [{\"role\": \"user\""));
    CHECK(!rows_entry_parse(STR("R\t9\tx"), &entry));
    buf_free(&out);
}

/* ---- whole runs ---- */

static int stop_after;

static void count_progress(void *context, uint64_t rows, uint64_t of, double left)
{
    (void)of;
    (void)left;
    *(int *)context = rows >= (uint64_t)stop_after;
}

static RowsSpec spec_of(const char *dir, int *stop)
{
    RowsSpec spec = {.chip = npu_chip_find(STR("910B2")),
                     .dir = dir,
                     .version = "test",
                     .seed = 6,
                     .rows = 10,
                     .jobs = 1,
                     .vocab = 300,
                     .progress = count_progress,
                     .context = stop,
                     .stop = stop};
    spec.share[ROWS_REPAIR] = spec.share[ROWS_CHOOSE] = 40;
    spec.share[ROWS_EXPLAIN] = 20;
    return spec;
}

static uint64_t hash_file(Arena *arena, const char *dir, const char *name)
{
    Str text;
    Diag diag = diag_make(arena, dir, STR(""));
    REQUIRE(file_read(arena, path_join(arena, dir, name), 0, &text, &diag));
    CHECK(text.len > 0);
    return hash64(text.at, text.len);
}

/* The shares hold at every row of the file, not only at its end. */
static void check_shares(Arena *arena, const RowsSpec *spec)
{
    Diag diag = diag_make(arena, spec->dir, STR(""));
    Str text, line;
    uint32_t count[ROWS_KINDS] = {0}, rows = 0;
    RowsEntry entry;
    REQUIRE(file_read(arena, path_join(arena, spec->dir, "rows.index"), 0, &text, &diag));
    while (text.len && str_next(&text, '\n', &line)) {
        REQUIRE(rows_entry_parse(line, &entry));
        count[entry.kind]++;
        rows++;
        for (int i = 0; i < ROWS_KINDS; i++) {
            int off = (int)(100 * count[i]) - (int)(spec->share[i] * rows);
            CHECK_MSG(off <= 100 && off >= -100, "%s: %u of %u rows", rows_kind_name((RowsKind)i),
                      count[i], rows);
        }
    }
    CHECK_EQ_INT(rows, (long long)spec->rows);
}

T_TEST(a_stopped_run_is_taken_up_and_gives_the_same_rows)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", STR(""));
    const char *one, *two;
    int stop = 0;
    REQUIRE(file_temp_dir(&arena, "rows", &one, &diag) &&
            file_temp_dir(&arena, "rows", &two, &diag));
    RowsSpec whole = spec_of(one, &stop), parts = spec_of(two, &stop);
    stop_after = 1000;
    CHECK_EQ_INT(rows_make(&arena, &whole, &diag), ROWS_DONE);
    check_shares(&arena, &whole);
    stop_after = 2;
    CHECK_EQ_INT(rows_make(&arena, &parts, &diag), ROWS_STOPPED);
    stop = 0;
    stop_after = 1000;
    parts.jobs = 2;
    CHECK_EQ_INT(rows_make(&arena, &parts, &diag), ROWS_DONE);
    static const char *const names[] = {"rows.jsonl", "preferences.jsonl", "labels.jsonl",
                                        "rows.tokens", "card.md"};
    for (int i = 0; i < 5; i++)
        CHECK_MSG(hash_file(&arena, one, names[i]) == hash_file(&arena, two, names[i]), "%s",
                  names[i]);
    CHECK_EQ_INT(rows_make(&arena, &parts, &diag), ROWS_DONE); /* a finished one is left as it is */
    for (int i = 0; i < 5; i++)
        CHECK_MSG(hash_file(&arena, one, names[i]) == hash_file(&arena, two, names[i]), "%s",
                  names[i]);
    parts.seed++;
    CHECK_EQ_INT(rows_make(&arena, &parts, &diag), ROWS_FAILED); /* another run's directory */
    file_remove_tree(one, &diag);
    file_remove_tree(two, &diag);
    arena_drop(&arena);
}

T_TEST(written_rows_are_checked_again)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", STR(""));
    const char *dir;
    int stop = 0;
    REQUIRE(file_temp_dir(&arena, "rows", &dir, &diag));
    RowsSpec spec = spec_of(dir, &stop);
    RowsCheckSpec check_spec = {.dir = dir};
    RowsCheck check;
    stop_after = 1000;
    spec.rows = 2;
    spec.share[ROWS_REPAIR] = spec.share[ROWS_EXPLAIN] = 0;
    spec.share[ROWS_CHOOSE] = 100;
    CHECK_EQ_INT(rows_make(&arena, &spec, &diag), ROWS_DONE);
    REQUIRE(rows_check(&arena, &check_spec, &check, &diag));
    CHECK_EQ_INT(check.rows, 2);
    CHECK_EQ_INT(check.twice, 0);
    CHECK_EQ_INT(check.over, 0);
    CHECK(check.longest > 10);
    REQUIRE(file_write(path_join(&arena, dir, "rows.jsonl"), STR("{}\n{\"id\": \n"), &diag));
    CHECK(!rows_check(&arena, &check_spec, &check, &diag)); /* half a line */
    Buf said = {0};
    diag_print(&diag, &said);
    CHECK(str_find(buf_view(&said), STR("line 2 of rows.jsonl")) >= 0);
    buf_free(&said);
    CHECK(unlink(path_join(&arena, dir, "card.md")) == 0);
    CHECK(!rows_check(&arena, &check_spec, &check, &diag)); /* a run that was stopped */
    file_remove_tree(dir, &diag);
    arena_drop(&arena);
}

static RowsAgain judge_again(Arena *arena, const RowsSpec *run, Diag *diag)
{
    RowsAgainSpec spec = {.chip = run->chip, .dir = run->dir, .rows = 10, .jobs = 1};
    RowsAgain again;
    CHECK(rows_again(arena, &spec, &again, diag));
    buf_free(&again.said);
    return again;
}

/* Rows to repair that say that they are to be made faster have a wrong program where a right one should be. */
static void rename_kind(Arena *arena, const char *dir, Diag *diag)
{
    const char *path = path_join(arena, dir, "rows.jsonl");
    const Str from = STR("\"kind\": \"repair\""), to = STR("\"kind\": \"optimise\"");
    Buf out = {0};
    Str text;
    REQUIRE(file_read(arena, path, 0, &text, diag));
    for (ptrdiff_t at; (at = str_find(text, from)) >= 0;) {
        buf_str(&out, str_slice(text, 0, (size_t)at));
        buf_str(&out, to);
        text = str_slice(text, (size_t)at + from.len, text.len);
    }
    buf_str(&out, text);
    CHECK(file_write(path, buf_view(&out), diag));
    buf_free(&out);
}

T_TEST(programs_of_rows_are_judged_again_through_the_text)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", STR(""));
    const char *dir;
    int stop = 0;
    REQUIRE(file_temp_dir(&arena, "rows", &dir, &diag));
    RowsSpec spec = spec_of(dir, &stop);
    stop_after = 1000;
    spec.rows = 2;
    spec.vocab = 1500; /* with fewer the rows have too many tokens */
    spec.share[ROWS_CHOOSE] = spec.share[ROWS_EXPLAIN] = 0;
    spec.share[ROWS_REPAIR] = 100;
    CHECK_EQ_INT(rows_make(&arena, &spec, &diag), ROWS_DONE);
    RowsAgain again = judge_again(&arena, &spec, &diag);
    CHECK_EQ_INT(again.rows, 2);
    CHECK_EQ_INT(again.right, 2);
    CHECK_EQ_INT(again.wrong, 2);
    CHECK_EQ_INT(again.contradictions, 0);
    rename_kind(&arena, dir, &diag);
    again = judge_again(&arena, &spec, &diag);
    CHECK_EQ_INT(again.right, 2);
    CHECK_EQ_INT(again.contradictions, 2);
    file_remove_tree(dir, &diag);
    arena_drop(&arena);
}

T_TEST(a_cause_speaks_of_a_diagnostic_that_was_raised)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", STR(""));
    Verdict verdict = verdict_make();
    RowsBreak slots = {.code = "E093"}, sum = {.code = ""};
    diag_error(&diag, "E105", (Span){0}, "too large");
    CHECK(!work_is_explained(&slots, &verdict, &diag));
    CHECK(work_is_explained(&sum, &verdict, &diag));
    diag_error(&diag, "E093", (Span){0}, "too many slots");
    CHECK(work_is_explained(&slots, &verdict, &diag));
    arena_drop(&arena);
}
