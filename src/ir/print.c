/* The text form of tile IR, written. In: a program. Out: text that ir_parse reads back to the
 * same program. One statement a line, two blanks a level; a view or access axis is
 * `start:+size`, a single index stands alone. A variable whose name is in use already gets 'k. */
#include "ir/ir_int.h"

#include "base/map.h"
#include <string.h>

typedef struct Printer {
    const IrProgram *p;
    Buf *out;
    const IrKernel *kernel; /* whose tensors and buffers names mean; NULL: the host's */
    uint32_t *nth;          /* per variable: 0, or k for the k-th of its name */
    int depth;
} Printer;

const char *const ir_role_names[] = {"in",      "out",      "inout",    "opt",
                                     "in_list", "out_list", "workspace"};
const char *const ir_memory_names[] = {"ub", "l1", "l0a", "l0b", "l0c", "channel"};
const char *const ir_layout_names[] = {"nd", "nz", "zn"};
const char *const ir_stage_names[] = {"copyin", "compute", "copyout"};
const char *const ir_atomic_names[] = {"store", "store_add", "store_max", "store_min"};
const char *const ir_loop_names[] = {"range", "tiles", "mine", "cyclic", "mine_list"};
const char *const ir_round_names[] = {"none", "rint", "floor", "ceil", "round", "trunc"};
const char *const ir_core_names[] = {"vector", "cube"};
const char *const ir_chip_names[] = {"cores", "cube_cores", "ub", "l1", "l0a", "l0b", "l0c", "l2"};

static void number_names(Printer *pr, Arena *scratch)
{
    Map seen = {0};
    pr->nth = arena_array(scratch, uint32_t, pr->p->vars.len);
    for (uint32_t i = 1; i < pr->p->vars.len; i++) {
        Str name = str_from(pr->p->vars.at[i].name);
        uint32_t count = 0;
        map_get(&seen, name, &count);
        pr->nth[i] = count;
        map_put(scratch, &seen, name, count + 1);
    }
}

static void put_var(Printer *pr, IrVarId var)
{
    buf_puts(pr->out, pr->p->vars.at[var].name);
    if (pr->nth && pr->nth[var])
        buf_printf(pr->out, "'%u", pr->nth[var] + 1);
}

static const IrTensor *tensor_at(const Printer *pr, uint32_t tensor)
{
    return pr->kernel ? &pr->kernel->tensors.at[tensor] : &pr->p->tensors.at[tensor];
}

static void put_expr(Printer *pr, IrExprId id);

static void put_args(Printer *pr, const IrExpr *e, int arity)
{
    buf_char(pr->out, '(');
    for (int i = 0; i < arity; i++) {
        if (i)
            buf_puts(pr->out, ", ");
        put_expr(pr, e->arg[i]);
    }
    buf_char(pr->out, ')');
}

static void put_float(Printer *pr, double value)
{
    size_t from = pr->out->len;
    buf_double(pr->out, value);
    const char *text = pr->out->at + from;
    if (!strpbrk(text, ".eni"))
        buf_puts(pr->out, ".0");
}

static bool is_infix(IrExprOp op)
{
    return ir_expr_rows[op].arity == 2 && op != IR_E_MIN && op != IR_E_MAX && op != IR_E_CEILDIV &&
           op != IR_E_ALIGN_UP && op != IR_E_ALIGN_DOWN;
}

static void put_expr(Printer *pr, IrExprId id)
{
    const IrExpr *e = &pr->p->exprs.at[id];
    const IrExprRow *row = &ir_expr_rows[e->op];
    switch (e->op) {
    case IR_E_NONE: buf_char(pr->out, '_'); return;
    case IR_E_INT: buf_printf(pr->out, "%lld", (long long)e->of.i); return;
    case IR_E_FLOAT: put_float(pr, e->of.f); return;
    case IR_E_BOOL: buf_puts(pr->out, e->of.i ? "True" : "False"); return;
    case IR_E_VAR: put_var(pr, e->of.var); return;
    case IR_E_CHIP: buf_printf(pr->out, "chip.%s", ir_chip_names[e->of.fact]); return;
    case IR_E_CORE_ID:
    case IR_E_VECTOR_ID:
    case IR_E_NUM_CORES: buf_printf(pr->out, "%s()", row->text); return;
    case IR_E_PRESENT:
    case IR_E_LIST_LEN:
        buf_printf(pr->out, "%s(%s)", row->text, tensor_at(pr, e->of.tensor)->name);
        return;
    case IR_E_LIST_SIZE:
        buf_printf(pr->out, "%s(%s, ", row->text, tensor_at(pr, e->of.tensor)->name);
        put_expr(pr, e->arg[0]);
        buf_char(pr->out, ')');
        return;
    default: break;
    }
    if (!is_infix(e->op)) {
        buf_puts(pr->out, row->text);
        put_args(pr, e, row->arity);
        return;
    }
    buf_char(pr->out, '(');
    put_expr(pr, e->arg[0]);
    buf_printf(pr->out, " %s ", row->text);
    put_expr(pr, e->arg[1]);
    buf_char(pr->out, ')');
}

static void put_axis(Printer *pr, IrExprId start, IrExprId size)
{
    put_expr(pr, start);
    if (size) {
        buf_puts(pr->out, ":+");
        put_expr(pr, size);
    }
}

static void put_view(Printer *pr, const IrView *v)
{
    const IrBuffer *b = &pr->kernel->buffers.at[v->buffer];
    buf_puts(pr->out, b->name);
    if (v->dtype != b->dtype)
        buf_printf(pr->out, " as %s", dtype_name(v->dtype));
    buf_char(pr->out, '[');
    if (v->row) {
        buf_char(pr->out, '@');
        put_expr(pr, v->row);
        buf_puts(pr->out, ", ");
    }
    for (uint32_t i = 0; i < v->rank; i++) {
        if (i)
            buf_puts(pr->out, ", ");
        put_axis(pr, v->start[i], v->size[i]);
    }
    buf_char(pr->out, ']');
}

static void put_access(Printer *pr, const IrAccess *a)
{
    buf_printf(pr->out, "%s%s", a->flat ? "flat " : "", tensor_at(pr, a->tensor)->name);
    if (a->item) {
        buf_char(pr->out, '{');
        put_expr(pr, a->item);
        buf_char(pr->out, '}');
    }
    buf_char(pr->out, '[');
    for (uint32_t i = 0; i < a->rank; i++) {
        if (i)
            buf_puts(pr->out, ", ");
        put_axis(pr, a->start[i], a->size[i]);
    }
    buf_char(pr->out, ']');
}

static void begin_line(Printer *pr) { buf_fill(pr->out, ' ', (size_t)pr->depth * 2); }

static void put_block(Printer *pr, const IrBlock *block);

static void put_body(Printer *pr, const IrBlock *block)
{
    pr->depth++;
    put_block(pr, block);
    pr->depth--;
}

static void put_end(Printer *pr)
{
    begin_line(pr);
    buf_puts(pr->out, "end\n");
}

/* name in lo..hi [step s | by tile] */
static void put_loop_axis(Printer *pr, const IrAxis *a)
{
    const char *name = pr->p->vars.at[a->range.start].name;
    if (a->tile) { /* "t.start" stands for the range "t" */
        Str base = str_from(name);
        base.len -= strlen(".start");
        buf_str(pr->out, base);
        if (pr->nth[a->range.start])
            buf_printf(pr->out, "'%u", pr->nth[a->range.start] + 1);
    } else {
        put_var(pr, a->range.start);
    }
    buf_puts(pr->out, " in ");
    put_expr(pr, a->lo);
    buf_puts(pr->out, "..");
    put_expr(pr, a->hi);
    if (a->step) {
        buf_puts(pr->out, " step ");
        put_expr(pr, a->step);
    }
    if (a->tile) {
        buf_puts(pr->out, " by ");
        put_expr(pr, a->tile);
    }
}

static void put_for(Printer *pr, const IrStmt *s)
{
    buf_printf(pr->out, "for %s%s ", s->alternate ? "alternate " : "", ir_loop_names[s->loop]);
    if (s->loop == IR_LOOP_MINE_LIST)
        buf_printf(pr->out, "%s ", tensor_at(pr, s->list)->name);
    for (uint32_t i = 0; i < s->axis_count; i++) {
        if (i)
            buf_puts(pr->out, ", ");
        put_loop_axis(pr, &s->axes[i]);
    }
    buf_char(pr->out, '\n');
    put_body(pr, &s->body);
    put_end(pr);
}

static void put_if(Printer *pr, const IrStmt *s)
{
    buf_puts(pr->out, "if ");
    put_expr(pr, s->cond);
    buf_char(pr->out, '\n');
    put_body(pr, &s->body);
    if (s->orelse.len) {
        begin_line(pr);
        buf_puts(pr->out, "else\n");
        put_body(pr, &s->orelse);
    }
    put_end(pr);
}

static void put_share(Printer *pr, const IrStmt *s)
{
    Str base = str_from(pr->p->vars.at[s->axes[0].range.start].name);
    base.len -= strlen(".start");
    buf_puts(pr->out, "share ");
    buf_str(pr->out, base);
    if (pr->nth[s->axes[0].range.start])
        buf_printf(pr->out, "'%u", pr->nth[s->axes[0].range.start] + 1);
    buf_puts(pr->out, " of ");
    put_expr(pr, s->axes[0].hi);
    buf_puts(pr->out, " align ");
    put_expr(pr, s->align);
    buf_char(pr->out, '\n');
}

static void put_op(Printer *pr, const IrStmt *s)
{
    if (s->var) {
        put_var(pr, s->var);
        buf_puts(pr->out, " = ");
    }
    buf_puts(pr->out, ir_tile_ops[s->op].name);
    if (s->round)
        buf_printf(pr->out, ".%s", ir_round_names[s->round]);
    if (s->dst.rank) {
        buf_char(pr->out, ' ');
        put_view(pr, &s->dst);
    }
    if (s->dst2.rank) {
        buf_puts(pr->out, ", ");
        put_view(pr, &s->dst2);
    }
    buf_puts(pr->out, " <-");
    for (uint32_t i = 0; i < s->src_count; i++) {
        buf_puts(pr->out, i ? ", " : " ");
        put_view(pr, &s->src[i]);
    }
    for (uint32_t i = 0; i < s->scalar_count; i++) {
        buf_puts(pr->out, i + s->src_count ? ", " : " ");
        put_expr(pr, s->scalar[i]);
    }
    buf_char(pr->out, '\n');
}

static void put_load(Printer *pr, const IrStmt *s)
{
    buf_puts(pr->out, s->transpose ? "load_transposed " : "load ");
    put_view(pr, &s->dst);
    buf_puts(pr->out, " <- ");
    if (s->src_count)
        put_view(pr, &s->src[0]);
    else
        put_access(pr, &s->access);
    if (s->pad) {
        buf_puts(pr->out, " pad ");
        put_expr(pr, s->pad);
    }
    buf_char(pr->out, '\n');
}

static void put_launch(Printer *pr, const IrStmt *s)
{
    buf_printf(pr->out, "launch %s [", pr->p->kernels.at[s->kernel].name);
    put_expr(pr, s->cores);
    buf_puts(pr->out, "] (");
    for (uint32_t i = 0; i < s->args.len; i++) {
        const IrArg *a = &s->args.at[i];
        if (i)
            buf_puts(pr->out, ", ");
        if (a->is_tensor)
            buf_puts(pr->out, pr->p->tensors.at[a->tensor].name);
        else
            put_expr(pr, a->value);
    }
    buf_puts(pr->out, ")\n");
}

static void put_stmt(Printer *pr, const IrStmt *s)
{
    Buf *out = pr->out;
    begin_line(pr);
    switch (s->kind) {
    case IR_S_FOR: put_for(pr, s); return;
    case IR_S_IF: put_if(pr, s); return;
    case IR_S_STAGE:
        buf_printf(out, "%s\n", ir_stage_names[s->stage]);
        put_body(pr, &s->body);
        put_end(pr);
        return;
    case IR_S_ROLE:
        buf_printf(out, "role %s\n", ir_core_names[s->core]);
        put_body(pr, &s->body);
        put_end(pr);
        return;
    case IR_S_SHARE: put_share(pr, s); return;
    case IR_S_ASSIGN:
        put_var(pr, s->var);
        buf_puts(out, " = ");
        put_expr(pr, s->value);
        break;
    case IR_S_GM_READ:
        put_var(pr, s->var);
        buf_puts(out, " = read ");
        put_access(pr, &s->access);
        break;
    case IR_S_GM_WRITE:
        buf_puts(out, "write ");
        put_access(pr, &s->access);
        buf_puts(out, " <- ");
        put_expr(pr, s->value);
        break;
    case IR_S_LOAD: put_load(pr, s); return;
    case IR_S_STORE:
        buf_printf(out, "%s ", ir_atomic_names[s->atomic]);
        put_access(pr, &s->access);
        buf_puts(out, " <- ");
        put_view(pr, &s->src[0]);
        break;
    case IR_S_OP: put_op(pr, s); return;
    case IR_S_SYNC_ALL: buf_puts(out, "sync_all"); break;
    case IR_S_SEND:
    case IR_S_RECV:
        buf_puts(out, s->kind == IR_S_SEND ? "send " : "recv ");
        put_view(pr, &s->dst);
        buf_puts(out, " <- ");
        put_view(pr, &s->src[0]);
        break;
    case IR_S_ASSERT:
        buf_puts(out, "assert ");
        put_expr(pr, s->cond);
        buf_char(out, ' ');
        buf_json_str(out, str_from(s->text));
        break;
    case IR_S_WORKSPACE: buf_printf(out, "workspace %s", pr->p->tensors.at[s->tensor].name); break;
    case IR_S_LAUNCH: put_launch(pr, s); return;
    }
    buf_char(out, '\n');
}

static void put_block(Printer *pr, const IrBlock *block)
{
    for (uint32_t i = 0; i < block->len; i++)
        put_stmt(pr, &pr->p->stmts.at[block->at[i]]);
}

static void put_shape(Printer *pr, const IrExprId *shape, uint32_t rank)
{
    buf_puts(pr->out, " [");
    for (uint32_t i = 0; i < rank; i++) {
        if (i)
            buf_puts(pr->out, ", ");
        put_expr(pr, shape[i]);
    }
    buf_char(pr->out, ']');
}

static void put_tensor(Printer *pr, const char *word, const IrTensor *t)
{
    begin_line(pr);
    buf_printf(pr->out, "%s %s %s %s", word, t->name, ir_role_names[t->role], dtype_name(t->dtype));
    if (t->role != IR_ROLE_IN_LIST && t->role != IR_ROLE_OUT_LIST)
        put_shape(pr, t->shape, t->rank);
    buf_puts(pr->out, t->pairs ? " pairs" : "");
    buf_puts(pr->out, t->upto ? " upto\n" : "\n");
}

/* word name dtype [lo..hi] [multiple m] [= value] [choices] */
static void put_var_line(Printer *pr, const char *word, IrVarId id)
{
    const IrVar *v = &pr->p->vars.at[id];
    begin_line(pr);
    buf_printf(pr->out, "%s ", word);
    put_var(pr, id);
    buf_printf(pr->out, " %s", dtype_name(v->type));
    if (v->lo != INT64_MIN || v->hi != INT64_MAX)
        buf_printf(pr->out, " %lld..%lld", (long long)v->lo, (long long)v->hi);
    if (v->multiple > 1)
        buf_printf(pr->out, " multiple %lld", (long long)v->multiple);
    if (v->value) {
        buf_puts(pr->out, " = ");
        put_expr(pr, v->value);
    }
    for (uint32_t i = 0; i < v->choices.len; i++)
        buf_printf(pr->out, "%s%lld", i ? ", " : " choose ", (long long)v->choices.at[i]);
    buf_char(pr->out, '\n');
}

static void put_buffer(Printer *pr, const IrBuffer *b)
{
    begin_line(pr);
    buf_printf(pr->out, "%s %s %s", b->mask ? "mask" : ir_memory_names[b->memory], b->name,
               dtype_name(b->dtype));
    put_shape(pr, b->shape, b->rank);
    if (b->depth) {
        buf_puts(pr->out, " depth ");
        put_expr(pr, b->depth);
    }
    if (b->layout != IR_ND)
        buf_printf(pr->out, " layout %s", ir_layout_names[b->layout]);
    if (b->scratch)
        buf_puts(pr->out, " scratch");
    buf_char(pr->out, '\n');
}

static void put_kernel(Printer *pr, uint32_t index)
{
    const IrKernel *k = &pr->p->kernels.at[index];
    pr->kernel = k;
    buf_printf(pr->out, "kernel %s%s%s%s\n", k->name, k->has_vector ? " vector" : "",
               k->has_cube ? " cube" : "", k->paired ? " paired" : "");
    pr->depth++;
    for (uint32_t i = 0; i < k->params.len; i++) {
        const IrArg *a = &k->params.at[i];
        if (a->is_tensor)
            put_tensor(pr, "tensor", &k->tensors.at[a->tensor]);
        else
            put_var_line(pr, "param", pr->p->exprs.at[a->value].of.var);
    }
    for (uint32_t i = 0; i < k->buffers.len; i++)
        put_buffer(pr, &k->buffers.at[i]);
    for (uint32_t i = 1; i < pr->p->vars.len; i++)
        if (pr->p->vars.at[i].kind == IR_VAR_LOCAL && pr->p->vars.at[i].kernel == index)
            put_var_line(pr, "local", i);
    put_block(pr, &k->body);
    pr->depth--;
    pr->kernel = NULL;
    buf_puts(pr->out, "end\n");
}

static void put_host(Printer *pr)
{
    const IrProgram *p = pr->p;
    static const char *const words[] = {[IR_VAR_DIM] = "dim",
                                        [IR_VAR_ATTR] = "attr",
                                        [IR_VAR_CHOICE] = "choice",
                                        [IR_VAR_HOST] = "value"};
    for (uint32_t i = 1; i < p->vars.len; i++)
        if (p->vars.at[i].kind <= IR_VAR_HOST)
            put_var_line(pr, words[p->vars.at[i].kind], i);
    for (uint32_t i = 0; i < p->tensors.len; i++)
        put_tensor(pr, "tensor", &p->tensors.at[i]);
    buf_puts(pr->out, "host\n");
    put_body(pr, &p->host);
    buf_puts(pr->out, "end\n");
}

void ir_print(const IrProgram *p, Buf *out)
{
    Arena scratch = {0};
    Printer pr = {.p = p, .out = out};
    number_names(&pr, &scratch);
    buf_printf(out, "tile_ir 1\nprogram %s\n", p->name);
    for (uint32_t i = 0; i < p->variant_names.len; i++)
        buf_printf(out, "variant %s = %s\n", p->variant_names.at[i],
                   dtype_name(p->variant_dtypes.at[i]));
    put_host(&pr);
    for (uint32_t i = 0; i < p->kernels.len; i++)
        put_kernel(&pr, i);
    arena_drop(&scratch);
}

/* A kernel's own tensors are named through `kernel`; NULL means the host's. */
void ir_print_expr(const IrProgram *p, const IrKernel *kernel, IrExprId e, Buf *out)
{
    Printer pr = {.p = p, .out = out, .kernel = kernel};
    put_expr(&pr, e);
}
