/* Fuzzes the text form of schedules: any text gives a schedule that prints to text that reads back as the same,
 * or an error. The nest is that of x * (sum of x over rows) - (max of x along them). */
#include "gen/plan/schedule/schedule.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char model[] = "graph \"t\" {\n"
                            "  %0 = input \"x\" f32[3,40,24] source 0\n"
                            "  %1 = reduce.sum(%0) {dims=[1], keepdim=true} : f32[3,1,24]\n"
                            "  %2 = reduce.max(%0) {dims=[2], keepdim=true} : f32[3,40,1]\n"
                            "  %3 = binary.mul(%0, %1) : f32[3,40,24]\n"
                            "  %4 = binary.sub(%3, %2) : f32[3,40,24]\n"
                            "  return %4, %2\n"
                            "}\n"
                            "source {\n"
                            "  %0 = random.uniform() {shape=[3,40,24], dtype=f32, a=0, b=1, "
                            "stream=0} : f32[3,40,24]\n"
                            "  return %0\n"
                            "}\n";

static Nest *open_nest(Arena *arena)
{
    Diag diag = diag_make(arena, "t.graph", (Str){0});
    Graph *graph = graph_parse(arena, str_from(model), &diag);
    Nest *nest = graph ? nest_derive(arena, graph, &diag) : NULL;
    if (!nest)
        abort();
    nest_merge(nest);
    return nest;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena arena = {0};
    const Nest *nest = open_nest(&arena);
    Diag diag = diag_make(&arena, "fuzz.schedule", (Str){0});
    Schedule schedule, again;
    bool ok = schedule_parse(nest, (Str){(const char *)data, size}, &schedule, &diag);
    if (ok != diag_ok(&diag))
        abort();
    if (ok) {
        Buf first = {0}, second = {0};
        schedule_print(schedule_nest(nest, &schedule), &schedule, &first);
        if (!schedule_parse(nest, buf_view(&first), &again, &diag))
            abort();
        schedule_print(schedule_nest(nest, &again), &again, &second);
        if (first.len != second.len || memcmp(first.at, second.at, first.len) != 0)
            abort();
        buf_free(&first);
        buf_free(&second);
    }
    arena_drop(&arena);
    return 0;
}
