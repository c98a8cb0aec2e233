import pytest
from asked_models import ScriptedModel


@pytest.fixture
def model() -> ScriptedModel:
    """A language model with scripted answers."""
    return ScriptedModel()
