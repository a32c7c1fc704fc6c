/* The directory of a made kernel. */
#include "cmd/make.h"

#include "craft/craft.h"
#include "emit/emit.h"
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

static void add_page(Arena *arena, const MakeFiles *made, const MakeVerdicts *verdicts,
                     EmitFiles *files)
{
    ReportKernel kernel = {.name = made->name,
                           .chip = made->chip->name,
                           .version = ACRAFT_VERSION,
                           .task = made->task,
                           .summary = made->summary.at};
    Buf html = {0};
    add_reasons(arena, made->craft, &kernel);
    for (int craft = 1; craft >= 0; craft--) /* first */
        for (uint32_t i = 0; i < files->len; i++)
            if (is_craft(&files->at[i]) == craft)
                vec_push(arena, &kernel.files,
                         ((ReportFile){files->at[i].path, files->at[i].text}));
    kernel.trace = made->trace;
    for (uint32_t i = 1; i <= verdicts->len; i++) /* the small case last: the trace is its */
        vec_push(arena, &kernel.verdicts, verdicts->at[i % verdicts->len]);
    report_kernel(&kernel, &html);
    add_file(arena, files, "report.html", &html);
}

static void add_readme(Arena *arena, const MakeFiles *made, EmitFiles *files)
{
    Buf out = {0};
    buf_printf(&out, "# %s\n\nAn operator for %s, made by acraft %s from `%s`.\n\n", made->name,
               made->chip->name, ACRAFT_VERSION, made->task);
    if (made->operands)
        buf_printf(&out, "%s\n", made->operands);
    buf_printf(
        &out,
        "| file | what it is |\n|---|---|\n"
        "| `%s.craft` | the kernel and why it is so; `acraft check`, `run` and `tune` take it |\n"
        "| `op_host/`, `op_kernel/`, `CMakeLists.txt`, `%s.json` | the operator project: "
        "definition, "
        "tiling, AscendC |\n"
        "| `torch/`, `test_op.py` | the operator in PyTorch (torch_npu), and a test of it |\n"
        "| `board.sh` | builds, installs, tests and profiles it: on a machine with CANN and a "
        "board, "
        "after `source set_env.sh` |\n",
        made->name, made->name);
    if (made->summary.len)
        buf_puts(
            &out,
            "| `report.html` | what was proved, checked and predicted; opens in any browser |\n");
    buf_puts(&out, "| `verdicts.jsonl` | the same case by case, for programs |\n");
    if (made->trace.len)
        buf_puts(&out,
                 "| `trace.json` | the small case instruction by instruction, for Perfetto |\n");
    buf_puts(
        &out,
        "\n`board.sh CASES` runs the cases of a directory: `CASES/NAME/in_x0.npy` holds an input, "
        "`out_y0.npy` what PyTorch gives.\n");
    if (made->summary.len)
        buf_printf(&out, "\n```\n%.*s```\n", STR_ARG(made->summary));
    add_file(arena, files, "README.md", &out);
}

static void add_evidence(Arena *arena, const MakeFiles *made, EmitFiles *files)
{
    MakeVerdicts verdicts = timeless(arena, &made->verdicts);
    Buf lines = {0}, trace = {0};
    if (made->summary.len)
        add_page(arena, made, &verdicts, files);
    for (uint32_t i = 0; i < verdicts.len; i++) {
        verdict_to_json(verdicts.at[i], &lines);
        buf_char(&lines, '\n');
    }
    add_file(arena, files, "verdicts.jsonl", &lines);
    buf_str(&trace, made->trace);
    if (trace.len)
        add_file(arena, files, "trace.json", &trace);
}

bool make_write(Arena *arena, const MakeFiles *made, const char *dir, Diag *diag)
{
    const char *file = str_format(arena, "%s.craft", made->name);
    const Target *target = emit_target(STR("project"));
    EmitInput in = {.file = file, .source = made->craft};
    EmitFiles files = {0};
    for (uint32_t i = 0; made->forms && i < made->forms->len; i++)
        vec_push(arena, &files, made->forms->at[i]);
    if (!made->forms && (!target || !lower_all(arena, file, made->craft, made->chip, &in, diag) ||
                         !target->emit(arena, &in, &files, diag)))
        return false;
    add_readme(arena, made, &files);
    add_evidence(arena, made, &files);
    return emit_write(arena, dir, &files, diag);
}
