/* acraft explain: what a diagnostic code means, with a bad and a good example. */
#include "cmd/cmd.h"
#include "craft/craft.h"
#include "ir/prove.h"
#include "ir/run.h"
#include "sim/sim.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

typedef struct Meaning {
    const char *code, *brief, *text, *bad, *good;
} Meaning;

static const struct {
    const char *code, *brief, *repair;
} others[] = {
#define CODE(code_, brief_, repair_) {code_, brief_, repair_},
#include "cmd/code.def"
#undef CODE
};

static const struct {
    const char *code, *bad, *good;
} examples[] = {
#define EXAMPLE(code_, bad_, good_) {code_, bad_, good_},
#include "cmd/example.def"
#undef EXAMPLE
};

enum {
    OTHERS = sizeof others / sizeof *others,
    EXAMPLES = sizeof examples / sizeof *examples,
    MOST_MEANINGS = 4
};

typedef struct Meanings {
    Meaning at[MOST_MEANINGS];
    uint32_t len;
} Meanings;

static void add_meaning(Meanings *found, Meaning m)
{
    for (int i = 0; i < EXAMPLES && !*m.bad; i++)
        if (!strcmp(examples[i].code, m.code)) {
            m.bad = examples[i].bad;
            m.good = examples[i].good;
        }
    if (found->len < MOST_MEANINGS)
        found->at[found->len++] = m;
}

static void find_proof(Str code, Meanings *found)
{
    for (int i = 0; i < IR_PROOF_COUNT; i++) {
        const IrProofRow *row = &ir_proof_rows[i];
        bool watch = str_is(code, row->watch);
        if (watch || str_is(code, row->refuse))
            add_meaning(found, (Meaning){watch ? row->watch : row->refuse, row->rule, row->repair,
                                         row->bad, row->good});
    }
}

/* What the reference interpreter finds when it runs a kernel. */
static void find_fault(Str code, Meanings *found)
{
    for (int i = IR_PROOF_COUNT; i < IR_FAULT_COUNT; i++) {
        const IrFaultRow *row = &ir_fault_rows[i];
        if (str_is(code, row->code))
            add_meaning(found, (Meaning){row->code, row->rule, row->repair, "", ""});
    }
}

/* What the simulator finds; the device's own answer stands where a public source tells. */
static void find_sim_fault(Arena *arena, Str code, Meanings *found)
{
    for (int i = 0; i < SIM_FAULT_COUNT; i++) {
        const SimFaultRow *row = sim_fault_row((enum SimFaultCode)i);
        if (!str_is(code, row->code))
            continue;
        const char *text = str_format(arena, "%s%s%s", row->repair,
                                      *row->device ? ". On the device: " : "", row->device);
        add_meaning(found, (Meaning){row->code, row->title, text, "", ""});
    }
}

static Meanings find(Arena *arena, Str code)
{
    Meanings found = {0};
    const CraftCode *row = craft_explain(code);
    if (row)
        add_meaning(&found, (Meaning){row->code, row->brief, row->text, row->bad, row->good});
    find_proof(code, &found);
    find_fault(code, &found);
    find_sim_fault(arena, code, &found);
    for (int i = 0; i < OTHERS; i++)
        if (str_is(code, others[i].code))
            add_meaning(&found,
                        (Meaning){others[i].code, others[i].brief, others[i].repair, "", ""});
    return found;
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
    buf_char(out, '}');
}

static void put_text(Buf *out, const Meaning *m)
{
    buf_printf(out, "%s: %s\n\n", m->code, m->brief);
    put_wrapped(out, m->text);
    put_example(out, "not this:", m->bad);
    put_example(out, "but this:", m->good);
}

static int explain(const char *word, bool json)
{
    Arena arena = {0};
    Buf out = {0};
    char *code = str_dup(&arena, str_from(word));
    for (char *c = code; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    Meanings found = find(&arena, str_from(code));
    if (!found.len)
        fprintf(stderr, "acraft explain: no code '%s'; acraft explain --table lists them\n", word);
    bool list = json && found.len > 1;
    for (uint32_t i = 0; i < found.len; i++) {
        buf_puts(&out, list ? (i ? ", " : "[") : i ? "\n" : "");
        if (json)
            put_json(&out, &found.at[i]);
        else
            put_text(&out, &found.at[i]);
    }
    buf_puts(&out, list ? "]\n" : json && found.len ? "\n" : "");
    fwrite(out.at ? out.at : "", 1, out.len, stdout);
    buf_free(&out);
    arena_drop(&arena);
    return found.len ? CMD_OK : CMD_USAGE;
}

/* The table of docs/craft.md, section 15, and after it the codes of the other parts. */
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
    for (int i = 0; i < OTHERS; i++)
        printf("| %s | %s |\n", others[i].code, others[i].brief);
    for (int i = 0; i < SIM_FAULT_COUNT; i++) {
        const SimFaultRow *row = sim_fault_row((enum SimFaultCode)i);
        printf("| %s | simulator: %s |\n", row->code, row->title);
    }
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
