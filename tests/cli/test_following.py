"""The command follow: JSON lines of what is new, one line for each, also over kill -9 and restarts."""

import json
import os
import signal
import subprocess

import numpy as np
import pytest

from gaussian_neurons import GaussianNeurons
from tests.cli.calls import CENTERS, X, call, good, refused, write_csv
from tests.cli.test_processes import started
from tests.waiting import wait_for

KINDS = np.random.default_rng(0).integers(4, size=6000)
PLACES = np.vstack([CENTERS, [[9.0, 9.0]]])
GROWING = (
    np.random.default_rng(2).normal(PLACES[np.where(np.arange(6000) < 3000, KINDS % 3, KINDS)], 0.4).round(4)
)


def text_of(x, header="x,y\n"):
    return (header + "".join(f"{a},{b}\n" for a, b in x.tolist())).encode()


def facts(lines):
    return [json.loads(line) for line in lines.splitlines()]


def model_of():
    return GaussianNeurons(random_state=0).partial_fit(GROWING)


@pytest.mark.parametrize("header", ["x,y\n", ""])
def test_events_and_novel_rows_of_a_pipe_are_those_of_the_model(here, header):
    done = good("follow", "-", "-c", "m", "--novel", stdin=text_of(GROWING, header))
    found, model = facts(done.stdout), model_of()
    events = [one for one in found if one["kind"] != "novel"]
    assert [(e["samples"], e["kind"], e["cluster"]) for e in events] == [e[:3] for e in model.events_]
    for one, event in zip(events, model.events_, strict=True):
        assert set(event._asdict()) == set(one)
        center = [one["center"]["x"], one["center"]["y"]] if header else one["center"]
        assert np.allclose(center, event.center, rtol=1e-5)
    novel = [one for one in found if one["kind"] == "novel"]
    assert any(one["samples"] == 3000 + int(np.argmax(KINDS[3000:] == 3)) for one in novel)
    row = novel[0]["row"]
    assert list(row.values() if header else row) == GROWING[novel[0]["samples"]].tolist()
    assert "Kept in m" in done.stderr
    assert GaussianNeurons.load("m").centers_.tobytes() == model.centers_.tobytes()
    assert good("predict", "m", "-", "--only", stdin=text_of(GROWING, header)).stdout.count("\n") == 6001


def test_a_killed_process_goes_on_with_the_same_lines(here):
    whole = good("follow", "-", "--novel", stdin=text_of(GROWING)).stdout.splitlines()
    command = ["follow", "a.csv", "--checkpoint", "run", "--novel"]
    lines = []
    for number, rows in ((signal.SIGKILL, 4000), (signal.SIGTERM, 5000), (signal.SIGINT, 6000)):
        (here / "a.csv").write_bytes(text_of(GROWING[:rows]))
        last = [line for line in whole if json.loads(line)["samples"] < rows][-1].encode()
        with open("out", "wb") as out, started(*command, stdout=out) as process:

            def printed(process=process, last=last):
                return last in (here / "out").read_bytes() or process.poll() is not None

            wait_for(printed)
            if number == signal.SIGINT:  # the last turn
                wait_for(lambda: GaussianNeurons.load("run").n_samples_seen_ == len(GROWING))
            process.send_signal(number)
            assert process.wait(300) == (-9 if number == signal.SIGKILL else 0), process.stderr.read()
        lines += (here / "out").read_text().splitlines()
    assert list(dict.fromkeys(lines)) == whole
    assert GaussianNeurons.load("run").centers_.tobytes() == model_of().centers_.tobytes()


def test_rows_are_learned_as_they_are_appended(here):
    write_csv(here / "a.csv", GROWING[:4999])
    with started("follow", "a.csv", stdout=subprocess.PIPE) as process:
        while facts(process.stdout.readline())[0]["samples"] < 1000:
            pass
        with open("a.csv", "ab") as file:
            file.write(text_of(GROWING[4999:5000], "").rstrip(b"\n"))
            file.flush()
            assert process.poll() is None
            file.write(b"\n")
        while not any(e["samples"] == 5000 and e["kind"] == "born" for e in facts(process.stdout.readline())):
            pass


def test_a_model_of_fit_is_the_start(here):
    write_csv(here / "a.csv", GROWING[:3000], header="x,y")
    good("fit", "a.csv", "-o", "m", "--neurons", "8", "--scale", "robust")
    text = b"t,y,x\n" + b"".join(b"0,%f,%f\n" % (b, a) for a, b in GROWING[3000:].tolist())
    done = good("follow", "-", "--model", "m", "-c", "run", stdin=text)
    model, before = GaussianNeurons.load("m"), len(GaussianNeurons.load("m").events_)
    model.feature_names_in_  # noqa: B018
    model.learn([dict(zip("xy", row, strict=True)) for row in np.round(GROWING[3000:], 6).tolist()])
    assert GaussianNeurons.load("run").centers_.tobytes() == model.centers_.tobytes()
    assert [e["samples"] for e in facts(done.stdout)] == [e.samples for e in model.events_[before:]]
    assert "has its parameters already" in refused("follow", "a.csv", "--model", "m", "--neurons", "3")
    assert "To start with it" in refused("follow", "m")


def test_options_are_parameters_of_the_model(here):
    options = ["--neurons", "7", "--memory", "5000", "--scale", "robust", "--seed", "3"]
    good("follow", "-", "-c", "m", *options, stdin=text_of(X))
    model = GaussianNeurons(7, memory=5000, scale="robust", random_state=3).partial_fit(X)
    assert GaussianNeurons.load("m").get_params() == model.get_params()
    assert GaussianNeurons.load("m").centers_.tobytes() == model.centers_.tobytes()
    good("follow", "-", "-c", "n", "--standardize", stdin=text_of(X))
    assert GaussianNeurons.load("n").scale == "columns"


@pytest.mark.parametrize(
    ("options", "text", "says"),
    [
        ("--columns z", "x,y\n1,2\n", "there is no column 'z'. The columns are x, y."),
        ("", "x,kind\n1,a\n", "column 'kind' holds 'a', not numbers: exclude it with --exclude kind"),
        ("", "x,y\n1,2\n1,b\n", "(line 3 of standard input): column 'y' holds 'b', not a number. To skip"),
        ("", "", "no data came from standard input"),
        ("", "x,y\n", "standard input has no rows"),
        ("--checkpoint no/run", "x,y\n1,2\n", "create it first"),
        ("--standardize --scale robust", "x,y\n1,2\n", "--standardize means --scale columns"),
    ],
)
def test_mistakes_are_explained(here, options, text, says):
    assert says in call("follow", "-", *options.split(), stdin=text.encode()).stderr


def test_skipped_rows_are_counted(here):
    done = good("follow", "-", "-c", "m", "--on-bad", "skip", stdin=b"x,y\n1,2\n3\n4,5\n")
    assert "1 row was skipped. The first: row 1 (line 3" in done.stderr
    assert GaussianNeurons.load("m").n_skipped_ == 1


def test_another_file_is_refused_unless_it_is_rotated(here):
    write_csv(here / "a.csv", GROWING[:1500])
    command = ["follow", "a.csv", "-c", "run"]
    with started(*command, stdout=subprocess.DEVNULL) as process:
        wait_for(lambda: os.path.exists("run") or process.poll() is not None)
        os.rename("a.csv", "a.1")
        assert process.wait(300) == 1
        message = process.stderr.read().decode()
    assert "was deleted or renamed after" in message
    assert "as after a rotation, add --rotated." in message
    write_csv(here / "a.csv", GROWING[1500:2500])
    assert "bytes that the checkpoint has learned" in call(*command).stderr
    with started(*command, "--rotated", stdout=subprocess.DEVNULL) as process:
        wait_for(lambda: GaussianNeurons.load("run").n_samples_seen_ > 1500 or process.poll() is not None)
        process.send_signal(signal.SIGTERM)
        assert process.wait(300) == 0
    same = GaussianNeurons(random_state=0).partial_fit(GROWING[:2500])
    assert GaussianNeurons.load("run").centers_.tobytes() == same.centers_.tobytes()
