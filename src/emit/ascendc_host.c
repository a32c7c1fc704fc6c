/* The host side. In: the variants of a Craft file. Out: the plan (a plain C++ function from sizes,
 * attributes and chip facts to the tiling fields, for every form of output), the tiling struct,
 * and op_host: tiling function, shape inference, operator definition. */
#include "emit/ascendc_host.h"

#include "ir/range.h"
#include <string.h>

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
    for (int pass = 0; pass < 2; pass++)
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

/* ---- the plan ---- */

static const char *const chip_args[] = {"chipCores", "chipCubeCores", "chipUb",  "chipL1",
                                        "chipL0a",   "chipL0b",       "chipL0c", "chipL2"};

static uint32_t count_sets(const IrProgram *ir, const IrBlock *block, IrVarId var)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &ir->stmts.at[block->at[i]];
        n += s->kind == IR_S_ASSIGN && s->var == var;
        n += count_sets(ir, &s->body, var) + count_sets(ir, &s->orelse, var);
    }
    return n;
}

/* Declared where it is assigned: once, at the top level. */
static bool declared_in_place(const IrProgram *ir, IrVarId var)
{
    bool top = false;
    for (uint32_t i = 0; i < ir->host.len; i++) {
        const IrStmt *s = &ir->stmts.at[ir->host.at[i]];
        top = top || (s->kind == IR_S_ASSIGN && s->var == var);
    }
    return top && count_sets(ir, &ir->host, var) == 1;
}

static void print_range_checks(Host *h)
{
    const IrProgram *ir = h->p->ir;
    for (uint32_t i = 0; i < ir->dims.len; i++) {
        const IrVar *v = &ir->vars.at[ir->dims.at[i]];
        const char *name = camel(h->arena, v->name);
        if (v->lo == v->hi)
            continue;
        const char *multiple = v->multiple > 1 ? str_format(h->arena, " || %s %% %lld != 0", name,
                                                            (long long)v->multiple)
                                               : "";
        pen_open(h->pen, "if (%s < %lld || %s > %lld%s)", name, (long long)v->lo, name,
                 (long long)v->hi, multiple);
        pen_line(h->pen, "return false;");
        pen_close(h->pen, "");
    }
}

static void print_choices(Host *h)
{
    const IrProgram *ir = h->p->ir;
    for (IrVarId v = 1; v < ir->vars.len; v++) {
        const IrVar *var = &ir->vars.at[v];
        if (var->kind != IR_VAR_CHOICE || !var->choices.len)
            continue;
        Buf others = {0};
        for (uint32_t i = 0; i < var->choices.len; i++)
            buf_printf(&others, "%s%lld", i ? ", " : "", (long long)var->choices.at[i]);
        pen_line(h->pen, "int64_t %s = %lld; // one of %s", camel(h->arena, var->name),
                 (long long)var->choices.at[0], others.at);
        buf_free(&others);
    }
    for (IrVarId v = 1; v < ir->vars.len; v++) {
        const IrVar *var = &ir->vars.at[v];
        bool host = var->kind == IR_VAR_HOST && count_sets(ir, &ir->host, v) > 0;
        if (host && !declared_in_place(ir, v))
            pen_line(h->pen, "%s %s = 0;", cxx_scalar(var->type), camel(h->arena, var->name));
    }
}

/* What the launch hands to its kernel; launches of a path fill their own fields. */
static void print_fills(Host *h, IrStmtId launch)
{
    for (uint32_t i = 0; i < h->p->fields.len; i++) {
        const AscField *f = &h->p->fields.at[i];
        for (uint32_t j = 0; j < f->fills.len; j++) {
            bool here = f->fills.at[j].launch == launch;
            if (here)
                pen_line(h->pen, "t.%s = %s;", camel(h->arena, f->name),
                         print_as(&h->pr, f->fills.at[j].value, f->type));
        }
    }
}

static const AscPath *path_of(const AscProgram *p, IrStmtId launch, const AscLaunch **found)
{
    for (uint32_t i = 0; i < p->paths.len; i++)
        for (uint32_t j = 0; j < p->paths.at[i].launches.len; j++)
            if (p->paths.at[i].launches.at[j].stmt == launch) {
                *found = &p->paths.at[i].launches.at[j];
                return &p->paths.at[i];
            }
    return NULL;
}

/* The kernel's buffers, spelled with what this launch gives its members. */
static void print_room_check(Host *h, const AscLaunch *launch)
{
    const AscKernel *k = &h->p->kernels.at[launch->kernel];
    if (!k->ub_bytes)
        return;
    Printer pr = h->pr;
    pr.names = arena_array(h->arena, const char *, pr.name_count + 1);
    for (uint32_t i = 0; i < launch->binds.len; i++) {
        const AscBind *b = &launch->binds.at[i];
        pr.names[b->var] = b->field != UINT32_MAX
                               ? str_format(h->arena, "t.%s",
                                            camel(h->arena, h->p->fields.at[b->field].name))
                               : print_expr(&h->pr, b->value);
    }
    pen_open(h->pen, "if (%s > chipUb)", print_expr(&pr, k->ub_bytes));
    pen_line(h->pen, "return false; // the buffers of %s", k->source->name);
    pen_close(h->pen, "");
}

static void print_path_end(Host *h, const AscPath *path)
{
    const IrProgram *ir = h->p->ir;
    pen_line(h->pen, "t.tilingKey = %u;", path->key);
    for (uint32_t i = 0; i < path->launches.len; i++) {
        const char *cores = print_expr(&h->pr, ir->stmts.at[path->launches.at[i].stmt].cores);
        if (i)
            pen_line(h->pen, "t.blockCount = MaxOf(t.blockCount, %s);", cores);
        else
            pen_line(h->pen, "t.blockCount = %s;", cores);
    }
    if (path->rooms.len) {
        const AscRoom *last = &vec_last(&path->rooms);
        pen_line(h->pen, "t.workspaceBytes = %s%s%s;",
                 last->offset ? print_expr(&h->pr, last->offset) : "", last->offset ? " + " : "",
                 print_expr(&h->pr, last->bytes));
    }
    pen_line(h->pen, "return true;");
}

static void print_host_block(Host *h, const IrBlock *block, bool top);

static void print_launch_stmt(Host *h, IrStmtId id)
{
    const AscLaunch *launch = NULL;
    const AscPath *path = path_of(h->p, id, &launch);
    if (!path)
        return;
    print_fills(h, id);
    print_room_check(h, launch);
    if (vec_last(&path->launches).stmt == id)
        print_path_end(h, path);
}

static void print_host_if(Host *h, const IrStmt *s)
{
    pen_open(h->pen, "if (%s)", print_expr(&h->pr, s->cond));
    print_host_block(h, &s->body, false);
    if (s->orelse.len) {
        h->pen->depth--;
        pen_open(h->pen, "} else");
        print_host_block(h, &s->orelse, false);
    }
    pen_close(h->pen, "");
}

static void print_host_stmt(Host *h, IrStmtId id, bool top)
{
    const IrProgram *ir = h->p->ir;
    const IrStmt *s = &ir->stmts.at[id];
    Str text = craft_line(h->in, s->at.line);
    bool shown = s->kind == IR_S_LAUNCH || s->kind == IR_S_ASSIGN || s->kind == IR_S_ASSERT;
    if (shown && text.len && s->at.line != h->last_line)
        pen_line(h->pen, "// %u: %.*s", s->at.line, STR_ARG(text));
    h->last_line = s->at.line;
    switch (s->kind) {
    case IR_S_ASSIGN: {
        const IrVar *v = &ir->vars.at[s->var];
        const char *type = top && declared_in_place(ir, s->var)
                               ? str_format(h->arena, "const %s ", cxx_scalar(v->type))
                               : "";
        pen_line(h->pen, "%s%s = %s;", type, camel(h->arena, v->name),
                 print_as(&h->pr, s->value, v->type));
        break;
    }
    case IR_S_ASSERT:
        pen_open(h->pen, "if (!(%s))", print_expr(&h->pr, s->cond));
        pen_line(h->pen, "return false;");
        pen_close(h->pen, "");
        break;
    case IR_S_IF: print_host_if(h, s); break;
    case IR_S_LAUNCH: print_launch_stmt(h, id); break;
    default: break;
    }
}

static void print_host_block(Host *h, const IrBlock *block, bool top)
{
    for (uint32_t i = 0; i < block->len; i++)
        print_host_stmt(h, block->at[i], top);
}

/* Names of what the plan takes, in order; types in front when `declare`. */
static void add_arg(Buf *out, const char *type, const char *name, bool declare)
{
    buf_printf(out, "%s%s%s%s", out->len ? ", " : "", declare ? type : "", declare ? " " : "",
               name);
}

static char *plan_args(const Host *h, Str body, bool declare)
{
    const IrProgram *ir = h->p->ir;
    Buf out = {0};
    for (uint32_t i = 0; i < ir->dims.len; i++)
        if (ir->vars.at[ir->dims.at[i]].lo != ir->vars.at[ir->dims.at[i]].hi)
            add_arg(&out, "int64_t", camel(h->arena, ir->vars.at[ir->dims.at[i]].name), declare);
    for (uint32_t i = 0; i < ir->operand_count; i++)
        if (ir->tensors.at[i].role == IR_ROLE_IN_LIST)
            add_arg(&out, "int64_t",
                    str_format(h->arena, "%sLen", camel(h->arena, ir->tensors.at[i].name)),
                    declare);
    for (uint32_t i = 0; i < ir->operand_count; i++)
        if (ir->tensors.at[i].role == IR_ROLE_OPT)
            add_arg(&out, "bool",
                    str_format(h->arena, "%sPresent", camel(h->arena, ir->tensors.at[i].name)),
                    declare);
    for (uint32_t i = 0; i < ir->attrs.len; i++) {
        const IrVar *v = &ir->vars.at[ir->attrs.at[i]];
        add_arg(&out, cxx_scalar(v->type), camel(h->arena, v->name), declare);
    }
    for (uint32_t i = 0; i < IR_CHIP_COUNT; i++)
        if (str_find(body, str_from(chip_args[i])) >= 0)
            add_arg(&out, "int64_t", chip_args[i], declare);
    char *text = buf_take(&out, h->arena);
    buf_free(&out);
    return text ? text : "";
}

static char *plan_body(Arena *arena, const EmitInput *in, uint32_t variant)
{
    Buf text = {0};
    Pen pen = {.out = &text, .arena = arena, .depth = 1};
    Host h = host_for(arena, in, variant, &pen);
    pen_line(&pen, "t = {};");
    print_range_checks(&h);
    print_choices(&h);
    print_fills(&h, 0);
    print_host_block(&h, &h.p->ir->host, true);
    char *out = buf_take(&text, arena);
    buf_free(&text);
    return out;
}

uint32_t host_same_plan(Arena *arena, const EmitInput *in, uint32_t variant)
{
    const char *mine = plan_body(arena, in, variant);
    for (uint32_t v = 0; v < variant; v++)
        if (strcmp(plan_body(arena, in, v), mine) == 0)
            return v;
    return variant;
}

const char *host_plan_name(const Host *h, uint32_t variant)
{
    Buf name = {0};
    buf_printf(&name, "Plan%s", host_op_type(h));
    const IrProgram *ir = h->in->variants.at[variant]->ir;
    for (uint32_t i = 0; variant && i < ir->variant_dtypes.len; i++)
        buf_printf(&name, "_%s", dtype_name(ir->variant_dtypes.at[i]));
    char *text = buf_take(&name, h->arena);
    buf_free(&name);
    return text;
}

const char *host_plan_call(const Host *h, uint32_t variant)
{
    uint32_t as = host_same_plan(h->arena, h->in, variant);
    Str body = str_from(plan_body(h->arena, h->in, as));
    Host own = host_for(h->arena, h->in, as, h->pen);
    const char *args = plan_args(&own, body, false);
    return str_format(h->arena, "%s(%s%st)", host_plan_name(h, as), args, *args ? ", " : "");
}

/* Every field some variant has. */
static void all_fields(const Host *h, EmitFields *out)
{
    for (uint32_t v = 0; v < h->in->variants.len; v++) {
        const AscProgram *p = h->in->variants.at[v];
        for (uint32_t i = 0; i < p->fields.len; i++) {
            bool known = false;
            for (uint32_t j = 0; j < out->len; j++)
                known = known || strcmp(out->at[j].name, p->fields.at[i].name) == 0;
            if (!known)
                vec_push(h->arena, out, p->fields.at[i]);
        }
    }
}

static const char *field_type(const AscField *f) { return f->type == DT_F32 ? "float" : "int64_t"; }

void host_print_plan(Host *h)
{
    Buf text = {0};
    Pen body = {.out = &text, .arena = h->arena};
    EmitFields fields = {0};
    all_fields(h, &fields);
    pen_line(&body, "struct %sPlan {", host_op_type(h));
    for (uint32_t i = 0; i < fields.len; i++)
        pen_line(&body, "    %s %s;", field_type(&fields.at[i]),
                 camel(h->arena, fields.at[i].name));
    pen_line(&body, "    int64_t tilingKey;      // which way through the host function");
    pen_line(&body, "    int64_t blockCount;     // cores of the launch");
    pen_line(&body, "    int64_t workspaceBytes;");
    pen_line(&body, "};");
    for (uint32_t v = 0; v < h->in->variants.len; v++) {
        if (host_same_plan(h->arena, h->in, v) != v)
            continue;
        Host own = host_for(h->arena, h->in, v, &body);
        char *inside = plan_body(h->arena, h->in, v);
        const char *args = plan_args(&own, str_from(inside), true);
        pen_blank(&body);
        pen_line(&body, "// The host function of %s. False: a size it does not take.",
                 craft_name(h->in));
        pen_line(&body, "inline bool %s(%s%s%sPlan &t)", host_plan_name(h, v), args,
                 *args ? ", " : "", host_op_type(h));
        pen_line(&body, "{");
        buf_puts(body.out, inside);
        pen_line(&body, "}");
    }
    print_helpers(h->pen, buf_view(&text), "static");
    buf_str(h->pen->out, buf_view(&text));
    buf_free(&text);
}

void host_print_tiling_header(Host *h)
{
    EmitFields fields = {0};
    all_fields(h, &fields);
    const char *type = host_op_type(h);
    pen_line(h->pen, "// Written by acraft from %s; change it there.", craft_name(h->in));
    pen_line(h->pen, "#pragma once");
    pen_line(h->pen, "#include \"register/tilingdata_base.h\"");
    pen_blank(h->pen);
    pen_line(h->pen, "namespace optiling {");
    pen_line(h->pen, "BEGIN_TILING_DATA_DEF(%sTilingData)", type);
    for (uint32_t i = 0; i < fields.len; i++)
        pen_line(h->pen, "TILING_DATA_FIELD_DEF(%s, %s);", field_type(&fields.at[i]),
                 camel(h->arena, fields.at[i].name));
    if (!fields.len)
        pen_line(h->pen, "TILING_DATA_FIELD_DEF(int64_t, unused);");
    pen_line(h->pen, "END_TILING_DATA_DEF;");
    pen_blank(h->pen);
    pen_line(h->pen, "REGISTER_TILING_DATA_CLASS(%s, %sTilingData)", type, type);
    pen_line(h->pen, "} // namespace optiling");
}

/* ---- op_host ---- */

static uint32_t input_index(const IrProgram *ir, uint32_t operand)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < operand; i++)
        n += operand_is_input(&ir->tensors.at[i]);
    return n;
}

/* The contexts count tensors that are there: an input after an optional one or a list is asked for
 * by its place in the definition. */
static bool place_moves(const IrProgram *ir, uint32_t operand)
{
    for (uint32_t i = 0; i < operand; i++)
        if (ir->tensors.at[i].role == IR_ROLE_OPT || ir->tensors.at[i].role == IR_ROLE_IN_LIST)
            return true;
    return false;
}

/* The list that gives lists that are written their length and shapes; operand_count: none. */
static uint32_t first_list(const IrProgram *ir)
{
    uint32_t i = 0;
    while (i < ir->operand_count && ir->tensors.at[i].role != IR_ROLE_IN_LIST)
        i++;
    return i;
}

/* Where the output is among the tensors: "1", after a list "1 + xsLen". */
static const char *output_place(const Host *h, uint32_t operand)
{
    const IrProgram *ir = h->p->ir;
    uint32_t single = 0, from = first_list(ir);
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

static void print_list_len(Host *h, uint32_t operand)
{
    const char *name = camel(h->arena, h->p->ir->tensors.at[operand].name);
    pen_line(h->pen, "const auto *%sInfo = context->GetIrInputInstanceInfo(%u);", name,
             input_index(h->p->ir, operand));
    pen_open(h->pen, "if (%sInfo == nullptr)", name);
    pen_line(h->pen, "return ge::GRAPH_FAILED;");
    pen_close(h->pen, "");
    pen_line(h->pen, "const int64_t %sLen = static_cast<int64_t>(%sInfo->GetInstanceNum());", name,
             name);
}

static void print_shapes(Host *h, bool infer)
{
    const IrProgram *ir = h->p->ir;
    const char *fail = "ge::GRAPH_FAILED";
    for (uint32_t i = 0; i < ir->operand_count; i++) {
        const IrTensor *t = &ir->tensors.at[i];
        if (!operand_is_input(t))
            continue;
        const char *name = camel(h->arena, t->name);
        if (t->role == IR_ROLE_IN_LIST) {
            print_list_len(h, i);
            continue;
        }
        bool opt = t->role == IR_ROLE_OPT;
        pen_line(h->pen, "const auto *%sGiven = context->Get%sInputShape(%u);", name,
                 opt                  ? "Optional"
                 : place_moves(ir, i) ? "Required"
                                      : "",
                 input_index(ir, i));
        const char *shape = infer ? str_format(h->arena, "(*%sGiven)", name)
                                  : str_format(h->arena, "%sGiven->GetStorageShape()", name);
        pen_open(h->pen,
                 opt ? "if (%sGiven != nullptr && %s.GetDimNum() != %u)"
                     : "if (%sGiven == nullptr || %s.GetDimNum() != %u)",
                 name, shape, t->rank);
        pen_line(h->pen, "return %s;", fail);
        pen_close(h->pen, "");
    }
    for (uint32_t i = 0; i < ir->dims.len; i++) {
        uint32_t operand, axis;
        const IrVar *v = &ir->vars.at[ir->dims.at[i]];
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
        for (uint32_t a = 0; single && a < t->rank; a++) {
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

static void print_attrs(Host *h)
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
        if (str_find(calls, str_from(chip_args[i])) < 0)
            continue;
        pen_line(h->pen, "uint64_t %sBytes = 0;", chip_args[i]);
        pen_line(h->pen, "platform.GetCoreMemSize(platform_ascendc::CoreMemType::%s, %sBytes);",
                 memory[i], chip_args[i]);
        pen_line(h->pen, "const int64_t %s = static_cast<int64_t>(%sBytes);", chip_args[i],
                 chip_args[i]);
    }
}

/* "context->GetInputDesc(0)->GetDataType() == ge::DT_FLOAT"; true of what is absent. */
static const char *dtype_is(const Host *h, const IrProgram *ir, uint32_t operand)
{
    const IrTensor *t = &ir->tensors.at[operand];
    const char *name = camel(h->arena, t->name), *type = host_ge_dtype(t->dtype);
    uint32_t at = input_index(ir, operand);
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
                      place_moves(ir, operand) ? "Required" : "", at, type);
}

/* What tells the variant: the inputs whose dtypes differ. */
static const char *dtype_test(const Host *h, uint32_t variant)
{
    const char *test = NULL;
    const IrProgram *ir = h->in->variants.at[variant]->ir;
    for (uint32_t i = 0; i < ir->operand_count; i++) {
        bool differs = false;
        for (uint32_t v = 0; v < h->in->variants.len; v++)
            differs = differs ||
                      h->in->variants.at[v]->ir->tensors.at[i].dtype != ir->tensors.at[i].dtype;
        if (differs && operand_is_input(&ir->tensors.at[i]))
            test = str_format(h->arena, "%s%s%s", test ? test : "", test ? " && " : "",
                              dtype_is(h, ir, i));
    }
    return test ? test : "true";
}

static void print_tiling_function(Host *h)
{
    EmitFields fields = {0};
    all_fields(h, &fields);
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
    print_shapes(h, false);
    print_agreement(h);
    print_attrs(h);
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

/* A list that is written has the shapes of the first list that is read. */
static void print_list_shapes(Host *h, uint32_t output)
{
    const IrProgram *ir = h->p->ir;
    uint32_t from = first_list(ir);
    if (from == ir->operand_count)
        return;
    pen_open(h->pen, "for (int64_t itemIndex = 0; itemIndex < %sLen; ++itemIndex)",
             camel(h->arena, ir->tensors.at[from].name));
    pen_line(h->pen, "gert::Shape *toShape = context->GetOutputShape(%s + itemIndex);",
             output_place(h, output));
    pen_line(h->pen, "const gert::Shape *fromShape = context->GetDynamicInputShape(%u, itemIndex);",
             input_index(ir, from));
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
            same = same && o->tensors.at[j].dtype == o->tensors.at[output].dtype;
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
        return str_format(h->arena, "ge::%s", host_ge_dtype(ir->tensors.at[output].dtype));
    uint32_t at = input_index(ir, like);
    if (ir->tensors.at[like].role == IR_ROLE_IN_LIST)
        return str_format(h->arena, "context->GetDynamicInputDataType(%u, 0)", at);
    return str_format(h->arena, "context->Get%sInputDataType(%u)",
                      place_moves(ir, like) ? "Required" : "", at);
}

static void print_dtype_inference(Host *h)
{
    const IrProgram *ir = h->p->ir;
    Pen *pen = h->pen;
    uint32_t from = first_list(ir);
    bool lists = false;
    for (uint32_t i = 0; i < ir->operand_count; i++)
        lists = lists || ir->tensors.at[i].role == IR_ROLE_OUT_LIST;
    lists = lists && from < ir->operand_count;
    pen_line(pen, "static ge::graphStatus InferDataType(gert::InferDataTypeContext *context)");
    pen_line(pen, "{");
    pen->depth++;
    if (lists)
        print_list_len(h, from);
    for (uint32_t i = 0; i < ir->operand_count; i++) {
        const IrTensor *t = &ir->tensors.at[i];
        bool list = lists && t->role == IR_ROLE_OUT_LIST;
        if (!operand_is_output(t))
            continue;
        if (list)
            pen_open(pen, "for (int64_t itemIndex = 0; itemIndex < %sLen; ++itemIndex)",
                     camel(h->arena, ir->tensors.at[from].name));
        pen_line(pen, "context->SetOutputDataType(%s%s, %s);", output_place(h, i),
                 list ? " + itemIndex" : "", output_dtype(h, i));
        if (list)
            pen_close(pen, "");
    }
    pen_line(pen, "return ge::GRAPH_SUCCESS;");
    pen_close(pen, "");
}

static void print_inference(Host *h)
{
    const IrProgram *ir = h->p->ir;
    Pen *pen = h->pen;
    pen_line(pen, "namespace ge {");
    pen_line(pen, "static ge::graphStatus InferShape(gert::InferShapeContext *context)");
    pen_line(pen, "{");
    pen->depth++;
    print_shapes(h, true);
    print_attrs(h);
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
                 output_place(h, i));
        pen_line(pen, "%sShape->SetDimNum(%u);", name, t->rank);
        for (uint32_t a = 0; a < t->rank; a++)
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
                   host_ge_dtype(h->in->variants.at[v]->ir->tensors.at[operand].dtype));
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

static void print_definition(Host *h)
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
    print_inference(h);
    pen_blank(pen);
    print_definition(h);
}

/* Operands and sizes that have no host side yet. */
bool host_check(const EmitInput *in, Diag *diag)
{
    const IrProgram *ir = in->variants.at[0]->ir;
    bool ok = true;
    for (uint32_t i = 0; i < ir->dims.len; i++) {
        uint32_t operand, axis;
        const IrVar *v = &ir->vars.at[ir->dims.at[i]];
        if (v->lo != v->hi && !host_find_dim(ir, ir->dims.at[i], &operand, &axis)) {
            diag_error(diag, "E097", v->at,
                       "'%s' is no axis of an input: the tiling function cannot read it", v->name);
            diag_hint(diag, "give it as an attribute, or name it alone as an axis of an input");
            ok = false;
        }
    }
    return ok;
}
