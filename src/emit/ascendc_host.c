/* The host side of an operator project. In: the variants of a Craft file. Out: op_host, that is the
 * tiling function, which reads what the framework gives and asks the plan (ascendc_plan.c), followed
 * by inference and definition (ascendc_infer.c). */
#include "emit/ascendc_host.h"

/* ---- names ---- */

const char *host_op_type(const Host *h) { return op_type(h->arena, h->in, h->p); }
const char *host_op_name(const Host *h) { return op_name(h->arena, h->in, h->p); }

const char *host_ge_dtype(DType d)
{
    static const char *const names[DT_COUNT] = {
        [DT_F32] = "DT_FLOAT",  [DT_F16] = "DT_FLOAT16",  [DT_BF16] = "DT_BF16",
        [DT_F64] = "DT_DOUBLE", [DT_I8] = "DT_INT8",      [DT_I16] = "DT_INT16",
        [DT_I32] = "DT_INT32",  [DT_I64] = "DT_INT64",    [DT_U8] = "DT_UINT8",
        [DT_U16] = "DT_UINT16", [DT_U32] = "DT_UINT32",   [DT_U64] = "DT_UINT64",
        [DT_BOOL] = "DT_BOOL",  [DT_C64] = "DT_COMPLEX64"};
    return names[d];
}

Host host_for(Arena *arena, const EmitInput *in, uint32_t variant, Pen *pen)
{
    Host h = {
        .arena = arena, .in = in, .p = in->variants.at[variant], .pen = pen, .variant = variant};
    h.pr = printer_for(arena, in, h.p, pen);
    return h;
}

/* The operand and axis a dim is read from; an input if there is one. */
bool host_find_dim(const IrProgram *ir, IrVarId dim, uint32_t *operand, uint32_t *axis)
{
    for (int pass = 0; pass < 2 && !ir_is_derived(&ir->vars.at[dim]); pass++)
        for (uint32_t i = 0; i < ir->operand_count; i++) {
            const IrTensor *t = &ir->tensors.at[i];
            bool fits = pass ? t->role == IR_ROLE_OPT
                             : operand_is_input(t) && t->role != IR_ROLE_OPT;
            for (uint32_t a = 0; fits && a < t->rank; a++) {
                const IrExpr *e = &ir->exprs.at[t->shape[a]];
                if (e->op == IR_E_VAR && e->of.var == dim) {
                    *operand = i;
                    *axis = a;
                    return true;
                }
            }
        }
    return false;
}

/* ---- what the contexts hold ---- */

uint32_t host_input_index(const IrProgram *ir, uint32_t operand)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < operand; i++)
        n += operand_is_input(&ir->tensors.at[i]);
    return n;
}

bool host_place_moves(const IrProgram *ir, uint32_t operand)
{
    for (uint32_t i = 0; i < operand; i++)
        if (ir->tensors.at[i].role == IR_ROLE_OPT || ir->tensors.at[i].role == IR_ROLE_IN_LIST)
            return true;
    return false;
}

uint32_t host_first_list(const IrProgram *ir)
{
    uint32_t i = 0;
    while (i < ir->operand_count && ir->tensors.at[i].role != IR_ROLE_IN_LIST)
        i++;
    return i;
}

const char *host_output_place(const Host *h, uint32_t operand)
{
    const IrProgram *ir = h->p->ir;
    uint32_t single = 0, from = host_first_list(ir);
    const char *lists = "";
    for (uint32_t i = 0; i < operand; i++) {
        bool list = ir->tensors.at[i].role == IR_ROLE_OUT_LIST && from < ir->operand_count;
        if (list)
            lists = str_format(h->arena, "%s + %sLen", lists,
                               camel(h->arena, ir->tensors.at[from].name));
        single += !list && operand_is_output(&ir->tensors.at[i]);
    }
    return str_format(h->arena, "%u%s", single, lists);
}

void host_print_list_len(Host *h, uint32_t operand)
{
    const char *name = camel(h->arena, h->p->ir->tensors.at[operand].name);
    pen_line(h->pen, "const auto *%sInfo = context->GetIrInputInstanceInfo(%u);", name,
             host_input_index(h->p->ir, operand));
    pen_open(h->pen, "if (%sInfo == nullptr)", name);
    pen_line(h->pen, "return ge::GRAPH_FAILED;");
    pen_close(h->pen, "");
    pen_line(h->pen, "const int64_t %sLen = static_cast<int64_t>(%sInfo->GetInstanceNum());", name,
             name);
}

void host_print_derived(Host *h, const IrVar *dim)
{
    const char *name = camel(h->arena, dim->name);
    pen_line(h->pen, "const int64_t %s = %s;", name, print_expr(&h->pr, dim->value));
    pen_line(h->pen, "(void)%s;", name);
}

/* A tensor without axes comes as one, or as one element. */
static const char *rank_test(const Host *h, const IrTensor *t, const char *shape)
{
    uint32_t rank = operand_rank(t);
    return rank ? str_format(h->arena, "%s.GetDimNum() != %u", shape, rank)
                : str_format(h->arena, "%s.GetShapeSize() != 1", shape);
}

void host_print_shapes(Host *h, bool infer)
{
    const IrProgram *ir = h->p->ir;
    const char *fail = "ge::GRAPH_FAILED";
    for (uint32_t i = 0; i < ir->operand_count; i++) {
        const IrTensor *t = &ir->tensors.at[i];
        if (!operand_is_input(t))
            continue;
        const char *name = camel(h->arena, t->name);
        if (t->role == IR_ROLE_IN_LIST) {
            host_print_list_len(h, i);
            continue;
        }
        bool opt = t->role == IR_ROLE_OPT;
        pen_line(h->pen, "const auto *%sGiven = context->Get%sInputShape(%u);", name,
                 opt                       ? "Optional"
                 : host_place_moves(ir, i) ? "Required"
                                           : "",
                 host_input_index(ir, i));
        const char *shape = infer ? str_format(h->arena, "(*%sGiven)", name)
                                  : str_format(h->arena, "%sGiven->GetStorageShape()", name);
        pen_open(h->pen, opt ? "if (%sGiven != nullptr && %s)" : "if (%sGiven == nullptr || %s)",
                 name, rank_test(h, t, shape));
        pen_line(h->pen, "return %s;", fail);
        pen_close(h->pen, "");
    }
    for (uint32_t i = 0; i < ir->dims.len; i++) {
        uint32_t operand, axis;
        const IrVar *v = &ir->vars.at[ir->dims.at[i]];
        if (ir_is_derived(v))
            host_print_derived(h, v);
        if (v->lo == v->hi || !host_find_dim(ir, ir->dims.at[i], &operand, &axis))
            continue;
        const IrTensor *t = &ir->tensors.at[operand];
        const char *name = camel(h->arena, t->name);
        const char *get = str_format(
            h->arena, infer ? "%sGiven->GetDim(%u)" : "%sGiven->GetStorageShape().GetDim(%u)", name,
            axis);
        if (t->role == IR_ROLE_OPT)
            get = str_format(h->arena, "%sGiven != nullptr ? %s : %lld", name, get,
                             (long long)v->lo);
        pen_line(h->pen, "const int64_t %s = %s;", camel(h->arena, v->name), get);
    }
}

/* Axes that say a size again must agree. */
static void print_agreement(Host *h)
{
    const IrProgram *ir = h->p->ir;
    for (uint32_t i = 0; i < ir->operand_count; i++) {
        const IrTensor *t = &ir->tensors.at[i];
        bool single = operand_is_input(t) && t->role != IR_ROLE_IN_LIST;
        for (uint32_t a = 0; single && a < operand_rank(t); a++) {
            const IrExpr *e = &ir->exprs.at[t->shape[a]];
            uint32_t operand, axis;
            bool source = e->op == IR_E_VAR && host_find_dim(ir, e->of.var, &operand, &axis) &&
                          operand == i && axis == a;
            if (source)
                continue;
            const char *name = camel(h->arena, t->name);
            const char *given = t->role == IR_ROLE_OPT
                                    ? str_format(h->arena, "%sGiven != nullptr && ", name)
                                    : "";
            pen_open(h->pen, "if (%s%sGiven->GetStorageShape().GetDim(%u) != %s)", given, name, a,
                     print_expr(&h->pr, t->shape[a]));
            pen_line(h->pen, "return ge::GRAPH_FAILED;");
            pen_close(h->pen, "");
        }
    }
}

void host_print_attrs(Host *h)
{
    const IrProgram *ir = h->p->ir;
    for (uint32_t i = 0; i < ir->attrs.len; i++) {
        const IrVar *v = &ir->vars.at[ir->attrs.at[i]];
        const char *type = cxx_scalar(v->type);
        pen_line(h->pen, "const %s %s = *context->GetAttrs()->GetAttrPointer<%s>(%u);", type,
                 camel(h->arena, v->name), type, i);
    }
    for (uint32_t i = 0; i < ir->operand_count; i++)
        if (ir->tensors.at[i].role == IR_ROLE_OPT) {
            const char *name = camel(h->arena, ir->tensors.at[i].name);
            pen_line(h->pen, "const bool %sPresent = %sGiven != nullptr;", name, name);
        }
}

/* ---- the tiling function ---- */

static void print_chip(Host *h, Str calls)
{
    static const char *const memory[] = {NULL, NULL, "UB", "L1", "L0_A", "L0_B", "L0_C", "L2"};
    pen_line(h->pen,
             "auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());");
    if (str_find(calls, STR("chipCores")) >= 0)
        pen_line(h->pen, "const int64_t chipCores = platform.GetCoreNumAiv();");
    if (str_find(calls, STR("chipCubeCores")) >= 0)
        pen_line(h->pen, "const int64_t chipCubeCores = platform.GetCoreNumAic();");
    for (uint32_t i = 2; i < IR_CHIP_COUNT; i++) {
        if (str_find(calls, str_from(host_chip_args[i])) < 0)
            continue;
        pen_line(h->pen, "uint64_t %sBytes = 0;", host_chip_args[i]);
        pen_line(h->pen, "platform.GetCoreMemSize(platform_ascendc::CoreMemType::%s, %sBytes);",
                 memory[i], host_chip_args[i]);
        pen_line(h->pen, "const int64_t %s = static_cast<int64_t>(%sBytes);", host_chip_args[i],
                 host_chip_args[i]);
    }
}

/* "context->GetInputDesc(0)->GetDataType() == ge::DT_FLOAT"; true of what is absent. */
static const char *dtype_is(const Host *h, const IrProgram *ir, uint32_t operand)
{
    const IrTensor *t = &ir->tensors.at[operand];
    const char *name = camel(h->arena, t->name), *type = host_ge_dtype(operand_dtype(t));
    uint32_t at = host_input_index(ir, operand);
    if (t->role == IR_ROLE_OPT)
        return str_format(h->arena,
                          "(%sGiven == nullptr || "
                          "context->GetOptionalInputDesc(%u)->GetDataType() == ge::%s)",
                          name, at, type);
    if (t->role == IR_ROLE_IN_LIST)
        return str_format(h->arena,
                          "(%sLen == 0 || "
                          "context->GetDynamicInputDesc(%u, 0)->GetDataType() == ge::%s)",
                          name, at, type);
    return str_format(h->arena, "context->Get%sInputDesc(%u)->GetDataType() == ge::%s",
                      host_place_moves(ir, operand) ? "Required" : "", at, type);
}

/* What tells the variant: the inputs whose dtypes differ. */
static const char *dtype_test(const Host *h, uint32_t variant)
{
    const char *test = NULL;
    const IrProgram *ir = h->in->variants.at[variant]->ir;
    for (uint32_t i = 0; i < ir->operand_count; i++) {
        bool differs = false;
        for (uint32_t v = 0; v < h->in->variants.len; v++)
            differs = differs || operand_dtype(&h->in->variants.at[v]->ir->tensors.at[i]) !=
                                     operand_dtype(&ir->tensors.at[i]);
        if (differs && operand_is_input(&ir->tensors.at[i]))
            test = str_format(h->arena, "%s%s%s", test ? test : "", test ? " && " : "",
                              dtype_is(h, ir, i));
    }
    return test ? test : "true";
}

static void print_tiling_function(Host *h)
{
    EmitFields fields = {0};
    host_fields(h, &fields);
    Buf calls = {0};
    uint32_t count = h->in->variants.len;
    for (uint32_t v = 0; v < count; v++)
        buf_puts(&calls, host_plan_call(h, v));
    Pen *pen = h->pen;
    pen_line(pen, "namespace optiling {");
    pen_line(pen, "static ge::graphStatus TilingFunc(gert::TilingContext *context)");
    pen_line(pen, "{");
    pen->depth++;
    print_chip(h, buf_view(&calls));
    buf_free(&calls);
    host_print_shapes(h, false);
    print_agreement(h);
    host_print_attrs(h);
    pen_line(pen, "%sPlan t;", host_op_type(h));
    bool same = true;
    for (uint32_t v = 0; v < count; v++)
        same = same && host_same_plan(h->arena, h->in, v) == 0;
    if (same) {
        pen_line(pen, "const bool isTaken = %s;", host_plan_call(h, 0));
    } else {
        pen_line(pen, "bool isTaken = false;");
        for (uint32_t v = 0; v < count; v++) {
            pen_open(pen, "%sif (%s)", v ? "else " : "", dtype_test(h, v));
            pen_line(pen, "isTaken = %s;", host_plan_call(h, v));
            pen_close(pen, "");
        }
    }
    pen_open(pen, "if (!isTaken)");
    pen_line(pen, "return ge::GRAPH_FAILED;");
    pen_close(pen, "");
    pen_line(pen, "%sTilingData tiling;", host_op_type(h));
    for (uint32_t i = 0; i < fields.len; i++)
        pen_line(pen, "tiling.set_%s(t.%s);", camel(h->arena, fields.at[i].name),
                 camel(h->arena, fields.at[i].name));
    pen_line(pen, "tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), "
                  "context->GetRawTilingData()->GetCapacity());");
    pen_line(pen, "context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());");
    pen_line(pen, "context->SetTilingKey(static_cast<uint64_t>(t.tilingKey));");
    pen_line(pen, "context->SetBlockDim(static_cast<uint32_t>(t.blockCount));");
    pen_line(pen, "size_t *workspaces = context->GetWorkspaceSizes(1);");
    pen_line(pen, "workspaces[0] = platform.GetLibApiWorkSpaceSize() + "
                  "static_cast<size_t>(t.workspaceBytes);");
    pen_line(pen, "return ge::GRAPH_SUCCESS;");
    pen_close(pen, "");
    pen_line(pen, "} // namespace optiling");
}

void host_print_operator(Host *h, bool inline_plan)
{
    Pen *pen = h->pen;
    pen_line(pen, "// Written by acraft from %s; change it there.", craft_name(h->in));
    pen_line(pen, "#include \"%s_tiling.h\"", host_op_name(h));
    if (!inline_plan)
        pen_line(pen, "#include \"%s_plan.h\"", host_op_name(h));
    pen_line(pen, "#include \"register/op_def_registry.h\"");
    pen_line(pen, "#include \"tiling/platform/platform_ascendc.h\"");
    pen_blank(pen);
    if (inline_plan) {
        host_print_plan(h);
        pen_blank(pen);
    }
    print_tiling_function(h);
    pen_blank(pen);
    host_print_inference(h);
    pen_blank(pen);
    host_print_definition(h);
}

/* Operands and sizes that have no host side yet. */
bool host_check(const EmitInput *in, Diag *diag)
{
    const IrProgram *ir = in->variants.at[0]->ir;
    bool ok = true;
    for (uint32_t i = 0; i < ir->dims.len; i++) {
        uint32_t operand, axis;
        const IrVar *v = &ir->vars.at[ir->dims.at[i]];
        if (v->lo != v->hi && !ir_is_derived(v) &&
            !host_find_dim(ir, ir->dims.at[i], &operand, &axis)) {
            diag_error(diag, "E097", v->at,
                       "'%s' is no axis of an input: the tiling function cannot read it", v->name);
            diag_hint(diag, "give it as an attribute, or name it alone as an axis of an input");
            ok = false;
        }
    }
    return ok;
}
