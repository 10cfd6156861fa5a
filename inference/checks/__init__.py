"""Whether a fit may be trusted: its chains, its law, its priors, its calibration."""
