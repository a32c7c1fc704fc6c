/* The direct launch, and MultiKernelBench's two answers. In: the variants of a Craft file. Out: a
 * kernel file with one <<<>>> launch per variant and a pybind module; or these, or the project,
 * packed the way the benchmark reads them. */
#include "emit/ascendc_host.h"

#include <string.h>

/* ---- the kernel with its launch ---- */

static const char *variant_suffix(const Host *h, uint32_t variant)
{
    Buf name = {0};
    const IrProgram *ir = h->in->variants.at[variant]->ir;
    for (uint32_t i = 0; i < ir->variant_dtypes.len; i++)
        buf_printf(&name, "_%s", dtype_name(ir->variant_dtypes.at[i]));
    const char *text = name.len ? buf_take(&name, h->arena) : "";
    buf_free(&name);
    return text;
}

static const char *gm_params(const Host *h, bool declare)
{
    Buf out = {0};
    for (uint32_t i = 0; i < h->p->ir->operand_count; i++)
        buf_printf(&out, "%s%s, ", declare ? "GM_ADDR " : "",
                   camel(h->arena, h->p->ir->tensors.at[i].name));
    buf_printf(&out, "%sworkspace, ", declare ? "GM_ADDR " : "");
    char *text = buf_take(&out, h->arena);
    buf_free(&out);
    return text;
}

static void print_direct_entry(Host *h)
{
    Pen *pen = h->pen;
    const char *name = host_op_name(h), *suffix = variant_suffix(h, h->variant);
    pen_line(pen, "__global__ __aicore__ void %s_kernel%s(%s%sPlan t)", name, suffix,
             gm_params(h, true), host_op_type(h));
    pen_line(pen, "{");
    pen->depth++;
    pen_line(pen, "KERNEL_TASK_TYPE_DEFAULT(%s);", task_type(h->p));
    Printer pr = h->pr;
    pr.direct = true;
    for (uint32_t i = 0; i < h->p->paths.len; i++) {
        pen_open(pen, "%sif (t.tilingKey == %u)", i ? "else " : "", h->p->paths.at[i].key);
        print_path(&pr, &h->p->paths.at[i]);
        pen_close(pen, "");
    }
    pen_close(pen, "");
    pen_blank(pen);
    pen_line(pen, "extern \"C\" void launch_%s%s(%s%sPlan t, void *npuStream)", name, suffix,
             gm_params(h, true), host_op_type(h));
    pen_line(pen, "{");
    pen_line(pen, "    %s_kernel%s<<<t.blockCount, nullptr, npuStream>>>(%st);", name, suffix,
             gm_params(h, false));
    pen_line(pen, "}");
    pen_blank(pen);
}

static void part_direct_kernel(Host *h)
{
    Pen *pen = h->pen;
    pen_line(pen, "// Written by acraft from %s; change it there.", craft_name(h->in));
    pen_line(pen, "#include \"kernel_operator.h\"");
    pen_line(pen, "#include \"%s_plan.h\"", host_op_name(h));
    pen_blank(pen);
    /* Helpers stand inside: the plan has some of the same names for the host. */
    for (uint32_t v = 0; v < h->in->variants.len; v++) {
        Buf text = {0};
        Pen body = {.out = &text, .arena = h->arena};
        Host own = host_for(h->arena, h->in, v, &body);
        const char *suffix = variant_suffix(h, v);
        print_classes(&own.pr, LOWER_ALIGN);
        print_direct_entry(&own);
        pen_line(pen, "namespace variant%s {", suffix);
        pen_blank(pen);
        print_with_helpers(pen, &body);
        pen_line(pen, "} // namespace variant%s", suffix);
        pen_blank(pen);
        buf_free(&text);
    }
}

/* ---- its torch side ---- */

static const char *dtype_condition(const Host *h, uint32_t variant)
{
    static const char *const names[DT_COUNT] = {
        [DT_F32] = "at::kFloat",       [DT_F16] = "at::kHalf",  [DT_BF16] = "at::kBFloat16",
        [DT_I8] = "at::kChar",         [DT_I16] = "at::kShort", [DT_I32] = "at::kInt",
        [DT_I64] = "at::kLong",        [DT_U8] = "at::kByte",   [DT_BOOL] = "at::kBool",
        [DT_C64] = "at::kComplexFloat"};
    Buf test = {0};
    const IrProgram *ir = h->in->variants.at[variant]->ir;
    for (uint32_t i = 0; i < ir->operand_count; i++) {
        const IrTensor *t = &ir->tensors.at[i];
        if (!operand_is_input(t) || t->role == IR_ROLE_OPT || !names[operand_dtype(t)])
            continue;
        buf_printf(&test, "%s%s.scalar_type() == %s", test.len ? " && " : "",
                   camel(h->arena, t->name), names[operand_dtype(t)]);
    }
    const char *text = test.len ? buf_take(&test, h->arena) : "true";
    buf_free(&test);
    return text;
}

static void print_launch_choice(Host *h)
{
    Pen *pen = h->pen;
    Buf args = {0};
    for (uint32_t i = 0; i < h->p->ir->operand_count; i++) {
        const IrTensor *t = &h->p->ir->tensors.at[i];
        const char *name = camel(h->arena, t->name);
        if (t->role == IR_ROLE_OPT)
            buf_printf(&args, "%sDense.defined() ? %sDense.data_ptr() : nullptr, ", name, name);
        else
            buf_printf(&args, "%s%s.data_ptr(), ", name, t->role == IR_ROLE_IN ? "Dense" : "");
    }
    for (uint32_t v = 0; v < h->in->variants.len; v++) {
        pen_open(pen, "%sif (%s)", v ? "} else " : "", dtype_condition(h, v));
        pen_line(pen, "TORCH_CHECK(%s, \"%s: sizes outside the stated ranges\");",
                 host_plan_call(h, v), host_op_name(h));
        pen_line(
            pen,
            "at::Tensor roomTensor = at::empty({t.workspaceBytes}, npuOptions.dtype(at::kByte));");
        pen_line(pen, "launch_%s%s(%sroomTensor.data_ptr(), t, npuStream);", host_op_name(h),
                 variant_suffix(h, v), args.at);
        pen->depth--;
    }
    pen_line(pen, "} else {");
    pen_line(pen, "    TORCH_CHECK(false, \"%s: no kernel for these dtypes\");", host_op_name(h));
    pen_line(pen, "}");
    buf_free(&args);
}

/* Kernels see tensors without gaps. */
static void print_dense(Host *h)
{
    for (uint32_t i = 0; i < h->p->ir->operand_count; i++) {
        const IrTensor *t = &h->p->ir->tensors.at[i];
        const char *name = camel(h->arena, t->name);
        if (t->role == IR_ROLE_IN)
            pen_line(h->pen, "const at::Tensor %sDense = %s.contiguous();", name, name);
        if (t->role == IR_ROLE_OPT)
            pen_line(h->pen,
                     "const at::Tensor %sDense = %s.has_value() ? %s->contiguous() : at::Tensor();",
                     name, name, name);
        if (t->role == IR_ROLE_INOUT)
            pen_line(h->pen, "TORCH_CHECK(%s.is_contiguous(), \"%s: %s has gaps\");", name,
                     host_op_name(h), t->name);
    }
}

static void print_chip_facts(Host *h)
{
    static const char *const sizes[][2] = {{"chipUb", "UB"},    {"chipL1", "L1"},
                                           {"chipL0a", "L0_A"}, {"chipL0b", "L0_B"},
                                           {"chipL0c", "L0_C"}, {"chipL2", "L2"}};
    Buf calls = {0};
    for (uint32_t v = 0; v < h->in->variants.len; v++)
        buf_puts(&calls, host_plan_call(h, v));
    pen_line(h->pen, "auto *platform = platform_ascendc::PlatformAscendCManager::GetInstance();");
    pen_line(h->pen, "(void)platform;");
    if (str_find(buf_view(&calls), STR("chipCores")) >= 0)
        pen_line(h->pen, "const int64_t chipCores = platform->GetCoreNumAiv();");
    if (str_find(buf_view(&calls), STR("chipCubeCores")) >= 0)
        pen_line(h->pen, "const int64_t chipCubeCores = platform->GetCoreNumAic();");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (str_find(buf_view(&calls), str_from(sizes[i][0])) >= 0) {
            pen_line(h->pen, "uint64_t %sBytes = 0;", sizes[i][0]);
            pen_line(h->pen,
                     "platform->GetCoreMemSize(platform_ascendc::CoreMemType::%s, %sBytes);",
                     sizes[i][1], sizes[i][0]);
            pen_line(h->pen, "const int64_t %s = static_cast<int64_t>(%sBytes);", sizes[i][0],
                     sizes[i][0]);
        }
    buf_free(&calls);
}

static const char *any_input(const Host *h)
{
    for (uint32_t i = 0; i < h->p->ir->operand_count; i++)
        if (operand_is_input(&h->p->ir->tensors.at[i]) &&
            h->p->ir->tensors.at[i].role != IR_ROLE_OPT)
            return camel(h->arena, h->p->ir->tensors.at[i].name);
    return "x";
}

static const char *default_text(const Host *h, const IrVar *v)
{
    const IrExpr *e = &h->p->ir->exprs.at[v->value];
    Buf out = {0};
    if (e->op == IR_E_FLOAT)
        buf_printf(&out, "%.9g", e->of.f); /* an attribute is an f32 */
    else if (e->op == IR_E_BOOL)
        buf_puts(&out, e->of.i ? "true" : "false");
    else
        buf_printf(&out, "%lld", (long long)e->of.i);
    const char *text = buf_take(&out, h->arena);
    buf_free(&out);
    return text;
}

/* Attributes can be given by name and have their defaults. */
static const char *named_arguments(const Host *h)
{
    const IrProgram *ir = h->p->ir;
    Buf out = {0};
    for (uint32_t i = 0; ir->attrs.len && i < ir->operand_count; i++)
        if (operand_is_input(&ir->tensors.at[i]))
            buf_printf(&out, ", pybind11::arg(\"%s\")", ir->tensors.at[i].name);
    for (uint32_t i = 0; i < ir->attrs.len; i++) {
        const IrVar *v = &ir->vars.at[ir->attrs.at[i]];
        buf_printf(&out, ", pybind11::arg(\"%s\")", v->name);
        if (v->value)
            buf_printf(&out, " = %s", default_text(h, v));
    }
    const char *text = out.len ? buf_take(&out, h->arena) : "";
    buf_free(&out);
    return text;
}

static void part_direct_binding(Host *h)
{
    Pen *pen = h->pen;
    const char *name = host_op_name(h), *type = host_op_type(h);
    pen_line(pen, "// Written by acraft from %s; change it there.", craft_name(h->in));
    pen_line(pen, "#include <torch/extension.h>");
    pen_line(pen, "#include \"torch_npu/csrc/core/npu/NPUStream.h\"");
    pen_line(pen, "#include \"platform/platform_ascendc.h\"");
    pen_line(pen, "#include \"%s_plan.h\"", name);
    pen_blank(pen);
    for (uint32_t v = 0; v < h->in->variants.len; v++) {
        Buf params = {0};
        for (uint32_t i = 0; i < h->p->ir->operand_count; i++)
            buf_printf(&params, "void *%s, ", camel(h->arena, h->p->ir->tensors.at[i].name));
        pen_line(pen,
                 "extern \"C\" void launch_%s%s(%svoid *workspace, %sPlan t, void *npuStream);",
                 name, variant_suffix(h, v), params.at, type);
        buf_free(&params);
    }
    pen_blank(pen);
    pen_line(pen, "static %s %s(%s)", torch_result_type(h), name, torch_params(h));
    pen_line(pen, "{");
    pen->depth++;
    torch_print_sizes(h);
    for (uint32_t i = 0; i < h->p->ir->operand_count; i++)
        if (h->p->ir->tensors.at[i].role == IR_ROLE_OPT) {
            const char *opt = camel(h->arena, h->p->ir->tensors.at[i].name);
            pen_line(pen, "const bool %sPresent = %s.has_value();", opt, opt);
        }
    pen_line(pen, "const auto npuOptions = %s.options();", any_input(h));
    torch_print_outputs(h, NULL);
    print_chip_facts(h);
    pen_line(pen, "auto npuStream = c10_npu::getCurrentNPUStream().stream(false);");
    pen_line(pen, "%sPlan t;", type);
    print_dense(h);
    print_launch_choice(h);
    pen_line(pen, "return %s;", torch_result(h));
    pen_close(pen, "");
    pen_blank(pen);
    pen_line(pen, "PYBIND11_MODULE(benchmark_ops, m) { m.def(\"%s\", &%s%s); }", name, name,
             named_arguments(h));
}

static void part_direct_plan(Host *h)
{
    pen_line(h->pen, "// Written by acraft from %s; change it there.", craft_name(h->in));
    pen_line(h->pen, "#pragma once");
    pen_line(h->pen, "#include <cmath>");
    pen_line(h->pen, "#include <cstdint>");
    pen_blank(h->pen);
    host_print_plan(h);
}

typedef void PartFunction(Host *h);

static Str part_text(Arena *arena, const EmitInput *in, PartFunction *part)
{
    Buf text = {0};
    Pen pen = {.out = &text, .arena = arena};
    Host h = host_for(arena, in, 0, &pen);
    part(&h);
    Str out = {buf_take(&text, arena), text.len};
    buf_free(&text);
    return out;
}

static const char *op_name_of(Arena *arena, const EmitInput *in)
{
    Host h = host_for(arena, in, 0, NULL);
    return host_op_name(&h);
}

/* A list would need its pointer table built by hand. */
static bool refuse_lists(const EmitInput *in, Diag *diag)
{
    const IrProgram *ir = in->variants.at[0]->ir;
    for (uint32_t i = 0; i < ir->operand_count; i++) {
        IrRole role = ir->tensors.at[i].role;
        if (role != IR_ROLE_IN_LIST && role != IR_ROLE_OUT_LIST)
            continue;
        diag_error(diag, "E091", ir->tensors.at[i].at,
                   "'%s' is a list of tensors: it has no direct launch yet",
                   ir->tensors.at[i].name);
        diag_hint(diag, "--as project writes it");
        return false;
    }
    return true;
}

bool emit_direct(Arena *arena, const EmitInput *in, EmitFiles *out, Diag *diag)
{
    if (!host_check(in, diag) || !refuse_lists(in, diag))
        return false;
    const char *name = op_name_of(arena, in);
    vec_push(arena, out,
             ((EmitFile){str_format(arena, "kernel/%s_plan.h", name),
                         part_text(arena, in, part_direct_plan), false}));
    vec_push(arena, out,
             ((EmitFile){str_format(arena, "kernel/%s_kernel.cpp", name),
                         part_text(arena, in, part_direct_kernel), false}));
    vec_push(arena, out,
             ((EmitFile){"kernel/pybind11.cpp", part_text(arena, in, part_direct_binding), false}));
    return true;
}

/* ---- MultiKernelBench ---- */

/* What forward takes where nothing is known of the model: the operator's own inputs. */
static const char *own_parameters(const Host *h)
{
    const IrProgram *ir = h->p->ir;
    Buf names = {0};
    buf_puts(&names, "self");
    for (uint32_t i = 0; i < ir->operand_count; i++)
        if (operand_is_input(&ir->tensors.at[i]))
            buf_printf(&names, ", %s", camel(h->arena, ir->tensors.at[i].name));
    for (uint32_t i = 0; i < ir->attrs.len; i++) {
        const IrVar *v = &ir->vars.at[ir->attrs.at[i]];
        const IrExpr *e = &ir->exprs.at[v->value];
        buf_printf(&names, ", %s", camel(h->arena, v->name));
        if (e->op == IR_E_FLOAT) {
            buf_char(&names, '=');
            buf_double(&names, e->of.f);
        } else if (v->value) {
            buf_printf(&names, e->op == IR_E_BOOL ? (e->of.i ? "=True" : "=False") : "=%lld",
                       (long long)e->of.i);
        }
    }
    const char *text = buf_take(&names, h->arena);
    buf_free(&names);
    return text;
}

/* What is handed to the operator: inputs of forward, parameters of the model, attributes. */
static const char *given_arguments(const Host *h)
{
    const IrProgram *ir = h->p->ir;
    const EmitModel *m = h->in->model;
    Buf out = {0};
    for (uint32_t i = 0; i < ir->operand_count; i++)
        if (operand_is_input(&ir->tensors.at[i]))
            buf_printf(&out, "%s%s", out.len ? ", " : "", m->given[i]);
    for (uint32_t i = 0; i < ir->attrs.len; i++)
        buf_printf(&out, "%s%s", out.len ? ", " : "", m->attributes[i]);
    const char *text = out.len ? buf_take(&out, h->arena) : "";
    buf_free(&out);
    return text;
}

static void print_ops_import(Host *h)
{
    Pen *pen = h->pen;
    if (h->in->custom) {
        pen_line(pen, "import torch, torch_npu, custom_ops_lib");
    } else {
        pen_line(pen, "import sys");
        pen_line(pen, "from pathlib import Path");
        pen_line(pen, "import torch");
        pen_blank(pen);
        pen_line(pen, "_built = Path(__file__).resolve().parent / \"kernel\" / \"build\"");
        pen_line(pen, "if _built.is_dir() and str(_built) not in sys.path:");
        pen_line(pen, "    sys.path.insert(0, str(_built))");
        pen_line(pen, "import benchmark_ops as _ops");
    }
}

static void part_model(Host *h)
{
    Pen *pen = h->pen;
    static const EmitModel none = {0};
    const EmitModel *m = h->in->model ? h->in->model : &none;
    print_ops_import(h);
    if (m->prelude.len)
        buf_str(pen->out, m->prelude);
    pen_blank(pen);
    pen_line(pen, "class ModelNew(%.*s):",
             STR_ARG(m->constructor.len && m->bases.len ? m->bases : STR("torch.nn.Module")));
    if (m->constructor.len) {
        buf_str(pen->out, m->constructor);
        pen_blank(pen);
    } else {
        pen_line(pen, "    def __init__(self, *args, **kwargs):");
        pen_line(pen, "        super().__init__()");
    }
    pen_blank(pen);
    pen_line(pen, "    def forward(%.*s):",
             STR_ARG(m->parameters.len ? m->parameters : str_from(own_parameters(h))));
    pen_line(pen, "        return %s.%s(%s)", h->in->custom ? "custom_ops_lib" : "_ops",
             host_op_name(h), h->in->model ? given_arguments(h) : torch_args(h));
}

static void print_mkb_function(Host *h)
{
    Pen *pen = h->pen;
    pen_line(pen, "%s %s_on_npu(%s)", torch_result_type(h), host_op_name(h), torch_params(h));
    pen_line(pen, "{");
    pen->depth++;
    torch_print_sizes(h);
    torch_print_outputs(h, NULL);
    Buf args = {0};
    for (uint32_t i = 0; i < h->p->ir->operand_count; i++)
        if (operand_is_input(&h->p->ir->tensors.at[i]))
            buf_printf(&args, ", %s", camel(h->arena, h->p->ir->tensors.at[i].name));
    for (uint32_t i = 0; i < h->p->ir->attrs.len; i++)
        buf_printf(&args, ", %s", camel(h->arena, h->p->ir->vars.at[h->p->ir->attrs.at[i]].name));
    for (uint32_t i = 0; i < h->p->ir->operand_count; i++)
        if (h->p->ir->tensors.at[i].role == IR_ROLE_OUT)
            buf_printf(&args, ", %s", camel(h->arena, h->p->ir->tensors.at[i].name));
    pen_line(pen, "EXEC_NPU_CMD(aclnn%s%s);", host_op_type(h), args.len ? args.at : "");
    buf_free(&args);
    pen_line(pen, "return %s;", torch_result(h));
    pen_close(pen, "");
}

static void part_mkb_binding(Host *h)
{
    Pen *pen = h->pen;
    const char *name = host_op_name(h);
    pen_line(pen, "#include <torch/extension.h>");
    pen_line(pen, "#include <torch/library.h>");
    pen_line(pen, "#include \"pytorch_npu_helper.hpp\"");
    pen_blank(pen);
    torch_print_with_helpers(h, print_mkb_function);
    pen_blank(pen);
    pen_line(pen, "TORCH_LIBRARY_IMPL(myops, PrivateUse1, m) { m.impl(\"%s\", &%s_on_npu); }", name,
             name);
    pen_line(pen, "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"%s\", &%s_on_npu); }", name,
             name);
}

static void part_kernel(Host *h) { print_kernel_file(h->arena, h->in, h->pen); }
static void part_inline_operator(Host *h) { host_print_operator(h, true); }

/* A Python string literal; the text has no triple quotes, backslashes are doubled. */
static void add_string(Buf *out, const char *name, Str text)
{
    buf_printf(out, "%s='''\n", name);
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] == '\\')
            buf_char(out, '\\');
        buf_char(out, text.at[i]);
    }
    buf_puts(out, "'''\n\n");
}

bool emit_mkb(Arena *arena, const EmitInput *in, EmitFiles *out, Diag *diag)
{
    if (!host_check(in, diag))
        return false;
    EmitInput named = *in;
    named.custom = true;
    Buf text = {0};
    add_string(&text, "project_json_src", part_text(arena, &named, project_print_json));
    add_string(&text, "host_tiling_src", part_text(arena, &named, host_print_tiling_header));
    add_string(&text, "host_operator_src", part_text(arena, &named, part_inline_operator));
    add_string(&text, "kernel_src", part_text(arena, &named, part_kernel));
    add_string(&text, "python_bind_src", part_text(arena, &named, part_mkb_binding));
    add_string(&text, "model_src", part_text(arena, &named, part_model));
    vec_push(arena, out,
             ((EmitFile){str_format(arena, "%s.py", in->variants.at[0]->name),
                         {buf_take(&text, arena), text.len},
                         false}));
    buf_free(&text);
    return true;
}

static void add_source(Buf *out, const char *path, Str text, bool more)
{
    buf_puts(out, "    {\"path\": ");
    buf_json_str(out, str_from(path));
    buf_puts(out, ", \"content\": ");
    buf_json_str(out, text);
    buf_printf(out, "}%s\n", more ? "," : "");
}

bool emit_mkb_direct(Arena *arena, const EmitInput *in, EmitFiles *out, Diag *diag)
{
    EmitFiles files = {0};
    if (!emit_direct(arena, in, &files, diag))
        return false;
    const char *name = in->variants.at[0]->name;
    Buf text = {0};
    buf_printf(&text,
               "{\n  \"name\": \"acraft_%s\",\n  \"author\": \"acraft\",\n  \"problem\": \"%s\",\n",
               name, name);
    buf_puts(&text, "  \"format_version\": \"0.1\",\n  \"description\": ");
    Str reason = in->variants.at[0]->ir->reason;
    buf_json_str(&text, reason.len ? reason : str_from(name));
    buf_puts(&text, ",\n  \"entry\": {\"model\": \"ModelNew.py::ModelNew\"},\n"
                    "  \"build\": {\"type\": \"ascendc_direct_launch\"},\n  \"sources\": [\n");
    add_source(&text, "ModelNew.py", part_text(arena, in, part_model), true);
    for (uint32_t i = 0; i < files.len; i++)
        add_source(&text, files.at[i].path, files.at[i].text, i + 1 < files.len);
    buf_puts(&text, "  ]\n}\n");
    vec_push(arena, out,
             ((EmitFile){
                 str_format(arena, "%s.json", name), {buf_take(&text, arena), text.len}, false}));
    buf_free(&text);
    return true;
}
