/* An item whose answers a model writes: one conversation, every turn judged on all cases. */
#include "loop/bench_model.h"

#include "loop/bench_wire.h"
#include "loop/repair.h"

typedef struct Talker {
    const BenchSpec *spec;
    const JudgeTask *task;
    Judged *now; /* of the current turn */
    Buf *reply;
    uint32_t turns;
} Talker;

static void judge_turn(void *context, uint32_t index, const EvalCandidate *candidate, Arena *arena,
                       Verdict *verdict, Diag *diag)
{
    Talker *t = context;
    (void)index;
    judge_candidate(arena, &t->spec->judge, t->task, candidate, t->now);
    if (t->now->status == VERDICT_OK)
        return;
    *verdict = t->now->worst;
    if (t->now->said.arena)
        *diag = t->now->said;
}

/* ---- turns as JSON ---- */

/* What the model thought aside stands before its answer, as models that think in line write it. */
static void answer_json(const ChatReply *r, Buf *out)
{
    Buf text = {0};
    if (r->choices.len && r->choices.at[0].reasoning.len)
        buf_printf(&text, "<think>\n%.*s\n</think>\n\n", STR_ARG(r->choices.at[0].reasoning));
    if (r->choices.len)
        buf_str(&text, r->choices.at[0].text);
    buf_json_str(out, buf_view(&text));
    buf_free(&text);
}

static void dialogue_json(const ChatMessages *messages, const RepairTurn *turn, Buf *out)
{
    const ChatReply *r = &turn->reply;
    Buf prompt = {0};
    chat_messages_json(messages, &prompt);
    buf_puts(out, ", \"dialogue\": {\"prompt\": ");
    buf_json_str(out, buf_view(&prompt));
    buf_free(&prompt);
    buf_puts(out, ", \"answer\": ");
    answer_json(r, out);
    buf_puts(out, ", \"said\": ");
    buf_json_str(out, turn->said);
    buf_puts(out, ", \"model\": ");
    buf_json_str(out, str_from(r->model));
    buf_printf(out, ", \"tokens_in\": %lld, \"tokens_out\": %lld, \"seconds\": %.3f}}",
               (long long)r->usage.prompt, (long long)r->usage.completion, r->seconds);
}

static void add_turn(void *context, uint32_t index, const RepairJob *job, uint32_t turn,
                     const ChatMessages *messages, const RepairTurn *of)
{
    Talker *t = context;
    (void)index, (void)job, (void)turn;
    if (!of->has_candidate)
        judge_nothing(t->now, t->task->name, of->verdict.status, of->verdict.reason);
    buf_puts(t->reply, t->turns++ ? ", " : "[");
    wire_judged(t->now, t->reply);
    t->reply->len--; /* the brace: the object goes on */
    dialogue_json(messages, of, t->reply);
}

/* ---- the conversation ---- */

/* The judged case with the most elements: a case of one element says little about a task. */
static uint32_t largest_case(Arena *arena, const TorchCases *cases, const JudgeSpec *judge,
                             const JudgeTask *task, TorchOptions options)
{
    uint32_t best = 0;
    double most = -1;
    options.no_data = true;
    for (uint32_t i = 0; i < cases->lines.len && i < judge->listed; i++) {
        Diag quiet = diag_make(arena, task->path, task->source);
        options.case_index = i;
        TorchTask *read = torch_read_scaled(arena, task->path, task->source, &options, SCALE_FULL,
                                            &quiet);
        double bytes = read ? graph_cost(read->graph).bytes : -1;
        if (bytes > most) {
            most = bytes;
            best = i;
        }
    }
    return best;
}

bool bench_model_prompt(Arena *arena, const BenchModel *m, const JudgeSpec *judge,
                        const char *category, const JudgeTask *task, Prompt *prompt, Diag *diag)
{
    TorchCases cases = {0};
    if (!torch_cases(arena, task->path, &cases, diag))
        return false;
    TorchOptions options = {.seed = judge->seed, .cases = &cases};
    /* A kernel with its sizes written in is judged at the small ones. */
    TorchScale scale = m->strategy == PROMPT_ASCENDC ? SCALE_SMALL : SCALE_FULL;
    if (m->strategy == PROMPT_ROWS)
        options.case_index = largest_case(arena, &cases, judge, task, options);
    TorchTask *read = torch_read_scaled(arena, task->path, task->source, &options, scale, diag);
    if (!read)
        return false;
    PromptSpec p = {.strategy = m->strategy,
                    .home = m->home,
                    .clone = m->clone,
                    .task = task->name,
                    .category = category,
                    .task_text = task->source,
                    .graph = read->graph,
                    .chip = judge->chip};
    return prompt_make(arena, &p, prompt, diag);
}

void bench_model(Arena *arena, const BenchSpec *spec, const BenchTask *of, const JudgeTask *task,
                 uint32_t sample, Buf *reply)
{
    Judged judged;
    Talker talker = {spec, task, &judged, reply, 0};
    Diag diag = diag_make(arena, task->path, task->source);
    Prompt prompt = {0};
    RepairSpec repair = {.generator = spec->model->generator,
                         .turns = spec->model->turns,
                         .judge = judge_turn,
                         .turned = add_turn,
                         .context = &talker};
    if (bench_model_prompt(arena, spec->model, &spec->judge, of->category, task, &prompt, &diag)) {
        RepairJob job = {task->name, task->source, prompt.messages, FORM_ANY, sample};
        RepairResult result;
        eval_form_from_text(str_from(prompt.form), &job.form);
        repair_run(arena, &repair, &job, 1, &result, &diag);
    }
    if (!talker.turns) {
        judge_nothing(&judged, task->name, VERDICT_UNSCORED,
                      diag.items.len ? diag.items.at[0].text : "no prompt could be made");
        buf_puts(reply, "[");
        wire_judged(&judged, reply);
    }
    buf_puts(reply, "]");
}
