/* The cycle model in words: a summary of where the time goes, and what to change first. In: the
 * counters of cycle.c. Out: text. Gains are upper bounds from the same counters: what would be
 * gone if the cause were. */
#include "sim/cycle_int.h"
#include <stddef.h>
#include <stdlib.h>

static const struct {
    enum NpuPipe pipe;
    const char *name;
} shown[] = {{NPU_PIPE_S, "scalar"},        {NPU_PIPE_V, "vector"}, {NPU_PIPE_MTE2, "MTE2 (in)"},
             {NPU_PIPE_MTE3, "MTE3 (out)"}, {NPU_PIPE_M, "cube"},   {NPU_PIPE_MTE1, "MTE1"},
             {NPU_PIPE_FIX, "fixpipe"}};
enum { SHOWN = sizeof shown / sizeof *shown };

static double mib(uint64_t bytes) { return (double)bytes / (1 << 20); }

/* Every input read once and every output written once. */
static uint64_t least_bytes(const Sim *sim)
{
    uint64_t least = 0;
    for (uint32_t i = 0; i < sim->gm.len; i++) {
        const SimRegion *g = &sim->gm.at[i]->region;
        least += g->role == SIM_IN || g->role == SIM_OUT ? g->bytes
                 : g->role == SIM_INOUT                  ? 2 * g->bytes
                                                         : 0;
    }
    return least;
}

/* --- summary --- */

static void summarise_pipes(const CycleReport *r, Buf *out)
{
    for (int i = 0; i < SHOWN; i++) {
        enum NpuPipe p = shown[i].pipe;
        double waits = 0;
        int most = CYCLE_WAIT_NONE;
        for (int w = CYCLE_WAIT_ISSUE; w < CYCLE_WAIT_COUNT; w++) {
            waits += r->wait_us[p][w];
            most = r->wait_us[p][w] > r->wait_us[p][most] ? w : most;
        }
        if (r->busy_us[p] <= 0)
            continue;
        buf_printf(out, "  %-11s busy %5.1f %%", shown[i].name, 100 * r->share[p]);
        if (waits > 0.01 * r->us) /* some of it while the instruction before is finishing */
            buf_printf(out, ", idle %5.1f %%, most for %s", 100 * (1 - r->share[p]),
                       cycle_wait_name((CycleWait)most));
        buf_puts(out, p == r->bound ? "  <- bounds it\n" : "\n");
    }
}

static void summarise_lines(const Cycle *c, Buf *out)
{
    CycleLine lines[3];
    uint32_t n = cycle_lines(c, lines, 3);
    double all = 0;
    for (uint32_t i = 0; i < c->lines.len; i++)
        all += c->lines.at[i].cycles;
    buf_puts(out, n ? "  costliest lines:\n" : "");
    for (uint32_t i = 0; i < n; i++)
        buf_printf(out, "    %s:%u  %.1f %% of all pipe cycles, %llu instructions\n", lines[i].file,
                   lines[i].line, 100 * lines[i].cycles / all,
                   (unsigned long long)lines[i].instructions);
}

void cycle_summary(const Cycle *c, Buf *out)
{
    CycleReport r;
    cycle_report(c, &r);
    uint64_t moved = r.gm_read + r.gm_written, least = least_bytes(c->sim);
    buf_printf(out,
               "predicted %.1f us on %s (launch %.1f us), %u of %u cores, slowest %.0f cycles\n",
               r.us, c->chip->name, r.launch_us, r.cores, r.chip_cores, r.cycles);
    summarise_pipes(&r, out);
    buf_printf(out, "  GM: %.2f MiB asked for, the tensors have %.2f", mib(moved), mib(least));
    if (least)
        buf_printf(out, " (%.2f times)", (double)moved / (double)least);
    buf_printf(out, "; %.0f %% of the reads from L2\n",
               r.gm_read ? 100 * (double)r.l2_hits / (double)r.gm_read : 0.0);
    summarise_lines(c, out);
}

void cycle_costs(const Cycle *c, Buf *out)
{
    CycleReport r;
    cycle_report(c, &r);
    uint32_t n = c->lines.len;
    CycleLine *lines = heap_alloc((n + 1) * sizeof *lines);
    n = cycle_lines(c, lines, n);
    for (uint32_t i = 0; i < n; i++)
        buf_printf(out, "%s\t%u\t%.6f\t%llu\t%llu\n", lines[i].file, lines[i].line,
                   lines[i].cycles / c->chip->mhz / (r.cores ? r.cores : 1),
                   (unsigned long long)lines[i].instructions, (unsigned long long)lines[i].bytes);
    heap_free(lines);
}

/* --- advice --- */

typedef struct Advice {
    double gain; /* us, at most */
    const char *text;
} Advice;

typedef struct Advising {
    const Cycle *c;
    Arena *arena;
    CycleReport r;
    double total; /* us, without launch */
    Advice advice[12];
    uint32_t n;
} Advising;

static void advise(Advising *a, double gain, const char *text)
{
    if (gain > 0.04 * a->total && a->n < sizeof a->advice / sizeof *a->advice)
        a->advice[a->n++] = (Advice){gain, text};
}

static double share_of(const Advising *a, double us) { return 100 * us / a->total; }

/* The line for which a counter is largest; "" when it is nowhere. */
static const char *worst_line(const Advising *a, size_t counter)
{
    const CycleLine *worst = NULL;
    double most = 0;
    for (uint32_t i = 0; i < a->c->lines.len; i++) {
        const CycleLine *line = &a->c->lines.at[i];
        double value = *(const double *)((const char *)line + counter);
        if (value > most && line->line) {
            most = value;
            worst = line;
        }
    }
    return worst ? str_format(a->arena, " (%s:%u)", worst->file, worst->line) : "";
}
#define WORST(a, counter) worst_line(a, offsetof(CycleLine, counter))

static const CycleLine *smallest_copies(const Advising *a)
{
    const CycleLine *worst = NULL;
    for (uint32_t i = 0; i < a->c->lines.len; i++) {
        const CycleLine *line = &a->c->lines.at[i];
        if (line->bytes && (!worst || line->cycles > worst->cycles))
            worst = line;
    }
    return worst;
}

/* GM cannot move the requested bytes any faster. */
static double floor_us(const Advising *a)
{
    uint64_t moved = a->r.gm_read - a->r.l2_hits + a->r.gm_returned;
    return (double)moved / (a->c->chip->gm_tbps * 1e6 * cost_constant(NPU_C_GM_REACHED));
}

static void advise_cores(Advising *a)
{
    const CycleReport *r = &a->r;
    double spread = a->total * r->cores / r->chip_cores, floor = floor_us(a);
    if (r->cores < r->chip_cores)
        advise(a, a->total - (spread > floor ? spread : floor),
               str_format(a->arena,
                          "Idle cores: %u of the %u cores work. Launch more blocks and share the "
                          "work out among them.",
                          r->cores, r->chip_cores));
    double uneven = (r->cycles - r->mean_cycles) / a->c->chip->mhz;
    advise(a, uneven,
           str_format(a->arena,
                      "Uneven cores: the slowest takes %.0f cycles, the mean is %.0f. Give every "
                      "core the same share, the rest one more tile each.",
                      r->cycles, r->mean_cycles));
}

static void advise_buffers(Advising *a)
{
    const CycleReport *r = &a->r;
    double in = r->flag_us[NPU_PIPE_MTE2][NPU_PIPE_V] + r->flag_us[NPU_PIPE_MTE2][NPU_PIPE_MTE3];
    double compute = r->flag_us[NPU_PIPE_V][NPU_PIPE_MTE2];
    double busiest = r->share[r->bound] * a->total;
    if (in < 0.04 * a->total || compute < 0.04 * a->total)
        return;
    const CycleBuffers *b = &a->c->buffers;
    const char *single = b->single_line
                             ? str_format(a->arena, " (%s:%u)", b->single_file, b->single_line)
                             : "";
    bool doubled = b->queues && !b->single_line;
    advise(
        a, a->total - busiest < in ? a->total - busiest : in,
        str_format(
            a->arena,
            "%s: copying in waits %.0f %% of the time until %s%s, and the vector unit %.0f %% for "
            "data%s",
            doubled ? "Copies and computation in turns" : "Single buffer", share_of(a, in),
            doubled ? "a buffer is free" : "the buffer is free again", WORST(a, waited),
            share_of(a, compute),
            doubled ? ", although every queue has two buffers. Use more and smaller tiles, so that "
                      "the first copy and the last computation take less of the time."
            : b->queues
                ? str_format(a->arena,
                             ". Give the queues two buffers (InitBuffer(queue, 2, ...))%s, so that "
                             "copies and computation overlap.",
                             single)
                : ". Load the next tile into a second buffer while this one is computed on, so "
                  "that "
                  "copies and computation overlap."));
}

static void advise_conflicts(Advising *a)
{
    double lost = a->r.conflict_us, vector = a->r.share[NPU_PIPE_V] * a->total;
    if (vector <= 0)
        return;
    advise(a, a->r.bound == NPU_PIPE_V ? lost : lost * vector / a->total,
           str_format(a->arena,
                      "Bank conflicts: %.0f %% of the vector time is lost to operands in the same "
                      "bank group%s. Start them at addresses that differ modulo 512 bytes, for "
                      "two inputs by 256, or keep strides off multiples of 512 bytes.",
                      100 * lost / vector, WORST(a, conflict)));
}

static void advise_copies(Advising *a)
{
    const CycleReport *r = &a->r;
    enum NpuPipe p = r->small_us[NPU_PIPE_MTE2] > r->small_us[NPU_PIPE_MTE3] ? NPU_PIPE_MTE2
                                                                             : NPU_PIPE_MTE3;
    const CycleLine *line = smallest_copies(a);
    if (r->small_us[p] <= 0 || !line)
        return;
    /* Every tile waits for flags of the others: fewer tiles, fewer waits. */
    double flags = r->flag_us[NPU_PIPE_MTE2][NPU_PIPE_V] + r->flag_us[NPU_PIPE_MTE2][NPU_PIPE_MTE3];
    advise(a, r->small_us[p] + (r->small_us[p] > 0.04 * a->total ? flags : 0),
           str_format(a->arena,
                      "Small copies: %llu copies of %.0f bytes on average (%s:%u); one takes %.0f "
                      "cycles to start, however little it moves. Copy more at a time: at least "
                      "2 KiB, best 16 KiB or more, or many rows with one strided copy.",
                      (unsigned long long)r->copies, (double)r->copied / (double)r->copies,
                      line->file, line->line, cost_constant(NPU_C_MTE_ISSUE)));
    double moved = (double)(r->gm_read + r->gm_written + r->gm_wasted);
    double wasted = moved > 0 ? (double)r->gm_wasted / moved : 0;
    advise(
        a, wasted * r->share[NPU_PIPE_MTE2] * a->total,
        str_format(a->arena,
                   "Unaligned rows: %.0f %% of what GM moves is the rest of lines that rows begin "
                   "or end in. Begin rows at multiples of 512 bytes, or copy several rows at "
                   "once.",
                   100 * wasted));
}

static void advise_scalar(Advising *a)
{
    const CycleReport *r = &a->r;
    double scalar = r->share[NPU_PIPE_S] * a->total, next = 0;
    for (int p = 0; p < PIPES; p++)
        if (p != NPU_PIPE_S && r->share[p] * a->total > next)
            next = r->share[p] * a->total;
    double issue = r->wait_us[r->bound][CYCLE_WAIT_ISSUE];
    if (scalar < 0.25 * a->total)
        return;
    advise(
        a, r->bound == NPU_PIPE_S ? scalar - next : issue,
        str_format(a->arena,
                   "Scalar work: the scalar unit is busy %.0f %% of the time and holds the other "
                   "pipes up%s. Replace GetValue and SetValue in loops by vector instructions, "
                   "and move what does not change out of the loop.",
                   share_of(a, scalar), WORST(a, cycles)));
}

static void advise_reads(Advising *a)
{
    const CycleReport *r = &a->r;
    double stood = r->wait_us[NPU_PIPE_S][CYCLE_WAIT_FLAG];
    double idle = a->total - r->share[r->bound] * a->total;
    advise(a, stood < idle ? stood : idle,
           str_format(a->arena,
                      "Scalar reads: the scalar unit stands %.0f %% of the time until a value it "
                      "reads is there%s, and issues nothing meanwhile. Issue the next tile's "
                      "copies before the read, or keep the value in UB and use it from there "
                      "(Brcb, or a vector operand with stride 0).",
                      share_of(a, stood), WORST(a, stood)));
}

static void advise_waits(Advising *a)
{
    const CycleReport *r = &a->r;
    advise(a, r->wait_us[r->bound][CYCLE_WAIT_BARRIER] * (r->bound == NPU_PIPE_V ? 0.5 : 1),
           str_format(a->arena,
                      "Barriers: %s waits %.0f %% of the time for a pipe to drain%s. Order "
                      "independent instructions so that results are not needed at once; use flags "
                      "between two pipes instead of PipeBarrier<PIPE_ALL>.",
                      npu_pipe_name(r->bound),
                      share_of(a, r->wait_us[r->bound][CYCLE_WAIT_BARRIER]), WORST(a, waited)));
    double cores = 0;
    for (int p = 0; p < PIPES; p++)
        cores = later(cores, r->wait_us[p][CYCLE_WAIT_CORES]);
    advise(
        a, cores,
        str_format(a->arena,
                   "Waiting for other cores: %.0f %% of the time. Synchronise less often, or even "
                   "out what comes before.",
                   share_of(a, cores)));
}

static void advise_l2(Advising *a)
{
    const CycleReport *r = &a->r;
    bool hinted = r->past_l2 > r->gm_read / 2;
    if (r->gm_read == 0 || hinted || (double)r->l2_hits > 0.05 * (double)r->gm_read)
        return;
    advise(a,
           (double)r->gm_returned / (a->c->chip->gm_tbps * 1e6 * cost_constant(NPU_C_GM_REACHED)),
           str_format(a->arena,
                      "L2: inputs that are read once push %.0f MiB of written lines out to GM. Let "
                      "them pass it by: SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE) on the input "
                      "tensors.",
                      mib(r->gm_returned)));
}

static int by_gain(const void *x, const void *y)
{
    double a = ((const Advice *)x)->gain, b = ((const Advice *)y)->gain;
    return a < b ? 1 : a > b ? -1 : 0;
}

/* The time of the busiest pipe beyond the next one's and beyond what GM needs. */
static double beyond_next(const Advising *a)
{
    double next = floor_us(a);
    for (int p = 0; p < PIPES; p++)
        if ((enum NpuPipe)p != a->r.bound)
            next = later(next, a->r.share[p] * a->total);
    return a->r.share[a->r.bound] * a->total - next;
}

/* Bytes that a copy brings in once more. Workspaces count: they are bytes that another kernel need not move. */
static void advise_bytes(Advising *a)
{
    const CycleReport *r = &a->r;
    uint64_t moved = r->gm_read + r->gm_written, least = least_bytes(a->c->sim);
    const CycleLine *line = smallest_copies(a);
    if (!least || moved <= least || !line ||
        (r->bound != NPU_PIPE_MTE2 && r->bound != NPU_PIPE_MTE3))
        return;
    advise(a, r->share[r->bound] * a->total * (1 - (double)least / (double)moved),
           str_format(a->arena,
                      "Bytes moved again: %.2f MiB are copied, %.1f times what the tensors hold, "
                      "most of the time by %s:%u. Keep what is used again in UB, and make one pass "
                      "of two that read the same rows.",
                      mib(moved), (double)moved / (double)least, line->file, line->line));
}

/* "a.cpp:12 (40 % of all pipe cycles) and a.cpp:15 (22 %)": the costliest lines that copy nothing. */
static const char *computing_lines(const Advising *a)
{
    enum { MOST = 16 };
    CycleLine lines[MOST];
    uint32_t n = cycle_lines(a->c, lines, MOST), named = 0;
    double all = 0;
    Buf text = {0};
    for (uint32_t i = 0; i < a->c->lines.len; i++)
        all += a->c->lines.at[i].cycles;
    for (uint32_t i = 0; i < n && named < 2; i++) {
        if (!lines[i].line || lines[i].bytes)
            continue;
        buf_printf(&text, "%s%s:%u (%.0f %%%s)",
                   named ? " and " : " The costliest: ", lines[i].file, lines[i].line,
                   100 * lines[i].cycles / all, named ? "" : " of all pipe cycles");
        named++;
    }
    const char *kept = text.len ? str_format(a->arena, "%s.", text.at) : "";
    buf_free(&text);
    return kept;
}

/* A pipe that computes, and leaves GM waiting: only less work on it is faster. */
static void advise_work(Advising *a)
{
    const CycleReport *r = &a->r;
    bool vector = r->bound == NPU_PIPE_V;
    if (!vector && r->bound != NPU_PIPE_M)
        return;
    advise(a, beyond_next(a) - (vector ? r->conflict_us : 0),
           str_format(a->arena,
                      "%s: %s is busy %.0f %% of the time; all other pipes and GM need less.%s %s",
                      vector ? "Vector work" : "Cube work", vector ? "the vector unit" : "the cube",
                      100 * r->share[r->bound], computing_lines(a),
                      vector ? "Use fewer instructions on longer operands, cheaper functions, or a "
                               "narrower element type."
                             : "Only fewer products or a narrower element type are faster."));
}

static void nothing_stands_out(const Advising *a, Buf *out)
{
    enum { BUSY = 60 }; /* percent; below it no pipe limits the kernel */
    double moved = (double)(a->r.gm_read - a->r.l2_hits + a->r.gm_returned);
    double busy = 100 * a->r.share[a->r.bound];
    buf_printf(out,
               "No single cause costs more than 4 %% of the time: %s is busy %.0f %% of it and GM "
               "moves %.2f of %.2f TB/s. %s\n",
               npu_pipe_name(a->r.bound), busy, a->total > 0 ? moved / a->total * 1e-6 : 0.0,
               a->c->chip->gm_tbps,
               busy < BUSY ? "Most of the time instructions wait for one another, as in every "
                             "short launch: look at a larger size (--scale full)."
                           : "What is left is to move or compute less.");
}

void cycle_explain(const Cycle *c, Buf *out)
{
    Arena arena = {0};
    Advising a = {.c = c, .arena = &arena};
    cycle_report(c, &a.r);
    a.total = a.r.us - a.r.launch_us;
    advise_cores(&a);
    advise_buffers(&a);
    advise_conflicts(&a);
    advise_copies(&a);
    advise_scalar(&a);
    advise_reads(&a);
    advise_waits(&a);
    advise_l2(&a);
    advise_bytes(&a);
    advise_work(&a);
    qsort(a.advice, a.n, sizeof *a.advice, by_gain);
    for (uint32_t i = 0; i < a.n && i < 3; i++)
        buf_printf(out, "%u. %s At most %.1f of %.1f us.\n", i + 1, a.advice[i].text,
                   a.advice[i].gain, a.r.us);
    if (!a.n)
        nothing_stands_out(&a, out);
    arena_drop(&arena);
}
