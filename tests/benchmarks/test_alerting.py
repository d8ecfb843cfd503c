"""The commands of docs/alerting.md do what the page says, with a kill in the middle."""

import re
from importlib.util import find_spec

import pytest

pytest.importorskip("matplotlib")

from benchmarks import alerting

RUNNING = 3640  # the first row of it


def test_the_commands_of_the_page_run(tmp_path):
    if find_spec("aeon") is None:
        pytest.skip("no recordings of a smart watch here: pip install --no-deps aeon")
    text = alerting.PAGE.read_text()
    outputs = alerting.run(tmp_path, text)
    assert len(outputs) == len(alerting.commands(text))
    assert 1000 <= alerting.killed_at(outputs) < 7280
    assert "the same lines\n" in outputs[-2]
    events = [one for one in alerting.alerts(tmp_path) if one["kind"] != "novel"]
    assert any(one["kind"] == "born" and RUNNING < one["samples"] <= RUNNING + 1820 for one in events)
    before, after = map(int, re.findall(r"^\d+$", outputs[-3], re.MULTILINE))
    assert after > 3 * before
    shown = alerting.with_outputs(text, outputs)
    numbers = re.compile(r"[\d.,]+")
    assert numbers.sub("", shown.split("## The alerts")[0]) == numbers.sub("", text.split("## The alerts")[0])
    assert alerting.PICTURE.stat().st_size < 200_000
