"""Where the program is, and how it is called."""
import os
import shutil
import subprocess
from typing import Optional, Sequence


def find(given: Optional[str] = None) -> str:
    """The path of `acraft`: `given`, $ACRAFT, or what the PATH has."""
    path = given or os.environ.get("ACRAFT") or shutil.which("acraft")
    if not path or not os.access(path, os.X_OK):
        raise FileNotFoundError("the program acraft was not found: install it, or set ACRAFT to its path"
                                + (f" ({path} cannot be run)" if path else ""))
    return path


def call(words: Sequence[str], given: Optional[str] = None) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([find(given), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
