/* Programs with a main of their own. In: a text and the directory of its files. Out: what it printed
 * and wrote, a verdict. */
#include "eval/program.h"

#include "base/file.h"
#include "eval/device.h"
#include <string.h>

/* ---- reading ---- */

enum { MOST_TEXT = 8 << 20, MOST_TEXTS = 200 };

bool eval_is_program(const EvalCandidate *c)
{
    return eval_text_with(c, " main(") &&
           (eval_text_with(c, "<<<") || eval_text_with(c, "ACLRT_LAUNCH_KERNEL"));
}

static bool is_own_header(const EvalCandidate *c, const char *path)
{
    for (uint32_t i = 0; i < c->texts.len; i++)
        if (strcmp(c->texts.at[i].path, path) == 0)
            return false;
    return true;
}

/* Where the header lies: beside the text that includes it, else in the first of the directories that has
 * it. NULL: nowhere. */
static const char *find_header(Arena *arena, const char *dir, const NameList *include_dirs,
                               const char *name)
{
    const char *path = path_join(arena, dir, name);
    for (uint32_t i = 0; !file_is_plain(path) && include_dirs && i < include_dirs->len; i++)
        path = path_join(arena, include_dirs->at[i], name);
    return file_is_plain(path) ? path : NULL;
}

/* What text `at` includes goes to the end of the list. */
static bool add_included(Arena *arena, EvalCandidate *c, const NameList *include_dirs, uint32_t at,
                         Diag *diag)
{
    const char *dir = path_dir(arena, c->texts.at[at].path);
    Str line, rest = c->texts.at[at].text;
    while (c->texts.len < MOST_TEXTS && str_next(&rest, '\n', &line)) {
        Str text, name = eval_included_name(line);
        const char *path = name.len ? find_header(arena, dir, include_dirs, str_dup(arena, name))
                                    : NULL;
        if (!path || !is_own_header(c, path))
            continue;
        if (!file_read(arena, path, MOST_TEXT, &text, diag))
            return false;
        eval_text_add(arena, c, path, text);
    }
    return true;
}

static bool add_source(Arena *arena, const char *path, EvalCandidate *c, Diag *diag)
{
    Str text;
    if (!file_read(arena, path, MOST_TEXT, &text, diag))
        return false;
    eval_text_add(arena, c, path, text);
    return true;
}

static bool add_sources(Arena *arena, const char *dir, EvalCandidate *c, Diag *diag)
{
    NameList names;
    if (!file_list(arena, dir, &names, diag))
        return false;
    for (uint32_t i = 0; i < names.len && c->texts.len < MOST_TEXTS; i++) {
        const char *path = path_join(arena, dir, names.at[i]);
        if (eval_is_source(path) && file_is_plain(path) && !add_source(arena, path, c, diag))
            return false;
    }
    return true;
}

bool eval_program_read(Arena *arena, const char *path, const NameList *defines,
                       const NameList *include_dirs, EvalCandidate *candidate, Diag *diag)
{
    *candidate = (EvalCandidate){
        .form = FORM_DIRECT, .name = path, .entry = "main", .extracted = "", .defines = *defines};
    bool ok = file_is_dir(path) ? add_sources(arena, path, candidate, diag)
                                : add_source(arena, path, candidate, diag);
    for (uint32_t i = 0; ok && i < candidate->texts.len; i++)
        ok = add_included(arena, candidate, include_dirs, i, diag);
    return ok;
}

/* ---- files ---- */

static bool goes_up(const char *name)
{
    Str part, rest = str_from(name);
    while (str_next(&rest, '/', &part))
        if (str_is(part, ".."))
            return true;
    return false;
}

const char *eval_program_file(EvalJudge *j, const char *name)
{
    const char *why = !j->files ? "say with --files DIR where its files lie"
                      : name[0] == '/' || goes_up(name)
                          ? "only files below the directory of --files are its own"
                          : NULL;
    if (!why)
        return path_join(j->arena, j->files, name);
    eval_judge_fail(j, VERDICT_CRASHED, STAGE_RUN,
                    str_format(j->arena, "the program wants the file %s: %s", name, why));
    return NULL;
}

static bool write_files(EvalJudge *j, const TwinEvents *events, NameList *written)
{
    for (uint32_t i = 0; i < events->len; i++) {
        const TwinEvent *e = &events->at[i];
        if (e->kind != BIND_OUTPUT)
            continue;
        const char *path = eval_program_file(j, e->name);
        if (!path)
            return false;
        if (!file_make_dirs(path_dir(j->arena, path), j->diag) ||
            !file_write(path, e->data, j->diag))
            return eval_judge_fail(j, VERDICT_INTERNAL, STAGE_RUN,
                                   str_format(j->arena, "%s cannot be written", path));
        vec_push(j->arena, written, path);
    }
    return true;
}

/* ---- running ---- */

#define MOST_MEMORY (4ull << 30)

static bool ended_well(EvalJudge *j, const TwinBindDone *done)
{
    if (done->result.kind != BIND_INT || done->result.i == 0)
        return true;
    return eval_judge_fail(
        j, VERDICT_WRONG, STAGE_COMPARE,
        str_format(j->arena, "the program ends with %lld, not 0", (long long)done->result.i));
}

static const TwinValue *program_args(Arena *arena, const NameList *given)
{
    TwinValue *args = arena_array(arena, TwinValue, given ? given->len + 1 : 1);
    for (uint32_t i = 0; given && i < given->len; i++)
        args[i] = (TwinValue){.kind = BIND_TEXT, .name = "", .text = str_from(given->at[i])};
    return args;
}

static bool run(EvalJudge *j, EvalHost *host, EvalDevice *device, EvalProgram *program)
{
    TwinBindCall call = {.function = "main",
                         .args = program_args(j->arena, program->args),
                         .arg_count = program->args ? program->args->len : 0,
                         .memory = MOST_MEMORY};
    TwinBindDone done;
    uint32_t executed;
    bool ok = eval_host_call(host, device, &call, &done, &executed) &&
              eval_device_run(host, device, &done.events, executed, done.events.len);
    program->by_main = done.printed;
    return ok && write_files(j, &done.events, &program->written) && ended_well(j, &done);
}

bool eval_program(Arena *arena, const EvalCandidate *candidate, const EvalConfig *config,
                  EvalProgram *program, Verdict *verdict, Diag *diag)
{
    EvalJudge j = eval_judge_make(arena, candidate, NULL, config, verdict, diag);
    EvalHost host;
    EvalDevice device;
    j.files = program->files;
    twin_observe(&j.twin, &j.observer);
    eval_device_open(&device);
    bool ok = eval_host_open(&host, &j) && run(&j, &host, &device, program) &&
              verdict->status == VERDICT_OK;
    if (ok)
        verdict->stage = STAGE_DONE;
    program->launches = host.launches;
    program->by_kernels = str_copy(arena, buf_view(&host.printed));
    eval_device_close(&device);
    eval_host_close(&host);
    twin_observer_free(&j.observer);
    return ok;
}
