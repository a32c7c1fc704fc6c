/* Drawn tasks: the reader reads their files back to the graph that was drawn. */
#include "rows/rows_int.h"

#include "base/file.h"
#include "tests/t.h"
#include <stdio.h>
#include <string.h>

T_TEST(drawn_files_are_read_back)
{
    uint32_t drawn = 0, families = 0;
    for (uint64_t i = 0; i < 400; i++) {
        Arena arena = {0};
        RowsTask task;
        bool differs;
        if (rows_draw(&arena, 3, i < 200 ? i : ROWS_WIDE + i, &task, &differs)) {
            drawn++;
            families |= 1u << task.family;
        }
        CHECK_MSG(!differs, "task %d:\n%.*s", (int)i, STR_ARG(task.model));
        arena_drop(&arena);
    }
    CHECK_MSG(drawn > 300, "%u of 400 drawn", drawn);
    CHECK_EQ_INT(families, (uint32_t)((UINT64_C(1) << FAMILY_COUNT) - 1));
}

/* slice_scatter of a whole axis: the reader leaves it out. */
T_TEST(nothing_is_drawn_that_the_reader_takes_away)
{
    static const uint64_t numbers[] = {5523, 84615, 97207};
    for (int i = 0; i < 3; i++) {
        Arena arena = {0};
        RowsTask task = {0};
        bool differs = false;
        rows_draw(&arena, 31, ROWS_WIDE + numbers[i], &task, &differs);
        CHECK_MSG(!differs, "%.*s", STR_ARG(task.model));
        arena_drop(&arena);
    }
}

T_TEST(a_task_is_the_same_every_time)
{
    Arena arena = {0};
    RowsTask a, b, other;
    bool differs;
    REQUIRE(rows_draw(&arena, 5, 13, &a, &differs));
    REQUIRE(rows_draw(&arena, 5, 13, &b, &differs));
    REQUIRE(rows_draw(&arena, 5, 14, &other, &differs));
    CHECK(str_equal(a.model, b.model));
    CHECK(!str_equal(a.model, other.model));
    arena_drop(&arena);
}

T_TEST(a_reshape_is_spelt_where_sizes_coincide)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "drawn", STR(""));
    Graph *g = graph_new(&arena, "model");
    g->source = graph_new(&arena, "source");
    ValueId x = graph_add_value(g, (Value){.dtype = DT_F32,
                                           .shape = {2, {65, 1}},
                                           .kind = VALUE_INPUT,
                                           .node = NODE_NONE,
                                           .name = "x"});
    vec_push(&arena, &g->inputs, x);
    int64_t shape[] = {65};
    Attr attr = {.key = AT_SHAPE};
    attr.ints.at = shape;
    attr.ints.len = 1;
    NodeSpec spec = {.op = OP_RESHAPE, .n_in = 1, .in = &x, .n_attr = 1, .attr = &attr};
    ValueId y;
    REQUIRE(graph_add(g, &spec, &diag, &y));
    vec_push(&arena, &g->outputs, y);
    ModelDims dims = {0};
    Buf out = {0};
    REQUIRE(model_write(&arena, g, &dims, 0, &out));
    CHECK(strstr(out.at, "torch.flatten(x, 0, 1)") != NULL);
    CHECK(strstr(out.at, "torch.randn(65, 1)") != NULL);
    buf_free(&out);
    arena_drop(&arena);
}

/* ---- near a suite ---- */

static RowsTask task_of(Arena *arena, const char *file)
{
    RowsTask task = {.model = str_from(file)};
    task.read = rows_read(arena, task.model, NULL, 0);
    REQUIRE(task.read != NULL);
    return task;
}

#define FILE_OF(body)                                                          \
    "import torch\nimport torch.nn as nn\nn = 16\n\nclass Model(nn.Module):\n" \
    "    def forward(self, x):\n        " body                                 \
    "\n\ndef get_inputs():\n    return [torch.randn(n, "                       \
    "64)]\n\ndef get_init_inputs():\n    return []\n"

T_TEST(a_task_of_a_suite_is_recognised)
{
    Arena arena = {0};
    RowsSuites suites = {0};
    rows_suites_add(&suites, "tasks/activation");
    REQUIRE(suites.files > 5);
    RowsTask relu = task_of(&arena, FILE_OF("return torch.relu(x)"));
    RowsTask both = task_of(&arena, FILE_OF("return torch.relu(x) * torch.atan(x)"));
    CHECK_EQ_INT(rows_near(&arena, &suites, &relu),
                 NEAR_GRAPH); /* at other sizes, otherwise spelt */
    CHECK_EQ_INT(rows_near(&arena, &suites, &both), NEAR_NOT);
    arena_drop(&suites.arena);
    arena_drop(&arena);
}

T_TEST(words_of_a_suite_are_recognised)
{
    Arena arena = {0};
    RowsSuites suites = {0};
    rows_suites_add(&suites, "tasks/activation");
    /* another graph, in which a run of the suite's words stands */
    RowsTask task = task_of(&arena, FILE_OF("return (x + 0.044715 * torch.pow(x, 3.0)) * 2.0"));
    CHECK_EQ_INT(rows_near(&arena, &suites, &task), NEAR_WORDS);
    arena_drop(&suites.arena);
    arena_drop(&arena);
}

/* Rows do not run out: nearly every task has a graph of its own, however many are drawn. */
T_TEST(drawn_graphs_are_distinct)
{
    Arena keep = {0};
    Map seen = {0};
    uint32_t drawn = 0, distinct = 0, found;
    for (uint64_t number = 90000; number < 93000; number++) {
        Arena arena = {0};
        RowsTask task = {.number = number};
        bool differs;
        if (rows_draw(&arena, 1, number, &task, &differs)) {
            Buf text = {0};
            graph_print(graph_normal(&arena, task.read->graph), &text);
            drawn++;
            distinct += !map_get(&seen, buf_view(&text), &found);
            map_put(&keep, &seen, str_copy(&keep, buf_view(&text)), 1);
            buf_free(&text);
        }
        arena_drop(&arena);
    }
    CHECK_MSG(drawn > 2800, "%u", drawn);
    CHECK_MSG(distinct * 1000 >= drawn * 999, "%u of %u", distinct, drawn);
    arena_drop(&keep);
}

/* ---- the reader's operators ---- */

typedef struct Undrawn {
    const char *name, *why;
} Undrawn;

static const Undrawn undrawn[] = {
#define UNDRAWN(name, why) {name, why},
#include "rows/undrawn.def"
#undef UNDRAWN
};
enum { UNDRAWN = sizeof undrawn / sizeof *undrawn, TASKS = 12000, MOST_KINDS = 80 };

static const char *why_undrawn(const char *name)
{
    for (int i = 0; i < UNDRAWN; i++)
        if (!strcmp(undrawn[i].name, name))
            return undrawn[i].why;
    return NULL;
}

static void check_drawn(const char *name, uint32_t times)
{
    const char *why = why_undrawn(name);
    CHECK_MSG((times > 0) != (why != NULL), "%s is drawn %u times and is%s listed as not drawn",
              name, times, why ? "" : " not");
}

static void count_nodes(const Graph *g, uint32_t times[OP_COUNT][MOST_KINDS])
{
    for (uint32_t i = 0; i < g->nodes.len; i++)
        times[g->nodes.at[i].op][g->nodes.at[i].kind]++;
}

/* Kinds of the table that the operator does not take. */
static bool is_kind_of(Op op, int kind)
{
    return op != OP_REDUCE_INDEX || kind == REDUCE_max || kind == REDUCE_min;
}

/* An operator that is not drawn is named once, not with each of its kinds. */
T_TEST(every_operator_of_the_reader_is_drawn_or_named)
{
    static uint32_t times[OP_COUNT][MOST_KINDS];
    for (uint64_t i = 0; i < TASKS; i++) {
        Arena arena = {0};
        RowsTask task;
        bool differs;
        if (rows_draw(&arena, 11, i % 2 ? ROWS_WIDE + i : i, &task, &differs))
            count_nodes(task.drawn, times);
        arena_drop(&arena);
    }
    for (int op = 0; op < OP_COUNT; op++) {
        const OpRow *row = &op_rows[op];
        uint32_t all = 0;
        for (int kind = 0; kind < MOST_KINDS; kind++)
            all += times[op][kind];
        check_drawn(row->name, all);
        for (int kind = 0; all && kind < row->n_kinds; kind++) {
            char name[64];
            snprintf(name, sizeof name, "%s.%s", row->name, row->kinds[kind]);
            if (is_kind_of((Op)op, kind))
                check_drawn(name, times[op][kind]);
        }
    }
}

T_TEST(the_data_card_names_the_operators_that_are_not_drawn)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", STR(""));
    Str card;
    REQUIRE(file_read(&arena, "docs/data-card.md", 0, &card, &diag));
    for (int i = 0; i < UNDRAWN; i++)
        CHECK_MSG(str_find(card, str_from(str_format(&arena, "`%s`", undrawn[i].name))) > 0 &&
                      str_find(card, str_from(str_format(&arena, "| %s |\n", undrawn[i].why))) > 0,
                  "%s: %s", undrawn[i].name, undrawn[i].why);
    arena_drop(&arena);
}

static bool place_decides(Arena *arena, const char *file)
{
    RowsTask task = task_of(arena, file);
    return rows_place_decides(arena, task.read->graph);
}

/* The error function of large numbers is 1 for all of them, or the last but one before it. */
T_TEST(the_place_of_a_computed_value_is_not_asked)
{
    Arena arena = {0};
    CHECK(place_decides(&arena, FILE_OF("return torch.erf(x).argmin(dim=1)")));
    CHECK(place_decides(&arena, FILE_OF("return torch.topk(torch.tanh(x), 3, dim=1)[1]")));
    CHECK(!place_decides(&arena, FILE_OF("return torch.topk(torch.tanh(x), 3, dim=1)[0]")));
    CHECK(!place_decides(&arena, FILE_OF("return (x * x - 0.5).abs().argmax(dim=1)")));
    arena_drop(&arena);
}

/* ---- shipped files ---- */

T_TEST(the_bodies_of_shipped_files_stand_in_them)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", STR(""));
    for (uint32_t i = 0; i < rows_shipped(); i++) {
        Str text, body = str_from(rows_shipped_body(i)), line;
        const char *path = str_format(&arena, "examples/exemplars/%s.py", rows_shipped_name(i));
        REQUIRE(file_read(&arena, path, 0, &text, &diag));
        while (str_next(&body, '\n', &line))
            CHECK_MSG(str_find(text, line) > 0, "%s: %.*s", path, STR_ARG(line));
    }
    arena_drop(&arena);
}

T_TEST(shipped_files_are_drawn_in_other_words)
{
    uint32_t drawn = 0, tried = 0;
    for (uint64_t number = ROWS_WIDE; tried < 60; number++) {
        Arena arena = {0};
        RowsTask task;
        bool differs, there = rows_draw(&arena, 5, number, &task, &differs);
        if (task.family == FAMILY_SHIPPED) {
            tried++;
            drawn += there;
            CHECK_MSG(!differs, "%.*s", STR_ARG(task.model));
            CHECK(!there || str_find(task.model, STR("(ROWS")) < 0);
        }
        arena_drop(&arena);
    }
    CHECK_MSG(drawn > 50, "%u of %u", drawn, tried);
}
