/* The plan: a plain C++ function from sizes, attributes and chip facts to the tiling fields, the
 * same in every form of output, and the tiling struct that carries them to the kernel. */
#include "emit/ascendc_host.h"

#include <string.h>

const char *const host_chip_args[IR_CHIP_COUNT] = {
    "chipCores", "chipCubeCores", "chipUb", "chipL1", "chipL0a", "chipL0b", "chipL0c", "chipL2"};

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
        if (ir_is_derived(v))
            pen_line(h->pen, "const int64_t %s = %s;", name, print_expr(&h->pr, v->value));
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
        const AscLaunch *launch = &path->launches.at[i];
        const char *cores = print_expr(&h->pr, ir->stmts.at[launch->stmt].cores);
        int64_t each = asc_cores_per_block(h->p, launch->kernel);
        if (each > 1)
            cores = str_format(h->arena, "CeilDiv(%s, %lld)", cores, (long long)each);
        if (i)
            pen_line(h->pen, "t.blockCount = MaxOf(t.blockCount, %s);", cores);
        else
            pen_line(h->pen, "t.blockCount = %s;", cores);
    }
    if (path->room_bytes)
        pen_line(h->pen, "t.workspaceBytes = %s;", print_expr(&h->pr, path->room_bytes));
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
    for (uint32_t i = 0; i < ir->dims.len; i++) {
        const IrVar *v = &ir->vars.at[ir->dims.at[i]];
        if (v->lo != v->hi && !ir_is_derived(v))
            add_arg(&out, "int64_t", camel(h->arena, v->name), declare);
    }
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
        if (str_find(body, str_from(host_chip_args[i])) >= 0)
            add_arg(&out, "int64_t", host_chip_args[i], declare);
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

void host_fields(const Host *h, EmitFields *out)
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

/* What the files around the plan compute of sizes, which may call helpers that the plan does not. */
static void print_sizes_aside(const Host *h, Buf *out)
{
    Pen pen = {.out = out, .arena = h->arena};
    Host aside = host_for(h->arena, h->in, 0, &pen);
    torch_print_sizes(&aside);
    torch_print_outputs(&aside, "x");
}

void host_print_plan(Host *h)
{
    Buf text = {0};
    Pen body = {.out = &text, .arena = h->arena};
    EmitFields fields = {0};
    host_fields(h, &fields);
    pen_line(&body, "struct %sPlan {", host_op_type(h));
    for (uint32_t i = 0; i < fields.len; i++)
        pen_line(&body, "    %s %s;", field_type(&fields.at[i]),
                 camel(h->arena, fields.at[i].name));
    pen_line(&body, "    int64_t tilingKey;      // which branch of the host function");
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
    Buf calls = {0};
    buf_str(&calls, buf_view(&text));
    print_sizes_aside(h, &calls);
    print_helpers(h->pen, buf_view(&calls), "static");
    buf_str(h->pen->out, buf_view(&text));
    buf_free(&calls);
    buf_free(&text);
}

void host_print_tiling_header(Host *h)
{
    EmitFields fields = {0};
    host_fields(h, &fields);
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
