/* The maker of stores, and the test that it makes what it says. */
#include "tests/report/synthetic.h"

#include "base/file.h"
#include "base/rng.h"
#include "tests/t.h"
#include <math.h>
#include <string.h>

enum { SEED = 7 };

const char synthetic_attack[] =
    "</script><script>alert(1)</script><!-- \"'><img src=x onerror=alert(2)>&lt;"
    "\xff\xfe\xc0\xaf\xe2\x80\xae ]]> \\u003c \x01";

static const char *const categories[] = {"activation", "loss",      "math",    "normalization",
                                         "optimizer",  "reduction", "pooling", "attention"};
enum { CATEGORIES = sizeof categories / sizeof *categories };

static const VerdictStatus mix[] = {
    VERDICT_OK,     VERDICT_OK,           VERDICT_OK,      VERDICT_OK,          VERDICT_WRONG,
    VERDICT_HAZARD, VERDICT_NOT_COMPILED, VERDICT_CRASHED, VERDICT_UNSUPPORTED, VERDICT_NOT_PARSED};
enum { MIX = sizeof mix / sizeof *mix };

typedef struct Maker {
    Arena *arena;
    Store *store;
    const SyntheticSpec *spec;
    Diag *diag;
    const char *attack; /* "" unless hostile */
} Maker;

static uint64_t draw(uint64_t stream, uint64_t i, uint64_t below)
{
    return (uint64_t)rng_range(SEED, stream, i, 0, (int64_t)below);
}

static const char *put_blob(Maker *m, Str text)
{
    char hash[STORE_HASH];
    REQUIRE(store_blob_put(m->store, text, hash, m->diag));
    return str_dup(m->arena, str_from(hash));
}

static const char *candidate_text(Maker *m, uint64_t stream)
{
    Buf out = {0};
    buf_printf(&out, "craft = 1  # %s\n\n@kernel\ndef kernel(x: gm[f32, n], tile: i32):\n",
               m->attack);
    for (uint64_t i = 0; out.len < m->spec->text_bytes; i++)
        buf_printf(&out, "    o%llu[:t.size] = %s(a%llu[:t.size], %llu)\n",
                   (unsigned long long)draw(stream, 2 * i, 40),
                   draw(stream, 3 * i, 2) ? "add" : "exp",
                   (unsigned long long)draw(stream, 2 * i + 1, 40),
                   (unsigned long long)draw(stream, i, 100000));
    const char *blob = put_blob(m, buf_view(&out));
    buf_free(&out);
    return blob;
}

/* ---- cases ---- */

static Verdict verdict_of(Maker *m, VerdictStatus status, uint64_t stream, uint32_t which)
{
    Verdict v = verdict_make();
    v.task = "task";
    v.candidate = "answer";
    v.kase = which ? "full" : "small";
    v.status = status;
    v.stage = STAGE_DONE;
    v.reason = status == VERDICT_OK ? "" : m->spec->hostile ? m->attack : "values differ";
    v.compiled = VERDICT_YES;
    v.max_abs_err = 1e-7 * (double)(1 + draw(stream, 10, 90));
    v.max_rel_err = status == VERDICT_OK ? v.max_abs_err : 0.25;
    v.cycles = 1000 + draw(stream, 11, 100000);
    v.bound_us = (double)(1 + draw(stream, 12, 5000));
    v.predicted_us = v.bound_us * (1 + (double)draw(stream, 13, 900) / 100);
    static const char *const pipes[] = {"aiv_vec", "aiv_scalar", "aiv_mte2", "aiv_mte3"};
    for (uint32_t i = 0; i < 4; i++) {
        VerdictPipe pipe = {pipes[i], (double)(v.cycles / (i + 1)), 0.9 / (i + 1)};
        vec_push(m->arena, &v.pipes, pipe);
    }
    if (status == VERDICT_HAZARD) {
        VerdictFinding f = {.kind = FINDING_RACE,
                            .code = "S007",
                            .message = m->spec->hostile ? m->attack : "read before it is written",
                            .file = "x.craft",
                            .line = 5,
                            .count = 3,
                            .api = "Add",
                            .device = "",
                            .repair = "wait for MTE2 first"};
        vec_push(m->arena, &v.hazards, f);
    }
    return v;
}

static StoreCase case_of(Maker *m, const Verdict *v, const char *trace)
{
    Buf json = {0};
    verdict_to_json(v, &json);
    StoreCase c = {.name = v->kase,
                   .seed = 3,
                   .shapes = "f32[16,1000]",
                   .status = v->status,
                   .verdict = buf_take(&json, m->arena),
                   .trace = trace};
    buf_free(&json);
    return c;
}

/* ---- attempts ---- */

static StoreTurn turn_of(Maker *m, uint64_t stream, uint32_t turn, const char *text)
{
    Buf prompt = {0}, content = {0};
    buf_printf(&content, "Write a kernel. %s", m->attack);
    buf_fill(&content, '.', 2000);
    buf_puts(&prompt, "[{\"role\": \"system\", \"content\": \"You write Craft.\"}, {\"role\": "
                      "\"user\", \"content\": ");
    buf_json_str(&prompt, buf_view(&content));
    buf_puts(&prompt,
             turn ? "}, {\"role\": \"user\", \"content\": \"It was wrong; repair it.\"}]" : "}]");
    StoreTurn t = {
        .prompt = put_blob(m, buf_view(&prompt)),
        .answer = text,
        .diagnostics = put_blob(m, str_from(str_format(m->arena, "x.craft:5:1: error %u %s",
                                                       (unsigned)(stream % 50), m->attack))),
        .model = "remote-model",
        .tokens_in = 900,
        .tokens_out = 300,
        .seconds = 1,
        .usage = ""};
    buf_free(&prompt);
    buf_free(&content);
    return t;
}

static StoreTurn no_turn(void) { return (StoreTurn){"", "", "", "", -1, -1, 0, ""}; }

static void add_attempt(Maker *m, int64_t run, int64_t task, uint32_t sample, uint32_t turn,
                        uint64_t stream, VerdictStatus status)
{
    const char *text = candidate_text(m, stream);
    StoreAttempt a = {.run = run,
                      .task = task,
                      .sample = sample,
                      .turn = turn,
                      .form = "craft",
                      .generator = "remote",
                      .source = text,
                      .status = status,
                      .compiled = VERDICT_YES,
                      .reason = status == VERDICT_OK ? ""
                                : m->spec->hostile
                                    ? m->attack
                                    : "small: values differ at y[17], 1023 of 4096 elements",
                      .unsupported = status == VERDICT_UNSUPPORTED ? "Conv3D" : "",
                      .measured_us = m->spec->measured ? 40 : (double)NAN,
                      .copy_us = m->spec->measured ? 30 : (double)NAN,
                      .rule = "acraft",
                      .provenance = "remote-model",
                      .licence = "",
                      .when = 1700000000};
    const char *trace = m->spec->traces && stream < 3
                            ? put_blob(m, synthetic_trace(m->arena, 4, 500))
                        : m->spec->all_traces
                            ? put_blob(m, synthetic_trace(m->arena, 4, 200 + (uint32_t)task))
                            : "";
    for (uint32_t i = 0; i < 2; i++) {
        Verdict v = verdict_of(m, status, stream, i);
        vec_push(m->arena, &a.cases, case_of(m, &v, i ? trace : ""));
        a.predicted_us = v.predicted_us;
        a.bound_us = v.bound_us;
    }
    a.baseline_us = a.bound_us * 4;
    StoreText file = {m->spec->hostile ? "x<b>.craft" : "x.craft", text};
    vec_push(m->arena, &a.texts, file);
    a.dialogue = stream % 5 == 0 || turn ? turn_of(m, stream, turn, text) : no_turn();
    REQUIRE(store_attempt_add(m->store, &a, m->diag));
}

static void add_sample(Maker *m, int64_t run, int64_t task, uint32_t sample, uint64_t stream)
{
    VerdictStatus status = mix[draw(stream, 0, MIX)];
    bool repaired = stream % 25 == 0;
    add_attempt(m, run, task, sample, 0, stream, repaired ? VERDICT_WRONG : status);
    if (repaired)
        add_attempt(m, run, task, sample, 1, stream + 1, VERDICT_OK);
}

/* As long as the longest of the suites. */
static const char long_name[] =
    "_asymmetric_input_asymmetric_kernel_strided_padded_grouped_dilated";

static void make_tasks(Maker *m, StoreTask *tasks)
{
    const char *source = put_blob(m, STR("class Model: pass\n"));
    for (uint32_t t = 0; t < m->spec->tasks; t++)
        tasks[t] = (StoreTask){.suite = "multikernelbench",
                               .name = str_format(m->arena, "task_%03u%s%s", t,
                                                  t % 8 == 1 ? long_name : "", m->attack),
                               .category = categories[t % CATEGORIES],
                               .level = "1",
                               .path = "x.py",
                               .source = source,
                               .wording = "reworded",
                               .licence = ""};
    REQUIRE(store_tasks_put(m->store, tasks, m->spec->tasks, m->diag));
}

Store *synthetic_store(Arena *arena, const char *path, const SyntheticSpec *spec, Diag *diag)
{
    Maker m = {arena, store_open(path, STORE_MAKE, diag), spec, diag,
               spec->hostile ? synthetic_attack : ""};
    REQUIRE(m.store != NULL);
    StoreTask *tasks = arena_array(arena, StoreTask, spec->tasks);
    make_tasks(&m, tasks);
    const ReportRun *runs = synthetic_runs(arena, spec);
    for (uint32_t r = 0; r < spec->runs; r++) {
        StoreRun run = runs[r].run;
        REQUIRE(store_run_begin(m.store, &run, diag));
        for (uint32_t t = 0; t < spec->tasks; t++)
            for (uint32_t s = 0; s < spec->samples; s++)
                add_sample(&m, run.id, tasks[t].id, s,
                           (uint64_t)(r * spec->tasks + t) * spec->samples + s);
    }
    return m.store;
}

/* ---- scores ---- */

static ReportShare share_of(uint64_t stream)
{
    double share = (double)draw(stream, 1, 101) / 100;
    return (ReportShare){share, share * 0.8, share + (1 - share) * 0.2, share * 0.9};
}

static ReportGroup group_of(Arena *arena, const SyntheticSpec *spec, const char *title,
                            uint64_t stream)
{
    ReportGroup g = {
        .title = title, .tasks = spec->tasks, .unsupported = 3, .bound = share_of(stream)};
    ReportScore s = {.k = 1,
                     .compile = share_of(stream + 1),
                     .pass = share_of(stream + 2),
                     .fast = {share_of(stream + 3), share_of(stream + 4), share_of(stream + 5)},
                     .pass_without = 0.5};
    vec_push(arena, &g.scores, s);
    return g;
}

const ReportRun *synthetic_runs(Arena *arena, const SyntheticSpec *spec)
{
    ReportRun *runs = arena_array(arena, ReportRun, spec->runs);
    for (uint32_t r = 0; r < spec->runs; r++) {
        runs[r] = (ReportRun){
            .run = {.id = r + 1,
                    .suite = "multikernelbench",
                    .generator = r ? "plan" : "remote:model",
                    .settings = str_format(arena, "{\"seed\": %u, \"chip\": \"910B2\"}", r),
                    .label = spec->hostile ? synthetic_attack
                             : r           ? "a label of some words"
                                           : "",
                    .started = 1700000000},
            .samples = spec->tasks * spec->samples,
            .repaired = 4,
            .with_baseline = spec->tasks / 2,
            .level_score = 0.25,
            .level_score_cases = 0.5};
        for (uint32_t s = 0; s < MIX; s++)
            runs[r].statuses[mix[s]] += runs[r].samples / MIX;
        for (uint32_t c = 0; c < CATEGORIES; c++)
            vec_push(arena, &runs[r].groups, group_of(arena, spec, categories[c], r * 100 + c * 7));
        vec_push(arena, &runs[r].groups, group_of(arena, spec, "all", r * 100 + 99));
        vec_last(&runs[r].groups).total = true;
    }
    return runs;
}

Str synthetic_trace(Arena *arena, uint32_t cores, uint32_t instructions)
{
    static const char *const pipes[] = {"V", "MTE2", "MTE3"};
    Buf out = {0};
    buf_puts(&out, "{\"traceEvents\":[");
    for (uint32_t c = 0; c < cores; c++) {
        buf_printf(&out,
                   "%s{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%u,\"args\":{\"name\":\"core "
                   "%u (AIV)\"}}",
                   c ? "," : "", c, c);
        for (uint32_t p = 0; p < 3; p++)
            buf_printf(&out,
                       ",{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%u,\"tid\":%u,\"args\":{"
                       "\"name\":\"%s\"}}",
                       c, p, pipes[p]);
        for (uint32_t i = 0; i < instructions; i++)
            buf_printf(
                &out,
                ",{\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"ts\":%.4f,\"dur\":%.4f,\"name\":\"%s\","
                "\"args\":{\"line\":\"x.cpp:%u\",\"waited_us\":0.01,\"for\":\"flag of MTE2\"}}",
                c, i % 3, 0.05 * i + 0.01 * c, 0.04, i % 3 ? "DataCopy" : "Add", i % 40);
    }
    buf_puts(&out, "],\"otherData\":{\"times\":\"predicted\"}}");
    Str text = str_copy(arena, buf_view(&out));
    buf_free(&out);
    return text;
}

T_TEST(synthetic_store_has_what_was_asked)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", STR(""));
    const char *dir;
    REQUIRE(file_temp_dir(&arena, "acraft-report-test", &dir, &diag));
    SyntheticSpec spec = {.runs = 2, .tasks = 3, .samples = 2, .text_bytes = 100};
    Store *store = synthetic_store(&arena, path_join(&arena, dir, "r.db"), &spec, &diag);
    uint64_t count = 0;
    CHECK(store_attempt_count(store, &(StoreFilter){0}, &count, &diag));
    CHECK_EQ_INT(count, 13); /* twelve samples, one of them repaired */
    store_close(store);
    CHECK(file_remove_tree(dir, &diag));
    arena_drop(&arena);
}
