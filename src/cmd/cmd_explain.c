/* acraft explain: what a diagnostic code means, with a bad and a good example. */
#include "cmd/cmd.h"
#include "craft/craft.h"
#include "ir/prove.h"
#include "ir/run.h"
#include <stdio.h>
#include <string.h>

typedef struct Meaning {
    const char *code, *brief, *text, *bad, *good;
} Meaning;

static bool find_proof(Str code, Meaning *m)
{
    for (int i = 0; i < IR_PROOF_COUNT; i++) {
        const IrProofRow *row = &ir_proof_rows[i];
        bool watch = str_is(code, row->watch);
        if (!watch && !str_is(code, row->refuse))
            continue;
        *m = (Meaning){watch ? row->watch : row->refuse, row->rule, row->repair, "", ""};
        return true;
    }
    return false;
}

/* What the reference interpreter finds when it runs a kernel. */
static bool find_fault(Str code, Meaning *m)
{
    for (int i = IR_PROOF_COUNT; i < IR_FAULT_COUNT; i++) {
        const IrFaultRow *row = &ir_fault_rows[i];
        if (!str_is(code, row->code))
            continue;
        *m = (Meaning){row->code, row->rule, row->repair, "", ""};
        return true;
    }
    return false;
}

static bool find(Str code, Meaning *m)
{
    const CraftCode *row = craft_explain(code);
    if (!row)
        return find_proof(code, m) || find_fault(code, m);
    *m = (Meaning){row->code, row->brief, row->text, row->bad, row->good};
    return true;
}

static void put_example(Buf *out, const char *title, const char *lines)
{
    Str rest = str_from(lines), line;
    if (!*lines)
        return;
    buf_printf(out, "\n%s\n", title);
    while (str_next(&rest, '\n', &line))
        buf_printf(out, "    %.*s\n", STR_ARG(line));
}

static void put_wrapped(Buf *out, const char *text)
{
    Str rest = str_from(text), word;
    size_t column = 0;
    while (str_next(&rest, ' ', &word)) {
        if (column && column + 1 + word.len > 96) {
            buf_char(out, '\n');
            column = 0;
        }
        buf_printf(out, "%s%.*s", column ? " " : "", STR_ARG(word));
        column += word.len + (column != 0);
    }
    buf_char(out, '\n');
}

static void put_json(Buf *out, const Meaning *m)
{
    const char *const names[] = {"code", "brief", "text", "bad", "good"};
    const char *const values[] = {m->code, m->brief, m->text, m->bad, m->good};
    for (int i = 0; i < 5; i++) {
        buf_printf(out, "%s\"%s\": ", i ? ", " : "{", names[i]);
        buf_json_str(out, str_from(values[i]));
    }
    buf_puts(out, "}\n");
}

static int explain(const char *word, bool json)
{
    Meaning m;
    Buf out = {0};
    if (!find(str_from(word), &m)) {
        fprintf(stderr, "acraft explain: no code '%s'; docs/craft.md section 15 lists them\n",
                word);
        return CMD_USAGE;
    }
    if (json) {
        put_json(&out, &m);
    } else {
        buf_printf(&out, "%s: %s\n\n", m.code, m.brief);
        put_wrapped(&out, m.text);
        put_example(&out, "not this:", m.bad);
        put_example(&out, "but this:", m.good);
    }
    fwrite(out.at, 1, out.len, stdout);
    buf_free(&out);
    return CMD_OK;
}

/* The table of docs/craft.md, section 15. */
static int print_table(void)
{
    puts("| code | meaning |\n|---|---|");
    for (const CraftCode *row = craft_codes; row->code; row++)
        printf("| %s | %s |\n", row->code, row->brief);
    for (int i = 0; i < IR_PROOF_COUNT; i++)
        printf("| %s, %s | not proved, or false: %s |\n", ir_proof_rows[i].watch,
               ir_proof_rows[i].refuse, ir_proof_rows[i].rule);
    for (int i = IR_PROOF_COUNT; i < IR_FAULT_COUNT; i++)
        printf("| %s | found by running it: %s |\n", ir_fault_rows[i].code, ir_fault_rows[i].rule);
    return CMD_OK;
}

int cmd_explain(int argc, char **argv)
{
    bool table = false;
    const CmdOption options[] = {{"table", CMD_FLAG, &table, NULL, "all codes, as in the manual"}};
    CmdUsage usage = {"explain",
                      "CODE | --table",
                      "Says what a diagnostic code means, with an example.",
                      "acraft explain E031",
                      options,
                      1,
                      0,
                      1};
    CmdArgs args = {0};
    int status = CMD_OK;
    if (cmd_read(&usage, argc, argv, &args, &status)) {
        if (table) {
            status = print_table();
        } else if (!args.word_count) {
            fprintf(stderr, "acraft explain: which code? --table lists them\n");
            status = CMD_USAGE;
        } else {
            status = explain(args.words[0], args.json);
        }
    }
    cmd_done(&args);
    return status;
}
