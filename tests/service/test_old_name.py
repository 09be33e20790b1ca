"""The service's old name still works, and says what to write instead."""

import pytest

import hinged.server
import hinged.service


@pytest.mark.parametrize("name", hinged.service.__all__)
def test_the_old_name_gives_the_same_and_warns(name):
    with pytest.warns(DeprecationWarning, match=f"import {name} from hinged.service"):
        assert getattr(hinged.server, name) is getattr(hinged.service, name)


def test_the_old_name_has_nothing_else():
    with pytest.raises(AttributeError, match=r"hinged\.server.*'tokens'"):
        hinged.server.tokens  # noqa: B018
