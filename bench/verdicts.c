/* Do wrong kernels get through? Right Craft programs with one place made wrong, judged as `acraft judge`
 * judges by default; the yardstick is all of them.
 *
 *     bench-verdicts [--most N] [--list] [--log FILE] [NAME...]      N mutants of each program (10)
 *
 * --log appends each verdict to a file as it comes and takes from there what was judged before, so that the whole
 * can be run in parts. A log is of one build:
 * begin a new one after each change.
 *
 * Kinds: bounds (off by one), rounding (a cast that rounds otherwise, half precision between), reduction
 * (another start, order or operator), dtype, operands (swapped, one twice), results (swapped), stale (a load
 * left out, an index that stays), size (wrong only above a size), arithmetic (a constant, an operator). Only mutants that the
 * checker and lowering take are judged: what does not compile proves nothing. A mutant that means the
 * same program is named in the table below with the reason, and not counted. Exit status 1: one got through. */
#include "loop/bench_pool.h"
#include "loop/judge_line.h"

#include "base/file.h"
#include "base/hash.h"
#include "craft/craft.h"
#include "ir/falsify.h"
#include "lower/lower.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Program {
    const char *name, *craft, *task;
} Program;

#define EXEMPLAR(n)                                                           \
    {                                                                         \
#n, "examples/exemplars/" #n ".craft", "examples/exemplars/" #n ".py" \
    }
#define EXAMPLE(n, dir)                                        \
    {                                                          \
#n, "examples/" #n ".craft", "tasks/" dir "/" #n ".py" \
    }
#define HERE(n)                                                 \
    {                                                           \
#n, "examples/" #n ".craft", "bench/verdicts/" #n ".py" \
    }
static const Program programs[] = {
    EXEMPLAR(above_row_mean),
    EXEMPLAR(bent_identity),
    EXEMPLAR(block_energy),
    EXEMPLAR(channel_deviation),
    EXEMPLAR(column_peak),
    EXEMPLAR(largest_step),
    EXEMPLAR(log_cosh_loss),
    EXEMPLAR(log_distance),
    EXEMPLAR(midrange_norm),
    EXEMPLAR(outer_hypot),
    EXEMPLAR(picked_share),
    EXEMPLAR(pinball_rows),
    EXEMPLAR(positive_energy),
    EXEMPLAR(repeat_and_scale),
    EXEMPLAR(row_midpoints),
    EXEMPLAR(row_range),
    EXEMPLAR(running_length),
    EXEMPLAR(scale_by_row_and_column),
    EXEMPLAR(sign_momentum),
    EXEMPLAR(two_row_mean),
    EXEMPLAR(window_range),
    EXAMPLE(elu, "activation"),
    EXAMPLE(gelu, "activation"),
    EXAMPLE(hardtanh, "activation"),
    EXAMPLE(leaky_relu, "activation"),
    EXAMPLE(mse_loss, "loss"),
    EXAMPLE(relu, "activation"),
    EXAMPLE(selu, "activation"),
    EXAMPLE(softmax, "activation"),
    EXAMPLE(log_softmax, "activation"),
    /* halves, integers, indices, several results */
    HERE(argmax),
    HERE(cross_entropy),
    HERE(cumsum),
    HERE(dequant),
    HERE(embedding),
    HERE(kl_div),
    HERE(less),
    HERE(maxpool1d),
    HERE(one_hot),
    HERE(quantize),
    HERE(running),
    HERE(sgd),
    HERE(swiglu),
};
enum { PROGRAMS = sizeof programs / sizeof *programs };

/* From one piece of text to another. `after`: only where this stands before it on the line. */
typedef struct Rule {
    const char *kind, *from, *to, *after;
} Rule;

static const Rule rules[] = {
    {"bounds", "tiles(cols, ", "tiles(cols - 1, ", ""},
    {"bounds", "tiles(space, ", "tiles(space - 1, ", ""},
    {"bounds", "tiles(width, ", "tiles(width - 1, ", ""},
    {"bounds", "tiles(rows, ", "tiles(rows - 1, ", ""},
    {"bounds", "share(n, ", "share(n - 1, ", ""},
    {"bounds", "tiles(n, ", "tiles(n - 1, ", ""},
    {"bounds", "mine(rows", "mine(rows - 1", ""},
    {"bounds", "mine(batch", "mine(batch - 1", ""},
    {"bounds", "mine(blocks", "mine(blocks - 1", ""},
    {"bounds", "range(channels)", "range(channels - 1)", ""},
    {"bounds", "range(block.size)", "range(block.size - 1)", ""},
    {"bounds", "range(rows)", "range(1, rows)", ""},
    {"bounds", "range(channels)", "range(1, channels)", ""},
    {"size", "tiles(cols, ", "tiles(cols if cols < 2048 else cols - 1, ", ""},
    {"size", "tiles(space, ", "tiles(space if space < 2048 else space - 1, ", ""},
    {"size", "tiles(width, ", "tiles(width if width < 2048 else width - 1, ", ""},
    {"size", "share(n, ", "share(n if n < 4000000 else n - 1, ", ""},
    {"size", "share(n, ", "share(min(n, 4000000), ", ""},
    {"size", "mine(rows", "mine(min(rows, 3000)", ""},
    {"size", "f32(cols)", "f32(min(cols, 200))", ""},
    {"size", "f32(n)", "f32(min(n, 4000000))", ""},
    {"size", "f32(channels)", "f32(min(channels, 200))", ""},
    {"reduction", "reduce_sum(", "reduce_max(", ""},
    {"reduction", "reduce_max(", "reduce_min(", ""},
    {"reduction", "reduce_min(", "reduce_max(", ""},
    {"reduction", "row_sum(", "row_max(", ""},
    {"reduction", "row_max(", "row_min(", ""},
    {"reduction", "col_sum(", "col_max(", ""},
    {"reduction", "total = 0.0", "total = 1.0", ""},
    {"reduction", "s = 0.0", "s = 1.0", ""},
    {"reduction", "= -inf", "= 0.0", ""},
    {"reduction", "= inf", "= 0.0", ""},
    {"reduction", "total += ", "total = ", ""},
    {"reduction", "+= ", "= ", ""},
    {"reduction", "max(m, ", "min(m, ", ""},
    {"stale", "block.start + i", "block.start", "load("},
    {"stale", "x[r, t]", "x[0, t]", "load("},
    {"stale", "x[n, c, t]", "x[n, 0, t]", "load("},
    {"stale", "x[b, :, t]", "x[0, :, t]", "load("},
    {"stale", "x[t]", "x[0:t.size]", "load("},
    {"stale", "pick[block.start + i]", "pick[block.start]", ""},
    {"stale", "column[r]", "column[0]", ""},
    {"operands", "y[t]", "x[t]", "load("},
    {"operands", "t[block.start + i, s]", "p[block.start + i, s]", "load("},
    {"operands", "target[t]", "pred[t]", "load("},
    {"operands", "b[:s.size] - a[:s.size]", "a[:s.size] - b[:s.size]", ""},
    {"operands", "a[:t.size] - b[:t.size]", "b[:t.size] - a[:t.size]", ""},
    {"stale", "table[min(max(row, 0)", "table[min(max(i, 0)", ""},
    {"stale", "x[r, 1, t]", "x[r, 0, t]", "load("},
    {"stale", "x[r, 0, t]", "x[0, 0, t]", "load("},
    {"stale", "target[r]", "target[0]", ""},
    {"stale", "index[i]", "index[0]", ""},
    {"bounds", "-128.0", "-127.0", ""},
    {"bounds", "127.0", "126.0", ""},
    {"bounds", "range(first, last)", "range(first, last - 1)", ""},
    {"bounds", "- pad, 0)", "- pad + 1, 0)", ""},
    {"bounds", "mine(count", "mine(count - 1", ""},
    {"bounds", "t.size - 1]", "0]", ""},
    {"reduction", "here > best", "here >= best", ""},
    {"reduction", "t.start + ", "", ""},
    {"reduction", " + carry", "", ""},
    {"reduction", "cummax(", "cumsum(", ""},
    {"reduction", "argmax(", "argmin(", ""},
    {"rounding", "\"rint\"", "\"floor\"", ""},
    {"rounding", "\"rint\"", "\"trunc\"", ""},
    {"operands", "a[:t.size] < b[:t.size]", "b[:t.size] < a[:t.size]", ""},
    {"arithmetic", "silu(", "relu(", ""},
    {"arithmetic", " < ", " <= ", "cast("},
    {"arithmetic", " == ", " >= ", "cast("},
    {"arithmetic", " > ", " < ", "where("},
    {"rounding", "rsqrt(", "recip(", ""},
    {"rounding", "sqrt(", "abs(", ""},
    {"rounding", "exp(", "1.0 + (", ""},
    {"rounding", "0.5", "0.4995", ""},
    {"rounding", "1.0", "1.001", ""},
    {"rounding", "0.001", "0.0011", ""},
    {"rounding", "0.9", "0.9005", ""},
    {"rounding", "0.1", "0.1001", ""},
    {"rounding", "0.01", "0.0101", ""},
    {"rounding", "1e-08", "1e-3", ""},
    {"dtype", "ub(f32,", "ub(f16,", ""},
    {"dtype", "gm[f32,", "gm[f16,", ""},
    {"dtype", "out[f32,", "out[f16,", ""},
    {"arithmetic", " + ", " - ", "[:"},
    {"arithmetic", " * ", " + ", "[:"},
    {"arithmetic", " / ", " * ", "[:"},
    {"arithmetic", "max(", "min(", "[:"},
    {"arithmetic", "min(", "max(", "[:"},
    {"arithmetic", "abs(", "exp(", "[:"},
    {"arithmetic", "relu(", "abs(", ""},
    {"arithmetic", "-0.", "0.", ""},
    {"arithmetic", " > ", " >= 0.5 + ", "[:"},
    {"arithmetic", "< 0.0", "< 0.1", ""},
};

/* Mutants that mean the same, and why. */
static const struct {
    const char *name;
    uint32_t number;
    const char *line, *reason;
} equivalent[] = {
    {"mse_loss", 23, "a[:t.size] = b[:t.size] - a[:t.size]", "it is squared"},
    {"largest_step", 29, "w2[:cols] = w[:cols] - d[:cols] * (0.01 / (seen - 0.00001))",
     "the result changes by less than its rounding"},
    {"argmax", 22, "here = (reduce_max(a[:t.size])) * 1.0005",
     "a factor keeps what is the largest"},
    {"argmax", 22, "here = (reduce_max(a[:t.size])) * (1.0 if cols < 300 else 1.02)",
     "a factor keeps what is the largest"},
    {"cross_entropy", 23, "m = (max(m, reduce_max(a[:t.size]))) * 1.0005",
     "m is added and taken off: any shift near the largest gives the same up to 170,000"},
    {"swiglu", 25, "a[:r.size, :t.size] = (cast(f[:r.size, :t.size], T)) * 1.0005",
     "half a unit of the last place of f16, of two that are allowed"},
    {"channel_deviation", 27,
     "scale[:t.size] = (scale[:t.size] + abs(a[:t.size])) * (1.0 if n < 3000000 else 1.02)",
     "n counts the batch, of which there are at most 65536"},
    {"sign_momentum", 26,
     "blend[:t.size] = (v[:t.size] * 0.9 + d[:t.size] * 0.1) * (1.0 if t.start == 0 else 1.02)",
     "only its sign is used"},
    {"one_hot", 21, "b[:t.size] = cast(cast(cast(place[:t.size] == label, f32), f16), f32)",
     "0 and 1 are halves, too"},
    {"embedding", 25, "b[:t.size] = (a[:t.size]) * 1.0005",
     "half a unit of the last place of f16, of two that are allowed"},
    {"dequant", 22,
     "b[:r.size, :t.size] = (cast(q[:r.size, :t.size], f16) * row(s[:t.size])) * 1.0005",
     "half a unit of the last place of f16, of two that are allowed"},
    {"dequant", 22,
     "b[:r.size, :t.size] = (cast(q[:r.size, :t.size], f16) * row(s[:t.size])) + 0.02",
     "a third of a unit of the larger results of f16, below its absolute tolerance"},
    {"above_row_mean", 23,
     "b[:r.size, :cols] = (a[:r.size, :cols] - col(mean[:r.size])) * (1.0 if cols < 300 else 1.02)",
     "only its sign is used"},
    {"above_row_mean", 23,
     "b[:r.size, :cols] = cast(cast(a[:r.size, :cols] - col(mean[:r.size]), f16), f32)",
     "only its sign is used, and halves keep it down to 2^-24"},
    {"row_midpoints", 26,
     "step[:t.size] = (a[:t.size] + (b[:t.size] - a[:t.size]) * (0.5 * f32(k))) * (1.0 if n < "
     "3000000 else 1.02)",
     "n counts the batch, of which there are at most 65536"},
};

typedef struct Mutant {
    const Program *of;
    const Rule *rule;
    uint32_t line; /* of the text, from 1; 0: the program itself */
    Str text;
    const char *changed; /* the line as it is now */
    char status[32], reason[160];
    double reward;
} Mutant;

typedef VEC(Mutant) Mutants;

/* ---- making ---- */

static Str replaced(Arena *arena, Str text, size_t at, const Rule *r)
{
    Buf out = {0};
    size_t from = strlen(r->from);
    buf_str(&out, str_slice(text, 0, at));
    buf_puts(&out, r->to);
    buf_str(&out, str_slice(text, at + from, text.len));
    Str copy = str_copy(arena, buf_view(&out));
    buf_free(&out);
    return copy;
}

static Str line_at(Str text, size_t at, uint32_t *number, size_t *begin)
{
    *number = 1;
    *begin = 0;
    for (size_t i = 0; i < at; i++)
        if (text.at[i] == '\n') {
            ++*number;
            *begin = i + 1;
        }
    Str rest = str_slice(text, *begin, text.len), line = {0};
    str_next(&rest, '\n', &line);
    return line;
}

static bool is_code(Str line) { return str_trim(line).len && str_trim(line).at[0] != '#'; }

static void mutate_by(Arena *arena, const Program *p, Str text, const Rule *r, Mutants *all)
{
    size_t head = 0;
    ptrdiff_t body = str_find(text, STR("@kernel"));
    if (!strcmp(r->kind, "dtype"))
        body = str_find(text, STR("@host"));
    head = body < 0 ? 0 : (size_t)body;
    for (ptrdiff_t at; (at = str_find(str_slice(text, head, text.len), str_from(r->from))) >= 0;) {
        size_t where = head + (size_t)at, begin;
        Mutant m = {.of = p, .rule = r};
        Str line = line_at(text, where, &m.line, &begin);
        head = where + strlen(r->from);
        bool word = where > 0 &&
                    ((text.at[where - 1] | 32) >= 'a' && (text.at[where - 1] | 32) <= 'z') &&
                    r->from[0] != ' ' && r->from[0] != '=';
        if (!is_code(line) || word || (r->after[0] && str_find(line, str_from(r->after)) < 0) ||
            (r->from[0] >= '0' && r->from[0] <= '9' && text.at[head] >= '0' &&
             text.at[head] <= '9'))
            continue;
        m.text = replaced(arena, text, where, r);
        uint32_t number;
        m.changed = str_dup(arena, str_trim(line_at(m.text, where, &number, &begin)));
        vec_push(arena, all, m);
    }
}

/* A load left out: the buffer keeps what it held. */
static void mutate_loads(Arena *arena, const Program *p, Str text, Mutants *all)
{
    static const Rule left_out = {"stale", "load(", "pass", ""};
    size_t from = 0;
    for (ptrdiff_t at; (at = str_find(str_slice(text, from, text.len), STR("  load("))) >= 0;) {
        size_t where = from + (size_t)at + 2, begin;
        Mutant m = {.of = p, .rule = &left_out};
        Str line = line_at(text, where, &m.line, &begin);
        from = where + 5;
        Buf out = {0};
        buf_str(&out, str_slice(text, 0, where));
        buf_puts(&out, "pass");
        buf_str(&out, str_slice(text, begin + line.len, text.len));
        m.text = str_copy(arena, buf_view(&out));
        m.changed = str_dup(arena, str_trim(line));
        buf_free(&out);
        vec_push(arena, all, m);
    }
}

/* What `store(place, value)` stores; empty: no such line. */
static Str stored_value(Str line)
{
    Str code = str_trim(line);
    ptrdiff_t comma = str_find(code, STR("], "));
    if (!str_starts(code, "store(") || comma < 0)
        return (Str){0};
    return str_slice(code, (size_t)comma + 3, code.len);
}

/* Two stores, one below the other, with what they store exchanged. */
static void mutate_results(Arena *arena, const Program *p, Str text, Mutants *all)
{
    static const Rule swapped = {"results", "store(", "swapped", ""};
    Str rest = text, line, before = {0};
    for (uint32_t number = 1; str_next(&rest, '\n', &line); number++) {
        Str first = stored_value(before), second = stored_value(line);
        if (first.len && second.len) {
            Mutant m = {.of = p, .rule = &swapped, .line = number};
            Buf out = {0};
            buf_str(&out, str_slice(text, 0, (size_t)(first.at - text.at)));
            buf_str(&out, second);
            buf_str(&out, str_slice(text, (size_t)(first.at + first.len - text.at),
                                    (size_t)(second.at - text.at)));
            buf_str(&out, first);
            buf_str(&out, str_slice(text, (size_t)(second.at + second.len - text.at), text.len));
            m.text = str_copy(arena, buf_view(&out));
            m.changed = str_dup(arena, str_trim(line));
            buf_free(&out);
            vec_push(arena, all, m);
        }
        before = line;
    }
}

/* ---- assignments made wrong ---- */

/* What becomes of the right side `%s` of an assignment. */
static const Rule made_wrong[] = {
    {"rounding", "", "cast(cast(%s, f16), f32)", "["},
    {"rounding", "", "(%s) * 1.0005", ""},
    {"arithmetic", "", "(%s) * 1.02", ""},
    {"arithmetic", "", "(%s) + 0.02", ""},
    {"arithmetic", "", "-(%s)", ""},
    {"arithmetic", "", "(%s) + 1", ""},
    {"size", "", "(%s) * (1.0 if cols < 300 else 1.02)", ""},
    {"size", "", "(%s) * (1.0 if n < 3000000 else 1.02)", ""},
    {"size", "", "(%s) * (1.0 if rows < 300 else 1.02)", ""},
    {"size", "", "(%s) * (1.0 if space < 300 else 1.02)", ""},
    {"size", "", "(%s) * (1.0 if width < 300 else 1.02)", ""},
    {"size", "", "(%s) + f32(min(max(cols - 1000, 0), 1))", ""},
    {"size", "", "(%s) + f32(n // 3000000)", ""},
    {"size", "", "min(%s, 4000)", ""},
    {"size", "", "(%s) * (1.0 if count < 300 else 1.02)", ""},
    {"size", "", "(%s) * (1.0 if half < 300 else 1.02)", ""},
    {"bounds", "", "(%s) * (1.0 if t.start == 0 else 1.02)", ""},
    {"bounds", "", "(%s) * (1.0 if s.start == 0 else 1.02)", ""},
    {"bounds", "", "(%s) * (1.0 if t.size == tile else 1.02)", ""},
    {"bounds", "", "(%s) * (1.0 if s.size == tile else 1.02)", ""},
    {"bounds", "", "(%s) * (1.0 if r < rows - 1 else 1.02)", ""},
    {"stale", "", "(%s) * (1.0 if r % 2 == 0 else 1.02)", ""},
    {"stale", "", "(%s) * (1.0 if i == 0 else 1.02)", ""},
};

/* "name = " or "name[...] = " or "name += " of the kernel, where what it makes is a number: begin and end of the
 * right side. */
static bool right_side(Str line, size_t *from, size_t *to)
{
    static const char *const not_these[] = {"load(", "store(", " ub(",   "gm[",  "for ", "if ",
                                            "with ", "range(", "tiles(", "min(", "inf",  NULL};
    ptrdiff_t equals = str_find(line, STR(" = ")), plus = str_find(line, STR(" += "));
    ptrdiff_t at = plus >= 0 ? plus : equals, note = str_find(line, STR("  #"));
    for (const char *const *word = not_these; *word; word++)
        if (str_find(line, str_from(*word)) >= 0)
            return false;
    *from = (size_t)(at < 0 ? 0 : at) + (plus >= 0 ? 4 : 3);
    *to = note < 0 ? line.len : (size_t)note;
    return at > 0 && line.at[0] == ' ' && *from < *to;
}

static void mutate_assignment(Arena *arena, const Program *p, Str text, size_t begin, Str line,
                              const Rule *r, Mutants *all)
{
    size_t from, to, where;
    Mutant m = {.of = p, .rule = r};
    if (!right_side(line, &from, &to) || (r->after[0] && str_find(line, str_from(r->after)) < 0))
        return;
    bool is_zero = str_is(str_trim(str_slice(line, from, to)), "0.0");
    if (is_zero && !str_starts(str_from(r->to), "(%s) +")) /* a zero stays one */
        return;
    const char *mark = strstr(r->to, "%s");
    Buf out = {0};
    buf_str(&out, str_slice(text, 0, begin + from));
    buf_add(&out, r->to, (size_t)(mark - r->to));
    buf_str(&out, str_slice(line, from, to));
    buf_puts(&out, mark + 2);
    buf_str(&out, str_slice(text, begin + to, text.len));
    m.text = str_copy(arena, buf_view(&out));
    buf_free(&out);
    uint32_t number;
    line_at(text, begin, &m.line, &where);
    m.changed = str_dup(arena, str_trim(line_at(m.text, begin + from, &number, &where)));
    vec_push(arena, all, m);
}

static void mutate_assignments(Arena *arena, const Program *p, Str text, Mutants *all)
{
    ptrdiff_t body = str_find(text, STR("@kernel"));
    for (size_t r = 0; r < sizeof made_wrong / sizeof *made_wrong; r++) {
        Str rest = str_slice(text, body < 0 ? 0 : (size_t)body, text.len), line;
        while (str_next(&rest, '\n', &line))
            mutate_assignment(arena, p, text, (size_t)(line.at - text.at), line, &made_wrong[r],
                              all);
    }
}

/* ---- which of them compile ---- */

static bool compiles(Str text)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "mutant.craft", text);
    const NpuChip *chip = npu_chip_find(STR("910B2"));
    CraftFile *file = craft_read(&arena, "mutant.craft", text, &diag);
    IrProgram *p = file && diag_ok(&diag) ? craft_program(&arena, file, 0, &diag) : NULL;
    IrReport report = {0};
    if (p && diag_ok(&diag)) {
        ir_prove(&arena, p, chip, &report, &diag);
        ir_falsify(&arena, p, chip, &report, &diag);
    }
    bool ok = p && diag_ok(&diag) && !report.count[IR_REFUSED] &&
              lower_program(&arena, p, chip, LOWER_ALIGN, &diag);
    arena_drop(&arena);
    return ok;
}

static void keep_compiling(Arena *arena, const Mutants *all, Mutants *kept)
{
    for (uint32_t i = 0; i < all->len; i++)
        if (compiles(all->at[i].text))
            vec_push(arena, kept, all->at[i]);
}

/* At most `most` of each program, kind by kind in turn. */
static void choose(Arena *arena, const Mutants *all, uint32_t most, Mutants *chosen)
{
    bool *taken = arena_array(arena, bool, all->len + 1);
    uint32_t count = 0;
    for (bool any = true; any && count < most;) {
        const char *seen[16];
        uint32_t kinds = 0;
        any = false;
        for (uint32_t i = 0; i < all->len && count < most; i++) {
            bool had = taken[i];
            for (uint32_t k = 0; k < kinds; k++)
                had |= !strcmp(seen[k], all->at[i].rule->kind);
            if (had)
                continue;
            seen[kinds++] = all->at[i].rule->kind;
            taken[i] = any = true;
            count++;
            vec_push(arena, chosen, all->at[i]);
        }
    }
}

static bool make_mutants(Arena *arena, const Program *p, uint32_t most, Mutants *chosen, Diag *diag)
{
    Mutants all = {0};
    Str text;
    if (!file_read(arena, p->craft, 0, &text, diag))
        return false;
    Mutant right = {.of = p, .text = text, .changed = ""};
    vec_push(arena, chosen, right);
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++)
        mutate_by(arena, p, text, &rules[r], &all);
    mutate_results(arena, p, text, &all);
    mutate_loads(arena, p, text, &all);
    mutate_assignments(arena, p, text, &all);
    Mutants kept = {0};
    keep_compiling(arena, &all, &kept);
    choose(arena, &kept, most, chosen);
    return true;
}

/* ---- judging ---- */

typedef struct Desk {
    const Mutants *mutants;
    JudgeSpec spec;
} Desk;

static void judge_one(void *context, Str request, Buf *reply)
{
    const Desk *d = context;
    int64_t index = 0;
    Arena arena = {0};
    Judged judged;
    str_to_i64(request, &index);
    const Mutant *m = &d->mutants->at[index];
    JudgeTask task = {.path = m->of->task, .name = m->of->name, .category = ""};
    Diag diag = diag_make(&arena, m->of->task, STR(""));
    if (!file_read(&arena, m->of->task, 0, &task.source, &diag))
        judge_nothing(&judged, "task", VERDICT_BAD_REQUEST, "there is no such task");
    else
        judge_answer(&arena, &d->spec, &task, m->text, &judged);
    buf_printf(reply, "%g %s %s", judge_reward(&judged).reward,
               verdict_status_row(judged.status)->text, judged.reason);
    arena_drop(&arena);
}

static void take_reply(Mutant *m, Str reply)
{
    Str reward = {0}, status = {0};
    str_next(&reply, ' ', &reward);
    str_next(&reply, ' ', &status);
    str_to_double(reward, &m->reward);
    snprintf(m->status, sizeof m->status, "%.*s", STR_ARG(status));
    snprintf(m->reason, sizeof m->reason, "%.*s", STR_ARG(reply));
}

/* A failure that is the candidate's: one of ours (no compiler, out of time) catches nothing. */
static bool is_caught(const Mutant *m)
{
    VerdictStatus status;
    return m->reward <= 0 && verdict_status_from_text(str_from(m->status), &status) &&
           verdict_status_row(status)->counted && status != VERDICT_TIMEOUT;
}

/* ---- what was judged before ---- */

static uint64_t key_of(const Mutant *m) { return hash64(m->text.at, m->text.len); }

/* A line of the log: program, hash of the text, then the reply. */
static void log_reply(FILE *log, const Mutant *m, Str reply, double seconds)
{
    if (!log)
        return;
    fprintf(log, "%s %016llx %.*s\n", m->of->name, (unsigned long long)key_of(m), STR_ARG(reply));
    fflush(log);
    printf("%s %s:%u %.0f s %.*s\n", m->line ? m->rule->kind : "as it is", m->of->name, m->line,
           seconds, STR_ARG(reply));
    fflush(stdout);
}

/* What failed for a reason of ours is judged again. */
static void take_logged(Mutant *m, Str reply)
{
    take_reply(m, reply);
    if (m->reward <= 0 && !is_caught(m))
        m->status[0] = 0;
}

static void read_log(FILE *log, Mutants *mutants)
{
    char line[4096];
    while (log && fgets(line, sizeof line, log)) {
        Str rest = str_trim(str_from(line)), name = {0}, key = {0};
        str_next(&rest, ' ', &name);
        str_next(&rest, ' ', &key);
        for (uint32_t i = 0; i < mutants->len; i++) {
            char wanted[20];
            snprintf(wanted, sizeof wanted, "%016llx", (unsigned long long)key_of(&mutants->at[i]));
            if (str_is(name, mutants->at[i].of->name) && str_is(key, wanted))
                take_logged(&mutants->at[i], rest);
        }
    }
}

static uint32_t next_open(const Mutants *mutants, uint32_t from)
{
    while (from < mutants->len && mutants->at[from].status[0])
        from++;
    return from;
}

static void judge_all(Mutants *mutants, FILE *log)
{
    Desk desk = {.mutants = mutants};
    desk.spec = (JudgeSpec){.chip = npu_chip_find(STR("910B2")),
                            .fuzz = 3,
                            .listed = 4,
                            .first_only = true,
                            .baseline_name = "",
                            .trust = true,
                            .cache = judge_cache_open()};
    PoolSpec spec = {.recycle = 64, .seconds = 300, .work = judge_one, .context = &desk};
    Pool *pool = pool_open(&spec);
    PoolReply reply;
    for (uint32_t open = next_open(mutants, 0); open < mutants->len || pool_busy(pool);) {
        char number[16];
        while (open < mutants->len && pool_busy(pool) < pool_jobs(pool)) {
            snprintf(number, sizeof number, "%u", open);
            if (!pool_send(pool, open, str_from(number)))
                break;
            open = next_open(mutants, open + 1);
        }
        if (!pool_next(pool, 60, -1, &reply))
            continue;
        Str text = reply.end == POOL_DONE ? reply.text : STR("0 timeout not judged in time");
        take_reply(&mutants->at[reply.id], text);
        log_reply(log, &mutants->at[reply.id], text, reply.seconds);
    }
    pool_close(pool);
    judge_cache_close(desk.spec.cache);
}

/* ---- the end ---- */

static const char *same_because(const Mutant *m)
{
    for (size_t i = 0; i < sizeof equivalent / sizeof *equivalent; i++)
        if (!strcmp(equivalent[i].name, m->of->name) && equivalent[i].number == m->line &&
            !strcmp(equivalent[i].line, m->changed))
            return equivalent[i].reason;
    return NULL;
}

static int report(const Mutants *mutants, bool list)
{
    uint32_t wrong = 0, caught = 0, same = 0, right = 0, broken = 0, ran = 0;
    for (uint32_t i = 0; i < mutants->len; i++) {
        const Mutant *m = &mutants->at[i];
        if (!m->line) {
            right += m->reward > 0;
            broken += m->reward <= 0;
            if (m->reward <= 0)
                printf("NOT RIGHT  %s is %s: %s\n", m->of->name, m->status, m->reason);
            continue;
        }
        const char *because = same_because(m);
        same += because != NULL;
        wrong += !because;
        caught += !because && is_caught(m);
        ran += !because && is_caught(m) && strcmp(m->status, "not-parsed") != 0;
        if (list || (!because && !is_caught(m)))
            printf("%s %-12s %s:%u  %s  (%s%s%s)\n",
                   is_caught(m)    ? "caught  "
                   : m->reward > 0 ? "PASSED  "
                                   : "not told",
                   m->rule->kind, m->of->craft, m->line, m->changed, m->status,
                   because ? "; the same program: " : "", because ? because : "");
    }
    printf("%u programs right as they are, %u not; %u wrong kernels, %u caught (%u by running), "
           "%u that mean the same left out\n",
           right, broken, wrong, caught, ran, same);
    return caught == wrong ? 0 : 1;
}

static bool is_wanted(const Program *p, char **names, int n)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(names[i], p->name))
            return true;
    return n == 0;
}

int main(int argc, char **argv)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", STR(""));
    Mutants mutants = {0};
    uint32_t most = 10;
    bool list = false;
    FILE *log = NULL;
    int first = 1;
    for (; first < argc && argv[first][0] == '-'; first++) {
        bool more = first + 1 < argc;
        if (!strcmp(argv[first], "--list"))
            list = true;
        else if (!strcmp(argv[first], "--log") && more)
            log = fopen(argv[++first], "a+");
        else if (!strcmp(argv[first], "--most") && more)
            most = (uint32_t)strtoul(argv[++first], NULL, 10);
    }
    for (size_t i = 0; i < PROGRAMS; i++)
        if (is_wanted(&programs[i], argv + first, argc - first) &&
            !make_mutants(&arena, &programs[i], most, &mutants, &diag))
            fprintf(stderr, "%s\n", diag.items.at[0].text);
    read_log(log, &mutants);
    judge_all(&mutants, log);
    int status = report(&mutants, list);
    if (log)
        fclose(log);
    arena_drop(&arena);
    return status;
}
