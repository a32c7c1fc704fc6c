/* Tasks and samples without an answer. In: the suite and the answers that were found. Out: an attempt
 * `no-answer` for each that is missing, so that who answers only what is easy gains nothing. They are made
 * anew every time: an answer that comes later takes its place. */
#include "loop/bench_int.h"

bool bench_missing_drop(Bench *b, Diag *diag)
{
    for (uint32_t t = 0; t < b->spec->suite->tasks.len; t++)
        if (b->task_ids[t] &&
            !store_attempts_drop(b->store, b->run, b->task_ids[t], MISSING_ORIGIN, diag))
            return false;
    return true;
}

/* Answers to each task of the suite. */
static uint32_t *count_answers(Bench *b, uint32_t *most, bool *by_case)
{
    const BenchAnswers *answers = b->spec->answers;
    uint32_t *have = arena_array(&b->arena, uint32_t, b->spec->suite->tasks.len + 1);
    *most = 0;
    *by_case = false;
    for (uint32_t i = 0; i < answers->at.len; i++) {
        uint32_t n = ++have[answers->at.at[i].task];
        *most = n > *most ? n : *most;
        *by_case |= answers->at.at[i].kase >= 0;
    }
    return have;
}

static uint32_t next_sample(const Bench *b, uint32_t task)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < b->spec->answers->at.len; i++) {
        const BenchAnswer *a = &b->spec->answers->at.at[i];
        if (a->task == task && a->sample >= next)
            next = a->sample + 1;
    }
    return next;
}

static bool put_missing(Bench *b, uint32_t task, uint32_t sample, Diag *diag)
{
    BenchItem item = {.task = task, .sample = sample};
    StoreAttempt a = bench_empty_attempt(b, &item);
    a.status = VERDICT_NO_ANSWER;
    a.compiled = VERDICT_NO;
    a.reason = "there is no answer to this task";
    a.provenance = MISSING_ORIGIN;
    b->done->missing++;
    return store_attempt_add(b->store, &a, diag);
}

/* Answers written for one case each differ in number as the cases do: there only tasks without any are
 * missing. */
bool bench_missing_put(Bench *b, Diag *diag)
{
    uint32_t most;
    bool by_case;
    uint32_t *have = count_answers(b, &most, &by_case);
    for (uint32_t t = 0; t < b->spec->suite->tasks.len; t++) {
        uint32_t want = by_case ? !have[t] : most - have[t], from = next_sample(b, t);
        for (uint32_t i = 0; i < want; i++)
            if (!put_missing(b, t, from + i, diag))
                return false;
    }
    return true;
}
