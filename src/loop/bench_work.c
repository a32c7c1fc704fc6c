/* What a worker does with an item. In: its number. Out: what was judged, as JSON. */
#include "loop/bench_int.h"
#include "loop/bench_model.h"
#include "loop/bench_platform.h"
#include "loop/bench_wire.h"

static bool judge_file(Arena *arena, const JudgeSpec *spec, const JudgeTask *task, const char *path,
                       Judged *judged)
{
    EvalCandidate candidate = {0};
    Diag said = diag_make(arena, path, STR(""));
    if (eval_candidate_read(arena, path, &candidate, &said))
        return judge_candidate(arena, spec, task, &candidate, judged);
    judge_nothing(judged, path, VERDICT_NO_ANSWER,
                  said.items.len ? said.items.at[0].text : "there is no candidate");
    return false;
}

static void judge_on_platform(Arena *arena, const BenchSpec *spec, const JudgeTask *task,
                              Judged *judged)
{
    PlatformOp op = {.platform = spec->platform,
                     .path = task->path,
                     .model = task->source,
                     .options = {.seed = spec->judge.seed},
                     .scale = spec->scale};
    Diag said = diag_make(arena, task->path, task->source);
    bool unread;
    if (platform_op_write(arena, &op, &unread, &said))
        judge_platform(arena, &spec->judge, &op, judged);
    else
        judge_nothing(judged, task->name, unread ? VERDICT_UNSCORED : VERDICT_UNSUPPORTED,
                      said.items.len ? said.items.at[0].text : "it was not planned");
}

static void judge_item(Arena *arena, const Bench *b, const BenchItem *item, const JudgeTask *task,
                       Judged *judged)
{
    JudgeSpec spec = b->spec->judge;
    spec.cache = b->cache;
    if (item->answer && item->answer->kase >= 0)
        spec.only = item->answer->kase + 1;
    if (b->spec->platform)
        judge_on_platform(arena, b->spec, task, judged);
    else if (!item->answer)
        judge_plan(arena, &spec, task, judged);
    else if (item->answer->unreadable)
        judge_nothing(judged, "answer", VERDICT_NO_ANSWER, item->answer->unreadable);
    else if (item->answer->whole)
        judge_file(arena, &spec, task, item->answer->path, judged);
    else
        judge_answer(arena, &spec, task, item->answer->text, judged);
}

void bench_work(void *bench, Str request, Buf *reply)
{
    const Bench *b = bench;
    int64_t index = 0;
    str_to_i64(request, &index);
    const BenchItem *item = &b->items.at[index];
    const BenchTask *of = &b->spec->suite->tasks.at[item->task];
    Arena arena = {0};
    Judged judged;
    JudgeTask task = {.path = of->path, .name = of->name, .category = of->category};
    Diag diag = diag_make(&arena, of->path, STR(""));
    bool there = file_read(&arena, of->path, 16 << 20, &task.source, &diag);
    if (there && b->spec->model && !item->answer) {
        bench_model(&arena, b->spec, of, &task, item->sample, reply);
        arena_drop(&arena);
        return;
    }
    if (there)
        judge_item(&arena, b, item, &task, &judged);
    else
        judge_nothing(&judged, of->name, VERDICT_UNSCORED, diag.items.at[0].text);
    buf_puts(reply, "[");
    wire_judged(&judged, reply);
    buf_puts(reply, "]");
    arena_drop(&arena);
}
