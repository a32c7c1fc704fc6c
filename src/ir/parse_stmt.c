/* Statements of the text form. In: tokens. Out: statements of the host or of one kernel. */
#include "ir/parse_int.h"

#include "ir/verify_int.h"

static const IrKernel *kernel_here(const IrReader *r) { return &r->p->kernels.at[r->kernel]; }

/* e [:+ e] */
static bool read_axis(IrReader *r, IrExprId *start, IrExprId *size)
{
    return read_expr(r, start) && (!read_take(r, ":+") || read_expr(r, size));
}

/* BUFFER [as DTYPE] [ [@row,] axis, ... ] */
static bool read_view(IrReader *r, IrView *v)
{
    Str name;
    v->at = read_peek(r, 0)->at;
    if (!read_name(r, &name))
        return false;
    if (!find_buffer(r, name, &v->buffer))
        return read_fail(r, "the name of a buffer before this");
    v->dtype = kernel_here(r)->buffers.at[v->buffer].dtype;
    if (read_take(r, "as") && !read_dtype(r, &v->dtype))
        return false;
    if (!read_want(r, "["))
        return false;
    if (read_take(r, "@") && !(read_expr(r, &v->row) && read_want(r, ",")))
        return false;
    do {
        if (v->rank == IR_MAX_TILE_RANK)
            return read_fail(r, "fewer axes");
        if (!read_axis(r, &v->start[v->rank], &v->size[v->rank]))
            return false;
        v->rank++;
    } while (read_take(r, ","));
    return read_want(r, "]");
}

/* [flat] TENSOR [{item}] [ axis, ... ] */
static bool read_access(IrReader *r, IrAccess *a)
{
    Str name;
    a->at = read_peek(r, 0)->at;
    a->flat = read_is(r, "flat") && read_peek(r, 1)->kind == IR_TOK_NAME;
    r->next += a->flat;
    if (!read_name(r, &name))
        return false;
    if (r->kernel == UINT32_MAX || !find_tensor(r, name, &a->tensor))
        return read_fail(r, "the name of a tensor before this");
    if (read_take(r, "{") && !(read_expr(r, &a->item) && read_want(r, "}")))
        return false;
    if (!read_want(r, "["))
        return false;
    if (read_take(r, "]"))
        return true;
    do {
        if (a->rank == IR_MAX_RANK)
            return read_fail(r, "fewer axes");
        if (!read_axis(r, &a->start[a->rank], &a->size[a->rank]))
            return false;
        a->rank++;
    } while (read_take(r, ","));
    return read_want(r, "]");
}

/* ---- loops ---- */

static bool read_bound(IrReader *r, IrExprId *e)
{
    if (read_is(r, "_")) {
        r->next++;
        return true;
    }
    return read_expr(r, e);
}

/* Only the start's number is printed. Sizes have the same; a share has no index, so indices
 * count the ranges of that name that have one (parse.c found them all before). */
static void define_range(IrReader *r, IrRange *range, Str name, uint32_t nth, bool index)
{
    uint32_t smaller = 0;
    for (uint32_t i = 0; i < r->tiled.len; i++)
        smaller += r->tiled.at[i].nth < nth && str_equal(r->tiled.at[i].name, name);
    range->start = ir_define(r, IR_VAR_LOOP, DT_I64, name, nth, ".start");
    if (range->start)
        range->size = ir_define(r, IR_VAR_LOOP, DT_I64, name, nth, ".size");
    if (range->size && index)
        range->index = ir_define(r, IR_VAR_LOOP, DT_I64, name, smaller + 1, ".index");
}

/* The name comes first, but the variable exists only after the bounds. */
static bool read_loop_axis(IrReader *r, IrAxis *a)
{
    Str name;
    uint32_t nth;
    if (!read_name(r, &name) || !read_nth(r, &nth) || !read_want(r, "in") ||
        !read_bound(r, &a->lo) || !read_want(r, "..") || !read_bound(r, &a->hi))
        return false;
    if (read_take(r, "step") && !read_expr(r, &a->step))
        return false;
    if (read_take(r, "by") && !read_expr(r, &a->tile))
        return false;
    if (a->tile)
        define_range(r, &a->range, name, nth, true);
    else
        a->range.start = ir_define(r, IR_VAR_LOOP, DT_I64, name, nth, "");
    return !r->bad;
}

static bool read_end(IrReader *r) { return read_want(r, "end") && read_line_end(r); }

static bool read_for(IrReader *r, IrStmt *s)
{
    uint32_t kind;
    Str list;
    s->alternate = read_take(r, "alternate");
    if (!read_word(r, ir_loop_names, IR_LOOP_MINE_LIST + 1, &kind))
        return read_fail(r, "a kind of loop");
    s->loop = (IrLoopKind)kind;
    if (s->loop == IR_LOOP_MINE_LIST) {
        if (!read_name(r, &list))
            return false;
        if (!find_tensor(r, list, &s->list))
            return read_fail(r, "a list of tensors");
    }
    do {
        if (s->axis_count == IR_MAX_AXES)
            return read_fail(r, "fewer axes");
        if (!read_loop_axis(r, &s->axes[s->axis_count]))
            return false;
        s->axis_count++;
    } while (read_take(r, ","));
    return read_line_end(r) && read_block(r, &s->body) && read_end(r);
}

static bool read_share(IrReader *r, IrStmt *s)
{
    Str name;
    uint32_t nth;
    s->axis_count = 0;
    if (!read_name(r, &name) || !read_nth(r, &nth) || !read_want(r, "of") ||
        !read_expr(r, &s->axes[0].hi) || !read_want(r, "align") || !read_expr(r, &s->align))
        return false;
    define_range(r, &s->axes[0].range, name, nth, false);
    return !r->bad && read_line_end(r);
}

static bool read_if(IrReader *r, IrStmt *s)
{
    if (!read_expr(r, &s->cond) || !read_line_end(r) || !read_block(r, &s->body))
        return false;
    if (read_take(r, "else") && !(read_line_end(r) && read_block(r, &s->orelse)))
        return false;
    return read_end(r);
}

/* ---- movement and operations ---- */

static bool read_load(IrReader *r, IrStmt *s)
{
    uint32_t buffer;
    if (!read_view(r, &s->dst) || !read_want(r, "<-"))
        return false;
    bool flat = read_is(r, "flat") && read_peek(r, 1)->kind == IR_TOK_NAME;
    if (!flat && find_buffer(r, read_peek(r, 0)->text, &buffer)) {
        s->src_count = 1;
        if (!read_view(r, &s->src[0]))
            return false;
    } else if (!read_access(r, &s->access)) {
        return false;
    }
    return (!read_take(r, "pad") || read_expr(r, &s->pad)) && read_line_end(r);
}

/* [view [, view]] <- view, ..., e, ... */
static bool read_operands(IrReader *r, IrStmt *s)
{
    const IrTileOpRow *row = &ir_tile_ops[s->op];
    if (!read_is(r, "<-") &&
        !(read_view(r, &s->dst) && (!read_take(r, ",") || read_view(r, &s->dst2))))
        return false;
    if (!read_want(r, "<-"))
        return false;
    for (uint32_t i = 0; i < row->tiles; i++, s->src_count++)
        if ((i && !read_want(r, ",")) || !read_view(r, &s->src[i]))
            return false;
    for (uint32_t i = 0; i < row->scalars; i++, s->scalar_count++)
        if ((i + row->tiles && !read_want(r, ",")) || !read_expr(r, &s->scalar[i]))
            return false;
    return read_line_end(r);
}

/* NAME[.ROUND] as one token */
static bool find_op(Str word, IrStmt *s)
{
    Str name;
    if (!str_next(&word, '.', &name))
        return false;
    for (uint32_t i = 0; i < IR_T_COUNT; i++) {
        if (!str_is(name, ir_tile_ops[i].name))
            continue;
        s->op = (IrTileOp)i;
        if (word.len == 0)
            return true;
        for (uint32_t m = IR_ROUND_RINT; m <= IR_ROUND_TRUNC; m++)
            if (str_is(word, ir_round_names[m]))
                return s->round = (IrRound)m, true;
        return false;
    }
    return false;
}

static bool is_op(const IrToken *word, const IrToken *after, IrStmt *s)
{
    bool operands = after->kind == IR_TOK_NAME ||
                    (after->kind == IR_TOK_SIGN && str_is(after->text, "<-"));
    return word->kind == IR_TOK_NAME && operands && find_op(word->text, s);
}

/* VAR = read access · VAR = OP ... · VAR = e */
static bool read_assign(IrReader *r, IrStmt *s)
{
    if (!read_var(r, &s->var) || !read_want(r, "="))
        return false;
    if (read_is(r, "read") && read_peek(r, 1)->kind == IR_TOK_NAME) {
        r->next++;
        s->kind = IR_S_GM_READ;
        return read_access(r, &s->access) && read_line_end(r);
    }
    if (is_op(read_peek(r, 0), read_peek(r, 1), s)) {
        r->next++;
        s->kind = IR_S_OP;
        return read_operands(r, s);
    }
    s->kind = IR_S_ASSIGN;
    return read_expr(r, &s->value) && read_line_end(r);
}

static bool read_views(IrReader *r, IrStmt *s)
{
    s->src_count = 1;
    return read_view(r, &s->dst) && read_want(r, "<-") && read_view(r, &s->src[0]) &&
           read_line_end(r);
}

static bool read_store(IrReader *r, IrStmt *s)
{
    s->src_count = 1;
    return read_access(r, &s->access) && read_want(r, "<-") && read_view(r, &s->src[0]) &&
           read_line_end(r);
}

/* ---- of the host ---- */

static bool read_launch(IrReader *r, IrStmtId id, IrStmt *s)
{
    IrPending pending = {id, *read_peek(r, 0)};
    Str name;
    if (!read_name(r, &name) || !read_want(r, "[") || !read_expr(r, &s->cores) ||
        !read_want(r, "]") || !read_want(r, "("))
        return false;
    vec_push(&r->scratch, &r->pending, pending);
    while (!read_is(r, ")")) {
        IrArg arg = {0};
        if (s->args.len && !read_want(r, ","))
            return false;
        const IrToken *t = read_peek(r, 0), *after = read_peek(r, 1);
        bool alone = str_is(after->text, ",") || str_is(after->text, ")");
        arg.is_tensor = t->kind == IR_TOK_NAME && alone && find_tensor(r, t->text, &arg.tensor);
        if (arg.is_tensor)
            r->next++;
        else if (!read_expr(r, &arg.value))
            return false;
        vec_push(r->arena, &s->args, arg);
    }
    return read_want(r, ")") && read_line_end(r);
}

static uint32_t hex_digit(char c)
{
    return c <= '9' ? (uint32_t)(c - '0') : (uint32_t)((c | 32) - 'a') + 10;
}

/* What buf_json_str writes, and any other escape of JSON below U+10000. */
static const char *unescape(IrReader *r, Str s)
{
    Buf out = {0};
    buf_puts(&out, "");
    for (size_t i = 1; i + 1 < s.len; i++) {
        char c = s.at[i];
        if (c != '\\') {
            buf_char(&out, c);
            continue;
        }
        c = s.at[++i];
        if (c == 'u' && i + 4 < s.len) {
            uint32_t code = 0;
            for (int k = 0; k < 4; k++)
                code = code * 16 + (hex_digit(s.at[i + 1 + (size_t)k]) & 15);
            i += 4;
            if (code >= 0x800)
                buf_char(&out, (char)(0xe0 | code >> 12));
            if (code >= 0x80)
                buf_char(&out, (char)(code >= 0x800 ? 0x80 | (code >> 6 & 63) : 0xc0 | code >> 6));
            buf_char(&out, (char)(code >= 0x80 ? 0x80 | (code & 63) : code ? code : '?'));
        } else {
            buf_char(&out, c == 'n'   ? '\n'
                           : c == 't' ? '\t'
                           : c == 'r' ? '\r'
                           : c == 'b' ? '\b'
                           : c == 'f' ? '\f'
                                      : c);
        }
    }
    char *text = buf_take(&out, r->arena);
    buf_free(&out);
    return text;
}

static bool read_assert(IrReader *r, IrStmt *s)
{
    if (!read_expr(r, &s->cond))
        return false;
    if (read_peek(r, 0)->kind != IR_TOK_TEXT)
        return read_fail(r, "a text in quotes");
    s->text = unescape(r, read_peek(r, 0)->text);
    r->next++;
    return read_line_end(r);
}

static bool read_workspace(IrReader *r, IrStmt *s)
{
    Str name;
    if (!read_name(r, &name))
        return false;
    if (!find_tensor(r, name, &s->tensor))
        return read_fail(r, "a workspace");
    return read_line_end(r);
}

/* ---- any ---- */

static bool read_body_of(IrReader *r, IrStmt *s)
{
    return read_line_end(r) && read_block(r, &s->body) && read_end(r);
}

static bool read_kernel_stmt(IrReader *r, IrStmt *s)
{
    uint32_t word;
    if (is_op(read_peek(r, 0), read_peek(r, 1), s)) {
        r->next++;
        s->kind = IR_S_OP;
        return read_operands(r, s);
    }
    if (read_word(r, ir_stage_names, 3, &word))
        return s->kind = IR_S_STAGE, s->stage = (IrStage)word, read_body_of(r, s);
    if (read_word(r, ir_atomic_names, 4, &word))
        return s->kind = IR_S_STORE, s->atomic = (IrAtomic)word, read_store(r, s);
    if (read_take(r, "for"))
        return s->kind = IR_S_FOR, read_for(r, s);
    if (read_take(r, "load"))
        return s->kind = IR_S_LOAD, read_load(r, s);
    if (read_take(r, "load_transposed"))
        return s->kind = IR_S_LOAD, s->transpose = true, read_load(r, s);
    if (read_take(r, "share"))
        return s->kind = IR_S_SHARE, read_share(r, s);
    if (read_take(r, "sync_all"))
        return s->kind = IR_S_SYNC_ALL, read_line_end(r);
    if (read_take(r, "send"))
        return s->kind = IR_S_SEND, read_views(r, s);
    if (read_take(r, "recv"))
        return s->kind = IR_S_RECV, read_views(r, s);
    if (read_take(r, "write")) {
        s->kind = IR_S_GM_WRITE;
        return read_access(r, &s->access) && read_want(r, "<-") && read_expr(r, &s->value) &&
               read_line_end(r);
    }
    if (read_take(r, "role")) {
        s->kind = IR_S_ROLE;
        if (!read_word(r, ir_core_names, 2, &word))
            return read_fail(r, "'vector' or 'cube'");
        return s->core = (IrCore)word, read_body_of(r, s);
    }
    return read_fail(r, "a statement of a kernel");
}

static bool read_host_stmt(IrReader *r, IrStmtId id, IrStmt *s)
{
    if (read_take(r, "assert"))
        return s->kind = IR_S_ASSERT, read_assert(r, s);
    if (read_take(r, "workspace"))
        return s->kind = IR_S_WORKSPACE, read_workspace(r, s);
    if (read_take(r, "launch"))
        return s->kind = IR_S_LAUNCH, read_launch(r, id, s);
    return read_fail(r, "a statement of the host");
}

static bool starts_assign(const IrReader *r)
{
    const IrToken *one = read_peek(r, 1), *three = read_peek(r, 3);
    if (read_peek(r, 0)->kind != IR_TOK_NAME || one->kind != IR_TOK_SIGN)
        return false;
    return str_is(one->text, "=") || (str_is(one->text, "'") && str_is(three->text, "="));
}

static bool read_stmt(IrReader *r, IrBlock *block)
{
    IrStmtId id = ir_stmt_new(r->p, IR_S_ASSIGN, read_peek(r, 0)->at);
    IrStmt s = r->p->stmts.at[id];
    bool ok;
    if (starts_assign(r))
        ok = read_assign(r, &s);
    else if (read_take(r, "if"))
        ok = (s.kind = IR_S_IF, read_if(r, &s));
    else
        ok = r->kernel == UINT32_MAX ? read_host_stmt(r, id, &s) : read_kernel_stmt(r, &s);
    r->p->stmts.at[id] = s;
    vec_push(r->arena, block, id);
    return ok;
}

bool read_block(IrReader *r, IrBlock *block)
{
    if (++r->depth > IR_MAX_NEST)
        return read_fail(r, "fewer blocks inside each other");
    while (starts_assign(r) || !(read_is(r, "end") || read_is(r, "else"))) {
        if (read_peek(r, 0)->kind == IR_TOK_END)
            return read_fail(r, "'end'");
        if (!read_stmt(r, block))
            return false;
    }
    r->depth--;
    return true;
}
