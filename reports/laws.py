"""Laws of the loss that pages fit to Chinchilla's runs, by the names that they have in a report."""

from ..models import Chinchilla, Coupled, Offsets

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
