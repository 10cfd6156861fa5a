"""Problems a second of arithmetic training, and the share of the device's peak arithmetic that they take.

    python tests/benchmarks/arithmetic_training.py                                  # the demonstration, on a CPU
    python tests/benchmarks/arithmetic_training.py --preset reduced --updates 50    # on a GPU
    python tests/benchmarks/arithmetic_training.py --preset addition --updates 10 --compile no yes --json FILE
    python tests/benchmarks/arithmetic_training.py --preset addition-unmasked --batch 16 --microbatch 16 --updates 2

For each embedding and architecture of the preset, an update takes one full batch as the package trains it. It draws
problems on the device, then computes the loss, its gradients and AdamW. Figures are medians over blocks of updates.
"Arithmetic" counts the FLOP of matrix products alone, by the recurrences that were drawn, padding included. On GPUs
this has not been run.
"""

import argparse
import json
import statistics
import time
from pathlib import Path

import torch
from bayescaling.training.arithmetic import PRESETS, make_sweep
from bayescaling.training.arithmetic.learning import task
from bayescaling.training.arithmetic.models.transformer import Transformer
from bayescaling.training.engine.hardware import ceiling, choose_device, choose_precision, name_device, synchronise
from bayescaling.training.engine.updates import Stepper, make_optimiser


def measure(run, device, precision, compiled, options):
    """Seconds to be ready, and medians over blocks of problems, tokens and FLOP a second at the full batch."""
    start = time.perf_counter()
    model = Transformer(run.model, run.seed).to(device)
    if compiled:
        model.compile_layers()
    work, optimisation = task(run, device), run.optimisation
    step_with = Stepper(model, work.loss, make_optimiser(optimisation, model), optimisation.clip, precision)
    # The last updates of a run have the full batch, and the very last what is left.
    first = run.plan.updates - 1 - options.updates * options.blocks
    for step in range(max(0, first - 2), first):
        step_with(optimisation.rate(step), *work.batch(step))
    synchronise(device)
    ready, speeds = time.perf_counter() - start, []
    for block in range(options.blocks):
        here = first + block * options.updates
        start = time.perf_counter()
        for step in range(here, here + options.updates):
            step_with(optimisation.rate(step), *work.batch(step))
        synchronise(device)
        seconds, last = time.perf_counter() - start, here + options.updates
        counted = (run.plan.seen, run.tokens_done, run.flop_done)
        speeds.append([(of(last) - of(here)) / seconds for of in counted])
    return ready, *(statistics.median(values) for values in zip(*speeds, strict=True))


def main():
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--preset", choices=sorted(PRESETS), default="demo")
    parser.add_argument("--device", help="cpu or cuda; by default a GPU if there is one")
    parser.add_argument("--updates", type=int, default=20, help="in a block")
    parser.add_argument("--blocks", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1, help="of the CPU")
    parser.add_argument("--batch", type=int, help="problems of an update instead of the preset's")
    parser.add_argument("--microbatch", type=int, help="instead of the preset's")
    parser.add_argument("--compile", nargs="+", choices=("no", "yes"), help="by default yes on CUDA and no elsewhere")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    device = choose_device(options.device)
    precision = choose_precision("auto", device)
    peak = ceiling(device, precision)
    sizes = {name: getattr(options, name) for name in ("batch", "microbatch") if getattr(options, name)}
    arms = make_sweep({"preset": options.preset, "training": sizes}).arms
    print(
        f"{options.preset} on {name_device(device)}, {precision}, torch {torch.__version__}; ceiling: "
        f"{peak.flop_per_second / 1e12:.3g} TFLOP/s"
    )
    print(f"{'':42}{'problems/s':>12}{'tokens/s':>12}{'arithmetic':>12}{'ready s':>9}{'run min':>9}")
    results = {"device": name_device(device), "torch": torch.__version__, "ceiling": peak._asdict(), "runs": {}}
    compiled = options.compile or (["yes"] if device.type == "cuda" else ["no"])
    for arm, runs in arms.items():
        for run in {(run.task, run.model): run for run in runs}.values():
            for choice in compiled:
                shape = f"{run.model.layers}x{run.model.recurrences}"
                name = f"{arm} {run.model.embedding} {run.model.architecture} {shape}{' compiled' * (choice == 'yes')}"
                ready, problems, tokens, flop = measure(run, device, precision, choice == "yes", options)
                minutes = run.plan.samples / problems / 60
                results["runs"][name] = {
                    "problems_per_second": problems,
                    "tokens_per_second": tokens,
                    "arithmetic_share": flop / peak.flop_per_second,
                    "ready_seconds": ready,
                    "run_minutes": minutes,
                }
                share = f"{flop / peak.flop_per_second:.1%}"
                print(f"{name:42}{problems:>12,.0f}{tokens:>12,.0f}{share:>12}{ready:>9.1f}{minutes:>9.1f}", flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
