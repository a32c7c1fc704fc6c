/* Counts of the rows, and the data card made of them. */
#include "rows/rows_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void count(RowsCounts *counts, int table, const char *name)
{
    for (uint32_t i = 0; i < counts->of[table].len; i++)
        if (!strcmp(counts->of[table].at[i].name, name)) {
            counts->of[table].at[i].n++;
            return;
        }
    vec_push(counts->arena, &counts->of[table],
             ((RowsCount){str_dup(counts->arena, str_from(name)), 1}));
}

static void count_text(RowsCounts *counts, int table, Str name)
{
    if (name.len)
        count(counts, table, str_dup(counts->arena, name));
}

void counts_add(RowsCounts *counts, const RowsEntry *entry)
{
    char text[32];
    counts->rows++;
    counts->kinds[entry->kind]++;
    uint32_t want = rows_want_of(entry->kind, entry->error, entry->code);
    counts->wants[want < ROWS_WANTS ? want : 0] += want < ROWS_WANTS;
    count(counts, COUNT_KIND, rows_kind_name(entry->kind));
    count_text(counts, COUNT_FAMILY, entry->family);
    count_text(counts, COUNT_FLOW, entry->flow);
    count_text(counts, COUNT_DTYPE, entry->dtype);
    count_text(counts, COUNT_ERROR, entry->error);
    count_text(counts, COUNT_CODE, entry->code);
    count_text(counts, COUNT_VERDICT, entry->verdict);
    if (entry->operators) {
        snprintf(text, sizeof text, "%02u", entry->operators);
        count(counts, COUNT_OPERATORS, text);
    }
    snprintf(text, sizeof text, "%u to %u KiB", entry->bytes / 1024, entry->bytes / 1024 + 1);
    count(counts, COUNT_LENGTH, text);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const RowsCount *)a)->name, ((const RowsCount *)b)->name);
}

static void put_counts(const RowsCounts *counts, int table, const char *title, Buf *out)
{
    uint32_t n = counts->of[table].len;
    RowsCount *sorted = arena_array(counts->arena, RowsCount, n + 1);
    if (n)
        memcpy(sorted, counts->of[table].at, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_name);
    buf_printf(out, "\n## By %s\n\n| %s | rows |\n|---|---|\n", title, title);
    for (uint32_t i = 0; i < n; i++)
        buf_printf(out, "| %s | %llu |\n", sorted[i].name, (unsigned long long)sorted[i].n);
}

static void put_dropped(const RowsCounts *counts, Buf *out)
{
    static const char *const texts[] = {
#define DROP(name, text) text,
#include "rows/drop.def"
#undef DROP
    };
    buf_puts(out, "\n## Dropped\n\n| why | times |\n|---|---|\n");
    for (int i = 0; i < DROP_COUNT; i++)
        buf_printf(out, "| %s | %llu |\n", texts[i], (unsigned long long)counts->dropped[i]);
    buf_printf(out, "| rows of more than %d tokens, but for AscendC | %llu |\n", ROWS_TOKENS,
               (unsigned long long)counts->over);
    buf_printf(out, "| AscendC of more than %d tokens | %llu |\n", ROWS_LONG_TOKENS,
               (unsigned long long)counts->long_over);
}

static void put_least(const RowsCounts *counts, bool twin, Buf *out)
{
    RowsLeast least = rows_want_least(counts->wants, twin);
    if (twin ? counts->kinds[ROWS_MEND] + counts->kinds[ROWS_MEND_FULL]
             : counts->kinds[ROWS_REPAIR])
        buf_printf(out, "\n%s: %u of %u %s, %u of them in %d rows or more; rarest %s (%llu)\n",
                   twin ? "AscendC repairs" : "Repairs", least.there, least.all,
                   twin ? "findings" : "diagnostics", least.enough, ROWS_ENOUGH, least.name,
                   (unsigned long long)least.rows);
}

static void put_twins(const RowsCounts *counts, Buf *out)
{
    buf_puts(out, "\n## Twins in AscendC\n\n| kind | rows |\n|---|---|\n");
    for (int i = 0; i < ROWS_KINDS; i++)
        if (counts->twins[i])
            buf_printf(out, "| %s | %llu |\n", rows_kind_name((RowsKind)i),
                       (unsigned long long)counts->twins[i]);
}

/* The options that the rows depend on. */
static void put_command(const RowsSpec *spec, bool suites, Buf *out)
{
    buf_printf(out, "    acraft data make --rows %llu --seed %llu --chip %s --text %u --mix ",
               (unsigned long long)spec->rows, (unsigned long long)spec->seed, spec->chip->name,
               spec->text_share);
    for (int i = 0, n = 0; i < ROWS_KINDS; i++)
        if (spec->share[i])
            buf_printf(out, "%s%s=%u", n++ ? "," : "", rows_kind_name((RowsKind)i), spec->share[i]);
    buf_printf(out, "%s%s%s", spec->brief ? " --brief" : "", spec->twins ? " --twins" : "",
               suites ? "" : " --no-suites");
    if (!spec->tokenizer)
        buf_printf(out, " --vocab %u", spec->vocab);
    buf_puts(out, spec->tokenizer ? "\n\nand a tokenizer of its own.\n\n" : "\n\n");
}

void counts_card(const RowsCounts *counts, const RowsSpec *spec, const RowsSuites *suites, Buf *out)
{
    static const char *const titles[COUNT_TABLES] = {
        "kind",        "family",     "flow of data", "element type", "number of operators",
        "error class", "diagnostic", "verdict",      "length"};
    buf_printf(
        out, "# Data card\n\n%llu rows from %llu drawn tasks, %llu tokens. Made by acraft %s:\n\n",
        (unsigned long long)(counts->rows - counts->over), (unsigned long long)counts->tasks,
        (unsigned long long)counts->tokens, spec->version);
    put_command(spec, suites != NULL, out);
    buf_puts(
        out,
        "Every program of a row was run: right ones gave the reference's values at four small odd "
        "sizes, broken ones failed as the row says. `verdict` names the judge: the reference "
        "interpreter of tile IR, or that and the AscendC text on the simulated chip. Times are "
        "predicted, never measured. Licence: that of acraft.\n\n");
    if (suites)
        buf_printf(
            out,
            "Kept away from %u model files of the suites (%u of them the reader does not read; "
            "those by their words alone).\n",
            suites->files, suites->unread);
    for (int i = 0; i < COUNT_TABLES; i++)
        put_counts(counts, i, titles[i], out);
    if (spec->twins)
        put_twins(counts, out);
    put_least(counts, false, out);
    put_least(counts, true, out);
    put_dropped(counts, out);
}
