#!/usr/bin/env python3
"""Times PyTorch eager on the CPU for bench/reference: one line `NAME MILLISECONDS` per task.

    tools/torch_time.py FILE DIR [FILE DIR ...]     DIR as `acraft task FILE --run -o DIR` leaves it
"""
import json
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import torch  # noqa: E402

import compare  # noqa: E402


def best_of(model, inputs, least=5, seconds=1.0):
    best, start, runs = float("inf"), time.perf_counter(), 0
    with torch.no_grad():
        model(*inputs)
        while runs < least or time.perf_counter() - start < seconds:
            t = time.perf_counter()
            model(*inputs)
            best = min(best, time.perf_counter() - t)
            runs += 1
    return best * 1e3


def main(argv):
    for path, directory in zip(argv[::2], argv[1::2]):
        with open(os.path.join(directory, "values.json")) as f:
            manifest = json.load(f)
        model, inputs = compare.prepare(path, manifest, directory, cast=lambda x: x)
        print(os.path.basename(path)[:-3], f"{best_of(model, inputs):.4f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
