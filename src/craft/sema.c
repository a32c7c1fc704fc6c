/* The program: which functions and declarations a file has, which variant is built, and the
 * order of the work: names, declarations, host, kernels. In: CraftFile. Out: IrProgram. */
#include "craft/sema.h"

#include "craft/craft.h"
#include "craft/fn.h"
#include "ir/range.h"

static const Span first_line = {.line = 1, .col = 1, .width = 1};

/* ---- variants ---- */

static const AstExpr *declared(const AstStmt *stmt, const char *function)
{
    const AstExpr *v = stmt->value;
    bool call = stmt->kind == ST_ASSIGN && stmt->op == TOK_ASSIGN &&
                stmt->target->kind == EX_NAME && v->kind == EX_CALL && v->a->kind == EX_NAME &&
                str_is(v->a->text, function);
    return call ? v : NULL;
}

static uint32_t count_variants(const CraftFile *file)
{
    uint64_t n = 1;
    for (uint32_t i = 0; i < file->stmts.len; i++) {
        const AstExpr *call = declared(file->stmts.at[i], "dtype");
        if (call && call->items.len)
            n *= call->items.len;
        if (n > CRAFT_MAX_VARIANTS)
            return CRAFT_MAX_VARIANTS + 1;
    }
    return (uint32_t)n;
}

uint32_t craft_variant_count(const CraftFile *file)
{
    uint32_t n = count_variants(file);
    return n > CRAFT_MAX_VARIANTS ? CRAFT_MAX_VARIANTS : n;
}

/* ---- declarations ---- */

static void declare_dtype(Sema *s, const AstStmt *stmt, const AstExpr *call, uint32_t *variant)
{
    Str name = stmt->target->text;
    if (!call->items.len || call->keywords.len) {
        sema_error(s, CONSTANT, call->at, "T = dtype(f32, f16)",
                   "a dtype variable lists its values");
        sema_declare_value(s, name, stmt->target->at, "dtype", sema_bad(call->at));
        return;
    }
    Value v = {.kind = VAL_DTYPE, .at = call->at};
    uint32_t pick = *variant % call->items.len, seen = 0;
    *variant /= call->items.len;
    for (uint32_t i = 0; i < call->items.len; i++) {
        DType d;
        if (!sema_dtype(s, call->items.at[i], &d))
            continue;
        if (seen >> d & 1)
            sema_error(s, CONSTANT, call->items.at[i]->at, "name each dtype once",
                       "%s is listed twice", dtype_name(d));
        seen |= 1u << d;
        if (i == pick)
            v.dtype = d;
    }
    vec_push(s->arena, &s->ir->variant_names, str_dup(s->arena, name));
    vec_push(s->arena, &s->ir->variant_dtypes, v.dtype);
    sema_declare_value(s, name, stmt->target->at, "dtype", v);
}

static bool dim_bounds(Sema *s, const AstExpr *call, int64_t bounds[3])
{
    if (!sema_want_args(s, call, 1, 3, "of"))
        return false;
    for (uint32_t i = 0; i < call->items.len; i++)
        if (!sema_constant_int(s, call->items.at[i], &bounds[i]))
            return false;
    if (call->items.len == 1)
        bounds[1] = bounds[0];
    if (bounds[0] >= 0 && bounds[1] >= bounds[0] && bounds[1] <= INT64_C(1) << 40 &&
        bounds[2] >= 1 && bounds[0] % bounds[2] == 0)
        return true;
    int64_t m = bounds[2];
    if (m > 1 && bounds[0] >= 0 && bounds[1] >= bounds[0] && bounds[0] % m != 0)
        sema_error(s, CONSTANT, call->at,
                   sema_format(s, "dim(%lld, %lld, %lld)",
                               (long long)(bounds[0] < m ? m : bounds[0] / m * m + m),
                               (long long)bounds[1], (long long)m),
                   "the least size %lld is not a multiple of %lld", (long long)bounds[0],
                   (long long)m);
    else
        sema_error(s, CONSTANT, call->at,
                   "dim(least, most, multiple): 0 <= least <= most <= 2**40, multiple >= 1",
                   "no size is in %lld..%lld and a multiple of %lld", (long long)bounds[0],
                   (long long)bounds[1], (long long)m);
    return false;
}

static bool is_made_of_sizes(Sema *s, IrExprId id)
{
    const IrExpr *e = &s->ir->exprs.at[id];
    if (e->op == IR_E_VAR)
        return s->ir->vars.at[e->of.var].kind == IR_VAR_DIM;
    if (e->type != DT_I64 || e->op == IR_E_CHIP)
        return false;
    for (int i = 0; i < ir_expr_rows[e->op].arity; i++)
        if (!is_made_of_sizes(s, s->ir->exprs.at[id].arg[i]))
            return false;
    return true;
}

/* of=batch * steps: what a derived size is made of; 0: nothing, it is read from the operands. False:
 * reported. */
static bool derived_from(Sema *s, const AstExpr *call, const int64_t bounds[3], IrExprId *value)
{
    const AstExpr *of = sema_keyword(call, "of");
    *value = 0;
    if (!of)
        return true;
    *value = sema_integer(s, of);
    if (!*value)
        return false;
    if (bounds[0] < bounds[1] && s->ir->exprs.at[*value].op != IR_E_INT &&
        is_made_of_sizes(s, *value))
        return true;
    sema_error(s, DERIVED, of->at, "rows = dim(1, 1073741824, of=batch * steps)",
               bounds[0] < bounds[1] ? "a derived size is made of other sizes"
                                     : "a derived size has a range, not one value");
    return false;
}

static void declare_dim(Sema *s, const AstStmt *stmt, const AstExpr *call)
{
    Str name = stmt->target->text;
    int64_t bounds[3] = {0, 0, 1};
    IrExprId made_of = 0;
    Value v = sema_bad(call->at);
    if (dim_bounds(s, call, bounds) && derived_from(s, call, bounds, &made_of)) {
        IrVarId var = ir_var_new(s->ir, IR_VAR_DIM, str_dup(s->arena, name), DT_I64);
        IrVar *row = &s->ir->vars.at[var];
        row->lo = bounds[0];
        row->hi = bounds[1];
        row->multiple = bounds[2];
        row->value = made_of;
        row->at = stmt->at;
        vec_push(s->arena, &s->dim_symbols, var);
        v = sema_scalar_value(s, ir_var(s->ir, var), call->at);
    }
    sema_declare_value(s, name, stmt->target->at, "dim", v);
}

static void declare_constant(Sema *s, const AstStmt *stmt)
{
    Value v = sema_eval(s, stmt->value);
    IrExprOp op = v.kind == VAL_SCALAR ? s->ir->exprs.at[v.scalar].op : IR_E_NONE;
    bool constant = v.kind == VAL_STRING || v.kind == VAL_DTYPE || op == IR_E_INT ||
                    op == IR_E_FLOAT || op == IR_E_BOOL;
    if (!constant && v.kind != VAL_BAD) {
        sema_error(s, CONSTANT, stmt->value->at,
                   "numbers, strings, and what is computed from them; sizes are dim(...)",
                   "a declaration at file level is a constant");
        v = sema_bad(stmt->at);
    }
    sema_declare_value(s, stmt->target->text, stmt->target->at, "constant", v);
}

static void declaration(Sema *s, const AstStmt *stmt, uint32_t *variant)
{
    if (stmt->kind == ST_DEF || stmt->kind == ST_PASS ||
        (stmt->kind == ST_EXPR && stmt->value->kind == EX_STRING))
        return;
    if (stmt->kind != ST_ASSIGN || stmt->op != TOK_ASSIGN || stmt->target->kind != EX_NAME) {
        sema_error(s, TOP_LEVEL, stmt->at, "put it into a function",
                   "only declarations and functions stand at file level");
        return;
    }
    const AstExpr *dtype = declared(stmt, "dtype"), *dim = declared(stmt, "dim");
    if (str_is(stmt->target->text, "craft"))
        return;
    if (dtype)
        declare_dtype(s, stmt, dtype, variant);
    else if (dim)
        declare_dim(s, stmt, dim);
    else
        declare_constant(s, stmt);
}

static void check_version(Sema *s)
{
    for (uint32_t i = 0; i < s->file->stmts.len; i++) {
        const AstStmt *stmt = s->file->stmts.at[i];
        if (stmt->kind == ST_EXPR && stmt->value->kind == EX_STRING)
            continue;
        bool version = stmt->kind == ST_ASSIGN && stmt->target->kind == EX_NAME &&
                       str_is(stmt->target->text, "craft");
        if (version && stmt->value->kind == EX_INT && stmt->value->i == 1)
            return;
        sema_error(s, VERSION, stmt->at, "the first line is: craft = 1",
                   version ? "this is Craft 1" : "the file does not say 'craft = 1' first");
        return;
    }
    if (!s->unfinished)
        sema_error(s, VERSION, first_line, "the first line is: craft = 1", "the file is empty");
}

/* ---- functions ---- */

static bool role_words(const AstExpr *call, Symbol *sym)
{
    for (uint32_t i = 0; i < call->items.len; i++) {
        const AstExpr *word = call->items.at[i];
        if (word->kind == EX_NAME && str_is(word->text, "cube") && !sym->cube)
            sym->cube = true;
        else if (word->kind == EX_NAME && str_is(word->text, "vector") && !sym->vector)
            sym->vector = true;
        else if (word->kind == EX_NAME && str_is(word->text, "vector") && sym->cube && !sym->paired)
            sym->paired = true;
        else
            return false;
    }
    sym->vector = sym->vector || !call->items.len; /* @kernel() is @kernel */
    return !call->keywords.len && !(sym->paired && !sym->cube);
}

static bool read_decorator(const AstExpr *d, Symbol *sym)
{
    const AstExpr *name = d->kind == EX_CALL ? d->a : d;
    if (name->kind != EX_NAME)
        return false;
    if (d->kind == EX_NAME && str_is(name->text, "host")) {
        sym->role = DEF_HOST;
        return true;
    }
    if (!str_is(name->text, "kernel"))
        return false;
    sym->role = DEF_KERNEL;
    sym->vector = d->kind == EX_NAME;
    return d->kind == EX_NAME || role_words(d, sym);
}

static void declare_def(Sema *s, const AstStmt *stmt)
{
    static const char *const words[] = {"helper function", "host function", "kernel"};
    AstDef *def = stmt->def;
    Symbol made = {0};
    if (def->decorators.len > 1)
        sema_error(s, DEF, def->decorators.at[1]->at, NULL, "a function has one decorator");
    if (def->decorators.len && !read_decorator(def->decorators.at[0], &made))
        sema_error(
            s, DEF, def->decorators.at[0]->at,
            "@host, @kernel, @kernel(cube), @kernel(cube, vector), @kernel(cube, vector, vector)",
            "unknown decorator");
    uint32_t index = sema_declare(s, def->name, def->name_at, SYM_DEF, words[made.role]);
    Symbol *sym = &s->symbols.at[index];
    sym->def = def;
    sym->role = made.role;
    sym->cube = made.cube;
    sym->vector = made.vector;
    sym->paired = made.paired;
    if (made.role == DEF_HELPER && craft_fn_find(def->name))
        sema_error(s, REDEFINED, def->name_at, "choose another name",
                   "'%.*s' is a function of Craft", STR_ARG(def->name));
    for (uint32_t i = 0; i < def->params.len; i++)
        if (made.role == DEF_HELPER && (def->params.at[i].type || def->params.at[i].value))
            sema_error(s, DEF, def->params.at[i].at, "write the name alone",
                       "parameters of helpers have no type and no default");
}

static bool mentions(const StmtList *body, Str kernel)
{
    for (uint32_t i = 0; i < body->len; i++) {
        const AstExpr *v = body->at[i]->value;
        if ((v && body->at[i]->kind == ST_EXPR && v->kind == EX_CALL && v->a->kind == EX_INDEX &&
             v->a->a->kind == EX_NAME && str_equal(v->a->a->text, kernel)) ||
            mentions(&body->at[i]->body, kernel) || mentions(&body->at[i]->orelse, kernel))
            return true;
    }
    return false;
}

/* The one host function; UINT32_MAX: reported. */
static uint32_t find_host(Sema *s)
{
    uint32_t host = UINT32_MAX;
    for (uint32_t i = 0; i < s->symbols.len; i++) {
        const Symbol *sym = &s->symbols.at[i];
        if (sym->kind != SYM_DEF || sym->role != DEF_HOST)
            continue;
        if (host != UINT32_MAX)
            sema_error(s, HOST_COUNT, sym->at, "put the second operator into a file of its own",
                       "a second host function; the first is on line %u",
                       s->symbols.at[host].at.line);
        else
            host = i;
    }
    if (host == UINT32_MAX)
        sema_error(s, HOST_COUNT, first_line, "decorate the operator's function with @host",
                   "the file has no host function");
    return host;
}

/* The host function of a beginning; UINT32_MAX: it is not there yet. */
static uint32_t first_host(const Sema *s)
{
    for (uint32_t i = 0; i < s->symbols.len; i++)
        if (s->symbols.at[i].kind == SYM_DEF && s->symbols.at[i].role == DEF_HOST)
            return i;
    return UINT32_MAX;
}

static void check_launched(Sema *s, uint32_t host)
{
    for (uint32_t i = 0; i < s->symbols.len; i++) {
        const Symbol *sym = &s->symbols.at[i];
        if (sym->kind == SYM_DEF && sym->role == DEF_KERNEL &&
            !mentions(&s->symbols.at[host].def->body, sym->name))
            sema_error(s, NO_LAUNCH, sym->at, "launch it in the host function, or delete it",
                       "kernel '%.*s' is never launched", STR_ARG(sym->name));
    }
}

/* ---- dims ---- */

static bool is_read(Sema *s, IrVarId dim)
{
    for (uint32_t i = 0; i < s->read_dims.len; i++)
        if (s->read_dims.at[i] == dim)
            return true;
    return false;
}

static void check_dims(Sema *s)
{
    bool *used = arena_array(s->arena, bool, s->ir->vars.len + 1);
    for (uint32_t i = 1; i < s->ir->exprs.len; i++)
        if (s->ir->exprs.at[i].op == IR_E_VAR)
            used[s->ir->exprs.at[i].of.var] = true;
    for (uint32_t i = 0; i < s->dim_symbols.len; i++) {
        IrVarId dim = s->dim_symbols.at[i];
        const IrVar *v = &s->ir->vars.at[dim];
        if (v->lo == v->hi)
            continue;
        if (is_read(s, dim) || (ir_is_derived(v) && used[dim]))
            vec_push(s->arena, &s->ir->dims, dim);
        else if (used[dim])
            sema_error(s, DIM_UNREAD, v->at,
                       "let it stand alone as an axis of an input that is always there; the size "
                       "of an output is "
                       "an expression over such dims and attributes",
                       "the size '%s' cannot be read from any input", v->name);
    }
}

/* ---- the whole ---- */

static Str read_reason(Arena *arena, const CraftFile *file)
{
    Buf out = {0};
    const CommentList *above = file->stmts.len ? &file->stmts.at[0]->above : &file->stmts.after;
    for (uint32_t i = 0; i < above->len; i++) {
        Str text = above->at[i].text;
        buf_str(&out, str_trim(str_slice(text, 1, text.len)));
        buf_char(&out, '\n');
    }
    Str reason = str_copy(arena, str_trim(buf_view(&out)));
    buf_free(&out);
    return reason;
}

static void build(Sema *s, uint32_t variant)
{
    check_version(s);
    for (uint32_t i = 0; i < s->file->stmts.len; i++)
        if (s->file->stmts.at[i]->kind == ST_DEF)
            declare_def(s, s->file->stmts.at[i]);
    IrBlock none = {0};
    s->block = &none;
    s->in_host = true;
    s->stage = s->role = -1;
    for (uint32_t i = 0; i < s->file->stmts.len; i++)
        declaration(s, s->file->stmts.at[i], &variant);
    uint32_t host = s->unfinished ? first_host(s) : find_host(s);
    if (host == UINT32_MAX)
        return;
    s->ir->name = str_dup(s->arena, s->symbols.at[host].name);
    sema_host(s, host);
    for (uint32_t i = 0; i < s->symbols.len && !s->stopped; i++)
        if (s->symbols.at[i].kind == SYM_DEF && s->symbols.at[i].kernel)
            sema_kernel_body(s, i);
    if (s->unfinished)
        return;
    check_launched(s, host);
    check_dims(s);
}

/* All kernels of a file share one grid. Where kernels of two roles take one vector core beside each cube core, and none
 * takes two, chip.cores are as many as chip.cube_cores. */
static void count_cores(IrProgram *ir)
{
    bool both = false, paired = false;
    for (uint32_t i = 0; i < ir->kernels.len; i++) {
        both = both || (ir->kernels.at[i].has_cube && ir->kernels.at[i].has_vector);
        paired = paired || ir->kernels.at[i].paired;
    }
    both = both && !paired;
    for (uint32_t i = 0; both && i < ir->exprs.len; i++)
        if (ir->exprs.at[i].op == IR_E_CHIP && ir->exprs.at[i].of.fact == IR_CHIP_CORES)
            ir->exprs.at[i].of.fact = IR_CHIP_CUBE_CORES;
}

bool craft_check_beginning(Arena *arena, Str text, Diag *diag)
{
    CraftFile *file = craft_read(arena, "beginning", text, diag);
    if (!file || file->broken || !diag_ok(diag))
        return false;
    for (uint32_t v = 0; v < craft_variant_count(file) && diag_ok(diag); v++) {
        Sema s = {.arena = arena, .diag = diag, .file = file, .unfinished = true};
        s.ir = ir_program_new(arena, "", file->name);
        build(&s, v);
    }
    return diag_ok(diag);
}

IrProgram *craft_program(Arena *arena, const CraftFile *file, uint32_t variant, Diag *diag)
{
    if (file->broken)
        return NULL;
    Sema s = {.arena = arena, .diag = diag, .file = file};
    s.ir = ir_program_new(arena, "", file->name);
    s.ir->reason = read_reason(arena, file);
    if (count_variants(file) > CRAFT_MAX_VARIANTS)
        sema_error(&s, TOO_LARGE, first_line, NULL,
                   "the dtype variables have more than %d combinations", CRAFT_MAX_VARIANTS);
    else
        build(&s, variant);
    if (s.errors)
        return NULL;
    count_cores(s.ir);
    ir_annotate(s.ir, npu_chip_find(STR("910B2")));
    return s.ir;
}
