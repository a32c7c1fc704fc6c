/* PyTorch around the operator. In: the operands. Out: a binding for the NPU and for Meta tensors,
 * its setup, a test against a reference the user names. */
#include "emit/ascendc_host.h"

#include <string.h>

static const char *torch_type(DType d)
{
    static const char *const names[DT_COUNT] = {
        [DT_F32] = "kFloat", [DT_F16] = "kHalf",  [DT_BF16] = "kBFloat16",   [DT_F64] = "kDouble",
        [DT_I8] = "kChar",   [DT_I16] = "kShort", [DT_I32] = "kInt",         [DT_I64] = "kLong",
        [DT_U8] = "kByte",   [DT_BOOL] = "kBool", [DT_C64] = "kComplexFloat"};
    return names[d] ? names[d] : "kFloat";
}

static const char *attr_type(DType d)
{
    return d == DT_F32 ? "double" : d == DT_BOOL ? "bool" : "int64_t";
}

static const char *input_type(IrRole role)
{
    return role == IR_ROLE_OPT       ? "const c10::optional<at::Tensor> &"
           : role == IR_ROLE_IN_LIST ? "at::TensorList "
           : role == IR_ROLE_INOUT   ? "at::Tensor &"
                                     : "const at::Tensor &";
}

static void add_listed(Buf *out, const char *text)
{
    buf_printf(out, "%s%s", out->len ? ", " : "", text);
}

static const char *take_list(const Host *h, Buf *b)
{
    const char *text = b->len ? buf_take(b, h->arena) : "";
    buf_free(b);
    return text;
}

const char *torch_params(const Host *h)
{
    const IrProgram *ir = h->p->ir;
    Buf out = {0};
    for (uint32_t i = 0; i < ir->operand_count; i++) {
        const IrTensor *t = &ir->tensors.at[i];
        if (operand_is_input(t))
            add_listed(&out,
                       str_format(h->arena, "%s%s", input_type(t->role), camel(h->arena, t->name)));
    }
    for (uint32_t i = 0; i < ir->attrs.len; i++) {
        const IrVar *v = &ir->vars.at[ir->attrs.at[i]];
        add_listed(&out,
                   str_format(h->arena, "%s %s", attr_type(v->type), camel(h->arena, v->name)));
    }
    return take_list(h, &out);
}

const char *torch_args(const Host *h)
{
    const IrProgram *ir = h->p->ir;
    Buf out = {0};
    for (uint32_t i = 0; i < ir->operand_count; i++)
        if (operand_is_input(&ir->tensors.at[i]))
            add_listed(&out, camel(h->arena, ir->tensors.at[i].name));
    for (uint32_t i = 0; i < ir->attrs.len; i++)
        add_listed(&out, camel(h->arena, ir->vars.at[ir->attrs.at[i]].name));
    return take_list(h, &out);
}

/* The dtype of an output: that of an input it always agrees with, or its own. */
static const char *output_dtype(const Host *h, uint32_t output)
{
    const IrProgram *ir = h->p->ir;
    for (uint32_t j = 0; j < ir->operand_count; j++) {
        bool same = operand_is_input(&ir->tensors.at[j]) && ir->tensors.at[j].role != IR_ROLE_OPT;
        for (uint32_t v = 0; v < h->in->variants.len; v++) {
            const IrProgram *o = h->in->variants.at[v]->ir;
            same = same &&
                   operand_dtype(&o->tensors.at[j]) == operand_dtype(&o->tensors.at[output]);
        }
        if (same)
            return str_format(h->arena,
                              ir->tensors.at[j].role == IR_ROLE_IN_LIST ? "%s[0].scalar_type()"
                                                                        : "%s.scalar_type()",
                              camel(h->arena, ir->tensors.at[j].name));
    }
    return str_format(h->arena, "at::%s", torch_type(operand_dtype(&ir->tensors.at[output])));
}

static const char *first_input(const Host *h)
{
    const IrProgram *ir = h->p->ir;
    for (uint32_t i = 0; i < ir->operand_count; i++)
        if (operand_is_input(&ir->tensors.at[i]) && ir->tensors.at[i].role != IR_ROLE_OPT)
            return str_format(h->arena, ir->tensors.at[i].role == IR_ROLE_IN_LIST ? "%s[0]" : "%s",
                              camel(h->arena, ir->tensors.at[i].name));
    return NULL;
}

static void print_agreement(Host *h);

/* The text escaped for a C++ string literal. */
static const char *quoted(Arena *arena, const char *text)
{
    Buf out = {0};
    for (const char *c = text; *c; c++)
        if (*c == '"' || *c == '\\')
            buf_printf(&out, "\\%c", *c);
        else if ((unsigned char)*c >= ' ')
            buf_char(&out, *c);
    char *copy = buf_take(&out, arena);
    buf_free(&out);
    return copy ? copy : "";
}

void torch_print_sizes(Host *h)
{
    const IrProgram *ir = h->p->ir;
    for (uint32_t i = 0; i < ir->operand_count; i++) {
        const IrTensor *t = &ir->tensors.at[i];
        if (t->role == IR_ROLE_IN_LIST)
            pen_line(h->pen, "const int64_t %sLen = static_cast<int64_t>(%s.size());",
                     camel(h->arena, t->name), camel(h->arena, t->name));
        else if (operand_is_input(t) && t->role != IR_ROLE_OPT)
            pen_line(h->pen, "TORCH_CHECK(%s.%s == %u, \"%s: %s has %u axes\");",
                     camel(h->arena, t->name), operand_rank(t) ? "dim()" : "numel()",
                     operand_rank(t) ? operand_rank(t) : 1, host_op_name(h), t->name,
                     operand_rank(t));
    }
    for (uint32_t i = 0; i < ir->dims.len; i++) {
        uint32_t operand, axis;
        const IrVar *v = &ir->vars.at[ir->dims.at[i]];
        if (ir_is_derived(v))
            host_print_derived(h, v);
        if (v->lo == v->hi || !host_find_dim(ir, ir->dims.at[i], &operand, &axis))
            continue;
        const char *name = camel(h->arena, ir->tensors.at[operand].name);
        if (ir->tensors.at[operand].role == IR_ROLE_OPT)
            pen_line(h->pen, "const int64_t %s = %s.has_value() ? %s->size(%u) : %lld;",
                     camel(h->arena, v->name), name, name, axis, (long long)v->lo);
        else
            pen_line(h->pen, "const int64_t %s = %s.size(%u);", camel(h->arena, v->name), name,
                     axis);
        pen_line(h->pen, "(void)%s;", camel(h->arena, v->name));
    }
    print_agreement(h);
    const IrStmt *guard;
    for (uint32_t at = 0; host_next_guard(h, &at, &guard);)
        pen_line(h->pen, "TORCH_CHECK(%s, \"%s: %s\");", print_expr(&h->pr, guard->cond),
                 host_op_name(h), quoted(h->arena, guard->text));
}

static void print_list_output(Host *h, uint32_t output)
{
    const IrProgram *ir = h->p->ir;
    const char *name = camel(h->arena, ir->tensors.at[output].name);
    pen_line(h->pen, "std::vector<at::Tensor> %s;", name);
    for (uint32_t i = 0; i < ir->operand_count; i++) {
        if (ir->tensors.at[i].role != IR_ROLE_IN_LIST)
            continue;
        pen_open(h->pen, "for (const at::Tensor &t : %s)", camel(h->arena, ir->tensors.at[i].name));
        pen_line(h->pen, "%s.push_back(at::empty_like(t));", name);
        pen_close(h->pen, "");
        return;
    }
}

/* Axes that say a size again must agree. */
static void print_agreement(Host *h)
{
    const IrProgram *ir = h->p->ir;
    for (uint32_t i = 0; i < ir->operand_count; i++) {
        const IrTensor *t = &ir->tensors.at[i];
        bool single = operand_is_input(t) && t->role != IR_ROLE_IN_LIST && t->role != IR_ROLE_OPT;
        for (uint32_t a = 0; single && a < operand_rank(t); a++) {
            const IrExpr *e = &ir->exprs.at[t->shape[a]];
            uint32_t operand, axis;
            bool source = e->op == IR_E_VAR && host_find_dim(ir, e->of.var, &operand, &axis) &&
                          operand == i && axis == a;
            if (!source)
                pen_line(h->pen, "TORCH_CHECK(%s.size(%u) == %s, \"%s: axis %u of %s\");",
                         camel(h->arena, t->name), a, print_expr(&h->pr, t->shape[a]),
                         host_op_name(h), a, t->name);
        }
    }
}

void torch_print_outputs(Host *h, const char *like)
{
    const IrProgram *ir = h->p->ir;
    for (uint32_t i = 0; i < ir->operand_count; i++) {
        const IrTensor *t = &ir->tensors.at[i];
        if (t->role == IR_ROLE_OUT_LIST)
            print_list_output(h, i);
        if (t->role != IR_ROLE_OUT)
            continue;
        Buf shape = {0};
        for (uint32_t a = 0; a < operand_rank(t); a++)
            add_listed(&shape, print_expr(&h->pr, t->shape[a]));
        pen_line(h->pen, "at::Tensor %s = at::empty({%s}, %s.options().dtype(%s));",
                 camel(h->arena, t->name), shape.len ? shape.at : "", like ? like : first_input(h),
                 output_dtype(h, i));
        buf_free(&shape);
    }
}

static uint32_t output_count(const Host *h)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < h->p->ir->operand_count; i++)
        n += operand_is_output(&h->p->ir->tensors.at[i]);
    return n;
}

/* The operand that is result number n. */
static const IrTensor *result(const Host *h, uint32_t n)
{
    const IrProgram *ir = h->p->ir;
    if (h->in->results)
        return &ir->tensors.at[h->in->results[n]];
    for (uint32_t i = 0; i < ir->operand_count; i++)
        if (operand_is_output(&ir->tensors.at[i]) && n-- == 0)
            return &ir->tensors.at[i];
    return NULL;
}

const char *torch_result_type(const Host *h)
{
    uint32_t n = output_count(h);
    Buf out = {0};
    for (uint32_t i = 0; i < n; i++)
        add_listed(&out, result(h, i)->role == IR_ROLE_OUT_LIST ? "std::vector<at::Tensor>"
                                                                : "at::Tensor");
    const char *all = take_list(h, &out);
    return n == 1 ? all : str_format(h->arena, "std::tuple<%s>", all);
}

const char *torch_result(const Host *h)
{
    uint32_t n = output_count(h);
    Buf out = {0};
    for (uint32_t i = 0; i < n; i++)
        add_listed(&out, camel(h->arena, result(h, i)->name));
    const char *all = take_list(h, &out);
    return n == 1 ? all : str_format(h->arena, "std::make_tuple(%s)", all);
}

/* ---- binding of the project: through the aclnn calls that its build generates ---- */

static const char *schema_mark(const Host *h, const IrTensor *t)
{
    uint32_t place = (uint32_t)(t - h->p->ir->tensors.at);
    bool list = t->role == IR_ROLE_IN_LIST || t->role == IR_ROLE_OUT_LIST;
    return t->role == IR_ROLE_OPT     ? "?"
           : list                     ? "[]"
           : t->role == IR_ROLE_INOUT ? str_format(h->arena, "(a%u!)", place)
                                      : "";
}

static const char *schema(const Host *h)
{
    const IrProgram *ir = h->p->ir;
    Buf out = {0}, res = {0};
    for (uint32_t i = 0; i < ir->operand_count; i++) {
        const IrTensor *t = &ir->tensors.at[i];
        if (operand_is_input(t))
            add_listed(&out, str_format(h->arena, "Tensor%s %s", schema_mark(h, t), t->name));
    }
    for (uint32_t i = 0; i < output_count(h); i++)
        add_listed(&res, str_format(h->arena, "Tensor%s", schema_mark(h, result(h, i))));
    for (uint32_t i = 0; i < ir->attrs.len; i++) {
        const IrVar *v = &ir->vars.at[ir->attrs.at[i]];
        const char *type = v->type == DT_F32 ? "float" : v->type == DT_BOOL ? "bool" : "int";
        add_listed(&out, str_format(h->arena, "%s %s", type, v->name));
    }
    const char *args = take_list(h, &out), *results = take_list(h, &res);
    return str_format(h->arena, output_count(h) == 1 ? "%s(%s) -> %s" : "%s(%s) -> (%s)",
                      host_op_name(h), args, results);
}

static void print_aclnn_call(Host *h)
{
    const IrProgram *ir = h->p->ir;
    Buf args = {0};
    for (uint32_t i = 0; i < ir->operand_count; i++) {
        const IrTensor *t = &ir->tensors.at[i];
        const char *name = camel(h->arena, t->name);
        if (operand_is_input(t))
            add_listed(&args, str_format(h->arena, "aclCall.Give(%s)", name));
    }
    for (uint32_t i = 0; i < ir->attrs.len; i++)
        add_listed(&args, camel(h->arena, ir->vars.at[ir->attrs.at[i]].name));
    for (uint32_t i = 0; i < ir->operand_count; i++)
        if (ir->tensors.at[i].role == IR_ROLE_OUT || ir->tensors.at[i].role == IR_ROLE_OUT_LIST)
            add_listed(&args, str_format(h->arena, "aclCall.Give(%s)",
                                         camel(h->arena, ir->tensors.at[i].name)));
    Pen *pen = h->pen;
    pen_line(pen, "AclCall aclCall;");
    pen_line(pen, "uint64_t roomBytes = 0;");
    pen_line(pen, "aclOpExecutor *aclExecutor = nullptr;");
    pen_line(pen, "aclCall.Check(aclnn%sGetWorkspaceSize(%s, &roomBytes, &aclExecutor));",
             host_op_type(h), args.at);
    pen_line(pen,
             "at::Tensor roomTensor = at::empty({static_cast<int64_t>(roomBytes)}, "
             "%s.options().dtype(at::kByte));",
             first_input(h));
    pen_line(pen,
             "aclCall.Check(aclnn%s(roomBytes ? roomTensor.data_ptr() : nullptr, roomBytes, "
             "aclExecutor, aclCall.Stream()));",
             host_op_type(h));
    buf_free(&args);
}

static const char acl_call_text[] =
    "// Lends torch tensors to aclnn for the time of one call.\n"
    "class AclCall {\n"
    "public:\n"
    "    ~AclCall()\n"
    "    {\n"
    "        for (aclTensor *t : lent)\n"
    "            aclDestroyTensor(t);\n"
    "        for (aclTensorList *l : lists)\n"
    "            aclDestroyTensorList(l); // and its tensors\n"
    "    }\n"
    "    aclTensor *Give(const at::Tensor &t)\n"
    "    {\n"
    "        const auto sizes = t.sizes(), strides = t.strides();\n"
    "        lent.push_back(aclCreateTensor(sizes.data(), sizes.size(), Type(t.scalar_type()), "
    "strides.data(),\n"
    "            t.storage_offset(), ACL_FORMAT_ND, sizes.data(), sizes.size(), "
    "t.storage().mutable_data()));\n"
    "        return lent.back();\n"
    "    }\n"
    "    aclTensorList *Give(at::TensorList list)\n"
    "    {\n"
    "        std::vector<aclTensor *> items;\n"
    "        for (const at::Tensor &t : list)\n"
    "            items.push_back(Give(t));\n"
    "        lent.resize(lent.size() - items.size());\n"
    "        lists.push_back(aclCreateTensorList(items.data(), items.size()));\n"
    "        return lists.back();\n"
    "    }\n"
    "    aclTensor *Give(const c10::optional<at::Tensor> &t) { return t.has_value() ? Give(*t) : "
    "nullptr; }\n"
    "    void Check(int status) { TORCH_CHECK(status == 0, \"aclnn status \", status, \": \", "
    "aclGetRecentErrMsg()); }\n"
    "    aclrtStream Stream() { return c10_npu::getCurrentNPUStream().stream(false); }\n"
    "\n"
    "private:\n"
    "    static aclDataType Type(at::ScalarType t)\n"
    "    {\n"
    "        switch (t) {\n"
    "        case at::kFloat: return ACL_FLOAT;\n"
    "        case at::kHalf: return ACL_FLOAT16;\n"
    "        case at::kBFloat16: return ACL_BF16;\n"
    "        case at::kChar: return ACL_INT8;\n"
    "        case at::kByte: return ACL_UINT8;\n"
    "        case at::kShort: return ACL_INT16;\n"
    "        case at::kInt: return ACL_INT32;\n"
    "        case at::kLong: return ACL_INT64;\n"
    "        case at::kBool: return ACL_BOOL;\n"
    "        case at::kComplexFloat: return ACL_COMPLEX64;\n"
    "        default: TORCH_CHECK(false, \"dtype without an ACL counterpart\");\n"
    "        }\n"
    "    }\n"
    "    std::vector<aclTensor *> lent;\n"
    "    std::vector<aclTensorList *> lists;\n"
    "};\n";

void torch_print_with_helpers(Host *h, void (*part)(Host *h))
{
    Buf text = {0};
    Pen body = {.out = &text, .arena = h->arena};
    Host aside = host_for(h->arena, h->in, h->variant, &body);
    part(&aside);
    print_helpers(h->pen, buf_view(&text), "static");
    buf_str(h->pen->out, buf_view(&text));
    buf_free(&text);
}

static void print_functions(Host *h)
{
    Pen *pen = h->pen;
    for (int meta = 0; meta < 2; meta++) {
        pen_line(pen, "%s %s(%s)", torch_result_type(h), meta ? "OnMeta" : "OnNpu",
                 torch_params(h));
        pen_line(pen, "{");
        pen->depth++;
        torch_print_sizes(h);
        torch_print_outputs(h, NULL);
        if (!meta)
            print_aclnn_call(h);
        pen_line(pen, "return %s;", torch_result(h));
        pen_close(pen, "");
        if (!meta)
            pen_blank(pen);
    }
}

void torch_print_binding(Host *h)
{
    Pen *pen = h->pen;
    const char *name = host_op_name(h);
    pen_line(pen, "// Written by acraft from %s; change it there.", craft_name(h->in));
    pen_line(pen, "#include <torch/extension.h>");
    pen_line(pen, "#include <torch/library.h>");
    pen_line(pen, "#include <vector>");
    pen_line(pen, "#include \"acl/acl.h\"");
    pen_line(pen, "#include \"aclnn_%s.h\"", name);
    pen_line(pen, "#include \"torch_npu/csrc/core/npu/NPUStream.h\"");
    pen_blank(pen);
    pen_line(pen, "namespace {");
    buf_puts(pen->out, acl_call_text);
    pen_blank(pen);
    torch_print_with_helpers(h, print_functions);
    pen_line(pen, "} // namespace");
    pen_blank(pen);
    pen_line(pen, "TORCH_LIBRARY(acraft_%s, m) { m.def(\"%s\"); }", name, schema(h));
    pen_line(pen, "TORCH_LIBRARY_IMPL(acraft_%s, PrivateUse1, m) { m.impl(\"%s\", OnNpu); }", name,
             name);
    pen_line(pen, "TORCH_LIBRARY_IMPL(acraft_%s, Meta, m) { m.impl(\"%s\", OnMeta); }", name, name);
    pen_line(pen, "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.doc() = \"%s\"; }", name);
}

/* "self.weight" of the model is self.model.weight of what holds the model. */
static const char *of_model(Arena *arena, const char *given)
{
    Str text = str_from(given);
    return str_starts(text, "self.") ? str_format(arena, "self.model%s", given + strlen("self"))
                                     : given;
}

void torch_print_module(Host *h)
{
    Pen *pen = h->pen;
    const EmitModel *m = h->in->model;
    const IrProgram *ir = h->p->ir;
    const char *name = host_op_name(h), *class = emit_module_class(h->arena, h->in);
    Buf args = {0};
    for (uint32_t i = 0; i < ir->operand_count; i++)
        if (operand_is_input(&ir->tensors.at[i]))
            add_listed(&args, of_model(h->arena, m->given[i]));
    for (uint32_t i = 0; i < ir->attrs.len; i++)
        add_listed(&args, of_model(h->arena, m->attributes[i]));
    pen_line(pen, "# Written by acraft from %s. The operator in the place of the file's model:",
             craft_name(h->in));
    pen_line(pen, "#");
    pen_line(pen, "#     net.block = %s(net.block)      # an instance of the file's class", class);
    pen_line(pen, "#");
    pen_line(pen, "# Arguments of forward, parameters and results are the model's own; state_dict "
                  "has them under \"model.\".");
    pen_line(pen, "import torch");
    pen_line(pen, "import torch_npu");
    pen_line(pen, "import acraft_%s", name);
    pen_blank(pen);
    pen_blank(pen);
    pen_line(pen, "class %s(torch.nn.Module):", class);
    pen_line(pen, "    def __init__(self, model):");
    pen_line(pen, "        super().__init__()");
    pen_line(pen, "        self.model = model");
    pen_blank(pen);
    pen_line(pen, "    def forward(%.*s):", STR_ARG(m->parameters));
    pen_line(pen, "        return torch.ops.acraft_%s.%s(%s)", name, name, take_list(h, &args));
}

void torch_print_setup(Host *h)
{
    Pen *pen = h->pen;
    const char *name = host_op_name(h);
    pen_line(pen, "# Written by acraft from %s. Builds the torch binding.", craft_name(h->in));
    pen_line(pen, "import os");
    pen_line(pen, "from setuptools import setup");
    pen_line(pen, "from torch.utils.cpp_extension import BuildExtension");
    pen_line(pen, "from torch_npu.utils.cpp_extension import NpuExtension");
    pen_blank(pen);
    pen_line(pen, "package = os.environ.get(\"ACRAFT_OP_API\", \"../build/op_api\")");
    pen_line(pen, "extension = NpuExtension(");
    pen_line(pen, "    name=\"acraft_%s\",", name);
    pen_line(pen, "    sources=[\"%s_binding.cpp\"],", name);
    pen_line(pen, "    include_dirs=[os.path.join(package, \"include\")],");
    pen_line(pen,
             "    extra_link_args=[\"-L\" + os.path.join(package, \"lib\"), \"-lcust_opapi\"],");
    pen_line(pen, ")");
    pen_line(pen,
             "setup(name=\"acraft_%s\", ext_modules=[extension], cmdclass={\"build_ext\": "
             "BuildExtension})",
             name);
}

void torch_print_test(Host *h)
{
    Pen *pen = h->pen;
    const char *name = host_op_name(h);
    pen_line(pen, "#!/usr/bin/env python3");
    pen_line(pen, "# Written by acraft from %s. Runs every case of a directory and compares:",
             craft_name(h->in));
    pen_line(pen, "#     test_op.py CASES    CASES/NAME/{in,out}_OPERAND.npy and attrs.json, as "
                  "acraft stores them");
    pen_line(pen, "import json, pathlib, sys");
    pen_line(pen, "import numpy, torch, torch_npu, acraft_%s", name);
    pen_blank(pen);
    const IrProgram *ir = h->p->ir;
    Buf inputs = {0}, outputs = {0};
    for (uint32_t i = 0; i < ir->operand_count; i++)
        if (operand_is_input(&ir->tensors.at[i]))
            add_listed(&inputs, str_format(h->arena, "\"%s\"", ir->tensors.at[i].name));
    for (uint32_t i = 0; i < output_count(h); i++)
        add_listed(&outputs, str_format(h->arena, "\"%s\"", result(h, i)->name));
    pen_line(pen, "INPUTS = [%s]", take_list(h, &inputs));
    pen_line(pen, "OUTPUTS = [%s]", take_list(h, &outputs));
    Buf attrs = {0};
    for (uint32_t i = 0; i < ir->attrs.len; i++)
        buf_printf(&attrs, "%s\"%s\"", i ? ", " : "", ir->vars.at[ir->attrs.at[i]].name);
    pen_line(pen, "ATTRS = [%s]", attrs.len ? attrs.at : "");
    buf_free(&attrs);
    pen_blank(pen);
    pen_line(pen, "def load(path):");
    pen_line(pen, "    return torch.from_numpy(numpy.load(path)).npu() if path.exists() else None");
    pen_blank(pen);
    pen_line(pen, "def run(case):");
    pen_line(pen, "    args = [load(case / f\"in_{n}.npy\") for n in INPUTS]");
    pen_line(pen, "    given = json.loads((case / \"attrs.json\").read_text()) if (case / "
                  "\"attrs.json\").exists() else {}");
    pen_line(pen, "    got = torch.ops.acraft_%s.%s(*args, *[given[n] for n in ATTRS])", name,
             name);
    pen_line(pen, "    torch.npu.synchronize()");
    pen_line(pen, "    got = got if isinstance(got, tuple) else (got,)");
    pen_line(pen, "    ok = True");
    pen_line(pen, "    for n, value in zip(OUTPUTS, got):");
    pen_line(pen, "        want = load(case / f\"out_{n}.npy\")");
    pen_line(pen, "        same = torch.allclose(value.float(), want.float(), rtol=1e-4, "
                  "atol=1e-4, equal_nan=True)");
    pen_line(pen, "        print(f\"{case.name} {n}: {'ok' if same else 'WRONG'}\")");
    pen_line(pen, "        ok = ok and same");
    pen_line(pen, "    return ok");
    pen_blank(pen);
    pen_line(pen, "if __name__ == \"__main__\":");
    pen_line(pen,
             "    cases = sorted(p for p in pathlib.Path(sys.argv[1]).iterdir() if p.is_dir())");
    pen_line(pen, "    sys.exit(0 if all([run(c) for c in cases]) else 1)");
}
