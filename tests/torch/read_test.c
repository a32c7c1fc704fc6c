/* Reading model files: what becomes of the Python of a file, by the graph it leaves. */
#include "tests/t.h"
#include "torch/torch.h"
#include <string.h>

static const char head[] =
    "import torch, math\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
    "class Model(nn.Module):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    "        self.fc = nn.Linear(4, 6)\n"
    "    def forward(self, x, y):\n";
static const char tail[] =
    "def get_inputs():\n    return [torch.rand(2, 3, 4), torch.randint(0, 3, (5,))]\n";

typedef struct R {
    Arena *arena;
    Diag diag;
    TorchTask *task;
} R;

static R read_text(const char *text)
{
    R r = {.arena = heap_alloc(sizeof(Arena))};
    Str source = str_copy(r.arena, str_from(text));
    r.diag = diag_make(r.arena, "m.py", source);
    TorchOptions options = {0};
    r.task = torch_read(r.arena, "tasks/m.py", source, &options, &r.diag);
    return r;
}

/* forward's body, lines at no indent of their own. */
static R read_forward(const char *body)
{
    Buf text = {0};
    buf_puts(&text, head);
    Str rest = str_from(body), line;
    while (str_next(&rest, '\n', &line))
        buf_printf(&text, "        %.*s\n", STR_ARG(line));
    buf_puts(&text, tail);
    R r = read_text(text.at);
    buf_free(&text);
    return r;
}

static void done(R *r)
{
    arena_drop(r->arena);
    heap_free(r->arena);
}

/* The nodes of the main graph, "linear unary.relu". */
static void check_nodes(const char *body, const char *want)
{
    R r = read_forward(body);
    Buf got = {0};
    buf_puts(&got, "");
    if (!r.task) {
        diag_print(&r.diag, &got);
    } else {
        for (uint32_t i = 0; i < r.task->graph->nodes.len; i++) {
            const Node *node = &r.task->graph->nodes.at[i];
            const char *kind = node_kind_name(node);
            buf_printf(&got, "%s%s%s%s", i ? " " : "", op_rows[node->op].name, *kind ? "." : "",
                       kind);
        }
    }
    CHECK_EQ_STR(got.at, want);
    buf_free(&got);
    done(&r);
}

static void check_shape(const char *body, const char *want)
{
    R r = read_forward(body);
    Buf got = {0};
    buf_puts(&got, "");
    if (!r.task)
        diag_print(&r.diag, &got);
    for (uint32_t i = 0; r.task && i < r.task->graph->outputs.len; i++) {
        const Value *v = graph_value(r.task->graph, r.task->graph->outputs.at[i]);
        buf_printf(&got, "%s%s", i ? " " : "", dtype_name(v->dtype));
        shape_print(v->shape, &got);
    }
    CHECK_EQ_STR(got.at, want);
    buf_free(&got);
    done(&r);
}

static void check_error(const char *body, const char *code, uint32_t line, const char *part)
{
    R r = read_forward(body);
    CHECK(r.task == NULL);
    REQUIRE(r.diag.items.len > 0);
    const DiagItem *item = &r.diag.items.at[0];
    CHECK_EQ_STR(item->code, code);
    CHECK_EQ_INT(item->at.line, line + 8);
    CHECK_MSG(str_find(str_from(item->text), str_from(part)) >= 0, "'%s' is not in '%s'", part,
              item->text);
    done(&r);
}

T_TEST(read_spellings_agree)
{
    check_nodes("return torch.relu(x)", "unary.relu");
    check_nodes("return F.relu(x)", "unary.relu");
    check_nodes("return x.relu()", "unary.relu");
    check_nodes("return nn.ReLU()(x)", "unary.relu");
    check_nodes("return torch.relu(self.fc(x))", "linear unary.relu");
    check_nodes("x.mul_(2)\nreturn x", "binary.mul");
    check_nodes("x *= 2\nreturn x", "binary.mul");
    check_nodes("return torch.add(x, 1, alpha=2)", "binary.add");
}

T_TEST(read_dead_code_is_gone) { check_nodes("z = torch.exp(x)\nreturn x + 1", "binary.add"); }

T_TEST(read_shapes)
{
    check_shape("return x[:, 1:, ::2]", "f32[2,2,2]");
    check_shape("return x[..., None, -1]", "f32[2,3,1]");
    check_shape("return x[0, :, [0, 2]]", "f32[3,2]");
    check_shape("return x[:, y]", "f32[2,5,4]");
    check_shape("return x.max(dim=1)", "f32[2,4] i64[2,4]");
    check_shape("return x.max(1).values, x.sum(), x.mean((0, 2), keepdim=True)",
                "f32[2,4] f32[] f32[1,3,1]");
    check_shape("a, *b = x.unbind(2)\nreturn torch.cat([a] + b[1:], dim=-1)", "f32[2,9]");
    check_shape("return torch.einsum('...i,...j->...ij', x, x)", "f32[2,3,4,4]");
    check_shape("return torch.einsum('bij,bkj', x, x)", "f32[3,3]");
    check_shape("return x.view(-1, 2, 2).transpose(0, 2).contiguous().flatten(1)", "f32[2,12]");
    check_shape("return (x > 0.5) & (x < 0.75), ~(y == 1)", "bool[2,3,4] bool[5]");
    check_shape("return y / 2, y // 2, y * 2.5, y + True", "f32[5] i64[5] f32[5] i64[5]");
    check_shape("return x.half() * 2.5, x.half() + x", "f16[2,3,4] f32[2,3,4]");
    check_shape(
        "return torch.arange(3), torch.arange(0, 1, 0.25), torch.zeros(2, dtype=torch.bool)",
        "i64[3] f32[4] bool[2]");
}

T_TEST(read_python)
{
    check_shape("import numpy as np\nreturn torch.zeros(np.int64(3), np.int32(2.9))", "f32[3,2]");
    check_shape("s = 0\nfor i in range(10):\n    if i % 2:\n        continue\n    if i > 6:\n      "
                "  break\n    s += i\nreturn torch.zeros(s)",
                "f32[12]");
    check_shape("f = lambda a, *b, c=2, **d: a * c + len(b) + d.get('k', 0)\nreturn "
                "torch.zeros(f(1, 2, 3, k=5))",
                "f32[9]");
    check_shape("def g(n):\n    return 1 if n < 2 else n * g(n - 1)\nreturn torch.zeros(g(4))",
                "f32[24]");
    check_shape("d = {k: v for k, v in zip('ab', (2, 3))}\nreturn torch.zeros(*d.values(), len([c "
                "for c in 'xyz' if c != 'y']))",
                "f32[2,3,2]");
    check_shape("n = int(f\"{3:d}\" if False else '4') + (7 // -2) + (-7 % 3) + 2 ** 3 + (1 << "
                "2)\nreturn torch.zeros(n)",
                "f32[14]");
    check_shape("a = b = [1]\na += [2]\nb.append(3)\nx0, (y0, z0) = a[0], b[1:]\nreturn "
                "torch.zeros(len(a), x0, z0)",
                "f32[3,1,3]");
    check_shape("try:\n    n = 2\nfinally:\n    n = 3\nwith torch.no_grad():\n    n += 1\nreturn "
                "torch.zeros(n)",
                "f32[4]");
    check_shape(
        "return torch.zeros(sum(x.shape), max(x.size()), math.ceil(2.1), x.dim(), x.numel())",
        "f32[9,4,3,3,24]");
}

/* A write reaches what it is a view of, and the views of that. */
T_TEST(read_views_and_writes)
{
    check_nodes("z = torch.zeros(4)\nv = z[1:3]\nv.add_(1)\nreturn z",
                "full slice binary.add slice_scatter");
    check_nodes("z = torch.zeros(4)\nv = z[1:3]\nz += 1\nreturn v", "full binary.add slice");
    check_nodes("z = torch.zeros(2, 3)\nz.t()[0] = 1\nreturn z",
                "full permute cast expand reshape slice_scatter permute");
    check_nodes("c = x.clone()\nc += 1\nreturn x", "");
    check_nodes("z = F.relu(x, inplace=True)\nreturn x", "unary.relu");
}

T_TEST(read_data_while_reading)
{
    check_shape("n = torch.tensor([3, 4]).sum().item()\nreturn torch.zeros(n)", "f32[7]");
    check_shape("t = torch.arange(6)\nreturn t[t > 3], torch.nonzero(t > 1)", "i64[2] i64[4,1]");
    check_shape("t = torch.tensor(2.0)\nif t > 1:\n    return x\nreturn y", "f32[2,3,4]");
    R r = read_forward("return x[x > 0.5]");
    REQUIRE(r.task != NULL);
    CHECK(r.task->used_data);
    done(&r);
}

T_TEST(read_training_mode)
{
    R r = read_forward("return F.dropout(x, 0.25)");
    REQUIRE(r.task != NULL);
    CHECK_EQ_INT(r.task->graph->nodes.at[0].op, OP_DROPOUT);
    REQUIRE(r.task->graph->notes.len == 1);
    CHECK(strstr(r.task->graph->notes.at[0], "line 9: dropout with p=0.25") != NULL);
    done(&r);
    check_nodes("return F.dropout(x, 0.25, training=False)", "");
    check_nodes("return F.batch_norm(x, torch.zeros(3), torch.ones(3), training=True)",
                "batch_norm");
}

T_TEST(read_parameters_have_names_and_laws)
{
    R r = read_forward("return self.fc(x)");
    REQUIRE(r.task != NULL);
    const Graph *g = r.task->graph;
    REQUIRE(g->params.len == 2 && g->inputs.len == 2);
    CHECK_EQ_STR(graph_value(g, g->params.at[0])->name, "fc.weight");
    CHECK_EQ_STR(graph_value(g, g->inputs.at[1])->name, "y");
    const Value *w = graph_value(g, g->params.at[0]);
    const Node *draw =
        &g->source->nodes.at[graph_value(g->source, g->source->outputs.at[w->source])->node];
    CHECK_EQ_INT(draw->op, OP_RANDOM);
    CHECK_NEAR(node_float(draw, AT_B, 0), 0.5, 1e-12);
    CHECK_EQ_STR(r.task->name, "m");
    CHECK_EQ_STR(r.task->category, "tasks");
    done(&r);
}

/* What state_dict holds is an operand, whatever it was made of; a plain attribute may be a number. */
T_TEST(read_registered_tensors_are_operands)
{
    R r = read_text("import torch\nimport torch.nn as nn\nclass Model(nn.Module):\n"
                    "    def __init__(self):\n        super().__init__()\n"
                    "        w = torch.rand(4)\n"
                    "        self.scale = nn.Parameter(torch.tensor(0.7))\n"
                    "        self.register_buffer('shift', torch.tensor([1.0, 2.0, 3.0, 4.0]))\n"
                    "        self.register_buffer('power', torch.tensor(2.0))\n"
                    "        self.plain = torch.tensor(3.0)\n"
                    "        self.a = nn.Parameter(w)\n        self.b = nn.Parameter(w)\n"
                    "    def forward(self, x, y):\n"
                    "        z = x * self.scale + self.shift + y * self.plain\n"
                    "        return z * self.a + self.b * self.power.item()\n"
                    "def get_inputs():\n    t = torch.rand(8, 4)\n    return [t, t]\n");
    static const char *const names[] = {"scale", "shift", "a", "b", "power"};
    REQUIRE(r.task != NULL);
    const Graph *g = r.task->graph;
    CHECK_EQ_INT(g->inputs.len, 2);
    REQUIRE(g->params.len == 5);
    for (uint32_t i = 0; i < 5; i++) {
        bool found = false;
        for (uint32_t k = 0; k < 5; k++)
            found = found || !strcmp(graph_value(g, g->params.at[k])->name, names[i]);
        CHECK_MSG(found, "%s", names[i]);
    }
    done(&r);
}

/* 2 / numel holds for these sizes alone, a mean for all; the width decides nothing. */
T_TEST(read_marks_sizes_that_numbers_follow)
{
    static const char text[] =
        "import torch\nimport torch.nn as nn\nROWS, WIDTH = 8, 16\nclass Model(nn.Module):\n"
        "    def forward(self, x, y):\n"
        "        return x * (2.0 / y.shape[0]), x.mean(-1), y + torch.arange(y.shape[0])\n"
        "def get_inputs():\n    return [torch.rand(ROWS, WIDTH), torch.rand(24)]\n";
    R r = read_text(text);
    TorchOptions options = {0};
    REQUIRE(r.task != NULL);
    torch_mark_held(r.arena, "tasks/m.py", str_from(text), &options, r.task);
    const Graph *g = r.task->graph;
    CHECK_EQ_INT(graph_value(g, g->inputs.at[0])->held_axes, 0);
    CHECK_EQ_INT(graph_value(g, g->inputs.at[1])->held_axes, 1);
    done(&r);
}

T_TEST(read_inputs_by_name)
{
    R r = read_text("import torch\nimport torch.nn as nn\nclass Model(nn.Module):\n"
                    "    def forward(self, x, *, scale=2.0, bias=None):\n"
                    "        return x * scale if bias is None else x * scale + bias\n"
                    "def get_inputs():\n"
                    "    return {'x': torch.rand(4, 8), 'bias': torch.rand(8)}\n");
    REQUIRE(r.task != NULL && r.task->graph->inputs.len == 2);
    CHECK_EQ_STR(graph_value(r.task->graph, r.task->graph->inputs.at[1])->name, "bias");
    CHECK_EQ_INT(r.task->graph->nodes.len, 2);
    done(&r);
}

T_TEST(read_negative_numbers_are_no_sizes)
{
    R r = read_text("import torch\nimport torch.nn as nn\nclass Model(nn.Module):\n"
                    "    def forward(self, x):\n        return x * 2\n"
                    "def get_inputs():\n"
                    "    return [torch.full((16,), -100)]\n");
    REQUIRE(r.task != NULL);
    CHECK_EQ_INT(r.task->knobs.len, 1);
    done(&r);
}

/* einops: the same nodes as the reshape, permute, expand and reduction that the pattern says. */
T_TEST(read_einops)
{
    check_nodes("import einops\nreturn einops.rearrange(x, 'a b c -> c a b')", "permute");
    check_shape("import einops\nreturn einops.rearrange(x, 'a b (c d) -> (a c) (d b)', c=2)",
                "f32[4,6]");
    check_shape("import einops\nreturn einops.rearrange(x, '... c -> c ...')", "f32[4,2,3]");
    check_shape("import einops\nreturn einops.rearrange(x, 'a b c -> a 1 (b c)')", "f32[2,1,12]");
    check_shape("from einops import repeat\nreturn repeat(x, 'a b c -> a n (b m) c', n=5, m=2)",
                "f32[2,5,6,4]");
    check_nodes("from einops import reduce\nreturn reduce(x, 'a b c -> a', 'mean')", "reduce.mean");
    check_shape("from einops import reduce\nreturn reduce(x, 'a (b p) c -> a b c', 'max', p=3)",
                "f32[2,1,4]");
    check_error("import einops\nreturn einops.rearrange(x, 'a b -> b a')", "T010", 2,
                "the pattern names 2 dims, the tensor has 3");
    check_error("import einops\nreturn einops.rearrange(x, 'a (b c d -> b a c d')", "T010", 2,
                "brackets");
    check_error("import einops\nreturn einops.rearrange(x, 'a (b c) d -> a b c d')", "T010", 2,
                "two lengths");
    check_error("import einops\nreturn einops.rearrange(x, 'a (b c) d -> a b c d', c=2)", "T010", 2,
                "dim 1 of size 3");
    check_error("import einops\nreturn einops.rearrange(x, 'a b c -> a b')", "T010", 2,
                "stands only on the left");
    check_error("import einops\nreturn einops.repeat(x, 'a b c -> a n b c')", "T010", 2,
                "the length of axis 'n' is not given");
}

T_TEST(read_errors_stand_at_their_line)
{
    check_error("x = x + 1\nreturn torch.frobnicate(x)", "T011", 2, "torch.frobnicate");
    check_error("return torch.sigmiod(x)", "T011", 1, "; torch.sigmoid is");
    check_error("return nn.LayrNorm(4)(x)", "T011", 1, "; torch.nn.LayerNorm is");
    check_error("return self.fx(x)", "T010", 1, "no attribute 'fx'; it has 'fc'");
    check_error("return self.frobnicate(x)", "T010", 1, "no attribute 'frobnicate'");
    check_error("return torch.unique(x)", "T011", 1, "how long its result is depends on values");
    check_error("return x.to(torch.float8_e4m3fn)", "T010", 1, "known are float32");
    check_error("x = x * 2\nreturn torch.kthvalue(x, 0)", "T010", 2, "kthvalue: k counts from 1");
    check_error("return torch.quantile(x, 0.5, dim=3)", "T010", 1, "quantile: dim 3 is outside");
    check_error("return y % 0", "T010", 1, "divided by 0");
    check_error("return x.view(5, -1)", "G103", 1, "reshape");
    check_error("return nope", "T010", 1, "'nope'");
    check_error("return x + torch.zeros(7)", "G103", 1, "broadcast");
    check_error("while True:\n    pass", "T012", 2, "steps");
    check_error("for i in range(10 ** 12):\n    pass", "T012", 1, "steps");
    check_error("return [0] * 10 ** 10", "T012", 1, "too long");
    check_error("assert x.shape[0] == 3, 'batch'", "T013", 1, "batch");
    check_error("raise ValueError('no')", "T013", 1, "ValueError: no");
    check_error("return x[::-1]", "T010", 1, "positive step");
    check_error("import numpy as np\nreturn np.int32(2 ** 40)", "T010", 2, "this dtype");
    check_error("import numpy as np\nreturn np.int64('3')", "T010", 2, "one number");
    check_error("return 2 ** 100", "T012", 1, "64 bits");
}

#define HEAD "import torch\nimport torch.nn as nn\nclass Model(nn.Module):\n"
#define FORWARD HEAD "    def forward(self, x):\n"
#define INPUTS "def get_inputs():\n    return [torch.rand(4)]\n"

/* The whole file is refused at this line with a text of which `part` is one. */
static void check_refused(const char *text, uint32_t line, const char *part)
{
    R r = read_text(text);
    CHECK_MSG(!r.task, "taken: %s", text);
    REQUIRE(r.task || r.diag.items.len);
    if (!r.task) {
        CHECK_EQ_INT(r.diag.items.at[0].at.line, line);
        CHECK_MSG(strstr(r.diag.items.at[0].text, part), "%s", r.diag.items.at[0].text);
    }
    done(&r);
}

static void check_taken(const char *text)
{
    R r = read_text(text);
    CHECK_MSG(r.task, "%s", r.diag.items.len ? r.diag.items.at[0].text : "");
    done(&r);
}

T_TEST(read_tabs_as_python_does)
{
    check_refused(FORWARD "\ty = x * 2\n        return y\n" INPUTS, 5, "TabError");
    check_refused(FORWARD "        y = x * 2\n\treturn y\n" INPUTS, 6, "TabError");
    check_taken(FORWARD "    \ty = x * 2\n    \treturn y\n" INPUTS);
    check_taken("import torch\nimport torch.nn as nn\nclass Model(nn.Module):\n"
                "\tdef forward(self, x):\n\t\treturn x * 2\n" INPUTS);
}

T_TEST(read_names_that_nfkc_changes_are_refused)
{
    check_refused(FORWARD "        \xe2\x84\x8c = x * 2\n        return H\n" INPUTS, 5, "NFKC");
    check_refused(FORWARD "        e\xcc\x81 = x * 2\n        return x\n" INPUTS, 5, "NFKC");
    check_refused(FORWARD "        \xc2\xb5 = x * 2\n        return x\n" INPUTS, 5, "NFKC");
    check_taken(FORWARD "        \xce\xb1 = x * 2\n        return \xce\xb1\n" INPUTS);
}

T_TEST(read_unfinished_things_stand_where_they_begin)
{
    check_refused(HEAD "    \"\"\"doc\n    def forward(self, x):\n        return x\n\n" INPUTS, 4,
                  "not closed");
    check_refused(HEAD "    def fwd(self, x):\n        return x\n" INPUTS, 3,
                  "class Model has no forward");
}

T_TEST(read_limits)
{
    enum { MANY = 100000 };
    Arena arena = {0};
    char *text = arena_alloc(&arena, MANY + 8);
    memcpy(text, "x = ", 4);
    memset(text + 4, '[', MANY);
    R r = read_text(text);
    CHECK(r.task == NULL);
    CHECK(strstr(r.diag.items.at[0].text, "too deeply") != NULL);
    done(&r);
    r = read_text("import torch.nn as nn\nclass Model(nn.Module):\n    def __init__(self):\n       "
                  " self.m = Model()\n");
    CHECK(r.task == NULL);
    CHECK_EQ_STR(r.diag.items.at[0].code, "T012");
    done(&r);
    arena_drop(&arena);
}

T_TEST(read_sets_and_scales)
{
    static const char text[] =
        "import torch\nimport torch.nn as nn\nclass Model(nn.Module):\n"
        "    def __init__(self, n, g):\n        super().__init__()\n"
        "        self.c = nn.Conv1d(n, n, 3, groups=g)\n"
        "    def forward(self, x):\n        return self.c(x)\n"
        "batch = 256\nchannels = 512\ngroups = 8\nlength = 4096\n"
        "def get_inputs():\n    return [torch.rand(batch, channels, length)]\n"
        "def get_init_inputs():\n    return [channels, groups]\n";
    Arena arena = {0};
    Diag diag = diag_make(&arena, "m.py", str_from(text));
    TorchSet set = {"length", 100};
    TorchOptions options = {.sets = &set, .n_sets = 1};
    TorchTask *task = torch_read(&arena, "m.py", str_from(text), &options, &diag);
    REQUIRE(task != NULL);
    CHECK_EQ_INT(graph_value(task->graph, task->graph->inputs.at[0])->shape.dim[2], 100);
    TorchSet none = {"nope", 1};
    options.sets = &none;
    CHECK(torch_read(&arena, "m.py", str_from(text), &options, &diag) == NULL);
    options = (TorchOptions){0};
    for (int scale = SCALE_MEDIUM; scale <= SCALE_FUZZ; scale++) {
        Diag quiet = diag_make(&arena, "m.py", str_from(text));
        task = torch_read_scaled(&arena, "m.py", str_from(text), &options, (TorchScale)scale,
                                 &quiet);
        REQUIRE(task != NULL);
        int64_t all, largest;
        REQUIRE(graph_bytes(task->graph, &all, &largest));
        CHECK(all <= (scale == SCALE_MEDIUM ? 1 << 29 : 1 << 26));
        CHECK(graph_value(task->graph, task->graph->inputs.at[0])->shape.dim[1] % 2 == 0 ||
              scale == SCALE_FUZZ);
    }
    arena_drop(&arena);
}

static bool same(const char *a, const char *b)
{
    R x = read_forward(a), y = read_forward(b);
    bool equal = false;
    if (x.task && y.task) {
        Buf p = {0}, q = {0};
        graph_print(graph_normal(x.arena, x.task->graph), &p);
        graph_print(graph_normal(y.arena, y.task->graph), &q);
        equal = str_equal(buf_view(&p), buf_view(&q));
        buf_free(&p);
        buf_free(&q);
    }
    done(&x);
    done(&y);
    return equal;
}

/* A window of 8 is no size: whatever is drawn, the pool stays the same operator. */
T_TEST(scaling_keeps_windows)
{
    for (uint64_t seed = 0; seed < 12; seed++) {
        Arena arena = {0};
        const char *path = "tasks/pooling/max_pooling_1d.py";
        Diag diag = diag_make(&arena, path, STR(""));
        TorchOptions options = {.seed = seed};
        Str source;
        REQUIRE(file_read(&arena, path, 0, &source, &diag));
        TorchTask *task = torch_read_scaled(&arena, path, source, &options,
                                            seed ? SCALE_FUZZ : SCALE_SMALL, &diag);
        REQUIRE(task);
        const Graph *g = task->graph;
        const Attr *kernel = node_attr(&g->nodes.at[0], AT_KERNEL);
        CHECK(kernel && kernel->ints.len == 1 && kernel->ints.at[0] == 8);
        arena_drop(&arena);
    }
}

T_TEST(read_negative_dims)
{
    static const char *const pairs[][2] = {
        {"return x.sum(-1)", "return x.sum(2)"},
        {"return x.mean(dim=(-1, -2), keepdim=True)", "return x.mean(dim=(2, 1), keepdim=True)"},
        {"return torch.argmax(x, -2)", "return torch.argmax(x, 1)"},
        {"return x.max(dim=-1)[1]", "return x.max(dim=2)[1]"},
        {"return torch.median(x, -1)[0]", "return torch.median(x, 2)[0]"},
        {"return x.flip(-1)", "return x.flip(2)"},
        {"return x.roll(1, -1)", "return x.roll(1, 2)"},
        {"return x.permute(-1, 0, 1)", "return x.permute(2, 0, 1)"},
        {"return x.transpose(-1, -2)", "return x.transpose(2, 1)"},
        {"return x.diagonal(0, -2, -1)", "return x.diagonal(0, 1, 2)"},
        {"return torch.linalg.vector_norm(x, dim=-1)", "return torch.linalg.vector_norm(x, dim=2)"},
        {"return x.unsqueeze(-1)", "return x.unsqueeze(3)"},
        {"return torch.stack([x, x], -1)", "return torch.stack([x, x], 3)"},
        {"return x.softmax(-1)", "return x.softmax(2)"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        CHECK_MSG(same(pairs[i][0], pairs[i][1]), "%s", pairs[i][0]);
}

T_TEST(read_normal_form)
{
    CHECK(same("return x + 1", "z = 1.0 + x\nunused = torch.exp(x)\nreturn z"));
    CHECK(same("return self.fc(x)", "return x @ self.fc.weight.t() + self.fc.bias"));
    CHECK(same("return x ** 2", "return x * x"));
    CHECK(same("return x.view(6, 4).view(2, 12)", "return x.reshape(2, -1)"));
    CHECK(same("return x.max(dim=1)[0]", "return torch.amax(x, 1)"));
    CHECK(same("return x * (2 * 3)", "return x * 6"));
    CHECK(same("return x.permute(0, 2, 1).permute(0, 2, 1)", "return x"));
    CHECK(same("return F.relu(x)", "return x.clamp(min=0)"));
    CHECK(same("return torch.einsum('bij,bkj->bik', x, x)",
               "return torch.einsum('nac,ndc->nad', x, x)"));
    CHECK(same("return torch.einsum('bij,bkj->bik', x, x[:1])",
               "return torch.einsum('bij,kj->bik', x, x[0])"));
    CHECK(!same("return torch.einsum('bij,bkj->bik', x, x)",
                "return torch.einsum('bij,bkj->bki', x, x)"));
    CHECK(same("m = torch.ones(3, 4).triu(1).bool()\nreturn x.masked_fill(m, 0.5)",
               "a = torch.arange(4)\nreturn x.masked_fill(a[None, :] > a[:3, None], 0.5)"));
    CHECK(!same("m = torch.ones(3, 4).triu(1).bool()\nreturn x.masked_fill(m, 0.5)",
                "m = torch.ones(3, 4).triu(0).bool()\nreturn x.masked_fill(m, 0.5)"));
    CHECK(!same("return x + 1", "return x + 2"));
    CHECK(!same("return x - y.sum()", "return y.sum() - x"));
    CHECK(!same("return x.sum(1)", "return x.sum(2)"));
}

T_TEST(read_other_float_type)
{
    Arena arena = {0};
    Str source = STR("import torch\nimport torch.nn as nn\nclass Model(nn.Module):\n"
                     "    def __init__(self):\n        super().__init__()\n"
                     "        self.norm = nn.LayerNorm(8)\n"
                     "    def forward(self, x, i, y):\n        return self.norm(x), i + 1, y + y\n"
                     "def get_inputs():\n    return [torch.rand(4, 8), torch.randint(0, 9, (4,)),\n"
                     "            torch.rand(4, dtype=torch.float32)]\n");
    Diag diag = diag_make(&arena, "m.py", source);
    TorchOptions options = {.float_type = DT_BF16};
    TorchTask *task = torch_read(&arena, "m.py", source, &options, &diag);
    REQUIRE(task != NULL);
    const DType want[] = {DT_BF16, DT_I64, DT_F32};
    REQUIRE(task->graph->outputs.len == 3);
    for (uint32_t i = 0; i < 3; i++)
        CHECK_EQ_INT(graph_value(task->graph, task->graph->outputs.at[i])->dtype, want[i]);
    for (uint32_t i = 0; i < task->graph->params.len; i++)
        CHECK_EQ_INT(graph_value(task->graph, task->graph->params.at[i])->dtype, DT_BF16);
    arena_drop(&arena);
}

/* Where the graph holds for any values nothing was looked at. */
static void check_looks(const char *body, uint32_t numbers, uint32_t branches)
{
    R r = read_forward(body);
    uint32_t found[2] = {0};
    REQUIRE(r.task != NULL);
    for (uint32_t i = 0; i < r.task->looks.len; i++)
        found[r.task->looks.at[i].branch]++;
    CHECK_MSG(found[0] == numbers && found[1] == branches, "%s: %u numbers, %u branches", body,
              found[0], found[1]);
    done(&r);
}

T_TEST(read_numbers_stay_tensors)
{
    check_nodes("return x / y.sum().item()", "reduce.sum binary.div");
    check_nodes("return x / max(1, y.sum())", "reduce.sum binary.maximum binary.div");
    check_nodes("return x * int(x.max())", "reduce.max cast binary.mul");
    check_looks("return x * float(y.max()) + x.mean().item()", 0, 0);
    check_looks("n = torch.tensor(3).item()\nreturn x.repeat(n, 1, 1)", 0, 0);
    check_looks("return x.repeat(int(y.max()) + 1, 1, 1)", 1, 0);
    check_looks("return x * y.tolist()[0]", 1, 0);
    check_looks("return torch.add(x, x, alpha=x.mean().item())", 0, 0);
    check_looks("return torch.addcdiv(x, x, x + 1, value=-0.1 / (1 - 0.9 ** x.mean().item()))", 0,
                0);
    check_looks("assert x.max() < 2\nif x.max() > 5:\n    x = x * 2\nreturn x", 0, 1);
}

T_TEST(read_largest_index)
{
    check_looks("return F.one_hot(y, 3)", 0, 0);
    check_looks("return F.one_hot(y)", 1, 0);
    check_looks("return torch.bincount(y, minlength=3)", 0, 0);
    check_looks("return torch.bincount(y, weights=y.float(), minlength=3)", 0, 0);
    check_looks("return torch.bincount(y)", 1, 0);
}

T_TEST(read_what_a_mask_picks)
{
    check_nodes("return x[x > 0.5].sum()", "binary.gt reshape reshape cast where reduce.sum");
    check_nodes("m = x > 0.5\nx[m] = x[m] * 2\nreturn x",
                "binary.gt reshape binary.mul reshape where");
    check_nodes("x[y[:2] > 0] = self.fc.bias[:4]\nreturn x", "slice slice binary.gt reshape where");
    check_looks("p = x[x > 0.5]\nreturn p.mean(), p.std(), p.max(), p.numel()", 0, 0);
    check_looks("p = x[x > 0.5]\nreturn (x - p.mean()) / len(p), F.mse_loss(p, p * p)", 0, 0);
    check_shape("return x[:, :, 0][x[:, :, 1] > 0.5].sum(), x[x > 2].shape[0]", "f32[] i64[]");
}
