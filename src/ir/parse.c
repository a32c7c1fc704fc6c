/* The text form of tile IR, read. In: text as ir_print writes it (docs/formats.md has the
 * grammar). Out: the program, or errors I001, I002; it is not verified yet. Printing what was
 * read gives the text back byte for byte: expressions are folded already, and variables get
 * the order in which the printer met them. */
#include "ir/parse_int.h"

enum { MAX_TEXT = 4 << 20, MAX_VARS = 1 << 16 };

/* ---- ranges of all loops, found before reading ---- */

static bool ends_operand(const IrToken *t)
{
    return t->kind == IR_TOK_NUMBER || (t->kind == IR_TOK_SIGN && str_is(t->text, ")")) ||
           (t->kind == IR_TOK_NAME && !str_is(t->text, "step") && !str_is(t->text, "by"));
}

/* for KIND name['k] in ... by ..., name['k] in ... */
static void scan_loop(IrReader *r, uint32_t at)
{
    IrTiled axis = {0};
    const IrToken *t = r->tokens.at;
    for (; t[at].kind != IR_TOK_LINE && t[at].kind != IR_TOK_END; at++) {
        bool name = t[at].kind == IR_TOK_NAME && at > 0;
        if (name && str_is(t[at].text, "in")) {
            bool numbered = t[at - 1].kind == IR_TOK_NUMBER && at > 3;
            int64_t nth = 1;
            if (numbered && (!str_to_i64(t[at - 1].text, &nth) || nth < 0 || nth > MAX_VARS))
                nth = 1;
            axis = (IrTiled){t[at - (numbered ? 3 : 1)].text, (uint32_t)nth};
        } else if (name && str_is(t[at].text, "by") && ends_operand(&t[at - 1]) && axis.nth) {
            vec_push(&r->scratch, &r->tiled, axis);
            axis.nth = 0;
        }
    }
}

static void scan_loops(IrReader *r)
{
    for (uint32_t i = 0; i < r->tokens.len; i++) {
        bool first = i == 0 || r->tokens.at[i - 1].kind == IR_TOK_LINE;
        if (first && r->tokens.at[i].kind == IR_TOK_NAME && str_is(r->tokens.at[i].text, "for"))
            scan_loop(r, i);
    }
}

/* ---- the order of variables ---- */

/* Lines of one section and variables of one name keep their order; any order that does so
 * prints as before. Each variable waits for at most two others. */
typedef struct Order {
    IrReader *r;
    uint32_t *before; /* per variable: the one of its name with the next smaller number */
    uint32_t *place;  /* old -> new */
    uint8_t *state;   /* 0 untouched, 1 under way, 2 placed */
    VEC(uint32_t) stack;
    uint32_t placed;
} Order;

static bool find_predecessors(Order *o)
{
    IrReader *r = o->r;
    for (uint32_t i = 1; i < r->p->vars.len; i++) {
        if (r->nth.at[i] < 2)
            continue;
        Str key = str_from(
            str_format(&r->scratch, "%s'%u", r->p->vars.at[i].name, r->nth.at[i] - 1));
        if (!map_get(&r->vars, key, &o->before[i]))
            return read_fail(r, str_format(&r->scratch, "a variable %s", key.at));
    }
    return true;
}

static bool place_all(Order *o, uint32_t from)
{
    vec_push(&o->r->scratch, &o->stack, from);
    while (o->stack.len) {
        uint32_t v = vec_last(&o->stack);
        uint32_t wait[2] = {o->before[v], o->r->sequel.at[v]};
        uint32_t on = 0;
        for (int i = 0; i < 2; i++)
            if (wait[i] && o->state[wait[i]] != 2)
                on = wait[i];
        if (o->state[v] == 2 || !on) {
            if (o->state[v] != 2)
                o->place[v] = ++o->placed;
            o->state[v] = 2;
            o->stack.len--;
            continue;
        }
        if (o->state[on] == 1)
            return read_fail(o->r, "variables that are numbered in order");
        o->state[v] = 1;
        vec_push(&o->r->scratch, &o->stack, on);
    }
    return true;
}

static void renumber_stmt(const uint32_t *place, IrStmt *s)
{
    s->var = place[s->var];
    for (uint32_t i = 0; i < IR_MAX_AXES; i++) {
        IrRange *g = &s->axes[i].range;
        *g = (IrRange){place[g->start], place[g->size], place[g->index]};
    }
}

static void renumber(IrReader *r, const uint32_t *place)
{
    IrProgram *p = r->p;
    IrVar *vars = arena_array(r->arena, IrVar, p->vars.len);
    for (uint32_t i = 0; i < p->vars.len; i++)
        vars[place[i]] = p->vars.at[i];
    p->vars.at = vars;
    p->vars.cap = p->vars.len;
    for (uint32_t i = 1; i < p->exprs.len; i++)
        if (p->exprs.at[i].op == IR_E_VAR)
            p->exprs.at[i].of.var = place[p->exprs.at[i].of.var];
    for (uint32_t i = 1; i < p->stmts.len; i++)
        renumber_stmt(place, &p->stmts.at[i]);
    for (uint32_t i = 0; i < p->attrs.len; i++)
        p->attrs.at[i] = place[p->attrs.at[i]];
    for (uint32_t i = 0; i < p->dims.len; i++)
        p->dims.at[i] = place[p->dims.at[i]];
}

static bool order_vars(IrReader *r)
{
    uint32_t n = r->p->vars.len;
    Order o = {.r = r,
               .before = arena_array(&r->scratch, uint32_t, n),
               .place = arena_array(&r->scratch, uint32_t, n),
               .state = arena_array(&r->scratch, uint8_t, n)};
    if (!find_predecessors(&o))
        return false;
    for (uint32_t i = 1; i < n; i++)
        if (!place_all(&o, i))
            return false;
    renumber(r, o.place);
    return true;
}

/* ---- declarations ---- */

/* NAME DTYPE [lo..hi] [multiple m] [= e] [choose v, ...] */
static bool read_var_line(IrReader *r, IrVarKind kind, IrVarId *id)
{
    IrVar v = {.lo = INT64_MIN, .hi = INT64_MAX, .multiple = 1};
    Str name;
    uint32_t nth;
    if (!read_name(r, &name) || !read_nth(r, &nth) || !read_dtype(r, &v.type))
        return false;
    if ((read_peek(r, 0)->kind == IR_TOK_NUMBER || read_is(r, "-")) &&
        !(read_int(r, &v.lo) && read_want(r, "..") && read_int(r, &v.hi)))
        return false;
    if (read_take(r, "multiple") && !read_int(r, &v.multiple))
        return false;
    if (read_take(r, "=") && !read_expr(r, &v.value))
        return false;
    if (read_take(r, "choose")) {
        do {
            int64_t choice;
            if (!read_int(r, &choice))
                return false;
            vec_push(r->arena, &v.choices, choice);
        } while (read_take(r, ","));
    }
    if (r->p->vars.len > MAX_VARS)
        return read_fail(r, "fewer variables");
    *id = ir_define(r, kind, v.type, name, nth, "");
    IrVar *made = &r->p->vars.at[*id];
    v.name = made->name, v.kind = made->kind, v.kernel = made->kernel, v.at = made->at;
    if (*id)
        *made = v;
    return *id && read_line_end(r);
}

/* [e, ...] */
static bool read_shape(IrReader *r, IrExprId *shape, uint32_t most, uint32_t *rank)
{
    if (!read_want(r, "["))
        return false;
    while (!read_is(r, "]")) {
        if (*rank == most)
            return read_fail(r, "fewer axes");
        if ((*rank && !read_want(r, ",")) || !read_expr(r, &shape[*rank]))
            return false;
        ++*rank;
    }
    return read_want(r, "]");
}

/* NAME ROLE DTYPE [shape] [pairs] [upto] */
static bool read_tensor(IrReader *r, IrTensor *t)
{
    Str name;
    uint32_t role;
    t->at = read_peek(r, 0)->at;
    if (!read_name(r, &name))
        return false;
    t->name = str_dup(r->arena, name);
    if (!read_word(r, ir_role_names, IR_ROLE_WORKSPACE + 1, &role))
        return read_fail(r, "the role of a tensor");
    t->role = (IrRole)role;
    if (!read_dtype(r, &t->dtype))
        return false;
    t->rank = 1;
    if (t->role == IR_ROLE_IN_LIST || t->role == IR_ROLE_OUT_LIST)
        return read_line_end(r);
    t->rank = 0;
    if (!read_shape(r, t->shape, IR_MAX_RANK, &t->rank))
        return false;
    t->pairs = read_take(r, "pairs");
    t->upto = read_take(r, "upto");
    return read_line_end(r);
}

/* NAME DTYPE [shape] [depth e] [layout L] [scratch] */
static bool read_buffer(IrReader *r, IrBuffer *b)
{
    Str name;
    uint32_t layout;
    b->at = read_peek(r, 0)->at;
    if (!read_name(r, &name) || !read_dtype(r, &b->dtype) ||
        !read_shape(r, b->shape, IR_MAX_TILE_RANK, &b->rank))
        return false;
    b->name = str_dup(r->arena, name);
    if (read_take(r, "depth") && !read_expr(r, &b->depth))
        return false;
    if (read_take(r, "layout")) {
        if (!read_word(r, ir_layout_names, IR_ZN + 1, &layout))
            return read_fail(r, "a layout");
        b->layout = (IrLayout)layout;
    }
    b->scratch = read_take(r, "scratch");
    return read_line_end(r);
}

/* ---- host and kernels ---- */

static bool read_host_vars(IrReader *r)
{
    static const char *const words[] = {"dim", "attr", "choice", "value"};
    uint32_t kind;
    IrVarId id, before = 0;
    while (read_word(r, words, IR_VAR_HOST + 1, &kind)) {
        if (!read_var_line(r, (IrVarKind)kind, &id))
            return false;
        r->sequel.at[id] = before;
        before = id;
        if (kind == IR_VAR_ATTR)
            vec_push(r->arena, &r->p->attrs, id);
        if (kind == IR_VAR_DIM)
            vec_push(r->arena, &r->p->dims, id);
    }
    return true;
}

static bool read_host(IrReader *r)
{
    if (!read_host_vars(r))
        return false;
    while (read_take(r, "tensor")) {
        IrTensor t = {0};
        if (!read_tensor(r, &t))
            return false;
        vec_push(r->arena, &r->p->tensors, t);
        r->p->operand_count += t.role != IR_ROLE_WORKSPACE;
    }
    if (!read_want(r, "host") || !read_line_end(r) || !read_block(r, &r->p->host))
        return false;
    return read_want(r, "end") && read_line_end(r);
}

static void skip_line(IrReader *r)
{
    while (read_peek(r, 0)->kind != IR_TOK_LINE && read_peek(r, 0)->kind != IR_TOK_END)
        r->next++;
    if (read_peek(r, 0)->kind == IR_TOK_LINE)
        r->next++;
}

/* The scalar parameters of a kernel, before the rest of its header: the shape of a tensor may
 * name one that stands after it. */
static bool read_scalar_params(IrReader *r)
{
    uint32_t start = r->next;
    while (read_peek(r, 1)->kind == IR_TOK_NAME && (read_is(r, "tensor") || read_is(r, "param"))) {
        IrVarId id;
        if (!read_take(r, "param")) {
            skip_line(r);
            continue;
        }
        if (!read_var_line(r, IR_VAR_PARAM, &id))
            return false;
        vec_push(&r->scratch, &r->params, id);
    }
    r->next = start;
    return true;
}

/* The header of a kernel; a name of its own before `=` is a statement already. */
static bool read_kernel_line(IrReader *r, IrVarId *local, bool *more)
{
    IrKernel *k = &r->p->kernels.at[r->kernel];
    IrArg arg = {0};
    IrVarId id;
    uint32_t memory = 0;
    *more = read_peek(r, 1)->kind == IR_TOK_NAME;
    if (*more && read_take(r, "tensor")) {
        IrTensor t = {0};
        arg = (IrArg){.is_tensor = true, .tensor = k->tensors.len};
        if (!read_tensor(r, &t))
            return false;
        vec_push(r->arena, &k->tensors, t);
        vec_push(r->arena, &k->params, arg);
    } else if (*more && r->params_read < r->params.len && read_take(r, "param")) {
        skip_line(r);
        arg.value = ir_var(r->p, r->params.at[r->params_read++]);
        vec_push(r->arena, &k->params, arg);
    } else if (*more && read_take(r, "local")) {
        if (!read_var_line(r, IR_VAR_LOCAL, &id))
            return false;
        r->sequel.at[id] = *local;
        *local = id;
    } else if (*more &&
               (read_is(r, "mask") || read_word(r, ir_memory_names, IR_CHANNEL + 1, &memory))) {
        IrBuffer b = {.mask = read_take(r, "mask"), .memory = (IrMemory)memory};
        b.memory = b.mask ? IR_UB : b.memory;
        if (!read_buffer(r, &b))
            return false;
        vec_push(r->arena, &k->buffers, b);
    } else {
        *more = false;
    }
    return true;
}

static bool read_kernel(IrReader *r)
{
    IrKernel made = {.at = read_peek(r, 0)->at};
    Str name;
    IrVarId local = 0;
    bool more = true;
    if (!read_want(r, "kernel") || !read_name(r, &name))
        return false;
    made.name = str_dup(r->arena, name);
    made.has_vector = read_take(r, "vector");
    made.has_cube = read_take(r, "cube");
    made.paired = read_take(r, "paired");
    vec_push(r->arena, &r->p->kernels, made);
    r->kernel = r->p->kernels.len - 1;
    if (!read_line_end(r) || !read_scalar_params(r))
        return false;
    while (more)
        if (!read_kernel_line(r, &local, &more))
            return false;
    IrBlock body = {0};
    bool ok = read_block(r, &body);
    r->p->kernels.at[r->kernel].body = body;
    return ok && read_want(r, "end") && read_line_end(r);
}

static bool resolve_launches(IrReader *r)
{
    for (uint32_t i = 0; i < r->pending.len; i++) {
        IrStmt *s = &r->p->stmts.at[r->pending.at[i].launch];
        Str name = r->pending.at[i].name.text;
        for (s->kernel = 0; s->kernel < r->p->kernels.len; s->kernel++)
            if (str_is(name, r->p->kernels.at[s->kernel].name))
                break;
        if (s->kernel == r->p->kernels.len) {
            diag_error(r->diag, "I002", r->pending.at[i].name.at, "there is no kernel '%.*s'",
                       STR_ARG(name));
            return false;
        }
    }
    return true;
}

static bool read_variants(IrReader *r)
{
    while (read_take(r, "variant")) {
        Str name;
        DType dtype;
        if (!read_name(r, &name) || !read_want(r, "=") || !read_dtype(r, &dtype) ||
            !read_line_end(r))
            return false;
        vec_push(r->arena, &r->p->variant_names, (const char *)str_dup(r->arena, name));
        vec_push(r->arena, &r->p->variant_dtypes, dtype);
    }
    return true;
}

static bool read_program(IrReader *r)
{
    int64_t version;
    Str name;
    if (!read_want(r, "tile_ir") || !read_int(r, &version))
        return false;
    if (version != 1)
        return read_fail(r, "version 1");
    if (!read_line_end(r) || !read_want(r, "program") || !read_name(r, &name) || !read_line_end(r))
        return false;
    r->p->name = str_dup(r->arena, name);
    if (!read_variants(r) || !read_host(r))
        return false;
    while (read_peek(r, 0)->kind != IR_TOK_END)
        if (!read_kernel(r))
            return false;
    return resolve_launches(r) && order_vars(r);
}

IrProgram *ir_parse(Arena *arena, const char *file, Str text, Diag *diag)
{
    if (text.len > MAX_TEXT) {
        diag_error(diag, "I001", (Span){0}, "the text has more than %d bytes", MAX_TEXT);
        return NULL;
    }
    IrReader r = {.arena = arena, .diag = diag, .kernel = UINT32_MAX};
    bool ok = ir_lex(&r.scratch, text, &r.tokens, diag);
    if (ok) {
        r.p = ir_program_new(arena, "", file);
        vec_push(&r.scratch, &r.nth, 0);
        vec_push(&r.scratch, &r.sequel, 0);
        scan_loops(&r);
        ok = read_program(&r);
    }
    arena_drop(&r.scratch);
    return ok ? r.p : NULL;
}
