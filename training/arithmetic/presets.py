"""Named sweeps: the paper's experiments, smaller ones for a single GPU, and small ones for a CPU.

[Mc24] is McLeish et al. 2024, "Transformers can do arithmetic with the right embeddings", arXiv:2405.17399. Its models,
optimiser, batches and grids are used, and the microbatches of its public code.

It trains for a fixed time. Sweeps here train on as many problems as its training set has, or on more or fewer where it
trains for longer or shorter. The 122M parameters of 16 layers then take .65 exaFLOP. In 24 h its RTX A4000 does 2.2 to
2.6 exaFLOP, three or four passes through its set; raise ``samples`` to do the same. There are three seeds, as in its
means. All deviations are in `deviations`.
"""

COMPARED = ["abacus", "fire", "nope"]
PRODUCTS = {"task": "multiplication", "lengths": 15}
STANDARD, INJECTED, LOOPED, ONE_LAYER = "16x1", "16x1+injection", "8x2", "1x16"
BLOCKS = [LOOPED, "4x4", "2x8", ONE_LAYER]
# The microbatch of its public code for layers without loops and injection, and for two embeddings at once.
HALVES = {"microbatch": 256}
# Problems in the training set of [Mc24].
SAMPLES = 20_000_000

PAPER = {
    "model": {"d_model": 1024, "heads": 16, "k_max": 100, "table_rows": 512},
    "training": {
        "samples": SAMPLES,
        "batch": 8192,
        # So many share one offset and one draw of recurrences in most of its runs.
        "microbatch": 512,
        "ramp": 0.6,
        "learning_rate": 1e-4,
        "seeds": [0, 1, 2],
    },
    "evaluation": {"longest": 100, "diagonal_to": 160, "count": 100},
}


def _paper(*arms, **sections):
    return {name: PAPER[name] | sections.get(name, {}) for name in PAPER} | {"arms": list(arms)}


def _arm(name, embeddings, architectures, *, task="addition", lengths=20, **more):
    arm = {"name": name, "task": task, "lengths": lengths}
    return arm | {"embeddings": embeddings, "architectures": architectures} | more


def _compared(name, embeddings=COMPARED, **settings):
    """Make the arms of all architectures: standard, with injection, and looped."""
    standard = {"microbatch": HALVES["microbatch"]} | settings.get("training", {})
    return (
        _arm(f"{name}-standard", embeddings, [STANDARD], **settings | {"training": standard}),
        _arm(name, embeddings, [INJECTED, LOOPED, ONE_LAYER], **settings),
    )


def _depths():
    for depth in (8, 16, 32, 64):
        looped = [f"{depth // recurrences}x{recurrences}" for recurrences in (2, 4, 8)]
        yield _arm(f"depth-{depth}", ["abacus"], [f"{depth}x1+injection", *looped])


REDUCED = {
    "model": {"d_model": 384, "heads": 6, "k_max": 100, "table_rows": 512},
    "training": {"samples": 16_000_000, "batch": 2048, "microbatch": 2048, "learning_rate": 3e-4, "seeds": [0, 1]},
    "evaluation": PAPER["evaluation"],
    "arms": [_arm("reduced", COMPARED, ["6x1+injection"])],
}
# For one core of a CPU: pre-norm layers learn several times faster than those of [Mc24], at twenty times its learning
# rate. A batch has many offsets, and so trains many rows of Abacus embeddings.
SMALL = {
    "model": {"d_model": 96, "heads": 3, "k_max": 40, "table_rows": 64, "block": "pre-norm"},
    "training": {
        "samples": 256_000,
        "batch": 128,
        "microbatch": 8,
        "learning_rate": 2e-3,
        "rise": 0.05,
        "fall": 0.4,
        "seeds": [0, 1, 2],
        "evaluations": 10,
        # On a CPU, smaller passes save no time.
        "buckets": False,
    },
    "evaluation": {"longest": 24, "diagonal": True, "diagonal_to": 0, "count": 100, "offset": [0, 8]},
    "arms": [_arm("small", COMPARED, ["3x1+injection"], lengths=6)],
}
# The contrast of [Mc24] at a 400th of its compute, with pre-norm layers and ten times its learning rate.
GPU = {
    "model": {"d_model": 256, "heads": 4, "k_max": 100, "table_rows": 512, "block": "pre-norm"},
    "training": {
        "samples": 1_073_664,
        "batch": 512,
        "microbatch": 64,
        "learning_rate": 1e-3,
        "rise": 0.05,
        "fall": 0.4,
        "seeds": [0, 1, 2],
        "evaluations": 20,
        "evaluation_problems": 512,
        "buckets": False,
    },
    "evaluation": PAPER["evaluation"] | {"every": 5, "offset": [0, 10]},
    "arms": [
        _arm("gpu", ["abacus", "fire"], ["6x1+injection"]),
        _arm("gpu-two-seeds", ["nope", "abacus+equals"], ["6x1+injection"], training={"seeds": [0, 1]}),
    ],
}
PRESETS = {
    "demo": SMALL | {"training": SMALL["training"] | {"seeds": [0]}},
    # The sweeps that made the tables arithmetic_small and arithmetic_gpu.
    "small": SMALL,
    "gpu": GPU,
    "addition": _paper(
        *_compared("headline"),
        _arm("combined", ["abacus+fire", "abacus+rope", "rope"], [INJECTED], training=HALVES),
    ),
    "addition-sizes": _paper(*_compared("sizes", lengths=[10, 20, 30, 40])),
    "addition-blocks": _paper(_arm("blocks", COMPARED, [INJECTED, *BLOCKS])),
    "addition-first-layer": _paper(_arm("first-layer", ["abacus"], [f"{block}+first" for block in BLOCKS[:-1]])),
    "addition-offsets": _paper(
        *(
            _arm(f"k-max-{k_max}", ["abacus"], [INJECTED, LOOPED], model={"k_max": k_max})
            for k_max in (25, 50, 75, 100, 125, 150, 175)
        )
    ),
    "addition-depths": _paper(*_depths()),
    # `arithmetic-check` tests its weights after fewer and after more recurrences.
    "addition-recurrences": _paper(_arm("recurrences", ["abacus"], BLOCKS), training={"keep": "weights"}),
    "addition-unmasked": _paper(*_compared("unmasked", ["abacus"], training={"masked": False})),
    "addition-padding": _paper(*_compared("padding", options={"padding": True})),
    "addition-hints": _paper(
        *_compared("hints", options={"hints": "plain"}),
        *_compared("hints-cyclic", options={"hints": "cyclic"}),
        # Longer numbers have more digits than there are hints.
        evaluation={"diagonal_to": 0},
    ),
    "addition-random-fire": _paper(
        *_compared("random-128", ["fire"], model={"random_positions": 128}),
        *_compared("random-512", ["fire"], model={"random_positions": 512}),
    ),
    "addition-subtraction": _paper(
        _arm("addition-subtraction", ["abacus", "fire"], [INJECTED, LOOPED], task="addition-subtraction")
    ),
    # Eight times the compute of addition, as in [Mc24], where eight processes make one microbatch of 512 each.
    "multiplication": _paper(
        _arm(
            "multiplication-fire",
            ["fire", "abacus+fire"],
            ["4x4+first"],
            **PRODUCTS,
            training={"learning_rate": 6e-5},
        ),
        _arm("multiplication-abacus", ["abacus"], ["4x4+first"], **PRODUCTS),
        training={"samples": 8 * SAMPLES, "microbatch": 8 * 512, "average": "positions"},
        evaluation={"longest": 25, "diagonal_to": 25},
    ),
    "sorting": _paper(
        _arm("sorting", ["abacus", "fire", "abacus+fire"], ["8x1", "8x1+injection", "1x8"], task="sorting", lengths=10),
        training={"microbatch": 32},
        evaluation={"longest": 30, "diagonal_to": 30},
    ),
    # [Mc24] trains for one hour where addition has 24.
    "or": _paper(
        _arm("or", COMPARED, [STANDARD, INJECTED], task="or", training=HALVES),
        _arm("or-looped", COMPARED, [ONE_LAYER], task="or"),
        training={"samples": SAMPLES // 24},
        evaluation={"longest": 40, "diagonal_to": 40},
    ),
    "reduced": REDUCED,
}
