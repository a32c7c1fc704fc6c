/* The tree of a Craft program: what is built prints, reads back to itself, is checked and lowered
 * as its text is; edits change what they say and nothing else. */
#include "craft/tree.h"

#include "base/rng.h"
#include <math.h>
#include "tests/craft/help.h"
#include "tests/t.h"
#include <string.h>

static CraftFile *read_text(Arena *a, Str text)
{
    Diag diag = diag_make(a, "t.craft", text);
    CraftFile *f = craft_read(a, "t.craft", text, &diag);
    REQUIRE(f && diag_ok(&diag));
    return f;
}

static Str printed(Arena *a, const CraftFile *f)
{
    Buf out = {0};
    REQUIRE(craft_format(f, &out));
    Str text = str_copy(a, buf_view(&out));
    buf_free(&out);
    return text;
}

static bool finished(Arena *a, CraftFile *f)
{
    Diag diag = diag_make(a, f->name, STR(""));
    bool ok = tree_finish(f, &diag);
    for (uint32_t i = 0; i < diag.items.len; i++)
        CHECK_MSG(false, "%s", diag.items.at[i].text);
    return ok;
}

static const char *ir_of(Arena *a, const CraftFile *f)
{
    Diag diag = diag_make(a, f->name, f->text);
    IrProgram *p = craft_program(a, f, 0, &diag);
    Buf out = {0};
    if (p)
        ir_print(p, &out);
    else
        diag_print(&diag, &out);
    const char *text = buf_take(&out, a);
    buf_free(&out);
    return text;
}

/* ---- the same places, too ---- */

static bool same_span(Span a, Span b)
{
    return a.line == b.line && a.col == b.col && a.width == b.width;
}

static bool same_places(const AstExpr *a, const AstExpr *b)
{
    if (!a || !b)
        return a == b;
    if (!same_span(a->at, b->at)) {
        CHECK_MSG(false, "kind %d '%.*s' at %u:%u+%u, read at %u:%u+%u", a->kind, STR_ARG(a->text),
                  a->at.line, a->at.col, a->at.width, b->at.line, b->at.col, b->at.width);
        return false;
    }
    for (uint32_t i = 0; i < a->items.len; i++)
        if (!same_places(a->items.at[i], b->items.at[i]))
            return false;
    for (uint32_t i = 0; i < a->keywords.len; i++)
        if (!same_span(a->keywords.at[i].at, b->keywords.at[i].at) ||
            !same_places(a->keywords.at[i].value, b->keywords.at[i].value))
            return false;
    return same_places(a->a, b->a) && same_places(a->b, b->b) && same_places(a->c, b->c);
}

static bool same_block_places(const StmtList *a, const StmtList *b);

static bool same_def_places(const AstDef *a, const AstDef *b)
{
    if (!a || !b)
        return a == b;
    for (uint32_t i = 0; i < a->decorators.len; i++)
        if (!same_places(a->decorators.at[i], b->decorators.at[i]))
            return false;
    for (uint32_t i = 0; i < a->params.len; i++)
        if (!same_span(a->params.at[i].at, b->params.at[i].at) ||
            !same_places(a->params.at[i].type, b->params.at[i].type) ||
            !same_places(a->params.at[i].value, b->params.at[i].value))
            return false;
    return same_span(a->name_at, b->name_at) && same_block_places(&a->body, &b->body);
}

static bool same_block_places(const StmtList *a, const StmtList *b)
{
    for (uint32_t i = 0; i < a->len; i++) {
        const AstStmt *s = a->at[i], *r = b->at[i];
        if (!CHECK_MSG(same_span(s->at, r->at) && s->last_line == r->last_line &&
                           s->else_line == r->else_line,
                       "statement at %u:%u+%u..%u, read at %u:%u+%u..%u", s->at.line, s->at.col,
                       s->at.width, s->last_line, r->at.line, r->at.col, r->at.width, r->last_line))
            return false;
        if (!same_places(s->target, r->target) || !same_places(s->value, r->value) ||
            !same_places(s->text, r->text) || !same_block_places(&s->body, &r->body) ||
            !same_block_places(&s->orelse, &r->orelse) || !same_def_places(s->def, r->def))
            return false;
    }
    return true;
}

/* A finished tree prints as text that reads back to it, with every node in the same place. */
static bool round_trips(Arena *a, CraftFile *f)
{
    if (!finished(a, f))
        return false;
    Str text = printed(a, f);
    CraftFile *again = read_text(a, text);
    bool ok = CHECK(str_equal(text, f->text)) && CHECK(tree_same(f, again)) &&
              CHECK(str_equal(text, printed(a, again))) &&
              CHECK(same_block_places(&f->stmts, &again->stmts));
    if (!ok)
        CHECK_MSG(false, "%.*s", STR_ARG(text));
    return ok;
}

/* ---- texts of the repository ---- */

static void check_text(Arena *a, const char *path)
{
    Str text = help_read(a, path);
    CraftFile *read = read_text(a, text);
    CraftFile *copy = tree_copy(a, read);
    if (!CHECK_MSG(tree_same(read, copy) && round_trips(a, copy), "%s", path))
        return;
    CHECK_MSG(str_equal(printed(a, read), copy->text), "%s", path);
    CHECK_EQ_STR(ir_of(a, copy), ir_of(a, read_text(a, copy->text)));
}

static void check_folder(const char *dir, uint32_t every)
{
    Arena names = {0};
    NameList list = {0};
    Diag diag = diag_make(&names, dir, STR(""));
    REQUIRE(file_list(&names, dir, &list, &diag));
    for (uint32_t i = 0; i < list.len; i += every) {
        Arena a = {0};
        if (str_ends(str_from(list.at[i]), ".craft"))
            check_text(&a, path_join(&names, dir, list.at[i]));
        arena_drop(&a);
    }
    arena_drop(&names);
}

T_TEST(tree_examples_copied_are_the_same) { check_folder("examples", 1); }
T_TEST(tree_planned_programs_copied_are_the_same)
{
    check_folder("bench/baseline/full", 3);
    check_folder("bench/baseline/experts", 7);
}

/* ---- a program built by hand ---- */

static AstExpr *part(Arena *a, const char *buffer)
{
    return TREE_INDEX(a, tree_name(a, buffer), tree_slice(a, NULL, tree_path(a, "t.size")));
}

static AstExpr *row_part(Arena *a, const char *tensor)
{
    return TREE_INDEX(a, tree_name(a, tensor), tree_name(a, "r"), tree_name(a, "t"));
}

static void add_operands(Arena *a, AstStmt *def)
{
    tree_tensor(a, def, "x", "gm", tree_name(a, "T"), TREE_NAMES(a, "rows", "cols"));
    tree_tensor(a, def, "y", "out", tree_name(a, "T"), TREE_NAMES(a, "rows", "cols"));
}

/* A pass over the tiles of a row: load, then what is returned. */
static AstStmt *add_pass(Arena *a, AstStmt *rows)
{
    AstStmt *loop = tree_append(a, &rows->body,
                                tree_for_tiles(a, "t", false, TREE_NAMES(a, "cols", "tile")));
    AstStmt *in = tree_append(a, &loop->body, tree_stage(a, "copyin"));
    tree_append(a, &in->body, tree_load(a, part(a, "a"), row_part(a, "x")));
    return loop;
}

static AstExpr *exponential(Arena *a)
{
    return TREE_CALL(a, "exp", tree_binary(a, TOK_MINUS, part(a, "a"), tree_name(a, "m")));
}

static void add_kernel(Arena *a, CraftFile *f)
{
    AstStmt *k = tree_kernel(a, f, "softmax_rows", NULL);
    AstExpr *f32 = tree_dtype(a, DT_F32);
    add_operands(a, k);
    tree_param(a, k, "tile", tree_dtype(a, DT_I32));
    tree_append(a, &k->def->body, tree_buffer(a, "a", "ub", f32, TREE_NAMES(a, "tile"), 2));
    tree_append(a, &k->def->body, tree_buffer(a, "e", "ub", f32, TREE_NAMES(a, "tile"), 2));
    AstStmt *rows = tree_append(a, &k->def->body, tree_for_mine(a, "r", TREE_NAMES(a, "rows")));
    tree_trailing(a, rows, "this core's rows; none lost, none twice");
    tree_append(a, &rows->body, tree_set(a, "m", tree_float(a, -INFINITY)));
    AstStmt *loop = add_pass(a, rows);
    tree_trailing(a, loop, "ranges; the last may be short");
    AstStmt *work = tree_append(a, &loop->body, tree_stage(a, "compute"));
    AstExpr *most = TREE_CALL(a, "reduce_max", part(a, "a"));
    tree_append(a, &work->body, tree_set(a, "m", TREE_CALL(a, "max", tree_name(a, "m"), most)));
    tree_append(a, &rows->body, tree_set(a, "s", tree_float(a, 0)));
    work = tree_append(a, &add_pass(a, rows)->body, tree_stage(a, "compute"));
    tree_append(a, &work->body, tree_assign(a, part(a, "e"), TOK_ASSIGN, exponential(a)));
    AstExpr *sum = TREE_CALL(a, "reduce_sum", part(a, "e"));
    tree_append(a, &work->body, tree_set(a, "s", tree_binary(a, TOK_PLUS, tree_name(a, "s"), sum)));
    loop = add_pass(a, rows);
    work = tree_append(a, &loop->body, tree_stage(a, "compute"));
    AstExpr *share = tree_binary(a, TOK_SLASH, exponential(a), tree_name(a, "s"));
    tree_append(a, &work->body, tree_assign(a, part(a, "e"), TOK_ASSIGN, share));
    work = tree_append(a, &loop->body, tree_stage(a, "copyout"));
    tree_append(a, &work->body, tree_store(a, row_part(a, "y"), part(a, "e")));
}

/* examples/softmax.craft */
static CraftFile *build_softmax(Arena *a)
{
    CraftFile *f = tree_module(a, "softmax");
    tree_comment(a, f->stmts.at[0], "Row softmax: three passes over a row, one row at a time.");
    tree_dtypes(a, f, "T", (DType[]){DT_F32}, 1);
    tree_dim(a, f, "rows", 1, 1048576, 1);
    tree_dim(a, f, "cols", 1, 1048576, 1);
    AstStmt *host = tree_host(a, f, "softmax");
    add_operands(a, host);
    tree_append(a, &host->def->body, tree_choose(a, "tile", (int64_t[]){4096, 2048, 8192}, 3));
    AstExpr *cores = TREE_CALL(a, "min", tree_name(a, "rows"), tree_path(a, "chip.cores"));
    tree_append(a, &host->def->body,
                tree_launch(a, "softmax_rows", cores, TREE_NAMES(a, "x", "y", "tile")));
    add_kernel(a, f);
    return f;
}

T_TEST(tree_built_by_hand_is_its_text)
{
    Arena a = {0};
    CraftFile *f = build_softmax(&a);
    Str text = help_read(&a, "examples/softmax.craft");
    uint64_t reads = craft_read_count();
    REQUIRE(finished(&a, f));
    CHECK_EQ_SLICE(printed(&a, f), str_dup(&a, text));
    const char *ir = ir_of(&a, f);
    CHECK_EQ_INT(craft_read_count(), reads);
    CHECK_EQ_STR(ir, ir_of(&a, read_text(&a, text)));
    CHECK_EQ_INT(craft_read_count(), reads + 1);
    CHECK(round_trips(&a, f));
    arena_drop(&a);
}

/* The program of docs/craft-tree.md, statement by statement. */
T_TEST(tree_of_the_documentation_builds)
{
    Arena arena = {0}, *a = &arena;
    CraftFile *f = tree_module(a, "relu");
    tree_comment(a, f->stmts.at[0], "One pass over the elements.");
    tree_dim(a, f, "n", 1, 1 << 20, 1);
    AstStmt *host = tree_host(a, f, "relu");
    tree_tensor(a, host, "x", "gm", tree_dtype(a, DT_F32), TREE_NAMES(a, "n"));
    tree_tensor(a, host, "y", "out", tree_dtype(a, DT_F32), TREE_NAMES(a, "n"));
    tree_append(a, &host->def->body, tree_choose(a, "tile", (int64_t[]){4096, 2048}, 2));
    tree_append(
        a, &host->def->body,
        tree_launch(a, "relu_tiles", tree_path(a, "chip.cores"), TREE_NAMES(a, "x", "y", "tile")));
    AstStmt *kernel = tree_kernel(a, f, "relu_tiles", NULL);
    tree_tensor(a, kernel, "x", "gm", tree_dtype(a, DT_F32), TREE_NAMES(a, "n"));
    tree_tensor(a, kernel, "y", "out", tree_dtype(a, DT_F32), TREE_NAMES(a, "n"));
    tree_param(a, kernel, "tile", tree_dtype(a, DT_I32));
    tree_append(a, &kernel->def->body,
                tree_buffer(a, "b", "ub", tree_dtype(a, DT_F32), TREE_NAMES(a, "tile"), 2));
    AstStmt *loop = tree_append(a, &kernel->def->body,
                                tree_for_tiles(a, "t", true, TREE_NAMES(a, "n", "tile")));
    AstExpr *b = TREE_INDEX(a, tree_name(a, "b"), tree_slice(a, NULL, tree_path(a, "t.size")));
    AstStmt *in = tree_append(a, &loop->body, tree_stage(a, "copyin"));
    tree_append(a, &in->body, tree_load(a, b, TREE_INDEX(a, tree_name(a, "x"), tree_name(a, "t"))));
    AstStmt *work = tree_append(a, &loop->body, tree_stage(a, "compute"));
    tree_append(a, &work->body, tree_assign(a, b, TOK_ASSIGN, TREE_CALL(a, "relu", b)));
    AstStmt *out = tree_append(a, &loop->body, tree_stage(a, "copyout"));
    tree_append(a, &out->body,
                tree_store(a, TREE_INDEX(a, tree_name(a, "y"), tree_name(a, "t")), b));
    CHECK(round_trips(a, f));
    CHECK(help_builds(a, "relu", f->text));
    arena_drop(a);
}

/* ---- random trees ---- */

typedef struct Maker {
    Arena *arena;
    uint64_t seed, drawn;
} Maker;

static uint32_t draw(Maker *m, uint32_t below)
{
    return (uint32_t)(rng_u64(m->seed, 3, m->drawn++) % below);
}

static AstExpr *random_expr(Maker *m, int depth);

static AstExpr *random_word(Maker *m)
{
    static const char *const names[] = {"a", "tile", "chip", "n0", "long_name_of_a_buffer", "x"};
    static const double floats[] = {0.5, 1e-6, 3, 1e30, 0.1, 6.02214076e23, -2.5, 1.0 / 3};
    switch (draw(m, 7)) {
    case 0: return tree_int(m->arena, (int64_t)draw(m, 100000) - 20000);
    case 1: return tree_float(m->arena, floats[draw(m, 8)]);
    case 2: return tree_text(m->arena, draw(m, 2) ? "tile, b" : "a\"\\\n\tb'");
    case 3: return tree_bool(m->arena, draw(m, 2));
    default: return tree_name(m->arena, names[draw(m, 6)]);
    }
}

static TreeList random_items(Maker *m, uint32_t least, int depth, bool slices)
{
    uint32_t n = least + draw(m, 4);
    AstExpr **at = arena_array(m->arena, AstExpr *, n + 1);
    for (uint32_t i = 0; i < n; i++)
        at[i] = slices && draw(m, 3) == 0
                    ? tree_slice(m->arena, draw(m, 2) ? random_expr(m, depth) : NULL,
                                 draw(m, 2) ? random_expr(m, depth) : NULL)
                    : random_expr(m, depth);
    return (TreeList){at, n};
}

static AstExpr *random_call(Maker *m, int depth)
{
    Arena *a = m->arena;
    AstExpr *e = tree_call_of(a, random_expr(m, depth), random_items(m, 0, depth, false));
    for (uint32_t i = draw(m, 3); i > 1; i--)
        tree_keyword(a, e, i & 1 ? "depth" : "fill", random_expr(m, depth));
    return e;
}

static AstExpr *random_expr(Maker *m, int depth)
{
    static const Tok unary[] = {TOK_MINUS, TOK_PLUS, TOK_TILDE, TOK_NOT};
    static const Tok binary[] = {TOK_PLUS, TOK_MINUS, TOK_STAR,    TOK_SLASH,   TOK_SLASHSLASH,
                                 TOK_OR,   TOK_AND,   TOK_PIPE,    TOK_CARET,   TOK_AMP,
                                 TOK_SHL,  TOK_SHR,   TOK_EQ,      TOK_NE,      TOK_LT,
                                 TOK_GE,   TOK_IN,    TOK_PERCENT, TOK_STARSTAR};
    Arena *a = m->arena;
    if (depth-- <= 0)
        return random_word(m);
    switch (draw(m, 11)) {
    case 0: return tree_unary(a, unary[draw(m, 4)], random_expr(m, depth));
    case 1:
    case 2:
    case 3: {
        AstExpr *left = random_expr(m, depth);
        return tree_binary(a, binary[draw(m, 19)], left, random_expr(m, depth));
    }
    case 4: {
        AstExpr *yes = random_expr(m, depth), *when = random_expr(m, depth);
        return tree_cond(a, yes, when, random_expr(m, depth));
    }
    case 5: return random_call(m, depth);
    case 6: {
        AstExpr *base = random_expr(m, depth);
        return tree_index(a, base, random_items(m, 1, depth, true));
    }
    case 7: return tree_attr(a, random_expr(m, depth), "size");
    case 8: return tree_list(a, random_items(m, 0, depth, false));
    case 9: return tree_tuple(a, random_items(m, 0, depth, false));
    default: return random_word(m);
    }
}

static AstExpr *random_target(Maker *m)
{
    Arena *a = m->arena;
    AstExpr *name = tree_name(a, "b");
    if (draw(m, 3) == 0)
        name = tree_index(a, name, random_items(m, 1, 1, true));
    return draw(m, 4) ? name : tree_tuple(a, TREE_LIST(name, tree_name(a, "c")));
}

static AstStmt *random_stmt(Maker *m, int depth);

static void random_block(Maker *m, StmtList *block, int depth)
{
    for (uint32_t n = draw(m, 4); n > 0; n--)
        tree_append(m->arena, block, random_stmt(m, depth));
    if (block->len && draw(m, 5) == 0)
        tree_comment_end(m->arena, block, "the end");
}

static AstStmt *random_if(Maker *m, int depth)
{
    AstStmt *s = tree_if(m->arena, random_expr(m, 2)), *last = s;
    random_block(m, &s->body, depth);
    for (uint32_t n = draw(m, 3); n > 0; n--) {
        last = tree_elif(m->arena, last, random_expr(m, 2));
        random_block(m, &last->body, depth);
    }
    if (draw(m, 2))
        random_block(m, &last->orelse, depth);
    return s;
}

static AstStmt *random_plain(Maker *m, int depth)
{
    Arena *a = m->arena;
    switch (depth > 0 ? draw(m, 10) : draw(m, 6)) {
    case 0: return tree_do(a, random_call(m, 2));
    case 1: return tree_assert(a, random_expr(m, 2), draw(m, 2) ? "must hold" : NULL);
    case 2: return tree_return(a, draw(m, 2) ? random_expr(m, 2) : NULL);
    case 3: return tree_pass(a);
    case 4: return tree_assign(a, tree_name(a, "s"), TOK_PLUSEQ, random_expr(m, 3));
    case 5: return tree_assign(a, random_target(m), TOK_ASSIGN, random_expr(m, 4));
    case 6: {
        AstStmt *s = tree_for(a, random_target(m), random_expr(m, 2));
        random_block(m, &s->body, depth - 1);
        return s;
    }
    case 7: {
        AstStmt *s = tree_with(a, random_expr(m, 1));
        random_block(m, &s->body, depth - 1);
        return s;
    }
    default: return random_if(m, depth - 1);
    }
}

static AstStmt *random_stmt(Maker *m, int depth)
{
    AstStmt *s = random_plain(m, depth);
    s->blank = draw(m, 5) == 0;
    if (draw(m, 6) == 0)
        tree_comment(m->arena, s, "a reason\nof two lines");
    if (draw(m, 6) == 0)
        tree_trailing(m->arena, s, "and another");
    return s;
}

static CraftFile *random_file(Maker *m)
{
    CraftFile *f = tree_module(m->arena, "random");
    for (uint32_t n = 1 + draw(m, 3); n > 0; n--) {
        AstStmt *def = n == 2 ? tree_host(m->arena, f, "op") : tree_helper(m->arena, f, "h");
        for (uint32_t p = draw(m, 7); p > 0; p--)
            tree_param(m->arena, def, "parameter", p & 1 ? random_expr(m, 2) : NULL);
        random_block(m, &def->def->body, 3);
    }
    return f;
}

T_TEST(tree_random_ones_read_back)
{
    for (uint64_t seed = 1; seed <= 400; seed++) {
        Arena a = {0};
        Maker m = {.arena = &a, .seed = seed};
        CHECK_MSG(round_trips(&a, random_file(&m)), "seed %llu", (unsigned long long)seed);
        arena_drop(&a);
    }
}

/* ---- what cannot be read back is refused ---- */

static const char *refused(Arena *a, AstStmt *s)
{
    CraftFile *f = tree_module(a, "bad");
    Diag diag = diag_make(a, "bad", STR(""));
    tree_append(a, &tree_host(a, f, "op")->def->body, s);
    bool ok = tree_finish(f, &diag);
    CHECK(ok == !diag.items.len);
    return ok ? "" : diag.items.at[0].code;
}

T_TEST(tree_finish_refuses_what_no_text_could_say)
{
    Arena a = {0};
    AstExpr *x = tree_name(&a, "x"), *deep = x;
    for (int i = 0; i < CRAFT_MAX_DEPTH + 1; i++)
        deep = tree_unary(&a, TOK_MINUS, deep);
    CHECK_EQ_STR(refused(&a, tree_do(&a, x)), "");
    CHECK_EQ_STR(refused(&a, tree_do(&a, tree_name(&a, "not a name"))), "E005");
    CHECK_EQ_STR(refused(&a, tree_do(&a, tree_name(&a, "while"))), "E005");
    CHECK_EQ_STR(refused(&a, tree_do(&a, tree_slice(&a, x, x))), "E005");
    CHECK_EQ_STR(refused(&a, tree_do(&a, tree_index(&a, x, (TreeList){0}))), "E005");
    CHECK_EQ_STR(refused(&a, tree_do(&a, tree_binary(&a, TOK_WALRUS, x, x))), "E010");
    CHECK_EQ_STR(refused(&a, tree_do(&a, tree_binary(&a, TOK_PLUS, x, NULL))), "E005");
    CHECK_EQ_STR(refused(&a, tree_assign(&a, tree_int(&a, 1), TOK_ASSIGN, x)), "E009");
    CHECK_EQ_STR(refused(&a, tree_assign(&a, x, TOK_PLUS, x)), "E006");
    CHECK_EQ_STR(refused(&a, tree_do(&a, deep)), "E007");
    AstStmt *elif = tree_if(&a, x);
    elif->is_elif = true;
    CHECK_EQ_STR(refused(&a, elif), "E005");
    arena_drop(&a);
}

/* ---- edits ---- */

T_TEST(tree_edits_change_what_they_name)
{
    Arena a = {0};
    CraftFile *f = build_softmax(&a);
    AstStmt *k = tree_find_def(f, "softmax_rows");
    TreeName names[] = {{"e", tree_name(&a, "expo")}, {"m", tree_name(&a, "top")}};
    tree_rename(&a, &k->def->body, (TreeNames){names, 2});
    REQUIRE(tree_restrict_dim(&a, f, "rows", 0, 1000, 16));
    CHECK(!tree_restrict_dim(&a, f, "rows", 1001, 2000, 1));
    CHECK(!tree_restrict_dim(&a, f, "nothing", 1, 2, 1));
    tree_fix(&a, f, "T", tree_dtype(&a, DT_F32));
    tree_fix(&a, f, "cols", tree_int(&a, 64));
    CHECK(tree_change_role(&a, k, "y", "ws"));
    REQUIRE(finished(&a, f));
    Str text = printed(&a, f);
    CHECK(str_find(text, STR("rows = dim(16, 992, 16)")) >= 0);
    CHECK(str_find(text, STR("def softmax_rows(x: gm[f32, rows, 64], y: ws[f32, rows, 64], ")) >=
          0);
    CHECK(str_find(text, STR("expo[:t.size] = exp(a[:t.size] - top)")) >= 0);
    CHECK(str_find(text, STR("tiles(64, tile)")) >= 0);
    CHECK(str_find(text, STR("cols")) < 0 && str_find(text, STR("T]")) < 0);
    arena_drop(&a);
}

T_TEST(tree_dtypes_change_but_conversions_stay)
{
    Arena a = {0};
    CraftFile *f = read_text(&a, STR("craft = 1\n\n@kernel\ndef k(x: gm[f32, n], eps: f32):\n"
                                     "    a = ub(f32, 64)\n    s = f32(n) * 2.0\n"
                                     "    a[:n] = cast(a[:n], f32)\n"));
    tree_change_dtype(&a, &f->stmts, DT_F32, DT_F16);
    CHECK_EQ_SLICE(printed(&a, f), "craft = 1\n\n@kernel\ndef k(x: gm[f16, n], eps: f16):\n"
                                   "    a = ub(f16, 64)\n    s = f32(n) * 2.0\n"
                                   "    a[:n] = cast(a[:n], f16)\n");
    arena_drop(&a);
}

/* A shared node is replaced once in each of its places. */
T_TEST(tree_substitution_of_shared_nodes)
{
    Arena a = {0};
    CraftFile *f = tree_module(&a, "shared");
    AstExpr *n = tree_name(&a, "n");
    AstStmt *host = tree_host(&a, f, "op");
    tree_append(&a, &host->def->body, tree_set(&a, "s", tree_binary(&a, TOK_STAR, n, n)));
    TreeName up = {"n", tree_binary(&a, TOK_PLUS, n, tree_int(&a, 1))};
    tree_rename(&a, &host->def->body, (TreeNames){&up, 1});
    CHECK(round_trips(&a, f));
    CHECK_EQ_SLICE(printed(&a, f), "craft = 1\n\n@host\ndef op():\n    s = (n + 1) * (n + 1)\n");
    arena_drop(&a);
}

/* Two softmaxes, the second over what the first leaves in a workspace. */
T_TEST(tree_join_makes_one_program_of_two)
{
    Arena a = {0};
    CraftFile *f = build_softmax(&a), *second = build_softmax(&a);
    AstStmt *host = tree_find_host(f);
    TreeName to_workspace = {"y", tree_name(&a, "w")};
    StmtList body = host->def->body;
    tree_rename(&a, &body, (TreeNames){&to_workspace, 1});
    REQUIRE(tree_change_role(&a, tree_find_def(f, "softmax_rows"), "y", "ws"));
    host->def->params.len = 1;
    AstStmt *w = tree_workspace(&a, "w", tree_name(&a, "T"), TREE_NAMES(&a, "rows", "cols"));
    AstStmt *launch = host->def->body.at[1];
    host->def->body.at[1] = w;
    tree_append(&a, &host->def->body, launch);
    REQUIRE(tree_change_role(&a, tree_find_def(second, "softmax_rows"), "x", "ws"));
    REQUIRE(tree_restrict_dim(&a, second, "rows", 1, 77, 1));
    TreeName names[] = {{"x", tree_name(&a, "w")},
                        {"rows", tree_name(&a, "rows")},
                        {"cols", tree_name(&a, "cols")},
                        {"T", tree_name(&a, "T")}};
    REQUIRE(tree_join(&a, f, second, (TreeNames){names, 4}, "s1_"));
    REQUIRE(round_trips(&a, f));
    Str text = printed(&a, f);
    CHECK(str_find(text, STR("rows = dim(1, 77)\n")) >= 0);
    CHECK(str_find(text, STR("def softmax(x: gm[T, rows, cols], y: out[T, rows, cols]):\n"
                             "    tile = choose(\"tile\", [4096, 2048, 8192])\n"
                             "    w = workspace(T, rows, cols)\n"
                             "    softmax_rows[min(rows, chip.cores)](x, w, tile)\n"
                             "    s1_tile = choose(\"s1_tile\", [4096, 2048, 8192])\n"
                             "    s1_softmax_rows[min(rows, chip.cores)](w, y, s1_tile)\n")) >= 0);
    CHECK(help_builds(&a, "joined", text));
    arena_drop(&a);
}
