/* A verdict for people: findings as editors expect them, then one closing line. */
#include "verdict/show.h"

#include "base/paint.h"
#include <math.h>
#include <string.h>

static void add_place(Buf *out, const VerdictFinding *f)
{
    if (f->file[0] && f->line)
        buf_printf(out, "%s:%u: ", f->file, f->line);
    else if (f->file[0])
        buf_printf(out, "%s: ", f->file);
}

/* The call in that line, where the line has it; else all of the line. */
static Span place_of_call(Str source, uint32_t number, const char *call)
{
    Str line = {0};
    for (uint32_t n = 1; n <= number; n++)
        if (!str_next(&source, '\n', &line))
            return (Span){0};
    const char *found = call[0] && line.len ? memmem(line.at, line.len, call, strlen(call)) : NULL;
    if (!found)
        return (Span){number, 0, 0};
    return (Span){number, (uint32_t)(found - line.at) + 1, (uint32_t)strlen(call)};
}

static void add_excerpt(Buf *out, const VerdictShow *how, const char *file, uint32_t line,
                        const char *call, Paint mark)
{
    if (!how->source || !file[0] || !line)
        return;
    Str source = how->source(how->context, file);
    source_excerpt(out, how->colour, source, place_of_call(source, line, call), mark);
}

static void add_accesses(Buf *out, const VerdictShow *how, const VerdictFinding *f)
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
        if (elsewhere)
            add_excerpt(out, how, a->file, a->line, "", PAINT_NOTE);
    }
}

static void add_label(Buf *out, const VerdictShow *how, Paint how_painted, const char *label)
{
    paint(out, how->colour, how_painted);
    buf_puts(out, label);
    paint(out, how->colour, PAINT_NONE);
}

static void add_finding(Buf *out, const VerdictShow *how, const VerdictFinding *f)
{
    Paint level = f->warning ? PAINT_WARNING : PAINT_ERROR;
    paint(out, how->colour, PAINT_STRONG);
    add_place(out, f);
    add_label(out, how, level, f->warning ? "warning:" : "error:");
    buf_printf(out, " %s", f->message);
    if (f->api[0])
        buf_printf(out, " (%s)", f->api);
    buf_printf(out, " [%s]\n", f->code);
    add_excerpt(out, how, f->file, f->line, f->api, level);
    if (f->count > 1)
        buf_printf(out, "    %llu times, first on core %u\n", (unsigned long long)f->count,
                   f->core);
    else
        buf_printf(out, "    on core %u\n", f->core);
    add_accesses(out, how, f);
    if (f->device[0])
        buf_printf(out, "    on the device: %s\n", f->device);
    if (f->repair[0]) {
        add_label(out, how, PAINT_GOOD, "    repair:");
        buf_printf(out, " %s\n", f->repair);
    }
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

void verdict_show(const Verdict *verdict, const VerdictShow *how, Buf *out)
{
    for (uint32_t i = 0; i < verdict->hazards.len; i++)
        add_finding(out, how, &verdict->hazards.at[i]);
    for (uint32_t i = 0; i < verdict->unsupported.len; i++)
        buf_printf(out, "acraft does not have: %s\n", verdict->unsupported.at[i]);
    add_first_bad(out, verdict);
    if (verdict->walls_missing[0])
        buf_printf(out, "sandbox open: %s\n", verdict->walls_missing);
    bool ok = verdict->status == VERDICT_OK;
    add_label(out, how, ok ? PAINT_GOOD : PAINT_ERROR, verdict_status_row(verdict->status)->text);
    if (!ok)
        buf_printf(out, " (%s): %s", verdict_stage_text(verdict->stage), verdict->reason);
    buf_char(out, '\n');
}

void verdict_to_text(const Verdict *verdict, Buf *out)
{
    verdict_show(verdict, &(VerdictShow){0}, out);
}
