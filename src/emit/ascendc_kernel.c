/* The kernel file: one class per launched kernel, one entry. In: the variants of a Craft file.
 * Out: op_kernel's .cpp. Variants stand one after the other under the op's dtype macros. */
#include "emit/ascendc_int.h"
#include "emit/tiling.h"

#include <string.h>

/* ---- the class ---- */

#define CUBE_QUEUE(position)                                      \
    (queue ? "AscendC::TQue<AscendC::TPosition::" position ", 1>" \
           : "AscendC::TBuf<AscendC::TPosition::" position ">")

static const char *que_type(const AscBuffer *b)
{
    bool queue = b->storage != ASC_TBUF;
    switch (b->memory) {
    case IR_L1: return CUBE_QUEUE("A1");
    case IR_L0A: return CUBE_QUEUE("A2");
    case IR_L0B: return CUBE_QUEUE("B2");
    case IR_L0C: return CUBE_QUEUE("CO1");
    default: break;
    }
    switch (b->storage) {
    case ASC_QUE_IN:
        return b->ahead ? "AscendC::TQue<AscendC::TPosition::VECIN, 2>"
                        : "AscendC::TQue<AscendC::TPosition::VECIN, 1>";
    case ASC_QUE_OUT: return "AscendC::TQue<AscendC::TPosition::VECOUT, 1>";
    case ASC_QUE_BIND:
        return b->ahead
                   ? "AscendC::TQueBind<AscendC::TPosition::VECIN, AscendC::TPosition::VECOUT, 2>"
                   : "AscendC::TQueBind<AscendC::TPosition::VECIN, AscendC::TPosition::VECOUT, 1>";
    default: return "AscendC::TBuf<AscendC::TPosition::VECCALC>";
    }
}

static bool is_list(const IrTensor *t)
{
    return t->role == IR_ROLE_IN_LIST || t->role == IR_ROLE_OUT_LIST;
}

static bool gm_used_in(const AscProgram *p, const AscBlock *block, uint32_t tensor)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const AscStmt *s = &p->stmts.at[block->at[i]];
        const AscRef *refs[] = {&s->a, &s->dst, &s->copy.gm};
        for (size_t j = 0; j < sizeof refs / sizeof *refs; j++)
            if (refs[j]->used && refs[j]->global && refs[j]->id == tensor)
                return true;
        if (gm_used_in(p, &s->body, tensor) || gm_used_in(p, &s->orelse, tensor))
            return true;
    }
    return false;
}

/* Before compute has run nothing says what is used. */
bool gm_param_used(const AscProgram *p, const AscKernel *k, uint32_t tensor)
{
    bool used = !k->functions.len;
    for (uint32_t i = 0; i < k->functions.len; i++)
        used = used || gm_used_in(p, &k->functions.at[i].body, tensor);
    return used;
}

static bool gm_used(const Printer *pr, uint32_t tensor)
{
    return gm_param_used(pr->p, pr->k, tensor);
}

static void print_init_head(Printer *pr)
{
    Buf args = {0};
    for (uint32_t i = 0; i < pr->k->source->tensors.len; i++)
        if (gm_used(pr, i))
            buf_printf(&args, "GM_ADDR %s, ", camel(pr->arena, pr->k->source->tensors.at[i].name));
    for (uint32_t i = 0; i < pr->k->members.len; i++) {
        const IrVar *v = &pr->p->ir->vars.at[pr->k->members.at[i]];
        buf_printf(&args, "%s %s, ", cxx_scalar(v->type), camel(pr->arena, v->name));
    }
    buf_puts(&args, "AscendC::TPipe *pipe");
    pen_line(pr->pen, "__aicore__ inline void Init(%.*s)", (int)args.len, args.at);
    buf_free(&args);
}

/* Large inputs that are read once leave L2 to the results, large results to what is read twice. */
static void print_streams(Printer *pr)
{
    for (uint32_t i = 0; i < pr->k->streams.len; i++) {
        const AscStream *s = &pr->k->streams.at[i];
        if (!gm_used(pr, s->tensor))
            continue;
        const char *bytes = print_expr(pr, s->bytes), *all = print_expr(pr, s->together);
        const char *most = s->most
                               ? str_format(pr->arena, " && %s <= %lld", bytes, (long long)s->most)
                               : "";
        pen_line(pr->pen, "if (%s > %lld%s) {", all, (long long)s->least, most);
        pen_line(pr->pen, "    %s.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);",
                 param_gm_name(pr, s->tensor));
        pen_line(pr->pen, "}");
    }
}

static void print_init(Printer *pr)
{
    Pen *pen = pr->pen;
    print_init_head(pr);
    pen_line(pen, "{");
    pen->depth++;
    for (uint32_t i = 0; i < pr->k->members.len; i++) {
        const char *name = camel(pr->arena, pr->p->ir->vars.at[pr->k->members.at[i]].name);
        pen_line(pen, "this->%s = %s;", name, name);
    }
    for (uint32_t i = 0; i < pr->k->source->tensors.len; i++) {
        const IrTensor *t = &pr->k->source->tensors.at[i];
        if (is_list(t) && gm_used(pr, i))
            pen_line(pen, "%sList.Init(reinterpret_cast<__gm__ void *>(%s));",
                     camel(pr->arena, t->name), camel(pr->arena, t->name));
        else if (gm_used(pr, i))
            pen_line(pen, "%s.SetGlobalBuffer(reinterpret_cast<__gm__ %s *>(%s));",
                     param_gm_name(pr, i), cxx_type(t->dtype), camel(pr->arena, t->name));
    }
    print_streams(pr);
    for (uint32_t i = 0; i < pr->k->buffers.len; i++) {
        const AscBuffer *b = &pr->k->buffers.at[i];
        const char *name = camel(pr->arena, b->name);
        pen_mark(pen, b->at);
        if (pen->notes)
            pen->notes->kernel[pr->k - pr->p->kernels.at].buffer[i] = pen_at(pen);
        if (asc_is_queue(b->storage))
            pen_line(pen, "pipe->InitBuffer(%s, %s, %s);", name, print_expr(pr, b->depth),
                     print_expr(pr, b->bytes));
        else
            pen_line(pen, "pipe->InitBuffer(%s, %s);", name, print_expr(pr, b->bytes));
    }
    pen_close(pen, "");
}

static void print_members(Printer *pr)
{
    for (uint32_t i = 0; i < pr->k->source->tensors.len; i++)
        if (is_list(&pr->k->source->tensors.at[i]) && gm_used(pr, i))
            pen_line(pr->pen, "AscendC::ListTensorDesc %sList;",
                     camel(pr->arena, pr->k->source->tensors.at[i].name));
    for (uint32_t i = 0; i < pr->k->source->tensors.len; i++)
        if (gm_used(pr, i))
            pen_line(pr->pen, "AscendC::GlobalTensor<%s> %s;",
                     cxx_type(pr->k->source->tensors.at[i].dtype), param_gm_name(pr, i));
    for (uint32_t i = 0; i < pr->k->buffers.len; i++)
        pen_line(pr->pen, "%s %s;", que_type(&pr->k->buffers.at[i]),
                 camel(pr->arena, pr->k->buffers.at[i].name));
    for (uint32_t i = 0; i < pr->k->members.len; i++) {
        const IrVar *v = &pr->p->ir->vars.at[pr->k->members.at[i]];
        pen_line(pr->pen, "%s %s;", cxx_scalar(v->type), camel(pr->arena, v->name));
    }
}

/* Stages that come out word for word the same share one function. */
static uint32_t *merge_functions(const Printer *pr, const FunctionScope *scopes)
{
    uint32_t count = pr->k->functions.len;
    uint32_t *same = arena_array(pr->arena, uint32_t, count + 1);
    const char **texts = arena_array(pr->arena, const char *, count + 1);
    for (uint32_t f = 0; f < count; f++) {
        Buf text = {0};
        Pen pen = {.out = &text, .arena = pr->arena};
        Printer bare = *pr;
        bare.pen = &pen;
        bare.bare = true;
        same[f] = f;
        if (f)
            print_body(&bare, scopes, f);
        texts[f] = buf_take(&text, pr->arena);
        buf_free(&text);
        for (uint32_t g = 1; f && g < f && same[f] == f; g++)
            if (pr->k->functions.at[g].stage == pr->k->functions.at[f].stage &&
                strcmp(texts[g], texts[f]) == 0)
                same[f] = g;
    }
    return same;
}

void print_class(Printer *pr, LowerPass upto)
{
    Pen *pen = pr->pen;
    FunctionScope *scopes = scope_kernel(pr->arena, pr->p, pr->k);
    pr->same = merge_functions(pr, scopes);
    if (pen->notes)
        pen->notes->kernel[pr->k - pr->p->kernels.at].same = pr->same;
    pen_line(pen, "// %s:%u: kernel %s", craft_name(pr->in), pr->k->source->at.line,
             pr->k->source->name);
    pen_line(pen, "class %s {", pr->k->name);
    pen_line(pen, "public:");
    pen->depth++;
    print_init(pr);
    if (upto >= LOWER_COMPUTE) {
        pen_blank(pen);
        print_body(pr, scopes, 0);
    }
    pen->depth--;
    pen_blank(pen);
    pen_line(pen, "private:");
    pen->depth++;
    for (uint32_t f = 1; upto >= LOWER_COMPUTE && f < pr->k->functions.len; f++) {
        if (pr->same[f] != f)
            continue;
        print_body(pr, scopes, f);
        pen_blank(pen);
    }
    print_members(pr);
    pen_close(pen, ";");
}

/* ---- the entry ---- */

static const char *operand_text(Printer *pr, const AscPath *path, uint32_t tensor)
{
    for (uint32_t i = 0; i < path->rooms.len; i++) {
        if (path->rooms.at[i].tensor != tensor)
            continue;
        if (path->rooms.at[i].field == UINT32_MAX)
            return "user";
        return str_format(pr->arena, "user + t.%s",
                          camel(pr->arena, pr->p->fields.at[path->rooms.at[i].field].name));
    }
    return camel(pr->arena, pr->p->ir->tensors.at[tensor].name);
}

static const char *bind_text(Printer *pr, const AscLaunch *launch, IrVarId var)
{
    for (uint32_t i = 0; i < launch->binds.len; i++) {
        const AscBind *b = &launch->binds.at[i];
        if (b->var != var)
            continue;
        if (b->field != UINT32_MAX)
            return str_format(pr->arena, "t.%s", camel(pr->arena, pr->p->fields.at[b->field].name));
        return print_as(pr, b->value, pr->p->ir->vars.at[var].type);
    }
    return "0";
}

static void print_launch(Printer *pr, const AscPath *path, const AscLaunch *launch)
{
    const AscKernel *k = &pr->p->kernels.at[launch->kernel];
    Printer own = *pr;
    own.k = k;
    Buf args = {0};
    for (uint32_t i = 0; i < launch->operands.len; i++)
        if (gm_used(&own, i))
            buf_printf(&args, "%s, ", operand_text(pr, path, launch->operands.at[i]));
    for (uint32_t i = 0; i < k->members.len; i++)
        buf_printf(&args, "%s, ", bind_text(pr, launch, k->members.at[i]));
    if (pr->pen->notes)
        pr->pen->notes->entry = pen_at(pr->pen);
    pen_line(pr->pen, "AscendC::TPipe pipe;");
    pen_line(pr->pen, "%s op;", k->name);
    pen_line(pr->pen, "op.Init(%.*s&pipe);", (int)args.len, args.len ? args.at : "");
    pen_line(pr->pen, "op.Process();");
    buf_free(&args);
}

void print_path(Printer *pr, const AscPath *path)
{
    if (path->rooms.len)
        pen_line(pr->pen, "GM_ADDR user = %s;",
                 pr->direct ? "workspace" : "AscendC::GetUserWorkspace(workspace)");
    bool mixed = asc_is_mixed(pr->p);
    if (!asc_is_guarded(pr->p, path)) {
        print_launch(pr, path, &path->launches.at[0]);
        return;
    }
    for (uint32_t i = 0; i < path->launches.len; i++) {
        const AscLaunch *launch = &path->launches.at[i];
        const IrKernel *k = pr->p->kernels.at[launch->kernel].source;
        if (i)
            pen_line(pr->pen, mixed ? "AscendC::SyncAll<false>();" : "AscendC::SyncAll();");
        if (mixed && !(k->has_cube && k->has_vector))
            pen_open(pr->pen, k->has_cube ? "if ASCEND_IS_AIC" : "if ASCEND_IS_AIV");
        pen_open(pr->pen, "if (AscendC::GetBlockIdx()%s < t.%s)",
                 asc_is_beside(pr->p, k) ? " / AscendC::GetTaskRation()" : "",
                 camel(pr->arena, pr->p->fields.at[launch->cores_field].name));
        print_launch(pr, path, launch);
        pen_close(pr->pen, "");
        if (mixed && !(k->has_cube && k->has_vector))
            pen_close(pr->pen, "");
    }
}

bool path_syncs(const AscProgram *p)
{
    bool syncs = false;
    for (uint32_t i = 0; i < p->paths.len; i++)
        syncs = syncs || p->paths.at[i].launches.len > 1;
    for (uint32_t i = 0; i < p->kernels.len; i++)
        syncs = syncs || p->kernels.at[i].uses_sync;
    return syncs;
}

bool operand_is_input(const IrTensor *t)
{
    return t->role == IR_ROLE_IN || t->role == IR_ROLE_INOUT || t->role == IR_ROLE_OPT ||
           t->role == IR_ROLE_IN_LIST;
}

bool operand_is_output(const IrTensor *t)
{
    return t->role == IR_ROLE_OUT || t->role == IR_ROLE_INOUT || t->role == IR_ROLE_OUT_LIST;
}

uint32_t operand_rank(const IrTensor *t) { return t->rank - t->pairs; }
DType operand_dtype(const IrTensor *t) { return t->pairs ? DT_C64 : t->dtype; }

/* The numbers of one shape, and the path that it takes. */
static void print_fixed(Printer *pr, const EmitTiling *fixed)
{
    pen_open(pr->pen, "struct");
    for (uint32_t i = 0; i < pr->p->fields.len; i++) {
        const AscField *f = &pr->p->fields.at[i];
        const char *name = camel(pr->arena, f->name);
        if (f->type == DT_F32)
            pen_line(pr->pen, "float %s = %.9gf;", name, (double)fixed->values[i].f);
        else if (f->type == DT_BOOL)
            pen_line(pr->pen, "bool %s = %s;", name, fixed->values[i].i ? "true" : "false");
        else
            pen_line(pr->pen, "int64_t %s = %lld;", name, (long long)fixed->values[i].i);
    }
    pen_close(pr->pen, " t;");
    for (uint32_t i = 0; i < pr->p->paths.len; i++)
        if (pr->p->paths.at[i].key == fixed->key)
            print_path(pr, &pr->p->paths.at[i]);
}

/* An operand that is input and output is passed twice; the second has the suffix that the build expects
 * (asc-devkit docs, Kernel侧算子实现.md). */
static void print_entry(Printer *pr)
{
    Pen *pen = pr->pen;
    Buf args = {0};
    for (uint32_t i = 0; i < pr->p->ir->operand_count; i++)
        if (operand_is_input(&pr->p->ir->tensors.at[i]))
            buf_printf(&args, "GM_ADDR %s, ", camel(pr->arena, pr->p->ir->tensors.at[i].name));
    for (uint32_t i = 0; i < pr->p->ir->operand_count; i++) {
        const IrTensor *t = &pr->p->ir->tensors.at[i];
        if (operand_is_output(t))
            buf_printf(&args, "GM_ADDR %s%s, ", camel(pr->arena, t->name),
                       t->role == IR_ROLE_INOUT ? "_ref" : "");
    }
    pen_line(pen,
             "extern \"C\" __global__ __aicore__ void %s(%.*sGM_ADDR workspace, GM_ADDR tiling)",
             op_name(pr->arena, pr->in, pr->p), (int)args.len, args.len ? args.at : "");
    buf_free(&args);
    pen_line(pen, "{");
    pen->depth++;
    pen_line(pen, "KERNEL_TASK_TYPE_DEFAULT(%s);", task_type(pr->p));
    if (pr->in->fixed) {
        print_fixed(pr, pr->in->fixed);
        pen_close(pen, "");
        return;
    }
    pen_line(pen, "GET_TILING_DATA(t, tiling);");
    for (uint32_t i = 0; i < pr->p->paths.len; i++) {
        pen_open(pen, "if (TILING_KEY_IS(%u))", pr->p->paths.at[i].key);
        print_path(pr, &pr->p->paths.at[i]);
        pen_close(pen, "");
    }
    pen_close(pen, "");
}

/* ---- the file ---- */

Printer printer_for(Arena *arena, const EmitInput *in, const AscProgram *p, Pen *pen)
{
    Printer pr = {.arena = arena, .in = in, .p = p, .pen = pen};
    pr.name_count = p->ir->vars.len;
    pr.names = arena_array(arena, const char *, pr.name_count + 1);
    return pr;
}

void print_classes(Printer *pr, LowerPass upto)
{
    for (uint32_t i = 0; i < pr->p->kernels.len; i++) {
        if (!pr->p->kernels.at[i].launched)
            continue;
        Printer own = *pr;
        own.k = &pr->p->kernels.at[i];
        print_class(&own, upto);
        pen_blank(pr->pen);
    }
}

static const char order_text[] =
    "// Makes the second pipe of EVENT wait for all the first has been given so far.\n"
    "template <AscendC::HardEvent EVENT>\n"
    "__aicore__ inline void Order()\n"
    "{\n"
    "    event_t id = static_cast<event_t>(GetTPipePtr()->FetchEventID(EVENT));\n"
    "    AscendC::SetFlag<EVENT>(id);\n"
    "    AscendC::WaitFlag<EVENT>(id);\n"
    "}\n"
    "\n";

enum { ORDER_SET_LINE = 6 }; /* of SetFlag in that text; WaitFlag follows */

static const char list_text[] =
    "// Elements of one tensor of a list.\n"
    "__aicore__ inline int64_t ListSize(AscendC::ListTensorDesc &list, int64_t index)\n"
    "{\n"
    "    uint64_t shape[8];\n"
    "    AscendC::TensorDesc<uint8_t> desc;\n"
    "    desc.SetShapeAddr(shape);\n"
    "    list.GetDesc(desc, static_cast<uint32_t>(index));\n"
    "    int64_t size = 1;\n"
    "    for (uint64_t i = 0; i < desc.GetDim(); ++i) {\n"
    "        size *= static_cast<int64_t>(shape[i]);\n"
    "    }\n"
    "    return size;\n"
    "}\n"
    "\n";

static void put_text(Pen *pen, const char *text)
{
    buf_puts(pen->out, text);
    for (const char *c = text; *c; c++)
        pen->line += *c == '\n';
}

static void shift_line(LineAt *at, uint32_t shift)
{
    if (at->text)
        at->line += shift;
}

/* Lines of the text were counted before it was known how many helpers stand before it. */
static void shift_notes(LineNotes *notes, uint32_t shift)
{
    for (uint32_t i = 0; i < notes->stmt_count; i++)
        shift_line(&notes->stmt[i], shift);
    for (uint32_t k = 0; k < notes->kernel_count; k++) {
        for (uint32_t i = 0; i < notes->kernel[k].functions; i++)
            shift_line(&notes->kernel[k].function[i], shift);
        for (uint32_t i = 0; i < notes->kernel[k].buffers; i++)
            shift_line(&notes->kernel[k].buffer[i], shift);
    }
    shift_line(&notes->entry, shift);
}

/* Helpers come before the text that calls them, so that is written first, aside. */
void print_with_helpers(Pen *pen, const Pen *body)
{
    Str text = buf_view(body->out);
    print_helpers(pen, text, "__aicore__");
    if (str_find(text, STR("Order<")) >= 0) {
        if (pen->notes)
            pen->notes->order = pen->line + ORDER_SET_LINE;
        put_text(pen, order_text);
    }
    print_cube_helpers(pen, text);
    if (str_find(text, STR("ListSize(")) >= 0)
        put_text(pen, list_text);
    uint32_t shift = pen->line;
    if (pen->notes)
        shift_notes(pen->notes, shift);
    for (uint32_t i = 0; i < body->marks.len; i++)
        vec_push(pen->arena, &pen->marks,
                 ((LineMark){body->marks.at[i].line + shift, body->marks.at[i].craft}));
    buf_str(pen->out, text);
    pen->line += body->line;
}

/* The macro that tells this variant from the others: the first operand whose dtype differs. */
static const char *variant_test(Arena *arena, const EmitInput *in, uint32_t variant)
{
    static const char *const ge[DT_COUNT] = {
        [DT_F32] = "DT_FLOAT", [DT_F16] = "DT_FLOAT16", [DT_BF16] = "DT_BF16",
        [DT_I8] = "DT_INT8",   [DT_I16] = "DT_INT16",   [DT_I32] = "DT_INT32",
        [DT_I64] = "DT_INT64", [DT_U8] = "DT_UINT8",    [DT_BOOL] = "DT_BOOL"};
    const IrProgram *p = in->variants.at[variant]->ir;
    Buf test = {0};
    for (uint32_t i = 0; i < p->operand_count; i++) {
        bool differs = false;
        for (uint32_t v = 0; v < in->variants.len; v++)
            differs = differs ||
                      in->variants.at[v]->ir->tensors.at[i].dtype != p->tensors.at[i].dtype;
        if (!differs || !ge[p->tensors.at[i].dtype])
            continue;
        buf_printf(&test, "%sORIG_DTYPE_", test.len ? " && " : "");
        for (const char *c = p->tensors.at[i].name; *c; c++)
            buf_char(&test, (char)(*c >= 'a' && *c <= 'z' ? *c - 32 : *c));
        buf_printf(&test, " == %s", ge[p->tensors.at[i].dtype]);
    }
    char *text = buf_take(&test, arena);
    buf_free(&test);
    return text;
}

static bool has_list(const IrProgram *ir)
{
    for (uint32_t i = 0; i < ir->operand_count; i++)
        if (is_list(&ir->tensors.at[i]))
            return true;
    return false;
}

void print_kernel_file(Arena *arena, const EmitInput *in, Pen *pen)
{
    pen_line(pen, "// Written by acraft from %s; change it there.", craft_name(in));
    Str reason = in->variants.at[0]->ir->reason, line;
    while (str_next(&reason, '\n', &line))
        pen_line(pen, "// %.*s", STR_ARG(str_trim(line)));
    pen_line(pen, "#include \"kernel_operator.h\"");
    if (has_list(in->variants.at[0]->ir))
        pen_line(pen, "#include \"kernel_operator_list_tensor_intf.h\"");
    pen_blank(pen);
    Buf text = {0};
    Pen body = {.out = &text, .arena = arena, .notes = pen->notes};
    for (uint32_t v = 0; v < in->variants.len; v++) {
        Printer pr = printer_for(arena, in, in->variants.at[v], &body);
        if (in->variants.len > 1)
            pen_line(&body, "%s %s", v ? "#elif" : "#if", variant_test(arena, in, v));
        print_classes(&pr, LOWER_ALIGN);
        print_entry(&pr);
    }
    if (in->variants.len > 1)
        pen_line(&body, "#endif");
    print_with_helpers(pen, &body);
    buf_free(&text);
}

/* #line before every line: the compiler would count on. Lines before the first mark are nobody's. */
void print_lined(const Pen *pen, const char *file, Buf *out)
{
    Str rest = buf_view(pen->out), line;
    uint32_t next = 0, craft = 0;
    for (uint32_t n = 1; str_next(&rest, '\n', &line); n++) {
        for (; next < pen->marks.len && pen->marks.at[next].line <= n; next++)
            craft = pen->marks.at[next].craft;
        if (craft) {
            buf_printf(out, "#line %u \"", craft);
            for (const char *c = file; *c; c++)
                buf_printf(out, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
            buf_puts(out, "\"\n");
        }
        buf_printf(out, "%.*s\n", STR_ARG(line));
    }
}

void print_lines(Arena *arena, const EmitInput *in, LineNotes *notes)
{
    Buf text = {0};
    const AscProgram *p = in->variants.at[0];
    Pen pen = {.out = &text, .arena = arena, .notes = notes};
    *notes = (LineNotes){.stmt = arena_array(arena, LineAt, p->stmts.len + 1),
                         .kernel = arena_array(arena, LineKernel, p->kernels.len + 1),
                         .stmt_count = p->stmts.len,
                         .kernel_count = p->kernels.len};
    for (uint32_t k = 0; k < p->kernels.len; k++) {
        uint32_t functions = p->kernels.at[k].functions.len, buffers = p->kernels.at[k].buffers.len;
        notes->kernel[k] = (LineKernel){.function = arena_array(arena, LineAt, functions + 1),
                                        .buffer = arena_array(arena, LineAt, buffers + 1),
                                        .functions = functions,
                                        .buffers = buffers};
    }
    print_kernel_file(arena, in, &pen);
    buf_free(&text);
}

void emit_kernel_text(Arena *arena, const EmitInput *in, Buf *out)
{
    Buf plain = {0};
    Pen pen = {.out = in->lines ? &plain : out, .arena = arena};
    print_kernel_file(arena, in, &pen);
    if (in->lines)
        print_lined(&pen, in->file, out);
    buf_free(&plain);
}
