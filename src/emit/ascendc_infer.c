/* What the framework asks of an operator before it runs: the shapes and dtypes of its outputs, and
 * its definition. */
#include "emit/ascendc_host.h"

/* A list that is written has the shapes of the first list that is read. */
static void print_list_shapes(Host *h, uint32_t output)
{
    const IrProgram *ir = h->p->ir;
    uint32_t from = host_first_list(ir);
    if (from == ir->operand_count)
        return;
    pen_open(h->pen, "for (int64_t itemIndex = 0; itemIndex < %sLen; ++itemIndex)",
             camel(h->arena, ir->tensors.at[from].name));
    pen_line(h->pen, "gert::Shape *toShape = context->GetOutputShape(%s + itemIndex);",
             host_output_place(h, output));
    pen_line(h->pen, "const gert::Shape *fromShape = context->GetDynamicInputShape(%u, itemIndex);",
             host_input_index(ir, from));
    pen_open(h->pen, "if (toShape == nullptr || fromShape == nullptr)");
    pen_line(h->pen, "return ge::GRAPH_FAILED;");
    pen_close(h->pen, "");
    pen_line(h->pen, "*toShape = *fromShape;");
    pen_close(h->pen, "");
}

/* An input whose dtype is the output's in every variant, rather no list, which may be empty;
 * operand_count: none. */
static uint32_t same_dtype(const Host *h, uint32_t output)
{
    const IrProgram *ir = h->p->ir;
    uint32_t found = ir->operand_count;
    for (uint32_t j = 0; j < ir->operand_count; j++) {
        const IrTensor *t = &ir->tensors.at[j];
        bool same = operand_is_input(t) && t->role != IR_ROLE_OPT;
        for (uint32_t v = 0; v < h->in->variants.len; v++) {
            const IrProgram *o = h->in->variants.at[v]->ir;
            same = same &&
                   operand_dtype(&o->tensors.at[j]) == operand_dtype(&o->tensors.at[output]);
        }
        if (same && t->role != IR_ROLE_IN_LIST)
            return j;
        if (same && found == ir->operand_count)
            found = j;
    }
    return found;
}

static const char *output_dtype(const Host *h, uint32_t output)
{
    const IrProgram *ir = h->p->ir;
    uint32_t like = same_dtype(h, output);
    if (like == ir->operand_count)
        return str_format(h->arena, "ge::%s",
                          host_ge_dtype(operand_dtype(&ir->tensors.at[output])));
    uint32_t at = host_input_index(ir, like);
    if (ir->tensors.at[like].role == IR_ROLE_IN_LIST)
        return str_format(h->arena, "context->GetDynamicInputDataType(%u, 0)", at);
    return str_format(h->arena, "context->Get%sInputDataType(%u)",
                      host_place_moves(ir, like) ? "Required" : "", at);
}

static void print_dtype_inference(Host *h)
{
    const IrProgram *ir = h->p->ir;
    Pen *pen = h->pen;
    uint32_t from = host_first_list(ir);
    bool lists = false;
    for (uint32_t i = 0; i < ir->operand_count; i++)
        lists = lists || ir->tensors.at[i].role == IR_ROLE_OUT_LIST;
    lists = lists && from < ir->operand_count;
    pen_line(pen, "static ge::graphStatus InferDataType(gert::InferDataTypeContext *context)");
    pen_line(pen, "{");
    pen->depth++;
    if (lists)
        host_print_list_len(h, from);
    for (uint32_t i = 0; i < ir->operand_count; i++) {
        const IrTensor *t = &ir->tensors.at[i];
        bool list = lists && t->role == IR_ROLE_OUT_LIST;
        if (!operand_is_output(t))
            continue;
        if (list)
            pen_open(pen, "for (int64_t itemIndex = 0; itemIndex < %sLen; ++itemIndex)",
                     camel(h->arena, ir->tensors.at[from].name));
        pen_line(pen, "context->SetOutputDataType(%s%s, %s);", host_output_place(h, i),
                 list ? " + itemIndex" : "", output_dtype(h, i));
        if (list)
            pen_close(pen, "");
    }
    pen_line(pen, "return ge::GRAPH_SUCCESS;");
    pen_close(pen, "");
}

void host_print_inference(Host *h)
{
    const IrProgram *ir = h->p->ir;
    Pen *pen = h->pen;
    pen_line(pen, "namespace ge {");
    pen_line(pen, "static ge::graphStatus InferShape(gert::InferShapeContext *context)");
    pen_line(pen, "{");
    pen->depth++;
    host_print_shapes(h, true);
    host_print_attrs(h);
    const IrStmt *guard;
    for (uint32_t at = 0; host_next_guard(h, &at, &guard);) {
        pen_open(pen, "if (!(%s))", print_expr(&h->pr, guard->cond));
        pen_line(pen, "return ge::GRAPH_FAILED;");
        pen_close(pen, "");
    }
    for (uint32_t i = 0; i < ir->operand_count; i++) {
        const IrTensor *t = &ir->tensors.at[i];
        if (!operand_is_output(t))
            continue;
        const char *name = camel(h->arena, t->name);
        if (t->role == IR_ROLE_OUT_LIST) {
            print_list_shapes(h, i);
            continue;
        }
        pen_line(pen, "gert::Shape *%sShape = context->GetOutputShape(%s);", name,
                 host_output_place(h, i));
        pen_line(pen, "%sShape->SetDimNum(%u);", name, operand_rank(t));
        for (uint32_t a = 0; a < operand_rank(t); a++)
            pen_line(pen, "%sShape->SetDim(%u, %s);", name, a, print_expr(&h->pr, t->shape[a]));
    }
    pen_line(pen, "return ge::GRAPH_SUCCESS;");
    pen_close(pen, "");
    pen_blank(pen);
    print_dtype_inference(h);
    pen_line(pen, "} // namespace ge");
}

static void print_param_def(Host *h, uint32_t operand, const char *kind)
{
    const IrTensor *t = &h->p->ir->tensors.at[operand];
    Buf types = {0}, formats = {0};
    for (uint32_t v = 0; v < h->in->variants.len; v++) {
        buf_printf(&types, "%sge::%s", v ? ", " : "",
                   host_ge_dtype(operand_dtype(&h->in->variants.at[v]->ir->tensors.at[operand])));
        buf_printf(&formats, "%sge::FORMAT_ND", v ? ", " : "");
    }
    pen_line(h->pen, "this->%s(\"%s\")", kind, t->name);
    bool list = t->role == IR_ROLE_IN_LIST || t->role == IR_ROLE_OUT_LIST;
    pen_line(h->pen, "    .ParamType(%s)",
             list                     ? "DYNAMIC"
             : t->role == IR_ROLE_OPT ? "OPTIONAL"
                                      : "REQUIRED");
    pen_line(h->pen, "    .DataType({%s})", types.at);
    pen_line(h->pen, "    .Format({%s})", formats.at);
    pen_line(h->pen, "    .UnknownShapeFormat({%s});", formats.at);
    buf_free(&types);
    buf_free(&formats);
}

void host_print_definition(Host *h)
{
    const IrProgram *ir = h->p->ir;
    Pen *pen = h->pen;
    const char *type = host_op_type(h);
    pen_line(pen, "namespace ops {");
    pen_line(pen, "class %s : public OpDef {", type);
    pen_line(pen, "public:");
    pen->depth++;
    pen_line(pen, "explicit %s(const char *name) : OpDef(name)", type);
    pen_line(pen, "{");
    pen->depth++;
    for (uint32_t i = 0; i < ir->operand_count; i++)
        if (operand_is_input(&ir->tensors.at[i]))
            print_param_def(h, i, "Input");
    for (uint32_t i = 0; i < ir->operand_count; i++)
        if (operand_is_output(&ir->tensors.at[i]))
            print_param_def(h, i, "Output");
    for (uint32_t i = 0; i < ir->attrs.len; i++) {
        const IrVar *v = &ir->vars.at[ir->attrs.at[i]];
        const char *kind = v->type == DT_F32 ? "Float" : v->type == DT_BOOL ? "Bool" : "Int";
        if (v->value)
            pen_line(pen, "this->Attr(\"%s\").AttrType(OPTIONAL).%s(%s);", v->name, kind,
                     print_as(&h->pr, v->value, v->type));
        else
            pen_line(pen, "this->Attr(\"%s\").AttrType(REQUIRED).%s();", v->name, kind);
    }
    pen_line(pen, "this->SetInferShape(ge::InferShape).SetInferDataType(ge::InferDataType);");
    pen_line(pen, "this->AICore().SetTiling(optiling::TilingFunc);");
    pen_line(pen, "this->AICore().AddConfig(\"ascend910b\");");
    pen_line(pen, "this->AICore().AddConfig(\"ascend910_93\");");
    pen_close(pen, "");
    pen_close(pen, ";");
    pen_line(pen, "OP_ADD(%s);", type);
    pen_line(pen, "} // namespace ops");
}
