"""What is wrong with a wheel is named; an interpreter gets the wheel that fits."""

from pathlib import Path

import pytest

from release import wheels

OWN = Path("gaussian_neurons-0.2.0-cp311-cp311-manylinux_2_34_x86_64.whl")
STABLE = Path("gaussian_neurons-0.2.0-cp312-abi3-manylinux_2_34_x86_64.whl")


@pytest.mark.parametrize(
    ("name", "size", "says"),
    [
        (OWN.name, 8 << 20, []),
        (OWN.name, (8 << 20) + 1, ["has 8.0 MiB"]),
        (OWN.name.replace("manylinux_2_34", "linux"), 1, ["is for linux_x86_64"]),
    ],
)
def test_a_wheel_that_an_index_would_refuse_is_named(monkeypatch, name, size, says):
    monkeypatch.setattr(wheels, "LINUX", True)
    lines = list(wheels.problems(name, size))
    assert len(lines) == len(says)
    assert all(part in line for part, line in zip(says, lines, strict=True))


def test_the_stable_abi_serves_later_versions_and_not_earlier_ones():
    assert wheels.fitting([OWN, STABLE], "cp311") == OWN
    assert wheels.fitting([OWN, STABLE], "cp312") == wheels.fitting([STABLE], "cp320") == STABLE
    with pytest.raises(ValueError, match="no wheel for cp311"):
        wheels.fitting([STABLE], "cp311")
    with pytest.raises(ValueError, match="no wheel for cp312"):
        wheels.fitting([OWN], "cp312")
