/* Expressions and buffers of a planned kernel. In: primitives, and what the strategy says about loops.
 * Out: Craft statements. Loads and stores are in write_move.c. */
#include "gen/plan/write.h"

#include "gen/plan/prim_int.h"
#include "gen/plan/units.h"
#include <string.h>

/* Craft's scalars have fewer functions than its tiles. */
static const char *const scalar_forms[][2] = {
    {"rsqrt($0)", "1.0 / sqrt($0)"},
    {"recip($0)", "1.0 / $0"},
    {"relu($0)", "max($0, 0.0)"},
    {"where($0, $1, $2)", "$1 if $0 else $2"},
    {"sigmoid($0)", "1.0 / (1.0 + exp(-$0))"},
};

static const char *const scalar_words[] = {"min", "max", "abs",  "sqrt", "exp",
                                           "log", "if",  "else", NULL};

static uint32_t level_of(const Writer *w, PrimId id)
{
    const Prim *p = &w->g->prims.at[id];
    uint32_t level = 0;
    if (w->pair[id])
        return w->level[w->pair[id]];
    for (uint32_t i = 0; i < p->n_arg; i++)
        level = w->level[p->arg[i]] > level ? w->level[p->arg[i]] : level;
    return level + (p->op == PRIM_REDUCE);
}

static void add_operand(Writer *w, PrimId prim, PlanOperand operand, uint64_t axes)
{
    operand.shape = (Shape){0};
    for (uint32_t i = 0; i < w->s->len; i++)
        if (w->s->axis[i].members & axes)
            operand.shape.dim[operand.shape.rank++] = w->s->axis[i].size;
    if (operand.shape.rank == 0)
        operand.shape.dim[operand.shape.rank++] = 1;
    vec_push(w->arena, &w->operands, operand);
    vec_push(w->arena, &w->operand_prims, prim);
}

/* The leaves in the order of the task. */
static PrimId *ordered_leaves(Writer *w)
{
    const PrimGraph *g = w->g;
    PrimId *ids = arena_array(w->arena, PrimId, g->leaves.len + 1);
    for (uint32_t i = 0; i < g->leaves.len; i++) {
        PrimId id = g->leaves.at[i].prim;
        uint32_t at = i, place = graph_place(g->graph, g->prims.at[id].value);
        for (; at && place < graph_place(g->graph, g->prims.at[ids[at - 1]].value); at--)
            ids[at] = ids[at - 1];
        ids[at] = id;
    }
    return ids;
}

static void add_operands(Writer *w)
{
    const PrimId *ids = ordered_leaves(w);
    for (uint32_t i = 0; i < w->g->leaves.len; i++) {
        const Prim *p = &w->g->prims.at[ids[i]];
        if (!p->uses)
            continue;
        PlanOperand o = {
            .value = p->value, .dtype = p->dtype, .name = str_format(w->arena, "x%u", i)};
        add_operand(w, ids[i], o, p->axes);
    }
    for (uint32_t i = 0; i < w->g->outputs.len; i++) {
        const PrimOutput *out = &w->g->outputs.at[i];
        PlanOperand o = {.value = out->value,
                         .output = true,
                         .dtype = graph_value(w->g->graph, out->value)->dtype,
                         .name = str_format(w->arena, "y%u", i)};
        add_operand(w, 0, o, w->g->prims.at[out->is.prim].axes);
    }
}

Writer *writer_new(PrimGraph *g, const Space *s, bool paired, Diag *diag)
{
    Writer *w = arena_new(g->arena, Writer);
    *w = (Writer){.arena = g->arena,
                  .g = g,
                  .s = s,
                  .diag = diag,
                  .last = s->len - 1,
                  .depth = 1,
                  .load_depth = 2,
                  .store_depth = 2};
    w->name = arena_array(g->arena, const char *, g->prims.len);
    w->level = arena_array(g->arena, uint32_t, g->prims.len);
    w->recip = arena_array(g->arena, const char *, g->prims.len);
    w->pair = arena_array(g->arena, PrimId, g->prims.len);
    if (paired)
        units_pair(w);
    for (uint32_t i = 1; i < g->prims.len; i++)
        w->level[i] = level_of(w, i);
    add_operands(w);
    return w;
}

void write_line(Writer *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    buf_fill(&w->body, ' ', (size_t)w->depth * 4);
    buf_vprintf(&w->body, format, args);
    buf_char(&w->body, '\n');
    va_end(args);
}

WriteKind write_kind(const Writer *w, PrimId id)
{
    uint64_t axes = w->g->prims.at[id].axes;
    bool last = axes & w->s->axis[w->last].members;
    if (!w->two || w->flat)
        return last ? KIND_TILE : KIND_SCALAR;
    bool row = axes & w->s->axis[w->row_axis].members;
    if (!last && w->one_row && w->g->prims.at[id].op == PRIM_LEAF)
        return KIND_SCALAR;
    return last ? (row ? KIND_TILE : KIND_PER_COLUMN) : row ? KIND_PER_ROW : KIND_SCALAR;
}

bool write_is_fixed(const Writer *w, PrimId id)
{
    return !(w->g->prims.at[id].axes & space_reduced(w->s));
}

bool write_is_tile(const Writer *w, PrimId id)
{
    return w->g->prims.at[id].axes & w->s->axis[w->last].members;
}

/* ---- expressions ---- */

static bool is_scalar_word(Str word)
{
    for (uint32_t i = 0; scalar_words[i]; i++)
        if (str_is(word, scalar_words[i]))
            return true;
    return false;
}

/* Every word of the form is something a scalar can do. */
static bool scalar_can(const char *form)
{
    for (const char *c = form; *c;) {
        size_t n = strspn(c, "abcdefghijklmnopqrstuvwxyz0123456789_");
        bool word = n && *c >= 'a' && *c <= 'z';
        if (word && !(c > form && c[-1] == '$') && !is_scalar_word((Str){c, n}))
            return false;
        c += n ? n : 1;
    }
    return true;
}

static const char *scalar_form(Writer *w, const Prim *p)
{
    for (uint32_t i = 0; i < sizeof scalar_forms / sizeof *scalar_forms; i++)
        if (!strcmp(p->form, scalar_forms[i][0]))
            return scalar_forms[i][1];
    if (!scalar_can(p->form)) {
        w->failed = true;
        diag_error(w->diag, "G003", (Span){0},
                   "the planner cannot plan this task yet: '%s' of the result of a reduction, one "
                   "value per row",
                   p->form);
    }
    return p->form;
}

static void put_expr(Writer *w, Buf *out, PrimId id, bool bare);

/* Whether a last bit of it can become a whole step: it is rounded to an integer, or compared. */
static bool steps(const Prim *p)
{
    static const char *const words[] = {"floor", "ceil",  "trunc", "sign", "rint",
                                        ", i32", ", i16", ", i8",  ", u8"};
    for (size_t i = 0; p->op == PRIM_MAP && i < sizeof words / sizeof *words; i++)
        if (strstr(p->form, words[i]))
            return true;
    return p->mask;
}

/* What is made of it, in this program and in those that follow. Operands stand before what they go
 * into. */
static bool leads_to_step(const Writer *w, PrimId id)
{
    const PrimGraph *g = w->g;
    bool *reached = arena_array(w->arena, bool, g->prims.len + 1);
    reached[id] = true;
    for (uint32_t i = id + 1; i < g->prims.len; i++) {
        const Prim *p = &g->prims.at[i];
        for (uint32_t k = 0; k < p->n_arg && !reached[i]; k++)
            reached[i] = reached[p->arg[k]];
        if (reached[i] && steps(p))
            return true;
    }
    return prim_steps_follow(g->graph);
}

/* A quotient by something that is the same for many elements: a product is four times as fast. Its last
 * bit may differ, which must not decide between two integers. */
static bool by_reciprocal(const Writer *w, PrimId id)
{
    const Prim *p = &w->g->prims.at[id];
    if (p->op != PRIM_MAP || strcmp(p->form, "$0 / $1") || write_kind(w, id) == KIND_SCALAR)
        return false;
    const Prim *by = &w->g->prims.at[p->arg[1]];
    if (by->op == PRIM_NUMBER || write_kind(w, p->arg[1]) == KIND_PER_COLUMN)
        return false;
    bool pays = write_kind(w, p->arg[1]) < write_kind(w, id) ||
                (write_is_fixed(w, p->arg[1]) && !write_is_fixed(w, id));
    return pays && !leads_to_step(w, id);
}

/* An operand of something that has more elements is spread over it. */
static void put_operand(Writer *w, Buf *out, PrimId id, WriteKind into, bool bare)
{
    WriteKind kind = write_kind(w, id);
    if (kind == into || kind == KIND_SCALAR || into != KIND_TILE) {
        put_expr(w, out, id, bare);
        return;
    }
    buf_puts(out, kind == KIND_PER_ROW ? "col(" : "row(");
    put_expr(w, out, id, true);
    buf_char(out, ')');
}

/* An operand that is a whole argument of a call needs no brackets. */
static bool is_argument(const char *form, const char *at)
{
    bool opens = at - form >= 1 && (at[-1] == '(' || (at - form >= 2 && at[-2] == ','));
    return opens && (at[2] == ')' || at[2] == ',') && form[0] != '(';
}

static void put_form(Writer *w, Buf *out, PrimId id, const char *form)
{
    const Prim *p = &w->g->prims.at[id];
    WriteKind kind = write_kind(w, id);
    for (const char *c = form; *c; c++) {
        if (*c != '$' || c[1] < '0' || c[1] > '2') {
            buf_char(out, *c);
            continue;
        }
        put_operand(w, out, p->arg[c[1] - '0'], kind, is_argument(form, c));
        c++;
    }
}

/* "f(...)" needs no brackets around it */
static bool is_call(const char *form)
{
    size_t n = strlen(form);
    int depth = 0;
    if (!n || form[n - 1] != ')' || form[0] < 'a' || form[0] > 'z')
        return false;
    for (size_t i = 0; i + 1 < n; i++) {
        depth += (form[i] == '(') - (form[i] == ')');
        if (depth == 0 && form[i] == ')')
            return false;
    }
    return strchr(form, '(') == form + strspn(form, "abcdefghijklmnopqrstuvwxyz0123456789_");
}

void write_count(Writer *w, Buf *out, uint64_t over)
{
    const char *before = "f32(";
    for (uint32_t i = 0; i < w->s->len; i++) {
        if (!(w->s->axis[i].members & over))
            continue;
        buf_printf(out, "%s%s", before, w->s->axis[i].name);
        before = " * ";
    }
    buf_char(out, ')');
}

/* Computed in the place it is wanted, by nobody else. */
static bool is_passing(const Writer *w, PrimId id)
{
    const Prim *p = &w->g->prims.at[id];
    return p->op == PRIM_MAP && p->uses == 1 && !w->name[id] && !p->mask;
}

/* A sum of something computed and a product with a number is one instruction: "axpy(a, b, 0.1)". */
static bool put_axpy(Writer *w, Buf *out, PrimId id)
{
    const Prim *p = &w->g->prims.at[id];
    bool minus = !strcmp(p->form, "$0 - $1");
    if ((!minus && strcmp(p->form, "$0 + $1")) || write_kind(w, id) != KIND_TILE)
        return false;
    for (int i = 1; i >= minus; i--) {
        PrimId to = p->arg[1 - i], of;
        double by;
        if (!is_passing(w, to) || !is_passing(w, p->arg[i]) ||
            !prim_factor(w->g, p->arg[i], &of, &by) || write_kind(w, to) != KIND_TILE ||
            write_kind(w, of) != KIND_TILE)
            continue;
        buf_puts(out, "axpy(");
        put_expr(w, out, to, true);
        buf_puts(out, ", ");
        put_expr(w, out, of, true);
        buf_puts(out, ", ");
        prim_literal(out, minus ? -by : by);
        buf_char(out, ')');
        return true;
    }
    return false;
}

static void put_expr(Writer *w, Buf *out, PrimId id, bool bare)
{
    const Prim *p = &w->g->prims.at[id];
    if (w->name[id]) {
        buf_puts(out, w->name[id]);
        return;
    }
    switch (p->op) {
    case PRIM_NUMBER: prim_literal(out, p->number); return;
    case PRIM_COUNT: write_count(w, out, p->over); return;
    case PRIM_MAP: {
        if (put_axpy(w, out, id))
            return;
        bool scalar = write_kind(w, id) == KIND_SCALAR && !p->mask;
        const char *form = scalar ? scalar_form(w, p) : p->form;
        bare = bare || is_call(form);
        buf_puts(out, bare ? "" : "(");
        if (by_reciprocal(w, id) && w->recip[p->arg[1]]) {
            WriteKind by = write_kind(w, p->arg[1]);
            bool spread = by != write_kind(w, id) && by != KIND_SCALAR;
            put_operand(w, out, p->arg[0], write_kind(w, id), false);
            buf_printf(out,
                       !spread              ? " * %s"
                       : by == KIND_PER_ROW ? " * col(%s)"
                                            : " * row(%s)",
                       w->recip[p->arg[1]]);
        } else {
            put_form(w, out, id, form);
        }
        buf_puts(out, bare ? "" : ")");
        return;
    }
    case PRIM_LEAF:
    case PRIM_REDUCE:
    case PRIM_PICK:
    case PRIM_SCAN:
    case PRIM_FLIP: break;
    }
    w->failed = true; /* a pattern of reductions that the strategy does not order */
    buf_puts(out, "0.0");
}

const char *write_expr(Writer *w, PrimId id)
{
    Buf out = {0};
    put_expr(w, &out, id, true);
    char *text = buf_take(&out, w->arena);
    buf_free(&out);
    return text;
}

/* ---- buffers and names ---- */

static const char *wide_of(Writer *w)
{
    return w->wide ? str_format(w->arena, "%lld", (long long)w->wide) : "tile";
}

static void declare(Writer *w, const WriteBuffer *b)
{
    const char *depth = b->depth > 1 ? ", depth=2" : "";
    buf_printf(&w->buffers, "    %s = ub(%s, ", b->name, dtype_name(b->dtype));
    if (!w->two)
        buf_printf(&w->buffers, "tile%s)\n", depth);
    else if (b->kind == KIND_TILE)
        buf_printf(&w->buffers, "%lld, %s%s)\n", (long long)w->block, wide_of(w), depth);
    else if (b->kind == KIND_PER_ROW)
        buf_printf(&w->buffers, "%lld%s)\n", (long long)w->block, depth);
    else
        buf_printf(&w->buffers, "%s%s)\n", wide_of(w), depth);
    uint32_t bytes = (uint32_t)(dtype_bytes(b->dtype) * (unsigned)b->depth);
    if (b->kind != KIND_PER_ROW)
        w->bytes += bytes;
}

/* f16, i32 and the like are words of Craft, n0 and the like the sizes. */
static bool is_word(const Writer *w, char stem, uint32_t number)
{
    bool width = number == 8 || number == 16 || number == 32 || number == 64;
    return (width && (stem == 'f' || stem == 'i' || stem == 'u' || stem == 'c')) ||
           (stem == 'n' && number < w->s->len);
}

const char *write_buffer(Writer *w, char stem, WriteKind kind, DType dtype, int depth, PrimId owner)
{
    for (uint32_t i = 0; i < w->pool.len; i++) {
        WriteBuffer *b = &w->pool.at[i];
        if (!b->busy && b->stem == stem && b->kind == kind && b->dtype == dtype &&
            b->depth == depth) {
            b->busy = true;
            b->owner = owner;
            return b->name;
        }
    }
    while (is_word(w, stem, w->next))
        w->next++;
    WriteBuffer b = {
        str_format(w->arena, "%c%u", stem, w->next++), stem, kind, dtype, depth, true, owner};
    vec_push(w->arena, &w->pool, b);
    declare(w, &b);
    return b.name;
}

void write_free_buffers(Writer *w)
{
    for (uint32_t i = 0; i < w->pool.len; i++)
        w->pool.at[i].busy = w->pool.at[i].owner && w->name[w->pool.at[i].owner];
}

void write_forget(Writer *w)
{
    for (uint32_t i = 1; i < w->g->prims.len; i++)
        w->name[i] = w->recip[i] = NULL;
    for (uint32_t i = 0; i < w->s->len; i++)
        w->index[i] = NULL;
    write_free_buffers(w);
}

void write_release(Writer *w, const char *buffer)
{
    for (uint32_t i = 0; i < w->pool.len; i++)
        if (!strcmp(w->pool.at[i].name, buffer))
            w->pool.at[i].owner = 0;
}

const char *write_view(Writer *w, WriteKind kind, const char *buffer)
{
    if (w->two && w->flat && kind == KIND_TILE)
        return str_format(w->arena, "%s[0, :%s]", buffer, w->count);
    if (w->two && kind == KIND_TILE)
        return str_format(w->arena, "%s[:%s, :%s]", buffer, w->rows, w->count);
    return str_format(w->arena, "%s[:%s]", buffer, kind == KIND_PER_ROW ? w->rows : w->count);
}

static bool used_twice(const char *form, char which)
{
    int n = 0;
    for (const char *c = form; *c; c++)
        n += c[0] == '$' && c[1] == which;
    return n > 1;
}

static const char *name_for(Writer *w, WriteKind kind, PrimId owner)
{
    if (kind == KIND_SCALAR)
        return str_format(w->arena, "s%u", w->next++);
    char stem = kind == KIND_TILE ? 'v' : 'c';
    return write_view(w, kind, write_buffer(w, stem, kind, DT_F32, 1, owner));
}

static void make_named(Writer *w, PrimId id)
{
    const char *name = name_for(w, write_kind(w, id), id);
    write_line(w, "%s = %s", name, write_expr(w, id));
    w->name[id] = name;
}

/* s3 = 1.0 / s2 */
static void make_recip(Writer *w, PrimId id)
{
    WriteKind kind = write_kind(w, id);
    if (w->recip[id])
        return;
    const char *name = name_for(w, kind, id);
    write_line(w, "%s = 1.0 / %s", name, w->name[id] ? w->name[id] : write_expr(w, id));
    w->recip[id] = name;
}

void write_needs(Writer *w, PrimId id)
{
    const Prim *p = &w->g->prims.at[id];
    if (w->name[id] || p->op != PRIM_MAP)
        return;
    for (uint32_t i = 0; i < p->n_arg; i++) {
        PrimId arg = p->arg[i];
        const Prim *a = &w->g->prims.at[arg];
        write_needs(w, arg);
        bool again = a->uses > 1 || used_twice(p->form, (char)('0' + i));
        bool spread = write_kind(w, arg) != write_kind(w, id) && write_kind(w, arg) != KIND_SCALAR;
        bool divides = i == 1 && by_reciprocal(w, id);
        if ((a->op == PRIM_MAP || divides) && !a->mask && !w->name[arg] &&
            (again || spread || divides))
            make_named(w, arg);
        if (divides)
            make_recip(w, arg);
    }
}

const char *write_named(Writer *w, PrimId id)
{
    write_needs(w, id);
    if (!w->name[id])
        make_named(w, id);
    return w->name[id];
}

void write_mark(const Writer *w, PrimId id, bool *wanted)
{
    if (wanted[id] || w->name[id])
        return;
    wanted[id] = true;
    for (uint32_t i = 0; i < w->g->prims.at[id].n_arg; i++)
        write_mark(w, w->g->prims.at[id].arg[i], wanted);
}

/* Everything it is made of has a name or is a number. */
static bool is_known(const Writer *w, PrimId id)
{
    const Prim *p = &w->g->prims.at[id];
    if (w->name[id] || p->op == PRIM_NUMBER || p->op == PRIM_COUNT)
        return true;
    if (p->op != PRIM_MAP)
        return false;
    for (uint32_t i = 0; i < p->n_arg; i++)
        if (!is_known(w, p->arg[i]))
            return false;
    return true;
}

void write_hoist(Writer *w, PrimId id)
{
    const Prim *p = &w->g->prims.at[id];
    if (p->op != PRIM_MAP || w->name[id])
        return;
    for (uint32_t i = 0; i < p->n_arg; i++)
        write_hoist(w, p->arg[i]);
    PrimId by = p->arg[1];
    if (by_reciprocal(w, id) && is_known(w, by)) {
        write_named(w, by);
        make_recip(w, by);
    }
    if (write_is_fixed(w, id) && !p->mask && is_known(w, id)) {
        write_named(w, id);
    }
}
