/* One line in, one line out; see judge_line.h. */
#include "loop/judge_line.h"

#include "base/json_mend.h"
#include "base/version.h"

#include "loop/bench_pool.h"
#include "loop/bench_wire.h"
#include "loop/feedback.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- reward ---- */

static bool ran_without_findings(const Judged *judged)
{
    bool clean = judged->hazards == 0 && judged->cases.len > 0;
    for (uint32_t i = 0; i < judged->cases.len; i++)
        clean &= judged->cases.at[i].verdict.stage >= STAGE_COMPARE ||
                 judged->cases.at[i].verdict.status == VERDICT_OK || judged->cases.at[i].no_values;
    return clean;
}

JudgeReward judge_reward(const Judged *judged)
{
    bool ok = judged->status == VERDICT_OK && judged->correct == VERDICT_YES;
    JudgeReward r = {.compiled = judged->compiled == VERDICT_YES,
                     .correct = judged->correct == VERDICT_YES,
                     .hazard_free = ran_without_findings(judged),
                     .speed = (double)NAN};
    double speed = judged->bound_us / judged->predicted_us;
    if (ok && judged->predicted_us > 0 && judged->bound_us > 0 && speed <= JUDGE_MOST_SPEED)
        r.speed = fmin(1, speed);
    r.reward = judged->status == VERDICT_BAD_REQUEST ? (double)NAN
               : ok                                  ? 0.5 + 0.5 * (isnan(r.speed) ? 0 : r.speed)
                                                     : 0;
    return r;
}

/* ---- writing ---- */

static void put_number(Buf *out, const char *key, double value)
{
    buf_printf(out, ", \"%s\": ", key);
    if (isfinite(value))
        buf_json_double(out, value);
    else
        buf_puts(out, "null");
}

static void put_id(json_t *request, Buf *out)
{
    json_t *id = json_object_get(request, "id");
    char *text = id ? json_dumps(id, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    buf_printf(out, "{\"id\": %s", text ? text : "null");
    free(text);
    json_t *task = json_object_get(request, "task");
    if (json_is_string(task)) {
        buf_puts(out, ", \"task\": ");
        buf_json_str(out, (Str){json_string_value(task), json_string_length(task)});
    }
}

static void put_verdicts(const Judged *judged, Buf *out)
{
    buf_puts(out, ", \"verdicts\": [");
    for (uint32_t i = 0; i < judged->cases.len; i++) {
        Buf one = {0};
        verdict_to_json(&judged->cases.at[i].verdict, &one);
        buf_printf(out, "%s%s", i ? ", " : "", one.at);
        buf_free(&one);
    }
    buf_puts(out, "]");
}

/* What the writer of the answer is told, as a repair loop would say it; "" when it is ok. */
static void put_message(const Judged *judged, Buf *out)
{
    Arena arena = {0};
    Buf text = {0};
    Verdict v = judged->worst;
    if (!judged->cases.len) {
        v = verdict_make();
        verdict_fail(&v, judged->status, STAGE_EXTRACT, judged->reason);
    }
    Feedback f = {&v, judged->said.arena ? &judged->said : NULL,
                  judged->candidate.texts.len ? &judged->candidate : NULL, false};
    if (judged->status != VERDICT_OK)
        feedback_text(&arena, &f, &text);
    buf_puts(out, ", \"message\": ");
    buf_json_str(out, buf_view(&text));
    buf_free(&text);
    arena_drop(&arena);
}

static void put_judged(const Judged *judged, const JudgeLines *lines, double seconds, Buf *out)
{
    JudgeReward r = judge_reward(judged);
    char hash[STORE_HASH];
    wire_source_hash(&judged->candidate, hash);
    buf_printf(out,
               ", \"schema\": %d, \"program\": \"acraft " ACRAFT_VERSION
               "\", \"config\": \"%s\", \"seed\": \"%llu\"",
               VERDICT_SCHEMA, judged->config, (unsigned long long)judged->seed);
    buf_printf(out, ", \"status\": \"%s\", \"reason\": ", verdict_status_row(judged->status)->text);
    buf_json_str(out, str_from(judged->reason));
    buf_printf(out, ", \"compiled\": %d, \"correct\": %d, \"hazard_free\": %d", r.compiled,
               r.correct, r.hazard_free);
    put_number(out, "speed", r.speed);
    put_number(out, "reward", r.reward);
    put_number(out, "predicted_us", judged->predicted_us);
    put_number(out, "bound_us", judged->bound_us);
    buf_printf(out, ", \"form\": \"%s\", \"source\": \"%s\"",
               judged->candidate.texts.len ? eval_form_text(judged->candidate.form) : "", hash);
    put_message(judged, out);
    if (lines && !lines->brief)
        put_verdicts(judged, out);
    put_number(out, "seconds", seconds);
    buf_puts(out, "}");
}

/* ---- reading ---- */

static const BenchTask *task_named(const JudgeLines *lines, Str name)
{
    for (uint32_t i = 0; lines->tasks && i < lines->tasks->len; i++)
        if (str_is(name, lines->tasks->at[i].name))
            return &lines->tasks->at[i];
    return NULL;
}

/* NULL, or why there is no task. */
static const char *find_task(Arena *arena, const JudgeLines *lines, json_t *request,
                             JudgeTask *task)
{
    json_t *name = json_object_get(request, "task"), *model = json_object_get(request, "model");
    bool row = json_object_get(request, "messages"); /* there `model` is who wrote the answer */
    if (json_is_string(model) && !row) {
        task->path = "model.py";
        task->category = "";
        task->name = json_is_string(name) ? json_string_value(name) : "model";
        task->source = (Str){json_string_value(model), json_string_length(model)};
        return NULL;
    }
    if (!json_is_string(name))
        return "the line has no \"task\" and no \"model\"";
    const BenchTask *known = task_named(lines, str_from(json_string_value(name)));
    if (!known && lines->names_only)
        return "no task of the suite has this name";
    Diag diag = diag_make(arena, "", STR(""));
    task->path = known ? known->path : json_string_value(name);
    task->name = known ? known->name : str_dup(arena, path_stem(task->path));
    task->category = known ? known->category : "";
    if (file_read(arena, task->path, 16 << 20, &task->source, &diag))
        return NULL;
    return str_format(arena, "no task of the suite and no model file: %s", diag.items.at[0].text);
}

/* The answer: itself, or what an exported row has the assistant say last. */
static json_t *answer_of(json_t *request)
{
    json_t *answer = json_object_get(request, "answer");
    json_t *messages = json_object_get(request, "messages");
    size_t count = json_array_size(messages);
    json_t *last = count ? json_array_get(messages, count - 1) : NULL;
    const char *role = json_string_value(json_object_get(last, "role"));
    return !answer && role && !strcmp(role, "assistant") ? json_object_get(last, "content")
                                                         : answer;
}

static const char *judge_request(Arena *arena, const JudgeLines *lines, json_t *request,
                                 Judged *judged)
{
    JudgeTask task;
    JudgeSpec spec = lines->spec;
    json_t *answer = answer_of(request), *form = json_object_get(request, "form");
    const char *wrong = json_is_object(request) ? find_task(arena, lines, request, &task)
                                                : "the line is no JSON object";
    if (!wrong && !json_is_string(answer))
        wrong = "the line has no \"answer\" and no \"messages\" that end with one";
    if (!wrong && json_is_string(form) &&
        !eval_form_from_text(str_from(json_string_value(form)), &spec.form))
        wrong = "no form has this name";
    if (!wrong)
        judge_answer(arena, &spec, &task,
                     (Str){json_string_value(answer), json_string_length(answer)}, judged);
    return wrong;
}

void judge_line(void *lines, Str request, Buf *reply)
{
    double start = pool_clock();
    Arena arena = {0};
    Judged judged;
    json_error_t error;
    request = json_mend(&arena, request);
    json_t *root = json_loadb(request.at, request.len, JSON_ALLOW_NUL, &error);
    const char *wrong = judge_request(&arena, lines, root, &judged);
    if (wrong)
        judge_nothing(&judged, "answer", VERDICT_BAD_REQUEST, wrong);
    if (wrong) {
        judged.config = judge_config(&arena, &((const JudgeLines *)lines)->spec);
        judged.seed = ((const JudgeLines *)lines)->spec.seed;
    }
    put_id(root, reply);
    put_judged(&judged, lines, pool_clock() - start, reply);
    json_decref(root);
    arena_drop(&arena);
}

void judge_line_failed(Str request, VerdictStatus status, const char *reason, Buf *reply)
{
    Arena arena = {0};
    Judged judged;
    json_error_t error;
    request = json_mend(&arena, request);
    json_t *root = json_loadb(request.at, request.len, JSON_ALLOW_NUL, &error);
    judge_nothing(&judged, "answer", status, reason);
    put_id(root, reply);
    put_judged(&judged, NULL, (double)NAN, reply);
    json_decref(root);
    arena_drop(&arena);
}
