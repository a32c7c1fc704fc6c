/* Bounds of values: as the file draws its inputs, and what operators make of them. */
#include "graph/bounds.h"
#include "tests/t.h"

static const char task[] =
    "graph \"t\" {\n"
    "  %0 = input \"a\" i64[8] source 0\n"
    "  %1 = input \"b\" i8[8] source 1\n"
    "  %2 = const weak i64[] 3\n"
    "  %3 = binary.mul(%0, %0) : i64[8] @1\n"
    "  %4 = binary.sub(%3, %2) : i64[8] @1\n"
    "  %5 = binary.remainder(%4, %2) : i64[8] @1\n"
    "  %6 = reduce.sum(%1) : i64[] @1\n"
    "  %7 = unary.abs(%1) : i8[8] @1\n"
    "  %8 = binary.lt(%4, %6) : bool[8] @1\n"
    "  return %5, %7, %8\n"
    "}\n"
    "source {\n"
    "  %0 = random.integer() {shape=[8], dtype=i64, a=-10.0, b=101.0, stream=0} : i64[8] @1\n"
    "  %1 = random.normal() {shape=[8], dtype=i8, a=0.0, b=1.0, stream=1} : i8[8] @1\n"
    "  return %0, %1\n"
    "}\n";

static void check(const Graph *g, ValueId id, double low, double high)
{
    GraphBounds b = graph_value(g, id)->bounds;
    CHECK_MSG(b.known && b.low == low && b.high == high, "%%%u: %d, %g to %g", id, b.known, b.low,
              b.high);
}

T_TEST(bounds_follow_the_operators)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "t", str_from(task));
    Graph *g = graph_parse(&arena, str_from(task), &diag);
    REQUIRE(g != NULL);
    graph_bounds(g);
    check(g, 0, -10, 100);
    check(g, 3, -1000, 10000); /* the operands are not known to be one value */
    check(g, 4, -1003, 9997);
    check(g, 5, 0, 3);
    check(g, 1, -128, 127); /* a normal number has none, i8 has */
    check(g, 6, -1024, 1016);
    check(g, 7, -128, 127); /* |-128| wraps */
    check(g, 8, 0, 1);
    CHECK(bounds_within(graph_value(g, 4), -2000, 10000));
    CHECK(!bounds_within(graph_value(g, 4), 0, 10000));
    arena_drop(&arena);
}
