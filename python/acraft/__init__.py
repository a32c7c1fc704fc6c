"""Judge, reward and run Ascend NPU kernels from Python.

The work is done by the program `acraft` (found in $ACRAFT, else on the PATH); this package starts it, or
asks a server that `acraft judge --serve PORT` has started. It needs nothing beside the standard library.

    verdicts = acraft.judge("relu", [answer])                  # one Verdict an answer
    trainer = GRPOTrainer(reward_funcs=acraft.trl_reward(), ...)
    made = acraft.make("model.py")                             # a checked operator project
    y = made.kernel()(x)                                       # its C form, on numpy or torch CPU tensors
"""
from .judge import Judge, JudgeError, Verdict, judge
from .kernel import Kernel, KernelError
from .make import Made, MakeError, make
from .reward import compute_score, reward, trl_reward

__all__ = ["Judge", "JudgeError", "Kernel", "KernelError", "Made", "MakeError", "Verdict",
           "compute_score", "judge", "make", "reward", "trl_reward"]
