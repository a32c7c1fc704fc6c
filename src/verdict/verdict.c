/* Verdict tables, small helpers and the JSON writer. */
#include "verdict/verdict.h"

#include "base/version.h"

#include <math.h>

static const VerdictStatusRow status_rows[] = {
#define STATUS(name, text, exit, counted, meaning) {text, exit, counted, meaning},
#include "verdict/status.def"
#undef STATUS
};
static const char *const stage_texts[] = {
#define STAGE(name, text) text,
#include "verdict/stage.def"
#undef STAGE
};
static const char *const kind_texts[] = {"race", "fault", "hang", "leak"};

Verdict verdict_make(void)
{
    return (Verdict){.config = "",
                     .task = "",
                     .candidate = "",
                     .kase = "",
                     .inputs = "",
                     .reason = "",
                     .walls_missing = "",
                     .max_abs_err = NAN,
                     .max_rel_err = NAN,
                     .tolerance_used = NAN,
                     .predicted_us = NAN,
                     .bound_us = NAN,
                     .seconds = NAN};
}

void verdict_fail(Verdict *verdict, VerdictStatus status, VerdictStage stage, const char *reason)
{
    if (verdict->status != VERDICT_OK)
        return;
    verdict->status = status;
    verdict->stage = stage;
    verdict->reason = reason;
}

bool verdict_settle(Verdict *verdict)
{
    if (verdict->status == VERDICT_OK && verdict->correct != VERDICT_YES)
        verdict_fail(verdict, VERDICT_NOT_COMPUTED, verdict->stage,
                     "no output was compared with the task's");
    if (verdict->status == VERDICT_OK)
        verdict->stage = STAGE_DONE;
    return verdict->status == VERDICT_OK;
}

const VerdictStatusRow *verdict_status_row(VerdictStatus status) { return &status_rows[status]; }
const char *verdict_stage_text(VerdictStage stage) { return stage_texts[stage]; }
const char *verdict_kind_text(FindingKind kind) { return kind_texts[kind]; }

bool verdict_status_from_text(Str text, VerdictStatus *status)
{
    for (int i = 0; i < VERDICT_STATUS_COUNT; i++) {
        if (str_is(text, status_rows[i].text)) {
            *status = (VerdictStatus)i;
            return true;
        }
    }
    return false;
}

/* --- writing ------------------------------------------------------------------------------- */

static void add_key(Buf *out, const char *key)
{
    char last = out->len ? out->at[out->len - 1] : '{';
    if (last != '{' && last != '[')
        buf_puts(out, ", ");
    if (key)
        buf_printf(out, "\"%s\": ", key);
}

static void add_text(Buf *out, const char *key, const char *text)
{
    add_key(out, key);
    buf_json_str(out, str_from(text));
}

static void add_count(Buf *out, const char *key, uint64_t value)
{
    add_key(out, key);
    buf_printf(out, "%llu", (unsigned long long)value);
}

static void add_count_or_null(Buf *out, const char *key, uint64_t value)
{
    add_key(out, key);
    if (value)
        buf_printf(out, "%llu", (unsigned long long)value);
    else
        buf_puts(out, "null");
}

static void add_number_or_null(Buf *out, const char *key, double value)
{
    add_key(out, key);
    if (isnan(value))
        buf_puts(out, "null");
    else
        buf_json_double(out, value);
}

static void add_value(Buf *out, const char *key, double value)
{
    add_key(out, key);
    buf_json_double(out, value);
}

static void add_bool(Buf *out, const char *key, bool value)
{
    add_key(out, key);
    buf_puts(out, value ? "true" : "false");
}

static void add_answer(Buf *out, const char *key, VerdictAnswer answer)
{
    static const char *const texts[] = {"null", "false", "true"};
    add_key(out, key);
    buf_puts(out, texts[answer]);
}

static void add_access(Buf *out, const VerdictAccess *access)
{
    add_key(out, NULL);
    buf_char(out, '{');
    add_text(out, "memory", access->memory);
    if (access->tensor && access->tensor[0])
        add_text(out, "tensor", access->tensor);
    add_bool(out, "write", access->write);
    add_count(out, "from", access->from);
    add_count(out, "to", access->to);
    add_text(out, "file", access->file);
    add_count_or_null(out, "line", access->line);
    buf_char(out, '}');
}

static void add_finding(Buf *out, const VerdictFinding *finding)
{
    add_key(out, NULL);
    buf_char(out, '{');
    add_text(out, "kind", kind_texts[finding->kind]);
    if (finding->warning)
        add_bool(out, "warning", true);
    if (finding->inserted)
        add_bool(out, "inserted", true);
    add_text(out, "code", finding->code);
    add_text(out, "message", finding->message);
    add_text(out, "file", finding->file);
    add_count_or_null(out, "line", finding->line);
    add_count(out, "core", finding->core);
    add_count(out, "count", finding->count);
    add_text(out, "api", finding->api);
    add_text(out, "device", finding->device);
    add_text(out, "repair", finding->repair);
    add_key(out, "accesses");
    buf_char(out, '[');
    for (uint32_t i = 0; i < finding->accesses.len; i++)
        add_access(out, &finding->accesses.at[i]);
    buf_puts(out, "]}");
}

static void add_first_bad(Buf *out, const Verdict *verdict)
{
    add_key(out, "first_bad");
    if (!verdict->first_bad.any) {
        buf_puts(out, "null");
        return;
    }
    buf_char(out, '{');
    add_text(out, "tensor", verdict->first_bad.tensor);
    add_count(out, "index", verdict->first_bad.index);
    add_value(out, "got", verdict->first_bad.got);
    add_value(out, "want", verdict->first_bad.want);
    buf_char(out, '}');
}

static void add_lists(Buf *out, const Verdict *verdict)
{
    add_key(out, "hazards");
    buf_char(out, '[');
    for (uint32_t i = 0; i < verdict->hazards.len; i++)
        add_finding(out, &verdict->hazards.at[i]);
    buf_char(out, ']');
    add_key(out, "unsupported");
    buf_char(out, '[');
    for (uint32_t i = 0; i < verdict->unsupported.len; i++)
        add_text(out, NULL, verdict->unsupported.at[i]);
    buf_char(out, ']');
}

static void add_pipes(Buf *out, const Verdict *verdict)
{
    add_key(out, "pipes");
    buf_char(out, '[');
    for (uint32_t i = 0; i < verdict->pipes.len; i++) {
        add_key(out, NULL);
        buf_char(out, '{');
        add_text(out, "name", verdict->pipes.at[i].name);
        add_number_or_null(out, "cycles", verdict->pipes.at[i].cycles);
        add_number_or_null(out, "share", verdict->pipes.at[i].share);
        buf_char(out, '}');
    }
    buf_char(out, ']');
}

void verdict_to_json(const Verdict *verdict, Buf *out)
{
    buf_char(out, '{');
    add_count(out, "schema", VERDICT_SCHEMA);
    add_text(out, "program", "acraft " ACRAFT_VERSION);
    add_text(out, "config", verdict->config);
    add_key(out, "seed");
    if (verdict->seeded)
        buf_printf(out, "\"%llu\"", (unsigned long long)verdict->seed);
    else
        buf_puts(out, "null");
    add_text(out, "task", verdict->task);
    add_text(out, "candidate", verdict->candidate);
    add_text(out, "case", verdict->kase);
    add_text(out, "status", status_rows[verdict->status].text);
    add_text(out, "stage", stage_texts[verdict->stage]);
    add_text(out, "reason", verdict->reason);
    if (*verdict->inputs)
        add_text(out, "inputs", verdict->inputs);
    add_answer(out, "compiled", verdict->compiled);
    add_answer(out, "correct", verdict->correct);
    add_number_or_null(out, "max_abs_err", verdict->max_abs_err);
    add_number_or_null(out, "max_rel_err", verdict->max_rel_err);
    add_number_or_null(out, "tolerance_used", verdict->tolerance_used);
    add_first_bad(out, verdict);
    add_lists(out, verdict);
    add_count_or_null(out, "cycles", verdict->cycles);
    add_number_or_null(out, "predicted_us", verdict->predicted_us);
    add_number_or_null(out, "bound_us", verdict->bound_us);
    add_pipes(out, verdict);
    add_count(out, "proved", verdict->proved);
    add_count(out, "watched", verdict->watched);
    add_text(out, "walls_missing", verdict->walls_missing);
    add_number_or_null(out, "seconds", verdict->seconds);
    buf_char(out, '}');
}
