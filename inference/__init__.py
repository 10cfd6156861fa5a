"""What is learned: NUTS, diagnostics, comparison by leave-one-out, and decisions draw by draw."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
