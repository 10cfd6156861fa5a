import numpy as np
import pytest
import scipy.special
import xarray as xr
from bayescaling.models import arrays
from bayescaling.models.backend import pymc

LIBRARIES = ("numpy", "xarray", "pytensor", "jax")
X = np.array([[-2.5, -0.3, 0.0], [0.4, 1.0, 700.0]])
ROW = np.array([-1.0, 0.4, 2.0])
ONE = {
    "exp": (np.exp, X),
    "log": (np.log, np.exp(X)),
    "log1p": (np.log1p, np.exp(X)),
    "sinh": (np.sinh, X),
    "arcsinh": (np.arcsinh, X),
    "gammaln": (scipy.special.gammaln, X[1:] + 0.1),
}
TWO = {"minimum": np.minimum, "maximum": np.maximum, "logaddexp": np.logaddexp}


@pytest.fixture(params=LIBRARIES)
def library(request):
    """Turn a NumPy array, its dimensions named, into a library's, and a result of that kind into values."""
    if request.param == "numpy":
        return (lambda x, *dims: x), lambda x: (np.asarray(x), isinstance(x, np.ndarray | np.floating))
    if request.param == "xarray":
        return (lambda x, *dims: xr.DataArray(x, dims=dims)), lambda x: (
            x.transpose("run", ..., missing_dims="ignore").values,
            isinstance(x, xr.DataArray),
        )
    if request.param == "pytensor":
        pymc()
        import pytensor.tensor as pt

        return (lambda x, *dims: pt.constant(x)), lambda x: (x.eval(), isinstance(x, pt.TensorVariable))
    jax = request.getfixturevalue("jax")
    return (lambda x, *dims: jax.numpy.asarray(x)), lambda x: (np.asarray(x), isinstance(x, jax.Array))


def check(library, result, wanted, **tolerance):
    values, its_own = library[1](result)
    assert its_own
    assert values.shape == np.shape(wanted)
    np.testing.assert_allclose(values, wanted, **({"rtol": 1e-13} | tolerance))


@pytest.mark.parametrize("name", ONE)
def test_functions_of_one_array(library, name):
    reference, x = ONE[name]
    with np.errstate(over="ignore"):
        check(library, getattr(arrays, name)(library[0](x, "run", "size")), reference(x), rtol=1e-12)


@pytest.mark.parametrize("name", TWO)
def test_functions_of_two_arrays(library, name):
    function, wanted = getattr(arrays, name), TWO[name](X, ROW)
    x, row = library[0](X, "run", "size"), library[0](ROW, "size")
    for one, other in ((x, row), (row, x), (x, ROW), (X, row), (ROW, x)):
        # An array without names must not have more dimensions than one with names.
        if not (one is X and isinstance(row, xr.DataArray)):
            check(library, function(one, other), wanted)
    check(library, function(x, 0.5), TWO[name](X, 0.5))
    check(library, function(0.5, x), TWO[name](0.5, X))


def test_where(library):
    x, row, condition = library[0](X, "run", "size"), library[0](ROW, "size"), library[0](X > 0.2, "run", "size")
    check(library, arrays.where(condition, x, row), np.where(X > 0.2, X, ROW))
    check(library, arrays.where(condition, 1.0, 0.0), np.where(X > 0.2, 1.0, 0.0))
    check(library, arrays.where(x > 0.2, ROW, 0.0), np.where(X > 0.2, ROW, 0.0))
    check(library, arrays.where(X > 0.2, x, 0.0), np.where(X > 0.2, X, 0.0))
    check(library, arrays.where(ROW > 0, x, row), np.where(ROW > 0, X, ROW))
    check(library, arrays.where(True, x, 0.0), X)


def test_clip(library):
    x, row = library[0](X, "run", "size"), library[0](ROW, "size")
    check(library, arrays.clip(x, -1, 0.5), np.clip(X, -1, 0.5))
    check(library, arrays.clip(x, row, 3.0), np.clip(X, ROW, 3.0))
    check(library, arrays.clip(x, -3.0, ROW), np.clip(X, -3.0, ROW))
    check(library, arrays.clip(X, -3.0, library[0](np.full(X.shape, 0.5), "run", "size")), np.clip(X, -3.0, 0.5))


def test_logaddexp_neither_overflows_nor_loses_the_smaller(library):
    x = np.array([1000.0, -1000.0, 800.0, -np.inf, 0.0, -np.inf, np.inf, np.inf, 0.0])
    y = np.array([1000.0, -1000.0, -800.0, 0.0, -np.inf, -np.inf, 0.0, np.inf, -30.0])
    check(library, arrays.logaddexp(library[0](x, "run"), library[0](y, "run")), np.logaddexp(x, y))
    # `log(e^0 + e^-30) = e^-30` to first order, far below the last digit of that logarithm in 32 bits.
    small = arrays.logaddexp(library[0](np.zeros(1), "run"), library[0](np.full(1, -30.0), "run"))
    check(library, small, [np.exp(-30.0)], rtol=1e-12)


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "NUMBA"])
def test_the_gradient_of_logaddexp_is_the_share_of_each(mode):
    pymc()
    import pytensor
    import pytensor.tensor as pt

    x, y = pt.dvectors("x", "y")
    total = arrays.logaddexp(x, y)
    slopes = pytensor.function([x, y], pytensor.grad(total.sum(), [x, y]), mode=mode)
    a, b = np.array([0.0, 3.0, 1000.0, -2.0, 0.0]), np.array([0.0, 1.0, -1000.0, 900.0, -np.inf])
    np.testing.assert_allclose(slopes(a, b), [scipy.special.expit(a - b), scipy.special.expit(b - a)], atol=1e-12)


class TestDims:
    x = xr.DataArray(X, dims=("run", "size"), coords={"size": [1, 2, 3]})
    draws = xr.DataArray(np.linspace(-1, 1, 4), dims="draw")

    @pytest.mark.parametrize("name", TWO)
    def test_other_dims_broadcast_by_name(self, name):
        result = getattr(arrays, name)(self.x, self.draws)
        assert result.dims == ("run", "size", "draw")
        np.testing.assert_allclose(result, TWO[name](X[..., None], self.draws.values), rtol=1e-14)
        assert list(result["size"]) == [1, 2, 3]

    def test_equal_dims_keep_their_coordinates(self):
        for result in (arrays.where(self.x > 0, self.x, 0.0), arrays.clip(self.x, 0.0, self.x.max())):
            assert result.dims == self.x.dims
            assert list(result["size"]) == [1, 2, 3]

    def test_a_data_set_stays_one(self):
        table = self.x.to_dataset(name="x")
        np.testing.assert_array_equal(arrays.where(table > 0, table, 0.0)["x"], np.where(X > 0, X, 0.0))
        np.testing.assert_array_equal(arrays.clip(table, 0.0, 1.0)["x"], np.clip(X, 0.0, 1.0))
