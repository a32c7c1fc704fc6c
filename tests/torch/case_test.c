/* Cases beside a model file, the operand table of its docstring, and the NPUKernelBench suite. */
#include "tests/t.h"
#include "torch/torch.h"
#include <string.h>

static const char model[] =
    "'''Scales.\n\n"
    "in   x     f16 f32*2\n"
    "opt  bias  f16 f32*2\n"
    "list more  f32*3\n"
    "out  y     f16 f32*2\n"
    "outs all   f32*3\n"
    "mut  x     f16 f32*2\n"
    "attr alpha float 2.5\n"
    "attr sizes ints\n"
    "attr mode  text plain\n"
    "attr keep  bool True\n"
    "'''\n"
    "import torch\n"
    "class Model(torch.nn.Module):\n"
    "    def forward(self, x, bias, more, alpha, sizes):\n"
    "        y = x * alpha\n"
    "        return y, [t + 1 for t in more], x + 1\n"
    "def get_inputs(case):\n"
    "    x = torch.rand(case['shape'], dtype=getattr(torch, case['dtype']))\n"
    "    return [x, None, [torch.rand(n) for n in case['more']], case.get('alpha', 1.5),\n"
    "            case['shape']]\n";

typedef struct R {
    Arena arena;
    Diag diag;
    TorchTask *task;
} R;

static void read_with(R *r, const char *source, const char *table, TorchScale scale, uint32_t index)
{
    TorchCases *cases = arena_new(&r->arena, TorchCases);
    torch_cases_table(&r->arena, str_from(table), cases);
    TorchOptions options = {.cases = cases, .case_index = index};
    r->diag = diag_make(&r->arena, "m.py", str_from(source));
    r->task = torch_read_scaled(&r->arena, "t/m.py", str_from(source), &options, scale, &r->diag);
}

static void check_refused(const char *source, const char *table, uint32_t index, const char *what)
{
    R r = {0};
    read_with(&r, source, table, SCALE_FULL, index);
    CHECK(!r.task);
    bool found = false;
    for (uint32_t i = 0; i < r.diag.items.len; i++)
        found = found || strstr(r.diag.items.at[i].text, what);
    CHECK_MSG(found, "no error says '%s', but: %s", what,
              r.diag.items.len ? r.diag.items.at[0].text : "nothing");
    arena_drop(&r.arena);
}

static const char cases[] =
    "shape;dtype;more;alpha\n[2, 3];float16;[4, 5];0.25\n[64, 4096];float32;[1]\n";

T_TEST(case_operands_are_bound)
{
    R r = {0};
    read_with(&r, model, cases, SCALE_FULL, 0);
    REQUIRE(r.task);
    const TorchOperand *o = torch_operand(r.task, "x");
    CHECK_EQ_INT(o->role, OPERAND_IN);
    CHECK_EQ_INT(o->types.len, 3);
    CHECK_EQ_INT(o->types.at[0], DT_F16);
    CHECK_EQ_INT(o->types.at[2], DT_F32);
    CHECK_EQ_INT(torch_operand(r.task, "bias")->count, 0);
    o = torch_operand(r.task, "more");
    CHECK_EQ_INT(o->first, 1);
    CHECK_EQ_INT(o->count, 2);
    o = torch_operand(r.task, "all");
    CHECK_EQ_INT(o->first, 1);
    CHECK_EQ_INT(o->count, 2);
    o = &r.task->operands.at[5];
    CHECK_EQ_INT(o->role, OPERAND_MUT);
    CHECK_EQ_INT(o->first, 3);
    CHECK(torch_operand(r.task, "alpha")->floats[0] == 0.25);
    CHECK_EQ_INT(torch_operand(r.task, "sizes")->ints[1], 3);
    CHECK_EQ_STR(torch_operand(r.task, "mode")->text, "plain");
    CHECK_EQ_INT(torch_operand(r.task, "keep")->ints[0], 1);
    CHECK(!torch_operand(r.task, "none"));
    arena_drop(&r.arena);
}

T_TEST(case_fields_missing_and_sizes_scaled)
{
    R r = {0};
    read_with(&r, model, cases, SCALE_FULL, 1);
    REQUIRE(r.task);
    CHECK(torch_operand(r.task, "alpha")->floats[0] == 1.5);
    CHECK_EQ_STR(r.task->knobs.at[0].name, "shape[0]");
    CHECK_EQ_INT(r.task->knobs.at[1].value, 4096);
    arena_drop(&r.arena);

    R small = {0};
    read_with(&small, model, "shape;dtype;more\n[4096, 65536];float32;[1]\n", SCALE_SMALL, 0);
    REQUIRE(small.task);
    int64_t all, largest;
    CHECK(graph_bytes(small.task->graph, &all, &largest) && all < 1 << 25);
    CHECK_EQ_INT(small.task->graph->nodes.len, 3);
    arena_drop(&small.arena);
}

T_TEST(case_words_for_yes_and_no)
{
    static const char chosen[] = "import torch\n"
                                 "class Model(torch.nn.Module):\n"
                                 "    def forward(self, x):\n"
                                 "        return x + 1\n"
                                 "def get_inputs(case):\n"
                                 "    return [torch.rand(3 if case['wide'] else 2)]\n";
    static const char words[] = "wide;n\ntrue;1\nfalse;1\nTRUE;1\nFALSE;1\nTrue;1\nFalse;1\n";
    for (uint32_t i = 0; i < 6; i++) {
        R r = {0};
        read_with(&r, chosen, words, SCALE_FULL, i);
        REQUIRE(r.task);
        CHECK_EQ_INT(graph_value(r.task->graph, r.task->graph->inputs.at[0])->shape.dim[0],
                     3 - i % 2);
        arena_drop(&r.arena);
    }
}

/* Beside prepare_inputs.py a column is read as pandas reads it: as a whole. */
T_TEST(case_columns_have_one_type)
{
    static const char text[] = "import torch\nclass Model(torch.nn.Module):\n"
                               "    def forward(self, x):\n        return x + 1\n";
    static const char prepare[] =
        "def get_inputs(p):\n"
        "    kinds = [type(p[k]).__name__ for k in ('a', 'b', 'c', 'd')]\n"
        "    assert kinds == ['int', 'bool', 'str', 'str'], kinds\n"
        "    return [torch.rand(int(p['d']))]\n";
    Arena arena = {0};
    TorchCases list = {.companion = str_from(prepare)};
    torch_cases_table(&arena, STR("a;b;c;d\n1;true;[2];7\n2;False;[3];true\n"), &list);
    TorchOptions options = {.cases = &list};
    Diag diag = diag_make(&arena, "m.py", str_from(text));
    TorchTask *task = torch_read(&arena, "m.py", str_from(text), &options, &diag);
    CHECK_MSG(task, "%s", diag.items.len ? diag.items.at[0].text : "");
    arena_drop(&arena);
}

T_TEST(case_errors_say_what_is_wrong)
{
    check_refused(model, cases, 2, "there is no case 2; the file has 2");
    check_refused(model, "shape;dtype;more\n[2, 3;float16;[1]\n", 0, "column shape does not read");
    check_refused(model, "sh ape\n[2]\n", 0, "'sh ape' of the cases is no name");
    check_refused(model, "shape;dtype\n[2];float16;3;4\n", 0, "more fields than there are columns");
    check_refused("'''T.\n\nin x f99\n'''\n", "a\n1\n", 0, "an element type is unknown");
    check_refused("'''T.\n\nin x f16*1000\n'''\n", "a\n1\n", 0, "too many types");
    check_refused("'''T.\n\nin x f16\nnot a row\n'''\n", "a\n1\n", 0, "no such role");
    check_refused("'''T.\n\nattr x int 1.5\n'''\n", "a\n1\n", 0, "the default does not fit");
}

static void check_order(const char *from, const char *to, const char *what)
{
    Arena arena = {0};
    Str text = str_from(model);
    ptrdiff_t at = str_find(text, str_from(from));
    REQUIRE(at >= 0);
    size_t rest = (size_t)at + strlen(from);
    const char *changed = str_format(&arena, "%.*s%s%s", (int)at, model, to, model + rest);
    check_refused(changed, cases, 0, what);
    arena_drop(&arena);
}

T_TEST(case_table_and_forward_must_agree)
{
    check_order("self, x, bias", "self, bias, x",
                "forward's 'bias' is not the operand in its place");
    check_order("alpha, sizes)", "alpha, width)", "forward's 'width' is not the operand");
    check_order("[x, None,", "[x, 5,", "operand 'bias' is int");
    check_order(", x + 1\n", "\n", "forward returns 2 results, the table has 3");
    check_order("return y, [t + 1 for t in more], x + 1", "return torch.rand(3)",
                "forward returns 1 results, the table has 3");
    check_order("case['shape']]\n", "1.5]\n", "float");
}

static bool is_result(const TorchOperand *o)
{
    return o->role == OPERAND_OUT || o->role == OPERAND_OUTS || o->role == OPERAND_MUT;
}

/* Has every tensor of the case the type in this column of the table? */
static bool fits_column(const TorchTask *task, uint32_t column)
{
    for (uint32_t i = 0; i < task->operands.len; i++) {
        const TorchOperand *o = &task->operands.at[i];
        const ValueId *ids = is_result(o) ? task->graph->outputs.at : task->graph->inputs.at;
        for (uint32_t k = 0; o->role != OPERAND_ATTR && k < o->count; k++) {
            if (column >= o->types.len ||
                graph_value(task->graph, ids[o->first + k])->dtype != o->types.at[column])
                return false;
        }
    }
    return true;
}

static bool fits_table(const TorchTask *task)
{
    enum { COLUMNS = 65 };
    for (uint32_t column = 0; column < COLUMNS; column++) {
        if (fits_column(task, column))
            return true;
    }
    return false;
}

T_TEST(case_numbers_are_results)
{
    R r = {0};
    read_with(&r,
              "'''T.\n\nin x f32\nout n i64\nout y f32\n'''\nimport torch\n"
              "class Model(torch.nn.Module):\n    def forward(self, x):\n        return 5, x + 1\n"
              "def get_inputs(case):\n    return [torch.rand(case['n'])]\n",
              "n\n3\n", SCALE_FULL, 0);
    REQUIRE(r.task);
    CHECK_EQ_INT(torch_operand(r.task, "n")->count, 1);
    CHECK_EQ_INT(torch_operand(r.task, "y")->first, 1);
    arena_drop(&r.arena);
}

/* Every shipped case reads, and its types are a combination its table lists; but for four, of
 * types that the suite's own op definitions leave out. */
T_TEST(case_npukernelbench_reads)
{
    Arena arena = {0};
    NameList paths = {0};
    Diag diag = diag_make(&arena, "tasks", (Str){0});
    uint32_t count = 0, other = 0;
    REQUIRE(torch_suite(&arena, "tasks/npukernelbench", &paths, &diag));
    CHECK_EQ_INT(paths.len, 157);
    for (uint32_t i = 0; i < paths.len; i++) {
        TorchCases list = {0};
        REQUIRE(torch_cases(&arena, paths.at[i], &list, &diag));
        for (uint32_t k = 0; k < list.lines.len; k++) {
            Arena each = {0};
            Diag inner = diag_make(&each, paths.at[i], (Str){0});
            TorchOptions options = {.case_index = k};
            TorchTask *task = torch_open(&each, paths.at[i], &options, SCALE_FULL, &inner);
            CHECK_MSG(task && task->operands.len, "%s, case %u: %s", paths.at[i], k,
                      inner.items.len ? inner.items.at[0].text : "no operands");
            other += task && !fits_table(task);
            arena_drop(&each);
        }
        count += list.lines.len;
    }
    CHECK_EQ_INT(count, 1807);
    CHECK_EQ_INT(other, 4);
    arena_drop(&arena);
}
