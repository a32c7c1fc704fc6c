/* How many cores a small task is worth. In: a task. Out: lines of its host function.
 *
 * A core costs 0.08 us of launch and moves about 30 GB/s, so c cores take 0.08 c + bytes / (30000 c)
 * us: least at c = sqrt(bytes / 2419) (npu/cost.def CORE_US, GM_PORT). A core's share is cut in four
 * pieces at least, so that its first store starts before its last load. */
#include "gen/plan/cores.h"

#include "gen/plan/strategy.h"

enum { BYTES = 2419, PIECES = 4, LEAST = 512 };

/* Bytes of an element: what is read, and half of what is written, which goes beside it. */
static double element_bytes(const Writer *w)
{
    double bytes = 0;
    for (uint32_t i = 0; i < w->operands.len; i++) {
        const PlanOperand *o = &w->operands.at[i];
        bool scalar = o->shape.rank == 1 && o->shape.dim[0] == 1 && w->s->axis[w->last].size > 1;
        if (!scalar)
            bytes += (double)dtype_bytes(o->dtype) * (o->output ? 0.5 : 1);
    }
    return bytes;
}

const char *cores_lines(Arena *arena, const char *axis, double bytes)
{
    return str_format(arena,
                      "cores = max(1, min(chip.cores, i64(sqrt(f32(%s) * %.6f))))\n"
                      "    piece = min(tile, max(%d, align_up(ceildiv(%s, cores * %d), 128)))",
                      axis, bytes / BYTES, LEAST, axis, PIECES);
}

void few_cores(Job *job, Part *part)
{
    part->setup = cores_lines(job->arena, "n0", element_bytes(part->w));
    part->cores = "cores";
    part->scalar[0].value = "piece";
}

void item_cores(Job *job, Part *part, uint32_t tiled, const char *tile)
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
    part->cores = str_format(job->arena, "min(%s, chip.cores)", items.at);
    buf_free(&items);
}
