/* The files of a C kernel. In: its plan and the model file. Out: NAME.c, NAME.h, NAME_run.c, NAME.json,
 * CMakeLists.txt, NAME_cpu.py (a module in the place of the model's). */
#include "gen/cpu/cpu.h"

#include "gen/kernel/text.h"

/* A program of one's own: operands from files, results to files, seconds on standard output. */
static Str run_text(Arena *arena, const CpuPlan *plan)
{
    Buf out = {0};
    buf_printf(&out,
               "/* %s_run [REPEATS]: reads x0.bin, x1.bin, ... from the working directory, "
               "launches once and\n"
               " * writes y0.bin, ...; then REPEATS times more (0), and prints the seconds of each "
               "launch. */\n"
               "#define _POSIX_C_SOURCE 200809L\n"
               "#include \"%s.h\"\n\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
               "#include <time.h>\n\n",
               plan->name, plan->name);
    buf_puts(
        &out,
        "static void *room(size_t bytes)\n{\n"
        "    void *p = aligned_alloc(64, (bytes + 127) / 64 * 64);\n"
        "    if (!p) {\n        fputs(\"out of memory\\n\", stderr);\n        exit(97);\n    }\n"
        "    return p;\n}\n\n"
        "static void *input(const char *path, size_t bytes)\n{\n"
        "    FILE *f = fopen(path, \"rb\");\n    void *p = room(bytes);\n"
        "    if (!f || fread(p, 1, bytes, f) != bytes) {\n"
        "        fprintf(stderr, \"%s: not %zu bytes\\n\", path, bytes);\n        exit(2);\n    }\n"
        "    fclose(f);\n    return p;\n}\n\n"
        "static void output(const char *path, const void *p, size_t bytes)\n{\n"
        "    FILE *f = fopen(path, \"wb\");\n"
        "    if (!f || fwrite(p, 1, bytes, f) != bytes || fclose(f)) {\n"
        "        fprintf(stderr, \"%s: cannot be written\\n\", path);\n        exit(2);\n    "
        "}\n}\n\n"
        "static double now(void)\n{\n    struct timespec t;\n"
        "    clock_gettime(CLOCK_MONOTONIC, &t);\n"
        "    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;\n}\n\n"
        "int main(int argc, char **argv)\n{\n"
        "    const int repeats = argc > 1 ? atoi(argv[1]) : 0;\n");
    for (uint32_t i = 0; i < plan->task.operands.len; i++) {
        const KernelOperand *o = &plan->task.operands.at[i];
        long long bytes = (long long)o->count * (long long)dtype_bytes(o->dtype);
        if (o->output)
            buf_printf(&out, "    void *%s = memset(room(%lld), 0xff, %lld);\n", o->name, bytes,
                       bytes);
        else
            buf_printf(&out, "    void *%s = input(\"%s.bin\", %lld);\n", o->name, o->name, bytes);
    }
    buf_printf(&out,
               "    void *workspace = memset(room(%s_WORKSPACE), 0xff, %s_WORKSPACE);\n"
               "    for (int i = 0; i <= repeats; i++) {\n        const double start = now();\n"
               "        const int status = %s_launch(",
               plan->name, plan->name, plan->name);
    for (uint32_t i = 0; i < plan->task.operands.len; i++)
        buf_printf(&out, "%s, ", plan->task.operands.at[i].name);
    buf_puts(&out, "workspace);\n        const double seconds = now() - start;\n"
                   "        if (status)\n            return 1;\n"
                   "        if (i)\n            printf(\"%.9f\\n\", seconds);\n    }\n");
    for (uint32_t i = 0; i < plan->task.operands.len; i++) {
        const KernelOperand *o = &plan->task.operands.at[i];
        if (o->output)
            buf_printf(&out, "    output(\"%s.bin\", %s, %lld);\n", o->name, o->name,
                       (long long)o->count * (long long)dtype_bytes(o->dtype));
    }
    buf_puts(&out, "    return 0;\n}\n");
    return kernel_text(arena, &out);
}

static Str cmake_text(Arena *arena, const CpuPlan *plan)
{
    Buf out = {0};
    buf_printf(&out,
               "cmake_minimum_required(VERSION 3.20)\n"
               "project(%s LANGUAGES C)\n"
               "find_package(OpenMP COMPONENTS C)\n"
               "set(CMAKE_C_FLAGS \"${CMAKE_C_FLAGS} -O3 -ffp-contract=fast -fno-math-errno "
               "-fno-trapping-math\")\n"
               "add_library(%s SHARED %s.c)\n"
               "add_executable(%s_run %s_run.c %s.c)\n"
               "foreach(target %s %s_run)\n"
               "  target_link_libraries(${target} PRIVATE m)\n"
               "  if(OpenMP_C_FOUND)\n"
               "    target_link_libraries(${target} PRIVATE OpenMP::OpenMP_C)\n"
               "  endif()\n"
               "endforeach()\n",
               plan->name, plan->name, plan->name, plan->name, plan->name, plan->name, plan->name,
               plan->name);
    return kernel_text(arena, &out);
}

static Str manifest_text(Arena *arena, const CpuPlan *plan, const Graph *graph)
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

/* The model file, and a class ModelNew that compiles the C files beside it and calls them. */
static Str python_text(Arena *arena, const CpuPlan *plan, const Graph *graph, Str model)
{
    Buf out = {0};
    buf_str(&out, model);
    buf_printf(
        &out,
        "\n\nimport ctypes\nimport os\nimport subprocess\nimport tempfile\n\n"
        "folder = os.path.dirname(os.path.abspath(__file__))\n"
        "library = os.path.join(tempfile.mkdtemp(), \"%s.so\")\n"
        "subprocess.run([\"cc\", \"-std=c17\", \"-O3\", \"-fopenmp\", \"-fPIC\", \"-shared\", "
        "\"-ffp-contract=fast\",\n                \"-fno-math-errno\", "
        "\"-fno-trapping-math\", \"-o\", library,\n                "
        "os.path.join(folder, \"%s.c\"), \"-lm\"], check=True)\n"
        "launch = ctypes.CDLL(library).%s_launch\n\n\n"
        "%s\n\n"
        "class ModelNew(Model):\n    def forward(self, *args):\n"
        "        tensors = [a for a in args if isinstance(a, torch.Tensor)]\n"
        "        given = [\n",
        plan->name, plan->name, plan->name, kernel_python_attribute);
    for (uint32_t i = 0; i < plan->task.operands.len; i++) {
        const KernelOperand *o = &plan->task.operands.at[i];
        if (o->output)
            continue;
        buf_puts(&out, "            (");
        kernel_python_operand(graph, o->value, &out);
        buf_puts(&out, ", (");
        kernel_shape(graph, o->value, &out);
        buf_printf(&out, "), torch.%s),\n", kernel_torch_type(o->dtype));
    }
    buf_puts(&out,
             "        ]\n        for t, shape, dtype in given:\n"
             "            if tuple(t.shape) != shape or t.dtype != dtype:\n"
             "                raise ValueError(f\"{tuple(t.shape)} {t.dtype}: this kernel is for "
             "{shape} {dtype}\")\n"
             "        out = [\n");
    for (uint32_t i = 0; i < plan->task.operands.len; i++) {
        const KernelOperand *o = &plan->task.operands.at[i];
        if (!o->output)
            continue;
        buf_puts(&out, "            torch.empty((");
        kernel_shape(graph, o->value, &out);
        buf_printf(&out, "), dtype=torch.%s),\n", kernel_torch_type(o->dtype));
    }
    buf_printf(&out,
               "        ]\n"
               "        held = [t.detach().contiguous() for t, _, _ in given] + out\n"
               "        held.append(torch.empty(%lld, dtype=torch.uint8))\n"
               "        launch(*[ctypes.c_void_p(t.data_ptr()) for t in held])\n"
               "        return out[0] if len(out) == 1 else tuple(out)\n",
               (long long)plan->task.workspace + 64);
    return kernel_text(arena, &out);
}

void cpu_files(Arena *arena, const CpuPlan *plan, const Graph *graph, Str model, EmitFiles *files)
{
    kernel_file(arena, files, str_format(arena, "%s.c", plan->name), plan->source);
    kernel_file(arena, files, str_format(arena, "%s.h", plan->name), plan->header);
    kernel_file(arena, files, str_format(arena, "%s_run.c", plan->name), run_text(arena, plan));
    kernel_file(arena, files, str_format(arena, "%s.json", plan->name),
                manifest_text(arena, plan, graph));
    kernel_file(arena, files, "CMakeLists.txt", cmake_text(arena, plan));
    kernel_file(arena, files, str_format(arena, "%s_cpu.py", plan->name),
                python_text(arena, plan, graph, model));
}
