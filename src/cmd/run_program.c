/* acraft run on a program with its own main. In: its text and the directory of its files. Out: what
 * it prints and writes, findings of its launches, the verdict. */
#include "cmd/cmd.h"
#include "cmd/run.h"

#include "eval/program.h"
#include <stdio.h>

typedef struct ProgramJob {
    Arena *arena;
    const char *path;
    const RunOptions *options;
    EvalProgram program;
    Verdict verdict;
    Buf trace, explain;
    Diag diag;
} ProgramJob;

bool run_is_program(Arena *arena, const char *path, const RunOptions *o, EvalCandidate *program)
{
    Diag unheard = diag_make(arena, path, (Str){0});
    bool launch_given = o->kernel || o->tiling || o->blocks_given || o->inputs.len ||
                        o->inouts.len || o->outputs.len;
    return !launch_given && (file_is_plain(path) || file_is_dir(path)) &&
           eval_program_read(arena, path, &o->defines, &o->include_dirs, program, &unheard) &&
           eval_is_program(program);
}

static void show_text(const ProgramJob *job, Buf *out)
{
    const EvalProgram *p = &job->program;
    const Verdict *v = &job->verdict;
    buf_str(out, p->by_kernels);
    buf_str(out, p->by_main);
    if (p->by_main.len && p->by_main.at[p->by_main.len - 1] != '\n')
        buf_char(out, '\n');
    for (uint32_t i = 0; i < p->written.len; i++)
        buf_printf(out, "wrote %s\n", p->written.at[i]);
    cmd_show_verdict(job->arena, job->path, v, out);
    if (v->predicted_us > 0)
        buf_printf(out, "%u launch%s; predicted %.1f us in all, not measured on a device\n",
                   p->launches, p->launches == 1 ? "" : "es", v->predicted_us);
    buf_str(out, buf_view(&job->explain));
}

static int show(ProgramJob *job)
{
    Buf out = {0};
    cmd_say(&job->diag, CMD_OK);
    if (job->options->json) {
        verdict_to_json(&job->verdict, &out);
        buf_char(&out, '\n');
    } else {
        show_text(job, &out);
    }
    cmd_print(&out);
    if (job->options->trace && job->trace.len &&
        !file_write(job->options->trace, buf_view(&job->trace), &job->diag))
        return cmd_say(&job->diag, CMD_USAGE);
    return verdict_status_row(job->verdict.status)->exit;
}

int run_program(Arena *arena, const char *path, const EvalCandidate *program,
                const RunOptions *options)
{
    ProgramJob job = {.arena = arena, .path = path, .options = options, .verdict = verdict_make()};
    EvalConfig config = {.chip = options->chip,
                         .seed = options->seed,
                         .trust = options->trust,
                         .strict = options->strict,
                         .seconds = options->seconds,
                         .trace = options->trace ? &job.trace : NULL,
                         .explain = options->explain ? &job.explain : NULL};
    job.diag = diag_make(arena, program->name, (Str){0});
    job.program.files = options->files;
    job.program.args = &options->args;
    eval_program(arena, program, &config, &job.program, &job.verdict, &job.diag);
    int status = show(&job);
    buf_free(&job.trace);
    buf_free(&job.explain);
    return status;
}
