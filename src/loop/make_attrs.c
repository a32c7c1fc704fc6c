/* Attributes of the task as parameters of the program; see make_attrs.h. */
#include "loop/make_attrs.h"

#include "craft/craft.h"
#include "craft/tree.h"
#include "loop/make_int.h"
#include <ctype.h>
#include <math.h>
#include <string.h>

/* Tasks above so many operators are not planned a second time; more attributes than so many stay literals. */
enum { MOST_NODES = 300, MOST_PROBED = 4, MOST_LITERALS = 4096 };

/* ---- two plans of one task, side by side ---- */

/* A literal that follows a number: as the number itself, its negative, or one less the number. */
typedef enum Follows { FOLLOWS_NOT, FOLLOWS_ITSELF, FOLLOWS_NEGATIVE, FOLLOWS_REST } Follows;

typedef struct Pair {
    const char *name; /* of the attribute */
    double was, is;
    Follows *follows; /* by float literal, in the order of the text */
    uint32_t literals, found;
    bool same; /* but for literals that follow the number */
} Pair;

static bool near(double a, double b) { return fabs(a - b) <= 1e-6 * fabs(b); }

static Follows follow(const Pair *p, double a, double b)
{
    return near(a, p->was) && near(b, p->is)           ? FOLLOWS_ITSELF
           : near(a, -p->was) && near(b, -p->is)       ? FOLLOWS_NEGATIVE
           : near(a, 1 - p->was) && near(b, 1 - p->is) ? FOLLOWS_REST
                                                       : FOLLOWS_NOT;
}

static void pair_literals(Pair *p, const AstExpr *a, const AstExpr *b)
{
    Follows kind = a->f == b->f ? FOLLOWS_NOT : follow(p, a->f, b->f);
    if (p->literals == MOST_LITERALS || (a->f != b->f && kind == FOLLOWS_NOT)) {
        p->same = false;
        return;
    }
    p->found += kind != FOLLOWS_NOT;
    p->follows[p->literals++] = kind;
}

static void pair_exprs(Pair *p, const AstExpr *a, const AstExpr *b)
{
    if (!a || !b || !p->same) {
        p->same = p->same && !a && !b;
        return;
    }
    p->same = a->kind == b->kind && a->op == b->op && a->items.len == b->items.len &&
              a->keywords.len == b->keywords.len;
    if (p->same && a->kind == EX_FLOAT) {
        pair_literals(p, a, b);
        return;
    }
    p->same = p->same && str_equal(a->text, b->text);
    if (!p->same)
        return;
    pair_exprs(p, a->a, b->a);
    pair_exprs(p, a->b, b->b);
    pair_exprs(p, a->c, b->c);
    for (uint32_t i = 0; i < a->items.len && p->same; i++)
        pair_exprs(p, a->items.at[i], b->items.at[i]);
    for (uint32_t i = 0; i < a->keywords.len && p->same; i++)
        pair_exprs(p, a->keywords.at[i].value, b->keywords.at[i].value);
}

static void pair_blocks(Pair *p, const StmtList *a, const StmtList *b)
{
    p->same = p->same && a->len == b->len;
    for (uint32_t i = 0; p->same && i < a->len; i++) {
        const AstStmt *x = a->at[i], *y = b->at[i];
        p->same = x->kind == y->kind && x->op == y->op;
        pair_exprs(p, x->target, y->target);
        pair_exprs(p, x->value, y->value);
        if (p->same)
            pair_blocks(p, &x->body, &y->body);
        if (p->same)
            pair_blocks(p, &x->orelse, &y->orelse);
    }
}

static bool is_kernel(const AstStmt *s)
{
    const AstExpr *d = s->kind == ST_DEF && s->def->decorators.len ? s->def->decorators.at[0]
                                                                   : NULL;
    d = d && d->kind == EX_CALL ? d->a : d;
    return d && d->kind == EX_NAME && str_is(d->text, "kernel");
}

/* Kernels are paired literal by literal; all else must be the same. */
static void pair_files(Pair *p, const CraftFile *a, const CraftFile *b)
{
    p->same = a->stmts.len == b->stmts.len;
    for (uint32_t i = 0; p->same && i < a->stmts.len; i++) {
        const AstStmt *x = a->stmts.at[i], *y = b->stmts.at[i];
        uint32_t before = p->found;
        p->same = x->kind == y->kind;
        if (p->same && x->kind == ST_DEF) {
            p->same = x->def->params.len == y->def->params.len;
            pair_blocks(p, &x->def->body, &y->def->body);
            p->same = p->same && (is_kernel(x) || p->found == before);
        } else if (p->same) {
            pair_exprs(p, x->value, y->value);
        }
    }
}

/* ---- literals become parameters ---- */

typedef struct Edit {
    Arena *arena;
    const Pair *pairs;
    uint32_t count;
    uint32_t literal;       /* the next one's number */
    bool here[MOST_PROBED]; /* a literal of the function in hand follows this one */
} Edit;

static AstExpr *follower(Arena *arena, const char *name, Follows kind)
{
    AstExpr *value = tree_name(arena, name);
    if (kind == FOLLOWS_NEGATIVE)
        return tree_unary(arena, TOK_MINUS, value);
    return kind == FOLLOWS_REST ? tree_binary(arena, TOK_MINUS, tree_float(arena, 1), value)
                                : value;
}

static void edit_expr(Edit *e, AstExpr **at)
{
    AstExpr *x = *at;
    if (!x)
        return;
    if (x->kind == EX_FLOAT) {
        for (uint32_t i = 0; i < e->count; i++) {
            Follows kind = e->pairs[i].follows[e->literal];
            if (kind == FOLLOWS_NOT)
                continue;
            *at = follower(e->arena, e->pairs[i].name, kind);
            e->here[i] = true;
        }
        e->literal++;
        return;
    }
    edit_expr(e, &x->a);
    edit_expr(e, &x->b);
    edit_expr(e, &x->c);
    for (uint32_t i = 0; i < x->items.len; i++)
        edit_expr(e, &x->items.at[i]);
    for (uint32_t i = 0; i < x->keywords.len; i++)
        edit_expr(e, &x->keywords.at[i].value);
}

static void edit_block(Edit *e, StmtList *block)
{
    for (uint32_t i = 0; i < block->len; i++) {
        AstStmt *s = block->at[i];
        edit_expr(e, &s->target);
        edit_expr(e, &s->value);
        edit_block(e, &s->body);
        edit_block(e, &s->orelse);
    }
}

/* kernel[cores](args) gets one argument more. */
static void add_argument(Arena *arena, StmtList *block, Str kernel, const char *name)
{
    for (uint32_t i = 0; i < block->len; i++) {
        AstStmt *s = block->at[i];
        AstExpr *call = s->kind == ST_EXPR && s->value->kind == EX_CALL ? s->value : NULL;
        const AstExpr *launched = call && call->a->kind == EX_INDEX ? call->a->a : NULL;
        if (launched && launched->kind == EX_NAME && str_equal(launched->text, kernel))
            vec_push(arena, &call->items, tree_name(arena, name));
        add_argument(arena, &s->body, kernel, name);
        add_argument(arena, &s->orelse, kernel, name);
    }
}

static uint32_t count_literals(const AstExpr *x)
{
    uint32_t n = x ? x->kind == EX_FLOAT : 0;
    if (!x)
        return 0;
    n += count_literals(x->a) + count_literals(x->b) + count_literals(x->c);
    for (uint32_t i = 0; i < x->items.len; i++)
        n += count_literals(x->items.at[i]);
    for (uint32_t i = 0; i < x->keywords.len; i++)
        n += count_literals(x->keywords.at[i].value);
    return n;
}

static uint32_t count_in_block(const StmtList *block)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < block->len; i++)
        n += count_literals(block->at[i]->target) + count_literals(block->at[i]->value) +
             count_in_block(&block->at[i]->body) + count_in_block(&block->at[i]->orelse);
    return n;
}

static uint32_t count_in_file(const CraftFile *f)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->stmts.len; i++)
        n += f->stmts.at[i]->kind == ST_DEF ? count_in_block(&f->stmts.at[i]->def->body)
                                            : count_literals(f->stmts.at[i]->value);
    return n;
}

static void replace_literals(Arena *arena, CraftFile *f, AstStmt *host, const Pair *pairs,
                             uint32_t count)
{
    Edit e = {.arena = arena, .pairs = pairs, .count = count};
    for (uint32_t i = 0; i < f->stmts.len; i++) {
        AstStmt *s = f->stmts.at[i];
        if (s->kind != ST_DEF) {
            e.literal += count_literals(s->value);
            continue;
        }
        memset(e.here, 0, sizeof e.here);
        edit_block(&e, &s->def->body);
        for (uint32_t k = 0; k < count; k++) {
            if (!e.here[k])
                continue;
            tree_param(arena, s, pairs[k].name, tree_dtype(arena, DT_F32));
            add_argument(arena, &host->def->body, s->def->name, pairs[k].name);
        }
    }
}

/* ---- the attributes of a task ---- */

typedef struct Attributes {
    Arena *arena;
    const MakeSpec *spec;
    const MakeResult *result;
    CraftFile *file;
    AstStmt *host;
    VEC(const TorchOperand *) added, refused; /* all; those whose other values are refused */
    Pair pairs[MOST_PROBED];
    uint32_t pair_count, probed;
    TorchTask *other; /* the task at other sizes; NULL: not read yet */
} Attributes;

static bool has_word(Str text, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= text.len; i++) {
        bool starts = !i || !(isalnum((unsigned char)text.at[i - 1]) || text.at[i - 1] == '_');
        bool ends = i + n == text.len ||
                    !(isalnum((unsigned char)text.at[i + n]) || text.at[i + n] == '_');
        if (starts && ends && !memcmp(text.at + i, word, n))
            return true;
    }
    return false;
}

/* Another number like it that f32 holds; one less it has the same sign mostly. */
static double other_value(double v) { return (double)(float)(v == 0 ? 0.5 : v * 0.75); }

/* Plans the task with another value of the number; true where that tells which literals follow it. */
static bool probe(Attributes *x, const char *name, double value, Pair *pair)
{
    MakeResult copy = *x->result;
    MakeJob job = {.spec = x->spec, .result = &copy, .rounds = x->result->rounds};
    Diag said = diag_make(x->arena, x->spec->path, x->spec->source);
    TorchNumber number = {name, other_value(value)};
    Plan plan;
    torch_cases(x->arena, x->spec->path, &job.cases, &said);
    TorchOptions options = make_options(&job, x->spec->seed);
    options.numbers = &number;
    options.n_numbers = 1;
    if (x->spec->ranges.len)
        sizes_in_ranges(x->arena, &x->spec->ranges, x->result->task, SCALE_FULL, x->spec->seed, 0,
                        &options);
    TorchTask *task = torch_read(x->arena, x->spec->path, x->spec->source, &options, &said);
    if (!task)
        return false;
    torch_mark_held(x->arena, x->spec->path, x->spec->source, &options, task);
    if (!make_plan(x->arena, &job, task->graph, 0, &plan, &said))
        return false;
    Str first = x->result->untuned.len ? x->result->untuned : x->result->plan.craft;
    CraftFile *a = craft_read(x->arena, "was.craft", first, &said);
    CraftFile *b = craft_read(x->arena, "is.craft", plan.craft, &said);
    *pair = (Pair){.name = name, .was = value, .is = number.value};
    pair->follows = arena_array(x->arena, Follows, MOST_LITERALS + 1);
    if (!a || !b || !diag_ok(&said))
        return false;
    pair_files(pair, a, b);
    return pair->same && pair->found && count_in_file(x->file) == pair->literals;
}

static AstExpr *value_of(Arena *arena, const TorchOperand *o)
{
    return o->attr == OPATTR_FLOAT  ? tree_float(arena, o->floats[0])
           : o->attr == OPATTR_BOOL ? tree_bool(arena, o->ints[0] != 0)
                                    : tree_int(arena, o->ints[0]);
}

static void add_parameter(Attributes *x, const TorchOperand *o)
{
    DType type = o->attr == OPATTR_FLOAT ? DT_F32 : o->attr == OPATTR_BOOL ? DT_BOOL : DT_I64;
    tree_param(x->arena, x->host, o->name, tree_dtype(x->arena, type));
    vec_last(&x->host->def->params).value = value_of(x->arena, o);
}

static void put_value(const TorchOperand *o, Buf *out)
{
    if (o->attr == OPATTR_FLOAT)
        buf_double(out, o->floats[0]);
    else if (o->attr == OPATTR_BOOL)
        buf_puts(out, o->ints[0] ? "true" : "false");
    else
        buf_printf(out, "%lld", (long long)o->ints[0]);
}

/* assert name == value: the program was planned for it. */
static void add_refusal(Attributes *x, const TorchOperand *o)
{
    Arena *arena = x->arena;
    AstExpr *name = tree_name(arena, o->name), *right;
    if (o->attr == OPATTR_FLOAT) { /* it comes as f32 */
        double v = o->floats[0], room = v == 0 ? 1e-30 : fabs(v) * 1e-6;
        right = tree_binary(
            arena, TOK_AND, tree_binary(arena, TOK_GE, name, tree_float(arena, v - room)),
            tree_binary(arena, TOK_LE, tree_name(arena, o->name), tree_float(arena, v + room)));
    } else if (o->attr == OPATTR_BOOL) {
        right = o->ints[0] ? name : tree_unary(arena, TOK_NOT, name);
    } else {
        right = tree_binary(arena, TOK_EQ, name, tree_int(arena, o->ints[0]));
    }
    Buf text = {0};
    buf_printf(&text, "made for %s = ", o->name);
    put_value(o, &text);
    AstStmt *refusal = tree_assert(arena, right, buf_take(&text, arena));
    buf_free(&text);
    StmtList *body = &x->host->def->body;
    tree_append(arena, body, refusal);
    memmove(body->at + 1, body->at, (body->len - 1) * sizeof *body->at);
    body->at[0] = refusal;
}

/* An integer that is another one at other sizes (a length, say) says nothing that the tensors do not say. */
static bool follows_sizes(Attributes *x, const TorchOperand *o)
{
    MakeResult copy = *x->result;
    MakeJob job = {.spec = x->spec, .result = &copy};
    Diag said = diag_make(x->arena, x->spec->path, x->spec->source);
    torch_cases(x->arena, x->spec->path, &job.cases, &said);
    TorchOptions options = make_options(&job, x->spec->seed + 101);
    if (!x->other)
        x->other = torch_read_scaled(x->arena, x->spec->path, x->spec->source, &options, SCALE_FUZZ,
                                     &said);
    const TorchOperand *same = x->other ? torch_operand(x->other, o->name) : NULL;
    return same && same->role == OPERAND_ATTR && same->count == 1 && same->ints &&
           same->ints[0] != o->ints[0];
}

/* `declared`: the table has it, so that the operator has it whatever becomes of its value. */
static void find_attribute(Attributes *x, const TorchOperand *o, bool declared)
{
    bool single = o->count == 1 &&
                  (o->attr == OPATTR_FLOAT || o->attr == OPATTR_INT || o->attr == OPATTR_BOOL);
    bool number = o->attr == OPATTR_FLOAT && o->count && isfinite(o->floats[0]);
    Pair *pair = &x->pairs[x->pair_count];
    if (!single || has_word(x->result->plan.craft, o->name) || (o->attr == OPATTR_FLOAT && !number))
        return;
    bool follows = number && x->result->task->graph->nodes.len <= MOST_NODES &&
                   x->probed < MOST_PROBED && (x->probed++, probe(x, o->name, o->floats[0], pair));
    x->pair_count += follows;
    if (follows || declared)
        vec_push(x->arena, &x->added, o);
    if (!follows && declared && !(o->attr == OPATTR_INT && follows_sizes(x, o)))
        vec_push(x->arena, &x->refused, o);
}

static void edit_program(Attributes *x)
{
    replace_literals(x->arena, x->file, x->host, x->pairs, x->pair_count);
    for (uint32_t i = 0; i < x->added.len; i++)
        add_parameter(x, x->added.at[i]);
    for (uint32_t i = x->refused.len; i-- > 0;)
        add_refusal(x, x->refused.at[i]);
}

static const char *attributes_text(const Attributes *x)
{
    Buf out = {0};
    for (uint32_t i = 0; i < x->pair_count; i++)
        buf_printf(&out, "%s%s", i ? ", " : "", x->pairs[i].name);
    buf_puts(&out, x->pair_count ? " of any value" : "");
    for (uint32_t i = 0; i < x->refused.len; i++) {
        buf_printf(&out, "%s%s = ", i ? ", " : out.len ? "; " : "", x->refused.at[i]->name);
        put_value(x->refused.at[i], &out);
    }
    buf_puts(&out, x->refused.len ? " and no other" : "");
    const char *text = buf_take(&out, x->arena);
    buf_free(&out);
    return text;
}

/* What the checker takes; else an attribute has a name that Craft does not allow. */
static bool is_program(Arena *arena, const char *file, Str craft)
{
    Diag said = diag_make(arena, file, craft);
    CraftFile *read = craft_read(arena, file, craft, &said);
    return read && diag_ok(&said) && craft_program(arena, read, 0, &said) && diag_ok(&said);
}

MakeProgram make_attributes(Arena *arena, const MakeSpec *spec, const MakeResult *result, Str craft)
{
    const TorchTask *task = result->task;
    const char *file = str_format(arena, "%s.craft", result->plan.name);
    Diag said = diag_make(arena, file, craft);
    MakeProgram program = {.craft = craft};
    Attributes x = {.arena = arena, .spec = spec, .result = result};
    x.file = craft_read(arena, file, craft, &said);
    x.host = x.file && diag_ok(&said) ? tree_find_host(x.file) : NULL;
    for (uint32_t i = 0; x.host && i < task->operands.len; i++)
        if (task->operands.at[i].role == OPERAND_ATTR)
            find_attribute(&x, &task->operands.at[i], true);
    for (uint32_t i = 0; x.host && i < task->numbers.len; i++)
        if (!torch_operand(task, task->numbers.at[i].name))
            find_attribute(&x, &task->numbers.at[i], false);
    if (!x.added.len)
        return program;
    Buf out = {0};
    edit_program(&x);
    if (tree_finish(x.file, &said) && craft_format(x.file, &out) &&
        is_program(arena, file, buf_view(&out))) {
        program.craft = str_copy(arena, buf_view(&out));
        program.text = attributes_text(&x);
        for (uint32_t i = 0; i < x.pair_count; i++) {
            TorchNumber number = {x.pairs[i].name, x.pairs[i].is};
            vec_push(arena, &program.free, number);
        }
    }
    buf_free(&out);
    return program;
}
