"""The model file: exact, deterministic, never half-written, and never believed too early."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st

import hiddenbits.store
from hiddenbits.exceptions import FileError
from hiddenbits.store import Limits, read, write
from tests.store import damage

pytestmark = pytest.mark.core

DTYPES = ["bool", "uint8", "int32", "int64", "uint64", "float32", "float64"]
META = {
    "n_components": 3,
    "tol": 1e-4,
    "verbose": False,
    "random_state": 2**127,
    "features": ["alter, Jahre", "größe", "c"],
    "state": {"history": [-1.5, -1.25], "reason": None, "inner": {"a": [{}]}},
}


def example(seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    arrays = {name: rng.integers(0, 2, (3, 4)).astype(name) for name in DTYPES}
    arrays["weights"] = rng.random(5)
    arrays["scalar"] = np.array(rng.random())
    arrays["empty"] = np.zeros((0, 3), dtype=np.float32)
    return arrays


def same(left: dict[str, np.ndarray], right: dict[str, np.ndarray]) -> bool:
    """Bit for bit, so that NaN equals itself and -0.0 is not 0.0."""
    return left.keys() == right.keys() and all(
        (a.dtype, a.shape, a.tobytes()) == (right[name].dtype, right[name].shape, right[name].tobytes())
        for name, a in left.items()
    )


def listing(folder: str | Path) -> list[str]:
    return [path.name for path in Path(folder).iterdir()]


@st.composite
def arrays_of_bytes(draw):
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    shape = tuple(draw(st.lists(st.integers(0, 4), max_size=4)))
    size = int(np.prod(shape, dtype=int)) * dtype.itemsize
    raw = np.frombuffer(draw(st.binary(min_size=size, max_size=size)), dtype=np.uint8)
    return (raw & 1 if dtype.kind == "b" else raw).view(dtype).reshape(shape)


names = st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1, max_size=128)
tensor_names = names.filter(lambda name: name != "__metadata__")  # reserved by safetensors
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**39), 10**39)
    | st.floats(allow_nan=False, allow_infinity=False)
    | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)


@given(names, st.dictionaries(words, json_values), st.dictionaries(tensor_names, arrays_of_bytes()))
def test_round_trip_is_exact(kind, meta, arrays):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        write(path, kind, meta, arrays)
        back = read(path)
        assert listing(folder) == ["model"]
        raw = path.read_bytes()
    assert (back.kind, back.meta) == (kind, meta)
    assert same(back.arrays, arrays)
    for array in back.arrays.values():
        assert array.flags.writeable
        assert array.flags.c_contiguous
        assert array.flags.owndata
        assert array.dtype.isnative
    assert same(safetensors.numpy.load(raw), arrays)  # an ordinary safetensors file
    assert same(damage.contents(raw)[2], arrays)  # and as the independent reader sees it


def test_any_layout_is_stored_by_value(tmp_path):
    base = np.arange(24, dtype=np.float64).reshape(4, 6)
    frozen = base.copy()
    frozen.setflags(write=False)
    odd = {
        "t": base.T,
        "steps": base[::2, ::-3],
        "fortran": np.asfortranarray(base),
        "big": base.astype(">f8"),
    }
    odd |= {"frozen": frozen, "zero_d": base[1:2, 1:2].reshape(()), "scalar": np.float32(1.5)}
    write(tmp_path / "m", "k", {}, odd)
    back = read(tmp_path / "m").arrays
    for name, array in odd.items():
        np.testing.assert_array_equal(back[name], array, strict=name not in {"big", "scalar"})
    write(tmp_path / "b", "k", {}, {"b": np.array([0, 1, 2, 255], dtype=np.uint8).view(bool)})
    assert read(tmp_path / "b").arrays["b"].tolist() == [False, True, True, True]


def test_same_content_gives_the_same_bytes(tmp_path):
    write(tmp_path / "a", "k", META, example())
    script = (
        "import sys; from hiddenbits.store import read, write;"
        "s = read(sys.argv[1]); turn = lambda d: dict(reversed(d.items()));"
        "write(sys.argv[2], s.kind, turn(s.meta), turn(s.arrays))"
    )
    # Another process has another hash seed.
    assert run_child(script, tmp_path / "a", tmp_path / "b").wait() == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


BAD_ARRAYS = [
    np.zeros(2, np.float16), np.zeros(2, np.complex128), np.array(["a"]), np.array([None]),
    np.zeros(2, "M8[s]"), np.zeros(2, [("a", "f8")]), np.ma.masked_array([1.0], [True]), [1.0], 1.0, None,
    np.zeros((10**12, 0)), np.zeros((1,) * 9), np.zeros(2, np.int8),
]  # fmt: skip
BAD_META = [
    {"x": float("nan")}, {"x": -float("inf")}, {1: 2}, {"x": {None: 1}}, {"x": object()}, {"x": np.int64(1)},
    {"x": 10**40}, {"x": b"a"}, {"x": {1, 2}}, {"\ud800": 1}, [1], None,
    {"x": json.loads("[" * 40 + "]" * 40)},
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "meta", "arrays"),
    [("k", {}, {"x": array}) for array in BAD_ARRAYS]
    + [("k", meta, {}) for meta in BAD_META]
    + [(kind, {}, {}) for kind in ["", "a\n", "x" * 129, "é", None]]
    + [("k", {}, {name: np.zeros(1)}) for name in ["", "a\n", "x" * 129, "é", 1, "__metadata__"]]
    + [("k", {}, None), ("k", {}, {f"x{i}": np.zeros(1) for i in range(4097)})],
)
def test_what_cannot_be_stored_leaves_the_old_file(tmp_path, kind, meta, arrays):
    path = tmp_path / "m"
    write(path, "k", META, example())
    before = path.read_bytes()
    with pytest.raises(FileError, match=r"^cannot write '.*m': .*\.$"):
        write(path, kind, meta, arrays)
    assert path.read_bytes() == before
    assert listing(tmp_path) == ["m"]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_write_that_fails_midway_leaves_the_old_file(tmp_path, monkeypatch, error, step):
    path = tmp_path / "m"
    write(path, "k", META, example())

    def fail(*args):
        raise error

    monkeypatch.setattr(*((os, "fsync", fail) if step == "fsync" else (Path, "replace", fail)))
    with pytest.raises(FileError if isinstance(error, OSError) else KeyboardInterrupt):
        write(path, "k", {}, {})
    assert same(read(path).arrays, example())
    assert listing(tmp_path) == ["m"]


def test_paths(tmp_path):
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none")
    with pytest.raises(FileNotFoundError):
        write(tmp_path / "none" / "m", "k", {}, {})
    os.mkfifo(tmp_path / "pipe")
    for path in [tmp_path, tmp_path / "pipe", os.devnull, "a\0b"]:
        with pytest.raises(FileError):
            read(path)
        with pytest.raises(FileError):
            write(path, "k", {}, {})
    (tmp_path / "link").symlink_to(tmp_path / "m")
    write(str(tmp_path / "link"), "k", {}, {})
    assert (tmp_path / "link").is_symlink()
    (tmp_path / "m").chmod(0o600)
    write(tmp_path / "m", "k2", {}, {})
    assert (tmp_path / "m").stat().st_mode & 0o777 == 0o600
    assert read(tmp_path / "link").kind == "k2"
    with pytest.raises(FileError, match="Not a directory"):
        read(tmp_path / "m" / "x")


def run_child(script: str, *args: object) -> subprocess.Popen[bytes]:
    source = str(Path(hiddenbits.store.__file__).parents[2])
    paths = os.pathsep.join([source, *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-c", script, *map(str, args)]
    return subprocess.Popen(command, env=os.environ | {"PYTHONPATH": paths})


@pytest.mark.slow
def test_a_killed_writer_never_leaves_a_part(tmp_path, short):
    script = (
        "import sys, itertools, numpy as np; from hiddenbits.store import write\n"
        "for i in itertools.count():\n"
        "    write(sys.argv[1], 'k', {'i': i % 2}, {'x': np.full(200_000 + 50_000 * (i % 2), i % 2)})\n"
    )
    path, rng, seen = tmp_path / "m", np.random.default_rng(0), set()

    def look():
        stored = read(path)
        i = stored.meta["i"]
        np.testing.assert_array_equal(stored.arrays["x"], np.full(200_000 + 50_000 * i, i))
        seen.add(i)

    for _ in range(6 if short else 10):
        path.unlink(missing_ok=True)
        child = run_child(script, path)
        try:
            while not path.exists():
                assert child.poll() is None
                time.sleep(0.001)
            end = time.monotonic() + rng.uniform(0, 0.15)
            while time.monotonic() < end:
                look()
        finally:
            child.kill()  # SIGKILL: no handler, no clean-up
            child.wait()
        look()
    assert seen == {0, 1}
    # What a kill leaves behind is a hidden temporary file, which no reader opens.
    assert all(n == "m" or (n.startswith(".hiddenbits-") and n.endswith(".tmp")) for n in listing(tmp_path))


def read_within(path, n_bytes, what="", **options):
    """Return what `read` returns or refuses with; it must take no more than so many bytes at a time.

    Threads that other tests left behind may take memory too, now and then: what is too much is measured again.
    """
    for _ in range(5):
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        try:
            answer = read(path, **options)
        except FileError as error:
            answer = error
        if (taken := tracemalloc.get_traced_memory()[1] - before) < n_bytes:
            return answer
        time.sleep(0.2)
    raise AssertionError(f"{what}: {taken} bytes, and not {n_bytes}")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_damage_is_refused_or_read_exactly(tmp_path, seed):
    path = tmp_path / "m"
    write(path, "mixture", META, example(seed))
    raw = path.read_bytes()
    original = damage.contents(raw)
    fitted, read_back = 0, 0
    tracemalloc.start()
    try:
        for what, bad, fit in damage.damaged_copies(raw, np.random.default_rng(seed), 500):
            path.write_bytes(bad)
            fitted += fit
            answer = read_within(path, 4 * len(bad) + 100_000, what)
            stored, message = (None, str(answer)) if isinstance(answer, FileError) else (answer, "")
            if stored is None:
                assert str(path) in message
                assert what not in damage.HARMLESS, message
                assert not (fit and what in damage.WELL_FORMED), (what, message)
                continue
            read_back += 1
            assert what in damage.WELL_FORMED | damage.HARMLESS | damage.FLIPS, what
            kind, meta, arrays = damage.contents(bad) if fit else original
            # With the old checksum only the old content is read: the damage changed its spelling at
            # most (white space, order of keys), or put back the value that was there.
            assert (stored.kind, stored.meta) == (kind, meta), what
            assert same(stored.arrays, arrays), what
    finally:
        tracemalloc.stop()
    assert 0.4 < fitted / 500 < 0.6
    assert read_back > 50


def test_memory_follows_the_file_not_its_claims(tmp_path):
    path = tmp_path / "m"
    write(path, "k", {}, {f"x{i}": np.zeros(500_000) for i in range(8)})
    size = path.stat().st_size
    limits = {"max_file_bytes": 2**70, "max_header_bytes": 2**70}
    header = path.read_bytes()[8:4096].split(b" ")[0]
    hostile = [(2**62).to_bytes(8, "little") + b"{}" * 100, damage.join(header, b"")]
    hostile += [damage.join(header.replace(b"500000", b"%d" % n), b"") for n in (2**40, 2**60, 10**30)]
    tracemalloc.start()
    try:
        read(path)
        assert tracemalloc.get_traced_memory()[1] < 2.2 * size
        for raw in hostile:
            path.write_bytes(raw)
            assert isinstance(read_within(path, 200_000, limits=Limits(**limits)), FileError)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_file_bytes", 500),
        ("max_header_bytes", 100),
        ("max_tensors", 9),
        ("max_dims", 1),
        ("max_depth", 3),
        ("max_values", 60),
        ("max_containers", 20),
    ],
)
def test_limits_bind(tmp_path, name, value):
    write(tmp_path / "m", "k", META, example())
    with pytest.raises(FileError):
        read(tmp_path / "m", limits=Limits(**{name: value}))
    with pytest.raises(FileError, match=r"larger limits|fix the arguments"):
        write(tmp_path / "n", "k", META, example(), limits=Limits(**{name: value}))
    assert listing(tmp_path) == ["m"]


def test_messages_say_what_to_do(tmp_path):
    path = tmp_path / "m"
    write(path, "k", {}, example())
    raw = path.read_bytes()
    header, data = damage.split(raw)
    header["__metadata__"]["version"] = "2"
    header["weights"]["dtype"] = "F99"  # a newer format may know more dtypes
    foreign = safetensors.numpy.save({"x": np.zeros(3)}, metadata={"format": "pt"})
    gap = damage.split(raw)
    damage.CONTENT["gap"](*gap, np.random.default_rng(0))
    for bad, message in [
        (damage.join(*gap), "overlap or leave gaps"),
        (
            damage.join(header, data),
            "format number is '2', and this version of hiddenbits reads only '1'; use the version",
        ),
        (raw[:-1] + bytes([raw[-1] ^ 1]), "checksum does not match.*restore a copy or fit again"),
        (raw[:-5], "restore a copy or fit again"),
        (b"", "cut short, or is not a model file"),
        (b"\x80\x04K\x01." * 9, "cut short, or is not a model file"),
        (foreign, "not a hiddenbits model file"),
    ]:
        path.write_bytes(bad)
        with pytest.raises(FileError, match=message):
            read(path)
