/* The text form: what is printed reads back to the same bytes; wrong text is refused. */
#include "graph/graph.h"
#include "tests/t.h"
#include <string.h>

static const char sample[] =
    "graph \"t\\\"q\" {\n"
    "  %0 = input \"x\" f32[8,4] source 0\n"
    "  %1 = param \"w\" f32[3,4] source 1\n"
    "  %2 = linear(%0, %1, _) : f32[8,3] @12 in \"fc\"\n"
    "  %3 = const weak f64[] 2.5\n"
    "  %4 = binary.mul(%2, %3) : f32[8,3] @13\n"
    "  %5, %6 = topk(%4) {dim=1, largest=true, sorted=true, k=2} : f32[8,2], i64[8,2]\n"
    "  %7 = const i64[3] 1 -2 9223372036854775807\n"
    "  %8 = unary.gelu(%5) {approximate=\"tanh\"} : f32[8,2]\n"
    "  note \"line 3: said\"\n"
    "  return %8, %7\n"
    "}\n"
    "source {\n"
    "  %0 = random.uniform() {shape=[8,4], dtype=f32, a=0, b=1, stream=0} : f32[8,4]\n"
    "  %1 = full() {shape=[3,4], dtype=f32, value=-inf} : f32[3,4]\n"
    "  return %0, %1\n"
    "}\n";

T_TEST(text_round_trip)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "t", (Str){0});
    Graph *g = graph_parse(&arena, str_from(sample), &diag);
    REQUIRE(g != NULL);
    Buf out = {0};
    graph_print(g, &out);
    CHECK_EQ_STR(out.at, sample);
    CHECK_EQ_INT(g->inputs.len, 1);
    CHECK_EQ_INT(g->params.len, 1);
    buf_free(&out);
    arena_drop(&arena);
}

static bool reads(const char *text)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "t", (Str){0});
    bool good = graph_parse(&arena, str_from(text), &diag) != NULL;
    CHECK(good == diag_ok(&diag));
    arena_drop(&arena);
    return good;
}

T_TEST(text_refuses)
{
    CHECK(reads("graph \"t\" {\n  %0 = const f32[] 1\n  return %0\n}\n"));
    CHECK(!reads("graph \"t\" {\n  %0 = const f32[] 1\n  return %1\n}\n"));
    CHECK(!reads("graph \"t\" {\n  %1 = const f32[] 1\n  return %1\n}\n"));
    CHECK(!reads("graph \"t\" {\n  %0 = const f32[1000000000] 1\n  return %0\n}\n"));
    CHECK(!reads(
        "graph \"t\" {\n  %0 = const f32[] 1\n  %1 = unary.relu(%0) : f16[]\n  return %1\n}\n"));
    CHECK(!reads(
        "graph \"t\" {\n  %0 = const f32[] 1\n  %1 = unary.nope(%0) : f32[]\n  return %1\n}\n"));
    CHECK(!reads("graph \"t\" {\n  %0 = input \"x\" f32[1] source 0\n  return %0\n}\n"));
    CHECK(!reads("graph \"t\" {"));
    CHECK(!reads(""));
    for (size_t cut = 0; cut < sizeof sample - 2; cut += 3) {
        char part[sizeof sample];
        memcpy(part, sample, cut);
        part[cut] = '\0';
        reads(part);
    }
}
