/* The text form of a schedule. In: a schedule. Out: its text; and the other way round.
 *
 *     schedule = { line "\n" } ;                               "#" starts a comment
 *     line     = "axes" { axis "=" number }                    what the nest has: checked, nothing else
 *              | "fold" axis "of" { axis }                      the last axis stands for these; before "axes"
 *              | "share" value "over" axis | "keep" value
 *              | "parts" number | "worth" number
 *              | "buffers" number "in" number "out"
 *              | "windows" | "steps" "inside"
 *              | "kernel" | "band" { result } ":" role { ";" role } | "all" "cores" "wait" ;
 *     role     = "cores" { axis } | "cores" "share" axis | "loops" { axis }
 *              | "rows" axis size [ "in" "chunks" ] | "lanes" axis size ;
 *     size     = "by" number | "whole," "at" "most" number ;
 *
 * Axes are a1, a2, ...; values v1, v2, ... of the nest as it was derived; results y0, y1, ..., y0.0, y0.1, ...
 * where one is written in several parts; workspaces w0, w1, .... */
#include "gen/plan/schedule/schedule.h"

#include <string.h>

enum { MOST_PARTS = 64, MOST_DEPTH = 2, MOST_NUMBER_DIGITS = 18 };

static uint64_t bit(uint32_t axis) { return axis ? UINT64_C(1) << axis : 0; }

/* ---- printing ---- */

/* "y0", "y0.1", "w2" */
const char *schedule_store_name(const Nest *nest, uint32_t store)
{
    uint32_t tensor = nest->stores.at[store].tensor, part = 0, parts = 0;
    for (uint32_t i = 0; i < nest->stores.len; i++)
        if (nest->stores.at[i].tensor == tensor) {
            part = i == store ? parts : part;
            parts++;
        }
    const char *name = nest_tensor_name(nest, tensor);
    return parts > 1 ? str_format(nest->arena, "%s.%u", name, part) : name;
}

static void put_tile(const char *role, const BandTile *t, Buf *out)
{
    if (t->axis)
        buf_printf(out, "; %s a%u %s%lld", role, t->axis, t->whole ? "whole, at most " : "by ",
                   (long long)t->tile);
}

/* Axes that a core walks one element at a time. */
static uint64_t loop_axes(const Band *band)
{
    uint64_t loops = band->reduced | (band->split ? band->kept : 0);
    return loops & ~(bit(band->rows.axis) | bit(band->lanes.axis) | bit(band->split));
}

static void put_axes(const Nest *nest, uint64_t axes, Buf *out)
{
    for (uint32_t a = 1; a < nest->axes.len; a++)
        if (axes & bit(a))
            buf_printf(out, " a%u", a);
}

void schedule_print_bands(const Nest *nest, const Bands *bands, Buf *out)
{
    for (uint32_t b = 0; b < bands->len; b++) {
        const Band *band = &bands->at[b];
        uint64_t tiled = bit(band->rows.axis) | bit(band->lanes.axis);
        if (b && band->phase != bands->at[b - 1].phase)
            buf_puts(out, "all cores wait\n");
        buf_puts(out, "band");
        for (uint32_t i = 0; i < band->stores.len; i++)
            buf_printf(out, " %s", schedule_store_name(nest, band->stores.at[i]));
        buf_puts(out, ": cores");
        if (band->split)
            buf_printf(out, " share a%u", band->split);
        else
            put_axes(nest, band->kept & ~tiled, out);
        put_tile("rows", &band->rows, out);
        buf_puts(out, band->chunked ? " in chunks" : "");
        put_tile("lanes", &band->lanes, out);
        if (loop_axes(band)) {
            buf_puts(out, "; loops");
            put_axes(nest, loop_axes(band), out);
        }
        buf_char(out, '\n');
    }
}

void schedule_print(const Nest *nest, const Schedule *schedule, Buf *out)
{
    if (schedule->fold.n) {
        buf_printf(out, "fold a%u of", nest->axes.len - 1);
        for (uint32_t i = 0; i < schedule->fold.n; i++)
            buf_printf(out, " a%u", schedule->fold.axis[i]);
        buf_char(out, '\n');
    }
    buf_puts(out, "axes");
    for (uint32_t a = 1; a < nest->axes.len; a++)
        if (nest->axes.at[a].size > 1)
            buf_printf(out, " a%u=%lld", a, (long long)nest->axes.at[a].size);
    buf_printf(out, "\nparts %lld\n", (long long)schedule->parts);
    if (schedule->each)
        buf_printf(out, "worth %lld\n", (long long)schedule->each);
    buf_printf(out, "buffers %d in %d out\n", schedule->load_depth, schedule->store_depth);
    if (nest_has_windows(nest))
        buf_puts(out, "windows\n");
    if (schedule->inside)
        buf_puts(out, "steps inside\n");
    for (uint32_t i = 0; i < schedule->shares.len; i++)
        if (schedule->shares.at[i].axis)
            buf_printf(out, "share v%u over a%u\n", schedule->shares.at[i].reduction,
                       schedule->shares.at[i].axis);
        else
            buf_printf(out, "keep v%u\n", schedule->shares.at[i].reduction);
    buf_puts(out, "kernel\n");
    schedule_print_bands(nest, &schedule->bands, out);
    if (schedule->longer.len) {
        buf_puts(out, "kernel\n");
        schedule_print_bands(nest, &schedule->longer, out);
    }
}

/* ---- reading ---- */

typedef struct Reader {
    Arena *arena;
    const Nest *derived;
    const Nest *base; /* with what is folded */
    Nest *nest;       /* with what is shared; NULL: no kernel was begun yet */
    Str text;
    size_t at; /* of the next byte */
    uint32_t line;
    size_t line_start;
    Str word; /* the current one; empty: the line ends */
    Span span;
    Diag *diag;
    Schedule *schedule;
    uint32_t kernels;
    bool waits;                   /* "all cores wait" was read, no band since */
    Span axis_at[NEST_MAX_AXES];  /* of the band at hand */
    uint64_t cores, loops, tiled; /* roles of the band at hand */
} Reader;

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-' || c == '+';
}

/* The next word of the line: a name, a number or one sign. */
static void next_word(Reader *r)
{
    while (r->at < r->text.len &&
           (r->text.at[r->at] == ' ' || r->text.at[r->at] == '\t' || r->text.at[r->at] == '\r'))
        r->at++;
    size_t from = r->at;
    bool ends = from == r->text.len || r->text.at[from] == '\n' || r->text.at[from] == '#';
    while (!ends && r->at < r->text.len && is_word(r->text.at[r->at]))
        r->at++;
    if (!ends && r->at == from)
        r->at++;
    r->word = (Str){r->text.at + from, r->at - from};
    r->span = (Span){r->line, (uint32_t)(from - r->line_start) + 1,
                     r->word.len ? (uint32_t)r->word.len : 1};
}

/* To the first word of the next line. False: the text ends. */
static bool next_line(Reader *r)
{
    while (r->at < r->text.len && r->text.at[r->at] != '\n')
        r->at++;
    if (r->at == r->text.len)
        return false;
    r->at++;
    r->line++;
    r->line_start = r->at;
    return true;
}

static bool refuse_at(Reader *r, Span at, const char *why, uint32_t axis)
{
    if (axis)
        diag_error(r->diag, "G008", at, "a%u: %s", axis, why);
    else
        diag_error(r->diag, "G008", at, "%s", why);
    return false;
}

static bool expected(Reader *r, const char *what)
{
    if (r->word.len)
        diag_error(r->diag, "G007", r->span, "expected %s, not '%.*s'", what,
                   STR_ARG(str_slice(r->word, 0, 40)));
    else
        diag_error(r->diag, "G007", r->span, "expected %s, the line ends", what);
    return false;
}

static bool take_word(Reader *r, const char *word)
{
    if (!str_is(r->word, word))
        return false;
    next_word(r);
    return true;
}

static bool want_word(Reader *r, const char *word)
{
    return take_word(r, word) || expected(r, str_format(r->arena, "'%s'", word));
}

static bool read_number(Reader *r, const char *what, int64_t low, int64_t high, int64_t *number)
{
    if (r->word.len > MOST_NUMBER_DIGITS || !str_to_i64(r->word, number) || *number < low ||
        *number > high)
        return expected(
            r, str_format(r->arena, "%s, %lld to %lld", what, (long long)low, (long long)high));
    next_word(r);
    return true;
}

/* "a12" as a number of up to `len`; 0: it is none. */
static uint32_t numbered(Str word, char stem, uint32_t len)
{
    int64_t n;
    if (word.len < 2 || word.len > 9 || word.at[0] != stem || word.at[1] < '1' ||
        word.at[1] > '9' || !str_to_i64(str_slice(word, 1, word.len), &n) || n >= len)
        return 0;
    return (uint32_t)n;
}

static bool read_axis(Reader *r, uint32_t *axis)
{
    *axis = numbered(r->word, 'a', r->base->axes.len);
    if (!*axis)
        return expected(r, str_format(r->arena, "an axis, a1 to a%u", r->base->axes.len - 1));
    r->axis_at[*axis] = r->span;
    next_word(r);
    return true;
}

static bool is_axis(const Reader *r) { return r->word.len && r->word.at[0] == 'a'; }

/* ---- lines before the kernels ---- */

static bool read_axes(Reader *r)
{
    while (r->word.len) {
        uint32_t axis;
        int64_t size;
        Span at;
        if (!read_axis(r, &axis) || !want_word(r, "="))
            return false;
        at = r->span;
        if (!read_number(r, "a size", 1, INT64_MAX, &size))
            return false;
        if (size != r->base->axes.at[axis].size)
            return refuse_at(r, at,
                             str_format(r->arena, "the task has %lld elements along this axis",
                                        (long long)r->base->axes.at[axis].size),
                             axis);
    }
    return true;
}

static bool read_fold(Reader *r)
{
    Span at = r->span;
    NestFold fold = {0};
    uint64_t seen = 0;
    if (r->base != r->derived || r->schedule->shares.len || r->nest)
        return refuse_at(
            r, at, "a schedule has at most one fold, and it stands before the lines that use it",
            0);
    if (numbered(r->word, 'a', r->base->axes.len + 1) != r->base->axes.len)
        return expected(r, str_format(r->arena, "the next axis, a%u", r->base->axes.len));
    next_word(r);
    if (!want_word(r, "of"))
        return false;
    while (r->word.len) {
        uint32_t axis;
        if (!read_axis(r, &axis))
            return false;
        if (fold.n == NEST_DIGITS || seen & bit(axis))
            return refuse_at(r, at, "up to six axes are folded, each once", axis);
        seen |= bit(axis);
        fold.axis[fold.n++] = axis;
    }
    Nest *folded = nest_fold(r->derived, &fold);
    if (!folded)
        return refuse_at(r, at, "results and reductions do not have these axes as one", 0);
    r->schedule->fold = fold;
    r->base = folded;
    return true;
}

static bool read_share(Reader *r, bool keep)
{
    Span at = r->span;
    ScheduleShare share = {.reduction = numbered(r->word, 'v', r->base->values.len)};
    if (!share.reduction)
        return expected(r, str_format(r->arena, "a value, v1 to v%u", r->base->values.len - 1));
    next_word(r);
    if (!keep && (!want_word(r, "over") || !read_axis(r, &share.axis)))
        return false;
    if (r->nest)
        return refuse_at(r, at, "what is shared stands before the kernels", 0);
    for (uint32_t i = 0; i < r->schedule->shares.len; i++)
        if (r->schedule->shares.at[i].reduction == share.reduction)
            return refuse_at(r, at, "this reduction is shared already", share.axis);
    if (r->schedule->shares.len == SCHEDULE_SHARES)
        return refuse_at(r, at, "more than 16 reductions are shared", share.axis);
    ScheduleFault found = schedule_share_fault(r->base, &share);
    if (found.why)
        return refuse_at(r, at, found.why, found.axis);
    vec_push(r->arena, &r->schedule->shares, share);
    return true;
}

static bool read_buffers(Reader *r)
{
    int64_t in, out;
    if (!read_number(r, "a number of buffers", 1, MOST_DEPTH, &in) || !want_word(r, "in") ||
        !read_number(r, "a number of buffers", 1, MOST_DEPTH, &out) || !want_word(r, "out"))
        return false;
    r->schedule->load_depth = (int)in;
    r->schedule->store_depth = (int)out;
    return true;
}

/* ---- kernels ---- */

static Bands *bands_now(Reader *r)
{
    return r->kernels == 2 ? &r->schedule->longer : &r->schedule->bands;
}

/* Every result is computed once in a kernel. */
static bool check_kernel(Reader *r, Span at)
{
    const Bands *bands = bands_now(r);
    bool *stored = arena_array(r->arena, bool, r->nest->stores.len + 1);
    for (uint32_t b = 0; b < bands->len; b++)
        for (uint32_t i = 0; i < bands->at[b].stores.len; i++)
            stored[bands->at[b].stores.at[i]] = true;
    for (uint32_t i = 0; i < r->nest->stores.len; i++)
        if (!stored[i])
            return refuse_at(r, at,
                             str_format(r->arena, "no band of the kernel stores %s",
                                        schedule_store_name(r->nest, i)),
                             0);
    if (r->waits)
        return refuse_at(r, at, "a band must follow 'all cores wait'", 0);
    return true;
}

static bool read_kernel(Reader *r)
{
    Span at = r->span;
    if (r->kernels && !check_kernel(r, at))
        return false;
    if (r->kernels == 2)
        return refuse_at(r, at, "a schedule has at most two kernels", 0);
    if (!r->nest)
        r->nest = schedule_nest(r->derived, r->schedule);
    r->kernels++;
    return true;
}

static bool read_store(Reader *r, Band *band)
{
    for (uint32_t i = 0; i < r->nest->stores.len; i++) {
        if (!str_is(r->word, schedule_store_name(r->nest, i)))
            continue;
        for (uint32_t b = 0; b < bands_now(r)->len; b++)
            for (uint32_t k = 0; k < bands_now(r)->at[b].stores.len; k++)
                if (bands_now(r)->at[b].stores.at[k] == i)
                    return refuse_at(r, r->span, "another band stores this result already", 0);
        for (uint32_t k = 0; k < band->stores.len; k++)
            if (band->stores.at[k] == i)
                return refuse_at(r, r->span, "the band stores this result twice", 0);
        vec_push(r->arena, &band->stores, i);
        next_word(r);
        return true;
    }
    return expected(r, r->nest->stores.len ? str_format(r->arena, "a result such as %s",
                                                        schedule_store_name(r->nest, 0))
                                           : "nothing: the task has no result");
}

/* Gives the axis a role; each has one. */
static bool give_role(Reader *r, uint32_t axis, uint64_t *role)
{
    if ((r->cores | r->loops | r->tiled) & bit(axis))
        return refuse_at(r, r->axis_at[axis], "it has two roles in this band", axis);
    *role |= bit(axis);
    return true;
}

static bool read_tile(Reader *r, BandTile *tile)
{
    if (tile->axis)
        return refuse_at(r, r->span, "a band has rows and lanes of one axis each", 0);
    if (!read_axis(r, &tile->axis))
        return false;
    tile->whole = take_word(r, "whole");
    if (tile->whole ? !want_word(r, ",") || !want_word(r, "at") || !want_word(r, "most")
                    : !want_word(r, "by"))
        return false;
    return read_number(r, "elements of a tile", 1, 1 << 20, &tile->tile);
}

static bool read_cores(Reader *r, Band *band)
{
    uint32_t axis;
    if (take_word(r, "share")) {
        Span at = r->span;
        if (!read_axis(r, &axis))
            return false;
        if (axis != band->split)
            return refuse_at(r, at,
                             band->split
                                 ? "the results of this band are shared over another axis"
                                 : "no result of this band is shared (share v... over a...)",
                             axis);
        return true;
    }
    if (band->split)
        return refuse_at(r, r->span, "the cores share this axis: 'cores share'", band->split);
    while (is_axis(r))
        if (!read_axis(r, &axis) || !give_role(r, axis, &r->cores))
            return false;
    return true;
}

static bool read_role(Reader *r, Band *band)
{
    uint32_t axis;
    if (take_word(r, "cores"))
        return read_cores(r, band);
    if (take_word(r, "rows")) {
        if (!read_tile(r, &band->rows) || !give_role(r, band->rows.axis, &r->tiled))
            return false;
        band->chunked = take_word(r, "in");
        return !band->chunked || want_word(r, "chunks");
    }
    if (take_word(r, "lanes"))
        return read_tile(r, &band->lanes) && give_role(r, band->lanes.axis, &r->tiled);
    if (!take_word(r, "loops"))
        return expected(r, "cores, rows, lanes or loops");
    while (is_axis(r))
        if (!read_axis(r, &axis) || !give_role(r, axis, &r->loops))
            return false;
    return true;
}

/* The axes that were given roles are those that the band has, each one that it may have. */
static ScheduleFault roles_fault(const Reader *r, const Band *band)
{
    uint64_t all = band->kept | band->reduced;
    for (uint32_t a = 1; a < r->base->axes.len; a++) {
        if ((r->cores | r->loops | r->tiled) & bit(a) & ~all)
            return (ScheduleFault){"the band does not have this axis", a};
        if (r->cores & bit(a) & ~band->kept)
            return (ScheduleFault){"it is reduced: rows, lanes or loops, not cores", a};
        if (r->loops & bit(a) & band->kept && !band->split)
            return (ScheduleFault){"it is not reduced: cores, rows or lanes, not loops", a};
        if (all & bit(a) & ~(r->cores | r->loops | r->tiled | bit(band->split)))
            return (ScheduleFault){"it has no role in this band", a};
    }
    if (all && !band->lanes.axis)
        return (ScheduleFault){"the band has no lanes", 0};
    return (ScheduleFault){0};
}

static bool check_band(Reader *r, const Band *band, Span at)
{
    ScheduleFault found = roles_fault(r, band);
    const Bands *bands = bands_now(r);
    uint32_t phase = bands->len ? vec_last(bands).phase : 0;
    if (!found.why)
        found = schedule_fault(r->nest, band, schedule_values(r->nest, band));
    if (!found.why)
        found = schedule_tile_fault(r->nest, band);
    if (!found.why && band->phase < phase)
        found = (ScheduleFault){"it must stand before bands of a later phase", 0};
    if (!found.why && band->phase > phase && !r->waits)
        found = (ScheduleFault){"it reads what all cores found: 'all cores wait' before it", 0};
    if (!found.why && band->phase == phase && r->waits)
        found = (ScheduleFault){"the cores need not wait before it", 0};
    if (!found.why)
        return true;
    return refuse_at(r, found.axis && r->axis_at[found.axis].line ? r->axis_at[found.axis] : at,
                     found.why, found.axis);
}

static bool read_band(Reader *r)
{
    Band band = {.rows = {.tile = 1}, .lanes = {.tile = 8}};
    Span at = r->span;
    memset(r->axis_at, 0, sizeof r->axis_at);
    r->cores = r->loops = r->tiled = 0;
    if (!r->kernels)
        return refuse_at(r, at, "a band needs a line 'kernel' before it", 0);
    if (bands_now(r)->len == SCHEDULE_BANDS)
        return refuse_at(r, at, "a kernel has at most 12 bands", 0);
    while (r->word.len && !str_is(r->word, ":"))
        if (!read_store(r, &band))
            return false;
    if (!band.stores.len)
        return expected(r, "a result");
    if (!want_word(r, ":"))
        return false;
    ScheduleFault found = schedule_own_axes(r->nest, &band);
    if (found.why)
        return refuse_at(r, at, found.why, found.axis);
    do
        if (!read_role(r, &band))
            return false;
    while (take_word(r, ";"));
    if (!check_band(r, &band, at))
        return false;
    r->waits = false;
    vec_push(r->arena, bands_now(r), band);
    return true;
}

static bool read_wait(Reader *r)
{
    Span at = r->span;
    if (!want_word(r, "cores") || !want_word(r, "wait"))
        return false;
    if (!r->kernels || !bands_now(r)->len || r->waits)
        return refuse_at(r, at, "the cores wait between two bands", 0);
    r->waits = true;
    return true;
}

static bool read_statement(Reader *r)
{
    if (take_word(r, "axes"))
        return read_axes(r);
    if (take_word(r, "fold"))
        return read_fold(r);
    if (take_word(r, "share"))
        return read_share(r, false);
    if (take_word(r, "keep"))
        return read_share(r, true);
    if (take_word(r, "parts"))
        return read_number(r, "pieces for each core", 1, MOST_PARTS, &r->schedule->parts);
    if (take_word(r, "worth"))
        return read_number(r, "elements", 1, INT64_C(1) << 40, &r->schedule->each);
    if (take_word(r, "buffers"))
        return read_buffers(r);
    if (take_word(r, "kernel"))
        return read_kernel(r);
    if (take_word(r, "band"))
        return read_band(r);
    if (take_word(r, "all"))
        return read_wait(r);
    if (take_word(r, "windows"))
        return true; /* the nest has them: schedule_has_windows */
    if (take_word(r, "steps")) {
        r->schedule->inside = true;
        return want_word(r, "inside");
    }
    return expected(
        r, "axes, fold, share, keep, parts, worth, buffers, windows, steps, kernel, band or all");
}

bool schedule_has_windows(Str text)
{
    Str line;
    while (str_next(&text, '\n', &line))
        if (str_is(str_trim(line), "windows"))
            return true;
    return false;
}

bool schedule_parse(const Nest *base, Str text, Schedule *schedule, Diag *diag)
{
    Reader r = {.arena = base->arena,
                .derived = base,
                .base = base,
                .text = text,
                .line = 1,
                .diag = diag,
                .schedule = schedule};
    *schedule = (Schedule){.parts = 4, .load_depth = MOST_DEPTH, .store_depth = MOST_DEPTH};
    do {
        next_word(&r);
        if (!r.word.len)
            continue;
        if (!read_statement(&r))
            return false;
        if (r.word.len)
            return expected(&r, "the end of the line");
    } while (next_line(&r));
    if (!r.kernels)
        return refuse_at(&r, r.span, "the schedule has no kernel", 0);
    return check_kernel(&r, r.span);
}
