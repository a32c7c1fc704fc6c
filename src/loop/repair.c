/* Conversations with a generator until a candidate passes. */
#include "loop/repair.h"

#include "loop/feedback.h"

const char *repair_end_text(RepairEnd end)
{
    static const char *const texts[] = {"ok", "no turn left", "the same program again",
                                        "no answer"};
    return texts[end];
}

typedef struct Talk {
    const RepairJob *job;
    uint32_t index;
    ChatMessages messages;
    RepairResult *result;
    bool open;
} Talk;

/* ---- one turn ---- */

static bool texts_equal(const EvalCandidate *a, const EvalCandidate *b)
{
    if (a->texts.len != b->texts.len)
        return false;
    for (uint32_t i = 0; i < a->texts.len; i++)
        if (!str_equal(a->texts.at[i].text, b->texts.at[i].text))
            return false;
    return true;
}

static bool repeats(const RepairResult *r, const RepairTurn *turn)
{
    for (uint32_t i = 0; i < r->turns.len; i++)
        if (r->turns.at[i].has_candidate &&
            texts_equal(&r->turns.at[i].candidate, &turn->candidate))
            return true;
    return false;
}

static void judge_turn(Arena *arena, const RepairSpec *spec, const Talk *talk, RepairTurn *turn)
{
    const ChatChoice *choice = &turn->reply.choices.at[0];
    const char *reason = "";
    Diag diag = diag_make(arena, "answer", (Str){0});
    turn->has_candidate = eval_candidate_extract(arena, choice->text, talk->job->form,
                                                 &turn->candidate, &reason, &turn->cut);
    turn->cut |= choice->end == CHAT_CUT;
    if (turn->has_candidate)
        spec->judge(spec->context, talk->index, &turn->candidate, arena, &turn->verdict, &diag);
    else
        verdict_fail(&turn->verdict, VERDICT_NO_ANSWER, STAGE_EXTRACT, reason);
    if (turn->verdict.status == VERDICT_OK)
        return;
    Feedback f = {&turn->verdict, &diag, turn->has_candidate ? &turn->candidate : NULL,
                  turn->cut && !turn->has_candidate};
    Buf text = {0}, json = {0};
    feedback_text(arena, &f, &text);
    feedback_json(arena, &f, &json);
    turn->said = str_copy(arena, buf_view(&text));
    turn->said_json = str_copy(arena, buf_view(&json));
    buf_free(&text);
    buf_free(&json);
}

static void end_talk(Talk *talk, RepairEnd end)
{
    talk->result->end = end;
    talk->open = false;
}

static void take_reply(Arena *arena, const RepairSpec *spec, Talk *talk, const ChatReply *reply)
{
    RepairResult *r = talk->result;
    RepairTurn turn = {.reply = *reply, .verdict = verdict_make()};
    bool answered = !reply->error[0] && reply->choices.len;
    if (answered)
        judge_turn(arena, spec, talk, &turn);
    else
        verdict_fail(&turn.verdict, reply->ours ? VERDICT_INTERNAL : VERDICT_NO_ANSWER,
                     STAGE_EXTRACT, reply->error);
    bool again = turn.has_candidate && repeats(r, &turn);
    vec_push(arena, &r->turns, turn);
    if (spec->turned)
        spec->turned(spec->context, talk->index, talk->job, r->turns.len - 1, &talk->messages,
                     &turn);
    if (!answered)
        end_talk(talk, REPAIR_FAILED);
    else if (turn.verdict.status == VERDICT_OK)
        end_talk(talk, REPAIR_OK);
    else if (again)
        end_talk(talk, REPAIR_REPEATED);
    else if (r->turns.len > spec->turns)
        end_talk(talk, REPAIR_TURNS);
    if (!talk->open)
        return;
    vec_push(arena, &talk->messages, ((ChatMessage){CHAT_ASSISTANT, reply->choices.at[0].text}));
    vec_push(arena, &talk->messages, ((ChatMessage){CHAT_USER, turn.said}));
}

/* ---- all of them ---- */

static ChatAsk ask_of(const Talk *talk)
{
    const RepairResult *r = talk->result;
    return (ChatAsk){.messages = talk->messages,
                     .task = talk->job->task,
                     .sample = talk->job->sample,
                     .turn = r->turns.len,
                     .task_text = talk->job->task_text,
                     .diagnostics = r->turns.len ? vec_last(&r->turns).said_json : (Str){0}};
}

static bool round_of(Arena *arena, const RepairSpec *spec, Talk *talks, uint32_t count, Diag *diag)
{
    ChatAsk *asks = arena_array(arena, ChatAsk, count);
    ChatReply *replies = arena_array(arena, ChatReply, count);
    uint32_t open = 0, taken = 0;
    for (uint32_t i = 0; i < count; i++)
        if (talks[i].open)
            asks[open++] = ask_of(&talks[i]);
    const Generator *g = spec->generator;
    bool ok = g->ask(g->self, arena, asks, open, replies, diag);
    for (uint32_t i = 0; i < open; i++)
        if (!replies[i].error)
            replies[i].error = "the generator gave up";
    for (uint32_t i = 0; i < count; i++)
        if (talks[i].open)
            take_reply(arena, spec, &talks[i], &replies[taken++]);
    return ok;
}

/* ok before fragile or wrong before everything that never ran. */
static int rank(const RepairTurn *turn)
{
    const Verdict *v = &turn->verdict;
    if (!turn->has_candidate)
        return -1;
    return v->status == VERDICT_OK ? 3 : v->stage >= STAGE_RUN ? 2 : v->compiled == VERDICT_YES;
}

static int best_turn(const RepairResult *r)
{
    int best = -1;
    for (uint32_t i = 0; i < r->turns.len; i++)
        if (rank(&r->turns.at[i]) >= 0 &&
            (best < 0 || rank(&r->turns.at[i]) > rank(&r->turns.at[best])))
            best = (int)i;
    return best;
}

static bool any_open(const Talk *talks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (talks[i].open)
            return true;
    return false;
}

bool repair_run(Arena *arena, const RepairSpec *spec, const RepairJob *jobs, uint32_t count,
                RepairResult *results, Diag *diag)
{
    Talk *talks = arena_array(arena, Talk, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        results[i] = (RepairResult){.end = REPAIR_FAILED, .best = -1};
        talks[i] = (Talk){.job = &jobs[i], .index = i, .result = &results[i], .open = true};
        for (uint32_t m = 0; m < jobs[i].prompt.len; m++)
            vec_push(arena, &talks[i].messages, jobs[i].prompt.at[m]);
    }
    bool ok = true;
    while (ok && any_open(talks, count))
        ok = round_of(arena, spec, talks, count, diag);
    for (uint32_t i = 0; i < count; i++)
        results[i].best = best_turn(&results[i]);
    return ok;
}
