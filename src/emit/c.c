/* The C target's frame: the file, the host function, the launches. In: a verified program. Out:
 * one C file. Cores of a kernel without sync_all are iterations of a parallel loop; with it, or
 * with two roles, they are threads of one team. */
#include "emit/c_int.h"

static const char *scalar_type(DType t) { return t == DT_F32 ? "float" : "int64_t"; }

static bool is_list(const IrTensor *t)
{
    return t->role == IR_ROLE_IN_LIST || t->role == IR_ROLE_OUT_LIST;
}

static void write_refusal(CWriter *w, const char *cond, const char *text)
{
    Buf quoted = {0};
    c_string(&quoted, text);
    c_line(w, "if (%s)", cond);
    c_line(w, "    return refuse(args, %s);", quoted.at);
    buf_free(&quoted);
}

/* ---- operands ---- */

static void read_dims(CWriter *w)
{
    const IrProgram *p = w->p;
    for (uint32_t d = 0; d < p->dims.len; d++) {
        const IrVar *v = &p->vars.at[p->dims.at[d]];
        if (v->lo == v->hi)
            c_line(w, "int64_t %s = %lld;", c_var(w, p->dims.at[d]), (long long)v->lo);
        else
            c_line(w, "int64_t %s = -1;", c_var(w, p->dims.at[d]));
        c_line(w, "(void)%s;", c_var(w, p->dims.at[d]));
    }
    for (uint32_t i = 0; i < p->operand_count; i++) {
        const IrTensor *t = &p->tensors.at[i];
        if (is_list(t))
            continue;
        for (uint32_t a = 0; a < t->rank; a++) {
            const IrExpr *e = &p->exprs.at[t->shape[a]];
            if (e->op != IR_E_VAR || p->vars.at[e->of.var].kind != IR_VAR_DIM ||
                ir_is_derived(&p->vars.at[e->of.var]))
                continue;
            c_line(w, "if (args->operands[%u].count > 0)", i);
            c_line(w, "    %s = args->operands[%u].items[0].dims[%u];", c_var(w, e->of.var), i, a);
        }
    }
}

static void check_dims(CWriter *w)
{
    const IrProgram *p = w->p;
    for (uint32_t d = 0; d < p->dims.len; d++) {
        const IrVar *v = &p->vars.at[p->dims.at[d]];
        const char *name = c_var(w, p->dims.at[d]);
        if (ir_is_derived(v))
            c_line(w, "%s = %s;", name, c_text(w, v->value));
        const char *cond = str_format(w->scratch, "%s < %lld || %s > %lld || %s %% %lld != 0", name,
                                      (long long)v->lo, name, (long long)v->hi, name,
                                      (long long)v->multiple);
        if (v->lo != v->hi)
            write_refusal(w, cond,
                          str_format(w->scratch, "the size %s is outside its range", v->name));
    }
}

static void read_attrs(CWriter *w)
{
    const IrProgram *p = w->p;
    for (uint32_t i = 0; i < p->attrs.len; i++) {
        DType type = p->vars.at[p->attrs.at[i]].type;
        c_line(w, "const %s %s = args->%s[%u];", scalar_type(type), c_var(w, p->attrs.at[i]),
               type == DT_F32 ? "floats" : "ints", i);
        c_line(w, "(void)%s;", c_var(w, p->attrs.at[i]));
    }
    uint32_t choice = 0;
    for (uint32_t i = 1; i < p->vars.len; i++) {
        const IrVar *v = &p->vars.at[i];
        if (v->kind == IR_VAR_CHOICE)
            c_line(w, "const int64_t %s = args->choices ? args->choices[%u] : %lld;", c_var(w, i),
                   choice++, (long long)v->choices.at[0]);
        if (v->kind == IR_VAR_HOST)
            c_line(w, "%s %s = 0;", scalar_type(v->type), c_var(w, i));
        if (v->kind == IR_VAR_CHOICE || v->kind == IR_VAR_HOST)
            c_line(w, "(void)%s;", c_var(w, i));
    }
}

static void bind_list(CWriter *w, const IrTensor *t, uint32_t i)
{
    c_line(w, "Gm *items_%s = take(pool, (args->operands[%u].count + 1) * (int64_t)sizeof(Gm));",
           t->name, i);
    c_line(w, "for (int64_t i = 0; i < args->operands[%u].count; i++) {", i);
    c_line(w, "    const CraftTensor *t = &args->operands[%u].items[i];", i);
    c_line(w, "    items_%s[i] = (Gm){.data = t->data, .count = 1};", t->name);
    c_line(w, "    for (int64_t a = 0; a < t->rank; a++)");
    c_line(w, "        items_%s[i].count *= t->dims[a];", t->name);
    c_line(w, "}");
    c_line(w, "const GmList gm_%s = {args->operands[%u].count, items_%s};", t->name, i, t->name);
    c_line(w, "(void)gm_%s;", t->name);
}

/* .count = a * b, .dims = {a, b} */
static void put_shape(CWriter *w, const IrTensor *t)
{
    c_line(w, "gm_%s.count = 1;", t->name);
    for (uint32_t a = 0; a < t->rank; a++) {
        c_line(w, "gm_%s.dims[%u] = %s;", t->name, a, c_text(w, t->shape[a]));
        c_line(w, "gm_%s.count *= gm_%s.dims[%u];", t->name, t->name, a);
    }
}

static void bind_tensor(CWriter *w, const IrTensor *t, uint32_t i)
{
    c_line(w, "Gm gm_%s = {0};", t->name);
    c_line(w, "if (args->operands[%u].count > 0) {", i);
    w->depth++;
    c_line(w, "const CraftTensor *t = &args->operands[%u].items[0];", i);
    c_line(w, "gm_%s.data = t->data;", t->name);
    put_shape(w, t);
    write_refusal(w, str_format(w->scratch, "t->rank != %u", t->rank),
                  str_format(w->scratch, "'%s' has the wrong number of axes", t->name));
    for (uint32_t a = 0; a < t->rank; a++)
        write_refusal(w, str_format(w->scratch, "t->dims[%u] != gm_%s.dims[%u]", a, t->name, a),
                      str_format(w->scratch, "axis %u of '%s' has the wrong size", a, t->name));
    w->depth--;
    c_line(w, "}");
    if (t->role != IR_ROLE_OPT)
        write_refusal(w, str_format(w->scratch, "args->operands[%u].count < 1", i),
                      str_format(w->scratch, "'%s' is not given", t->name));
    c_line(w, "(void)gm_%s;", t->name);
}

static void bind_operands(CWriter *w)
{
    for (uint32_t i = 0; i < w->p->operand_count; i++) {
        const IrTensor *t = &w->p->tensors.at[i];
        if (is_list(t))
            bind_list(w, t, i);
        else
            bind_tensor(w, t, i);
    }
    for (uint32_t i = w->p->operand_count; i < w->p->tensors.len; i++)
        c_line(w, "Gm gm_%s = {0};", w->p->tensors.at[i].name);
}

/* ---- launches ---- */

static bool same_shape(const CWriter *w, const IrTensor *want, const IrTensor *have)
{
    bool list = want->role == IR_ROLE_IN_LIST || want->role == IR_ROLE_OUT_LIST;
    bool same = list || want->rank == have->rank;
    for (uint32_t a = 0; a < want->rank && same && !list; a++)
        same = ir_same(w->p, want->shape[a], have->shape[a]);
    return same;
}

/* A tensor that the kernel sees under another shape; its sizes may be scalars of the kernel. */
static void reshape(CWriter *w, const IrKernel *k, const IrTensor *want, const IrTensor *have)
{
    if (same_shape(w, want, have))
        return;
    c_line(w, "{");
    w->depth++;
    for (uint32_t i = 0; i < k->params.len; i++)
        if (!k->params.at[i].is_tensor) {
            IrVarId var = w->p->exprs.at[k->params.at[i].value].of.var;
            c_line(w, "const %s %s = k.%s;", scalar_type(w->p->vars.at[var].type), c_var(w, var),
                   c_var(w, var));
            c_line(w, "(void)%s;", c_var(w, var));
        }
    for (uint32_t a = 0; a < want->rank; a++)
        c_line(w, "k.t_%s.dims[%u] = %s;", want->name, a, c_text(w, want->shape[a]));
    w->depth--;
    c_line(w, "}");
}

static void pass_arguments(CWriter *w, const IrStmt *s, const IrKernel *k)
{
    const IrProgram *p = w->p;
    bool other = false;
    for (uint32_t i = 0; i < k->params.len; i++)
        other = other ||
                (k->params.at[i].is_tensor && !same_shape(w, &k->tensors.at[k->params.at[i].tensor],
                                                          &p->tensors.at[s->args.at[i].tensor]));
    c_line(w, "%sKernel%u k = {", other ? "" : "const ", s->kernel);
    c_line(w, "    .chip = args->chip,");
    for (uint32_t i = 0; i < p->dims.len; i++)
        c_line(w, "    .%s = %s,", c_var(w, p->dims.at[i]), c_var(w, p->dims.at[i]));
    for (uint32_t i = 0; i < k->params.len; i++) {
        const IrArg *want = &k->params.at[i], *have = &s->args.at[i];
        if (want->is_tensor)
            c_line(w, "    .t_%s = gm_%s,", k->tensors.at[want->tensor].name,
                   p->tensors.at[have->tensor].name);
        else
            c_line(w, "    .%s = %s,", c_var(w, p->exprs.at[want->value].of.var),
                   c_text(w, have->value));
    }
    c_line(w, "};");
    for (uint32_t i = 0; i < k->params.len; i++)
        if (k->params.at[i].is_tensor)
            reshape(w, k, &k->tensors.at[k->params.at[i].tensor],
                    &p->tensors.at[s->args.at[i].tensor]);
}

static void directive(CWriter *w, const char *text)
{
    buf_printf(w->out, "#ifdef _OPENMP\n#pragma omp %s\n#endif\n", text);
}

static void launch_loop(CWriter *w, const IrKernel *k)
{
    directive(w, "parallel for schedule(dynamic)");
    c_line(w, "for (int64_t core = 0; core < cores; core++)");
    c_line(w, "    kernel_%s(&k, core, cores);", k->name);
}

/* One thread for each core, or for each role of each core. */
static void launch_team(CWriter *w, const IrStmt *s, const IrKernel *k)
{
    bool both = k->has_cube && k->has_vector;
    if (both) {
        c_line(w, "Channels%u *channels = take(pool, cores * (int64_t)sizeof(Channels%u));",
               s->kernel, s->kernel);
        c_line(w, "for (int64_t core = 0; core < cores; core++)");
        c_line(w, "    channels_%s(&k, pool, &channels[core]);", k->name);
    }
    int roles = both ? 2 + k->paired : 1;
    c_line(w, "const int threads = (int)cores * %d;", roles);
    c_line(w, "int missing = 0;");
    c_line(w, "omp_set_dynamic(0);");
    buf_puts(w->out, "#pragma omp parallel num_threads(threads)\n");
    c_line(w, "{");
    c_line(w, "    const int64_t id = omp_get_thread_num();");
    c_line(w, "    if (omp_get_num_threads() == threads)");
    if (both) /* the vector role of the first, the cube, perhaps a second vector core */
        c_line(w,
               "        kernel_%s(&k, id / %d, cores, (int)(id %% %d == 1), (int)(id %% %d / 2), "
               "channels);",
               k->name, roles, roles, roles);
    else
        c_line(w, "        kernel_%s(&k, id, cores);", k->name);
    c_line(w, "    else if (id == 0)");
    c_line(w, "        missing = 1;");
    c_line(w, "}");
    write_refusal(w, "missing", "the machine does not give a thread to every core");
}

static void launch(CWriter *w, const IrStmt *s)
{
    const IrKernel *k = &w->p->kernels.at[s->kernel];
    c_line(w, "{ /* line %u */", s->at.line);
    w->depth++;
    c_line(w, "const int64_t cores = %s;", c_text(w, s->cores));
    pass_arguments(w, s, k);
    write_refusal(w, "cores < 1", str_format(w->scratch, "'%s' is launched on no core", k->name));
    if ((k->has_cube && k->has_vector) || c_waits(w->p, &k->body))
        launch_team(w, s, k);
    else
        launch_loop(w, k);
    w->depth--;
    c_line(w, "}");
}

/* ---- the host function ---- */

static void host_block(CWriter *w, const IrBlock *block);

static void host_if(CWriter *w, const IrStmt *s)
{
    c_line(w, "if (%s) {", c_bare(w, s->cond));
    w->depth++;
    host_block(w, &s->body);
    w->depth--;
    if (s->orelse.len) {
        c_line(w, "} else {");
        w->depth++;
        host_block(w, &s->orelse);
        w->depth--;
    }
    c_line(w, "}");
}

static void host_block(CWriter *w, const IrBlock *block)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &w->p->stmts.at[block->at[i]];
        switch (s->kind) {
        case IR_S_IF: host_if(w, s); break;
        case IR_S_ASSIGN: c_line(w, "%s = %s;", c_var(w, s->var), c_bare(w, s->value)); break;
        case IR_S_ASSERT:
            write_refusal(w, str_format(w->scratch, "!(%s)", c_bare(w, s->cond)), s->text);
            break;
        case IR_S_WORKSPACE: {
            const IrTensor *t = &w->p->tensors.at[s->tensor];
            put_shape(w, t);
            c_line(w, "gm_%s.data = take(pool, gm_%s.count * %d);", t->name, t->name,
                   (int)dtype_bytes(t->dtype));
            break;
        }
        case IR_S_LAUNCH: launch(w, s); break;
        default: panic("a kernel statement in the host");
        }
    }
}

static void host(CWriter *w)
{
    c_line(w, "static int host_%s(const CraftArgs *args, Pool *pool)", w->p->name);
    c_line(w, "{");
    w->depth++;
    c_line(w, "(void)pool;");
    read_dims(w);
    check_dims(w);
    read_attrs(w);
    bind_operands(w);
    host_block(w, &w->p->host);
    c_line(w, "return 0;");
    w->depth--;
    c_line(w, "}\n");
    c_line(w, "int craft_entry(const CraftArgs *args)");
    c_line(w, "{");
    c_line(w, "    Pool pool = {0};");
    c_line(w, "    int status = host_%s(args, &pool);", w->p->name);
    c_line(w, "    drop(&pool);");
    c_line(w, "    return status;");
    c_line(w, "}");
}

static bool needs_team(const IrProgram *p)
{
    for (uint32_t i = 0; i < p->kernels.len; i++) {
        const IrKernel *k = &p->kernels.at[i];
        if ((k->has_cube && k->has_vector) || c_waits(p, &k->body))
            return true;
    }
    return false;
}

bool emit_c(const IrProgram *p, Buf *out, Diag *diag)
{
    Buf body = {0};
    Arena scratch = {0};
    CWriter w = {.p = p, .out = &body, .scratch = &scratch};
    (void)diag;
    for (uint32_t i = 0; i < p->kernels.len; i++)
        c_kernel(&w, i);
    host(&w);
    buf_printf(out, "/* %s: made from tile IR by acraft. */\n", p->name);
    if (needs_team(p))
        buf_puts(out, "#ifndef _OPENMP\n#error \"cores wait for each other: compile with "
                      "-fopenmp\"\n#endif\n");
    c_prelude(out, &body);
    buf_str(out, buf_view(&body));
    buf_free(&body);
    arena_drop(&scratch);
    return true;
}
