/* Scores a generator on rows to write. In: rows that it has not seen. Out: how many of its answers are right.
 *
 *     row ─id─▶ task, drawn again ─▶ cases          row ─prompt─▶ generator ─▶ samples ─judge at the cases─▶ counts
 *
 * Workers are forks, so that a generator is opened once; each task is one request. */
#include "rows/rows_int.h"

#include "base/file.h"
#include "graph/eval.h"
#include "loop/bench_pool.h"
#include "loop/repair.h"
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TASK_SECONDS = 600 };

typedef struct ScoreRow {
    uint64_t seed, number;
    Str prompt;
    const char *id, *family;
    uint32_t operators;
    bool brief;
} ScoreRow;

typedef struct Scoring {
    Arena *arena;
    const RowsScoreSpec *spec;
    VEC(ScoreRow) rows;
    FILE *keep;
} Scoring;

/* ---- rows ---- */

static bool read_id(const char *id, ScoreRow *row)
{
    Str rest = str_from(id), seed, number;
    int64_t s, n;
    if (!str_next(&rest, '-', &seed) || !str_next(&rest, '-', &number) || !str_to_i64(seed, &s) ||
        !str_to_i64(number, &n))
        return false;
    row->seed = (uint64_t)s;
    row->number = (uint64_t)n;
    return true;
}

static void read_row(Scoring *s, const json_t *json)
{
    const char *kind = json_string_value(json_object_get(json, "kind"));
    const char *id = json_string_value(json_object_get(json, "id"));
    const char *family = json_string_value(json_object_get(json, "family"));
    const json_t *first = json_array_get(json_object_get(json, "messages"), 0);
    const char *prompt = json_string_value(json_object_get(first, "content"));
    ScoreRow row = {0};
    if (!kind || strcmp(kind, rows_kind_name(ROWS_WRITE)) || !id || !family || !prompt ||
        !read_id(id, &row))
        return;
    row.prompt = str_copy(s->arena, str_from(prompt));
    row.family = str_dup(s->arena, str_from(family));
    row.id = str_dup(s->arena, str_from(id));
    row.operators = (uint32_t)json_integer_value(json_object_get(json, "operators"));
    row.brief = json_is_true(json_object_get(json, "brief"));
    vec_push(s->arena, &s->rows, row);
}

static bool read_rows(Scoring *s, Diag *diag)
{
    Str rest, line;
    if (!file_read(s->arena, s->spec->rows, 0, &rest, diag))
        return false;
    while (str_next(&rest, '\n', &line) && s->rows.len < s->spec->tasks) {
        json_t *json = json_loadb(line.at, line.len, 0, NULL);
        read_row(s, json);
        json_decref(json);
    }
    if (!s->rows.len)
        diag_error(diag, "N005", (Span){0}, "'%s' has no row to write", s->spec->rows);
    return s->rows.len > 0;
}

/* ---- workers ---- */

typedef struct Judging {
    const NpuChip *chip;
    const RowsCases *cases;
} Judging;

static void judge(void *context, uint32_t index, const EvalCandidate *candidate, Arena *arena,
                  Verdict *verdict, Diag *diag)
{
    const Judging *j = context;
    (void)index;
    rows_judge(arena, candidate->texts.at[0].text, j->cases, j->chip, false, verdict, diag);
}

static const RepairTurn *best_turn(const RepairResult *r)
{
    return r->best >= 0 ? &r->turns.at[r->best] : NULL;
}

static char mark_of(const RepairResult *r)
{
    const RepairTurn *best = best_turn(r);
    return r->end == REPAIR_OK                     ? 'r'
           : !best                                 ? 'n'
           : best->verdict.status == VERDICT_WRONG ? 'w'
                                                   : 'x';
}

static const char *mark_text(char mark)
{
    return mark == 'r' ? "right" : mark == 'w' ? "wrong" : mark == 'x' ? "refused" : "none";
}

/* The sample as a row, with what became of it. */
static void put_sample(const ScoreRow *row, const RepairResult *r, Buf *out)
{
    const RepairTurn *best = best_turn(r);
    if (!best || !best->reply.choices.len)
        return;
    buf_printf(out,
               "\n{\"id\": \"%s\", \"kind\": \"write\", \"family\": \"%s\", \"operators\": %u, "
               "\"mark\": \"%s\", \"why\": ",
               row->id, row->family, row->operators, mark_text(mark_of(r)));
    buf_json_str(out, str_slice(best->said, 0, 300));
    buf_puts(out, ", \"messages\": [{\"role\": \"user\", \"content\": ");
    buf_json_str(out, row->prompt);
    buf_puts(out, "}, {\"role\": \"assistant\", \"content\": ");
    buf_json_str(out, best->reply.choices.at[0].text);
    buf_puts(out, "}]}");
}

static void score_row(const Scoring *s, Arena *arena, const ScoreRow *row, const RowsCases *cases,
                      Buf *reply)
{
    const RowsScoreSpec *spec = s->spec;
    Judging judging = {spec->chip, cases};
    RepairJob *jobs = arena_array(arena, RepairJob, spec->samples);
    RepairResult *results = arena_array(arena, RepairResult, spec->samples);
    Diag diag = diag_make(arena, "answer", STR(""));
    for (uint32_t i = 0; i < spec->samples; i++) {
        jobs[i] = (RepairJob){.task = "task", .form = FORM_CRAFT, .sample = i};
        vec_push(arena, &jobs[i].prompt, ((ChatMessage){CHAT_USER, row->prompt}));
    }
    RepairSpec repair = {
        .generator = spec->generator, .turns = spec->turns, .judge = judge, .context = &judging};
    repair_run(arena, &repair, jobs, spec->samples, results, &diag);
    for (uint32_t i = 0; i < spec->samples; i++)
        buf_char(reply, mark_of(&results[i]));
    for (uint32_t i = 0; spec->keep && i < spec->samples; i++)
        put_sample(row, &results[i], reply);
}

static void work(void *context, Str request, Buf *reply)
{
    const Scoring *s = context;
    Arena arena = {0};
    int64_t at;
    RowsTask task;
    RowsCases cases;
    if (!str_to_i64(request, &at))
        return;
    const ScoreRow *row = &s->rows.at[at];
    RowsMaker maker = {.chip = s->spec->chip, .seed = row->seed, .brief = row->brief};
    graph_eval_threads(1);
    if (rows_prepare(&arena, &maker, row->number, &task, &cases))
        score_row(s, &arena, row, &cases, reply);
    rows_cases_free(&cases);
    arena_drop(&arena);
}

/* ---- counts ---- */

static RowsScore *score_of(Arena *arena, RowsScores *scores, const char *family)
{
    for (uint32_t i = 0; i < scores->len; i++)
        if (!strcmp(scores->at[i].family, family))
            return &scores->at[i];
    vec_push(arena, scores, (RowsScore){.family = family});
    return &vec_last(scores);
}

static void count_samples(RowsScore *score, Str marks)
{
    uint32_t right = 0;
    for (size_t i = 0; i < marks.len; i++) {
        right += marks.at[i] == 'r';
        score->wrong += marks.at[i] == 'w';
        score->refused += marks.at[i] == 'x';
        score->none += marks.at[i] == 'n';
    }
    double share = (double)right / (double)marks.len;
    score->tasks++;
    score->samples += (uint32_t)marks.len;
    score->at_one += share;
    score->at_one_squares += share * share;
    score->at_all += right > 0;
}

/* No answer of a task that ran out of time is right. */
static Str late_marks(const Scoring *s)
{
    char *marks = arena_array(s->arena, char, s->spec->samples + 1);
    memset(marks, 'n', s->spec->samples);
    return str_from(marks);
}

static void take_reply(Scoring *s, const PoolReply *reply, RowsScores *scores)
{
    const char *family = s->rows.at[reply->id].family;
    RowsScore *all = score_of(s->arena, scores, "");
    Str samples = reply->text, marks;
    if (reply->end == POOL_LATE) {
        samples = late_marks(s);
        all->late++;
    } else if (reply->end != POOL_DONE || !reply->text.len) {
        all->lost++;
        return;
    }
    str_next(&samples, '\n', &marks);
    uint32_t operators = s->rows.at[reply->id].operators;
    const char *length = operators <= 3   ? "1-3 operators"
                         : operators <= 6 ? "4-6 operators"
                                          : "7 and more";
    count_samples(all, marks);
    count_samples(score_of(s->arena, scores, length), marks);
    count_samples(score_of(s->arena, scores, family), marks);
    if (s->keep && samples.len) {
        fprintf(s->keep, "%.*s\n", STR_ARG(samples));
        fflush(s->keep); /* a run that is stopped leaves what was judged */
    }
}

double rows_score_half(const RowsScore *score)
{
    double n = score->tasks, mean = n > 0 ? score->at_one / n : 0;
    return n > 1 ? 1.96 * sqrt((score->at_one_squares / n - mean * mean) / (n - 1)) : 1;
}

bool rows_score(Arena *arena, const RowsScoreSpec *spec, RowsScores *scores, Diag *diag)
{
    Scoring s = {.arena = arena, .spec = spec};
    if (!read_rows(&s, diag))
        return false;
    s.keep = spec->keep ? fopen(spec->keep, "wb") : NULL;
    if (spec->keep && !s.keep) {
        diag_error(diag, "R001", (Span){0}, "cannot write '%s': %s", spec->keep, strerror(errno));
        return false;
    }
    PoolSpec pool_spec = {.jobs = spec->jobs,
                          .seconds = spec->seconds > 0 ? spec->seconds : TASK_SECONDS,
                          .work = work,
                          .context = &s};
    Pool *pool = pool_open(&pool_spec);
    uint64_t next = 0;
    bool ok = pool != NULL;
    score_of(arena, scores, "");
    while (ok && (next < s.rows.len || pool_busy(pool))) {
        PoolReply reply;
        while (ok && next < s.rows.len && pool_busy(pool) < pool_jobs(pool)) {
            char request[32];
            snprintf(request, sizeof request, "%llu", (unsigned long long)next);
            ok = pool_send(pool, next++, str_from(request));
        }
        if (ok && pool_next(pool, 1, -1, &reply))
            take_reply(&s, &reply, scores);
    }
    if (pool)
        pool_close(pool);
    if (s.keep && fclose(s.keep))
        ok = false;
    return ok;
}
