/* Fuzzes what stands beside a model: lists of cases and the operand table of its docstring. The
 * first byte chooses the form and the case; the rest is a docstring, a line of '~', and the cases. Any text
 * gives a task or an error. The same text is read as an op definition, too. */
#include "torch/opdef.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char body[] = "import torch, json\nimport torch.nn as nn\n"
                           "class Model(nn.Module):\n"
                           "    def forward(self, x, n):\n"
                           "        return x + n\n";
static const char own[] =
    "def get_inputs(case):\n"
    "    shape = case.get('shape', [2])\n"
    "    return [torch.rand(shape, dtype=getattr(torch, case.get('dtype', 'float32'))),\n"
    "            case.get('n', 1)]\n";
static const char listed[] = "def get_inputs():\n"
                             "    with open('m.json') as f:\n"
                             "        case = json.loads(f.readline())\n"
                             "    return [torch.rand(case['shape']), case.get('n', 1)]\n";
static const char companion[] =
    "def get_inputs(param):\n"
    "    return [torch.rand(eval(param.get('shape', '[2]'))), int(param.get('n', 1))]\n"
    "def get_init_inputs(param):\n"
    "    return []\n";

static Str model_text(Arena *arena, Str doc, const char *inputs)
{
    Buf out = {0};
    buf_puts(&out, "'''");
    buf_str(&out, doc);
    buf_puts(&out, "\n'''\n");
    buf_puts(&out, body);
    buf_puts(&out, inputs);
    Str text = {buf_take(&out, arena), out.len};
    buf_free(&out);
    return text;
}

static void read_case(Arena *arena, Str text, const TorchCases *cases, uint32_t index)
{
    Diag diag = diag_make(arena, "m.py", text);
    TorchOptions options = {
        .cases = cases, .case_index = index, .max_steps = 20000, .max_bytes = 16 << 20};
    TorchTask *task = torch_read(arena, "t/m.py", text, &options, &diag);
    if ((task != NULL) != diag_ok(&diag))
        abort();
    for (uint32_t i = 0; task && i < task->operands.len; i++) {
        const TorchOperand *o = &task->operands.at[i];
        bool tensor = o->role != OPERAND_ATTR;
        bool result = o->role == OPERAND_OUT || o->role == OPERAND_OUTS || o->role == OPERAND_MUT;
        uint32_t most = result ? task->graph->outputs.len : task->graph->inputs.len;
        if (tensor && o->first + o->count > most)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > 1 << 14)
        return 0;
    Arena arena = {0};
    TorchCases cases = {0};
    Str all = {(const char *)data + 1, size - 1}, doc, rest = all;
    if (!str_next(&rest, '~', &doc))
        doc = (Str){0};
    int form = data[0] % 3;
    if (form == 1)
        torch_cases_lines(&arena, rest, &cases);
    else
        torch_cases_table(&arena, rest, &cases);
    if (form == 2)
        cases.companion = STR(companion);
    Str text = model_text(&arena, doc, form == 0 ? own : form == 1 ? listed : "");
    read_case(&arena, text, &cases, cases.lines.len ? data[0] / 3 % cases.lines.len : 0);
    TorchOpdef def = {0};
    torch_opdef_parse(&arena, all, &def);
    arena_drop(&arena);
    return 0;
}
