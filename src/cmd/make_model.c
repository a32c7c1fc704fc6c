/* acraft make with a model at the wheel. */
#include "cmd/make.h"

#include "gen/prompt/category.h"
#include "loop/make_model.h"
#include <stdio.h>

static void show_turn(void *context, uint32_t sample, uint32_t turn, const RepairTurn *of)
{
    const bool *json = context;
    if (*json) {
        Buf line = {0};
        verdict_to_json(&of->verdict, &line);
        puts(line.at);
        buf_free(&line);
        return;
    }
    fprintf(stderr, "  sample %u, turn %u: %s%s%.160s\n", sample, turn,
            verdict_status_row(of->verdict.status)->text, of->verdict.reason[0] ? ": " : "",
            of->verdict.reason);
}

static void put_summary(const MakeModelSpec *spec, const MakeModelResult *r, Buf *out)
{
    const Judged *j = &r->judged;
    uint64_t proved = 0, watched = 0;
    for (uint32_t i = 0; i < j->cases.len; i++) {
        const Verdict *v = &j->cases.at[i].verdict;
        proved = v->proved > proved ? v->proved : proved;
        watched = v->watched > watched ? v->watched : watched;
    }
    buf_printf(out, "%s: written by %s, sample %u, turn %u\n", spec->task.name,
               spec->model->generator->name, r->sample, r->turn);
    if (proved || watched) /* of a Craft program */
        buf_printf(
            out,
            "  proved    %llu obligations over all shapes in range; %llu checked while it runs\n",
            (unsigned long long)proved, (unsigned long long)watched);
    buf_printf(out, "  checked   %u cases ok on the twin\n", j->cases.len);
    if (j->predicted_us > 0)
        buf_printf(out, "  predicted %.1f us at full size; the bound is %.1f us\n", j->predicted_us,
                   j->bound_us);
    buf_puts(out, "  measured  nothing: no board has run this kernel\n");
}

static bool write_result(Arena *arena, const MakeModelSpec *spec, const MakeModelResult *r,
                         Str summary, const char *dir, Diag *diag)
{
    MakeVerdicts verdicts = {0};
    const EvalCandidate *c = &r->judged.candidate;
    for (uint32_t i = 0; i < r->judged.cases.len; i++)
        vec_push(arena, &verdicts, &r->judged.cases.at[i].verdict);
    MakeFiles files = {.name = spec->task.name,
                       .task = spec->task.path,
                       .summary = summary,
                       .verdicts = verdicts,
                       .chip = spec->judge.chip};
    if (c->form != FORM_CRAFT)
        return make_write_texts(arena, &files, c, dir, diag);
    files.craft = c->texts.at[0].text;
    return make_write(arena, &files, dir, diag);
}

static int make(CmdArgs *args, const MakeAsk *ask, MakeModelSpec *spec, Diag *diag)
{
    Arena *arena = &args->arena;
    TorchTask *task;
    MakeModelResult result;
    if (!file_read(arena, spec->task.path, 0, &spec->task.source, diag))
        return cmd_say(diag, CMD_USAGE);
    *diag = diag_make(arena, spec->task.path, spec->task.source);
    TorchCases cases = {0};
    torch_cases(arena, spec->task.path, &cases, diag);
    TorchOptions options = {.seed = spec->judge.seed, .cases = &cases};
    task = torch_read_scaled(arena, spec->task.path, spec->task.source, &options, SCALE_SMALL,
                             diag);
    if (!task)
        return cmd_say(diag, CMD_USAGE);
    spec->task.name = task->name;
    spec->category = category_of_task(arena, spec->model->home, spec->task.path, spec->task.source);
    if (!make_model(arena, spec, &result, diag))
        return cmd_say(diag, result.prompt.messages.len ? CMD_NO : CMD_LACKS);
    Buf summary = {0};
    put_summary(spec, &result, &summary);
    bool ok = !ask->dir || write_result(arena, spec, &result, buf_view(&summary), ask->dir, diag);
    if (ok && !args->json) {
        fputs(summary.at, stdout);
        if (ask->dir)
            printf("  written   %s: the kernel, report.html, verdicts.jsonl\n", ask->dir);
    }
    buf_free(&summary);
    return ok ? CMD_OK : cmd_say(diag, CMD_LACKS);
}

int make_by_model(CmdArgs *args, const MakeAsk *ask)
{
    Arena *arena = &args->arena;
    Diag diag = diag_make(arena, args->words[0], (Str){0});
    Generator generator;
    Client *client = NULL;
    BenchModel model = {.generator = &generator,
                        .home = cmd_home(arena),
                        .clone = ask->gen.clone,
                        .turns = gen_turns(&ask->gen),
                        .settings = ""};
    MakeModelSpec spec = {.model = &model,
                          .task = {.path = args->words[0]},
                          .samples = (uint32_t)ask->samples,
                          .turned = show_turn,
                          .context = &args->json};
    spec.judge = (JudgeSpec){.chip = npu_chip_find(str_from(args->chip)),
                             .seed = (uint64_t)args->seed,
                             .fuzz = (uint32_t)ask->fuzz,
                             .listed = 8,
                             .time = true,
                             .trust = ask->trust,
                             .no_proofs = ask->gen.no_checker,
                             .baseline_name = ""};
    if (!spec.judge.chip || !gen_strategy(&ask->gen, &model.strategy))
        return CMD_USAGE;
    if (!gen_open(arena, &ask->gen, args->chip, &generator, &client, &diag))
        return cmd_say(&diag, CMD_USAGE);
    if (model.strategy == PROMPT_ASCENDC) {
        spec.judge.fuzz = spec.judge.listed = 0;
        spec.judge.time = false;
    }
    int status = make(args, ask, &spec, &diag);
    gen_print_totals(client);
    client_close(client);
    return status;
}
