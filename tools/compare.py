#!/usr/bin/env python3
"""Compares acraft's reference values with PyTorch's, for model files.  Needs PyTorch and the acraft program.

    tools/compare.py [--acraft PROGRAM] [--scale small] [--law given] [--cases 5] [--keep DIR] [--json FILE] [-v] PATH...

PATH is a model file or a directory of them.  For each, `acraft task FILE --run --scale S -o DIR` writes
inputs, parameters and outputs as .npy, and how it changed the file's sizes; the same file, with the same
sizes, inputs and parameters, is then run by PyTorch in float64 (half types as they are).  Equal means: every
element within 1e-5 x (|want| + rms(want)), one rounding step for half types, exact for integers.  Where half types
differ or PyTorch has no half version, the file is run again with those too in float64: an answer within one rounding
step of that is right, and PyTorch has rounded in between; such files have a column of their own.
A file with a list of cases beside it (NAME.json, NAME.csv) is run for --cases of them, spread over the list; of a
.json list, whose sizes stay as they are, the smaller ones.
"""
import argparse
import ast
import collections
import contextlib
import inspect
import io
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy
import torch

EQUAL, FLOAT64, DIFFER, REFUSED, TORCH = "equal", "only to float64", "differ", "refused", "pytorch fails"
HALVES = {torch.float16: 2.0 ** -10, torch.bfloat16: 2.0 ** -7}  # and their rounding step


def load(path, dtype):
    a = numpy.load(path)
    if dtype == "bf16":
        return torch.from_numpy(a.view(numpy.uint16).astype(numpy.int32).astype(numpy.int16)).view(torch.bfloat16)
    return torch.from_numpy(numpy.array(a))


def resize(source, knobs):
    """Puts the sizes acraft chose into the text, last place first."""
    lines = source.split("\n")
    for k in sorted(knobs, key=lambda k: (k["line"], k["col"]), reverse=True):
        if k["value"] == k["original"] or k["line"] == 0:
            continue
        line, at = lines[k["line"] - 1], k["col"] - 1
        m = re.match(r"[0-9_]+", line[at:])
        if not m:
            raise ValueError(f"no number at {k['line']}:{k['col']} for {k['name']}")
        lines[k["line"] - 1] = line[:at] + str(k["value"]) + line[at + m.end():]
    return "\n".join(lines)


def csv_case(path, number, knobs):
    """A row of NAME.csv as a dict, with the sizes acraft chose."""
    with open(path[:-3] + ".csv") as f:
        header, *rows = [line.rstrip("\n") for line in f if line.strip()]
    case = dict(zip(header.split(";"), rows[number].split(";")))
    sizes = collections.defaultdict(dict)
    for k in knobs:
        name, at = re.fullmatch(r"(\w+)(?:\[(\d+)\])?", k["name"]).groups() if k["line"] == 0 else (None, None)
        if name in case:
            sizes[name][int(at or 0)] = k["value"]
    return {name: field_value(text, sizes[name]) for name, text in case.items() if text}


def field_value(text, sizes):
    """A number, True, False, None, a list in brackets, else text; its n-th integer is sizes[n]."""
    if not re.match(r"[-+.\d\[(]|True$|False$|None$", text):
        return text
    count = iter(range(1 << 20))

    def put(m):
        n = next(count)
        return str(sizes.get(n, m.group()))
    try:
        return ast.literal_eval(re.sub(r"(?<![\w.])\d+(?![\w.])", put, text))
    except (SyntaxError, ValueError):
        return text


def wide(x):
    if isinstance(x, torch.Tensor) and x.dtype == torch.float32:
        return x.double()
    return x


def widest(x):
    """Half types too."""
    return x.double() if isinstance(x, torch.Tensor) and x.dtype in HALVES else wide(x)


def has_parameter(model, name):
    return hasattr(model, re.split(r"[.\[]", name)[0])


def set_parameters(model, values, cast):
    """By name; `x[0].y` style names of lists and dicts are walked."""
    for name, tensor in values:
        if not has_parameter(model, name):
            continue
        owner, last = model, name
        parts = re.split(r"[.\[\]]+", name.rstrip("]"))
        for p in parts[:-1]:
            owner = owner[int(p)] if p.isdigit() and not isinstance(owner, torch.nn.Module) else \
                getattr(owner, p) if hasattr(owner, p) else owner[int(p)]
        last = parts[-1]
        old = owner[int(last)] if last.isdigit() and not hasattr(owner, last) else getattr(owner, last)
        if tuple(old.shape) != tuple(tensor.shape):
            raise ValueError(f"parameter {name} has shape {tuple(old.shape)}, acraft has {tuple(tensor.shape)}")
        if isinstance(old, torch.nn.Parameter):
            old.data = cast(tensor)
        elif last.isdigit():
            owner[int(last)] = cast(tensor)
        else:
            setattr(owner, last, cast(tensor))


def no_dropout(model):
    for m in model.modules():
        if isinstance(m, torch.nn.modules.dropout._DropoutNd):
            m.p = 0.0
        if isinstance(m, (torch.nn.MultiheadAttention, torch.nn.RNNBase)):
            m.dropout = 0.0


def flatten(x):
    if isinstance(x, torch.Tensor):
        return [x]
    if isinstance(x, (list, tuple)):
        return [t for i in x for t in flatten(i)]
    if isinstance(x, dict):
        return [t for i in x.values() for t in flatten(i)]
    return [torch.tensor(x)] if isinstance(x, (bool, int, float)) else []


def prepare(path, manifest, directory, cast=wide):
    """The file's model, with acraft's sizes, parameters and inputs."""
    with open(path) as f:
        source = resize(f.read(), manifest.get("knobs", []))
    space = {"__name__": "task", "__file__": path}
    if manifest.get("case_line"):
        space["open"] = lambda *a, **k: io.StringIO(manifest["case_line"])
    torch.manual_seed(0)
    exec(compile(source, path, "exec"), space)
    case = csv_case(path, manifest["case"], manifest["knobs"]) if manifest.get("case") is not None else None
    init = call_with(space["get_init_inputs"], case) if "get_init_inputs" in space else []
    model = space["Model"](**init) if isinstance(init, dict) else space["Model"](*init)
    set_parameters(model, [(p["name"], load(os.path.join(directory, p["file"]), p["dtype"])) for p in manifest["params"]], cast)
    no_dropout(model)
    for p in list(model.parameters()) + list(model.buffers()):
        p.data = cast(p.data)
    for k, v in list(model.__dict__.items()):
        if isinstance(v, torch.Tensor):
            setattr(model, k, cast(v))
    inputs = [cast(load(os.path.join(directory, i["file"]), i["dtype"])) for i in manifest["inputs"]]
    return model, with_attributes(model, rebuild(space, inputs, case), manifest.get("attributes", {}))


def with_attributes(model, inputs, attributes):
    """Numbers that get_inputs draws are those acraft drew."""
    names = list(inspect.signature(model.forward).parameters)
    drawn = [isinstance(x, (int, float)) and not isinstance(x, bool) and n in attributes for n, x in zip(names, inputs)]
    return [type(x)(attributes[n]) if d else x for n, x, d in zip(names, inputs, drawn)] + list(inputs[len(names):])


def call_with(function, case):
    return function(case) if inspect.signature(function).parameters else function()


FLOAT32_NAMES = [(torch, "float32"), (torch, "float"), (torch.Tensor, "float")]
HALF_NAMES = [(torch, "float16"), (torch, "half"), (torch, "bfloat16"), (torch.Tensor, "half"), (torch.Tensor, "bfloat16")]


@contextlib.contextmanager
def as_float64(names=FLOAT32_NAMES):
    """float32 means float64, also where the file says so itself, and dropout does nothing."""
    kept = [(torch.nn.functional, "dropout", lambda x, *a, **k: x)]
    kept += [(owner, name, torch.float64 if owner is torch else torch.Tensor.double) for owner, name in names]
    old, default = [getattr(o, n) for o, n, _ in kept], torch.get_default_dtype()
    for owner, name, value in kept:
        setattr(owner, name, value)
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(default)
        for (owner, name, _), value in zip(kept, old):
            setattr(owner, name, value)


@contextlib.contextmanager
def modules_take(values):
    """Modules that forward itself makes take their parameters from `values`, in order."""
    queue, plain = list(values), torch.nn.Module.__call__

    def call(module, *args, **kwargs):
        if not getattr(module, "_acraft_set", False) and not any(True for _ in module.children()):
            module._acraft_set = True
            for p in module.parameters():
                if queue:
                    p.data = queue.pop(0).reshape(p.shape).to(p.dtype)
        return plain(module, *args, **kwargs)
    torch.nn.Module.__call__ = call
    try:
        yield
    finally:
        torch.nn.Module.__call__ = plain


def run_torch(path, manifest, directory, cast=wide, context=as_float64):
    model, inputs = prepare(path, manifest, directory, cast)
    for m in model.modules():
        m._acraft_set = True
    drawn = [cast(load(os.path.join(directory, p["file"]), p["dtype"])) for p in manifest.get("drawn", [])]
    with context(), modules_take(drawn), torch.no_grad():
        return flatten(model(*inputs))


def run_either(path, manifest, directory):
    """In float64; in float32 where PyTorch has no float64 version of an operator."""
    try:
        return run_torch(path, manifest, directory)
    except RuntimeError as error:
        if "Double" not in str(error):
            raise
        return run_torch(path, manifest, directory, cast=lambda x: x, context=contextlib.nullcontext)


def all_as_float64():
    return as_float64(FLOAT32_NAMES + HALF_NAMES)


def rebuild(space, tensors, case):
    """get_inputs may mix numbers and lists with tensors: keep its structure, put in our tensors."""
    pattern = call_with(space["get_inputs"], case) if "get_inputs" in space else space["get_input_groups"]()[0]
    rest = list(tensors)

    def fill(x):
        if isinstance(x, torch.Tensor):
            return rest.pop(0)
        if isinstance(x, (list, tuple)):
            return type(x)(fill(i) for i in x)
        if isinstance(x, dict):
            return {k: fill(v) for k, v in x.items()}
        return x
    out = fill(pattern)
    return out if not rest else tensors


def error_of(got, want, dtype):
    """Largest error in units of what `dtype` is allowed; text when there is nothing to measure."""
    if tuple(got.shape) != tuple(want.shape):
        return f"shape {tuple(got.shape)}, PyTorch {tuple(want.shape)}"
    if got.numel() == 0:
        return 0.0
    if not got.dtype.is_floating_point and not got.dtype.is_complex:
        if want.dtype.is_floating_point:
            return f"dtype {got.dtype}, PyTorch {want.dtype}"
        return 0.0 if torch.equal(got.long(), want.long()) else "integers differ"
    step = HALVES.get(dtype)
    if got.dtype.is_complex:
        got, want = torch.view_as_real(got), torch.view_as_real(want)
    g, w = got.double(), want.double()
    finite = torch.isfinite(want.to(got.dtype))  # what f32 cannot hold is infinite
    w = torch.where(finite, w, want.to(got.dtype).double())
    if not torch.equal(finite, torch.isfinite(g)) or not torch.equal(torch.isnan(w), torch.isnan(g)):
        return "finiteness differs"
    g, w = g[finite], w[finite]
    if w.numel() == 0:
        return 0.0
    rms = w.square().mean().sqrt()
    allowed = (step or 1e-5) * (w.abs() + rms) + 2.0 ** -149  # what f32 cannot hold is 0
    return ((g - w).abs() / allowed).max().item()


def elements(case):
    """Elements of the tensors of a case."""
    total = 0
    for i in case.get("inputs", []):
        shapes = i.get("shape") or []
        for shape in shapes if shapes and isinstance(shapes[0], list) else [shapes]:
            n = 1
            for d in shape:
                n *= d if isinstance(d, int) else 1
            total += n
    return total


def choose_cases(path, args):
    """Numbers and lines of the cases to run; [(None, None)] for a file without a list."""
    if os.path.exists(path[:-3] + ".csv"):
        with open(path[:-3] + ".csv") as f:
            rows = [line for line in f if line.strip()][1:]
        return [(n, None) for n in range(len(rows))][::max(1, len(rows) // args.cases)][:args.cases]
    name = path[:-3] + ".json"
    if not os.path.exists(name):
        return [(None, None)]
    with open(name) as f:
        lines = [line for line in f if line.strip()]
    small = [(n, line) for n, line in enumerate(lines) if elements(json.loads(line)) <= 1 << 20]
    small = small or [min(enumerate(lines), key=lambda c: elements(json.loads(c[1])))]
    step = max(1, len(small) // args.cases)
    return small[::step][:args.cases]


def compare_file(path, args):
    """The worst of its cases."""
    order, worst = [EQUAL, FLOAT64, TORCH, REFUSED, DIFFER], (EQUAL, "")
    for number, line in choose_cases(path, args):
        status, detail = compare_one(path, args, number, line)
        if number is not None:
            detail = f"case {number}: {detail}"
        if order.index(status) > order.index(worst[0]) or not worst[1]:
            worst = (status, detail)
    return worst


def export(path, args, directory, case, case_line):
    """acraft's values of a file, as a manifest beside the .npy files; else what went wrong."""
    scale = "full" if case_line else args.scale
    command = [args.acraft, "task", path, "--run", "--scale", scale, "--law", args.law, "-o", directory]
    try:
        done = subprocess.run(command + ([] if case is None else ["--case", str(case)]), capture_output=True, text=True,
                              timeout=args.timeout)
    except subprocess.TimeoutExpired:
        return None, f"acraft took over {args.timeout} s"
    if done.returncode != 0:
        return None, (done.stderr or done.stdout).strip().split("\n")[0]
    with open(os.path.join(directory, "values.json")) as f:
        manifest = json.load(f)
    manifest["case_line"] = case_line
    manifest["case"] = case if case_line is None else None
    manifest["attributes"] = attributes(path, args, scale, case)
    return manifest, None


def attributes(path, args, scale, case):
    """The attributes of a file that declares its operands: get_inputs may draw them."""
    with open(path) as f:
        if not re.search(r"^attr +\w+ +(int|float)", f.read(), re.M):
            return {}
    command = [args.acraft, "task", path, "--json", "--scale", scale] + ([] if case is None else ["--case", str(case)])
    done = subprocess.run(command, capture_output=True, text=True, timeout=args.timeout)
    operands = json.loads(done.stdout)["operands"]
    return {o["name"]: o["value"] for o in operands if o["role"] == "attr" and isinstance(o.get("value"), (int, float))}


def compare_one(path, args, case=None, case_line=None):
    with tempfile.TemporaryDirectory() as scratch:
        directory = os.path.join(args.keep, os.path.basename(path)[:-3]) if args.keep else os.path.join(scratch, "task")
        manifest, problem = export(path, args, directory, case, case_line)
        if problem:
            return REFUSED, problem
        got = [load(os.path.join(directory, o["file"]), o["dtype"]) for o in manifest["outputs"]]
        failed = False
        try:
            error = worst_error(got, run_either(path, manifest, directory), lambda g, w: w.dtype)
        except Exception as failure:  # whatever the file does
            error, failed = f"{type(failure).__name__}: {failure}".split("\n")[0], True
        if within(error):
            return EQUAL, said(error)
        if any(g.dtype in HALVES for g in got):
            with contextlib.suppress(Exception):
                again = worst_error(got, run_torch(path, manifest, directory, widest, all_as_float64), lambda g, w: g.dtype)
                if within(again):
                    return FLOAT64, f"PyTorch in half: {said(error)}; in float64: {said(again)}"
        return TORCH if failed else DIFFER, said(error)


def worst_error(got, want, dtype):
    """Of all outputs, in units of what is allowed; text when there is nothing to measure."""
    if len(got) != len(want):
        return f"{len(got)} outputs, PyTorch {len(want)}"
    errors = [error_of(g, w, dtype(g, w)) for g, w in zip(got, want)]
    texts = [f"output {i}: {e}" for i, e in enumerate(errors) if isinstance(e, str)]
    return texts[0] if texts else max(errors, default=0.0)


def within(error):
    return not isinstance(error, str) and error <= 1


def said(error):
    return error if isinstance(error, str) else f"{error:.3g} of what is allowed"


def find(paths):
    for p in paths:
        if os.path.isdir(p):
            for root, dirs, files in sorted(os.walk(p)):
                dirs.sort()
                yield from (os.path.join(root, f) for f in sorted(files) if f.endswith(".py") and not f.startswith("_"))
        else:
            yield p


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--acraft", default=os.environ.get("ACRAFT", "build/debug-gcc/acraft"))
    parser.add_argument("--scale", default="small")
    parser.add_argument("--law", default="given", help="how acraft draws inputs: given, varied, signed, ...")
    parser.add_argument("--cases", type=int, default=5)
    parser.add_argument("--keep", help="leave the exported values here")
    parser.add_argument("--json", help="write one result per line here")
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("-v", action="store_true", help="print the equal ones too")
    args = parser.parse_args(argv)
    table, out = collections.defaultdict(collections.Counter), open(args.json, "w") if args.json else None
    for path in find(args.paths):
        category = os.path.basename(os.path.dirname(os.path.abspath(path)))
        status, detail = compare_file(path, args)
        table[category][status] += 1
        if out:
            out.write(json.dumps({"file": path, "category": category, "status": status, "detail": detail}) + "\n")
            out.flush()
        if args.v or status != EQUAL:
            print(f"{category}/{os.path.basename(path)}: {status}: {detail}", flush=True)
    columns = [EQUAL, FLOAT64, DIFFER, REFUSED, TORCH]
    print(f"\n{'category':24}" + "".join(f"{c:>17}" for c in columns))
    for category in sorted(table):
        print(f"{category:24}" + "".join(f"{table[category][c]:17}" for c in columns))
    total = sum(table.values(), collections.Counter())
    print(f"{'all':24}" + "".join(f"{total[c]:17}" for c in columns))
    return 0 if total[DIFFER] + total[REFUSED] == 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
