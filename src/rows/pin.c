/* Sizes that a program fixes. In: a task, its program. Out: the task with an assertion for each of them, so
 * that its file says which sizes it has, and every other size may be any. */
#include "rows/rows_int.h"

#include "craft/craft.h"

/* The first size of an input that changes with the knob. */
static bool find_size(const Graph *task, const Graph *other, RowsPin *pin)
{
    for (uint32_t i = 0; i < task->inputs.len; i++) {
        Shape a = graph_value(task, task->inputs.at[i])->shape;
        Shape b = graph_value(other, other->inputs.at[i])->shape;
        for (int k = 0; k < a.rank; k++)
            if (a.dim[k] != b.dim[k]) {
                *pin = (RowsPin){i, k, a.dim[k]};
                return true;
            }
    }
    return false;
}

/* Whether the program takes the task at other values of the knob, as far as the file can be read with them.
 * *pin: a size that the knob decides; untouched where no other value is read. */
static bool is_free(Arena *arena, const RowsTask *task, const RowsKnob *knob, const IrProgram *p,
                    const NpuChip *chip, RowsPin *pin)
{
    const int64_t others[] = {knob->value - 1,
                              knob->value + 1,
                              knob->value + 3,
                              1,
                              3,
                              19,
                              67,
                              129,
                              2 * knob->value + 1,
                              1025};
    for (uint32_t i = 0; i < sizeof others / sizeof *others; i++) {
        TorchSet set = {knob->name, others[i]};
        const TorchTask *t = others[i] > 0 ? rows_read(arena, task->model, &set, 1) : NULL;
        if (!t || t->graph->inputs.len != task->read->graph->inputs.len ||
            !find_size(task->read->graph, t->graph, pin))
            continue;
        if (!eval_takes(arena, p, t->graph, chip))
            return false;
    }
    return true;
}

bool rows_pin(Arena *arena, RowsTask *task, Str craft, const NpuChip *chip)
{
    Diag quiet = diag_make(arena, "kernel.craft", craft);
    CraftFile *file = craft_read(arena, "kernel.craft", craft, &quiet);
    const IrProgram *p = file && diag_ok(&quiet) ? craft_program(arena, file, 0, &quiet) : NULL;
    if (!p)
        return false;
    for (uint32_t i = 0; i < task->knobs.len && i < ROWS_KNOBS; i++) {
        RowsPin pin;
        if (is_free(arena, task, &task->knobs.at[i], p, chip, &pin))
            continue;
        task->pinned |= 1u << i;
        vec_push(arena, &task->pins, pin);
    }
    if (!task->pinned)
        return true;
    task->dims.pins = task->pins.at;
    task->dims.n_pins = task->pins.len;
    Buf out = {0};
    bool ok = model_write(arena, task->whole, &task->dims, task->wording, &out);
    task->model = str_from(buf_take(&out, arena));
    buf_free(&out);
    task->read = ok ? rows_read(arena, task->model, NULL, 0) : NULL;
    return task->read != NULL;
}

void rows_put_pins(const Graph *graph, const RowsPin *pins, uint32_t n, const char *margin,
                   Buf *out)
{
    for (uint32_t i = 0; i < n; i++)
        buf_printf(out, "%sassert %s.shape[%d] == %lld\n", margin,
                   graph_value(graph, graph->inputs.at[pins[i].input])->name, pins[i].axis,
                   (long long)pins[i].size);
}
