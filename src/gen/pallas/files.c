/* The files of a Pallas kernel. In: its plan and the model file. Out: NAME.py, NAME_run.py, NAME.json, NAME_pallas.py
 * (MultiKernelBench's form of an answer). */
#include "gen/pallas/pallas_int.h"

/* A program of its own: operands from files, results to files. */
static Str run_text(Arena *arena, const PallasPlan *plan, const Graph *graph)
{
    Buf out = {0};
    buf_printf(
        &out,
        "\"\"\"%s_run.py [interpret|tpu-interpret|lower]: reads x0.bin, x1.bin, ... from the "
        "working\ndirectory, runs the kernels without a TPU and writes y0.bin, ...\n\n"
        "interpret      JAX's interpreter\n"
        "tpu-interpret  the one of TPUs' memories: out of bounds and uninitialised reads, "
        "races\n"
        "lower          to Mosaic, as for a TPU; nothing runs\n\"\"\"\n"
        "import sys\n\nimport jax\nimport numpy as np\n"
        "from jax.experimental.pallas import tpu as pltpu\n\nimport %s\n\n",
        plan->name, plan->name);
    buf_puts(&out, "OPERANDS = [\n");
    for (uint32_t i = 0; i < plan->task.operands.len; i++) {
        const KernelOperand *o = &plan->task.operands.at[i];
        if (o->output)
            continue;
        buf_printf(&out, "    (\"%s\", \"%s\", (", o->name, kernel_torch_type(o->dtype));
        kernel_shape(graph, o->value, &out);
        buf_puts(&out, ")),\n");
    }
    buf_puts(&out, "]\nRESULTS = [");
    bool any = false;
    for (uint32_t i = 0; i < plan->task.operands.len; i++) {
        const KernelOperand *o = &plan->task.operands.at[i];
        if (o->output)
            buf_printf(&out, "%s(\"%s\", \"%s\")", any ? ", " : "", o->name,
                       kernel_torch_type(o->dtype));
        any = any || o->output;
    }
    buf_printf(&out,
               "]\n\n\ndef array(name, dtype, shape):\n"
               "    dtype = jax.numpy.bfloat16 if dtype == \"bfloat16\" else np.dtype(dtype)\n"
               "    return np.fromfile(name + \".bin\", dtype).reshape(shape)\n\n\n"
               "def main():\n    mode = sys.argv[1] if len(sys.argv) > 1 else \"interpret\"\n"
               "    given = [array(*o) for o in OPERANDS]\n"
               "    if mode == \"lower\":\n"
               "        jax.jit(%s.%s).trace(*given).lower(lowering_platforms=(\"tpu\",))\n"
               "        return\n"
               "    how = pltpu.InterpretParams(detect_races=True) if mode == \"tpu-interpret\" "
               "else True\n"
               "    for (name, dtype), y in zip(RESULTS, %s.%s(*given, interpret=how)):\n"
               "        y = np.asarray(y)\n"
               "        y = y if dtype == \"bfloat16\" else y.astype(dtype)\n"
               "        np.ascontiguousarray(y).tofile(name + \".bin\")\n\n\n"
               "if __name__ == \"__main__\":\n    main()\n",
               plan->name, plan->name, plan->name, plan->name);
    return kernel_text(arena, &out);
}

static Str manifest_text(Arena *arena, const PallasPlan *plan, const Graph *graph)
{
    Buf out = {0};
    kernel_manifest(&plan->task, graph, plan->name, &out);
    buf_puts(&out, "],\n \"kernels\": [");
    for (uint32_t i = 0; i < plan->kernels.len; i++) {
        buf_puts(&out, i ? ",\n  " : "\n  ");
        buf_json_str(&out, str_from(plan->kernels.at[i]));
    }
    buf_puts(&out, "]}\n");
    return kernel_text(arena, &out);
}

/* MultiKernelBench's form: torch-xla makes a function of PyTorch's tensors of the jitted call. */
static Str answer_text(Arena *arena, const PallasPlan *plan, const Graph *graph, Str model)
{
    Buf out = {0};
    buf_puts(&out, "from torch_xla.experimental.custom_kernel import jax_import_guard\n"
                   "jax_import_guard()\n"
                   "from torch_xla.experimental.custom_kernel import make_kernel_from_pallas\n");
    buf_str(&out, model);
    buf_puts(&out, "\n\n");
    buf_str(&out, plan->source);
    buf_printf(&out,
               "\n\nkernel = make_kernel_from_pallas(\n    lambda *given: %s(*given),\n"
               "    lambda *given: [\n",
               plan->name);
    for (uint32_t i = 0; i < plan->task.operands.len; i++) {
        const KernelOperand *o = &plan->task.operands.at[i];
        if (!o->output)
            continue;
        buf_puts(&out, "        ((");
        kernel_shape(graph, o->value, &out);
        buf_printf(&out, "), torch.%s),\n",
                   o->dtype == DT_I64 ? "int32" : kernel_torch_type(o->dtype));
    }
    buf_printf(&out,
               "    ],\n)\n\n\n%s\n\nclass ModelNew(Model):\n    def forward(self, *args):\n"
               "        tensors = [a for a in args if isinstance(a, torch.Tensor)]\n"
               "        out = kernel(\n",
               kernel_python_attribute);
    for (uint32_t i = 0; i < plan->task.operands.len; i++) {
        const KernelOperand *o = &plan->task.operands.at[i];
        if (o->output)
            continue;
        buf_puts(&out, "            ");
        kernel_python_operand(graph, o->value, &out);
        buf_puts(&out, ",\n");
    }
    buf_puts(&out, "        )\n"
                   "        out = out if isinstance(out, (list, tuple)) else [out]\n"
                   "        return out[0] if len(out) == 1 else tuple(out)\n");
    return kernel_text(arena, &out);
}

void pallas_files(Arena *arena, const PallasPlan *plan, const Graph *graph, Str model,
                  EmitFiles *files)
{
    kernel_file(arena, files, str_format(arena, "%s.py", plan->name), plan->source);
    kernel_file(arena, files, str_format(arena, "%s_run.py", plan->name),
                run_text(arena, plan, graph));
    kernel_file(arena, files, str_format(arena, "%s.json", plan->name),
                manifest_text(arena, plan, graph));
    kernel_file(arena, files, str_format(arena, "%s_pallas.py", plan->name),
                answer_text(arena, plan, graph, model));
}
