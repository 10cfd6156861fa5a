"""Libraries that take long to import, imported on first use so that help and error messages come at once."""

import lazy_loader

special = lazy_loader.load("scipy.special", suppress_warning=True)
stats = lazy_loader.load("scipy.stats", suppress_warning=True)
xr = lazy_loader.load("xarray")
