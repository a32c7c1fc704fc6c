/* acraft diff: two versions of a kernel against one task. In: two candidates in any form, a model file. Out:
 * verdicts and predicted times beside each other, what each line cost before and after, findings that are gone
 * and that are new. */
#include "cmd/cmd.h"
#include "cmd/names.h"
#include "cmd/progress.h"
#include "cmd/diff.h"
#include "cmd/run.h"
#include "eval/interval.h"

#include <math.h>
#include <stdio.h>

enum { SHOWN_LINES = 12 };

typedef struct Versions {
    Arena *arena;
    const RunOptions *options;
    const char *path[2];
    EvalCandidate candidate[2];
    RunTask task;
    Verdict verdict[2];
    Buf costs[2];
    DiffLines lines;
    Diag diag;
} Versions;

static bool judge(Versions *v, int which)
{
    const RunOptions *o = v->options;
    EvalConfig config = {.chip = o->chip,
                         .trust = o->trust,
                         .strict = o->strict,
                         .seconds = o->seconds,
                         .blocks = o->blocks_given ? (uint32_t)o->blocks : 0,
                         .costs = &v->costs[which]};
    v->diag = diag_make(v->arena, v->path[which], (Str){0});
    if (!eval_candidate_read(v->arena, v->path[which], &v->candidate[which], &v->diag))
        return false;
    v->verdict[which] = verdict_make();
    v->verdict[which].candidate = v->path[which];
    v->verdict[which].task = v->task.task->name;
    v->verdict[which].kase = v->task.kase;
    v->diag = diag_make(v->arena, v->path[which], (Str){0});
    eval_candidate(v->arena, &v->candidate[which], &v->task.ref, &config, &v->verdict[which],
                   &v->diag);
    cmd_say(&v->diag, CMD_OK);
    return true;
}

/* --- findings ---------------------------------------------------------------------------------- */

typedef VEC(const VerdictFinding *) Findings;

/* Findings of version `which` that the other one has not. */
static Findings only_in(const Versions *v, int which)
{
    Findings found = {0};
    const Verdict *mine = &v->verdict[which];
    for (uint32_t i = 0; i < mine->hazards.len; i++)
        if (!diff_has_finding(v->candidate, !which, &v->verdict[!which], &mine->hazards.at[i]))
            vec_push(v->arena, &found, &mine->hazards.at[i]);
    return found;
}

static void show_findings(const Versions *v, Buf *out)
{
    static const char *const word[2] = {"gone", "new"};
    Findings alone[2] = {only_in(v, 0), only_in(v, 1)};
    buf_printf(out, "findings: %u gone, %u new, %u in both\n", alone[0].len, alone[1].len,
               v->verdict[1].hazards.len - alone[1].len);
    for (int which = 0; which < 2; which++)
        for (uint32_t i = 0; i < alone[which].len; i++) {
            const VerdictFinding *f = alone[which].at[i];
            buf_printf(out, "  %-4s %s %s:%u: %s\n", word[which], f->code, f->file, f->line,
                       f->message);
        }
}

/* --- text -------------------------------------------------------------------------------------- */

/* Whether their times differ by more than the model's error. */
static bool differ(const Versions *v)
{
    const Verdict *a = &v->verdict[0], *b = &v->verdict[1];
    return npu_is_faster(eval_time_class(a), b->predicted_us, a->predicted_us) ||
           npu_is_faster(eval_time_class(b), a->predicted_us, b->predicted_us);
}

static void show_version(const Versions *v, int which, Buf *out)
{
    const Verdict *verdict = &v->verdict[which];
    buf_printf(out, "%c: %s: %s", 'A' + which, v->path[which],
               verdict_status_row(verdict->status)->text);
    if (verdict->reason[0])
        buf_printf(out, " (%s)", verdict->reason);
    if (verdict->predicted_us > 0) {
        NpuInterval range = eval_interval(verdict);
        buf_printf(out, ", predicted %.2f us, %.2f to %.2f", verdict->predicted_us, range.low,
                   range.high);
    }
    double before = v->verdict[0].predicted_us, after = verdict->predicted_us;
    if (which == 1 && before > 0 && after > 0)
        buf_printf(out, ", %.2f times as fast%s", before / after,
                   differ(v) ? "" : " (within the model's error)");
    buf_char(out, '\n');
}

static void show_cost(Buf *out, const DiffSide *side)
{
    if (side->us > 0)
        buf_printf(out, "%9.3f", side->us);
    else
        buf_printf(out, "%9s", "-");
}

static void show_place(Arena *arena, Buf *out, char which, const DiffSide *side)
{
    buf_printf(out, " %-6s", side->line ? str_format(arena, "%c:%u", which, side->line) : "");
}

static void show_lines(const Versions *v, Buf *out)
{
    uint32_t changed = 0, shown = 0;
    for (uint32_t i = 0; i < v->lines.len; i++)
        changed += fabs(v->lines.at[i].side[1].us - v->lines.at[i].side[0].us) >= 0.0005;
    if (!v->lines.len)
        return;
    buf_printf(out,
               "lines, microseconds of pipes (mean of the cores), greatest change first; %u of "
               "%u changed\n",
               changed, v->lines.len);
    if (changed)
        buf_printf(out, "  %9s%9s%9s\n", "A", "B", "change");
    for (uint32_t i = 0; i < v->lines.len && shown < SHOWN_LINES && shown < changed; i++, shown++) {
        const DiffLine *line = &v->lines.at[i];
        buf_puts(out, "  ");
        show_cost(out, &line->side[0]);
        show_cost(out, &line->side[1]);
        buf_printf(out, "%+9.3f", line->side[1].us - line->side[0].us);
        show_place(v->arena, out, 'A', &line->side[0]);
        show_place(v->arena, out, 'B', &line->side[1]);
        buf_printf(out, " %.*s\n", STR_ARG(str_slice(line->text, 0, 72)));
    }
    if (changed > shown)
        buf_printf(out, "  %u more; --json has all\n", changed - shown);
}

/* --- JSON -------------------------------------------------------------------------------------- */

static void json_side(Buf *out, const char *key, const DiffSide *side)
{
    buf_printf(out, "\"%s\":", key);
    if (!side->line) {
        buf_puts(out, "null");
        return;
    }
    buf_puts(out, "{\"file\":");
    buf_json_str(out, str_from(side->file));
    buf_printf(out, ",\"line\":%u,\"us\":%.6g,\"instructions\":%llu,\"bytes\":%llu}", side->line,
               side->us, (unsigned long long)side->instructions, (unsigned long long)side->bytes);
}

static void json_findings(Buf *out, const char *key, const Findings *list)
{
    buf_printf(out, ",\"%s\":[", key);
    for (uint32_t i = 0; i < list->len; i++) {
        const VerdictFinding *f = list->at[i];
        buf_printf(out, "%s{\"code\":\"%s\",\"file\":", i ? "," : "", f->code);
        buf_json_str(out, str_from(f->file));
        buf_printf(out, ",\"line\":%u,\"message\":", f->line);
        buf_json_str(out, str_from(f->message));
        buf_char(out, '}');
    }
    buf_char(out, ']');
}

static void json_all(const Versions *v, Buf *out)
{
    Findings gone = only_in(v, 0), fresh = only_in(v, 1);
    double a = v->verdict[0].predicted_us, b = v->verdict[1].predicted_us;
    buf_puts(out, "{\"a\":");
    verdict_to_json(&v->verdict[0], out);
    buf_puts(out, ",\"b\":");
    verdict_to_json(&v->verdict[1], out);
    if (a > 0 && b > 0)
        buf_printf(out, ",\"speedup\":%.6g,\"within_error\":%s", a / b,
                   differ(v) ? "false" : "true");
    else
        buf_puts(out, ",\"speedup\":null,\"within_error\":null");
    json_findings(out, "gone", &gone);
    json_findings(out, "new", &fresh);
    buf_puts(out, ",\"lines\":[");
    for (uint32_t i = 0; i < v->lines.len; i++) {
        buf_puts(out, i ? ",{" : "{");
        json_side(out, "a", &v->lines.at[i].side[0]);
        buf_char(out, ',');
        json_side(out, "b", &v->lines.at[i].side[1]);
        buf_puts(out, ",\"text\":");
        buf_json_str(out, v->lines.at[i].text);
        buf_char(out, '}');
    }
    buf_puts(out, "]}\n");
}

static int show(Versions *v)
{
    Buf out = {0};
    if (v->options->json) {
        json_all(v, &out);
    } else {
        run_task_show_case(&v->task, v->options->scale, &out);
        show_version(v, 0, &out);
        show_version(v, 1, &out);
        show_findings(v, &out);
        show_lines(v, &out);
        buf_puts(&out, "checked on 1 shape; times are predicted, not measured on a device\n");
    }
    fwrite(out.at, 1, out.len, stdout);
    buf_free(&out);
    return verdict_status_row(v->verdict[1].status)->exit;
}

static int diff(Arena *arena, char **words, const RunOptions *options)
{
    Versions v = {.arena = arena, .options = options, .path = {words[0], words[1]}};
    int status = CMD_USAGE;
    if (!run_task_read(arena, options, &v.task, &v.diag) || !judge(&v, 0) || !judge(&v, 1)) {
        cmd_say(&v.diag, CMD_USAGE);
    } else {
        const Str costs[2] = {buf_view(&v.costs[0]), buf_view(&v.costs[1])};
        diff_lines(arena, v.candidate, costs, &v.lines);
        status = show(&v);
    }
    eval_reference_free(&v.task.ref);
    buf_free(&v.costs[0]);
    buf_free(&v.costs[1]);
    return status;
}

int cmd_diff(int argc, char **argv)
{
    RunOptions o = {.scale = "small"};
    const char *rule = "acraft";
    const CmdOption options[] = {
        {"task", CMD_TEXT, &o.task, "MODEL.py", "what both are to compute (required)"},
        {"scale", CMD_TEXT, &o.scale, "S",
         "sizes of the task: full, medium, small (default), fuzz"},
        {"case", CMD_I64, &o.kase, "N", "which case of the task (0)"},
        {"rule", CMD_TEXT, &rule, "R", "how values are compared: acraft, mkb, npukb, ..."},
        {"blocks", CMD_I64, &o.blocks, "N", "blocks to launch, of kernel files without host code"},
        {"seconds", CMD_F64, &o.seconds, "S", "time limit of a run (60)"},
        {"strict", CMD_FLAG, &o.strict, NULL, "count only synchronisation that is written"},
        {"trust", CMD_FLAG, &o.trust, NULL, "run even where the sandbox has holes"},
    };
    CmdUsage usage = {
        "diff",
        "A B --task MODEL.py",
        "Runs two versions of a kernel on one case of a task and shows them beside each other: "
        "verdicts,\npredicted time, what each source line costs (lines are paired by their text), "
        "findings gone and\nnew. Each version is a path as for `acraft run --task`. The exit "
        "status "
        "is that of B.",
        "acraft diff softmax.craft faster.craft --task tasks/activation/softmax.py",
        options,
        sizeof options / sizeof *options,
        2,
        2};
    CmdArgs args = {0};
    int status = CMD_OK;
    if (cmd_read(&usage, argc, argv, &args, &status)) {
        o.json = args.json;
        o.seed = (uint64_t)args.seed;
        o.chip = npu_chip_find(str_from(args.chip));
        o.blocks_given = o.blocks != 0;
        const char *wrong = !o.task                         ? "--task is missing"
                            : !o.chip || !o.chip->simulated ? "no such chip"
                            : o.blocks < 0                  ? "--blocks counts from 1"
                            : !compare_rule_from_name(str_from(rule), &o.rule)
                                ? str_format(&args.arena, "no rule is called '%s'; there are %s",
                                             rule, names_of_rules(&args.arena))
                                : NULL;
        if (wrong)
            fprintf(stderr, "acraft diff: %s\n", wrong);
        progress_begin("running both");
        status = wrong ? CMD_USAGE : diff(&args.arena, args.words, &o);
        progress_end();
    }
    cmd_done(&args);
    return status;
}
