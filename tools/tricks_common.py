"""What the writers of tricks share: a task as a model file, a right program of examples/ with places changed, lines for
`acraft judge`. Imported by all of them; the first argument is the program."""
import json
import os
import subprocess
import sys
import tempfile

ACRAFT = sys.argv[1]
HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
F32 = ("T = dtype(f32, f16, bf16)", "T = dtype(f32)")
K, P, M = "kernel.cpp", "pybind11.cpp", "ModelNew.py"
lines = []


def model(forward, inputs, arguments="x", built=""):
    start = "    def __init__(self):\n        super().__init__()\n        %s\n" % built if built else ""
    return (HEAD + "class Model(nn.Module):\n%s    def forward(self, %s):\n        return %s\n"
            "def get_inputs():\n    return [%s]\ndef get_init_inputs():\n    return []\n" % (start, arguments, forward, ", ".join(inputs)))


def changed(text, name, changes):
    for old, new in changes:
        assert old in text, (name, old)
        text = text.replace(old, new)
    return text


def craft(name, base, task, *changes):
    text = changed(open("examples/%s.craft" % base).read(), name, changes)
    lines.append({"id": "craft: " + name, "model": task, "answer": text, "form": "craft"})


def built(base, form):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([ACRAFT, "build", "examples/%s.craft" % base, "--as", form, "-o", folder], check=True,
                       stdout=subprocess.DEVNULL)
        return {os.path.relpath(os.path.join(root, f), folder): open(os.path.join(root, f)).read()
                for root, _, files in os.walk(folder) for f in files}


def direct_of(base):
    """MultiKernelBench's JSON object for direct launch."""
    return json.loads(built(base, "mkb-direct")[base + ".json"])


def direct(name, answer, task, *changes):
    answer = json.loads(json.dumps(answer))
    for part, old, new in changes:
        hit = [s for s in answer["sources"] if s["path"].endswith(part) and old in s["content"]]
        assert hit, (name, old)
        hit[0]["content"] = hit[0]["content"].replace(old, new, 1)
    lines.append({"id": "mkb-direct: " + name, "model": task, "answer": json.dumps(answer)})


def project(name, base, files, task, *changes):
    """An operator project in NPUKernelBench's form; `files` as built() gives them."""
    host, plan = "op_host/%s.cpp" % base, "op_host/%s_plan.h" % base
    files = dict(files)
    for path, old, new in changes:
        files[path] = changed(files[path], name, [(old, new)])
    files[host] = files[host].replace('#include "%s"\n' % os.path.basename(plan), files[plan])
    parts = ("op_host/%s_tiling.h" % base, host, "op_kernel/%s.cpp" % base)
    text = "".join("===== %s =====\n```cpp\n%s\n```\n" % (p, files[p]) for p in parts)
    lines.append({"id": "project: " + name, "model": task, "answer": text, "form": "npukb-full"})


def write():
    for row in lines:
        print(json.dumps(row))
