/* A model file as a graph, and a planned program run beside it: for tests of loop nests. */
#ifndef TESTS_GEN_NEST_RUN_H
#define TESTS_GEN_NEST_RUN_H

#include "craft/craft.h"
#include "gen/plan/schedule/search.h"
#include "graph/inputs.h"
#include "ir/run.h"
#include "tests/t.h"
#include "torch/torch.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static inline Graph *read_model(Arena *arena, const char *forward, const char *inputs, Diag *diag)
{
    const char *text = str_format(arena,
                                  "import torch\nimport torch.nn as nn\n"
                                  "import torch.nn.functional as F\n\n"
                                  "class Model(nn.Module):\n    def forward(%s\n\n"
                                  "def get_inputs():\n    return [%s]\n",
                                  forward, inputs);
    TorchOptions options = {0};
    *diag = diag_make(arena, "model.py", str_from(text));
    TorchTask *task = torch_read_scaled(arena, "model.py", str_from(text), &options, SCALE_FULL,
                                        diag);
    if (!task)
        CHECK_MSG(false, "%s", diag->items.len ? diag->items.at[0].text : "");
    REQUIRE(task != NULL);
    return graph_share(arena, task->graph);
}

static inline Plan plan_model(Arena *arena, const Graph *g, int64_t tile_limit)
{
    Diag diag = diag_make(arena, "model.py", STR(""));
    Plan plan = {0};
    bool ok = plan_nest(arena, g, npu_chip_find(STR("910B2")), tile_limit, "k", &plan, &diag);
    if (!ok)
        CHECK_MSG(false, "%s", diag.items.len ? diag.items.at[0].text : "");
    REQUIRE(ok);
    return plan;
}

/* ---- values ---- */

static inline const Tensor *input_of(const Graph *g, const TaskInputs *in, ValueId id)
{
    for (uint32_t i = 0; i < g->inputs.len; i++)
        if (g->inputs.at[i] == id)
            return in->inputs[i];
    for (uint32_t i = 0; i < g->params.len; i++)
        if (g->params.at[i] == id)
            return in->params[i];
    return NULL;
}

static inline IrOperand operand_of(Arena *arena, const Graph *g, const TaskInputs *in,
                                   const PlanOperand *o)
{
    IrData *data = arena_new(arena, IrData);
    data->rank = (uint32_t)o->shape.rank;
    memcpy(data->dims, o->shape.dim, sizeof data->dims);
    if (!o->output)
        data->data = (void *)input_of(g, in, o->value)->at;
    return (IrOperand){1, data};
}

static inline bool check_result(const Graph *g, const TaskInputs *in, const Plan *plan,
                                const IrOperand *operands, Diag *diag)
{
    Tensor **want = calloc(g->outputs.len, sizeof *want);
    bool right = true;
    EvalOptions options = {0};
    REQUIRE(graph_eval(g, in->inputs, in->params, &options, want, diag));
    for (uint32_t i = 0, next = 0; i < plan->operands.len; i++) {
        const PlanOperand *o = &plan->operands.at[i];
        int64_t n = 0;
        if (!o->output)
            continue;
        const Tensor *w = want[next++];
        REQUIRE(shape_count(w->shape, &n));
        for (int64_t k = 0; k < n; k++) {
            double a = dtype_load(w->dtype, w->at, (size_t)k);
            double b = dtype_load(o->dtype, operands[i].items[0].data, (size_t)k);
            double most = (o->dtype == DT_F32 ? 2e-5 : 4e-3) * (fabs(a) + 1);
            bool near = fabs(a - b) <= most || (isnan(a) && isnan(b));
            CHECK_MSG(near, "result %u, element %lld: want %g, got %g", next - 1, (long long)k, a,
                      b);
            right = right && near;
        }
    }
    for (uint32_t i = 0; i < g->outputs.len; i++)
        tensor_free(want[i]);
    free(want);
    return right;
}

/* False, and a failed check: faults, or other values than the graph's. */
static inline bool run_plan(Arena *arena, const Graph *g, const Plan *plan)
{
    Diag diag = diag_make(arena, "k.craft", plan->craft);
    CraftFile *file = craft_read(arena, "k.craft", plan->craft, &diag);
    IrProgram *p = file && diag_ok(&diag) ? craft_program(arena, file, 0, &diag) : NULL;
    IrOperand *operands = arena_array(arena, IrOperand, plan->operands.len);
    TaskInputs in = {0};
    if (!p)
        CHECK_MSG(false, "%s", diag.items.len ? diag.items.at[0].text : "");
    REQUIRE(p != NULL);
    REQUIRE(graph_inputs(g, 1, LAW_GIVEN, &in, &diag));
    for (uint32_t i = 0; i < plan->operands.len; i++)
        operands[i] = operand_of(arena, g, &in, &plan->operands.at[i]);
    IrRun run = {.p = p, .chip = npu_chip_find(STR("910B2")), .operands = operands};
    ir_run(arena, &run);
    for (uint32_t i = 0; i < run.faults.len; i++)
        CHECK_MSG(false, "%s", run.faults.at[i].text);
    CHECK_MSG(run.status == IR_RUN_OK, "%s", run.text ? run.text : "");
    bool right = run.status == IR_RUN_OK && run.faults.len == 0 &&
                 check_result(g, &in, plan, operands, &diag);
    graph_inputs_free(&in);
    return right;
}

#endif
