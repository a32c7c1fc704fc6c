/* The compiled parts of a candidate with host code of its own: binding, op_host, kernels. In: texts.
 * Out: calls of the binding as events. */
#include "eval/device.h"

#include "base/file.h"
#include <string.h>

enum { MOST_CALLS = 64 };

bool eval_is_source(const char *path)
{
    static const char *const ends[] = {".cpp", ".cc", ".cxx", ".asc"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (str_ends(str_from(path), ends[i]))
            return true;
    return false;
}

static bool in_project(const char *path)
{
    return strstr(path, "op_host/") || strstr(path, "op_kernel/");
}

/* What the binding program is made of: every source outside of op_host and op_kernel. */
static bool compile_binding(EvalHost *host)
{
    EvalJudge *j = host->j;
    VEC(TwinHostFile) files = {0};
    for (uint32_t i = 0; i < j->candidate->texts.len; i++) {
        const EvalText *text = &j->candidate->texts.at[i];
        if (!eval_is_source(text->path) || in_project(text->path))
            continue;
        TwinHostFile file = {text->path, eval_include(j->arena, j->candidate, text)};
        if (!files.len) {
            j->diag->file = text->path;
            j->diag->source = text->text;
        }
        vec_push(j->arena, &files, file);
    }
    if (!files.len)
        return eval_judge_fail(j, VERDICT_NO_ANSWER, STAGE_EXTRACT, "there is no binding");
    host->binding = twin_binding_compile(j->arena, files.at, files.len, &j->twin, j->verdict,
                                         j->diag);
    return host->binding;
}

bool eval_host_open(EvalHost *host, EvalJudge *j)
{
    *host = (EvalHost){.j = j};
    eval_candidate_project(j->arena, j->candidate, &host->project);
    if (host->project.host.len) {
        host->opened = twin_project_open(j->arena, &host->project, &j->twin, j->verdict, j->diag);
        if (!host->opened)
            return false;
    }
    return compile_binding(host);
}

void eval_host_close(EvalHost *host)
{
    for (uint32_t i = 0; i < host->kernel_count; i++)
        twin_release(host->kernels[i].kernel);
    if (host->opened)
        twin_project_close(host->opened);
    if (host->binding)
        twin_binding_release(host->binding);
    buf_free(&host->printed);
    *host = (EvalHost){.j = host->j};
}

/* ---- a call ---- */

static Str read_answer(EvalHost *host, EvalDevice *d, const TwinEvent *e)
{
    const EvalRoom *room = eval_device_at(d, e->address);
    uint64_t at = room ? e->address - room->address : 0;
    if (room && e->bytes <= room->memory.bytes - at)
        return str_copy(host->j->arena,
                        (Str){(const char *)room->memory.data + at, (size_t)e->bytes});
    eval_judge_fail(host->j, VERDICT_CRASHED, STAGE_RUN, "host code reads outside device memory");
    return (Str){0};
}

/* Input files are the task's inputs in the order in which they are first read. */
static Str file_answer(EvalHost *host, const TwinEvents *events, uint32_t event)
{
    const EvalReference *ref = host->j->ref;
    const char *name = events->at[event].name;
    VEC(const char *) seen = {0};
    uint32_t index = 0;
    for (uint32_t i = 0; i <= event; i++) {
        if (events->at[i].kind != BIND_FILE)
            continue;
        for (index = 0; index < seen.len && strcmp(seen.at[index], events->at[i].name) != 0;)
            index++;
        if (index == seen.len)
            vec_push(host->j->arena, &seen, events->at[i].name);
    }
    uint32_t inputs = ref->in.n_inputs;
    const Tensor *t = index < inputs                      ? ref->in.inputs[index]
                      : index < inputs + ref->in.n_params ? ref->in.params[index - inputs]
                                                          : NULL;
    if (t)
        return (Str){t->at, (size_t)t->count * dtype_bytes(t->dtype)};
    eval_judge_fail(
        host->j, VERDICT_CRASHED, STAGE_RUN,
        str_format(host->j->arena, "host code reads %s: the task has no such input", name));
    return (Str){0};
}

/* Without a task they are files, below the directory that was named. */
static Str disk_answer(EvalHost *host, const TwinEvent *e)
{
    EvalJudge *j = host->j;
    Str bytes = {0};
    Diag said = diag_make(j->arena, e->name, (Str){0});
    const char *path = eval_program_file(j, e->name);
    if (path && !file_read(j->arena, path, (size_t)e->bytes, &bytes, &said))
        eval_judge_fail(j, VERDICT_CRASHED, STAGE_RUN, said.items.at[0].text);
    return bytes;
}

static void mark_results(EvalDevice *d, const TwinValue *v)
{
    EvalRoom *room = v->kind == BIND_TENSOR ? eval_device_at(d, v->view.address) : NULL;
    uint64_t count = 0;
    if (room) {
        room->is_result = true;
        room->is_part |= twin_view_count(&v->view, &count) &&
                         count * dtype_bytes(v->view.dtype) < room->memory.bytes;
    }
    for (uint32_t i = 0; v->kind == BIND_LIST && i < v->count; i++)
        mark_results(d, &v->list[i]);
}

/* Memory exists before anything is executed, so that results can be marked as such, and how many
 * kernels are handed each piece of it. */
static bool make_rooms(EvalHost *host, EvalDevice *d, const TwinBindDone *done)
{
    for (uint32_t i = 0; i < done->events.len; i++) {
        const TwinEvent *e = &done->events.at[i];
        TwinEvents one = {.at = (TwinEvent *)e, .len = 1};
        if (e->kind == BIND_ALLOC && !eval_device_run(host, d, &one, 0, 1))
            return false;
    }
    mark_results(d, &done->result);
    return true;
}

bool eval_host_call(EvalHost *host, EvalDevice *d, TwinBindCall *call, TwinBindDone *done,
                    uint32_t *done_events)
{
    EvalJudge *j = host->j;
    *done_events = 0;
    call->first_address = d->next;
    for (int i = 0; i < MOST_CALLS; i++) {
        if (!twin_binding_call(j->arena, host->binding, call, &j->twin, done, j->verdict) ||
            !make_rooms(host, d, done))
            return false;
        if (!done->waits)
            return eval_host_carries(host, d, call, done) && eval_host_forgets(host, d, call, done);
        uint32_t last = done->events.len - 1;
        if (!eval_device_run(host, d, &done->events, *done_events, last))
            return false;
        *done_events = last + 1;
        const TwinEvent *e = &done->events.at[last];
        if (j->config->no_values)
            return eval_judge_fail(j, VERDICT_NO_TIME, STAGE_RUN, "host code reads elements");
        Str answer = e->kind == BIND_READ ? read_answer(host, d, e)
                     : j->ref             ? file_answer(host, &done->events, last)
                                          : disk_answer(host, e);
        if (j->verdict->status != VERDICT_OK)
            return false;
        vec_push(j->arena, &call->answers, answer);
    }
    return eval_judge_fail(j, VERDICT_UNSUPPORTED, STAGE_RUN,
                           "host code reads results more than 64 times");
}
