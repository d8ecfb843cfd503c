"""What `release/api.json` promises is there, and a break of a promise is noticed."""

import pytest

from release import api


def test_what_was_promised_is_there():
    promised = api.promised()
    assert len(promised) > 100
    assert list(api.broken(promised, api.api())) == []


def test_modules_whose_packages_are_absent_are_not_looked_for(monkeypatch):
    imported = api.imported
    monkeypatch.setattr(api, "imported", lambda name: None if name.endswith(".torch") else imported(name))
    assert "gaussian_neurons.torch.GaussianLayer" in api.stored()
    assert not any(name.startswith("gaussian_neurons.torch.") for name in api.promised())
    assert list(api.broken(api.promised(), api.api())) == []


def f(x, y=1, *, z=2): ...


class Thing:
    def method(self, a, b=0): ...

    @classmethod
    def made(cls, c): ...

    @staticmethod
    def plain(d): ...

    @property
    def size(self): ...

    def _own(self, e): ...


def test_parameters_by_hand():
    assert api.parameters(f) == {"positional": ["x", "y"], "keyword": ["z"], "needed": ["x"]}
    assert {name: it["positional"] for name, it in api.described("T", Thing).items()} == {
        "T": [],
        "T.method": ["a", "b"],
        "T.made": ["c"],
        "T.plain": ["d"],
        "T.size": [],
    }


def added(x, y=1, w=3, *, z=2, v=4): ...
def freed(x, y=1, z=2): ...
def reordered(y, x=1, *, z=2): ...
def shortened(x, *, y=1, z=2): ...
def renamed(x, y=1, *, zed=2): ...
def demanding(x, y, *, z=2): ...


@pytest.mark.parametrize(
    ("later", "says"),
    [
        (added, []),
        (freed, []),
        (
            reordered,
            ["f takes ['y', 'x'] by position, but ['x', 'y'] was promised", "f cannot be called without y"],
        ),
        (shortened, ["f takes ['x'] by position, but ['x', 'y'] was promised"]),
        (renamed, ["f has no z"]),
        (demanding, ["f cannot be called without y"]),
        (None, ["f is missing"]),
    ],
)
def test_a_change_that_breaks_programs_is_named(later, says):
    now = {} if later is None else {"f": api.parameters(later)}
    assert list(api.broken({"f": api.parameters(f)}, now)) == says


def test_commands_and_options_are_named():
    fit = api.commands()["$ gaussian-neurons fit"]
    assert {"--neurons", "--width", "--no-header"} <= set(fit["keyword"])
