/* How many cores a small task is worth. In: a task. Out: lines of its host function.
 *
 * A core costs CORE_US of launch. One vector core of each AI core has that one's port alone: it takes
 * in 60 KB a us, gives out 49.5 KB, and computes 64 elements a cycle of 1/1800 us (npu/cost.def CORE_US,
 * GM_PORT, MTE3_RATE). So n elements of which one keeps the busiest of these for b us take
 * CORE_US c + n b / c: least at c = sqrt(n b / CORE_US). The second core of each AI core shares the port, so that all cores pay
 * only where storing or computing bounds it and they save more of that than their launch takes, or where
 * 60 us of work make the launch small.
 *
 * A core's share is cut into pieces: what the first one's load and the last one's computation and store take
 * overlaps with nothing. A piece must still take longer to copy than it takes to arrive (213 cycles) and to
 * be computed, at about 30 cycles an instruction before the first of its elements, or the copies wait for
 * buffers; where computing bounds it, pieces balance those cycles against the first load and the last store. */
#include "gen/plan/cores.h"

#include "gen/plan/strategy.h"
#include "npu/npu.h"
#include <string.h>

enum {
    PIECES = 4, /* of a core's share, about */
    MOST_PIECES = 64,
    LEAST = 512,
    PORTS = 24,
    LONG_US = 60,
    FOLD = 2, /* cycles of 64 elements */
    MOST_ELEMENTS = 1 << 20,
    ARRIVES = 213,
    STARTS = 30
};
#define IN_PER_US 60480.0
#define OUT_PER_US 49500.0
#define LANES_PER_US (64 * 1800.0)
#define CYCLES_PER_US 1800.0

static double larger(double a, double b) { return a > b ? a : b; }

/* The busier one of storing and computing. */
static double busiest_beside(CoresWork w)
{
    return larger(w.out / OUT_PER_US, w.cycles / LANES_PER_US);
}

/* What all of it would take one core, less what overlaps: the busiest pipe, and the first and last piece
 * of the others. */
static double core_us(CoresWork w, double ports)
{
    double in = w.in / IN_PER_US * ports, out = w.out / OUT_PER_US, v = w.cycles / LANES_PER_US;
    double most = larger(larger(in, out), v);
    return most + (in + out + v - most) / PIECES;
}

CoresRule cores_rule(CoresWork work)
{
    double launch = npu_constants[NPU_C_CORE_US].value; /* of a core, us */
    double alone = core_us(work, 1), shared = core_us(work, 2) / 2;
    double least = LONG_US * PORTS / alone, gain = (alone - shared) / PORTS;
    bool reads = work.in / IN_PER_US >=
                 busiest_beside(work); /* then only the first and last piece gain */
    if (!reads && gain > 0 && launch * PORTS / gain < least)
        least = launch * PORTS / gain;
    return (CoresRule){alone / launch, least};
}

double cores_cycles(double cycles, double calls, double elements)
{
    return cycles + STARTS * calls * 64 / elements;
}

/* "min(1408, i64(sqrt(...)))": elements of a piece of a core's share. */
static const char *piece_size(Arena *arena, const char *axis, CoresWork w)
{
    double in = w.in / IN_PER_US, out = w.out / OUT_PER_US, v = w.cycles / LANES_PER_US;
    double starts = STARTS * w.calls / CYCLES_PER_US, hidden = larger(in, out) - v;
    const char *even = str_format(arena, "i64(sqrt(f32(ceildiv(%s, cores)) * %.1f))", axis,
                                  larger(starts, STARTS / CYCLES_PER_US) / (in + out));
    if (hidden * MOST_ELEMENTS <= starts)
        return even;
    return str_format(arena, "min(%.0f, %s)", (ARRIVES / CYCLES_PER_US + starts) / hidden, even);
}

const char *cores_lines(Arena *arena, const char *axis, CoresWork work)
{
    CoresRule rule = cores_rule(work);
    return str_format(arena,
                      "cores = chip.cores if %s >= %.0f else max(1, min(chip.cube_cores, "
                      "i64(sqrt(f32(%s) * %.6f))))\n"
                      "    cut = max(ceildiv(%s, cores * %d), %s)\n"
                      "    piece = min(tile, max(%d, align_up(cut, 128)))",
                      axis, rule.least, axis, rule.factor, axis, MOST_PIECES,
                      piece_size(arena, axis, work), LEAST);
}

/* Cycles of 64 elements and instructions of what is not one of one cycle (npu/isa.def, lower). */
static const struct {
    const char *word;
    int cycles, calls;
} slow[] = {{"exp", 2, 1},    {"log", 2, 1},     {"sqrt", 2, 1},   {"rsqrt", 6, 3},
            {"recip", 4, 2},  {"sigmoid", 9, 5}, {"tanh", 16, 11}, {"silu", 8, 4},
            {"gelu", 21, 17}, {"erf", 28, 24},   {"mish", 24, 18}, {"softplus", 12, 10},
            {"where", 3, 2},  {"pow", 16, 8},    {"sin", 20, 18},  {"cos", 20, 18},
            {"cast", 2, 1}};

/* Adds what the form takes. */
static void count_form(const char *form, CoresWork *work)
{
    for (const char *c = form; *c;) {
        size_t n = strspn(c, "abcdefghijklmnopqrstuvwxyz0123456789_");
        int word = n && *c >= 'a', calls = word;
        for (size_t i = 0; n && i < sizeof slow / sizeof *slow; i++)
            if (str_is((Str){c, n}, slow[i].word)) {
                word = slow[i].cycles;
                calls = slow[i].calls;
            }
        work->cycles += word + (*c == '/' ? 4 : strchr("+-*<>=", *c) ? 1 : 0);
        work->calls += calls + (strchr("+-*/<>=", *c) ? 1 : 0);
        c += n ? n : 1;
    }
}

static CoresWork element_work(const Writer *w)
{
    CoresWork work = {0};
    for (uint32_t i = 0; i < w->operands.len; i++) {
        const PlanOperand *o = &w->operands.at[i];
        bool scalar = o->shape.rank == 1 && o->shape.dim[0] == 1 && w->s->axis[w->last].size > 1;
        if (!scalar)
            *(o->output ? &work.out : &work.in) += (double)dtype_bytes(o->dtype);
    }
    for (uint32_t i = 1; i < w->g->prims.len; i++) {
        const Prim *p = &w->g->prims.at[i];
        if (p->op == PRIM_MAP && p->uses && p->form && write_is_tile(w, i))
            count_form(p->form, &work);
    }
    return work;
}

/* With the folds of its reductions. */
static CoresWork job_work(Job *job, Part *part)
{
    CoresWork work = element_work(part->w);
    for (uint32_t i = 1; i < job->g->prims.len; i++)
        if (job->g->prims.at[i].op == PRIM_REDUCE && job->g->prims.at[i].uses) {
            work.cycles += FOLD;
            work.calls++;
        }
    return work;
}

void few_cores(Job *job, Part *part)
{
    part->setup = cores_lines(job->arena, "n0", job_work(job, part));
    part->cores = "cores";
    part->scalar[0].value = "piece";
}

void even_pieces(Job *job, Part *part)
{
    part->setup = str_format(
        job->arena,
        "mine = ceildiv(n0, %s)\n"
        "    piece = min(tile, align_up(ceildiv(mine, ceildiv(mine, tile)), 128))",
        part->cores);
    part->scalar[0].value = "piece";
}

/* "n0 * ceildiv(n1, 8)": pieces, the kept axes with one of them in tiles */
static const char *item_count(Job *job, uint32_t tiled, const char *tile)
{
    Buf items = {0};
    for (uint32_t i = 0; i < job->s->len; i++) {
        const SpaceAxis *axis = &job->s->axis[i];
        const char *times = items.len ? " * " : "";
        if (i == tiled)
            buf_printf(&items, "%sceildiv(%s, %s)", times, axis->name, tile);
        else if (!axis->reduced)
            buf_printf(&items, "%s%s", times, axis->name);
    }
    char *text = buf_take(&items, job->arena);
    buf_free(&items);
    return text;
}

void item_cores(Job *job, Part *part, uint32_t tiled, const char *tile)
{
    part->cores = str_format(job->arena, "min(%s, chip.cores)", item_count(job, tiled, tile));
}

/* Cores for rows: as few as there are memory ports when more would save less than their launch costs,
 * and no more than get equally many pieces. */
void row_cores(Job *job, Part *part, uint32_t tiled, const char *tile)
{
    CoresWork work = job_work(job, part);
    const char *items = item_count(job, tiled, tile);
    Buf elements = {0};
    for (uint32_t i = 0; i < job->s->len; i++)
        buf_printf(&elements, "%s%s", i ? " * " : "", job->s->axis[i].name);
    part->setup = str_format(job->arena,
                             "most = chip.cores if %s >= %.0f else chip.cube_cores\n"
                             "cores = min(most, ceildiv(%s, ceildiv(%s, most)))",
                             elements.at, cores_rule(work).least, items, items);
    part->cores = "cores";
    buf_free(&elements);
}
