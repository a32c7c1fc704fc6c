/* acraft make: plans a kernel for a model file, judges it, writes the operator project. */
#include "cmd/cmd.h"

#include "cmd/make.h"
#include "loop/make.h"
#include <stdio.h>
#include <unistd.h>

typedef struct MakeOutput {
    bool json, bar;
} MakeOutput;

static void show_progress(void *context, const Verdict *v, uint32_t done, uint32_t all)
{
    const MakeOutput *out = context;
    if (out->json) {
        Buf line = {0};
        verdict_to_json(v, &line);
        puts(line.at);
        buf_free(&line);
    } else if (out->bar) {
        fprintf(stderr, "\r  judging %u of %u %-20s", done, all, v->kase);
        if (done == all)
            fprintf(stderr, "\r%60s\r", "");
    }
}

/* The same task, chip and seed write the same bytes: how long we took is left out. */
static bool write_project(Arena *arena, const MakeResult *r, const NpuChip *chip, const char *dir,
                          Diag *diag)
{
    MakeVerdicts verdicts = {0};
    Verdict *copies = arena_array(arena, Verdict, r->verdicts.len + 1);
    for (uint32_t i = 0; i < r->verdicts.len; i++) {
        copies[i] = r->verdicts.at[i];
        copies[i].seconds = 0;
        vec_push(arena, &verdicts, &copies[i]);
    }
    return make_write(arena, r->plan.name, r->plan.craft, &verdicts, chip, dir, diag);
}

static void print_prediction(const MakeResult *r)
{
    const Verdict *v = &r->verdicts.at[r->verdicts.len - 1];
    if (v->status != VERDICT_OK || !(v->predicted_us > 0)) {
        printf("  predicted nothing\n");
        return;
    }
    const VerdictPipe *busiest = NULL;
    for (uint32_t i = 0; i < v->pipes.len; i++)
        if (!busiest || v->pipes.at[i].share > busiest->share)
            busiest = &v->pipes.at[i];
    printf("  predicted %.1f us at the %s size, launch included; the bound is %.1f us",
           v->predicted_us, v->kase, v->bound_us);
    if (busiest)
        printf("; %s is busy %.0f %%", busiest->name, busiest->share * 100);
    printf("\n            (error of the model: docs/cycle-model.md)\n");
}

/* The curve: what each choice would take. */
static void print_tuning(const MakeResult *r)
{
    Arena arena = {0};
    for (uint32_t i = 0; i < r->tuned.rows.len && r->tuned.rows.len > 1; i++) {
        const TuneRow *row = &r->tuned.rows.at[i];
        const char *mark = i == r->tuned.best ? "  taken" : "";
        printf("  %-9s %-24s", i ? "" : "tuned", tune_text(&arena, row));
        if (row->us >= 0)
            printf(" %9.1f us%s\n", row->us, mark);
        else
            printf(" %s\n", row->why ? row->why : "does not run");
    }
    arena_drop(&arena);
}

static void print_summary(const MakeResult *r, const char *dir, bool interp)
{
    uint64_t proved = 0, watched = 0;
    double worst = 0;
    for (uint32_t i = 0; i < r->verdicts.len; i++) {
        const Verdict *v = &r->verdicts.at[i];
        proved = v->proved > proved ? v->proved : proved;
        watched = v->watched > watched ? v->watched : watched;
        worst = v->max_abs_err > worst ? v->max_abs_err : worst;
    }
    printf("%s: strategy %s", r->task->name, r->plan.strategy);
    if (r->plan.tile)
        printf(", tile %lld", (long long)r->plan.tile);
    putchar('\n');
    printf("  proved    %llu obligations over all shapes in range; %llu watched\n",
           (unsigned long long)proved, (unsigned long long)watched);
    printf("  checked   %u of %u cases ok on the %s (small and odd sizes), largest error %.3g\n",
           r->ok, r->verdicts.len, interp ? "reference interpreter" : "twin", worst);
    if (r->other_plans)
        printf("            %u of them have a size of 1 and use a program of their own\n",
               r->other_plans);
    if (r->small_tiles)
        printf("            %u of them with tiny tiles, so that every loop turns at odd sizes\n",
               r->small_tiles);
    print_prediction(r);
    print_tuning(r);
    printf("  measured  nothing: no board has run this kernel\n");
    if (dir)
        printf("  written   %s\n", dir);
    for (uint32_t i = 0; i < r->verdicts.len; i++) {
        const Verdict *v = &r->verdicts.at[i];
        if (v->status != VERDICT_OK)
            printf("  %-8s %s: %s\n", v->kase, verdict_status_row(v->status)->text, v->reason);
    }
}

static int report(const Diag *diag, int status)
{
    Buf out = {0};
    diag_print(diag, &out);
    if (out.len)
        fputs(out.at, stderr);
    buf_free(&out);
    return status;
}

static int make(CmdArgs *args, const char *dir, int64_t fuzz, bool trust, bool interp,
                bool plan_only, const char *listed)
{
    Arena *arena = &args->arena;
    Diag diag = diag_make(arena, args->words[0], STR(""));
    MakeOutput output = {args->json, isatty(2)};
    MakeSpec spec = {.path = args->words[0],
                     .chip = npu_chip_find(str_from(args->chip)),
                     .seed = (uint64_t)args->seed,
                     .fuzz = (uint32_t)fuzz,
                     .trust = trust,
                     .engine = interp ? EVAL_INTERP : EVAL_TWIN,
                     .medium = !interp,
                     .plan_only = plan_only,
                     .listed = listed != NULL,
                     .tiny = listed && str_is(str_from(listed), "tiny"),
                     .progress = show_progress,
                     .context = &output};
    MakeResult result;
    if (!spec.chip) {
        fprintf(stderr, "acraft: no chip is called '%s'\n", args->chip);
        return CMD_USAGE;
    }
    if (!file_read(arena, spec.path, 0, &spec.source, &diag))
        return report(&diag, CMD_USAGE);
    diag = diag_make(arena, spec.path, spec.source);
    bool ok = make_kernel(arena, &spec, &result, &diag);
    if (!result.plan.craft.len)
        return report(&diag, result.task ? CMD_LACKS : CMD_USAGE);
    if (plan_only) {
        fputs(result.plan.craft.at, stdout);
        return CMD_OK;
    }
    if (ok && dir && !write_project(arena, &result, spec.chip, dir, &diag))
        return report(&diag, CMD_LACKS);
    if (!args->json)
        print_summary(&result, ok ? dir : NULL, interp);
    return ok ? CMD_OK : report(&diag, CMD_NO);
}

int cmd_make(int argc, char **argv)
{
    const char *dir = NULL;
    int64_t fuzz = 8;
    bool trust = false, interp = false, plan_only = false, or_plan = false;
    const char *listed = NULL;
    int64_t samples = 1;
    GenOptions gen = gen_options();
    const CmdOption options[] = {
        {"o", CMD_TEXT, &dir, "DIR", "write the operator project there"},
        {"fuzz", CMD_I64, &fuzz, "N", "odd-sized cases to judge (default 8)"},
        {"trust", CMD_FLAG, &trust, NULL, "go on where the machine gives no full sandbox"},
        {"interp", CMD_FLAG, &interp, NULL, "judge on the reference interpreter, not the twin"},
        {"listed", CMD_TEXT, &listed, "SIZE",
         "judge all cases beside the file: own sizes, or tiny"},
        {"plan", CMD_FLAG, &plan_only, NULL, "only print the planned Craft program"},
        {"n", CMD_I64, &samples, "N", "with a model: conversations, the best one is taken (1)"},
        {"or-plan", CMD_FLAG, &or_plan, NULL, "with a model: plan it when no answer passes"},
        GEN_OPTIONS(gen),
    };
    CmdUsage usage = {
        "make",
        "MODEL.py [-o DIR]",
        "Plans a kernel for the task (or has a model write it: --gen), checks it, runs it on the "
        "twin\nat small and odd sizes, and writes the operator project.",
        "acraft make tasks/activation/softmax.py -o softmax",
        options,
        sizeof options / sizeof *options,
        1,
        1};
    CmdArgs args = {0};
    int status = CMD_OK;
    if (cmd_read(&usage, argc, argv, &args, &status)) {
        if (fuzz < 0 || fuzz > 10000) {
            fprintf(stderr, "acraft: --fuzz takes 0 to 10000\n");
            status = CMD_USAGE;
        } else if (samples < 1 || samples > 1000) {
            fprintf(stderr, "acraft: -n takes 1 to 1000\n");
            status = CMD_USAGE;
        } else if (gen_is_plan(&gen)) {
            status = make(&args, dir, fuzz, trust, interp, plan_only, listed);
        } else {
            status = make_by_model(&args, &(MakeAsk){gen, dir, fuzz, samples, trust});
            if (or_plan && (status == CMD_NO || status == CMD_LACKS))
                status = make(&args, dir, fuzz, trust, interp, plan_only, listed);
        }
    }
    cmd_done(&args);
    return status;
}
