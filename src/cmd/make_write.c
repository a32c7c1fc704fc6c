/* The directory of a made kernel. */
#include "cmd/make.h"

#include "base/file.h"
#include "craft/craft.h"
#include "emit/emit.h"
#include "eval/interval.h"
#include "ir/range.h"
#include "report/report.h"

static bool lower_all(Arena *arena, const char *file, Str craft, const NpuChip *chip, EmitInput *in,
                      Diag *diag)
{
    CraftFile *read = craft_read(arena, file, craft, diag);
    for (uint32_t v = 0; read && v < craft_variant_count(read); v++) {
        IrProgram *p = craft_program(arena, read, v, diag);
        if (p)
            ir_annotate(p, chip);
        AscProgram *asc = p ? lower_program(arena, p, chip, LOWER_ALIGN, diag) : NULL;
        if (!asc)
            return false;
        vec_push(arena, &in->variants, asc);
    }
    return read != NULL;
}

static void add_file(Arena *arena, EmitFiles *files, const char *path, Buf *text)
{
    EmitFile file = {.path = path, .text = str_copy(arena, buf_view(text))};
    buf_free(text);
    vec_push(arena, files, file);
}

/* Verdicts without what differs from run to run. */
static MakeVerdicts timeless(Arena *arena, const MakeVerdicts *verdicts)
{
    MakeVerdicts out = {0};
    Verdict *copies = arena_array(arena, Verdict, verdicts->len + 1);
    for (uint32_t i = 0; i < verdicts->len; i++) {
        copies[i] = *verdicts->at[i];
        copies[i].seconds = 0;
        vec_push(arena, &out, &copies[i]);
    }
    return out;
}

/* A line that is indented, or starts small, goes on with the one before. */
static void add_reasons(Arena *arena, Str craft, ReportKernel *kernel)
{
    Str line;
    while (str_next(&craft, '\n', &line) && str_starts(line, "#")) {
        Str said = str_trim(str_slice(line, 1, line.len));
        bool goes_on = str_starts(line, "#  ") ||
                       (said.len && said.at[0] >= 'a' && said.at[0] <= 'z');
        if (goes_on && kernel->reasons.len)
            vec_last(&kernel->reasons) = str_format(arena, "%s %.*s", vec_last(&kernel->reasons),
                                                    STR_ARG(said));
        else
            vec_push(arena, &kernel->reasons, str_dup(arena, said));
    }
}

static bool is_craft(const EmitFile *f) { return str_ends(str_from(f->path), ".craft"); }

static bool has_file(const EmitFiles *files, const char *start)
{
    for (uint32_t i = 0; i < files->len; i++)
        if (str_starts(str_from(files->at[i].path), start))
            return true;
    return false;
}

/* The last lines of the page's summary; README.md says more. */
static const char *next_text(Arena *arena, const EmitFiles *files)
{
    Buf out = {0};
    buf_puts(&out, "  next      ./build.sh builds the package for CANN");
    if (has_file(files, "cases/"))
        buf_puts(&out, ", ./board.sh runs cases/ on a board");
    if (has_file(files, "torch/module.py"))
        buf_puts(&out, ",\n            torch/module.py takes the place of the model");
    if (has_file(files, "example/"))
        buf_puts(&out, ", example/ calls it from C++");
    buf_char(&out, '\n');
    const char *text = buf_take(&out, arena);
    buf_free(&out);
    return text;
}

static void add_page(Arena *arena, const MakeFiles *made, const MakeVerdicts *verdicts,
                     const MakeVerdicts *written, EmitFiles *files)
{
    ReportKernel kernel = {
        .name = made->name,
        .chip = made->chip->name,
        .version = ACRAFT_VERSION,
        .task = made->task,
        .dtypes = made->dtypes ? made->dtypes : "",
        .several = made->several,
        .summary = str_format(arena, "%.*s%s", STR_ARG(made->summary),
                              has_file(files, "build.sh") ? next_text(arena, files) : ""),
        .unfused_us = made->unfused_us,
        .eager_us = made->eager_us};
    Buf html = {0};
    if (made->sizes)
        vec_push(arena, &kernel.reasons, str_format(arena, "In what follows %s.", made->sizes));
    add_reasons(arena, made->craft, &kernel);
    for (int craft = 1; craft >= 0; craft--) /* first */
        for (uint32_t i = 0; i < files->len; i++)
            if (is_craft(&files->at[i]) == craft &&
                !str_starts(str_from(files->at[i].path), "cases/"))
                vec_push(arena, &kernel.files,
                         ((ReportFile){files->at[i].path, files->at[i].text}));
    kernel.trace = made->trace;
    kernel.timed_trace = made->timed_trace;
    for (uint32_t i = 1; i <= verdicts->len; i++) /* the small case last: the trace is its */
        vec_push(arena, &kernel.verdicts, verdicts->at[i % verdicts->len]);
    for (uint32_t i = 0; i < written->len; i++)
        vec_push(arena, &kernel.written, written->at[i]);
    const Verdict *timed = report_timed(&kernel);
    NpuInterval range = timed ? eval_interval(timed) : (NpuInterval){0};
    kernel.low_us = range.low;
    kernel.high_us = range.high;
    report_kernel(&kernel, &html);
    add_file(arena, files, "report.html", &html);
}

/* What to do with it, in the order in which it is done. */
static void put_next_steps(const EmitFiles *files, const char *name, const char *type, Buf *out)
{
    buf_printf(
        out,
        "\n## Next steps\n\n"
        "On a machine with CANN, after `source set_env.sh`:\n\n"
        "1. `./build.sh` writes the package `build/*.run`. CANN 9.0.0 and newer build "
        "`CMakeLists.txt` (`find_package(ASC)`); for older toolkits their own `msopgen` makes "
        "the project around these sources (`./build.sh msopgen`).\n"
        "2. `./build/*.run --install-path=DIR` installs it; `ASCEND_CUSTOM_OPP_PATH` names "
        "DIR/vendors/VENDOR. The C interface is `aclnn%s` in `aclnn_%s.h`.\n",
        type, name);
    if (has_file(files, "example/"))
        buf_puts(out, "3. `example/` calls it from C++ on a case and compares.\n");
    else
        buf_puts(out, "3. From C++: the header is written by the build.\n");
    buf_printf(
        out,
        "4. `torch/`: `python3 setup.py build_ext --inplace` builds `torch.ops.acraft_%s.%s`.%s\n"
        "5. `./board.sh` does all of it on a machine with a board, runs `cases/` and "
        "profiles.\n",
        name, name,
        has_file(files, "torch/module.py")
            ? " `torch/module.py` has a module that takes the place of the model."
            : "");
}

static void add_readme(Arena *arena, const MakeFiles *made, const EmitInput *in, EmitFiles *files)
{
    Buf out = {0};
    const char *name = emit_op_name(arena, in), *type = emit_op_type(arena, in);
    buf_printf(&out,
               "# %s\n\nAn operator for %s, made by acraft %s from `%s`. Its type is `%s`%s.\n\n",
               made->name, made->chip->name, ACRAFT_VERSION, made->task, type,
               emit_is_builtin(type) ? "; CANN has one of this type itself: where both are "
                                       "installed, the order of the packages decides"
                                     : "");
    if (made->operands)
        buf_printf(&out, "%s\n", made->operands);
    if (made->sizes)
        buf_printf(&out, "In the Craft program %s.\n\n", made->sizes);
    buf_printf(
        &out,
        "| file | what it is |\n|---|---|\n"
        "| `%s.craft` | the kernel and why it is so; `acraft check`, `run` and `tune` take it |\n"
        "| `op_host/`, `op_kernel/`, `CMakeLists.txt`, `%s.json` | the operator project: "
        "definition, "
        "tiling, AscendC |\n"
        "| `build.sh`, `CMakePresets.json` | build the operator package, with old and new toolkits "
        "|\n"
        "| `torch/`, `test_op.py` | the operator in PyTorch (torch_npu), and a test of it |\n"
        "| `board.sh` | builds, installs, tests and profiles it: on a machine with CANN and a "
        "board, "
        "after `source set_env.sh` |\n",
        made->name, name);
    if (has_file(files, "example/"))
        buf_puts(&out, "| `example/` | a program in C++ that calls the C interface on a case |\n");
    if (made->samples.len)
        buf_puts(&out, "| `cases/` | inputs and expected results, as .npy |\n");
    if (made->summary.len)
        buf_puts(
            &out,
            "| `report.html` | what was proved, checked and predicted; opens in any browser |\n");
    buf_puts(&out, "| `verdicts.jsonl` | the same case by case, for programs |\n");
    if (made->trace.len)
        buf_puts(&out,
                 "| `trace.json` | the small case instruction by instruction, for Perfetto |\n");
    put_next_steps(files, name, type, &out);
    buf_printf(&out,
               "\nA case is a directory: `CASES/NAME/in_X.npy` holds the input X, `out_Y.npy` the "
               "expected result Y (%s).\n",
               made->samples.len ? "as in `cases/`"
                                 : "none is stored here: the program takes no size that is small");
    if (made->summary.len)
        buf_printf(&out, "\n```\n%.*s```\n", STR_ARG(made->summary));
    add_file(arena, files, "README.md", &out);
}

static void put_verdicts(const MakeVerdicts *verdicts, Buf *lines)
{
    for (uint32_t i = 0; i < verdicts->len; i++) {
        verdict_to_json(verdicts->at[i], lines);
        buf_char(lines, '\n');
    }
}

static void add_evidence(Arena *arena, const MakeFiles *made, EmitFiles *files)
{
    MakeVerdicts verdicts = timeless(arena, &made->verdicts);
    MakeVerdicts written = timeless(arena, &made->written);
    Buf lines = {0}, trace = {0};
    if (made->summary.len)
        add_page(arena, made, &verdicts, &written, files);
    put_verdicts(&verdicts, &lines);
    put_verdicts(&written, &lines);
    add_file(arena, files, "verdicts.jsonl", &lines);
    buf_str(&trace, made->trace);
    if (trace.len)
        add_file(arena, files, "trace.json", &trace);
    buf_free(&trace);
}

static void add_cases(Arena *arena, const MakeFiles *made, EmitFiles *files)
{
    for (uint32_t i = 0; i < made->samples.len; i++)
        vec_push(arena, files,
                 ((EmitFile){.path = made->samples.at[i].path, .text = made->samples.at[i].bytes}));
}

bool make_write(Arena *arena, const MakeFiles *made, const char *dir, Diag *diag)
{
    const char *file = str_format(arena, "%s.craft", made->name);
    const Target *target = emit_target(STR("project"));
    EmitInput in = {.file = file, .source = made->craft, .type = made->type};
    EmitFiles files = {0};
    if (!target || !lower_all(arena, file, made->craft, made->chip, &in, diag))
        return false;
    Diag quiet = diag_make(arena, file, made->craft);
    if (made->graph)
        in.model = eval_model_text(arena, in.variants.at[0]->ir, made->graph, made->source, &quiet);
    for (uint32_t i = 0; made->forms && i < made->forms->len; i++)
        vec_push(arena, &files, made->forms->at[i]);
    if (!made->forms && !target->emit(arena, &in, &files, diag))
        return false;
    add_cases(arena, made, &files);
    add_readme(arena, made, &in, &files);
    add_evidence(arena, made, &files);
    return emit_write(arena, dir, &files, diag);
}

bool make_write_texts(Arena *arena, const MakeFiles *made, const EvalCandidate *candidate,
                      const char *dir, Diag *diag)
{
    EmitFiles files = {0};
    for (uint32_t i = 0; i < candidate->texts.len; i++)
        vec_push(
            arena, &files,
            ((EmitFile){.path = candidate->texts.at[i].path, .text = candidate->texts.at[i].text}));
    add_evidence(arena, made, &files);
    return emit_write(arena, dir, &files, diag);
}
