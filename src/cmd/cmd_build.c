/* acraft build: a Craft file becomes an AscendC project, another target's files, or one pass's
 * slice. In: a .craft file. Out: a directory, or text. */
#include "cmd/cmd.h"

#include "base/paint.h"
#include "cmd/platform.h"
#include "craft/craft.h"
#include "emit/check.h"
#include "emit/emit.h"
#include "emit/emit_c.h"
#include "ir/falsify.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct Build {
    CmdArgs args;
    const char *out, *slice, *as, *check_with;
    const char *platform, *scale, *dtype;
    NameList sets;
    bool plain_c; /* --as c: from tile IR, without lowering */
    bool tf32;
    EmitFiles c_files;
    const NpuChip *chip;
    LowerPass last;
    Diag diag;
    EmitInput in;
} Build;

static int finish(Build *b, int bad)
{
    Buf text = {0};
    if (b->args.json)
        diag_json(&b->diag, &text);
    else
        diag_show(&b->diag, cmd_colour(STDERR_FILENO), &text);
    if (text.len)
        fwrite(text.at, 1, text.len, b->args.json ? stdout : stderr);
    buf_free(&text);
    return diag_ok(&b->diag) ? CMD_OK : bad;
}

static bool choose_pass(Build *b)
{
    b->last = LOWER_ALIGN;
    b->chip = npu_chip_find(str_from(b->args.chip));
    if (!b->chip)
        diag_error(&b->diag, "E099", (Span){0}, "there is no chip '%s'", b->args.chip);
    if (b->slice && !lower_pass_from_name(str_from(b->slice), &b->last)) {
        diag_error(&b->diag, "E099", (Span){0}, "there is no slice '%s'", b->slice);
        diag_hint(&b->diag, "host, init, compute or align");
    }
    b->plain_c = !strcmp(b->as, "c");
    if (!b->plain_c && !emit_target(str_from(b->as))) {
        diag_error(&b->diag, "E099", (Span){0}, "there is no target '%s'", b->as);
        diag_hint(&b->diag, "project, direct, mkb, mkb-direct or c");
    }
    return diag_ok(&b->diag);
}

/* A diagnostic that several variants share is printed once. */
static void drop_repeats(Diag *diag, uint32_t from)
{
    uint32_t kept = from;
    for (uint32_t i = from; i < diag->items.len; i++) {
        const DiagItem *d = &diag->items.at[i];
        bool again = false;
        for (uint32_t j = 0; j < kept && !again; j++) {
            const DiagItem *e = &diag->items.at[j];
            again = e->at.line == d->at.line && e->at.col == d->at.col &&
                    strcmp(e->code, d->code) == 0 && strcmp(e->text, d->text) == 0;
        }
        if (again)
            *(d->level == DIAG_ERROR ? &diag->errors : &diag->warnings) -= 1;
        else
            diag->items.at[kept++] = *d;
    }
    diag->items.len = kept;
}

/* Nothing is written for a program the checker refuses; what it only watches is no obstacle. */
static void refuse_wrong(Build *b, IrProgram *p)
{
    IrReport report = {0};
    Diag said = diag_make(&b->args.arena, b->diag.file, b->diag.source);
    ir_prove(&b->args.arena, p, b->chip, &report, &said);
    ir_falsify(&b->args.arena, p, b->chip, &report, &said);
    for (uint32_t i = 0; i < said.items.len; i++) {
        const DiagItem *item = &said.items.at[i];
        if (item->level != DIAG_ERROR)
            continue;
        diag_error(&b->diag, item->code, item->at, "%s", item->text);
        if (item->hint)
            diag_hint(&b->diag, "%s", item->hint);
    }
}

/* "softmax.c", and with several variants "softmax_f32.c" for each. */
static void add_c_file(Build *b, const IrProgram *p)
{
    Arena *arena = &b->args.arena;
    Buf text = {0};
    const char *name = p->name;
    for (uint32_t i = 0; i < p->variant_dtypes.len; i++)
        name = str_format(arena, "%s_%s", name, dtype_name(p->variant_dtypes.at[i]));
    if (emit_c(p, &text, &b->diag)) {
        EmitFile file = {.path = str_format(arena, "%s.c", name),
                         .text = str_from(buf_take(&text, arena))};
        vec_push(arena, &b->c_files, file);
    }
    buf_free(&text);
}

/* Every variant, so that the errors of all are printed. */
static bool lower_all(Build *b, const char *path)
{
    Arena *arena = &b->args.arena;
    Str text;
    if (!file_read(arena, path, 16 << 20, &text, &b->diag))
        return false;
    b->diag = diag_make(arena, path, text);
    b->in.file = path;
    b->in.source = text;
    CraftFile *file = craft_read(arena, path, text, &b->diag);
    uint32_t count = file && diag_ok(&b->diag) ? craft_variant_count(file) : 0;
    for (uint32_t v = 0; v < count; v++) {
        uint32_t said = b->diag.items.len;
        IrProgram *ir = craft_program(arena, file, v, &b->diag);
        if (ir && !b->slice && !b->check_with)
            refuse_wrong(b, ir);
        if (ir && b->plain_c)
            add_c_file(b, ir);
        AscProgram *asc = ir && !b->plain_c ? lower_program(arena, ir, b->chip, b->last, &b->diag)
                                            : NULL;
        if (asc)
            vec_push(arena, &b->in.variants, asc);
        drop_repeats(&b->diag, said);
    }
    return diag_ok(&b->diag) && (b->in.variants.len || b->c_files.len);
}

static int print_slice(Build *b)
{
    Buf text = {0};
    emit_slice(&b->args.arena, &b->in, b->last, &text);
    fwrite(text.at, 1, text.len, stdout);
    buf_free(&text);
    return finish(b, CMD_NO);
}

static int write_c(Build *b)
{
    Arena *arena = &b->args.arena;
    const char *dir = b->out ? b->out : "craft_c";
    if (!emit_write(arena, dir, &b->c_files, &b->diag))
        return finish(b, CMD_NO);
    if (!b->args.json)
        printf("%s: %u C file%s\n", dir, b->c_files.len, b->c_files.len == 1 ? "" : "s");
    return finish(b, CMD_NO);
}

static int write_files(Build *b)
{
    Arena *arena = &b->args.arena;
    const AscProgram *p = b->in.variants.at[0];
    const char *dir = b->out ? b->out : str_format(arena, "%s_%s", p->name, b->as);
    EmitFiles files = {0};
    if (!emit_target(str_from(b->as))->emit(arena, &b->in, &files, &b->diag) ||
        !emit_write(arena, dir, &files, &b->diag))
        return finish(b, CMD_NO);
    if (!b->args.json)
        printf("%s: %u files, %u kernel%s, %u dtype variant%s\n", dir, files.len, p->kernels.len,
               p->kernels.len == 1 ? "" : "s", b->in.variants.len,
               b->in.variants.len == 1 ? "" : "s");
    return finish(b, CMD_NO);
}

static void print_check(const Build *b, const EmitCheck *answer)
{
    printf("%.*s%s: %u kernel text%s", STR_ARG(answer->output), b->in.file, answer->kernels,
           answer->kernels == 1 ? "" : "s");
    if (!answer->host_lacks)
        printf(" and %u host text%s", answer->hosts, answer->hosts == 1 ? "" : "s");
    printf(" checked, %u refused", answer->refused);
    if (answer->host_lacks)
        printf("; host text not checked: %s among the directories", answer->host_lacks);
    printf("\n");
}

static int check(Build *b)
{
    Arena *arena = &b->args.arena;
    EmitCheck answer = {0};
    EmitFiles project = {0};
    if (!emit_target(STR("project"))->emit(arena, &b->in, &project, &b->diag))
        return finish(b, CMD_NO);
    if (!emit_check_with(arena, &b->in, &project, b->check_with, &answer, &b->diag))
        return finish(b, CMD_LACKS);
    print_check(b, &answer);
    int status = finish(b, CMD_NO);
    return status == CMD_OK && answer.refused ? CMD_NO : status;
}

static int run_build(Build *b)
{
    if (!choose_pass(b))
        return finish(b, CMD_USAGE);
    if (!lower_all(b, b->args.words[0]))
        return finish(b, CMD_NO);
    if (b->plain_c)
        return write_c(b);
    if (b->slice)
        return print_slice(b);
    return b->check_with ? check(b) : write_files(b);
}

int cmd_build(int argc, char **argv)
{
    Build b = {.as = "project"};
    const CmdOption options[] = {
        {"o", CMD_TEXT, &b.out, "DIR", "where to write (NAME_project)"},
        {"as", CMD_TEXT, &b.as, "TARGET", "project, direct, mkb, mkb-direct or c"},
        {"platform", CMD_TEXT, &b.platform, "NAME",
         "of a model file: cuda, cpu or pallas; sources for the sizes it has"},
        {"scale", CMD_TEXT, &b.scale, "S", "with --platform: full, medium, small, tiny or fuzz"},
        {"set", CMD_LIST, &b.sets, "NAME=N", "with --platform: one of the file's integers"},
        {"dtype", CMD_TEXT, &b.dtype, "T", "with --platform: f32, f16 or bf16 (f32)"},
        {"tf32", CMD_FLAG, &b.tf32, NULL,
         "with --platform cuda: products may round factors of f32 to tf32 (10 bits after the "
         "point)"},
        {"slice", CMD_TEXT, &b.slice, "PASS", "print what host, init, compute or align made"},
        {"check-with", CMD_TEXT, &b.check_with, "DIRS",
         "type-check against the vendor's headers in DIR:DIR..."},
    };
    CmdUsage usage = {
        .name = "build",
        .synopsis = "FILE.craft [-o DIR] [--as TARGET] | MODEL.py --platform cuda|cpu|pallas",
        .text = "Lowers a Craft file to AscendC and writes an operator project; or "
                "writes sources of a\nmodel file for another platform.",
        .example = "acraft build examples/softmax.craft -o softmax_project",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .least = 1,
        .most = 1};
    int status = CMD_OK;
    if (cmd_read(&usage, argc, argv, &b.args, &status)) {
        PlatformAsk ask = {b.platform, b.out, b.scale, b.dtype, &b.sets, false, 0, b.tf32};
        b.diag = diag_make(&b.args.arena, b.args.words[0], (Str){0});
        status = platform_is_other(b.platform) ? platform_write(&b.args, &ask) : run_build(&b);
    }
    cmd_done(&b.args);
    return status;
}
