"""Rewards in the signatures of trainers. A wrong configuration raises; it never pays zero."""
import threading
from typing import Any, Callable, Dict, List, Optional, Sequence

from .judge import Judge

_shared: Dict[Any, Judge] = {}
_lock = threading.Lock()


def _judge_for(options: Dict[str, Any]) -> Judge:
    key = tuple(sorted(options.items()))
    with _lock:
        if key not in _shared:
            _shared[key] = Judge(**options)
        return _shared[key]


def _text(completion: Any) -> str:
    """The answer in a completion: a text, or messages of which the last one is the answer's."""
    if isinstance(completion, str):
        return completion
    if completion and isinstance(completion, (list, tuple)) and isinstance(completion[-1], dict):
        content = completion[-1].get("content")
        if isinstance(content, str):
            return content
    raise TypeError(f"a completion is a text or a list of messages, not {type(completion).__name__}")


def reward(task: Any, answers: Sequence[str], **options: Any) -> List[float]:
    """0 for what is not right, else 0.5 + 0.5 * (bound / predicted time); with time=False 0.5."""
    options.setdefault("time", "server" not in options)
    return [verdict.reward for verdict in _judge_for(options)(task, answers)]


def trl_reward(column: str = "task", **options: Any) -> Callable[..., List[float]]:
    """A reward function for TRL (GRPOTrainer and others): task names come from the data set's column.

    Names are looked up in `tasks`, a suite or a directory of model files; without it in acraft's own suites.
    """

    def acraft_reward(prompts: Optional[Sequence[Any]] = None, completions: Sequence[Any] = (), **columns: Any) -> List[float]:
        if column not in columns:
            raise KeyError(f"the data set has no column '{column}' that names the tasks; it has {sorted(columns)}")
        return reward(list(columns[column]), [_text(c) for c in completions], **options)

    return acraft_reward


def compute_score(data_source: str, solution_str: str, ground_truth: Any, extra_info: Optional[Dict[str, Any]] = None,
                  **options: Any) -> float:
    """verl's custom reward function: `ground_truth` names the task, or extra_info["task"] does."""
    task = (extra_info or {}).get("task") or ground_truth
    if not isinstance(task, str) or not task:
        raise ValueError(f"neither ground_truth nor extra_info['task'] names a task (data source {data_source!r})")
    return reward(task, [solution_str], **options)[0]


async def compute_score_async(*args: Any, **more: Any) -> float:
    """The same without blocking the event loop."""
    import asyncio

    return await asyncio.get_running_loop().run_in_executor(None, lambda: compute_score(*args, **more))
