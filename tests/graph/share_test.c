/* Equal nodes become one; numbers of values and results of the task stay. */
#include "graph/graph.h"
#include "tests/t.h"

static Graph *shared(Arena *arena, const char *text)
{
    Diag diag = diag_make(arena, "t", (Str){0});
    Graph *g = graph_parse(arena, str_from(text), &diag);
    REQUIRE(g != NULL);
    return graph_share(arena, g);
}

T_TEST(share_reads_the_first_of_equal_nodes)
{
    Arena arena = {0};
    Graph *g = shared(&arena, "graph \"t\" {\n"
                              "  %0 = input \"x\" f32[8] source 0\n"
                              "  %1 = const weak f64[] 2.5\n"
                              "  %2 = const weak f64[] 2.5\n"
                              "  %3 = binary.mul(%0, %1) : f32[8]\n"
                              "  %4 = unary.exp(%3) : f32[8]\n"
                              "  %5 = binary.mul(%0, %2) : f32[8]\n"
                              "  %6 = binary.sub(%4, %5) : f32[8]\n"
                              "  return %6\n"
                              "}\n"
                              "source {\n"
                              "  %0 = full() {shape=[8], dtype=f32, value=1} : f32[8]\n"
                              "  return %0\n"
                              "}\n");
    REQUIRE(g->nodes.len == 3);
    CHECK_EQ_INT(g->nodes.at[2].out, 6);
    CHECK_EQ_INT(g->nodes.at[2].in[1], 3);
    CHECK_EQ_INT(graph_value(g, 6)->node, 2);
    CHECK_EQ_INT(graph_value(g, 5)->node, 0);
    CHECK_EQ_INT(g->values.len, 7);
    arena_drop(&arena);
}

/* Attributes, operands in another order and dtypes of constants make a difference; a result is
 * written by a node of its own. */
T_TEST(share_keeps_what_differs_and_what_is_asked_for)
{
    Arena arena = {0};
    Graph *g = shared(&arena, "graph \"t\" {\n"
                              "  %0 = input \"x\" f32[8,8] source 0\n"
                              "  %1 = reduce.sum(%0) {dims=[0], keepdim=true} : f32[1,8]\n"
                              "  %2 = reduce.sum(%0) {dims=[1], keepdim=true} : f32[8,1]\n"
                              "  %3 = binary.sub(%1, %2) : f32[8,8]\n"
                              "  %4 = binary.sub(%2, %1) : f32[8,8]\n"
                              "  %5 = binary.sub(%2, %1) : f32[8,8]\n"
                              "  %6 = unary.exp(%5) : f32[8,8]\n"
                              "  return %3, %4, %5, %6\n"
                              "}\n"
                              "source {\n"
                              "  %0 = full() {shape=[8,8], dtype=f32, value=1} : f32[8,8]\n"
                              "  return %0\n"
                              "}\n");
    REQUIRE(g->nodes.len == 6);
    CHECK_EQ_INT(g->nodes.at[4].out, 5);
    CHECK_EQ_INT(g->nodes.at[5].in[0], 4);
    arena_drop(&arena);
}
