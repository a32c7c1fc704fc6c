/* One text and one case on the twin. In: a subject (kernel file or operator project) and the text to
 * put in place of its own. Out: what was found, whether the values and the records are the same. */
#include "tools/mutate/mutate.h"

#include "base/hash.h"
#include "twin/twin_int.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- reading a subject --- */

static bool add_tensor(Subject *s, const char *text, SimRole role, Diag *diag)
{
    TwinTensor t;
    const char *file;
    if (!twin_tensor_parse(&s->arena, text, role, 1, &t, &file, diag))
        return false;
    vec_push(&s->arena, &s->tensors, t);
    return true;
}

static bool read_option(Subject *s, const char *name, const char *value, Diag *diag)
{
    if (strcmp(name, "--in") == 0)
        return add_tensor(s, value, SIM_IN, diag);
    if (strcmp(name, "--out") == 0)
        return add_tensor(s, value, SIM_OUT, diag);
    if (strcmp(name, "--inout") == 0)
        return add_tensor(s, value, SIM_INOUT, diag);
    if (strcmp(name, "--zeroed") == 0) { /* read and written, and zeros before */
        if (!add_tensor(s, value, SIM_INOUT, diag))
            return false;
        memset(vec_last(&s->tensors).data, 0, vec_last(&s->tensors).bytes);
        return true;
    }
    if (strcmp(name, "--cores") == 0) {
        s->chip.aic = (uint32_t)strtoul(value, NULL, 10);
        s->chip.aiv = 2 * s->chip.aic;
        return s->chip.aic > 0;
    }
    if (strcmp(name, "--tiling") == 0)
        return twin_values_parse(&s->arena, value, &s->tiling, diag);
    if (strcmp(name, "--blocks") == 0)
        s->blocks = (uint32_t)strtoul(value, NULL, 10);
    else if (strcmp(name, "--workspace") == 0)
        s->workspace = strtoull(value, NULL, 10);
    else if (strcmp(name, "--tiling-key") == 0)
        s->tiling_key = strtoull(value, NULL, 10);
    else if (strcmp(name, "--attr") == 0)
        vec_push(&s->arena, &s->attrs, value);
    else if (strcmp(name, "-D") == 0)
        vec_push(&s->arena, &s->defines, value);
    else if (strcmp(name, "-I") == 0)
        vec_push(&s->arena, &s->include_dirs, value);
    else
        diag_error(diag, "C020", (Span){0}, "%s: no option of mutate", name);
    return diag->errors == 0;
}

/* The options of the text's own "run:" line. */
static bool read_run_line(Subject *s, Diag *diag)
{
    Str all = s->joined.text, line, word;
    ptrdiff_t at = str_find(all, str_from("run: "));
    if (at < 0)
        return true;
    Str rest = str_slice(all, (size_t)at + 5, all.len);
    str_next(&rest, '\n', &line);
    const char *name = NULL;
    while (line.len && str_next(&line, ' ', &word)) {
        const char *text = str_dup(&s->arena, word);
        if (!word.len || strcmp(text, "*/") == 0 || strcmp(text, "--strict") == 0)
            continue;
        if (name && !read_option(s, name, text, diag))
            return false;
        name = name ? NULL : text;
    }
    return true;
}

/* A project's kernel text is its longest one with an entry, headers counted. */
static bool read_project(Subject *s, Diag *diag)
{
    s->project = true;
    if (!twin_project_read(&s->arena, s->path, &s->tree, diag))
        return false;
    for (uint32_t i = 0; i < s->tree.kernel.len; i++) {
        Joined joined;
        if (str_find(s->tree.kernel.at[i].text, STR("__global__")) < 0)
            continue;
        if (!mutate_join(&s->arena, s->tree.kernel.at[i].path, &joined, diag))
            return false;
        if (joined.text.len > s->joined.text.len) {
            s->joined = joined;
            s->file = i;
        }
    }
    return s->joined.text.len > 0;
}

static uint64_t key_of(const Subject *s, const char *const *words, uint32_t count)
{
    uint64_t key = hash64(s->joined.text.at, s->joined.text.len);
    for (uint32_t i = 0; i < count; i++)
        key = key * 31 + hash64(words[i], strlen(words[i]));
    return key;
}

bool subject_read(Subject *s, const char *const *words, uint32_t count, Diag *diag)
{
    s->path = words[0];
    s->blocks = 1;
    s->chip = *npu_chip_find(STR("910B2"));
    if (!(file_is_dir(s->path) ? read_project(s, diag)
                               : mutate_join(&s->arena, s->path, &s->joined, diag)))
        return false;
    if (count == 1 && !read_run_line(s, diag))
        return false;
    for (uint32_t i = 1; i + 1 < count; i += 2)
        if (!read_option(s, words[i], words[i + 1], diag))
            return false;
    s->key = key_of(s, words, count);
    vec_push(&s->arena, &s->defines, NULL);
    vec_push(&s->arena, &s->include_dirs, NULL);
    return true;
}

void subject_free(Subject *s)
{
    for (uint32_t i = 0; i < s->tensors.len; i++)
        twin_tensor_free(&s->tensors.at[i]);
    arena_drop(&s->arena);
}

/* --- running --- */

/* Copies of the tensors: inputs as given, outputs empty. */
static TwinTensors fresh_tensors(Arena *arena, const Subject *s)
{
    TwinTensors out = {0};
    for (uint32_t i = 0; i < s->tensors.len; i++) {
        TwinTensor t = s->tensors.at[i];
        t.data = arena_alloc(arena, t.bytes ? t.bytes : 1);
        t.fd = 0;
        if (t.role != SIM_OUT)
            memcpy(t.data, s->tensors.at[i].data, t.bytes);
        vec_push(arena, &out, t);
    }
    return out;
}

static void keep_outputs(Arena *arena, const TwinTensors *tensors, Seen *seen)
{
    for (uint32_t i = 0; i < tensors->len; i++) {
        TwinTensor t = tensors->at[i];
        if (t.role == SIM_IN)
            continue;
        t.data = memcpy(arena_alloc(arena, t.bytes ? t.bytes : 1), t.data, t.bytes);
        vec_push(arena, &seen->outputs, t);
    }
}

static bool same_tensor(const TwinTensor *a, const TwinTensor *b, bool exact)
{
    if (a->bytes != b->bytes || a->dtype != b->dtype)
        return false;
    if (memcmp(a->data, b->data, a->bytes) == 0)
        return true;
    if (exact)
        return false;
    double slack = dtype_bytes(a->dtype) == 2 ? 0.02 : 1e-5, most = 0;
    size_t n = a->bytes / dtype_bytes(a->dtype);
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(dtype_load(b->dtype, b->data, i)));
    for (size_t i = 0; dtype_is_float(a->dtype) && i < n; i++) {
        double x = dtype_load(a->dtype, a->data, i), y = dtype_load(b->dtype, b->data, i);
        if (!(fabs(x - y) <= slack * most || x == y || (isnan(x) && isnan(y))))
            return false;
    }
    return dtype_is_float(a->dtype);
}

bool seen_same_values(const Seen *a, const Seen *b, bool exact)
{
    bool same = a->outputs.len == b->outputs.len;
    for (uint32_t i = 0; same && i < a->outputs.len; i++)
        same = same_tensor(&a->outputs.at[i], &b->outputs.at[i], exact);
    return same;
}

/* A warning is worth saying and no reason to fail a kernel. */
static bool only_warns(const char *code)
{
    for (int i = 0; i < SIM_FAULT_COUNT; i++)
        if (strcmp(sim_fault_row((enum SimFaultCode)i)->code, code) == 0)
            return sim_fault_row((enum SimFaultCode)i)->kind == SIM_KIND_WARNING;
    return false;
}

/* Code, place, and for a race the place of the other access. */
static uint64_t finding_key(const VerdictFinding *f)
{
    uint64_t key = hash64(f->code, strlen(f->code)) * 31 + f->line;
    for (uint32_t i = 0; i < f->accesses.len; i++)
        key = (key * 31 + f->accesses.at[i].line) * 2 + f->accesses.at[i].write;
    return key;
}

static void note_findings(Arena *arena, const Verdict *v, Seen *seen)
{
    seen->status = v->status;
    seen->reason = v->reason;
    for (uint32_t i = 0; i < v->hazards.len; i++) {
        const VerdictFinding *f = &v->hazards.at[i];
        if (only_warns(f->code))
            continue;
        vec_push(arena, &seen->findings, finding_key(f));
        seen->own += !f->inserted;
        if (!seen->first)
            seen->first = str_format(arena, "%s line %u", f->code, f->line);
    }
}

static void note_refused(Arena *arena, const Diag *diag, Seen *seen)
{
    for (uint32_t i = 0; i < diag->items.len; i++)
        if (diag->items.at[i].level == DIAG_ERROR)
            vec_push(arena, &seen->refused, diag->items.at[i].at.line);
}

/* Tensors of one name, given one behind the other, are a list. */
static bool bind_lists(Arena *arena, const TwinParams *params, const TwinTensors *tensors,
                       const NameList *attrs, TwinArg **args, Diag *diag)
{
    TwinTensors named = {0};
    uint32_t *first = arena_array(arena, uint32_t, tensors->len + 1);
    for (uint32_t i = 0; i < tensors->len; i++) {
        if (i && strcmp(tensors->at[i].name, tensors->at[i - 1].name) == 0)
            continue;
        first[named.len] = i;
        vec_push(arena, &named, tensors->at[i]);
    }
    first[named.len] = tensors->len;
    if (!twin_bind(arena, params, named.at, named.len, attrs, args, diag))
        return false;
    for (uint32_t p = 0; p < params->len; p++) {
        TwinArg *arg = &(*args)[p];
        if (arg->kind != TWIN_ARG_TENSOR)
            continue;
        uint32_t at = arg->index;
        *arg = (TwinArg){.index = first[at], .count = first[at + 1] - first[at]};
        arg->kind = arg->count > 1 ? TWIN_ARG_LIST : TWIN_ARG_TENSOR;
    }
    return true;
}

static bool bind(Arena *arena, const Subject *s, const TwinKernel *kernel,
                 const TwinTensors *tensors, TwinLaunch *launch, Diag *diag)
{
    const TwinParams *params = twin_kernel_params(kernel);
    TwinArg *args;
    if (!bind_lists(arena, params, tensors, &s->attrs, &args, diag))
        return false;
    *launch = (TwinLaunch){.tensors = tensors->at,
                           .tensor_count = tensors->len,
                           .args = args,
                           .arg_count = params->len,
                           .blocks = s->blocks,
                           .tiling = s->tiling,
                           .tiling_key = s->tiling_key,
                           .workspace = s->workspace};
    return true;
}

static void run_file(Arena *arena, Subject *s, Str text, TwinOptions *options, Watch *w,
                     Seen seen[2])
{
    TwinSource source = {.path = s->path,
                         .text = text,
                         .dir = path_dir(arena, s->path),
                         .include_dirs = s->include_dirs.at,
                         .defines = s->defines.at};
    Diag diag = diag_make(arena, s->path, text);
    Verdict verdict = verdict_make();
    TwinKernel *kernel = twin_compile(arena, &source, options, &verdict, &diag);
    for (int mode = 0; mode < 2; mode++) {
        Verdict v = verdict;
        TwinTensors tensors = fresh_tensors(arena, s);
        TwinLaunch launch;
        TwinRun run;
        w->strict = mode == 1;
        w->seen = &seen[mode];
        seen[mode].built = kernel && bind(arena, s, kernel, &tensors, &launch, &diag);
        if (seen[mode].built)
            seen[mode].ran = twin_run(arena, kernel, &launch, options, &run, &v);
        note_findings(arena, &v, &seen[mode]);
        note_refused(arena, &diag, &seen[mode]);
        keep_outputs(arena, &tensors, &seen[mode]);
    }
    if (kernel)
        twin_release(kernel);
}

static void run_tree(Arena *arena, Subject *s, Str text, TwinOptions *options, Watch *w,
                     Seen seen[2])
{
    TwinProject tree = s->tree;
    tree.kernel.at = arena_array(arena, TwinHostFile, tree.kernel.len);
    memcpy(tree.kernel.at, s->tree.kernel.at, tree.kernel.len * sizeof *tree.kernel.at);
    tree.kernel.at[s->file].text = text;
    tree.include_dirs = s->include_dirs.at;
    for (int mode = 0; mode < 2; mode++) {
        Diag diag = diag_make(arena, s->path, text);
        Verdict v = verdict_make();
        TwinTensors tensors = fresh_tensors(arena, s), made = {0};
        TwinCase kase = {.tensors = tensors.at, .tensor_count = tensors.len, .attrs = s->attrs};
        TwinRun run;
        w->strict = mode == 1;
        w->seen = &seen[mode];
        TwinOpened *opened = twin_project_open(arena, &tree, options, &v, &diag);
        if (opened)
            seen[mode].ran = twin_project_run(arena, opened, &kase, options, &made, &run, &v,
                                              &diag);
        seen[mode].built = seen[mode].ran || v.compiled == VERDICT_YES || v.hazards.len;
        twin_project_close(opened);
        note_findings(arena, &v, &seen[mode]);
        note_refused(arena, &diag, &seen[mode]);
        keep_outputs(arena, &tensors, &seen[mode]);
        keep_outputs(arena, &made, &seen[mode]);
        for (uint32_t i = 0; i < made.len; i++)
            twin_tensor_free(&made.at[i]);
    }
}

void subject_run(Arena *arena, Subject *s, Str text, double seconds, bool prove, Seen seen[2])
{
    memset(seen, 0, 2 * sizeof *seen);
    Watch w = {.arena = arena, .prove = prove};
    TwinOptions options = {.keep_going = true, .run_seconds = seconds, .compile_seconds = 120};
    watch_run(&options, &w);
    if (s->project)
        run_tree(arena, s, text, &options, &w, seen);
    else
        run_file(arena, s, text, &options, &w, seen);
}

/* --- all mutants in one text --- */

enum { MOST_TRIES = 8 };

static bool same_run(const Seen *a, const Seen *b)
{
    bool same = a->ran && a->stream == b->stream && a->findings.len == b->findings.len;
    for (uint32_t i = 0; same && i < a->findings.len; i++)
        same = a->findings.at[i] == b->findings.at[i];
    return same && seen_same_values(a, b, true);
}

static bool find_programs(Subject *s, Schema *schema)
{
    TwinPlaces places = {0};
    Verdict verdict = verdict_make();
    return twin_places_find(&s->arena, &(TwinOptions){0}, &places, &verdict) && places.cache &&
           schema_find(&s->arena, path_join(&s->arena, places.cache, "programs"), schema);
}

/* Mutants that do not compile are left out one line of messages after the other. */
bool subject_combine(Subject *s, const Mutations *all, const Seen original[2], double seconds,
                     Schema *schema)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    *schema = (Schema){.begun = now.tv_sec - 1};
    schema->mark = s->key * 31 + (uint64_t)now.tv_sec * 1000000007u + (uint64_t)now.tv_nsec;
    for (int i = 0; i < MOST_TRIES; i++) {
        Arena arena = {0};
        Seen seen[2];
        bool fewer = false;
        schema_write(&s->arena, s->joined.text, all, schema);
        subject_run(&arena, s, schema->text, seconds, false, seen);
        bool built = seen[0].ran;
        bool same = built && same_run(&seen[0], &original[0]) && same_run(&seen[1], &original[1]);
        for (uint32_t k = 0; !built && k < seen[0].refused.len; k++)
            fewer |= schema_leave_out(s->joined.text, all, seen[0].refused.at[k], schema);
        arena_drop(&arena);
        if (built || !fewer)
            return same && find_programs(s, schema);
    }
    return false;
}
