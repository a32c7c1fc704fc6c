"""Verdicts on answers, from a process of our own or from a server."""
import json
import tempfile
import threading
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from subprocess import PIPE, Popen
from typing import IO, Any, Dict, List, Optional, Sequence, Union, cast

from . import program


class JudgeError(RuntimeError):
    """The question was wrong, or the judge could not work; never the fault of an answer."""


@dataclass(frozen=True)
class Verdict:
    """One line of `acraft judge`; `line` holds all of it (docs/schema/judge.schema.json)."""
    status: str
    reward: float
    correct: bool
    speed: Optional[float]
    predicted_us: Optional[float]
    bound_us: Optional[float]
    reason: str
    message: str
    line: Dict[str, Any] = field(repr=False)

    @property
    def ok(self) -> bool:
        return self.status == "ok"


# What is no fault of the answer: a trainer must not take it for one.
OURS = ("internal", "no-tool", "no-wall")


def _verdict(line: Dict[str, Any]) -> Verdict:
    if line["reward"] is None or line["status"] in OURS:
        raise JudgeError(f"{line['status']}: {line['reason']}")
    return Verdict(line["status"], float(line["reward"]), bool(line["correct"]), line["speed"], line["predicted_us"],
                   line["bound_us"], line["reason"], line["message"], line)


def _items(tasks: Sequence[str], answers: Sequence[str]) -> List[Dict[str, Any]]:
    if len(tasks) != len(answers):
        raise ValueError(f"{len(tasks)} tasks for {len(answers)} answers")
    items = []
    for i, (task, answer) in enumerate(zip(tasks, answers)):
        if not isinstance(answer, str):
            raise TypeError(f"answer {i} is {type(answer).__name__}, not a text")
        key = "model" if "\n" in task else "task"  # the text of a model file, or a name or path of one
        items.append({"id": i, key: task, "answer": answer})
    return items


class _Process:
    """`acraft judge` on this machine: items in, lines out. What it says on standard error is kept until it ends."""

    def __init__(self, words: Sequence[str]):
        self._errors: IO[bytes] = tempfile.TemporaryFile()
        self._popen: "Popen[str]" = Popen(words, stdin=PIPE, stdout=PIPE, stderr=self._errors, text=True)
        self._stdin, self._stdout = cast("IO[str]", self._popen.stdin), cast("IO[str]", self._popen.stdout)

    def ended(self) -> bool:
        return self._popen.poll() is not None

    def close(self) -> None:
        try:
            self._stdin.close()
        except BrokenPipeError:
            pass  # it had ended before it read everything
        self._popen.wait()
        self._stdout.close()
        self._errors.close()

    def why_it_ended(self) -> str:
        status = self._popen.wait()
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace").strip()[-2000:] or f"the judge ended with status {status}"

    def ask(self, items: List[Dict[str, Any]]) -> Dict[int, Dict[str, Any]]:
        """The lines by their id; fewer than items when the process ends early."""
        writer = threading.Thread(target=self._write, args=(items,), daemon=True)
        writer.start()
        lines: Dict[int, Dict[str, Any]] = {}
        while len(lines) < len(items):
            text = self._stdout.readline()
            if not text:
                break
            line = json.loads(text)
            lines[line["id"]] = line
        writer.join()
        return lines

    def _write(self, items: List[Dict[str, Any]]) -> None:
        try:
            for item in items:
                self._stdin.write(json.dumps(item) + "\n")
            self._stdin.flush()
        except (BrokenPipeError, ValueError):
            pass  # it ended; the reader says so


class Judge:
    """A judge that stays: right answers and compiled texts are kept between calls.

        with acraft.Judge(time=True) as judge:
            verdicts = judge("relu", answers)

    `server` is the address of `acraft judge --serve PORT`; without it a process is started. Threads may
    share one judge. The other options are those of `acraft judge --help`, with `_` for `-`; `jobs` is `-j`.
    """

    def __init__(self, *, server: Optional[str] = None, time: bool = False, tasks: Optional[str] = None,
                 form: Optional[str] = None, rule: Optional[str] = None, fuzz: Optional[int] = None,
                 own_sizes: bool = False, strict: bool = False, timeout: Optional[float] = None,
                 jobs: Optional[int] = None, recycle: Optional[int] = None, chip: Optional[str] = None,
                 seed: Optional[int] = None, trust: bool = False, executable: Optional[str] = None):
        self._server = server.rstrip("/") if server else None
        self._lock = threading.Lock()
        self._process: Optional[_Process] = None
        words = ["judge", "--brief"]
        given = {"--tasks": tasks, "--form": form, "--rule": rule, "--fuzz": fuzz, "--timeout": timeout, "-j": jobs,
                 "--recycle": recycle, "--chip": chip, "--seed": seed}
        for name, value in given.items():
            if value is not None:
                words += [name, str(value)]
        flags = {"--own-sizes": own_sizes, "--strict": strict, "--time": time, "--trust": trust}
        words += [name for name, wanted in flags.items() if wanted]
        if self._server and len(words) > 2:
            raise ValueError("a server was told how to judge when it was started: " + " ".join(words[2:]))
        self._words = words
        self._executable = executable

    def __enter__(self) -> "Judge":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        if self._process:
            self._process.close()
            self._process = None

    def __call__(self, task: Union[str, Sequence[str]], answers: Sequence[str]) -> List[Verdict]:
        """One verdict an answer, in their order. `task`: a name, the path or the text of a model file, for
        all answers or one for each."""
        if isinstance(answers, str):
            raise TypeError("answers is one text; give a list of texts")
        items = _items([task] * len(answers) if isinstance(task, str) else list(task), answers)
        if not items:
            return []
        lines = self._ask_server(self._server, items) if self._server else self._ask_process(items)
        missing = [i for i in range(len(items)) if i not in lines]
        if missing:
            why = self._process.why_it_ended() if self._process else "the server ended the reply"
            raise JudgeError(f"{len(missing)} of {len(items)} answers got no verdict: {why}")
        return [_verdict(lines[i]) for i in range(len(items))]

    def _ask_server(self, server: str, items: List[Dict[str, Any]]) -> Dict[int, Dict[str, Any]]:
        body = "\n".join(json.dumps(item) for item in items).encode()
        try:
            with urllib.request.urlopen(urllib.request.Request(server + "/judge", body)) as reply:
                got = [json.loads(line) for line in reply]
        except urllib.error.HTTPError as error:
            raise JudgeError(f"{server}: {error.code} {error.read().decode(errors='replace').strip()}") from None
        except OSError as error:
            raise JudgeError(f"{server}: {error}") from None
        return {line["id"]: line for line in got}

    def _ask_process(self, items: List[Dict[str, Any]]) -> Dict[int, Dict[str, Any]]:
        with self._lock:
            if not self._process or self._process.ended():
                self.close()
                self._process = _Process([program.find(self._executable), *self._words])
            return self._process.ask(items)


def judge(task: Union[str, Sequence[str]], answers: Sequence[str], **options: Any) -> List[Verdict]:
    """Judges once; see Judge for the options."""
    with Judge(**options) as once:
        return once(task, answers)
