/* acraft new: a model file to start from. */
#include "cmd/cmd.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* A class as PyTorch users write it, small enough to read at once, with what acraft looks at explained
 * beside it: $ stands for the name. */
static const char model[] =
    "\"\"\"$: what this operator computes, in a sentence.\"\"\"\n"
    "import torch\n"
    "import torch.nn as nn\n"
    "import torch.nn.functional as F\n"
    "\n"
    "\n"
    "class Model(nn.Module):\n"
    "    # Parameters and buffers become inputs of the kernel, by their PyTorch names.\n"
    "    def __init__(self, features, eps):\n"
    "        super().__init__()\n"
    "        self.weight = nn.Parameter(torch.ones(features))\n"
    "        self.eps = eps\n"
    "\n"
    "    # The operator itself: tensors in, tensors out. Ordinary PyTorch; no loops over "
    "elements.\n"
    "    def forward(self, x, gate):\n"
    "        y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight\n"
    "        return y * F.silu(gate)\n"
    "\n"
    "\n"
    "# The sizes that the kernel is tuned and timed for. Others are tried too.\n"
    "ROWS = 2048\n"
    "FEATURES = 4096\n"
    "\n"
    "\n"
    "# What forward is called with.\n"
    "def get_inputs():\n"
    "    return [torch.randn(ROWS, FEATURES), torch.randn(ROWS, FEATURES)]\n"
    "\n"
    "\n"
    "# What the constructor is called with.\n"
    "def get_init_inputs():\n"
    "    return [FEATURES, 1e-6]\n";

static bool good_name(const char *name)
{
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_')
            return false;
    return *name && !isdigit((unsigned char)*name);
}

static int write_model(Arena *arena, const char *name, const char *into, bool force)
{
    Diag diag = diag_make(arena, name, (Str){0});
    if (!good_name(name)) {
        fprintf(stderr, "acraft new: '%s' is no name: letters, digits and _ make one\n", name);
        return CMD_USAGE;
    }
    const char *path = into ? into : str_format(arena, "%s.py", name);
    if (!force && file_exists(path)) {
        fprintf(stderr, "acraft new: %s is there already; --force writes over it\n", path);
        return CMD_USAGE;
    }
    Buf text = {0};
    for (const char *c = model; *c; c++)
        if (*c == '$')
            buf_puts(&text, name);
        else
            buf_char(&text, *c);
    bool ok = file_write(path, buf_view(&text), &diag);
    buf_free(&text);
    if (!ok)
        return cmd_say(&diag, CMD_USAGE);
    printf("%s is written. Next: acraft make %s -o %s\n", path, path, name);
    return CMD_OK;
}

int cmd_new(int argc, char **argv)
{
    const char *into = NULL;
    bool force = false;
    const CmdOption options[] = {
        {"o", CMD_TEXT, &into, "FILE", "write there (NAME.py)"},
        {"force", CMD_FLAG, &force, NULL, "write over a file that is there"},
    };
    CmdUsage usage = {"new",
                      "NAME",
                      "Writes a commented model file to start from.",
                      "acraft new gated_norm",
                      options,
                      2,
                      1,
                      1};
    CmdArgs args = {0};
    int status = CMD_OK;
    if (cmd_read(&usage, argc, argv, &args, &status))
        status = write_model(&args.arena, args.words[0], into, force);
    cmd_done(&args);
    return status;
}
