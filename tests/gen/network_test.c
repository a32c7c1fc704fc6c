/* Networks: layers that repeat share a kernel, workspaces share memory, recurrent layers are planned. */
#include "craft/craft.h"
#include "gen/plan/chain.h"
#include "gen/plan/rewrite.h"
#include "lower/lower.h"
#include "tests/t.h"
#include <string.h>

static const NpuChip *chip_of(void) { return npu_chip_find(STR("910B2")); }

static ValueId add_input(Graph *g, const char *name, DType dtype, Shape shape)
{
    Value v = {
        .dtype = dtype, .kind = VALUE_INPUT, .name = name, .node = NODE_NONE, .shape = shape};
    ValueId id = graph_add_value(g, v);
    vec_push(g->arena, &g->inputs, id);
    return id;
}

static ValueId add_node(Graph *g, NodeSpec spec)
{
    Diag diag = diag_make(g->arena, "t", STR(""));
    ValueId out = VALUE_NONE;
    REQUIRE(graph_add(g, &spec, &diag, &out));
    return out;
}

static ValueId add_param(Graph *g, const char *name, DType dtype, Shape shape)
{
    Value v = {
        .dtype = dtype, .kind = VALUE_PARAM, .name = name, .node = NODE_NONE, .shape = shape};
    ValueId id = graph_add_value(g, v);
    vec_push(g->arena, &g->params, id);
    return id;
}

/* x, then `layers` times relu(linear(x, w, b)), all of one width. */
static Graph *perceptron(Arena *arena, int layers)
{
    Graph *g = graph_new(arena, "deep");
    ValueId x = add_input(g, "x", DT_F32, (Shape){2, {256, 512}});
    for (int i = 0; i < layers; i++) {
        ValueId in[] = {x,
                        add_param(g, str_format(arena, "w%d", i), DT_F32, (Shape){2, {512, 512}}),
                        add_param(g, str_format(arena, "b%d", i), DT_F32, (Shape){1, {512}})};
        x = add_node(g, (NodeSpec){.op = OP_LINEAR, .n_in = 3, .in = in});
        x = add_node(g, (NodeSpec){.op = OP_UNARY, .kind = UNARY_relu, .n_in = 1, .in = &x});
    }
    vec_push(arena, &g->outputs, x);
    return g;
}

static int count(Str text, const char *what)
{
    int n = 0;
    for (const char *at = text.at; (at = strstr(at, what)); at++)
        n++;
    return n;
}

static const AscProgram *lowered(Arena *arena, const Plan *plan)
{
    Diag diag = diag_make(arena, "t", plan->craft);
    CraftFile *file = craft_read(arena, "t", plan->craft, &diag);
    IrProgram *ir = file ? craft_program(arena, file, 0, &diag) : NULL;
    const AscProgram *p = ir ? lower_program(arena, ir, chip_of(), LOWER_ALIGN, &diag) : NULL;
    CHECK_MSG(p, "%s\n%.*s", diag.items.len ? diag.items.at[0].text : "", STR_ARG(plan->craft));
    return p;
}

T_TEST(network_of_equal_layers_has_one_kernel_for_all_of_them)
{
    Arena arena = {0};
    Plan six = {0}, eight = {0};
    Diag diag = diag_make(&arena, "t", STR(""));
    REQUIRE(plan_make(&arena, perceptron(&arena, 6), chip_of(), 0, &six, &diag));
    REQUIRE(plan_make(&arena, perceptron(&arena, 8), chip_of(), 0, &eight, &diag));
    CHECK_EQ_INT(count(eight.craft, "@kernel"), count(six.craft, "@kernel"));
    CHECK(count(six.craft, "](") >= 6);
    CHECK(count(eight.craft, "](") >= count(six.craft, "](") + 2);
    arena_drop(&arena);
}

/* The expression where every size is 256; -1: it has other parts than sums and products. */
static int64_t at_256(const IrProgram *p, IrExprId id)
{
    const IrExpr *e = &p->exprs.at[id];
    int64_t value = 0;
    if (!id || ir_is_int(p, id, &value))
        return value;
    if (e->op == IR_E_VAR)
        return 256;
    if (e->op != IR_E_MUL && e->op != IR_E_ADD)
        return -1;
    int64_t a = at_256(p, e->arg[0]), b = at_256(p, e->arg[1]);
    return a < 0 || b < 0 ? -1 : e->op == IR_E_MUL ? a * b : a + b;
}

/* Between the last launch that touches one workspace and the first that touches the other. */
T_TEST(network_workspaces_share_memory_when_no_launch_needs_both)
{
    Arena arena = {0};
    Plan plan = {0};
    Diag diag = diag_make(&arena, "t", STR(""));
    REQUIRE(plan_make(&arena, perceptron(&arena, 6), chip_of(), 0, &plan, &diag));
    const AscProgram *p = lowered(&arena, &plan);
    REQUIRE(p && p->paths.len == 1);
    const AscPath *path = &p->paths.at[0];
    CHECK(count(plan.craft, "size0 = dim(1, ") == 1); /* samples */
    CHECK(path->rooms.len > 6);
    int64_t most = 0;
    for (uint32_t i = 0; i < path->rooms.len; i++) {
        const AscRoom *a = &path->rooms.at[i];
        int64_t at = at_256(p->ir, a->offset), bytes = at_256(p->ir, a->bytes);
        if (at < 0 || bytes <= 0) /* a channel: as many as there are cores */
            continue;
        most = at + bytes > most ? at + bytes : most;
        for (uint32_t k = 0; k < i; k++) {
            const AscRoom *b = &path->rooms.at[k];
            int64_t from = at_256(p->ir, b->offset), size = at_256(p->ir, b->bytes);
            bool meet = a->first <= b->last && b->first <= a->last;
            CHECK(!meet || from < 0 || size <= 0 || at + bytes <= from || from + size <= at);
        }
    }
    CHECK_EQ_INT(most, 2 * 256 * 512 * 4);
    arena_drop(&arena);
}

/* Graphs that compute the same have the same key, whatever their names; others have not. */
T_TEST(network_key_says_what_is_computed)
{
    Arena arena = {0};
    Graph *a = perceptron(&arena, 1), *b = perceptron(&arena, 1), *c = perceptron(&arena, 1);
    b->name = "other";
    b->values.at[0].name = "image";
    c->nodes.at[1].kind = UNARY_tanh;
    CHECK(str_equal(chain_key(&arena, a), chain_key(&arena, b)));
    CHECK(!str_equal(chain_key(&arena, a), chain_key(&arena, c)));
    arena_drop(&arena);
}

/* ---- recurrent layers ---- */

typedef struct Recurrent {
    int kind;
    int64_t layers;
    bool both, bias, first;
    DType dtype;
} Recurrent;

static Graph *recurrent(Arena *arena, const Recurrent *of)
{
    enum { STEPS = 5, BATCH = 3, WIDTH = 20, HIDDEN = 12 };
    Graph *g = graph_new(arena, "cells");
    int64_t gates = of->kind == RNN_lstm ? 4 : of->kind == RNN_gru ? 3 : 1, ways = of->both ? 2 : 1;
    Shape x = {3, {of->first ? BATCH : STEPS, of->first ? STEPS : BATCH, WIDTH}};
    VEC(ValueId) in = {0};
    vec_push(arena, &in, add_input(g, "x", of->dtype, x));
    vec_push(arena, &in, VALUE_NONE);
    vec_push(arena, &in, VALUE_NONE);
    for (int64_t i = 0; i < of->layers * ways; i++) {
        int64_t width = i < ways ? WIDTH : HIDDEN * ways;
        Shape parts[] = {{2, {gates * HIDDEN, width}},
                         {2, {gates * HIDDEN, HIDDEN}},
                         {1, {gates * HIDDEN}},
                         {1, {gates * HIDDEN}}};
        for (int k = 0; k < (of->bias ? 4 : 2); k++)
            vec_push(
                arena, &in,
                add_input(g, str_format(arena, "w%lld_%d", (long long)i, k), of->dtype, parts[k]));
    }
    Attr attrs[] = {{.key = AT_BATCH_FIRST, .i = of->first},
                    {.key = AT_LAYERS, .i = of->layers},
                    {.key = AT_HIDDEN, .i = HIDDEN},
                    {.key = AT_BIAS, .i = of->bias},
                    {.key = AT_BIDIRECTIONAL, .i = of->both}};
    ValueId y = add_node(g, (NodeSpec){.op = OP_RNN,
                                       .kind = of->kind,
                                       .n_in = in.len,
                                       .n_out = of->kind == RNN_lstm ? 3 : 2,
                                       .in = in.at,
                                       .n_attr = 5,
                                       .attr = attrs});
    vec_push(arena, &g->outputs, y);
    vec_push(arena, &g->outputs, y + (of->kind == RNN_lstm ? 2 : 1));
    return g;
}

T_TEST(network_recurrent_layers_are_planned_and_build)
{
    static const Recurrent rows[] = {
        {RNN_lstm, 1, false, true, false, DT_F32}, {RNN_lstm, 2, false, true, true, DT_F32},
        {RNN_gru, 1, false, false, false, DT_F32}, {RNN_gru, 1, true, true, true, DT_F32},
        {RNN_tanh, 1, false, true, false, DT_F32}, {RNN_relu, 1, false, true, false, DT_F16}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Arena arena = {0};
        Plan plan = {0};
        Diag diag = diag_make(&arena, "t", STR(""));
        bool ok = plan_make(&arena, recurrent(&arena, &rows[i]), chip_of(), 0, &plan, &diag);
        CHECK_MSG(ok, "row %zu: %s", i, diag.items.len ? diag.items.at[0].text : "no plan");
        CHECK(!ok || count(plan.craft, "sync_all()") >= 3);
        CHECK(!ok || lowered(&arena, &plan));
        arena_drop(&arena);
    }
}
