"""In place of the suite's own module, which needs a plugin of pytest."""
import pytest


@pytest.hookimpl(optionalhook=True)
def pytest_metadata(metadata):
    """Nothing to add."""


@pytest.hookimpl(optionalhook=True)
def pytest_json_modifyreport(json_report):
    """There is no such report."""


add_extra_json_metadata = None
