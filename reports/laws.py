"""Laws that several pages quote, by the names that they have in a report."""

from ..models.laws import Chinchilla, Coupled, Offsets

CHINCHILLA = "chinchilla"
LAWS = {
    CHINCHILLA: Chinchilla(),
    "chinchilla, one sigma": Chinchilla(scatter="one"),
    "chinchilla, huber noise": Chinchilla(noise="huber"),
    "chinchilla, normal noise": Chinchilla(noise="normal"),
    "coupled": Coupled(),
    "coupled, one sigma": Coupled(scatter="one"),
    "offsets": Offsets(),
}
DEFAULT = "coupled"  # whose optimum is quoted unless another predicts better
PLANNED = (CHINCHILLA, DEFAULT, "offsets")  # laws of other means, each under the noise that the runs prefer

# Of algorithmic progress: the specification that is quoted, the noises, and the study of all specifications.
MAIN = 7
INDEPENDENT, EFFECTS = "rows independent", "paper effects"
NOISES = {INDEPENDENT: {}, EFFECTS: {"paper_effects": True}}
SPECIFICATIONS_STUDY = "progress_specifications"


def name_of_fit(k, noise):
    """Return the name of the posterior of a specification of progress."""
    return f"progress-{k}" if noise == INDEPENDENT else f"progress-{k}, {noise}"
