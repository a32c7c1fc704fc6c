"""A checked operator project from a model file."""
import inspect
import os
import shutil
import tempfile
from dataclasses import dataclass
from typing import Any, Optional, Sequence

from . import program
from .kernel import Kernel


class MakeError(RuntimeError):
    """No kernel was made; the text says why and where."""


@dataclass(frozen=True)
class Made:
    directory: str  # the operator project, with its report
    craft: str      # path of the Craft program
    summary: str    # what `acraft make` printed

    def kernel(self, dtype: str = "f32") -> Kernel:
        return Kernel(self.craft, dtype)


def _path_of(model: Any) -> str:
    if isinstance(model, (str, os.PathLike)):
        return os.fspath(model)
    source = inspect.getsourcefile(model if inspect.isclass(model) or inspect.ismodule(model) else type(model))
    if not source:
        raise MakeError("the model has no source file; write it to one")
    return source


def make(model: Any, directory: Optional[str] = None, *, dtype: Optional[str] = None, executable: Optional[str] = None,
         options: Sequence[str] = ()) -> Made:
    """`model`: the path of a model file, or a class, object or module whose file is one.

    The project is written to `directory`; without one to a new directory below the system's temporary one, which stays.
    """
    path = _path_of(model)
    if directory:
        return _make_in(path, directory, dtype, executable, options)
    above = tempfile.mkdtemp(prefix="acraft-")
    try:
        return _make_in(path, os.path.join(above, "operator"), dtype, executable, options)
    except BaseException:
        shutil.rmtree(above, ignore_errors=True)
        raise


def _make_in(path: str, directory: str, dtype: Optional[str], executable: Optional[str], options: Sequence[str]) -> Made:
    words = ["make", path, "-o", directory, *options] + (["--dtype", dtype] if dtype else [])
    done = program.call(words, executable)
    if done.returncode != 0:
        raise MakeError((done.stderr.strip() or done.stdout.strip()) + f" (status {done.returncode})")
    found = [name for name in os.listdir(directory) if name.endswith(".craft")]
    if len(found) != 1:
        raise MakeError(f"{directory} holds {len(found)} Craft programs, not one")
    return Made(directory, os.path.join(directory, found[0]), done.stdout)
