import pytest


@pytest.fixture
def kind(kinds):
    return kinds["arithmetic"]
