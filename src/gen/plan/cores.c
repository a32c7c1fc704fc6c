/* How many cores a small task is worth. In: a task. Out: lines of its host function.
 *
 * A core costs 0.08 us of launch. One vector core of each AI core has that one's port alone: it takes
 * in 60 KB a us, gives out 49.5 KB, and computes 64 elements a cycle of 1/1800 us (npu/cost.def CORE_US,
 * GM_PORT, MTE3_RATE). So n elements of which one keeps the busiest of these for b us take 0.08 c + n b / c:
 * least at c = sqrt(n b / 0.08). The second core of each AI core shares the port, so that all cores pay
 * only where storing or computing bounds it and they save more of that than their launch takes, or where
 * 60 us of work make the launch small. A core's share is cut in four pieces at least, so that its first store starts before
 * its last load. */
#include "gen/plan/cores.h"

#include "gen/plan/strategy.h"
#include <string.h>

enum { PIECES = 4, LEAST = 512, PORTS = 24, LONG_US = 60, FOLD = 2 /* cycles of 64 elements */ };
#define CORE_US 0.08
#define IN_PER_US 60480.0
#define OUT_PER_US 49500.0
#define LANES_PER_US (64 * 1800.0)

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
    double alone = core_us(work, 1), shared = core_us(work, 2) / 2;
    double least = LONG_US * PORTS / alone, gain = (alone - shared) / PORTS;
    bool reads = work.in / IN_PER_US >=
                 busiest_beside(work); /* then only the first and last piece gain */
    if (!reads && gain > 0 && CORE_US * PORTS / gain < least)
        least = CORE_US * PORTS / gain;
    return (CoresRule){alone / CORE_US, least};
}

const char *cores_lines(Arena *arena, const char *axis, CoresWork work)
{
    CoresRule rule = cores_rule(work);
    return str_format(arena,
                      "cores = chip.cores if %s >= %.0f else max(1, min(chip.cube_cores, "
                      "i64(sqrt(f32(%s) * %.6f))))\n"
                      "    piece = min(tile, max(%d, align_up(ceildiv(%s, cores * %d), 128)))",
                      axis, rule.least, axis, rule.factor, LEAST, axis, PIECES);
}

/* Cycles of 64 elements, of what is not one instruction of one cycle (npu/isa.def, lower). */
static const struct {
    const char *word;
    int cycles;
} slow[] = {{"exp", 2},   {"log", 2},  {"sqrt", 2},  {"rsqrt", 6}, {"recip", 4}, {"sigmoid", 8},
            {"tanh", 11}, {"silu", 9}, {"gelu", 24}, {"erf", 28},  {"mish", 24}, {"softplus", 12},
            {"where", 3}, {"pow", 16}, {"sin", 20},  {"cos", 20},  {"cast", 2}};

static double form_cycles(const char *form)
{
    double cycles = 0;
    for (const char *c = form; *c;) {
        size_t n = strspn(c, "abcdefghijklmnopqrstuvwxyz0123456789_");
        int word = n && *c >= 'a';
        for (size_t i = 0; n && i < sizeof slow / sizeof *slow; i++)
            if (str_is((Str){c, n}, slow[i].word))
                word = slow[i].cycles;
        cycles += word + (*c == '/' ? 4 : strchr("+-*<>=", *c) ? 1 : 0);
        c += n ? n : 1;
    }
    return cycles;
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
            work.cycles += form_cycles(p->form);
    }
    return work;
}

void few_cores(Job *job, Part *part)
{
    part->setup = cores_lines(job->arena, "n0", element_work(part->w));
    part->cores = "cores";
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

/* Rows: a core for each port where all of them save less than their launch takes, and no more than
 * give each as many pieces. */
void row_cores(Job *job, Part *part, uint32_t tiled, const char *tile)
{
    CoresWork work = element_work(part->w);
    const char *items = item_count(job, tiled, tile);
    Buf elements = {0};
    for (uint32_t i = 1; i < job->g->prims.len; i++)
        work.cycles += job->g->prims.at[i].op == PRIM_REDUCE && job->g->prims.at[i].uses ? FOLD : 0;
    for (uint32_t i = 0; i < job->s->len; i++)
        buf_printf(&elements, "%s%s", i ? " * " : "", job->s->axis[i].name);
    part->setup = str_format(job->arena,
                             "most = chip.cores if %s >= %.0f else chip.cube_cores\n"
                             "cores = min(most, ceildiv(%s, ceildiv(%s, most)))",
                             elements.at, cores_rule(work).least, items, items);
    part->cores = "cores";
    buf_free(&elements);
}
