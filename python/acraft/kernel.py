"""A Craft program on this machine's processor: its C form, on numpy arrays or torch CPU tensors."""
import ast
import ctypes
import glob
import os
import subprocess
import tempfile
from typing import Any, Dict, List, Optional, Sequence, Tuple

from . import program


class KernelError(RuntimeError):
    """The program cannot be built, or refuses what it was given."""


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("rank", ctypes.c_int64), ("dims", ctypes.c_int64 * 8)]


class _Operand(ctypes.Structure):
    _fields_ = [("count", ctypes.c_int64), ("items", ctypes.POINTER(_Tensor))]


class _Args(ctypes.Structure):
    _fields_ = [("operands", ctypes.POINTER(_Operand)), ("ints", ctypes.POINTER(ctypes.c_int64)),
                ("floats", ctypes.POINTER(ctypes.c_float)), ("choices", ctypes.POINTER(ctypes.c_int64)),
                ("chip", ctypes.POINTER(ctypes.c_int64)), ("message", ctypes.c_char_p), ("message_size", ctypes.c_size_t)]


# cores, cube cores, and bytes of UB, L1, L0A, L0B, L0C, L2: those of a 910B2
_CHIP = (48, 24, 196608, 524288, 65536, 65536, 131072, 192 << 20)
_NUMPY = {"f32": "float32", "f16": "float16", "i8": "int8", "u8": "uint8", "i16": "int16", "u16": "uint16", "i32": "int32",
          "u32": "uint32", "i64": "int64", "u64": "uint64", "bool": "bool", "f64": "float64"}
_TORCH = {**_NUMPY, "bf16": "bfloat16"}


class _Parameter:
    """One parameter of the host function: a tensor, or an attribute."""

    def __init__(self, name: str, annotation: ast.expr, default: Optional[ast.expr], dtypes: Dict[str, str]):
        self.name, self.default = name, default
        self.is_tensor = isinstance(annotation, ast.Subscript)
        self.dims: List[ast.expr] = []
        if isinstance(annotation, ast.Subscript):
            self.role = ast.unparse(annotation.value)  # gm, out, inout
            inside = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
            word = ast.unparse(inside[0])
            self.dtype, self.dims = dtypes.get(word, word), inside[1:]
        else:
            self.role, self.dtype = "attr", ast.unparse(annotation)


def _is_numpy(value: Any) -> bool:
    return hasattr(value, "__array_interface__")


def _is_torch(value: Any) -> bool:
    return hasattr(value, "data_ptr") and hasattr(value, "element_size")


class Kernel:
    """kernel = Kernel("softmax.craft"); y = kernel(x)

    Inputs in the order of the host function, or by name; attributes by name. Outputs are made, of the first input's
    kind, or written to where one of that name is given. Several outputs come back as a tuple.
    """

    def __init__(self, path: str, dtype: str = "f32", *, executable: Optional[str] = None, compiler: str = "cc"):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.path = path
        self._read(ast.parse(text, path), dtype)
        self._library = self._build(dtype, executable, compiler)

    def _read(self, tree: ast.Module, dtype: str) -> None:
        dtypes: Dict[str, str] = {}
        self._derived: List[Tuple[str, ast.expr]] = []
        for node in tree.body:
            if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
                continue
            name, call = ast.unparse(node.targets[0]), node.value
            made_by = ast.unparse(call.func)
            if made_by == "dtype":
                dtypes[name] = dtype
            elif made_by == "dim":
                self._derived += [(name, k.value) for k in call.keywords if k.arg == "of"]
        hosts = [n for n in tree.body if isinstance(n, ast.FunctionDef)
                 and any(isinstance(d, ast.Name) and d.id == "host" for d in n.decorator_list)]
        if len(hosts) != 1:
            raise KernelError(f"{self.path}: {len(hosts)} host functions, not one")
        arguments = hosts[0].args
        without = len(arguments.args) - len(arguments.defaults)
        defaults: List[Optional[ast.expr]] = [*([None] * without), *arguments.defaults]
        self.parameters = [_Parameter(a.arg, a.annotation, d, dtypes) for a, d in zip(arguments.args, defaults)
                           if a.annotation]  # acraft build refuses a parameter without one

    def _build(self, dtype: str, executable: Optional[str], compiler: str) -> ctypes.CDLL:
        with tempfile.TemporaryDirectory(prefix="acraft-") as directory:
            done = program.call(["build", self.path, "--as", "c", "-o", os.path.join(directory, "c")], executable)
            if done.returncode != 0:
                raise KernelError(done.stderr.strip())
            files = glob.glob(os.path.join(directory, "c", "*.c"))
            chosen = [f for f in files if f.endswith(f"_{dtype}.c")] or (files if len(files) == 1 else [])
            if not chosen:
                raise KernelError(f"{self.path} has no form for {dtype}")
            library = os.path.join(directory, "kernel.so")
            made = subprocess.run([compiler, "-std=c17", "-O2", "-fopenmp", "-ffp-contract=off", "-shared", "-fPIC", "-o",
                                   library, chosen[0], "-lm"], stderr=subprocess.PIPE, text=True)
            if made.returncode != 0:
                raise KernelError(f"{compiler}: {made.stderr.strip()}")
            loaded = ctypes.CDLL(library)
        loaded.craft_entry.argtypes, loaded.craft_entry.restype = [ctypes.POINTER(_Args)], ctypes.c_int
        return loaded

    # --- sizes

    @staticmethod
    def _value(expression: ast.expr, sizes: Dict[str, int], place: str) -> int:
        try:
            return int(eval(compile(ast.Expression(expression), place, "eval"),  # sizes are whole numbers
                            {"__builtins__": {}, "min": min, "max": max, "ceil_div": lambda a, b: -(-a // b)}, dict(sizes)))
        except NameError as error:
            raise KernelError(f"{place}: {error}") from None

    def _bind_sizes(self, given: Dict[str, Any]) -> Dict[str, int]:
        sizes: Dict[str, int] = {}
        for p in self.parameters:
            if not p.is_tensor or p.name not in given:
                continue
            shape = tuple(given[p.name].shape)
            if len(shape) != len(p.dims):
                raise KernelError(f"'{p.name}' has {len(shape)} axes, not {len(p.dims)}")
            for size, dim in zip(shape, p.dims):
                if isinstance(dim, ast.Name) and sizes.setdefault(dim.id, size) != size:
                    raise KernelError(f"'{p.name}': {dim.id} is {size} here and {sizes[dim.id]} before")
        for name, expression in self._derived:
            sizes[name] = self._value(expression, sizes, f"{self.path}: {name}")
        return sizes

    # --- tensors

    def _check(self, p: _Parameter, value: Any) -> Any:
        if _is_numpy(value):
            have, want, flat = str(value.dtype), _NUMPY.get(p.dtype), value.flags["C_CONTIGUOUS"]
        elif _is_torch(value):
            if value.device.type != "cpu":
                raise KernelError(f"'{p.name}' lies on {value.device}; this form runs on the CPU")
            have, want, flat = str(value.dtype).replace("torch.", ""), _TORCH.get(p.dtype), value.is_contiguous()
        else:
            raise TypeError(f"'{p.name}' is {type(value).__name__}: numpy arrays and torch tensors are taken")
        if have != want:
            raise KernelError(f"'{p.name}' is {have}, not {want}")
        if flat:
            return value
        if p.role != "gm":
            raise KernelError(f"'{p.name}' is written to and must be contiguous")
        return value.copy() if _is_numpy(value) else value.contiguous()

    def _make(self, p: _Parameter, like: Any, sizes: Dict[str, int]) -> Any:
        shape = tuple(self._value(d, sizes, f"{self.path}: {p.name}") for d in p.dims)
        if _is_torch(like):
            import torch

            return torch.empty(shape, dtype=getattr(torch, _TORCH[p.dtype]))
        import numpy

        if p.dtype not in _NUMPY:
            raise KernelError(f"numpy has no {p.dtype}; give torch tensors")
        return numpy.empty(shape, dtype=_NUMPY[p.dtype])

    @staticmethod
    def _operand(value: Any, keep: List[Any]) -> _Operand:
        if value is None:
            return _Operand(0, None)
        address = value.ctypes.data if _is_numpy(value) else value.data_ptr()
        tensor = _Tensor(address, len(value.shape), (ctypes.c_int64 * 8)(*value.shape))
        keep.append(tensor)
        return _Operand(1, ctypes.pointer(tensor))

    def _place(self, args: Sequence[Any], named: Dict[str, Any]) -> Dict[str, Any]:
        inputs = [p.name for p in self.parameters if p.role in ("gm", "inout")]
        if len(args) > len(inputs):
            raise TypeError(f"{len(args)} inputs given, {len(inputs)} wanted: {', '.join(inputs)}")
        given = dict(zip(inputs, args))
        for name, value in named.items():
            if name in given or name not in [p.name for p in self.parameters]:
                raise TypeError(f"'{name}' is given twice" if name in given else f"there is no '{name}'")
            given[name] = value
        missing = [name for name in inputs if name not in given]
        if missing:
            raise TypeError("not given: " + ", ".join(missing))
        return given

    def __call__(self, *args: Any, **named: Any) -> Any:
        given = self._place(args, named)
        tensors = {p.name: self._check(p, given[p.name]) for p in self.parameters
                   if p.is_tensor and given.get(p.name) is not None}
        sizes = self._bind_sizes(tensors)
        first = next(iter(tensors.values()), None)
        attributes = [p for p in self.parameters if not p.is_tensor]
        values = [given.get(p.name, ast.literal_eval(p.default) if p.default else None) for p in attributes]
        if None in values:
            raise TypeError(f"attribute '{attributes[values.index(None)].name}' is not given")
        for p in self.parameters:
            if p.role == "out" and p.name not in tensors:
                tensors[p.name] = self._make(p, first, sizes)
        keep: List[Any] = []
        operands = [self._operand(tensors.get(p.name), keep) for p in self.parameters if p.is_tensor]
        self._run(operands, attributes, values)
        results = tuple(tensors[p.name] for p in self.parameters if p.role in ("out", "inout"))
        return results[0] if len(results) == 1 else results

    def _run(self, operands: List[_Operand], attributes: List[_Parameter], values: List[Any]) -> None:
        floats = [float(v) if p.dtype == "f32" else 0.0 for p, v in zip(attributes, values)]
        ints = [int(v) if p.dtype != "f32" else 0 for p, v in zip(attributes, values)]
        message = ctypes.create_string_buffer(512)
        args = _Args((_Operand * len(operands))(*operands), (ctypes.c_int64 * len(ints))(*ints) if ints else None,
                     (ctypes.c_float * len(floats))(*floats) if floats else None, None, (ctypes.c_int64 * 8)(*_CHIP),
                     ctypes.cast(message, ctypes.c_char_p), len(message))
        if self._library.craft_entry(ctypes.byref(args)) != 0:
            raise KernelError(f"{self.path}: {message.value.decode(errors='replace') or 'refused'}")
