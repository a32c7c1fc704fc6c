/* The picture of a run, kept with its attempt. In: Chrome's trace format, one event a line, as
 * sim/trace.h writes it. Out: the same without arrows, with the first instructions only; "left_out"
 * says how many are missing. Cores come one after the other, so those that are there are whole. */
#include "loop/bench_judge_int.h"

enum { MOST_INSTRUCTIONS = 8000 };

static bool is_event(Str line, const char *phase) { return str_starts(line, phase); }

static Str without_comma(Str line)
{
    return str_ends(line, ",") ? str_slice(line, 0, line.len - 1) : line;
}

Str judge_trace(Arena *arena, const Buf *picture)
{
    Str rest = buf_view(picture), line;
    Buf out = {0};
    uint32_t events = 0, instructions = 0;
    uint64_t left_out = 0;
    while (picture->len && str_next(&rest, '\n', &line)) {
        bool names = is_event(line, "{\"ph\":\"M\""), runs = is_event(line, "{\"ph\":\"X\"");
        left_out += runs && instructions >= MOST_INSTRUCTIONS;
        if (!names && !(runs && instructions < MOST_INSTRUCTIONS))
            continue;
        instructions += runs;
        buf_puts(&out, events++ ? ",\n" : "{\"traceEvents\":[\n");
        buf_str(&out, without_comma(line));
    }
    if (events)
        buf_printf(&out, "\n],\"left_out\":%llu}\n", (unsigned long long)left_out);
    Str trace = events ? str_copy(arena, buf_view(&out)) : (Str){0};
    buf_free(&out);
    return trace;
}
