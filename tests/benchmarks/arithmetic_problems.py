"""Measure problems drawn per second, and the time to evaluate a model by one pass against decoding token by token.

    python tests/benchmarks/arithmetic_problems.py                                     # small, on a CPU
    python tests/benchmarks/arithmetic_problems.py --grid 100 --d-model 1024 --layers 16 --problems 1 --sample 6 \\
        --scaled --batch-tokens 1024                                    # the paper's grid and its model of 122 million
    python tests/benchmarks/arithmetic_problems.py --device cuda --count 65536 --grid 100 --d-model 1024 --layers 16 \\
        --batch-tokens 524288 --json FILE                                               # the same on a GPU, whole

"Slots" are places of the widest batch, padding included, as if every batch were of one shape; "tokens" are those that
problems fill. Buckets make fewer slots for the same problems, so problems per second are printed too. Decoding
reads the whole prefix again for every token, since models have no cache. Of a large grid it is timed on a sample of
batches, evenly from the longest to the shortest, and scaled to all of them. The output states this. With --scaled the
one pass is timed on the same sample and scaled alike. Both evaluate the same problems in the same run, and every
disagreement is counted. Figures hold for the device on which this was run.
"""

import argparse
import json
import statistics
import time
from pathlib import Path

import numpy as np
import torch
from bayescaling.training.arithmetic import TASKS, Configuration, Transformer, evaluate, greedy, right
from bayescaling.training.arithmetic.evaluation import MULTIPLE, _batches
from bayescaling.training.arithmetic.problems.layout import PAD
from bayescaling.training.engine.hardware import choose_device, name_device, synchronise

LARGEST = {"addition": 20, "subtraction": 20, "addition-subtraction": 20, "multiplication": 15, "sorting": 10, "or": 20}
ON_GPU = (
    "python tests/benchmarks/arithmetic_problems.py --device cuda --count 65536 --grid 100 --d-model 1024 --layers 16 "
    "--batch-tokens 524288"
)


def seconds(call, device, repeats):
    """Return the median seconds of a step, after one to warm up."""
    call(0)
    synchronise(device)
    durations = []
    for step in range(1, repeats + 1):
        start = time.perf_counter()
        call(step)
        synchronise(device)
        durations.append(time.perf_counter() - start)
    return statistics.median(durations)


def problems(device, options):
    """Print and return the problems of every task drawn per second."""
    print(f"\n{options.count:,} problems a batch")
    heads = f"{'width':>6}{'slots/s':>11}{'tokens/s':>11}{'problems/s':>12}{'in buckets':>12}{'filled':>8}{'then':>7}"
    print(f"{'':22}{heads}")
    figures = {}
    for name, largest in LARGEST.items():
        task = TASKS[name](largest)
        whole = seconds(lambda step, task=task: task.batch(0, step, options.count, device), device, options.repeats)
        parts = seconds(lambda step, task=task: task.batches(0, step, options.count, device), device, options.repeats)
        tokens = task.batch(0, 0, options.count, device).tokens
        buckets = task.batches(0, 0, options.count, device)
        held = sum((bucket.tokens != PAD).sum().item() for bucket in buckets)
        shown = figures[name] = {
            "width": task.width,
            "slots_per_second": tokens.numel() / whole,
            "tokens_per_second": (tokens != PAD).sum().item() / whole,
            "problems_per_second": options.count / whole,
            "problems_per_second_in_buckets": options.count / parts,
            "filled": (tokens != PAD).sum().item() / tokens.numel(),
            "filled_in_buckets": held / sum(bucket.tokens.numel() for bucket in buckets),
        }
        print(
            f"{name:22}{shown['width']:>6}{shown['slots_per_second']:>11.3g}{shown['tokens_per_second']:>11.3g}"
            f"{shown['problems_per_second']:>12,.0f}{shown['problems_per_second_in_buckets']:>12,.0f}"
            f"{shown['filled']:>8.0%}{shown['filled_in_buckets']:>7.0%}",
            flush=True,
        )
    return figures


def judging(device, options):
    """Print and return the seconds to evaluate a model on a grid of additions, by one pass and by decoding."""
    task = TASKS["addition"](min(20, options.grid))
    configuration = Configuration(
        task.vocabulary_size, options.d_model, options.d_model // 64 or 1, options.layers, injection="every-layer"
    )
    model = Transformer(configuration, 0).to(device).eval()
    lengths = range(1, options.grid + 1)
    cells = [(i, j) for i in lengths for j in lengths]
    shared = {"device": device, "batch_tokens": options.batch_tokens}
    evaluate(model, task, cells[-3:], count=1, **shared)
    whole = None
    if not options.scaled:
        whole = timed(lambda: evaluate(model, task, cells, count=options.problems, **shared), device)
    multiple = MULTIPLE if device.type == "cuda" else 1
    sizes = [options.problems] * len(cells)
    batches = list(_batches(task, cells, sizes, 0, torch.device("cpu"), options.batch_tokens, multiple))
    chosen = np.unique(np.linspace(0, len(batches) - 1, min(options.sample, len(batches))).round().astype(int))
    decoding, passing, asked, differing, answered = [], [], 0, 0, 0
    for index in chosen:
        batch = type(batches[index][1])(*(part.to(device) for part in batches[index][1]))
        taken, judged = timed(lambda batch=batch: right(model, batch), device)
        passing.append(taken)
        taken, decoded = timed(lambda batch=batch: greedy(model, batch), device)
        decoding.append(taken)
        differing += ((decoded == batch.tokens).all(1) != judged).sum().item()
        asked, answered = asked + len(batch.tokens), answered + judged.sum().item()
    passed = scaled(passing, chosen) if whole is None else whole[0]
    decoded = scaled(decoding, chosen)
    figures = {
        "grid": options.grid,
        "problems": options.problems * len(cells),
        "parameters": configuration.parameters,
        "seconds_one_pass": passed,
        "seconds_decoding": decoded,
        "one_pass_scaled": whole is None,
        "sampled_batches": len(chosen),
        "batches": len(batches),
        "times_as_long_by_batch": [slow / fast for slow, fast in zip(decoding, passing, strict=True)],
        "compared": asked,
        "disagreements": differing,
        "right_of_compared": answered,
    }
    part = "" if len(chosen) == len(batches) else f", scaled from {len(chosen)} of {len(batches)} batches"
    print(
        f"\n{options.grid} x {options.grid} cells of {options.problems} sums, {configuration.parameters:,} weights:"
        f" one pass {passed:.3g} s{part * (whole is None)}, decoding {decoded:.3g} s{part},"
        f" {decoded / passed:.0f} times as long; {differing} disagreements in {asked:,} problems,"
        f" {answered:,} of them right"
    )
    return figures


def timed(call, device):
    """Return the seconds that a call took, and its result."""
    synchronise(device)
    start = time.perf_counter()
    result = call()
    synchronise(device)
    return time.perf_counter() - start, result


def scaled(seconds, chosen):
    """Return the seconds of all batches, from those of a sample between the first and the last."""
    if len(seconds) == 1:
        return seconds[0]
    return float(np.trapezoid(seconds, chosen) + (seconds[0] + seconds[-1]) / 2)


def main():
    """Measure, and print tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", help="cpu or cuda; by default a GPU if there is one")
    parser.add_argument("--count", type=int, default=8192, help="problems of a batch")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--threads", type=int, default=1, help="of the CPU")
    parser.add_argument("--grid", type=int, default=12, help="longest operand to judge; 100 in the paper")
    parser.add_argument("--problems", type=int, default=100, help="of a cell")
    parser.add_argument("--d-model", type=int, default=64)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--batch-tokens", type=int, default=2**14)
    parser.add_argument("--sample", type=int, default=20, help="batches to decode")
    parser.add_argument("--scaled", action="store_true", help="scale the one pass from the sample too")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    device = choose_device(options.device)
    print(f"{name_device(device)}, {options.threads} CPU threads, torch {torch.__version__}")
    results = {
        "device": name_device(device),
        "torch": torch.__version__,
        "threads": options.threads,
        "count": options.count,
        "made": problems(device, options),
        "judged": judging(device, options),
    }
    if device.type != "cuda":
        results["cuda"] = f"not run; {ON_GPU}"
        print(f"\nGPU: not run; {ON_GPU}")
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
