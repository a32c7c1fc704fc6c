/* A verdict for people: findings as editors expect them, then one closing line. */
#include "verdict/verdict.h"

#include <math.h>

static void add_place(Buf *out, const VerdictFinding *f)
{
    if (f->file[0] && f->line)
        buf_printf(out, "%s:%u: ", f->file, f->line);
    else if (f->file[0])
        buf_printf(out, "%s: ", f->file);
}

static void add_accesses(Buf *out, const VerdictFinding *f)
{
    for (uint32_t i = 0; i < f->accesses.len; i++) {
        const VerdictAccess *a = &f->accesses.at[i];
        if (str_is(str_from(a->memory), "GM"))
            continue; /* the message names the tensor and the offset in it */
        buf_printf(out, "    %s %s bytes %llu to %llu", a->write ? "writes" : "reads", a->memory,
                   (unsigned long long)a->from, (unsigned long long)(a->to ? a->to - 1 : 0));
        bool elsewhere = a->line && (a->line != f->line || !str_is(str_from(a->file), f->file));
        if (elsewhere)
            buf_printf(out, " at %s:%u", a->file, a->line);
        buf_char(out, '\n');
    }
}

static void add_finding(Buf *out, const VerdictFinding *f)
{
    add_place(out, f);
    buf_printf(out, "%s: %s", f->warning ? "warning" : "error", f->message);
    if (f->api[0])
        buf_printf(out, " (%s)", f->api);
    buf_printf(out, " [%s]\n", f->code);
    if (f->count > 1)
        buf_printf(out, "    %llu times, first on core %u\n", (unsigned long long)f->count,
                   f->core);
    else
        buf_printf(out, "    on core %u\n", f->core);
    add_accesses(out, f);
    if (f->device[0])
        buf_printf(out, "    on the device: %s\n", f->device);
    if (f->repair[0])
        buf_printf(out, "    repair: %s\n", f->repair);
}

static void add_first_bad(Buf *out, const Verdict *v)
{
    if (!v->first_bad.any)
        return;
    buf_printf(out, "first wrong value: %s[%llu] is ", v->first_bad.tensor,
               (unsigned long long)v->first_bad.index);
    buf_double(out, v->first_bad.got);
    buf_puts(out, ", should be ");
    buf_double(out, v->first_bad.want);
    buf_char(out, '\n');
}

void verdict_to_text(const Verdict *verdict, Buf *out)
{
    for (uint32_t i = 0; i < verdict->hazards.len; i++)
        add_finding(out, &verdict->hazards.at[i]);
    for (uint32_t i = 0; i < verdict->unsupported.len; i++)
        buf_printf(out, "acraft does not have: %s\n", verdict->unsupported.at[i]);
    add_first_bad(out, verdict);
    if (verdict->walls_missing[0])
        buf_printf(out, "sandbox open: %s\n", verdict->walls_missing);
    const VerdictStatusRow *row = verdict_status_row(verdict->status);
    buf_printf(out, "%s", row->text);
    if (verdict->status != VERDICT_OK)
        buf_printf(out, " (%s): %s", verdict_stage_text(verdict->stage), verdict->reason);
    buf_char(out, '\n');
}
