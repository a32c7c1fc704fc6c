/* Verdicts there and back, and texts that are none. */
#include "tests/schema.h"
#include "base/version.h"
#include "tests/t.h"

#include "verdict/show.h"
#include <math.h>

static Verdict full_verdict(Arena *a)
{
    Verdict v = verdict_make();
    v.task = "level1/\"Add\"";
    v.candidate = "a.cpp";
    v.kase = "3";
    verdict_fail(&v, VERDICT_HAZARD, STAGE_RUN, "one\nrace");
    v.compiled = VERDICT_YES;
    v.correct = VERDICT_NO;
    v.max_abs_err = 0.25;
    v.max_rel_err = INFINITY;
    v.first_bad.any = true;
    v.first_bad.tensor = "y";
    v.first_bad.index = 12345678901234;
    v.first_bad.got = NAN;
    v.first_bad.want = -INFINITY;
    VerdictFinding f = {.kind = FINDING_LEAK,
                        .inserted = true,
                        .code = "S028",
                        .message = "m",
                        .file = "k.cpp",
                        .line = 7,
                        .core = 3,
                        .count = 9,
                        .api = "AllocTensor",
                        .device = "hangs",
                        .repair = "free"};
    VerdictAccess access = {
        .memory = "UB", .write = true, .from = 32, .to = 64, .file = "k.cpp", .line = 8};
    vec_push(a, &f.accesses, access);
    vec_push(a, &v.hazards, f);
    vec_push(a, &v.unsupported, "Sort32");
    VerdictPipe pipe = {.name = "aiv_vec", .cycles = 10, .share = 0.5};
    vec_push(a, &v.pipes, pipe);
    v.cycles = 1000;
    v.predicted_us = 1.5;
    v.proved = 4;
    v.seconds = 0.125;
    return v;
}

T_TEST(full_verdict_round_trips)
{
    Arena a = {0};
    Buf first = {0}, second = {0};
    Verdict v = full_verdict(&a), back;
    verdict_to_json(&v, &first);
    Diag diag = diag_make(&a, "v.json", (Str){0});
    REQUIRE(verdict_from_json(&a, buf_view(&first), &back, &diag));
    verdict_to_json(&back, &second);
    CHECK_EQ_STR(second.at, first.at);
    CHECK_EQ_INT(back.first_bad.index, 12345678901234);
    CHECK(isnan(back.first_bad.got) && isinf(back.first_bad.want));
    CHECK(isnan(back.bound_us));
    CHECK_EQ_INT(back.hazards.at[0].accesses.at[0].to, 64);
    CHECK(back.hazards.at[0].inserted);
    buf_free(&first);
    buf_free(&second);
    arena_drop(&a);
}

T_TEST(empty_verdict_has_every_key)
{
    Buf out = {0};
    Verdict v = verdict_make();
    verdict_to_json(&v, &out);
    CHECK_EQ_STR(out.at,
                 "{\"schema\": 2, \"program\": \"acraft " ACRAFT_VERSION
                 "\", \"config\": \"\", \"seed\": null, "
                 "\"task\": \"\", \"candidate\": \"\", \"case\": \"\", \"status\": \"ok\", "
                 "\"stage\": \"extract\", \"reason\": \"\", \"compiled\": null, \"correct\": null, "
                 "\"max_abs_err\": null, \"max_rel_err\": null, \"tolerance_used\": null, "
                 "\"first_bad\": null, "
                 "\"hazards\": [], \"unsupported\": [], \"cycles\": null, \"predicted_us\": null, "
                 "\"bound_us\": null, \"pipes\": [], \"proved\": 0, \"watched\": 0, "
                 "\"walls_missing\": \"\", \"seconds\": null}");
    buf_free(&out);
}

/* What is shipped as a schema takes what is written, and nothing else. */
T_TEST(verdict_schema_is_that_of_verdicts)
{
    static const char file[] = "verdict.schema.json";
    Arena a = {0};
    Verdict v = full_verdict(&a);
    for (int i = 0; i < VERDICT_STATUS_COUNT; i++) {
        Buf out = {0};
        v.status = (VerdictStatus)i;
        verdict_to_json(&v, &out);
        const char *place = schema_refuses(file, out.at);
        CHECK_MSG(!place, "%s in %s", place, out.at);
        buf_free(&out);
    }
    CHECK(schema_refuses(file, "{\"status\": \"ok\"}") != NULL);
    arena_drop(&a);
}

/* Nothing is ok whose values were not compared and right. */
T_TEST(ok_needs_right_values)
{
    static const VerdictAnswer answers[] = {VERDICT_UNKNOWN, VERDICT_NO, VERDICT_YES};
    for (int i = 0; i < 3; i++) {
        Verdict v = verdict_make();
        v.correct = answers[i];
        CHECK(verdict_settle(&v) == (answers[i] == VERDICT_YES));
        CHECK_EQ_STR(verdict_status_row(v.status)->text, i == 2 ? "ok" : "not-computed");
    }
}

T_TEST(first_failure_stays)
{
    Verdict v = verdict_make();
    verdict_fail(&v, VERDICT_TIMEOUT, STAGE_RUN, "first");
    verdict_fail(&v, VERDICT_WRONG, STAGE_COMPARE, "second");
    CHECK_EQ_INT(v.status, VERDICT_TIMEOUT);
    CHECK_EQ_STR(v.reason, "first");
}

static void check_refused(const char *text)
{
    Arena a = {0};
    Verdict v;
    Diag diag = diag_make(&a, "v.json", (Str){0});
    CHECK_MSG(!verdict_from_json(&a, str_from(text), &v, &diag), "accepted %s", text);
    CHECK(diag.errors > 0);
    arena_drop(&a);
}

static Str source_of(void *context, const char *file)
{
    (void)context;
    return str_is(STR("k.cpp"), file)
               ? STR("1\n2\n3\n4\n5\n6\n  x = q.AllocTensor<T>();\n  Add(x);\n")
               : (Str){0};
}

/* What a terminal shows: the finding with its line, the other access with its own, and the closing line. */
T_TEST(verdict_is_shown_with_its_source)
{
    Arena arena = {0};
    Verdict v = full_verdict(&arena);
    Buf out = {0};
    v.hazards.at[0].message = "never freed";
    verdict_show(&v, &(VerdictShow){.source = source_of}, &out);
    static const char want[] = "k.cpp:7: error: never freed (AllocTensor) [S028]\n"
                               "    7 |   x = q.AllocTensor<T>();\n"
                               "      |         ^~~~~~~~~~~\n"
                               "    9 times, first on core 3\n"
                               "    writes UB bytes 32 to 63 at k.cpp:8\n"
                               "    8 |   Add(x);\n"
                               "      |   ^~~~~~~\n"
                               "    on the device: hangs\n"
                               "    repair: free\n"
                               "acraft does not have: Sort32\n"
                               "first wrong value: y[12345678901234] is nan, should be -inf\n";
    buf_char(&out, 0);
    CHECK_MSG(str_starts(buf_view(&out), want), "%s", out.at);
    buf_clear(&out);
    verdict_to_text(&v, &out);
    CHECK(str_find(buf_view(&out), STR("AllocTensor<T>")) < 0);
    CHECK(str_find(buf_view(&out), STR("acraft does not have: Sort32\n")) >= 0);
    CHECK(str_find(buf_view(&out),
                   STR("first wrong value: y[12345678901234] is nan, should be -inf\n")) >= 0);
    buf_clear(&out);
    verdict_show(&v, &(VerdictShow){.colour = true}, &out);
    CHECK(str_find(buf_view(&out), STR("\033[")) >= 0);
    buf_free(&out);
    arena_drop(&arena);
}

T_TEST(what_is_no_verdict_is_refused)
{
    check_refused("");
    check_refused("[]");
    check_refused("{}");
    check_refused("{\"status\": \"fine\"}");
    check_refused("{\"status\": 3}");
    check_refused("{\"status\": \"ok\", \"cycles\": -1}");
    check_refused("{\"status\": \"ok\", \"hazards\": [1]}");
    check_refused("{\"status\": \"ok\", \"hazards\": [{\"line\": 99999999999}]}");
    check_refused("{\"status\": \"ok\", \"first_bad\": 4}");
    check_refused("{\"status\": \"ok\", \"correct\": \"yes\"}");
    check_refused("{\"status\": \"ok\"");
}

T_TEST(every_status_has_a_row_and_a_text_of_its_own)
{
    for (int i = 0; i < VERDICT_STATUS_COUNT; i++) {
        VerdictStatus back = VERDICT_OK;
        const VerdictStatusRow *row = verdict_status_row((VerdictStatus)i);
        CHECK(verdict_status_from_text(str_from(row->text), &back));
        CHECK_EQ_INT(back, i);
        CHECK_EQ_INT(row->exit >= 2, !row->counted);
    }
}
