/* From AscendC text to a compiled kernel. In: TwinSource. Out: TwinKernel, one program for each
 * kind of core the kernel runs on (a mixed kernel is compiled twice, as on the device). */
#include "twin/twin_int.h"

#include "base/file.h"
#include "twin/include/acraft/core.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Lets C++ read a rewritten launch: launch(blocks, l2, stream)(args), after kernel<half> ->* where
 * it has template arguments. Host code that launches is compiled along but never runs; the tool
 * launches the entry itself. */
static const char launch_syntax[] =
    "namespace acraft {\n"
    "struct LaunchArgs {};\n"
    "struct Launch { template <class... A> LaunchArgs operator()(A &&...) const { return {}; } };\n"
    "template <class... A> Launch make_launch(A &&...) { return {}; }\n"
    "template <class F> void operator->*(F *, LaunchArgs) {}\n"
    "}\n"
    "#define main acraft_host_main\n"
    "#define ACRAFT_LAUNCH(...) acraft::make_launch(__VA_ARGS__)\n"
    "#define ACRAFT_LAUNCH_OF(...) ->*acraft::make_launch(__VA_ARGS__)\n";

/* KernelMetaType_ of acraft/base.h, as task records carry it. */
enum { TASK_AIV, TASK_AIC, TASK_MIX_AIV_1_0, TASK_MIX_AIC_1_0, TASK_MIX_1_1, TASK_MIX_1_2 };

static bool has_word(Str text, const char *word)
{
    size_t len = strlen(word);
    for (Str rest = text;;) {
        ptrdiff_t at = str_find(rest, str_from(word));
        if (at < 0)
            return false;
        size_t end = (size_t)at + len;
        bool left = at == 0 || !(rest.at[at - 1] == '_' || (rest.at[at - 1] | 32) >= 'a');
        if (left)
            return true;
        rest = str_slice(rest, end, rest.len);
    }
}

static bool has_any(Str text, const char *const *words)
{
    for (; *words; words++)
        if (has_word(text, *words))
            return true;
    return false;
}

/* What the device compiler finds out by itself where the text names no task type. */
static SimKind guess_kind(Str text)
{
    static const char *const both[] = {"KERNEL_TYPE_MIX_AIC_1_2", "KERNEL_TYPE_MIX_AIC_1_1",
                                       "REGIST_MATMUL_OBJ", "__mix__", NULL};
    static const char *const cube[] = {"KERNEL_TYPE_AIC_ONLY", "KERNEL_TYPE_MIX_AIC_1_0",
                                       "__cube__", "Mmad", NULL};
    static const char *const vector[] = {"KERNEL_TYPE_AIV_ONLY", "KERNEL_TYPE_MIX_AIV_1_0",
                                         "__vector__", NULL};
    if (has_any(text, vector) && !has_any(text, both))
        return SIM_AIV;
    if (has_word(text, "KERNEL_TYPE_MIX_AIC_1_1") && !has_word(text, "KERNEL_TYPE_MIX_AIC_1_2"))
        return SIM_MIX_1_1;
    if (has_any(text, both))
        return SIM_MIX_1_2;
    static const char *const halves[] = {"ASCEND_IS_AIV", "CrossCoreSetFlag", NULL};
    if (has_any(text, cube))
        return has_any(text, halves) ? SIM_MIX_1_2 : SIM_AIC;
    return SIM_AIV;
}

static SimKind kind_of_cores(TwinCores cores, Str text)
{
    switch (cores) {
    case TWIN_CORES_VECTOR: return SIM_AIV;
    case TWIN_CORES_CUBE: return SIM_AIC;
    case TWIN_CORES_MIX_1_1: return SIM_MIX_1_1;
    case TWIN_CORES_MIX_1_2: return SIM_MIX_1_2;
    case TWIN_CORES_UNSAID: break;
    }
    return guess_kind(text);
}

static SimKind kind_of_task(uint32_t type, SimKind otherwise)
{
    switch (type) {
    case TASK_AIV:
    case TASK_MIX_AIV_1_0: return SIM_AIV;
    case TASK_AIC:
    case TASK_MIX_AIC_1_0: return SIM_AIC;
    case TASK_MIX_1_1: return SIM_MIX_1_1;
    case TASK_MIX_1_2: return SIM_MIX_1_2;
    default: return otherwise;
    }
}

SimKind twin_kernel_kind(const TwinKernel *kernel, uint64_t tiling_key)
{
    SimKind kind = kernel->guess;
    for (uint32_t i = 0; i < kernel->tasks.len; i++)
        if (kernel->tasks.at[i].key == ~0ull)
            kind = kind_of_task(kernel->tasks.at[i].type, kind);
    for (uint32_t i = 0; i < kernel->tasks.len; i++)
        if (kernel->tasks.at[i].key == tiling_key)
            kind = kind_of_task(kernel->tasks.at[i].type, kind);
    return kind;
}

bool twin_kernel_alone(const TwinKernel *kernel, uint64_t tiling_key)
{
    bool alone = false, own = false;
    for (uint32_t i = 0; i < kernel->tasks.len; i++) {
        const TwinTask *task = &kernel->tasks.at[i];
        bool of_key = task->key == tiling_key;
        if (of_key || (task->key == ~0ull && !own))
            alone = task->type == TASK_AIV || task->type == TASK_AIC;
        own = own || of_key;
    }
    return alone;
}

const char *twin_kernel_name(const TwinKernel *kernel) { return kernel->name; }
const TwinParams *twin_kernel_params(const TwinKernel *kernel) { return &kernel->params; }

/* --- choosing the entry ---------------------------------------------------------------------- */

static const char *entry_list(Arena *arena, const TwinEntries *entries)
{
    const char *list = "";
    for (uint32_t i = 0; i < entries->len && i < 8; i++)
        list = str_format(arena, "%s%s%s", list, i ? ", " : "", entries->at[i].name);
    return list;
}

/* `name` may carry its namespace and template arguments: kernels::add<half>. */
static const TwinEntry *find_entry(const TwinEntries *entries, const char *name)
{
    ptrdiff_t angle = str_find(str_from(name), STR("<")), colons;
    Str bare = str_trim(str_slice(str_from(name), 0, angle < 0 ? strlen(name) : (size_t)angle));
    while ((colons = str_find(bare, STR("::"))) >= 0)
        bare = str_slice(bare, (size_t)colons + 2, bare.len);
    for (uint32_t i = 0; i < entries->len; i++)
        if (str_is(bare, entries->at[i].name))
            return &entries->at[i];
    return NULL;
}

static const TwinEntry *choose_entry(Arena *arena, const TwinSource *source,
                                     const TwinEntries *entries, Verdict *verdict)
{
    const TwinEntry *found = NULL;
    const char *why = NULL;
    if (source->kernel)
        found = find_entry(entries, source->kernel);
    else if (entries->len == 1)
        found = &entries->at[0];
    if (!entries->len)
        why = "no kernel in the text: no function is declared __global__ "
              "(a PyTorch model file is a task: acraft make writes a kernel for it)";
    else if (!found && source->kernel)
        why = str_format(arena, "no kernel '%s' in the text; there is: %s", source->kernel,
                         entry_list(arena, entries));
    else if (!found)
        why = str_format(arena, "several kernels in the text, name one: %s",
                         entry_list(arena, entries));
    else if (found->is_template && !strchr(source->kernel ? source->kernel : "", '<') &&
             !(source->template_args && source->template_args[0]))
        why = str_format(arena, "'%s' is a template: name its arguments, as in %s<half>",
                         found->name, found->name);
    if (why)
        verdict_fail(verdict, VERDICT_NOT_COMPILED, STAGE_COMPILE, why);
    return why ? NULL : found;
}

/* --- the translation unit -------------------------------------------------------------------- */

void twin_add_define(Buf *out, const char *define)
{
    const char *equals = strchr(define, '=');
    if (equals)
        buf_printf(out, "#define %.*s %s\n", (int)(equals - define), define, equals + 1);
    else
        buf_printf(out, "#define %s 1\n", define);
}

Str twin_without_mark(Str text)
{
    return str_starts(text, "\xef\xbb\xbf") ? str_slice(text, 3, text.len) : text;
}

static bool is_library_name(const char *name)
{
    static const char *const names[] = {
#define IMPORT(name) #name,
#include "twin/imports.def"
#undef IMPORT
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static void add_line_mark(Buf *out, const char *path)
{
    buf_puts(out, "#line 1 ");
    buf_json_str(out, str_from(path)); /* escapes what C++ would misread */
    buf_char(out, '\n');
}

/* The device compiler's attribute in its longer form, [host, aicore], as the short one that the
 * headers know; mostly inside a #define. */
static Str shorten_attribute(Arena *arena, Str text)
{
    Buf out = {0};
    Str rest = text, longer = STR("[host, aicore]");
    for (ptrdiff_t at; (at = str_find(rest, longer)) >= 0;) {
        buf_str(&out, str_slice(rest, 0, (size_t)at));
        buf_puts(&out, "[aicore]");
        rest = str_slice(rest, (size_t)at + longer.len, rest.len);
    }
    buf_str(&out, rest);
    Str result = str_copy(arena, buf_view(&out));
    buf_free(&out);
    return result;
}

static Str unit_text(Arena *arena, const TwinSource *source, const TwinEntry *entry)
{
    uint32_t launches;
    Str text = twin_entry_rewrite_launches(arena, twin_without_mark(source->text), &launches);
    text = shorten_attribute(arena, text);
    Buf out = {0};
    buf_puts(&out, "#include \"kernel_operator.h\"\n");
    if (launches)
        buf_puts(&out, launch_syntax);
    for (const char *const *define = source->defines; define && *define; define++)
        twin_add_define(&out, *define);
    buf_str(&out, source->prelude);
    buf_puts(&out, "\n#ifndef ACRAFT_TILING_STRUCT\n"
                   "#define ACRAFT_TILING_STRUCT acraft_tiling_default\n#endif\n");
    /* The device has no libm, so a kernel may be called sqrt. */
    if (is_library_name(entry->name))
        buf_printf(&out, "\n#define %s acraft_kernel_%s\n", entry->name, entry->name);
    buf_char(&out, '\n');
    add_line_mark(&out, source->path);
    buf_str(&out, text);
    buf_puts(&out, "\n#line 1 \"acraft-trampoline\"\n#include \"acraft/launch.h\"\n");
    /* From outside every namespace: an API may have the entry's name. */
    const char *name = source->kernel ? source->kernel : entry->name;
    bool given = entry->is_template && source->template_args && !strchr(name, '<');
    if (given)
        buf_printf(&out, "ACRAFT_ENTRY(::%s<%s>)\n", name, source->template_args);
    else
        buf_printf(&out, "ACRAFT_ENTRY(::%s)\n", name);
    Str unit = str_copy(arena, buf_view(&out));
    buf_free(&out);
    return unit;
}

static const char *const *include_dirs(Arena *arena, const TwinSource *source)
{
    VEC(const char *) dirs = {0};
    char real[PATH_MAX];
    if (source->dir && realpath(source->dir, real))
        vec_push(arena, &dirs, str_dup(arena, str_from(real)));
    for (const char *const *dir = source->include_dirs; dir && *dir; dir++)
        if (realpath(*dir, real))
            vec_push(arena, &dirs, str_dup(arena, str_from(real)));
    vec_push(arena, &dirs, NULL);
    return dirs.at;
}

/* --- both halves ----------------------------------------------------------------------------- */

static bool build_half(Arena *arena, const TwinPlaces *places, BuildUnit unit, int role,
                       const TwinOptions *options, TwinKernel *kernel, Verdict *verdict, Diag *diag)
{
    static const char *const cube_flags[] = {"-DACRAFT_CORE_AIC", NULL};
    unit.flags = role ? cube_flags : NULL;
    BuildResult built;
    if (!twin_build_program(arena, places, &unit, options, &built, verdict, diag))
        return false;
    kernel->exe[role] = built.exe;
    if (!kernel->tasks.len)
        for (uint32_t i = 0; i < built.object.tasks.len; i++)
            vec_push(arena, &kernel->tasks, built.object.tasks.at[i]);
    for (uint32_t i = 0; i < built.object.variables.len; i++)
        vec_push(arena, &kernel->variables, built.object.variables.at[i]);
    return true;
}

static bool names_ok(Arena *arena, const TwinSource *source, const TwinOptions *options,
                     Verdict *verdict)
{
    const char *name = options->any_import ? NULL : twin_names_foreign(arena, source->text);
    if (name)
        twin_names_refuse(arena, name, source->path, verdict);
    if (name)
        return false;
    name = options->any_import ? NULL : twin_names_machine(arena, source->text);
    if (name)
        verdict_fail(verdict, VERDICT_NOT_COMPILED, STAGE_COMPILE,
                     str_format(arena,
                                "%s asks for '%s', which the board does not have: the kernel there "
                                "would be another one",
                                source->path, name));
    return !name;
}

/* Entries that stand in no plain text: made by a macro, or declared twice under #if. */
static bool macros_decide(const TwinEntries *entries, const TwinSource *source)
{
    bool named = !source->kernel || find_entry(entries, source->kernel);
    for (uint32_t i = 0; i < entries->len; i++)
        if (entries->at[i].two_heads)
            return true;
    return (!entries->len || !named) && str_find(source->text, STR("#define")) >= 0;
}

/* The entries as the preprocessor leaves them; where it fails, those of the text stay. */
static void scan_preprocessed(Arena *arena, const TwinPlaces *places, const TwinSource *source,
                              const TwinOptions *options, TwinEntries *entries)
{
    Buf out = {0};
    buf_puts(&out, "#include \"kernel_operator.h\"\n");
    for (const char *const *define = source->defines; define && *define; define++)
        twin_add_define(&out, *define);
    buf_str(&out, source->prelude);
    buf_char(&out, '\n');
    buf_str(&out, twin_without_mark(source->text));
    BuildText text = {.text = str_copy(arena, buf_view(&out)), .shown = source->path};
    BuildUnit unit = {.texts = &text, .text_count = 1, .include_dirs = include_dirs(arena, source)};
    Str expanded;
    TwinEntries found = {0};
    buf_free(&out);
    if (!twin_build_preprocess(arena, places, &unit, options, &expanded))
        return;
    twin_entry_scan(arena, expanded, &found);
    if (found.len)
        *entries = found;
}

/* Whether vector (0) or cube (1) cores run it: by the text, and by the task types of what is built, which a
 * header may hold that the text includes. */
static bool runs_on(const TwinKernel *kernel, int role)
{
    SimKind other = role ? SIM_AIV : SIM_AIC;
    bool runs = kernel->guess != other;
    for (uint32_t i = 0; i < kernel->tasks.len; i++)
        runs = runs || kind_of_task(kernel->tasks.at[i].type, other) != other;
    return runs;
}

TwinKernel *twin_compile(Arena *arena, const TwinSource *source, const TwinOptions *options,
                         Verdict *verdict, Diag *diag)
{
    TwinPlaces places;
    TwinEntries entries = {0};
    verdict->stage = STAGE_COMPILE;
    twin_entry_scan(arena, source->text, &entries);
    if (!twin_places_find(arena, options, &places, verdict))
        return NULL;
    if (macros_decide(&entries, source))
        scan_preprocessed(arena, &places, source, options, &entries);
    const TwinEntry *entry = choose_entry(arena, source, &entries, verdict);
    if (!entry || !names_ok(arena, source, options, verdict))
        return NULL;
    TwinCores cores = source->cores != TWIN_CORES_UNSAID ? source->cores : entry->cores;
    TwinKernel *kernel = arena_new(arena, TwinKernel);
    *kernel = (TwinKernel){.name = entry->name,
                           .path = source->path,
                           .text = str_copy(arena, source->text),
                           .params = entry->params,
                           .exe = {-1, -1},
                           .guess = kind_of_cores(cores, source->text)};
    BuildText text = {.text = unit_text(arena, source, entry), .shown = source->path};
    BuildUnit unit = {.texts = &text,
                      .text_count = 1,
                      .include_dirs = include_dirs(arena, source),
                      .mixed = str_find(source->text, STR("<<<")) >= 0};
    bool ok = true;
    for (int role = 0; ok && role < 2; role++)
        if (runs_on(kernel, role))
            ok = build_half(arena, &places, unit, role, options, kernel, verdict, diag);
    if (ok && kernel->exe[0] < 0 && runs_on(kernel, 0))
        ok = build_half(arena, &places, unit, 0, options, kernel, verdict, diag);
    verdict->compiled = ok ? VERDICT_YES : VERDICT_NO;
    if (!ok)
        twin_release(kernel);
    return ok ? kernel : NULL;
}

void twin_release(TwinKernel *kernel)
{
    for (int i = 0; i < 2; i++) {
        if (kernel->exe[i] >= 0)
            close(kernel->exe[i]);
        kernel->exe[i] = -1;
    }
}
