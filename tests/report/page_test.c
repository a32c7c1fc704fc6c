/* The page without a browser: whatever is in the store, the page is well formed, nothing breaks out
 * of it, and it comes out the same twice. */
#include "report/report.h"

#include "base/file.h"
#include "report/report_int.h"
#include "tests/report/synthetic.h"
#include "tests/t.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Fixture {
    Arena arena;
    Diag diag;
    const char *dir;
    Store *store;
    ReportSpec spec;
} Fixture;

static void make_fixture(Fixture *f, SyntheticSpec spec)
{
    *f = (Fixture){0};
    f->diag = diag_make(&f->arena, "", STR(""));
    REQUIRE(file_temp_dir(&f->arena, "acraft-report-test", &f->dir, &f->diag));
    f->store = synthetic_store(&f->arena, path_join(&f->arena, f->dir, "r.db"), &spec, &f->diag);
    f->spec = (ReportSpec){
        .runs = synthetic_runs(&f->arena, &spec), .count = spec.runs, .version = "0"};
}

static void drop_fixture(Fixture *f)
{
    store_close(f->store);
    CHECK(file_remove_tree(f->dir, &f->diag));
    arena_drop(&f->arena);
}

static bool contains(const Buf *page, const char *text)
{
    return str_find(buf_view(page), str_from(text)) >= 0;
}

/* What a browser shows before any script runs. */
static Str shown_part(const Buf *page)
{
    ptrdiff_t data = str_find(buf_view(page), STR("<script type=\"application/json\""));
    REQUIRE(data > 0);
    return str_slice(buf_view(page), 0, (size_t)data);
}

/* ---- well-formedness: tags that open close in order, attributes are quoted ---- */

static bool is_void(Str name)
{
    static const char *const names[] = {"meta", "br", "input", "rect", "path", "!DOCTYPE"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(name, names[i]))
            return true;
    return false;
}

/* The tag at the front of *rest, without its brackets; quotes may hold any character. */
static bool next_tag(Str *rest, Str *tag)
{
    const char *open = memchr(rest->at, '<', rest->len);
    if (!open)
        return false;
    size_t from = (size_t)(open - rest->at) + 1, at = from;
    bool quoted = false;
    for (; at < rest->len && (quoted || rest->at[at] != '>'); at++)
        quoted ^= rest->at[at] == '"';
    *tag = str_slice(*rest, from, at);
    *rest = str_slice(*rest, at + 1, rest->len);
    return true;
}

static Str name_of(Str tag)
{
    size_t len = 0;
    while (len < tag.len && !strchr(" \n/", tag.at[len]))
        len++;
    return str_slice(tag, 0, len);
}

static void skip_raw(Str *rest, Str name)
{
    Arena arena = {0};
    ptrdiff_t end = str_find(*rest, str_from(str_format(&arena, "</%.*s>", STR_ARG(name))));
    CHECK(end >= 0);
    *rest = str_slice(*rest, end < 0 ? rest->len : (size_t)end, rest->len);
    arena_drop(&arena);
}

static void check_well_formed(const Buf *page)
{
    Arena arena = {0};
    VEC(Str) open = {0};
    Str rest = buf_view(page), tag;
    while (next_tag(&rest, &tag)) {
        if (tag.len && tag.at[0] == '/') {
            Str name = str_slice(tag, 1, tag.len);
            bool fits = open.len && str_equal(vec_last(&open), name);
            CHECK_MSG(fits, "</%.*s> closes <%.*s>", STR_ARG(name),
                      STR_ARG(open.len ? vec_last(&open) : STR("nothing")));
            if (!fits)
                break;
            open.len--;
            continue;
        }
        Str name = name_of(tag);
        bool closed = is_void(name) &&
                      (str_is(name, "rect") || str_is(name, "path") ? str_ends(tag, "/") : true);
        if (!closed)
            vec_push(&arena, &open, name);
        if (str_is(name, "script") || str_is(name, "style"))
            skip_raw(&rest, name);
    }
    CHECK_EQ_INT(open.len, 0);
    CHECK(str_utf8_valid(buf_view(page)));
    CHECK(!memchr(page->at, 0, page->len));
    arena_drop(&arena);
}

/* ---- tests ---- */

static const SyntheticSpec hostile = {
    .runs = 2, .tasks = 5, .samples = 5, .text_bytes = 300, .hostile = true, .traces = true};

T_TEST(hostile_store_gives_a_well_formed_page)
{
    Fixture f;
    Buf page = {0};
    make_fixture(&f, hostile);
    CHECK(report_page(f.store, &f.spec, &page, &f.diag));
    check_well_formed(&page);
    CHECK(!contains(&page, "<script>alert"));
    CHECK(!contains(&page, "<img"));
    CHECK(!contains(&page, "<b>.craft"));
    CHECK(str_find(shown_part(&page), STR("\xe2\x80\xae")) < 0);
    CHECK(contains(&page, "task_000&lt;/script&gt;"));
    CHECK(contains(&page, "never measured"));
    buf_free(&page);
    drop_fixture(&f);
}

T_TEST(live_page_is_well_formed_and_has_no_texts)
{
    Fixture f;
    Buf page = {0};
    make_fixture(&f, hostile);
    f.spec.live = true;
    CHECK(report_page(f.store, &f.spec, &page, &f.diag));
    check_well_formed(&page);
    CHECK(contains(&page, "connect-src 'self'"));
    CHECK(!contains(&page, "id=\"chunk0\""));
    buf_free(&page);
    drop_fixture(&f);
}

T_TEST(same_store_gives_the_same_bytes)
{
    Fixture f;
    Buf once = {0}, twice = {0};
    make_fixture(&f, hostile);
    CHECK(report_page(f.store, &f.spec, &once, &f.diag));
    CHECK(report_page(f.store, &f.spec, &twice, &f.diag));
    CHECK_EQ_INT(once.len, twice.len);
    CHECK(!strcmp(once.at, twice.at));
    buf_free(&once);
    buf_free(&twice);
    drop_fixture(&f);
}

T_TEST(full_pack_is_said_and_the_page_is_still_whole)
{
    Fixture f;
    Buf page = {0};
    make_fixture(&f, (SyntheticSpec){.runs = 1, .tasks = 20, .samples = 5, .text_bytes = 9000});
    f.spec.most_all = 1;
    CHECK(report_page(f.store, &f.spec, &page, &f.diag));
    check_well_formed(&page);
    CHECK(contains(&page, "This file keeps the details of"));
    buf_free(&page);
    drop_fixture(&f);
}

T_TEST(missing_blobs_do_not_spoil_the_page)
{
    Fixture f;
    Buf page = {0};
    make_fixture(&f, (SyntheticSpec){.runs = 1, .tasks = 2, .samples = 2, .text_bytes = 100});
    CHECK(file_remove_tree(path_join(&f.arena, f.dir, "r.db.blobs"), &f.diag));
    CHECK(report_page(f.store, &f.spec, &page, &f.diag));
    check_well_formed(&page);
    CHECK(diag_ok(&f.diag));
    buf_free(&page);
    drop_fixture(&f);
}

T_TEST(empty_store_has_a_page)
{
    Fixture f;
    Buf page = {0};
    make_fixture(&f, (SyntheticSpec){.runs = 1, .tasks = 1, .samples = 1, .text_bytes = 1});
    f.spec.count = 0;
    CHECK(report_page(f.store, &f.spec, &page, &f.diag));
    check_well_formed(&page);
    CHECK(contains(&page, "no run yet"));
    buf_free(&page);
    drop_fixture(&f);
}

T_TEST(attempt_names_its_blobs_and_unknown_ones_are_refused)
{
    Fixture f;
    Buf json = {0};
    make_fixture(&f, hostile);
    CHECK(report_attempt(f.store, 1, &json, &f.diag));
    CHECK(contains(&json, "\"files\":[[\"x<b>.craft\",\""));
    CHECK(!report_attempt(f.store, 999999, &json, &f.diag));
    CHECK(!report_attempt(f.store, 0, &json, &f.diag));
    buf_free(&json);
    drop_fixture(&f);
}

T_TEST(kernel_page_is_well_formed)
{
    Arena arena = {0};
    Buf page = {0};
    Verdict v = verdict_make();
    v.kase = "full";
    v.predicted_us = 1234;
    v.bound_us = 1000;
    v.correct = VERDICT_YES;
    ReportKernel k = {.name = synthetic_attack,
                      .chip = "910B2",
                      .version = "0",
                      .task = "a.py",
                      .summary = synthetic_attack,
                      .trace = synthetic_trace(&arena, 2, 20)};
    ReportFile file = {"x.craft", str_from(synthetic_attack)};
    vec_push(&arena, &k.files, file);
    vec_push(&arena, &k.reasons, synthetic_attack);
    vec_push(&arena, &k.verdicts, (const Verdict *)&v);
    report_kernel(&k, &page);
    check_well_formed(&page);
    CHECK(contains(&page, "1.23 ms"));
    CHECK(contains(&page, "no board has run"));
    CHECK(contains(&page, "Right in its one case"));
    CHECK(contains(&page, "81<small> %</small></b><span>of the bound, "));
    CHECK(!contains(&page, "operator by operator"));
    CHECK(!contains(&page, "What to do next")); /* there is no project */
    buf_free(&page);
    arena_drop(&arena);
}

/* The headline and the next steps stand before everything else. */
T_TEST(kernel_page_opens_with_the_headline)
{
    Arena arena = {0};
    Buf page = {0};
    Verdict small = verdict_make(), full = verdict_make();
    small.kase = "small";
    verdict_fail(&small, VERDICT_WRONG, STAGE_COMPARE, "wrong");
    full.kase = "full";
    full.predicted_us = 100;
    full.bound_us = 60;
    vec_push(&arena, &full.pipes, ((VerdictPipe){"aiv_vec", 10, 0.2}));
    vec_push(&arena, &full.pipes, ((VerdictPipe){"aiv_mte2", 90, 0.9}));
    ReportKernel k = {.name = "k",
                      .chip = "910B2",
                      .version = "0",
                      .task = "a.py",
                      .summary = "the summary",
                      .unfused_us = 420,
                      .eager_us = 110,
                      .low_us = 74,
                      .high_us = 122};
    vec_push(&arena, &k.files, ((ReportFile){"build.sh", STR("#!/bin/sh\n")}));
    vec_push(&arena, &k.verdicts, (const Verdict *)&small);
    vec_push(&arena, &k.verdicts, (const Verdict *)&full);
    report_kernel(&k, &page);
    check_well_formed(&page);
    CHECK(contains(&page, "Right in 0 of 1 cases"));
    CHECK(contains(&page, "; 1 more timed without values."));
    CHECK(contains(&page, "4.2\303\227</b><span>as fast as operator by operator, 420 us"));
    CHECK(contains(&page, "with the model's error"));
    CHECK(!contains(&page, "420 us at least, predicted; within"));
    CHECK(contains(&page, "1.1\303\227</b><span>as fast as PyTorch eager"));
    CHECK(contains(&page, "measured; within the model's error"));
    CHECK(contains(&page, "copies in are busy: what limits it"));
    CHECK(contains(&page, "Only fewer bytes make it faster"));
    CHECK(contains(&page, "--task a.py --scale full --explain</code>"));
    Str text = buf_view(&page);
    CHECK(str_find(text, STR("What to do next")) < str_find(text, STR("the summary")));
    buf_free(&page);
    arena_drop(&arena);
}

/* Cases of the task and runs of the written files are counted apart; both timelines are in the page. */
T_TEST(kernel_page_counts_written_files_apart)
{
    Arena arena = {0};
    Buf page = {0};
    Verdict small = verdict_make(), full = verdict_make(), again = verdict_make();
    small.kase = "small";
    small.correct = again.correct = VERDICT_YES;
    again.kase = "written-small";
    again.candidate = "project";
    full.kase = "full";
    full.predicted_us = 100;
    full.bound_us = 60;
    ReportKernel k = {.name = "k",
                      .chip = "910B2",
                      .version = "0",
                      .task = "",
                      .summary = "",
                      .trace = synthetic_trace(&arena, 2, 20),
                      .timed_trace = synthetic_trace(&arena, 3, 20)};
    vec_push(&arena, &k.verdicts, (const Verdict *)&full);
    vec_push(&arena, &k.verdicts, (const Verdict *)&small);
    vec_push(&arena, &k.written, (const Verdict *)&again);
    vec_push(&arena, &k.written, (const Verdict *)&again);
    report_kernel(&k, &page);
    check_well_formed(&page);
    CHECK(contains(&page, "Right in its one case"));
    CHECK(contains(&page, "; the written files, read back: right in 2 of 2 runs."));
    Str text = buf_view(&page);
    ptrdiff_t first = str_find(text, STR("\"name\":\"full\"")),
              files = str_find(text, STR("\"name\":\"project, written-small\"")),
              last = str_find(text, STR("\"name\":\"small\""));
    CHECK(first >= 0 && first < files && files < last);
    uint32_t drawn = 0;
    for (size_t i = 0; i + 12 < text.len; i++)
        drawn += str_starts(str_slice(text, i, text.len), "\"timeline\":") &&
                 !str_starts(str_slice(text, i, text.len), "\"timeline\":null");
    CHECK_EQ_INT(drawn, 2);
    buf_free(&page);
    arena_drop(&arena);
}

/* ---- colours ---- */

/* Relative luminance of WCAG 2, of "#rrggbb". */
static double luminance(Str colour)
{
    static const double weight[] = {0.2126, 0.7152, 0.0722};
    double sum = 0;
    for (size_t i = 0; i < 3; i++) {
        char pair[3] = {colour.at[1 + 2 * i], colour.at[2 + 2 * i], 0};
        double c = (double)strtol(pair, NULL, 16) / 255;
        sum += weight[i] * (c <= 0.03928 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
    }
    return sum;
}

/* The value of "--name: light-dark(#rrggbb, #rrggbb)" in the style sheet. */
static double luminance_of(const char *name, bool dark)
{
    Arena arena = {0};
    Str style = {report_style, (size_t)(report_style_end - report_style)};
    const char *start = str_format(&arena, "--%s: light-dark(", name);
    ptrdiff_t at = str_find(style, str_from(start));
    CHECK_MSG(at >= 0, "no colour %s", name);
    size_t from = (size_t)at + strlen(start) + (dark ? strlen("#rrggbb, ") : 0);
    double value = at < 0 ? 0 : luminance(str_slice(style, from, from + strlen("#rrggbb")));
    arena_drop(&arena);
    return value;
}

/* Text has 4.5 : 1 against everything that it stands on, drawings have 3 : 1 (WCAG 2, AA). */
T_TEST(training_page_is_well_formed)
{
    Buf page = {0};
    static const ReportCurve curves[] = {
        {"run/<b>a", {0}},
        {"b", STR("{\"step\": 1, \"loss\": 2.5, \"rate\": 0.001, \"ratio\": 1, \"seconds\": 1}\n"
                  "not json\n[]\n{\"step\": 2, \"loss\": 2.25, \"rate\": 0.0005, \"norm\": 0, "
                  "\"seconds\": 2}\n{\"step\": 3, \"lo")},
    };
    report_curves(curves, 2, "1.2.3", &page);
    check_well_formed(&page);
    CHECK(contains(&page, "run/&lt;b&gt;a") && !contains(&page, "<b>a"));
    CHECK(contains(&page, "<td class=\"n\">2.25</td>"));
    CHECK(contains(&page, "aria-label=\"Loss by step\""));
    CHECK(contains(&page, "class=\"dot run1\"")); /* one ratio is a dot */
    CHECK(!contains(&page, "Margin</th>") && !contains(&page, "never measured"));
    buf_free(&page);
}

T_TEST(colours_have_contrast)
{
    static const struct {
        const char *ink, *ground;
        double least;
    } pairs[] = {
        {"ink", "paper", 4.5},        {"ink", "wash", 4.5},         {"ink", "pale", 4.5},
        {"soft", "paper", 4.5},       {"soft", "wash", 4.5},        {"soft", "pale", 4.5},
        {"accent", "paper", 4.5},     {"accent", "wash", 4.5},      {"accent", "pale", 4.5},
        {"text-string", "wash", 4.5}, {"text-string", "pale", 4.5}, {"paper", "accent", 4.5},
        {"paper", "fail", 4.5}, /* names in the timeline */
        {"fail", "paper", 3},         {"fail", "wash", 3}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int dark = 0; dark < 2; dark++) {
            double a = luminance_of(pairs[i].ink, dark), b = luminance_of(pairs[i].ground, dark);
            double ratio = (fmax(a, b) + 0.05) / (fmin(a, b) + 0.05);
            CHECK_MSG(ratio >= pairs[i].least, "%s on %s, %s: %.2f, not %.1f", pairs[i].ink,
                      pairs[i].ground, dark ? "dark" : "light", ratio, pairs[i].least);
        }
}

/* ---- pieces ---- */

static void check_text(Str in, const char *want)
{
    Buf out = {0};
    report_text(&out, in);
    CHECK_EQ_STR(out.at ? out.at : "", want);
    buf_free(&out);
}

T_TEST(text_is_escaped)
{
    check_text(STR(""), "");
    check_text(STR("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
    check_text(STR("\0x"), "\xef\xbf\xbdx");
    check_text(STR("\x1b\x7f\n"), "\xef\xbf\xbd\xef\xbf\xbd\n");
    check_text(STR("\xc3"), "\xef\xbf\xbd");
    check_text(STR("\xe2\x80\xae"), "\xef\xbf\xbd");
    check_text(STR("\xe2\x81\xa6\xe2\x82\xac"), "\xef\xbf\xbd\xe2\x82\xac");
}

T_TEST(json_cannot_end_its_element)
{
    Buf out = {0};
    report_script_json(&out, "d", STR("[\"</script><!--\"]"));
    CHECK_EQ_STR(out.at,
                 "<script type=\"application/json\" id=\"d\">[\"\\u003c/script>\\u003c!--\"]"
                 "</script>\n");
    buf_free(&out);
}

T_TEST(base64_as_the_rfc_has_it)
{
    static const char *const pairs[][2] = {
        {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foobar", "Zm9vYmFy"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        Buf out = {0};
        report_base64(&out, pairs[i][0], strlen(pairs[i][0]));
        CHECK_EQ_STR(out.at ? out.at : "", pairs[i][1]);
        buf_free(&out);
    }
}

T_TEST(long_text_is_cut_between_characters)
{
    Arena arena = {0};
    Buf text = {0};
    for (int i = 0; i < 1000; i++)
        buf_puts(&text, "\xe2\x82\xac");
    for (size_t most = 100; most < 110; most++) {
        Str cut = report_cut(&arena, buf_view(&text), most);
        CHECK(str_utf8_valid(cut));
        CHECK(cut.len < most + 60);
        CHECK(str_find(cut, STR("bytes are left out")) > 0);
    }
    CHECK_EQ_INT(report_cut(&arena, STR("short"), 5).len, 5);
    buf_free(&text);
    arena_drop(&arena);
}

T_TEST(timeline_has_rows_and_events)
{
    Arena arena = {0};
    Buf json = {0};
    CHECK(report_timeline(synthetic_trace(&arena, 1, 2), &json));
    CHECK_EQ_STR(
        json.at,
        "{\"rows\":[[\"core 0 (AIV)\",\"\"],[\"core 0 (AIV)\",\"V\"],[\"core 0 (AIV)\",\"MTE2\"],"
        "[\"core 0 (AIV)\",\"MTE3\"]],\"names\":[\"Add\",\"DataCopy\"],\"lines\":[\"x.cpp:0\","
        "\"x.cpp:1\"],\"waits\":[\"flag of MTE2\"],\"left_out\":0,\"events\":[1,0,400,0,0,100,0,"
        "2,500,400,1,1,100,0]}");
    buf_clear(&json);
    CHECK(!report_timeline(STR("{\"traceEvents\": 3}"), &json));
    CHECK(!report_timeline(STR("nonsense"), &json));
    CHECK(report_timeline(STR("{\"traceEvents\": [1, {}, {\"ph\": \"X\"}, {\"ph\": \"M\"}]}"),
                          &json));
    buf_free(&json);
    arena_drop(&arena);
}
