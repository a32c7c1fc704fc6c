/* Rows as text: JSON Lines as TRL and LLaMA-Factory read them, and a line for the index. */
#include "rows/rows_int.h"

#include "base/hash.h"

static void put_field(Buf *out, const char *name, Str value)
{
    buf_printf(out, "\"%s\": ", name);
    buf_json_str(out, value);
    buf_puts(out, ", ");
}

static void put_messages(Buf *out, const char *name, const char *role, Str content)
{
    buf_printf(out, "\"%s\": [{\"role\": \"%s\", \"content\": ", name, role);
    buf_json_str(out, content);
    buf_puts(out, "}]");
}

static void put_families(Buf *out, uint32_t families)
{
    buf_puts(out, "\"families\": [");
    for (int i = 0, n = 0; i < FAMILY_COUNT; i++)
        if (families >> i & 1)
            buf_printf(out, "%s\"%s\"", n++ ? ", " : "", rows_family_name((RowsFamily)i));
    buf_puts(out, "], ");
}

static bool to_number(Str text, uint32_t *number)
{
    int64_t n;
    if (!str_to_i64(text, &n) || n < 0 || n > UINT32_MAX)
        return false;
    *number = (uint32_t)n;
    return true;
}

/* `of`: the row that this is the twin of; NULL: none. */
static void put_json(const RowsSpec *spec, const Row *row, const Row *of, Buf *out)
{
    buf_printf(out, "{\"id\": \"%llu-%s\", ", (unsigned long long)spec->seed, row->number);
    put_field(out, "kind", str_from(rows_kind_name(row->kind)));
    put_field(out, "family", str_from(row->family));
    put_families(out, row->families);
    put_field(out, "flow", str_from(row->flow));
    put_field(out, "dtype", str_from(row->dtype));
    buf_printf(out, "\"operators\": %u, ", row->operators);
    put_field(out, "error", str_from(row->error));
    put_field(out, "code", str_from(row->code));
    put_field(out, "verdict", str_from(row->verdict));
    buf_puts(out, spec->brief ? "\"brief\": true, " : "");
    if (of)
        buf_printf(out, "\"twin\": \"%llu-%s\", ", (unsigned long long)spec->seed, of->number);
    buf_puts(out, "\"messages\": [{\"role\": \"user\", \"content\": ");
    buf_json_str(out, row->prompt);
    buf_puts(out, "}, {\"role\": \"assistant\", \"content\": ");
    buf_json_str(out, row->answer);
    buf_puts(out, "}]}\n");
}

static void put_label(Str prompt, Str answer, bool label, Buf *out)
{
    buf_puts(out, "L {");
    put_messages(out, "prompt", "user", prompt);
    buf_puts(out, ", ");
    put_messages(out, "completion", "assistant", answer);
    buf_printf(out, ", \"label\": %s}\n", label ? "true" : "false");
}

/* A right answer and one that fails, to the same prompt. */
static void put_pair(const Row *row, Buf *out)
{
    buf_puts(out, "P {");
    put_messages(out, "prompt", "user", row->task);
    buf_puts(out, ", ");
    put_messages(out, "chosen", "assistant", row->right);
    buf_puts(out, ", ");
    put_messages(out, "rejected", "assistant", row->worse);
    buf_puts(out, "}\n");
    put_label(row->task, row->right, true, out);
    put_label(row->task, row->worse, false, out);
}

/* Graph, schedule, kind and class of the error; of errors also the code. */
static uint64_t key_of(const Row *row)
{
    Buf text = {0};
    buf_printf(&text, "%d %016llx %016llx %s %s", (int)row->kind, (unsigned long long)row->graph,
               (unsigned long long)row->schedule, row->error, row->code);
    uint64_t hash = hash64(text.at, text.len);
    buf_free(&text);
    return hash;
}

static uint64_t hash_text(const Row *row, size_t *bytes)
{
    Buf text = {0};
    buf_str(&text, row->prompt);
    buf_str(&text, row->answer);
    uint64_t hash = hash64(text.at, text.len);
    *bytes = text.len;
    buf_free(&text);
    return hash;
}

static void put_twin(const RowsSpec *spec, const Row *twin, const Row *of, Buf *out)
{
    size_t bytes;
    buf_printf(out, "T\t%d\t%016llx\t", (int)twin->kind,
               (unsigned long long)hash_text(twin, &bytes));
    put_json(spec, twin, of, out);
}

bool rows_twin_parse(Str line, RowsKind *kind, Str *text, Str *json)
{
    Str field[3];
    uint32_t n = 0, number = ROWS_KINDS;
    while (n < 3 && str_next(&line, '\t', &field[n]))
        n++;
    *json = line;
    if (n != 3 || !str_is(field[0], "T") || !to_number(field[1], &number) || number >= ROWS_KINDS)
        return false;
    *kind = (RowsKind)number;
    *text = field[2];
    return true;
}

void rows_put_row(const RowsSpec *spec, const Row *row, Buf *out)
{
    size_t bytes;
    uint64_t text = hash_text(row, &bytes);
    buf_printf(out, "R\t%d\t%016llx\t%016llx\t%s\t%s\t%s\t%s\t%s\t%s\t%u\t%u\n", (int)row->kind,
               (unsigned long long)key_of(row), (unsigned long long)text, row->family, row->flow,
               row->dtype, row->error, row->code, row->verdict, row->operators, (unsigned)bytes);
    put_json(spec, row, NULL, out);
    if (row->worse.len)
        put_pair(row, out);
    for (uint32_t i = 0; i < row->twins; i++)
        put_twin(spec, &row->twin[i], row, out);
}

bool rows_entry_parse(Str line, RowsEntry *entry)
{
    Str field[12];
    uint32_t n = 0, kind = ROWS_KINDS;
    while (n < 12 && str_next(&line, '\t', &field[n]))
        n++;
    if (n != 12 || !str_is(field[0], "R") || !to_number(field[1], &kind) || kind >= ROWS_KINDS)
        return false;
    *entry = (RowsEntry){.kind = (RowsKind)kind,
                         .key = field[2],
                         .text = field[3],
                         .family = field[4],
                         .flow = field[5],
                         .dtype = field[6],
                         .error = field[7],
                         .code = field[8],
                         .verdict = field[9]};
    return to_number(field[10], &entry->operators) && to_number(field[11], &entry->bytes);
}
