"""Tokens a second of training: this package against a plain eager loop and a compiled loop in nanoGPT's manner.

    python tests/benchmarks/training.py                                    # a small model on the CPU
    python tests/benchmarks/training.py --paper --updates 50 --json FILE   # on a GPU: the paper's sizes
    python tests/benchmarks/training.py --preset --graph                   # on a GPU: the whole sweep, timed

All train the same model on as many tokens, in one process after another's warm-up; figures are medians over blocks of
updates. "Memory" is the traffic of the logits if they were written, read, overwritten with their gradients and read
twice. It is taken at the measured or published bandwidth, so a route with less traffic can exceed it. "Arithmetic"
counts the FLOP of matrix products alone. Figures hold for the device on which this was run.
"""

import argparse
import functools
import json
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from bayescaling.errors import InputError
from bayescaling.training import Configuration, Decoder, Execution, Optimisation, Run, Synthetic, train
from bayescaling.training.engine.hardware import (
    autocast,
    ceiling,
    choose_device,
    choose_precision,
    name_device,
    synchronise,
)
from bayescaling.training.engine.updates import Stepper, make_optimiser
from bayescaling.training.language.loss import ROUTES, choose_route, task

PASSES = 5
PAPER = ((16, 1), (32, 3), (40, 4), (60, 6), (80, 8))
STORED = 2**21
RATE = 1e-3


def windows(path, run, device):
    """Batches as nanoGPT makes them: random windows of a memory-mapped file, on the host."""
    tokens, generator = np.memmap(path, dtype="<u2", mode="r"), np.random.default_rng(0)
    context = run.model.context

    def batch():
        first = generator.integers(len(tokens) - context, size=run.sequences)
        rows = torch.from_numpy(tokens[first[:, None] + np.arange(context + 1)].astype(np.int64))
        return rows.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else rows

    return batch


def baseline(run, path, device, precision, compiled):
    """One update of a loop that holds all logits, eager or compiled whole."""
    model = Decoder(run.model, seed=0).to(device)
    batch = windows(path, run, device)
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE, fused=compiled and device.type == "cuda")

    def forward(tokens):
        logits = F.linear(model(tokens[:, :-1]), model.unembedding)
        return F.cross_entropy(logits.flatten(0, 1).float(), tokens[:, 1:].flatten())

    loss_of = torch.compile(forward, dynamic=False) if compiled else forward

    def update(step):
        with autocast(precision, device):
            loss = loss_of(batch())
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        return loss

    return update


def ours(run, device, precision, route, compiled, graph):
    """One update as the package makes it, its batch included."""
    model = Decoder(run.model, seed=0).to(device)
    work = task(run, Execution(loss_route=choose_route(route, device), compile=compiled, graph=graph), device)
    step_with = Stepper(model, work.loss, make_optimiser(run.optimisation, model), 1.0, precision)
    return lambda step: step_with(RATE, *work.batch(step))


def contenders(run, path, device, precision, routes):
    """Names of the contenders, and what makes their update."""
    loops = {
        "eager loop": lambda: baseline(run, path, device, precision, compiled=False),
        "compiled loop": lambda: baseline(run, path, device, precision, compiled=True),
    }
    for route in routes:
        for compiled in (False, True):
            for graph in (False, True) if device.type == "cuda" and compiled else (False,):
                words = [route, *["compiled"] * compiled, *["graph"] * graph]
                loops["ours " + " ".join(words)] = functools.partial(
                    ours, run, device, precision, route, compiled, graph
                )
    return loops


def seconds_an_update(make, device, updates, blocks):
    """Seconds to be ready, and the median over blocks of seconds an update."""
    start = time.perf_counter()
    update = make()
    for step in range(3):
        update(step)
    synchronise(device)
    ready, times = time.perf_counter() - start, []
    for block in range(blocks):
        start = time.perf_counter()
        for step in range(updates):
            update(3 + block * updates + step)
        synchronise(device)
        times.append((time.perf_counter() - start) / updates)
    return ready, statistics.median(times)


def measure(size, options, device, precision, folder):
    """Figures of every contender for one size, printed as they come."""
    corpus = Synthetic(vocabulary=options.vocabulary)
    model = Configuration(*size, vocabulary=options.vocabulary, heads=options.heads)
    run = Run(model, corpus, Optimisation(RATE), evaluate_at=(), batch_tokens=options.batch_tokens)
    path = Path(folder) / "tokens.bin"
    rows = STORED // (model.context + 1)
    corpus.batch(1, 0, rows, model.context, "cpu").numpy().astype("<u2").tofile(path)
    peak = ceiling(device, precision)
    width = 2 if precision == "bfloat16" else 4
    floor = PASSES * run.batch_tokens * model.vocabulary * width / peak.bytes_per_second
    print(
        f"\nd_model {size[0]}, {size[1]} layers, vocabulary {model.vocabulary:,}, {run.batch_tokens:,} tokens an update"
    )
    print(f"{'':28}{'tokens/s':>14}{'x eager':>9}{'memory':>9}{'arithmetic':>12}{'ready s':>9}")
    figures = {}
    for name, make in contenders(run, path, device, precision, options.routes).items():
        try:
            ready, seconds = seconds_an_update(make, device, options.updates, options.blocks)
        except InputError as error:
            print(f"{name:28}{'left out: ' + str(error)}")
            continue
        speed = run.batch_tokens / seconds
        figures[name] = {
            "tokens_per_second": speed,
            "over_eager": speed / figures["eager loop"]["tokens_per_second"] if figures else 1.0,
            "memory_share": floor / seconds,
            "arithmetic_share": speed * model.matmul_flop_per_token / peak.flop_per_second,
            "ready_seconds": ready,
        }
        shown = figures[name]
        print(
            f"{name:28}{speed:>14,.0f}{shown['over_eager']:>9.2f}{shown['memory_share']:>9.1%}"
            f"{shown['arithmetic_share']:>12.1%}{ready:>9.1f}",
            flush=True,
        )
    return figures


def main():
    """Measure, and print a table for each size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", help="cpu or cuda; by default a GPU if there is one")
    parser.add_argument("--size", type=int, nargs=2, default=(16, 1), metavar=("D_MODEL", "LAYERS"))
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--vocabulary", type=int, default=4096)
    parser.add_argument("--batch-tokens", type=int, default=4096)
    parser.add_argument("--updates", type=int, default=10, help="in a block")
    parser.add_argument("--blocks", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1, help="of the CPU")
    parser.add_argument("--routes", nargs="+", choices=ROUTES, default=list(ROUTES), help="of the loss")
    parser.add_argument("--paper", action="store_true", help="the paper's five sizes, vocabulary and 65,536 tokens")
    parser.add_argument("--graph", action="store_true", help="train the sweep by CUDA graphs")
    parser.add_argument("--preset", action="store_true", help="then time the whole sweep of all four schemes")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    sizes = [tuple(options.size)]
    if options.paper:
        sizes, options.vocabulary, options.batch_tokens = PAPER, 50257, 65536
    device = choose_device(options.device)
    precision = choose_precision("auto", device)
    peak = ceiling(device, precision)
    print(
        f"{name_device(device)}, {precision}, torch {torch.__version__}; ceilings: "
        f"{peak.flop_per_second / 1e12:.3g} TFLOP/s, {peak.bytes_per_second / 1e9:.3g} GB/s"
    )
    results = {"device": name_device(device), "torch": torch.__version__, "ceiling": peak._asdict(), "sizes": {}}
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            results["sizes"][str(size)] = measure(size, options, device, precision, folder)
        if options.preset:
            sweep = Path(folder) / "schemes.toml"
            graph = "true" if options.graph else "false"
            sweep.write_text(f'preset = "schemes"\n[training]\ngraph = {graph}\n', encoding="utf-8")
            start = time.perf_counter()
            train(sweep, Path(folder) / "out", device=options.device)
            results["preset_seconds"] = time.perf_counter() - start
            print(f"\nall four schemes on the synthetic language: {results['preset_seconds']:.0f} s")
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
