/* The public expert answers of NPUKernelBench as answers in its four modes.
 *
 *     bench-experts CLONE OUT [GLOB...]
 *
 * In: a clone of the benchmark; the experts are its tasks/.../T/answer/0. Out: OUT/MODE for each
 * mode, a directory as a run of the benchmark leaves one, for
 *
 *     acraft bench npukernelbench --suite-dir CLONE --answers OUT/MODE --rule npukb
 *
 *     full      the expert's host and kernel, headers put in, as the template's three files
 *     kernel    the template's own host starts every core and hands over no tiling data, so:
 *       static    what the expert's tiling function says of the one case stands in the kernel
 *       dynamic   a kernel is told no size, so only lists of tensors, which carry theirs, can be
 *                 done: Foreach experts with their tiling worked out in the kernel
 *
 * A line says what could not be made, and why. Without arguments nothing is done. */
#include "eval/candidate_int.h"
#include "loop/bench_judge_int.h"
#include "loop/bench_suite.h"
#include "twin/twin_int.h"
#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

static const int64_t most_case_bytes = INT64_C(12) << 20;

typedef struct Expert {
    Arena *arena;
    const char *out, *dir; /* dir: of the task in the clone */
    const BenchTask *task; /* ours, with its operand table */
    const char *op, *file; /* "ForeachSqrt", "foreach_sqrt" */
    EvalCandidate texts;
    Diag diag;
} Expert;

static void skip(const Expert *e, const char *mode, const char *why)
{
    printf("  %-16s %s: %s\n", mode, e->op, why);
}

/* ---- writing answers ---- */

static void write_answer(Expert *e, const char *mode, int64_t kase, Str answer)
{
    Buf json = {0};
    const char *fixed = kase < 0 ? "" : str_format(e->arena, "/fixed_case_%lld", (long long)kase);
    const char *dir = str_format(e->arena, "%s/%s/lvl%s/%s/%s%s/sample0/log", e->out, mode,
                                 e->task->level, e->task->category, e->op, fixed);
    buf_puts(&json, "{\"gen_content\": ");
    buf_json_str(&json, answer);
    buf_puts(&json, "}\n");
    const char *path = str_format(e->arena, "%s/%s_code_gen_prompt.json", dir, e->file);
    if (!file_make_dirs(dir, &e->diag) || !file_write(path, buf_view(&json), &e->diag))
        skip(e, mode, e->diag.items.at[0].text);
    buf_free(&json);
}

static void add_file(Buf *out, const char *path, Str text)
{
    buf_printf(out, "================== %s ==================\n```cpp\n", path);
    buf_str(out, text);
    buf_puts(out, "\n```\n");
}

static const EvalText *text_at(const Expert *e, const char *folder, const char *ending)
{
    for (uint32_t i = 0; i < e->texts.texts.len; i++) {
        const EvalText *t = &e->texts.texts.at[i];
        if (!strcmp(t->path, str_format(e->arena, "%s/%s%s", folder, e->file, ending)))
            return t;
    }
    return NULL;
}

/* Lines that only say where others come from would name files the answer does not have. */
static Str without_line_marks(Arena *arena, Str text)
{
    Buf out = {0};
    Str line;
    while (str_next(&text, '\n', &line)) {
        if (str_starts(line, "#line "))
            continue;
        buf_str(&out, line);
        buf_char(&out, '\n');
    }
    Str kept = str_copy(arena, buf_view(&out));
    buf_free(&out);
    return kept;
}

static Str whole_text(Expert *e, const EvalText *t)
{
    return without_line_marks(e->arena, eval_include(e->arena, &e->texts, t));
}

/* Definition and tiling in one: the template has one file for both. */
static Str host_text(Expert *e)
{
    TwinProject project;
    Buf all = {0};
    eval_candidate_project(e->arena, &e->texts, &project);
    for (uint32_t i = 0; i < project.host.len; i++) {
        buf_str(&all, without_line_marks(e->arena, project.host.at[i].text));
        buf_char(&all, '\n');
    }
    Str text = all.len ? str_copy(e->arena, buf_view(&all)) : STR("");
    buf_free(&all);
    return text;
}

static void write_full(Expert *e, int64_t kase)
{
    const EvalText *kernel = text_at(e, "op_kernel", ".cpp");
    const EvalText *tiling = text_at(e, "op_host", "_tiling.h");
    Buf answer = {0};
    Str host = host_text(e);
    if (!host.len || !kernel) {
        skip(e, "full", "its kernel is not called after the operator");
        return;
    }
    add_file(&answer, str_format(e->arena, "op_host/%s_tiling.h", e->file),
             tiling ? tiling->text : STR("// the host has its own"));
    add_file(&answer, str_format(e->arena, "op_host/%s.cpp", e->file), host);
    add_file(&answer, str_format(e->arena, "op_kernel/%s.cpp", e->file), whole_text(e, kernel));
    write_answer(e, "dynamic-full", -1, buf_view(&answer));
    if (kase >= 0)
        write_answer(e, "static-full", kase, buf_view(&answer));
    buf_free(&answer);
}

/* ---- kernels alone ---- */

/* The kernel's text with its last parameter gone, as the template has it, and `first` as the first
 * line of the entry. */
static bool as_template(Expert *e, Str text, const char *first, Buf *out)
{
    ptrdiff_t entry = str_find(text, STR("__global__"));
    Str rest = entry < 0 ? (Str){0} : str_slice(text, (size_t)entry, text.len);
    ptrdiff_t close = str_find(rest, STR(")")), open = str_find(rest, STR("{"));
    size_t comma = close < 0 ? 0 : (size_t)close;
    while (comma > 0 && rest.at[comma] != ',')
        comma--;
    if (!comma || open < close ||
        str_find(str_slice(rest, comma, (size_t)close), STR("tiling")) < 0)
        return false;
    buf_str(out, str_slice(text, 0, (size_t)entry + comma));
    buf_str(out, str_slice(rest, (size_t)close, (size_t)open + 1));
    buf_printf(out, "\n    %s\n", first);
    buf_str(out, str_slice(rest, (size_t)open + 1, rest.len));
    (void)e;
    return true;
}

static void put_macros(Buf *out, const char *type, const char *value)
{
    buf_printf(out,
               "#undef GET_TILING_DATA\n#undef GET_TILING_DATA_WITH_STRUCT\n#undef TILING_KEY_IS\n"
               "#define TILING_KEY_IS(key) ((key) == expert_key)\n"
               "#define GET_TILING_DATA(name, arg) %s name; %s\n"
               "#define GET_TILING_DATA_WITH_STRUCT(type, name, arg) type name; %s\n",
               type, value, value);
}

static void write_kernel(Expert *e, const char *mode, int64_t kase, Str prologue, const char *first)
{
    const EvalText *kernel = text_at(e, "op_kernel", ".cpp");
    Buf answer = {0};
    buf_puts(&answer, "<kernel_impl>\n```cpp\n#include \"kernel_operator.h\"\n");
    buf_str(&answer, prologue);
    if (!kernel || !as_template(e, whole_text(e, kernel), first, &answer)) {
        skip(e, mode, "its entry is not the template's");
    } else {
        buf_puts(&answer, "\n```\n</kernel_impl>\n");
        write_answer(e, mode, kase, buf_view(&answer));
    }
    buf_free(&answer);
}

/* The structs as the kernel knows them, without our own names. */
static Str struct_texts(Arena *arena, Str header, const char **type)
{
    static const char mark[] = "using acraft_tiling_default = ";
    Buf out = {0};
    Str line;
    *type = NULL;
    while (str_next(&header, '\n', &line)) {
        if (str_starts(line, mark) && str_ends(line, ";")) {
            *type = str_dup(arena, str_slice(line, sizeof mark - 1, line.len - 1));
            continue;
        }
        if (str_starts(line, "#"))
            continue;
        buf_str(&out, line);
        buf_char(&out, '\n');
    }
    Str text = out.len ? str_copy(arena, buf_view(&out)) : STR("");
    buf_free(&out);
    return text;
}

/* ---- static: the tiling of one case as literals ---- */

static void put_words(Buf *out, Str bytes)
{
    buf_puts(out, "constexpr uint64_t expert_words[] = {");
    for (size_t i = 0; i < bytes.len; i += 8) {
        uint64_t word = 0;
        memcpy(&word, bytes.at + i, bytes.len - i < 8 ? bytes.len - i : 8);
        buf_printf(out, "%s0x%llx", i ? ", " : "", (unsigned long long)word);
    }
    buf_puts(out, bytes.len ? "};\n" : "0};\n");
    buf_puts(out, "template <class T> __aicore__ inline void expert_take(T *to)\n{\n"
                  "    uint8_t *bytes = reinterpret_cast<uint8_t *>(to);\n"
                  "    for (uint32_t i = 0; i < sizeof(T); i++)\n"
                  "        bytes[i] = i / 8 < sizeof expert_words / 8\n"
                  "                       ? uint8_t(expert_words[i / 8] >> (i % 8 * 8)) : 0;\n}\n");
}

static void write_literals(Expert *e, int64_t kase, const TwinRun *run, Str header,
                           uint32_t all_blocks)
{
    const char *type, *guard = "";
    Buf prologue = {0};
    buf_str(&prologue, struct_texts(e->arena, header, &type));
    if (run->blocks < all_blocks)
        guard = str_format(e->arena, "if (AscendC::GetBlockIdx() >= %u) return;", run->blocks);
    if (!type || run->workspace) {
        skip(e, "static-kernel",
             type ? "it needs a workspace, which the template has not" : "it has no tiling struct");
    } else {
        buf_printf(&prologue, "constexpr uint64_t expert_key = %lluull;\n",
                   (unsigned long long)run->tiling_key);
        put_words(&prologue, run->tiling);
        put_macros(&prologue, type, "expert_take(&name)");
        write_kernel(e, "static-kernel", kase, buf_view(&prologue), guard);
    }
    buf_free(&prologue);
}

/* ---- dynamic: sizes from the list's own description ---- */

static const char list_tiling[] =
    "template <class T> __aicore__ inline void expert_take(ForeachCommonTilingData *to, GM_ADDR "
    "list)\n"
    "{\n"
    "    ListTensorDesc all(reinterpret_cast<__gm__ void *>(list));\n"
    "    int64_t total = 0, unit = 32 / int64_t(sizeof(T));\n"
    "    uint32_t count = all.GetSize();\n"
    "    for (uint32_t i = 0; i < count; i++) {\n"
    "        uint64_t shape[8] = {0};\n"
    "        TensorDesc<uint8_t> one;\n"
    "        one.SetShapeAddr(shape);\n"
    "        all.GetDesc(one, i);\n"
    "        int64_t n = 1;\n"
    "        for (uint64_t d = 0; d < one.GetDim(); d++) n *= int64_t(shape[d]);\n"
    "        to->tensorDataCountList[i] = n;\n"
    "        total += n;\n"
    "    }\n"
    "    int64_t cores = AscendC::GetBlockNum(), me = AscendC::GetBlockIdx();\n"
    "    int64_t share = ((total + cores - 1) / cores + unit - 1) / unit * unit;\n"
    "    int64_t from = share * me, end = from + share < total ? from + share : total;\n"
    "    to->inputsTensorUbSize = 4096;\n"
    "    to->tensorStartList[me] = 1;\n"
    "    to->tensorEndList[me] = 0;\n"
    "    int64_t at = 0;\n"
    "    bool begun = false;\n"
    "    for (uint32_t i = 0; i < count; i++) {\n"
    "        int64_t n = to->tensorDataCountList[i];\n"
    "        if (from < at + n && end > at && from < end) {\n"
    "            if (!begun) {\n"
    "                to->tensorStartList[me] = uint16_t(i);\n"
    "                to->tensorStartOffsetList[me] = from > at ? from - at : 0;\n"
    "                begun = true;\n"
    "            }\n"
    "            to->tensorEndList[me] = uint16_t(i);\n"
    "            to->tensorEndOffsetList[me] = (end < at + n ? end - at : n) - 1;\n"
    "        }\n"
    "        at += n;\n"
    "    }\n"
    "}\n"
    "constexpr uint64_t expert_key = std::is_same<ListType, half>::value ? 1\n"
    "    : std::is_same<ListType, float>::value ? 2\n"
    "    : std::is_same<ListType, int32_t>::value ? 3 : 4;\n";

static const char *upper(Arena *arena, const char *name)
{
    char *copy = str_dup(arena, str_from(name));
    for (char *at = copy; *at; at++)
        *at = (char)toupper((unsigned char)*at);
    return copy;
}

/* The entry's first parameter. */
static const char *first_parameter(Expert *e)
{
    const EvalText *kernel = text_at(e, "op_kernel", ".cpp");
    TwinEntries entries = {0};
    if (kernel)
        twin_entry_scan(e->arena, kernel->text, &entries);
    return entries.len && entries.at[0].params.len ? entries.at[0].params.at[0].name : "x";
}

static void write_list(Expert *e, Str header, const char *declared)
{
    const char *list = first_parameter(e);
    const char *type;
    Buf prologue = {0};
    Str structs = struct_texts(e->arena, header, &type);
    if (!type || strcmp(type, "ForeachCommonTilingData") != 0) {
        skip(e, "dynamic-kernel", "nobody tells the kernel a size");
        return;
    }
    buf_puts(&prologue, "#include <type_traits>\nusing namespace AscendC;\n");
    buf_str(&prologue, structs);
    buf_printf(&prologue, "using ListType = DTYPE_%s;\n", upper(e->arena, declared));
    buf_puts(&prologue, list_tiling);
    put_macros(&prologue, type, str_format(e->arena, "expert_take<ListType>(&name, %s)", list));
    write_kernel(e, "dynamic-kernel", -1, buf_view(&prologue), "");
    buf_free(&prologue);
}

/* ---- a case of the expert, run once for its tiling ---- */

/* The first listed case that is small enough to be judged at its own size; -1: none. */
static int64_t choose_case(Expert *e, const JudgeTask *task, const TorchCases *cases,
                           TorchTask **read, TorchOptions *options)
{
    for (uint32_t i = 0; i < cases->lines.len; i++) {
        CaseSpec c = {.name = "listed", .scale = SCALE_FULL, .listed = i};
        int64_t bytes, largest;
        *read = case_read(e->arena, task, &c, cases, options, &e->diag);
        if (*read && graph_bytes((*read)->graph, &bytes, &largest) && bytes <= most_case_bytes)
            return i;
    }
    return -1;
}

static bool run_case(Expert *e, EvalJudge *j, TwinOpened *opened, TwinRun *run)
{
    EvalTensors tensors = {0};
    TwinTensors made = {0};
    bool ok = eval_tensors(j, &tensors);
    TwinCase kase = {.tensors = tensors.at, .tensor_count = tensors.count, .attrs = tensors.attrs};
    ok = ok && twin_project_run(e->arena, opened, &kase, &j->twin, &made, run, j->verdict, j->diag);
    for (uint32_t i = 0; i < made.len; i++)
        twin_tensor_free(&made.at[i]);
    eval_tensors_free(j, &tensors);
    return ok;
}

static uint32_t cores_of(Expert *e, const NpuChip *chip)
{
    const char *question = path_join(e->arena, e->dir, "question/op_host");
    Str host;
    const char *path = path_join(e->arena, question, str_format(e->arena, "%s.cpp", e->file));
    bool cube = file_read(e->arena, path, 1 << 20, &host, &e->diag) &&
                (str_find(host, STR("GetCoreNumAic")) >= 0);
    return cube ? chip->aic : chip->aiv;
}

static void write_kernels(Expert *e, const JudgeTask *task, int64_t kase, TorchTask *read,
                          const TorchOptions *options)
{
    EvalReference ref;
    EvalConfig config = {.chip = npu_chip_find(STR("910B2")), .trust = true};
    Verdict verdict = verdict_make();
    EvalJudge j = {.arena = e->arena,
                   .candidate = &e->texts,
                   .ref = &ref,
                   .config = &config,
                   .twin = {.chip = config.chip, .trust = true, .keep_going = true},
                   .verdict = &verdict,
                   .diag = &e->diag};
    TwinProject project;
    TwinRun run = {0};
    Str header = {0};
    const char *list = "";
    if (!eval_reference(e->arena, read->graph, 0, RULE_NPUKB, &ref, &e->diag)) {
        skip(e, "kernel", "the case has no reference");
        return;
    }
    eval_reference_model(e->arena, task->path, task->source, read, options, &ref);
    eval_candidate_project(e->arena, &e->texts, &project);
    TwinOpened *opened = twin_project_open(e->arena, &project, &j.twin, &verdict, &e->diag);
    bool ok = opened && run_case(e, &j, opened, &run);
    if (opened) {
        const TwinOps *ops = twin_host_ops(twin_project_host(opened));
        ok = ok && ops->len && ops->at[0].inputs.len &&
             twin_host_header(e->arena, twin_project_host(opened), &ops->at[0], &j.twin, &header,
                              &verdict);
        list = ok ? str_dup(e->arena, str_from(ops->at[0].inputs.at[0].name)) : "";
        twin_project_close(opened);
    }
    eval_reference_free(&ref);
    if (!ok) {
        skip(e, "kernel", verdict.reason);
        return;
    }
    write_literals(e, kase, &run, header, cores_of(e, config.chip));
    write_list(e, header, list);
}

/* ---- all of them ---- */

static const char *file_name_of(Arena *arena, const char *dir)
{
    NameList names = {0};
    Diag quiet = diag_make(arena, dir, STR(""));
    const char *folder = path_join(arena, dir, "question/op_kernel");
    if (!file_is_dir(folder) || !file_list(arena, folder, &names, &quiet) || !names.len)
        return NULL;
    return str_dup(arena, path_stem(names.at[0]));
}

static void make_answers(Arena *arena, const char *clone, const char *out, const BenchTask *ours)
{
    Expert e = {.arena = arena, .out = out, .task = ours, .op = ours->name};
    JudgeTask task = {.path = ours->path, .name = ours->name, .category = ours->category};
    TorchCases cases = {0};
    TorchOptions options;
    TorchTask *read = NULL;
    e.diag = diag_make(arena, ours->path, STR(""));
    e.dir = str_format(arena, "%s/tasks/level%s/%s/%s", clone, ours->level, ours->category,
                       ours->name);
    e.file = file_name_of(arena, e.dir);
    if (!e.file ||
        !eval_candidate_read(arena, path_join(arena, e.dir, "answer/0"), &e.texts, &e.diag)) {
        skip(&e, "all", "no expert answer");
        return;
    }
    if (!file_read(arena, task.path, 1 << 20, &task.source, &e.diag) ||
        !torch_cases(arena, task.path, &cases, &e.diag))
        return;
    int64_t kase = choose_case(&e, &task, &cases, &read, &options);
    write_full(&e, kase);
    if (kase >= 0)
        write_kernels(&e, &task, kase, read, &options);
    else
        skip(&e, "static", "every case is too large to be judged at its own size");
}

static bool named(const char *name, char **globs, int count)
{
    for (int i = 0; i < count; i++)
        if (fnmatch(globs[i], name, 0) == 0)
            return true;
    return count == 0;
}

int main(int argc, char **argv)
{
    Arena arena = {0};
    BenchSuite suite;
    Diag diag = diag_make(&arena, "", STR(""));
    BenchPick pick = {.suite = "npukernelbench", .home = "."};
    if (argc < 3) {
        printf("bench-experts CLONE OUT [GLOB...]: experts as answers in four modes\n");
        return 0;
    }
    if (!bench_suite(&arena, &pick, &suite, &diag)) {
        fprintf(stderr, "%s\n", diag.items.at[0].text);
        return 1;
    }
    for (uint32_t i = 0; i < suite.tasks.len; i++) {
        Arena own = {0};
        if (named(suite.tasks.at[i].name, argv + 3, argc - 3))
            make_answers(&own, argv[1], argv[2], &suite.tasks.at[i]);
        fflush(stdout);
        arena_drop(&own);
    }
    arena_drop(&arena);
    return 0;
}
