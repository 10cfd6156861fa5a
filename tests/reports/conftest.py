import pytest
from bayescaling.reports import kept


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory):
    """Keep results of stages in a folder of each module's own: tests change what the code of a page says."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept, "folder", lambda: folder)
        yield folder
