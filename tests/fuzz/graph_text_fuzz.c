/* Fuzzes the graph's text form: any text gives a graph that prints to text that reads back, or
 * an error. */
#include "graph/graph.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena arena = {0};
    Str text = {(const char *)data, size};
    Diag diag = diag_make(&arena, "fuzz.graph", (Str){0});
    Graph *graph = graph_parse(&arena, text, &diag);
    if ((graph != NULL) != diag_ok(&diag))
        abort();
    if (graph) {
        Buf first = {0}, second = {0};
        graph_print(graph, &first);
        Graph *back = graph_parse(&arena, buf_view(&first), &diag);
        if (!back)
            abort();
        graph_print(back, &second);
        if (first.len != second.len || memcmp(first.at, second.at, first.len) != 0)
            abort();
        buf_free(&first);
        buf_free(&second);
    }
    arena_drop(&arena);
    return 0;
}
