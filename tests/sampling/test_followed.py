"""Files that grow and pipes: each row is read once, however lines arrive, files rotate and runs resume."""

import io
import json
import os

import numpy as np
import pytest

from gaussian_neurons.sampling import follow, followed

LOOKS = 30  # at a file between two steps


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(followed, "POLL", 0.001)


class Steps:
    """Changes a file in steps while a stream looks for lines, and ends the stream after the last one."""

    def __init__(self, path, *steps):
        self.path, self.steps, self.looks = path, list(steps), LOOKS

    def __call__(self):
        if self.looks:
            self.looks -= 1  # time to read what the last step has written
            return False
        if not self.steps:
            return True
        step, self.looks = self.steps.pop(0), LOOKS
        if callable(step):
            step()
        else:
            with open(self.path, "ab") as file:
                file.write(step)
        return False


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.csv"


def rows_of(stream):
    """All rows until the stream ends, as lists."""
    found = []
    while (chunk := stream.draw(stream.position, 7)).taken:
        found += chunk.x.tolist()
        stream.position += chunk.taken
    return found


def test_a_line_is_read_once_it_is_complete(path):
    path.touch()
    steps = Steps(path, b"x,", b"y\n1,2", b"0\n3,", b"4\n5,6\n\n", b"\n7,8\r", b"\n9,")
    stream = follow(path, stopped=steps)
    assert stream.feature_names == ["x", "y"]
    assert rows_of(stream) == [[1, 20], [3, 4], [5, 6], [7, 8]]


@pytest.mark.parametrize("begin", [b"", b"\xef\xbb\xbf"])
def test_header_delimiter_and_end_of_line_are_those_of_other_files(path, begin):
    path.write_bytes(begin + b"x;y\r\n1,5;2\r\n")
    stream = follow(path, columns=["y", "x"], stopped=Steps(path, b"3;4\r\n"))
    assert rows_of(stream) == [[2, 1.5], [4, 3]]
    path.write_bytes(b'{"b": 2, "a": 1}\n{"a": 3, "b": 4}\n')
    stream = follow(path, format="jsonl", stopped=Steps(path, b'{"a": 5, "b": 6}\n'))
    assert stream.feature_names == ["b", "a"]
    assert rows_of(stream) == [[2, 1], [4, 3], [6, 5]]


def test_bad_rows_have_their_line_also_after_a_restart(path):
    path.write_bytes(b"x\n1\n\n2\n3\n")
    stream = follow(path)
    assert stream.read(3).tolist() == [[1], [2], [3]]
    state = json.loads(json.dumps(stream.state_at(3)))
    again = follow(path, stopped=Steps(path, b"\noops\n"))
    again.resume(3, state)
    (bad,) = again.draw(3, 9).bad
    assert "line 7 of a.csv" in bad.text


def test_a_resumed_stream_goes_on_after_the_row(path):
    path.write_bytes(b"x,y\n" + b"".join(b"%d,%d\n" % (k, -k) for k in range(20)))
    stream = follow(path)
    stream.read(4)
    stream.draw(4, 5)
    for row in range(4, 10):
        state = json.loads(json.dumps(stream.state_at(row)))
        again = follow(path, stopped=Steps(path))
        again.resume(row, state)
        assert rows_of(again) == [[k, -k] for k in range(row, 20)]
        assert again.position == 20


def test_the_description_does_not_depend_on_what_the_file_holds_so_far(path):
    path.write_bytes(b"x,y\n1,2\n")
    short = follow(path).describe()
    path.write_bytes(b"x,y\n3,4\n5,6\n")
    assert follow(path).describe() == short


CHANGES = {
    "replaced": lambda path, text: (path.rename(path.with_suffix(".1")), path.write_bytes(text)),
    "deleted first": lambda path, text: (path.unlink(), path.write_bytes(text)),
    "shorter": lambda path, text: (path.write_bytes(b""), path.write_bytes(text)),
}


@pytest.mark.parametrize("how", CHANGES)
def test_another_file_is_an_error_or_the_next_one(path, how):
    begin, text = b"x,y\n1,2\n3,4\n5,6", b"x,y\n7,8\n"

    def change():
        CHANGES[how](path, text)

    path.write_bytes(begin + b"\n")
    stream = follow(path, stopped=Steps(path, change))
    assert stream.read(3).tolist() == [[1, 2], [3, 4], [5, 6]]
    with pytest.raises(ValueError, match=r"'.*a\.csv' became shorter.* after 16 bytes.*rotated=True"):
        rows_of(stream)
    assert stream.state_at(3)["offset"] == 16
    path.write_bytes(begin)  # without the end of the last line
    stream = follow(path, rotated=True, stopped=Steps(path, change, b"9,0\n"))
    assert rows_of(stream) == [[1, 2], [3, 4], [5, 6], [7, 8], [9, 0]]
    assert stream.state_at(5)["offset"] == 12


def test_a_deleted_file_is_an_error_or_awaited(path):
    path.write_bytes(b"x\n1\n")
    with pytest.raises(ValueError, match="was deleted or renamed after 4 bytes"):
        rows_of(follow(path, stopped=Steps(path, path.unlink)))
    path.write_bytes(b"x\n1\n")
    steps = Steps(path, path.unlink, lambda: None, lambda: path.write_bytes(b"x\n2\n"))
    assert rows_of(follow(path, rotated=True, stopped=steps)) == [[1], [2]]


def test_a_copy_with_more_rows_is_the_same_file(path):
    path.write_bytes(b"x\n1\n2\n")

    def replace():
        copy = path.with_suffix(".new")
        copy.write_bytes(b"x\n1\n2\n3\n")
        os.replace(copy, path)

    assert rows_of(follow(path, stopped=Steps(path, replace, b"4\n"))) == [[1], [2], [3], [4]]


def test_a_new_file_must_have_the_same_columns(path):
    path.write_bytes(b"x,y\n1,2\n")
    steps = Steps(path, path.unlink, lambda: path.write_bytes(b"x,z\n3,4\n"))
    with pytest.raises(ValueError, match="has the columns x, z, the one before had x, y"):
        rows_of(follow(path, rotated=True, stopped=steps))


def test_a_file_that_was_replaced_before_a_restart_is_noticed(path):
    path.write_bytes(b"x\n1\n2\n3\n")
    stream = follow(path)
    stream.read(2)
    state = stream.state_at(2)
    path.write_bytes(b"x\n5\n6\n7\n")
    with pytest.raises(ValueError, match="bytes that the checkpoint has learned"):
        follow(path).resume(2, state)
    again = follow(path, rotated=True, stopped=Steps(path))
    again.resume(2, state)
    assert rows_of(again) == [[5], [6], [7]]


def test_a_pipe_ends_and_goes_on_with_what_arrives():
    text = b"x,y\n1,2\n3,4\n5,6"
    assert rows_of(follow(io.BytesIO(text))) == [[1, 2], [3, 4], [5, 6]]
    read, write = os.pipe()
    with open(read, "rb") as pipe:
        os.write(write, text)
        os.close(write)
        stream = follow(pipe)
        assert stream.read(2).tolist() == [[1, 2], [3, 4]]
    again = follow(io.BytesIO(text))
    again.resume(2, stream.state_at(2))
    assert again.position == 2
    assert rows_of(again) == [[1, 2], [3, 4], [5, 6]]


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.csv", b"\x1f\x8b123", "compressed with gzip"),
        ("a.csv", b"a\0b", "is not a text file"),
        ("a.npy", b"", "cannot grow line by line: only csv and jsonl"),
        ("a.csv.gz", b"", "cannot grow line by line"),
        ("a.csv", b"x,y\n1,2\n", "no column 'z'"),
    ],
)
def test_files_that_cannot_be_followed_are_refused(tmp_path, name, text, says):
    (tmp_path / name).write_bytes(text)
    with pytest.raises(ValueError, match=says):
        follow(tmp_path / name, columns=["z"])


def test_no_rows_are_an_error_once_the_stream_has_ended(path):
    with pytest.raises(ValueError, match="no data came from standard input"):
        follow(io.BytesIO(b""))
    path.write_bytes(b"x,y\n")
    assert rows_of(follow(path, stopped=Steps(path))) == []


def test_rows_in_chunks_are_those_of_the_whole_file(path):
    x = np.random.default_rng(0).normal(size=(5000, 2)).round(3)
    path.write_text("a,b\n" + "".join(f"{a},{b}\n" for a, b in x.tolist()))
    assert (follow(path).read(5000) == x).all()
