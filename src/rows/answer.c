/* What an answer says: reasons, each from a fact of the plan, the program or the cycle model; the
 * schedule; the program. */
#include "rows/rows_int.h"

#include "gen/prompt/prompt.h"

static uint64_t bit(uint32_t axis) { return axis ? UINT64_C(1) << axis : 0; }

/* ---- prompts ---- */

void rows_put_task(const RowsTask *task, RowsShow show, Buf *out)
{
    if (show == SHOW_FILE) {
        buf_printf(out, "```python\n%.*s```\n", STR_ARG(task->model));
        return;
    }
    prompt_rows_graph(task->read->graph, out);
    if (show == SHOW_GRAPH)
        rows_put_pins(task->read->graph, task->pins.at, task->pins.len, "", out);
}

/* ---- pieces of sentences ---- */

/* "a1 (64) and a3 (40)" */
static const char *axes_text(Arena *arena, const Nest *nest, uint64_t axes)
{
    Buf out = {0};
    uint32_t left = 0;
    for (uint32_t a = 1; a < nest->axes.len; a++)
        left += (axes & bit(a)) != 0;
    uint32_t n = left;
    for (uint32_t a = 1; a < nest->axes.len; a++)
        if (axes & bit(a)) {
            left--;
            buf_printf(&out, "a%u (%lld)%s", a, (long long)nest->axes.at[a].size,
                       left > 1    ? ", "
                       : left == 1 ? (n > 2 ? ", and " : " and ")
                                   : "");
        }
    const char *text = out.len ? buf_take(&out, arena) : "";
    buf_free(&out);
    return text;
}

static bool is_one(uint64_t axes) { return axes && !(axes & (axes - 1)); }

static const char *one_of(Dice *dice, const char *a, const char *b, const char *c)
{
    int64_t k = dice_below(dice, 3);
    return k == 0 ? a : k == 1 ? b : c;
}

/* ---- reasons ---- */

/* Running sums combine elements along an axis and do not reduce it. */
static void put_combined(const char *by, const char *over, bool one, int64_t wording, Buf *out)
{
    if (wording == 0)
        buf_printf(
            out,
            "Results combine elements along %s, which %s inside a core; split %s over the cores.",
            over, one ? "stays" : "stay", by);
    else if (wording == 1)
        buf_printf(out, "Elements along %s are combined, so the cores share out %s.", over, by);
    else
        buf_printf(
            out,
            "Split %s over the cores; a core takes all of %s, along which results are combined.",
            by, over);
}

static uint64_t whole_axes(const Band *band)
{
    return (band->rows.whole ? bit(band->rows.axis) : 0) |
           (band->lanes.whole ? bit(band->lanes.axis) : 0);
}

/* Without axes of one element. */
static uint64_t long_axes(const Nest *nest, uint64_t axes)
{
    for (uint32_t a = 1; a < nest->axes.len; a++)
        if (nest->axes.at[a].size < 2)
            axes &= ~bit(a);
    return axes;
}

/* All cores reduce parts of one axis. */
static void put_shared(const char *axis, int64_t wording, Buf *out)
{
    buf_printf(
        out,
        wording == 0 ? "The cores share %s, which is reduced; each leaves a partial result behind."
        : wording == 1
            ? "%s is reduced by all cores together: each takes a part and stores what it comes to."
            : "Each core reduces a part of %s; the partial results are combined once all are "
              "there.",
        axis);
}

/* What is kept is dealt out, but for axes that are whole in every tile. */
static void put_split(Arena *arena, const Nest *nest, const Band *band, bool scans, Dice *dice,
                      Buf *out)
{
    uint64_t reduced = long_axes(nest, band->reduced & ~band->kept);
    uint64_t dealt = long_axes(nest, band->kept & ~whole_axes(band));
    const char *by = axes_text(arena, nest, dealt), *over = axes_text(arena, nest, reduced);
    const char *is = is_one(reduced) ? "is" : "are", *stays = is_one(reduced) ? "stays" : "stay";
    int64_t wording = dice_below(dice, 3);
    if (band->split)
        put_shared(axes_text(arena, nest, bit(band->split)), wording, out);
    else if (!dealt)
        buf_puts(out, wording == 0   ? "Nothing is dealt out: one core writes the result."
                      : wording == 1 ? "There is one piece of work, so one core writes the result."
                                     : "One core writes the result: there is nothing to split.");
    else if (!reduced)
        buf_printf(out,
                   wording == 0   ? "Elements are computed independently: split %s over the cores."
                   : wording == 1 ? "No element waits for another, so the cores share out %s."
                                  : "No axis is walked for a reduction: deal out %s to the cores.",
                   by);
    else if (scans)
        put_combined(by, over, is_one(reduced), wording, out);
    else if (wording == 0)
        buf_printf(out, "%s %s reduced and %s inside a core; split %s over the cores.", over, is,
                   stays, by);
    else if (wording == 1)
        buf_printf(out, "The reduction takes %s, so the cores share out %s.", over, by);
    else
        buf_printf(out, "Split %s over the cores; %s %s reduced, so a core takes all of %s.", by,
                   over, is, is_one(reduced) ? "it" : "them");
}

static void put_side(const BandTile *t, const char *what, Buf *out)
{
    buf_printf(out, " at most %lld %s of a%u%s", (long long)t->tile, what, t->axis,
               t->whole ? " (whole)" : "");
}

static void put_tile(Arena *arena, const Nest *nest, const Band *band, bool scans, Dice *dice,
                     Buf *out)
{
    uint64_t walked = band->reduced & ~band->kept & ~whole_axes(band);
    if (!band->lanes.axis) /* single values */
        return;
    buf_puts(out, one_of(dice, " A tile has", " Tile:", " On chip a tile holds"));
    if (band->rows.axis) {
        put_side(&band->rows, "rows", out);
        buf_puts(out, " by");
    }
    put_side(&band->lanes, "lanes", out);
    buf_char(out, '.');
    if (walked)
        buf_printf(out,
                   one_of(dice,
                          " Pieces along %s follow each other, and partial results are carried.",
                          " Along %s partial results are carried from piece to piece.",
                          " Partial results are carried along %s."),
                   axes_text(arena, nest, walked));
    else if (band->reduced & ~band->kept && scans)
        buf_puts(out, one_of(dice, " What is combined is whole in a tile, so nothing is carried.",
                             " All that is combined is on chip at once.", ""));
    else if (band->reduced & ~band->kept)
        buf_puts(out, one_of(dice, " What is reduced is whole in a tile, so nothing is carried.",
                             " All that is reduced is on chip at once: no partial results.",
                             " Reductions end within the tile."));
}

static void put_memory(const NpuChip *chip, const RowsProgram *program, Dice *dice, Buf *out)
{
    if (program->ub < 0 || (!program->ub && program->cube.products))
        return;
    buf_printf(out,
               one_of(dice, " The buffers take %lld of %u bytes of UB.",
                      " UB: %lld of %u bytes are declared.",
                      " Declared buffers: %lld of UB's %u bytes."),
               (long long)program->ub, chip->ub);
    if (program->double_buffered)
        buf_puts(out, one_of(dice, " Buffers of depth 2 let their copies overlap with arithmetic.",
                             " With depth=2 a copy can run beside arithmetic.", ""));
}

const char *rows_pipe_text(enum NpuPipe pipe)
{
    return pipe == NPU_PIPE_V      ? "the vector unit"
           : pipe == NPU_PIPE_MTE2 ? "copies in"
           : pipe == NPU_PIPE_MTE3 ? "copies out"
           : pipe == NPU_PIPE_S    ? "the scalar unit"
                                   : npu_pipe_name(pipe);
}

static enum NpuPipe busiest(const RowsProgram *program)
{
    enum NpuPipe most = (enum NpuPipe)0;
    for (int i = 1; i < NPU_PIPE_ALL; i++)
        if (program->share[i] > program->share[most])
            most = (enum NpuPipe)i;
    return most;
}

static void put_time(const RowsProgram *program, Dice *dice, Buf *out)
{
    enum NpuPipe pipe = busiest(program);
    if (program->us < 0)
        return;
    if (program->cube.channels) { /* its cores wait for each other */
        buf_printf(out,
                   one_of(dice, " Predicted: %.1f us.", " %.1f us predicted.",
                          " At these sizes %.1f us are predicted."),
                   program->us);
        return;
    }
    buf_printf(out,
               one_of(dice, " Predicted: %.1f us; busiest: %s, %.0f %% of the slowest core's time.",
                      " %.1f us predicted; the slowest core's busiest pipe: %s (%.0f %%).",
                      " At these sizes %.1f us are predicted; the busiest pipe is %s, %.0f %%."),
               program->us, rows_pipe_text(pipe), 100 * program->share[pipe]);
}

static void put_tail(const RowsProgram *program, Dice *dice, Buf *out)
{
    if (!program->tail)
        return;
    buf_puts(out, one_of(dice, " The last piece may be shorter: views end at its .size.",
                         " Views end at .size, so the tail touches nothing outside.",
                         " Tail: views end at the piece's .size."));
}

/* A program without loop nests: which strategy wrote it, and the cube's tiles. */
static void put_strategy(const RowsProgram *program, Dice *dice, Buf *out)
{
    buf_printf(out,
               one_of(dice, "No schedule of loop nests: the strategy is `%s`.",
                      "Strategy `%s`, without a schedule of loop nests.",
                      "This is planned as `%s`, not as loop nests."),
               program->plan.strategy);
    if (!program->cube.products)
        return;
    buf_printf(out,
               one_of(dice, " The cube adds up tiles of %lld x %lld in L0C, k by %lld at a time.",
                      " L0C holds %lld x %lld sums; L0 takes k in pieces of %lld.",
                      " A tile of L0C is %lld x %lld, and %lld of k are multiplied at once."),
               (long long)program->cube.m, (long long)program->cube.n, (long long)program->cube.k);
    if (program->cube.channels)
        buf_puts(out, one_of(dice, " Vector cores take finished tiles through a channel.",
                             " What follows the product is done by vector cores, behind a channel.",
                             " Tiles go to the vector cores through a channel."));
}

void rows_put_reasons(const NpuChip *chip, const RowsProgram *program, Dice *dice, Buf *out)
{
    Arena scratch = {0};
    for (uint32_t i = 0; i < program->schedule.bands.len; i++) {
        const Band *band = &program->schedule.bands.at[i];
        if (program->schedule.bands.len > 1)
            buf_printf(out, "%sBand %u: ", i ? " " : "", i + 1);
        put_split(&scratch, program->nest, band, program->scans, dice, out);
        put_tile(&scratch, program->nest, band, program->scans, dice, out);
    }
    if (!program->nest)
        put_strategy(program, dice, out);
    put_memory(chip, program, dice, out);
    put_tail(program, dice, out);
    put_time(program, dice, out);
    buf_char(out, '\n');
    arena_drop(&scratch);
}

/* ---- what a faster schedule does otherwise ---- */

static bool same_axes(const Nest *a, const Nest *b)
{
    bool same = a->axes.len == b->axes.len;
    for (uint32_t i = 1; same && i < a->axes.len; i++)
        same = a->axes.at[i].size == b->axes.at[i].size;
    return same;
}

static void put_side_change(const char *what, const BandTile *was, const BandTile *is, Buf *out)
{
    if (was->axis == is->axis && (!is->axis || was->tile == is->tile))
        return;
    buf_puts(out, out->len ? "; " : "");
    if (is->axis)
        buf_printf(out, "%s of a%u by %lld in place of ", what, is->axis, (long long)is->tile);
    else
        buf_printf(out, "no %s in place of ", what);
    if (!was->axis)
        buf_puts(out, "none");
    else if (was->axis == is->axis)
        buf_printf(out, "%lld", (long long)was->tile);
    else
        buf_printf(out, "%s of a%u by %lld", what, was->axis, (long long)was->tile);
}

/* `format` has a place for what is, then for what was. */
static void put_number_change(const char *format, int64_t was, int64_t is, Buf *out)
{
    if (was == is)
        return;
    buf_puts(out, out->len ? "; " : "");
    buf_printf(out, format, (long long)is, (long long)was);
}

/* Tiles are compared where both schedules walk the same axes. */
static void put_changes(const RowsProgram *was, const RowsProgram *is, Buf *out)
{
    const Schedule *a = &was->schedule, *b = &is->schedule;
    put_number_change("bands: %lld in place of %lld", a->bands.len, b->bands.len, out);
    if (a->bands.len == b->bands.len && same_axes(was->nest, is->nest))
        for (uint32_t i = 0; i < b->bands.len; i++) {
            put_side_change("rows", &a->bands.at[i].rows, &b->bands.at[i].rows, out);
            put_side_change("lanes", &a->bands.at[i].lanes, &b->bands.at[i].lanes, out);
        }
    put_number_change("parts %lld in place of %lld", a->parts, b->parts, out);
    put_number_change("%lld buffers of a copy in, in place of %lld", a->load_depth, b->load_depth,
                      out);
    put_number_change("%lld buffers of a copy out, in place of %lld", a->store_depth,
                      b->store_depth, out);
    put_number_change("%lld bytes of UB in place of %lld", was->ub, is->ub, out);
}

void rows_put_changes(const RowsProgram *was, const RowsProgram *is, Dice *dice, Buf *out)
{
    Buf changes = {0};
    if (was->nest && is->nest)
        put_changes(was, is, &changes);
    if (changes.len)
        buf_printf(out,
                   one_of(dice, "Changed: %.*s. ", "New in the schedule: %.*s. ", "Now: %.*s. "),
                   (int)changes.len, changes.at);
    buf_free(&changes);
}

void rows_put_schedule(const RowsProgram *program, Buf *out)
{
    if (program->nest)
        schedule_print(program->nest, &program->schedule, out);
}
