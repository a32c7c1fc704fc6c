/* acraft check: what is wrong with a Craft file, and what is proved of it. In: a file. Out: its
 * diagnostics in order of place, and a last line with the counts. */
#include "cmd/cmd.h"

#include "base/paint.h"
#include "cmd/progress.h"
#include "craft/craft.h"
#include "ir/falsify.h"
#include "lower/lower.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct Check {
    Arena *arena;
    const NpuChip *chip;
    bool dump, json, deny;
    Diag diag;
    uint32_t count[3];
    uint32_t variants;
} Check;

static void add_name(Buf *out, const IrProgram *p)
{
    buf_printf(out, "%s", p->name);
    for (uint32_t i = 0; i < p->variant_names.len; i++)
        buf_printf(out, "%s%s=%s", i ? ", " : " ", p->variant_names.at[i],
                   dtype_name(p->variant_dtypes.at[i]));
}

static void dump_program(const IrProgram *p)
{
    Buf out = {0};
    buf_puts(&out, "# ");
    add_name(&out, p);
    buf_char(&out, '\n');
    ir_print(p, &out);
    fwrite(out.at, 1, out.len, stdout);
    buf_free(&out);
}

static bool same_item(const DiagItem *a, const DiagItem *b)
{
    return a->at.line == b->at.line && a->at.col == b->at.col && a->level == b->level &&
           !strcmp(a->code, b->code) && !strcmp(a->text, b->text);
}

/* A warning W1xx whose counterexample, E1xx at the same place, was found. */
static bool is_answered(const Diag *from, const DiagItem *item)
{
    for (uint32_t i = 0; i < from->items.len && item->level == DIAG_WARNING; i++) {
        const DiagItem *e = &from->items.at[i];
        if (e->level == DIAG_ERROR && e->at.line == item->at.line && e->at.col == item->at.col &&
            !strcmp(e->code + 1, item->code + 1))
            return true;
    }
    return false;
}

/* The findings of the prover on one variant that it did not have on another. */
static void merge(Check *check, const Diag *from)
{
    for (uint32_t i = 0; i < from->items.len; i++) {
        const DiagItem *item = &from->items.at[i];
        bool seen = is_answered(from, item);
        for (uint32_t j = 0; j < check->diag.items.len && !seen; j++)
            seen = same_item(&check->diag.items.at[j], item);
        if (seen)
            continue;
        bool unproven = item->code[0] == 'W' && item->code[1] == '1';
        if (item->level == DIAG_ERROR || (check->deny && unproven))
            diag_error(&check->diag, item->code, item->at, "%s", item->text);
        else
            diag_warn(&check->diag, item->code, item->at, "%s", item->text);
        if (item->hint)
            diag_hint(&check->diag, "%s", item->hint);
    }
}

/* Lowering needs scratch of its own: whether that fits too is only known once it has run. What it
 * cannot lower yet is no error of the program. */
static void check_room(Check *check, const IrProgram *p, Diag *said)
{
    Diag lowering = diag_make(check->arena, said->file, said->source);
    if (!diag_ok(said))
        return;
    lower_program(check->arena, p, check->chip, LOWER_ALIGN, &lowering);
    for (uint32_t i = 0; i < lowering.items.len; i++) {
        const DiagItem *item = &lowering.items.at[i];
        if (!strcmp(item->code, "E094")) {
            diag_error(said, item->code, item->at, "%s", item->text);
            check->count[IR_REFUSED]++;
        } else if (!strcmp(item->code, "W093") || !strcmp(item->code, "W094"))
            diag_warn(said, item->code, item->at, "%s", item->text);
        else
            continue;
        if (item->hint)
            diag_hint(said, "%s", item->hint);
    }
}

static void check_variant(Check *check, const CraftFile *file, uint32_t variant)
{
    IrProgram *p = craft_program(check->arena, file, variant, &check->diag);
    if (!p)
        return;
    if (!ir_verify(p, &check->diag))
        return;
    check->variants++;
    if (check->dump) {
        dump_program(p);
        return;
    }
    Diag said = diag_make(check->arena, check->diag.file, check->diag.source);
    IrReport report = {0};
    ir_prove(check->arena, p, check->chip, &report, &said);
    ir_falsify(check->arena, p, check->chip, &report, &said);
    check_room(check, p, &said);
    merge(check, &said);
    for (int i = 0; i < 3; i++)
        check->count[i] += report.count[i];
}

static void print_text(const Check *check)
{
    Buf out = {0};
    diag_show(&check->diag, cmd_colour(STDOUT_FILENO), &out);
    if (check->variants)
        buf_printf(&out, "proved %u, checked at run time %u, refused %u\n", check->count[IR_PROVED],
                   check->count[IR_WATCHED], check->count[IR_REFUSED]);
    if (!check->dump || !diag_ok(&check->diag)) /* a dump is only the IR */
        fwrite(out.at, 1, out.len, stdout);
    buf_free(&out);
}

static void print_json(const Check *check)
{
    Buf out = {0};
    buf_printf(&out,
               "{\"ok\": %s, \"variants\": %u, \"proved\": %u, \"watched\": %u, \"refused\": %u, ",
               diag_ok(&check->diag) ? "true" : "false", check->variants, check->count[IR_PROVED],
               check->count[IR_WATCHED], check->count[IR_REFUSED]);
    buf_puts(&out, "\"diagnostics\": ");
    diag_json(&check->diag, &out);
    buf_puts(&out, "}\n");
    fwrite(out.at, 1, out.len, stdout);
    buf_free(&out);
}

static int check_file(Check *check, const char *path)
{
    Str text;
    check->diag = diag_make(check->arena, path, (Str){0});
    if (!file_read(check->arena, path, 0, &text, &check->diag)) {
        print_text(check);
        return CMD_USAGE;
    }
    check->diag.source = text;
    progress_begin("checking");
    CraftFile *file = craft_read(check->arena, path, text, &check->diag);
    for (uint32_t v = 0; file && diag_ok(&check->diag) && v < craft_variant_count(file); v++)
        check_variant(check, file, v);
    progress_end();
    if (check->json)
        print_json(check);
    else
        print_text(check);
    return diag_ok(&check->diag) ? CMD_OK : CMD_NO;
}

int cmd_check(int argc, char **argv)
{
    const char *dump = NULL;
    bool deny = false;
    const CmdOption options[] = {
        {"dump", CMD_TEXT, &dump, "ir", "print the tile IR of every variant"},
        {"deny-unproven", CMD_FLAG, &deny, NULL, "what is not proved is an error"},
    };
    CmdUsage usage = {"check",
                      "FILE.craft",
                      "Says what is wrong with a Craft file, and what is proved of it.",
                      "acraft check examples/softmax.craft",
                      options,
                      2,
                      1,
                      1};
    CmdArgs args = {0};
    int status = CMD_OK;
    if (cmd_read(&usage, argc, argv, &args, &status)) {
        Check check = {.arena = &args.arena, .json = args.json, .deny = deny, .dump = dump != NULL};
        check.chip = npu_chip_find(str_from(args.chip));
        if (!check.chip || (dump && strcmp(dump, "ir"))) {
            fprintf(stderr, "acraft check: %s\n", check.chip ? "--dump prints ir" : "no such chip");
            status = CMD_USAGE;
        } else {
            status = check_file(&check, args.words[0]);
        }
    }
    cmd_done(&args);
    return status;
}
