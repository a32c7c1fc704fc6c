/* Operator projects: finds the files, asks the host side for the tiling, compiles the kernel for
 * the case's dtypes and launches it as the framework would: inputs, outputs, workspace, tiling. */
#include "twin/project.h"

#include "twin/twin_int.h"
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 8 << 20, MOST_DEPTH = 4, MOST_FILES = 200 };

struct TwinOpened {
    const TwinProject *project;
    TwinHost *host;
};

/* --- finding the files ----------------------------------------------------------------------- */

typedef enum Side { NO_SIDE, HOST_SIDE, KERNEL_SIDE } Side;

static Side side_of(const char *name, Side outer)
{
    if (strcmp(name, "op_host") == 0)
        return HOST_SIDE;
    return strcmp(name, "op_kernel") == 0 ? KERNEL_SIDE : outer;
}

bool twin_is_library_glue(const char *path, Str text)
{
    if (str_starts(path_base(path), "aclnn_"))
        return true;
    static const char *const marks[] = {"#include \"opdev/", "#include \"level0/",
                                        "#include \"level2/", "#include \"aclnn",
                                        "#include \"acl/"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (str_find(text, str_from(marks[i])) >= 0)
            return true;
    return false;
}

static bool is_source(Str name)
{
    return str_ends(name, ".cpp") || str_ends(name, ".cc") || str_ends(name, ".cxx");
}

static bool read_file(Arena *arena, const char *path, Side side, TwinProject *project, Diag *diag)
{
    Str name = path_base(path);
    if (side == NO_SIDE || !is_source(name))
        return true;
    TwinHostFile file = {.path = path};
    if (!file_read(arena, path, MOST_TEXT, &file.text, diag))
        return false;
    if (side == HOST_SIDE && !twin_is_library_glue(path, file.text))
        vec_push(arena, &project->host, file);
    else if (side == KERNEL_SIDE)
        vec_push(arena, &project->kernel, file);
    return true;
}

/* Folders beside an operator that have op_host and op_kernel of their own: its tests, text for chips of
 * another generation. */
static bool is_apart(const char *name)
{
    return strcmp(name, "tests") == 0 || strcmp(name, "test") == 0 || strcmp(name, "arch35") == 0;
}

static bool walk(Arena *arena, const char *dir, Side side, int depth, TwinProject *project,
                 Diag *diag)
{
    NameList names = {0};
    if (depth > MOST_DEPTH || project->host.len + project->kernel.len > MOST_FILES)
        return true;
    if (!file_list(arena, dir, &names, diag))
        return false;
    for (uint32_t i = 0; i < names.len; i++) {
        const char *path = path_join(arena, dir, names.at[i]);
        if (names.at[i][0] == '.') /* an editor's copies */
            continue;
        if (is_apart(names.at[i]) && file_is_dir(path))
            continue;
        if (file_is_dir(path) ? file_is_link(path) : !file_is_plain(path))
            continue; /* leads out of the project, or is nothing to read */
        bool ok = file_is_dir(path)
                      ? walk(arena, path, side_of(names.at[i], side), depth + 1, project, diag)
                      : read_file(arena, path, side, project, diag);
        if (!ok)
            return false;
    }
    return true;
}

bool twin_project_read(Arena *arena, const char *dir, TwinProject *project, Diag *diag)
{
    *project = (TwinProject){.dir = dir};
    Str base = path_base(dir);
    Side side = side_of(str_dup(arena, base), NO_SIDE);
    if (!walk(arena, dir, side, 0, project, diag))
        return false;
    if (!project->host.len || !project->kernel.len)
        diag_error(diag, "C030", (Span){0}, "%s: no operator project: %s has no .cpp file", dir,
                   project->host.len ? "op_kernel" : "op_host");
    return project->host.len && project->kernel.len;
}

/* --- include paths --------------------------------------------------------------------------- */

static void add_dir(Arena *arena, NameList *dirs, const char *dir)
{
    char real[PATH_MAX];
    if (!realpath(dir, real))
        return;
    for (uint32_t i = 0; i < dirs->len; i++)
        if (strcmp(dirs->at[i], real) == 0)
            return;
    vec_push(arena, dirs, str_dup(arena, str_from(real)));
}

static const char *const *project_dirs(Arena *arena, const TwinProject *project, const char *first)
{
    NameList dirs = {0};
    if (first && project->dir)
        add_dir(arena, &dirs, path_dir(arena, first));
    for (uint32_t i = 0; project->dir && i < project->host.len; i++)
        add_dir(arena, &dirs, path_dir(arena, project->host.at[i].path));
    for (uint32_t i = 0; project->dir && i < project->kernel.len; i++)
        add_dir(arena, &dirs, path_dir(arena, project->kernel.at[i].path));
    if (project->dir)
        add_dir(arena, &dirs, project->dir);
    for (const char *const *dir = project->include_dirs; dir && *dir; dir++)
        add_dir(arena, &dirs, *dir);
    vec_push(arena, &dirs, NULL);
    return dirs.at;
}

TwinOpened *twin_project_open(Arena *arena, const TwinProject *project, const TwinOptions *options,
                              Verdict *verdict, Diag *diag)
{
    TwinHostSource source = {.files = project->host.at,
                             .file_count = project->host.len,
                             .include_dirs = project_dirs(arena, project, NULL),
                             .defines = project->defines};
    TwinHost *host = twin_host_compile(arena, &source, options, verdict, diag);
    if (!host)
        return NULL;
    TwinOpened *opened = arena_new(arena, TwinOpened);
    *opened = (TwinOpened){.project = project, .host = host};
    return opened;
}

void twin_project_close(TwinOpened *opened) { twin_host_release(opened->host); }
const TwinHost *twin_project_host(const TwinOpened *opened) { return opened->host; }

/* --- one case -------------------------------------------------------------------------------- */

typedef struct CaseRun {
    Arena *arena;
    const TwinOpened *opened;
    const TwinCase *kase;
    const TwinOptions *options;
    const TwinOp *op;
    TwinTensors tensors; /* inputs in the order of the definition, then outputs */
    VEC(TwinHostTensor) inputs, outputs;
    TwinTiling tiling;
    Verdict *verdict;
    Diag *diag;
} CaseRun;

static bool fail_case(CaseRun *c, const char *reason)
{
    verdict_fail(c->verdict, VERDICT_BAD_TILING, STAGE_TILING, reason);
    return false;
}

static bool choose_op(CaseRun *c)
{
    const TwinOps *ops = twin_host_ops(c->opened->host);
    for (uint32_t i = 0; i < ops->len; i++)
        if (!c->kase->op || strcmp(ops->at[i].name, c->kase->op) == 0)
            c->op = &ops->at[i];
    if (!c->op)
        return fail_case(c,
                         str_format(c->arena, "the project defines no operator '%s'", c->kase->op));
    if (!c->kase->op && ops->len > 1)
        return fail_case(c, "the project defines several operators, name one");
    return true;
}

/* Names alike but for case and '_'. */
static bool alike(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (*a == '_')
            a++;
        while (*b == '_')
            b++;
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
        if (!*a)
            return true;
    }
}

static bool name_known(const TwinOpTensors *declared, const char *name)
{
    for (uint32_t i = 0; i < declared->len; i++)
        if (alike(declared->at[i].name, name))
            return true;
    return false;
}

/* A tensor that is input and output belongs to the inputs when they know its name or nobody does. */
static bool is_side(const CaseRun *c, const TwinTensor *tensor, bool output)
{
    bool is_output = tensor->role == SIM_OUT ||
                     (tensor->role == SIM_INOUT && !name_known(&c->op->inputs, tensor->name) &&
                      name_known(&c->op->outputs, tensor->name));
    return is_output == output;
}

static bool gives_output(const CaseRun *c, const char *name)
{
    for (uint32_t i = 0; i < c->kase->tensor_count; i++)
        if (c->kase->tensors[i].role == SIM_OUT && alike(c->kase->tensors[i].name, name))
            return true;
    return false;
}

/* An operator without outputs, or with an output of an input's name, works in place. */
static void mark_in_place(CaseRun *c)
{
    for (uint32_t i = 0; i < c->kase->tensor_count; i++) {
        TwinTensor *tensor = &c->kase->tensors[i];
        if (tensor->role != SIM_IN)
            continue;
        bool twice = name_known(&c->op->outputs, tensor->name) && !gives_output(c, tensor->name);
        if (twice || !c->op->outputs.len)
            tensor->role = SIM_INOUT;
    }
}

static void add_given(CaseRun *c, uint32_t declared, const TwinTensor *tensor, bool output)
{
    TwinHostTensor one = {.declared = declared, .tensor = tensor};
    if (output)
        vec_push(c->arena, &c->outputs, one);
    else
        vec_push(c->arena, &c->inputs, one);
}

/* An output may also be the tensor that the input of its name writes in place. */
static bool fits(const TwinTensor *tensor, const char *declared, bool output)
{
    bool right_side = output ? tensor->role != SIM_IN : tensor->role != SIM_OUT;
    return right_side && alike(tensor->name, declared);
}

/* Tensors of one role that no definition names are used in order. */
static void collect(CaseRun *c, const TwinOpTensors *declared, bool output)
{
    uint32_t next = 0;
    for (uint32_t d = 0; d < declared->len; d++) {
        bool found = false;
        for (uint32_t i = 0; i < c->kase->tensor_count; i++) {
            if (!fits(&c->kase->tensors[i], declared->at[d].name, output))
                continue;
            add_given(c, d, &c->kase->tensors[i], output);
            found = true;
        }
        for (; !found && next < c->kase->tensor_count; next++) {
            const TwinTensor *tensor = &c->kase->tensors[next];
            if (!is_side(c, tensor, output) || name_known(declared, tensor->name))
                continue;
            add_given(c, d, tensor, output);
            found = true;
            if (c->kase->typed)
                diag_warn(c->diag, "C014", (Span){0},
                          "the operator has no %s '%s': it is taken for '%s', by its place",
                          output ? "output" : "input", tensor->name, declared->at[d].name);
        }
    }
}

static bool is_among(const TwinHostTensor *list, uint32_t count, const TwinTensor *tensor)
{
    for (uint32_t i = 0; i < count; i++)
        if (list[i].tensor == tensor)
            return true;
    return false;
}

/* Every tensor that a user names is one of the operator's. */
static bool check_used(CaseRun *c)
{
    for (uint32_t i = 0; c->kase->typed && i < c->kase->tensor_count; i++) {
        const TwinTensor *tensor = &c->kase->tensors[i];
        if (!is_among(c->inputs.at, c->inputs.len, tensor) &&
            !is_among(c->outputs.at, c->outputs.len, tensor))
            return fail_case(c,
                             str_format(c->arena, "the operator has no tensor '%s'", tensor->name));
    }
    return true;
}

/* The n-th tensor that was given for a declaration; NULL: there is none. */
static TwinHostTensor *given_for(TwinHostTensor *list, uint32_t count, uint32_t declared,
                                 uint32_t n)
{
    for (uint32_t i = 0; i < count; i++)
        if (list[i].declared == declared && n-- == 0)
            return &list[i];
    return NULL;
}

/* An output of an input's name is that input's memory, as CANN passes it: a tensor both ways is also
 * the output, and where the caller has a tensor of its own for each, the output's holds what the
 * input's did, and is both. */
static void share_memory(CaseRun *c, uint32_t input, uint32_t output)
{
    TwinHostTensor *in, *out;
    for (uint32_t n = 0; (in = given_for(c->inputs.at, c->inputs.len, input, n)) != NULL; n++) {
        out = given_for(c->outputs.at, c->outputs.len, output, n);
        if (!out && in->tensor->role == SIM_INOUT)
            add_given(c, output, in->tensor, true);
        if (!out)
            continue;
        TwinTensor *whole = c->kase->tensors + (out->tensor - c->kase->tensors);
        if (in->tensor->role != SIM_IN || whole->role != SIM_OUT ||
            in->tensor->bytes != whole->bytes)
            continue;
        if (whole->bytes)
            memcpy(whole->data, in->tensor->data, whole->bytes);
        whole->role = SIM_INOUT;
        in->tensor = whole;
    }
}

static void share_in_place(CaseRun *c)
{
    for (uint32_t o = 0; o < c->op->outputs.len; o++)
        for (uint32_t i = 0; i < c->op->inputs.len; i++)
            if (alike(c->op->outputs.at[o].name, c->op->inputs.at[i].name))
                share_memory(c, i, o);
}

static bool has_declared(const TwinHostTensor *list, uint32_t count, uint32_t declared)
{
    for (uint32_t i = 0; i < count; i++)
        if (list[i].declared == declared)
            return true;
    return false;
}

static bool check_inputs(CaseRun *c)
{
    for (uint32_t d = 0; d < c->op->inputs.len; d++)
        if (c->op->inputs.at[d].need == TWIN_REQUIRED &&
            !has_declared(c->inputs.at, c->inputs.len, d))
            return fail_case(
                c, str_format(c->arena, "input '%s' is required", c->op->inputs.at[d].name));
    return true;
}

static TwinTilingRequest tiling_request(const CaseRun *c)
{
    return (TwinTilingRequest){.op = c->op,
                               .inputs = c->inputs.at,
                               .input_count = c->inputs.len,
                               .outputs = c->outputs.at,
                               .output_count = c->outputs.len,
                               .attrs = &c->kase->attrs};
}

static bool allocate(CaseRun *c, TwinTensor *tensor)
{
    uint64_t bytes = dtype_bytes(tensor->dtype);
    for (uint32_t d = 0; d < tensor->rank; d++)
        if (__builtin_mul_overflow(bytes, tensor->shape[d], &bytes) || bytes > 1ull << 36)
            return fail_case(c, "an inferred output is too large");
    tensor->bytes = (size_t)bytes;
    return twin_tensor_alloc(tensor) || fail_case(c, "no memory for an inferred output");
}

/* The column of the op definition that the inputs' dtypes fit; -1: none. */
static int find_combination(const CaseRun *c)
{
    uint32_t columns = c->inputs.len ? c->op->inputs.at[c->inputs.at[0].declared].dtypes.len : 0;
    for (uint32_t column = 0; column < columns; column++) {
        bool fits = true;
        for (uint32_t i = 0; i < c->inputs.len; i++) {
            const TwinOpTensor *declared = &c->op->inputs.at[c->inputs.at[i].declared];
            fits = fits && column < declared->dtypes.len &&
                   declared->dtypes.at[column] == twin_ge_dtype(c->inputs.at[i].tensor->dtype);
        }
        if (fits)
            return (int)column;
    }
    return -1;
}

static void set_output_dtypes(const CaseRun *c, int column, TwinTensor *outputs)
{
    for (uint32_t i = 0; i < c->op->outputs.len; i++)
        if ((uint32_t)column < c->op->outputs.at[i].dtypes.len)
            twin_from_ge_dtype(c->op->outputs.at[i].dtypes.at[column], &outputs[i].dtype);
}

static bool any_named(const CaseRun *c)
{
    for (uint32_t i = 0; i < c->outputs.len; i++)
        if (c->outputs.at[i].tensor->role == SIM_OUT)
            return true;
    return false;
}

/* All outputs of the definition in `list`, shaped by the operator's own inference. */
static bool infer_all(CaseRun *c, TwinTensor *list, Verdict *verdict)
{
    uint32_t count = c->op->outputs.len;
    TwinHostTensor *all = arena_array(c->arena, TwinHostTensor, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        list[i] = (TwinTensor){.name = c->op->outputs.at[i].name, .role = SIM_OUT};
        all[i] = (TwinHostTensor){.declared = i, .tensor = &list[i]};
    }
    int column = find_combination(c);
    if (column < 0 && c->inputs.len) {
        verdict_fail(verdict, VERDICT_BAD_TILING, STAGE_TILING,
                     "the operator is not defined for these input dtypes");
        return false;
    }
    set_output_dtypes(c, column, list);
    TwinTilingRequest request = tiling_request(c);
    request.outputs = all;
    request.output_count = count;
    if (!twin_host_infer(c->arena, c->opened->host, &request, c->options, list, count, verdict))
        return false;
    set_output_dtypes(c, column, list);
    return true;
}

static bool is_wanted(const CaseRun *c, uint32_t declared, bool named)
{
    return !has_declared(c->outputs.at, c->outputs.len, declared) &&
           (!named || c->op->outputs.at[declared].need == TWIN_REQUIRED);
}

/* Outputs nobody gave (one that an input writes in place is given). Where the caller named some, only
 * those the definition requires are added, and without an inference they stay absent. */
static bool infer_outputs(CaseRun *c, TwinTensors *made)
{
    uint32_t count = c->op->outputs.len, wanted = 0;
    bool named = any_named(c);
    for (uint32_t i = 0; i < count; i++)
        wanted += is_wanted(c, i, named);
    if (!wanted)
        return true;
    TwinTensor *list = arena_array(c->arena, TwinTensor, count + 1);
    Verdict own = *c->verdict;
    if (!infer_all(c, list, named ? &own : c->verdict))
        return named;
    for (uint32_t i = 0; i < count; i++) {
        TwinHostTensor one = {.declared = i, .tensor = &list[i]};
        if (!is_wanted(c, i, named))
            continue;
        if (!allocate(c, &list[i]))
            return false;
        vec_push(c->arena, made, list[i]);
        vec_push(c->arena, &c->outputs, one);
    }
    return true;
}

static bool is_single(const TwinTensor *t)
{
    return t->rank == 0 || (t->rank == 1 && t->shape[0] == 1);
}

/* A single value is given as one element, whether it has an axis or none. */
static bool same_kind(const TwinTensor *a, const TwinTensor *b)
{
    bool same = a->dtype == b->dtype && a->rank == b->rank;
    for (uint32_t d = 0; same && d < a->rank; d++)
        same = a->shape[d] == b->shape[d];
    return same || (a->dtype == b->dtype && is_single(a) && is_single(b));
}

static const char *kind_text(Arena *arena, const TwinTensor *t)
{
    Buf out = {0};
    buf_printf(&out, "%s[", dtype_name(t->dtype));
    for (uint32_t d = 0; d < t->rank; d++)
        buf_printf(&out, "%s%llu", d ? "," : "", (unsigned long long)t->shape[d]);
    buf_char(&out, ']');
    const char *text = buf_take(&out, arena);
    buf_free(&out);
    return text;
}

/* In a graph the outputs are what the definition infers, and not what a caller gives. */
static bool check_inferred(CaseRun *c)
{
    TwinTensor *list = arena_array(c->arena, TwinTensor, c->op->outputs.len + 1);
    if (!infer_all(c, list, c->verdict))
        return false;
    for (uint32_t i = 0; i < c->outputs.len; i++) {
        const TwinTensor *given = c->outputs.at[i].tensor, *own = &list[c->outputs.at[i].declared];
        if (c->op->outputs.at[c->outputs.at[i].declared].need == TWIN_DYNAMIC ||
            same_kind(given, own))
            continue;
        verdict_fail(c->verdict, VERDICT_BAD_TILING, STAGE_TILING,
                     str_format(c->arena, "shape inference says %s for '%s', which is %s",
                                kind_text(c->arena, own), own->name, kind_text(c->arena, given)));
        return false;
    }
    return true;
}

/* --- the kernel of a case -------------------------------------------------------------------- */

static const char *upper(Arena *arena, const char *name)
{
    char *copy = str_dup(arena, str_from(name));
    for (char *at = copy; *at; at++)
        *at = (char)toupper((unsigned char)*at);
    return copy;
}

static void define_tensor(CaseRun *c, NameList *defines, const char *name, const TwinTensor *tensor)
{
    const char *big = upper(c->arena, name);
    vec_push(c->arena, defines,
             str_format(c->arena, "DTYPE_%s=%s", big, dtype_rows[tensor->dtype].cxx));
    vec_push(c->arena, defines,
             str_format(c->arena, "ORIG_DTYPE_%s=%s", big,
                        twin_ge_dtype_name(twin_ge_dtype(tensor->dtype))));
    vec_push(c->arena, defines, str_format(c->arena, "FORMAT_%s=FORMAT_ND", big));
}

/* The macros that a kernel's text sees. The first tensor of a list stands for all of them,
 * because the text may not depend on the list's length. */
static const char *const *case_defines(CaseRun *c, Str header)
{
    NameList defines = {0};
    for (uint32_t i = 0; i < c->inputs.len; i++)
        if (i == 0 || c->inputs.at[i].declared != c->inputs.at[i - 1].declared)
            define_tensor(c, &defines, c->op->inputs.at[c->inputs.at[i].declared].name,
                          c->inputs.at[i].tensor);
    for (uint32_t i = 0; i < c->outputs.len; i++)
        if (i == 0 || c->outputs.at[i].declared != c->outputs.at[i - 1].declared)
            define_tensor(c, &defines, c->op->outputs.at[c->outputs.at[i].declared].name,
                          c->outputs.at[i].tensor);
    if (str_find(header, STR("TILING_KEY_VAR")) >= 0)
        vec_push(c->arena, &defines,
                 str_format(c->arena, "TILING_KEY_VAR=%lluUL", (unsigned long long)c->tiling.key));
    if (c->tiling.tiling_struct[0])
        vec_push(c->arena, &defines,
                 str_format(c->arena, "ACRAFT_TILING_STRUCT=%s", c->tiling.tiling_struct));
    for (const char *const *d = c->opened->project->defines; d && *d; d++)
        vec_push(c->arena, &defines, *d);
    vec_push(c->arena, &defines, NULL);
    return defines.at;
}

/* The file and entry whose name is the operator's. */
static bool find_kernel(CaseRun *c, TwinSource *source)
{
    const TwinProject *project = c->opened->project;
    const TwinHostFile *only = NULL;
    uint32_t with_entry = 0;
    for (uint32_t i = 0; i < project->kernel.len; i++) {
        TwinEntries entries = {0};
        twin_entry_scan(c->arena, project->kernel.at[i].text, &entries);
        with_entry += entries.len > 0;
        only = entries.len ? &project->kernel.at[i] : only;
        for (uint32_t e = 0; e < entries.len; e++) {
            if (!alike(entries.at[e].name, c->op->name))
                continue;
            source->kernel = entries.at[e].name;
            source->path = project->kernel.at[i].path;
            source->text = project->kernel.at[i].text;
            return true;
        }
    }
    if (with_entry == 1) {
        source->path = only->path;
        source->text = only->text;
        return true;
    }
    verdict_fail(c->verdict, VERDICT_NOT_COMPILED, STAGE_COMPILE,
                 str_format(c->arena, "op_kernel has no kernel for operator '%s'", c->op->name));
    return false;
}

/* The cores that ASCENDC_TPL_KERNEL_TYPE_SEL names for the key. */
static TwinCores cores_of_template(int32_t kernel_type)
{
    switch (kernel_type) {
    case 0: /* AIV_ONLY */
    case 4: /* MIX_AIV_1_0 */ return TWIN_CORES_VECTOR;
    case 1: /* AIC_ONLY */
    case 5: /* MIX_AIC_1_0 */ return TWIN_CORES_CUBE;
    case 6: return TWIN_CORES_MIX_1_1;
    case 7: return TWIN_CORES_MIX_1_2;
    default: return TWIN_CORES_UNSAID;
    }
}

static TwinKernel *compile_case(CaseRun *c)
{
    TwinSource source = {0};
    if (!find_kernel(c, &source) || !twin_host_header(c->arena, c->opened->host, c->op, c->options,
                                                      &source.prelude, c->verdict))
        return NULL;
    source.include_dirs = project_dirs(c->arena, c->opened->project, source.path);
    source.defines = case_defines(c, source.prelude);
    source.template_args = c->tiling.template_args;
    source.cores = cores_of_template(c->tiling.kernel_type);
    c->diag->file = source.path;
    c->diag->source = source.text;
    return twin_compile(c->arena, &source, c->options, c->verdict, c->diag);
}

/* --- the launch ------------------------------------------------------------------------------ */

typedef VEC(TwinArg) ArgList;

/* Index of a tensor among those of the launch; it stands there once even when it is both input
 * and output. */
static uint32_t launch_index(CaseRun *c, const TwinTensor *tensor)
{
    for (uint32_t i = 0; i < c->tensors.len; i++)
        if (str_is(str_from(c->tensors.at[i].name), tensor->name) &&
            c->tensors.at[i].data == tensor->data && tensor->role == SIM_INOUT)
            return i;
    vec_push(c->arena, &c->tensors, *tensor);
    return c->tensors.len - 1;
}

/* All tensors of one declaration, one after the other, become one argument. */
static void add_args(CaseRun *c, const TwinOpTensors *declared, const TwinHostTensor *given,
                     uint32_t count, ArgList *args)
{
    for (uint32_t d = 0; d < declared->len; d++) {
        TwinArg arg = {.kind = TWIN_ARG_NULL, .index = c->tensors.len};
        for (uint32_t i = 0; i < count; i++) {
            if (given[i].declared != d)
                continue;
            uint32_t index = launch_index(c, given[i].tensor);
            arg.index = arg.count ? arg.index : index;
            arg.count++;
        }
        if (declared->at[d].need == TWIN_DYNAMIC)
            arg.kind = TWIN_ARG_LIST;
        else if (arg.count)
            arg.kind = TWIN_ARG_TENSOR;
        vec_push(c->arena, args, arg);
    }
}

/* An operator whose output shape depends on the values writes that shape to one more parameter
 * after its outputs; of the outputs it writes as much as there is. */
static bool add_shape_out(CaseRun *c, ArgList *args, TwinTensors *made)
{
    TwinTensor shape = {.name = "shape_out",
                        .dtype = DT_U64,
                        .rank = 1,
                        .shape = {64},
                        .role = SIM_INOUT,
                        .bytes = 64 * 8};
    if (!twin_tensor_alloc(&shape))
        return fail_case(c, "no memory for the output shape");
    for (uint32_t i = 0; i < c->tensors.len; i++)
        if (c->tensors.at[i].role == SIM_OUT)
            c->tensors.at[i].role = SIM_INOUT;
    TwinArg arg = {.kind = TWIN_ARG_TENSOR, .index = c->tensors.len, .count = 1};
    vec_push(c->arena, &c->tensors, shape);
    vec_push(c->arena, made, shape);
    vec_push(c->arena, args, arg);
    return true;
}

static void open_outputs(CaseRun *c)
{
    const NameList *open = &c->opened->project->open;
    for (uint32_t i = 0; i < c->tensors.len; i++)
        for (uint32_t k = 0; k < open->len && c->tensors.at[i].role == SIM_OUT; k++)
            if (alike(c->tensors.at[i].name, open->at[k]))
                c->tensors.at[i].role = SIM_INOUT;
}

static bool launch_case(CaseRun *c, const TwinKernel *kernel, TwinTensors *made, TwinRun *run)
{
    ArgList args = {0};
    add_args(c, &c->op->inputs, c->inputs.at, c->inputs.len, &args);
    add_args(c, &c->op->outputs, c->outputs.at, c->outputs.len, &args);
    open_outputs(c);
    if (kernel->params.len == args.len + 3 && !add_shape_out(c, &args, made))
        return false;
    TwinArg workspace = {.kind = TWIN_ARG_WORKSPACE}, tiling = {.kind = TWIN_ARG_TILING};
    vec_push(c->arena, &args, workspace);
    vec_push(c->arena, &args, tiling);
    TwinLaunch launch = {.tensors = c->tensors.at,
                         .tensor_count = c->tensors.len,
                         .args = args.at,
                         .arg_count = args.len,
                         .blocks = c->tiling.blocks,
                         .tiling = c->tiling.bytes,
                         .tiling_key = c->tiling.key,
                         .workspace = c->tiling.workspace};
    bool ok = twin_run(c->arena, kernel, &launch, c->options, run, c->verdict);
    run->tensors = launch.tensors;
    run->tensor_count = launch.tensor_count;
    run->tiling = launch.tiling;
    run->tiling_key = launch.tiling_key;
    run->workspace = launch.workspace;
    run->blocks = launch.blocks;
    return ok;
}

bool twin_project_run(Arena *arena, const TwinOpened *opened, const TwinCase *kase,
                      const TwinOptions *options, TwinTensors *outputs, TwinRun *run,
                      Verdict *verdict, Diag *diag)
{
    CaseRun c = {.arena = arena,
                 .opened = opened,
                 .kase = kase,
                 .options = options,
                 .verdict = verdict,
                 .diag = diag};
    verdict->stage = STAGE_TILING;
    *run = (TwinRun){0};
    if (!choose_op(&c))
        return false;
    mark_in_place(&c);
    collect(&c, &c.op->inputs, false);
    collect(&c, &c.op->outputs, true);
    if (!check_used(&c))
        return false;
    share_in_place(&c);
    if (!check_inputs(&c) || !infer_outputs(&c, outputs))
        return false;
    if (kase->inferred && !check_inferred(&c))
        return false;
    TwinTilingRequest request = tiling_request(&c);
    if (!twin_host_tiling(arena, opened->host, &request, options, &c.tiling, verdict))
        return false;
    if (options->scan)
        twin_host_scan(arena, opened->host, &request, options);
    TwinKernel *kernel = compile_case(&c);
    if (!kernel)
        return false;
    bool ok = launch_case(&c, kernel, outputs, run);
    twin_release(kernel);
    return ok;
}
