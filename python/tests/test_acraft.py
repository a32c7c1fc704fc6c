"""The client against the program that $ACRAFT names. Run from the repository: pytest python/tests"""
import asyncio
import inspect
import os
import pathlib
import subprocess
import sys
import tempfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
import acraft  # noqa: E402
from acraft.reward import compute_score_async  # noqa: E402

RELU = (ROOT / "examples/relu.craft").read_text()
WRONG = RELU.replace("relu(a[:t.size])", "abs(a[:t.size])")
TASK = str(ROOT / "tasks/activation/relu.py")


@pytest.fixture(scope="module")
def judge():
    with acraft.Judge(trust=True, fuzz=0, jobs=1) as one:
        yield one


def test_verdicts_in_order(judge):
    verdicts = judge(TASK, [RELU, WRONG, "no program at all"])
    assert [v.status for v in verdicts] == ["ok", "wrong", "no-answer"]
    assert [v.ok for v in verdicts] == [True, False, False]
    assert verdicts[0].reward >= 0.5 and verdicts[1].reward == 0
    assert verdicts[1].message and verdicts[0].line["schema"]


def test_a_task_of_each_answer(judge):
    text = pathlib.Path(TASK).read_text()
    assert [v.status for v in judge([TASK, text], [RELU, RELU])] == ["ok", "ok"]
    assert judge(TASK, []) == []


def test_a_wrong_question_raises(judge):
    with pytest.raises(acraft.JudgeError, match="bad-request"):
        judge("no_such_task_anywhere", [RELU])
    with pytest.raises(TypeError):
        judge(TASK, RELU)
    with pytest.raises(ValueError):
        judge([TASK, TASK], [RELU])
    with pytest.raises(FileNotFoundError, match="ACRAFT"):
        acraft.judge(TASK, [RELU], executable="/nowhere/acraft")
    with pytest.raises(ValueError, match="server"):
        acraft.Judge(server="http://127.0.0.1:1", time=True)
    with pytest.raises(acraft.JudgeError, match="127.0.0.1"):
        acraft.judge(TASK, [RELU], server="http://127.0.0.1:1")


def test_options_of_the_command_line_are_there():
    words = subprocess.run([os.environ["ACRAFT"], "judge", "--help=words"], capture_output=True, text=True).stdout.split()
    names = {word.strip("-=").replace("-", "_") for word in words} - {"serve", "brief", "json", "color", "help"}
    taken = set(inspect.signature(acraft.Judge.__init__).parameters)
    assert {"own_sizes", "rule", "strict"} <= names
    assert {"jobs" if name == "j" else name for name in names} <= taken


def test_options_reach_the_judge():
    common = dict(trust=True, fuzz=0, jobs=1)
    task = pathlib.Path(TASK).read_text().replace("ROWS = 4096", "ROWS = 4").replace("COLS = 393216", "COLS = 512")
    lines = [acraft.judge(task, [RELU], **common, **more)[0].line
             for more in ({}, {"own_sizes": True}, {"strict": True}, {"rule": "mkb"})]
    assert [line["status"] for line in lines] == ["ok"] * 4
    assert len({line["config"] for line in lines}) == 4
    with pytest.raises(acraft.JudgeError, match="no_such_rule"):
        acraft.judge(TASK, [RELU], rule="no_such_rule")


def test_a_judge_that_ends_says_why():
    with pytest.raises(acraft.JudgeError, match="no suite and no directory 'nodir'"):
        acraft.trl_reward(tasks="nodir")(completions=[RELU], task=["relu"])
    with pytest.raises(acraft.JudgeError, match="'nodir'"):  # the same judge, asked again
        acraft.trl_reward(tasks="nodir")(completions=[RELU], task=["relu"])


def test_a_failed_make_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(acraft.MakeError, match="nowhere.py"):
        acraft.make("nowhere.py")
    assert list(tmp_path.iterdir()) == []


def test_rewards_of_trainers():
    options = dict(time=False, trust=True, fuzz=0, jobs=1)
    of_trl = acraft.trl_reward(**options)
    completions = [[{"role": "assistant", "content": RELU}], WRONG]
    assert of_trl(prompts=["", ""], completions=completions, task=[TASK, TASK]) == [0.5, 0.0]
    with pytest.raises(KeyError, match="column"):
        of_trl(prompts=[""], completions=[RELU], problem=["x"])
    assert acraft.compute_score("acraft", RELU, TASK, **options) == 0.5
    assert acraft.compute_score("acraft", WRONG, None, {"task": TASK}, **options) == 0
    with pytest.raises(ValueError, match="ground_truth"):
        acraft.compute_score("acraft", RELU, None, **options)
    assert asyncio.run(compute_score_async("acraft", RELU, TASK, **options)) == 0.5


def test_kernel_on_numpy():
    numpy = pytest.importorskip("numpy")
    kernel = acraft.Kernel(str(ROOT / "examples/relu.craft"))
    x = numpy.linspace(-3, 3, 1001, dtype="float32")
    assert (kernel(x) == numpy.maximum(x, 0)).all()
    out = numpy.empty_like(x)
    assert kernel(x, y=out) is out and out[-1] == 3
    with pytest.raises(acraft.KernelError, match="float64"):
        kernel(x.astype("float64"))
    with pytest.raises(acraft.KernelError, match="axes"):
        kernel(x.reshape(7, 143))
    with pytest.raises(TypeError, match="not given: x"):
        kernel()


def test_kernel_with_rows_and_attributes():
    numpy = pytest.importorskip("numpy")
    kernel = acraft.Kernel(str(ROOT / "examples/softmax.craft"))
    x = numpy.random.default_rng(1).standard_normal((37, 300), dtype="float32")
    e = numpy.exp(x - x.max(1, keepdims=True))
    assert numpy.abs(kernel(x) - e / e.sum(1, keepdims=True)).max() < 1e-6


def test_kernel_on_torch():
    torch = pytest.importorskip("torch")
    kernel = acraft.Kernel(str(ROOT / "examples/relu.craft"), "f16")
    x = torch.randn(999).half()
    assert torch.equal(kernel(x), torch.relu(x))


def test_make_and_run():
    if not os.environ.get("ACRAFT_ALL"):
        pytest.skip("takes a minute; ACRAFT_ALL=1 runs it")
    numpy = pytest.importorskip("numpy")
    made = acraft.make(ROOT / "tasks/activation/softsign.py", options=("--fuzz", "0"))
    x = numpy.linspace(-3, 3, 64, dtype="float32").reshape(4, 16)
    assert numpy.abs(made.kernel()(x) - x / (1 + abs(x))).max() < 1e-6
    with pytest.raises(acraft.MakeError):
        acraft.make(ROOT / "README.md")
