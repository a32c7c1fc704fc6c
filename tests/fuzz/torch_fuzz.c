/* Fuzzes the model file reader: any text gives a graph or an error, within limits; a graph
 * prints, parses back to the same bytes, and has a normal form. The first byte chooses whether
 * the text is a whole file or the body of forward in a file of ours (mostly a short one: reading
 * it is what an execution costs), and how much of the slower checking is done. */
#include "torch/torch.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char small_head[] =
    "import torch\nclass Model(torch.nn.Module):\n    def forward(self, x, y, i):\n";
static const char large_head[] =
    "import torch, math\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
    "from einops import rearrange\n"
    "class Model(nn.Module):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    "        self.fc = nn.Linear(4, 4)\n"
    "        self.conv = nn.Conv2d(2, 4, 3, padding=1)\n"
    "        self.w = nn.Parameter(torch.randn(4))\n"
    "    def forward(self, x, y, i):\n";
static const char small_tail[] = "\ndef get_inputs(): return [torch.rand(2, 3), 2, 3]\n";
static const char large_tail[] =
    "\ndef get_inputs():\n"
    "    return [torch.rand(2, 3, 4), torch.randn(1, 2, 4, 4), torch.randint(0, 4, (3,))]\n";

static Str wrap(Arena *arena, bool large, const uint8_t *data, size_t size)
{
    Buf out = {0};
    buf_puts(&out, large ? large_head : small_head);
    buf_puts(&out, "        ");
    for (size_t i = 0; i < size; i++) {
        buf_char(&out, (char)data[i]);
        if (data[i] == '\n')
            buf_puts(&out, "        ");
    }
    buf_puts(&out, large ? large_tail : small_tail);
    Str text = {buf_take(&out, arena), out.len};
    buf_free(&out);
    return text;
}

static void check_text(Arena *arena, const Graph *graph, Diag *diag)
{
    Buf first = {0}, second = {0};
    graph_print(graph, &first);
    Graph *back = graph_parse(arena, buf_view(&first), diag);
    if (!back)
        abort();
    graph_print(back, &second);
    if (first.len != second.len || memcmp(first.at, second.at, first.len) != 0)
        abort();
    buf_free(&first);
    buf_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > 1 << 16)
        return 0;
    Arena arena = {0};
    Str text = data[0] & 1 ? wrap(&arena, !(data[0] & 24), data + 1, size - 1)
                           : (Str){(const char *)data + 1, size - 1};
    Diag diag = diag_make(&arena, "fuzz.py", text);
    TorchOptions options = {.max_steps = 100000, .max_bytes = 64 << 20};
    TorchTask *task = torch_read(&arena, "fuzz/fuzz.py", text, &options, &diag);
    if ((task != NULL) != diag_ok(&diag))
        abort();
    if (task) {
        if (data[0] & 2)
            check_text(&arena, task->graph, &diag);
        if (data[0] & 4)
            check_text(&arena, graph_normal(&arena, task->graph), &diag);
    }
    arena_drop(&arena);
    return 0;
}
