/* acraft export: training rows from the store. */
#include "cmd/cmd.h"

#include "store/export.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

typedef struct ExportArgs {
    const char *store, *kind, *out, *suite, *category, *name;
    int64_t run, pairs, most;
} ExportArgs;

static bool write_line(void *file, Str line)
{
    return fwrite(line.at, 1, line.len, file) == line.len;
}

static bool count_line(void *context, Str line)
{
    (void)context;
    (void)line;
    return true;
}

/* Nothing came out: what was missing, and what there is instead. */
static void explain_none(Arena *arena, Store *store, const ExportSpec *asked)
{
    Diag quiet = diag_make(arena, "", STR(""));
    const char *before = "; there are rows of ";
    fprintf(stderr, "acraft export: a row of %s needs %s", export_kind_row(asked->kind)->name,
            export_kind_row(asked->kind)->needs);
    for (int i = 0; i < EXPORT_KIND_COUNT; i++) {
        ExportSpec spec = *asked;
        uint64_t rows = 0;
        spec.kind = (ExportKind)i;
        spec.line = count_line;
        spec.most = 0;
        if (spec.kind == asked->kind || !export_rows(store, &spec, &rows, &quiet) || !rows)
            continue;
        fprintf(stderr, "%s%s (%llu)", before, export_kind_row(spec.kind)->name,
                (unsigned long long)rows);
        before = ", ";
    }
    fprintf(stderr, "%s\n", *before == ';' ? "; there are none of any kind" : "");
}

static int export_from(CmdArgs *args, Store *store, const ExportArgs *given, ExportSpec *spec)
{
    Diag diag = diag_make(&args->arena, given->store, STR(""));
    uint64_t rows = 0;
    FILE *file = given->out ? fopen(given->out, "w") : stdout;
    if (!file) {
        fprintf(stderr, "acraft export: cannot write '%s': %s\n", given->out, strerror(errno));
        return CMD_USAGE;
    }
    spec->line = write_line;
    spec->context = file;
    bool ok = export_rows(store, spec, &rows, &diag);
    bool written = fflush(file) == 0 && !ferror(file);
    if (!written)
        fprintf(stderr, "acraft export: cannot write %s: %s\n",
                given->out ? given->out : "to standard output", strerror(errno));
    if (given->out)
        fclose(file);
    if (!ok)
        return cmd_say(&diag, CMD_USAGE);
    fprintf(stderr, "acraft export: %llu rows of %s\n", (unsigned long long)rows, given->kind);
    if (!rows)
        explain_none(&args->arena, store, spec);
    return written ? CMD_OK : CMD_LACKS;
}

static int run_export(CmdArgs *args, const ExportArgs *given)
{
    ExportSpec spec = {.pairs = (uint32_t)given->pairs, .most = (uint64_t)given->most};
    spec.filter = (StoreFilter){
        .run = given->run, .suite = given->suite, .category = given->category, .name = given->name};
    if (!export_kind_from_name(str_from(given->kind), &spec.kind) || given->pairs < 1 ||
        given->most < 0) {
        fprintf(stderr, "acraft export: --kind is one of\n");
        for (int i = 0; i < EXPORT_KIND_COUNT; i++)
            fprintf(stderr, "  %-12s %s\n", export_kind_row((ExportKind)i)->name,
                    export_kind_row((ExportKind)i)->meaning);
        return CMD_USAGE;
    }
    Diag diag = diag_make(&args->arena, given->store, STR(""));
    Store *store = store_open(given->store, STORE_READ, &diag);
    if (!store)
        return cmd_say(&diag, CMD_USAGE);
    int status = export_from(args, store, given, &spec);
    store_close(store);
    return status;
}

int cmd_export(int argc, char **argv)
{
    ExportArgs a = {.store = "acraft.db", .kind = "attempts", .pairs = 8};
    const CmdOption options[] = {
        {"store", CMD_TEXT, &a.store, "FILE", "results of acraft bench (acraft.db)"},
        {"kind", CMD_TEXT, &a.kind, "KIND", "attempts, sft, repair, preference, kto, grpo"},
        {"o", CMD_TEXT, &a.out, "FILE", "write there (standard output)"},
        {"run", CMD_I64, &a.run, "N", "only this run"},
        {"suite", CMD_TEXT, &a.suite, "SUITE", "only this suite"},
        {"category", CMD_TEXT, &a.category, "C", "only this category"},
        {"name", CMD_TEXT, &a.name, "GLOB", "only tasks of such a name"},
        {"pairs", CMD_I64, &a.pairs, "N", "most preference pairs of one task (8)"},
        {"most", CMD_I64, &a.most, "N", "at most so many rows"},
    };
    CmdUsage usage = {"export",
                      "[--kind KIND] [-o FILE]",
                      "Writes stored attempts as JSON Lines that trainers read, each row with its "
                      "provenance\nand licence.",
                      "acraft export --store results.db --kind preference -o pairs.jsonl",
                      options,
                      sizeof options / sizeof *options,
                      0,
                      0};
    CmdArgs args = {0};
    int status = CMD_OK;
    if (cmd_read(&usage, argc, argv, &args, &status))
        status = run_export(&args, &a);
    cmd_done(&args);
    return status;
}
