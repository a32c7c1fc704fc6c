/* The files of a CUDA kernel. In: its plan and the model file. Out: NAME.cu, NAME.h, CMakeLists.txt,
 * NAME_cuda.py (MultiKernelBench's form of an answer: CUDA text that PyTorch compiles, and a class
 * ModelNew). */
#include "gen/cuda/cuda.h"

#include "gen/kernel/text.h"

static Str cmake_text(Arena *arena, const CudaPlan *plan)
{
    Buf out = {0};
    buf_printf(&out,
               "cmake_minimum_required(VERSION 3.20)\n"
               "project(%s LANGUAGES CXX CUDA)\n"
               "if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)\n"
               "  set(CMAKE_CUDA_ARCHITECTURES 90)\n"
               "endif()\n"
               "add_library(%s SHARED %s.cu)\n"
               "set_target_properties(%s PROPERTIES CUDA_STANDARD 17)\n",
               plan->name, plan->name, plan->name, plan->name);
    return kernel_text(arena, &out);
}

static const char *torch_type(DType dtype)
{
    switch (dtype) {
    case DT_F16: return "torch::kHalf";
    case DT_BF16: return "torch::kBFloat16";
    case DT_I8: return "torch::kInt8";
    case DT_U8: return "torch::kUInt8";
    case DT_I16: return "torch::kInt16";
    case DT_I32: return "torch::kInt32";
    case DT_I64: return "torch::kInt64";
    case DT_BOOL: return "torch::kBool";
    default: return "torch::kFloat32";
    }
}

static void put_parameters(const CudaPlan *plan, Buf *out)
{
    bool any = false;
    buf_printf(out, "std::vector<torch::Tensor> %s_forward(", plan->name);
    for (uint32_t i = 0; i < plan->task.operands.len; i++)
        if (!plan->task.operands.at[i].output) {
            buf_printf(out, "%storch::Tensor %s", any ? ", " : "", plan->task.operands.at[i].name);
            any = true;
        }
    buf_char(out, ')');
}

static void put_wrapper(const CudaPlan *plan, const Graph *graph, Buf *out)
{
    const char *on = NULL;
    put_parameters(plan, out);
    buf_puts(out, "\n{\n");
    for (uint32_t i = 0; i < plan->task.operands.len; i++) {
        const KernelOperand *o = &plan->task.operands.at[i];
        if (!o->output) {
            on = on ? on : o->name;
            buf_printf(
                out,
                "    TORCH_CHECK(%s.is_cuda() && %s.numel() == %lld && %s.scalar_type() == "
                "%s,\n        \"%s: %s has another size or dtype than this kernel is for\");\n"
                "    %s = %s.contiguous();\n"
                "    if ((uintptr_t)%s.data_ptr() %% 16)\n        %s = %s.clone();\n",
                o->name, o->name, (long long)o->count, o->name, torch_type(o->dtype), plan->name,
                o->name, o->name, o->name, o->name, o->name, o->name);
            continue;
        }
        Shape shape = graph_value(graph, o->value)->shape;
        buf_printf(out, "    torch::Tensor %s = torch::empty({", o->name);
        for (int d = 0; d < shape.rank; d++)
            buf_printf(out, "%s%lld", d ? ", " : "", (long long)shape.dim[d]);
        buf_printf(out, "}, %s.options().dtype(%s));\n", on, torch_type(o->dtype));
    }
    buf_printf(out,
               "    torch::Tensor workspace = torch::empty({%lld}, "
               "%s.options().dtype(torch::kUInt8));\n    int status = %s_launch(",
               (long long)(plan->task.workspace ? plan->task.workspace : 1), on, plan->name);
    for (uint32_t i = 0; i < plan->task.operands.len; i++)
        buf_printf(out, "%s.data_ptr(), ", plan->task.operands.at[i].name);
    buf_puts(out, "workspace.data_ptr(),\n                 at::cuda::getCurrentCUDAStream());\n");
    buf_puts(out, "    TORCH_CHECK(status == 0, cudaGetErrorString((cudaError_t)status));\n");
    buf_puts(out, "    return {");
    bool any = false;
    for (uint32_t i = 0; i < plan->task.operands.len; i++)
        if (plan->task.operands.at[i].output) {
            buf_printf(out, "%s%s", any ? ", " : "", plan->task.operands.at[i].name);
            any = true;
        }
    buf_puts(out, "};\n}\n");
}

static Str python_text(Arena *arena, const CudaPlan *plan, const Graph *graph, Str model)
{
    Buf out = {0};
    buf_str(&out, model);
    buf_puts(&out, "\n\nfrom torch.utils.cpp_extension import load_inline\n\nSOURCE = r'''\n"
                   "#include <torch/extension.h>\n#include <ATen/cuda/CUDAContext.h>\n");
    buf_str(&out, plan->source);
    buf_char(&out, '\n');
    put_wrapper(plan, graph, &out);
    buf_puts(&out, "'''\n\nDECLARATION = '''\n#include <torch/extension.h>\n");
    put_parameters(plan, &out);
    buf_printf(&out,
               ";\n'''\n\nmodule = load_inline(name=\"%s\", cpp_sources=DECLARATION, "
               "cuda_sources=SOURCE,\n                     functions=[\"%s_forward\"], "
               "extra_cuda_cflags=[\"-O3\", \"-std=c++17\"])\n\n\n"
               "%s\n\n"
               "class ModelNew(Model):\n    def forward(self, *args):\n"
               "        tensors = [a for a in args if isinstance(a, torch.Tensor)]\n"
               "        out = module.%s_forward(",
               plan->name, plan->name, kernel_python_attribute, plan->name);
    bool any = false;
    for (uint32_t i = 0; i < plan->task.operands.len; i++)
        if (!plan->task.operands.at[i].output) {
            buf_puts(&out, any ? ", " : "");
            kernel_python_operand(graph, plan->task.operands.at[i].value, &out);
            any = true;
        }
    buf_puts(&out, ")\n        return out[0] if len(out) == 1 else tuple(out)\n");
    return kernel_text(arena, &out);
}

/* What a program that calls the launcher has to know. */
static Str manifest_text(Arena *arena, const CudaPlan *plan, const Graph *graph)
{
    Buf out = {0};
    kernel_manifest(&plan->task, graph, plan->name, &out);
    buf_puts(&out, "],\n \"kernels\": [");
    for (uint32_t i = 0; i < plan->stages.len; i++) {
        const CudaStage *s = &plan->stages.at[i];
        buf_printf(&out,
                   "%s\n  {\"role\": \"%s\", \"blocks\": %lld, \"threads\": %u, \"cluster\": %u, "
                   "\"vector\": %u, \"kept\": %u}",
                   i ? "," : "", s->role, (long long)s->blocks, s->threads, s->cluster, s->vector,
                   s->items);
    }
    buf_puts(&out, "]}\n");
    return kernel_text(arena, &out);
}

void cuda_files(Arena *arena, const CudaPlan *plan, const Graph *graph, Str model, EmitFiles *files)
{
    kernel_file(arena, files, str_format(arena, "%s.cu", plan->name), plan->source);
    kernel_file(arena, files, str_format(arena, "%s.h", plan->name), plan->header);
    kernel_file(arena, files, str_format(arena, "%s.json", plan->name),
                manifest_text(arena, plan, graph));
    kernel_file(arena, files, "CMakeLists.txt", cmake_text(arena, plan));
    kernel_file(arena, files, str_format(arena, "%s_cuda.py", plan->name),
                python_text(arena, plan, graph, model));
}
