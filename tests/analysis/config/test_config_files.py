"""Files of settings: what is read, what is refused and with which line, and what wins."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.analysis.config import Config, ConfigError, load_config, with_config
from whichlayer.analysis.config.locate import FILE_NAME, project_file, user_file
from whichlayer.analysis.config.read_file import MOST_BYTES, lines_of
from whichlayer.analysis.config.schema import Names
from whichlayer.analysis.config.validate import read_config
from whichlayer.analysis.config.write import config_text
from whichlayer.analysis.options import Options, Peaks

NAMES = Names(("dark", "light"), ("zoom-in", "quit"))

EVERYTHING = """\
source_roots = ["src", "."]
device_model = "h100 sxm5"
link_bandwidth = 450

[findings]
min_share = "2 %"

[rules.host-sync]
major = "30%"
enabled = false

[rules.Q12]
steps = 3
enabled = true

[peaks."h100 sxm5"]
bandwidth = 3000
bf16 = 900.5

[peaks."NVIDIA Foo 9000"]
unlisted = true
fp16 = 100

[check]
max_idle = 0.15
max_layer = { runtime = "5%", cuda = 0 }
min_roof = "60%"
no_finding = ["host-sync", "any", "host-sync"]

[screen]
theme = "light"
colours = 16
ascii = true

[keys]
zoom-in = ["x", "y"]
quit = "Q"
"""


def read(folder: Path, text: str) -> Config:
    file = folder / "a.toml"
    file.write_text(text, encoding="utf-8")
    return read_config(str(file), NAMES)


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        read(folder, text)
    said = str(caught.value)
    assert "\n" not in said and said.isprintable() and len(said) < 700
    prefix = f"{folder / 'a.toml'}"
    assert said.startswith(prefix)
    return said.removeprefix(prefix)


def test_everything_that_the_table_names_is_read(tmp_path: Path) -> None:
    config = read(tmp_path, EVERYTHING)
    options = with_config(Options(), config)
    assert options.source_roots == ("src", str(tmp_path))
    assert options.device_model == "H100 SXM5 80"
    assert options.link_gbps == 450
    assert options.settings == {
        "findings": {"min_share": 0.02},
        "host-sync": {"major": 0.3},
        "Q12": {"steps": 3},
    }
    assert options.rules_off == {"host-sync"}
    assert options.peaks == {
        "H100 SXM5 80": Peaks(3000, {"bf16": 900.5}),
        "NVIDIA Foo 9000": Peaks(None, {"fp16": 100}),
    }
    assert config.value("check", "max_idle") == 0.15
    assert dict(config.below("check", "max_layer")).keys() == {"runtime", "cuda"}
    assert config.words("check", "no_finding") == ("host-sync", "any")
    assert config.text("screen", "theme") == "light"
    assert config.text("screen", "colours") == "16"
    assert config.value("screen", "ascii") is True
    assert config.words("keys", "zoom-in") == ("x", "y")
    assert config.words("keys", "quit") == ("Q",)


def test_each_value_knows_the_line_that_it_was_set_at(tmp_path: Path) -> None:
    origins = with_config(Options(), read(tmp_path, EVERYTHING)).origins
    file = tmp_path / "a.toml"
    assert origins["rules.host-sync.major"] == f"{file}:9"
    assert origins['peaks."H100 SXM5 80".bf16'] == f"{file}:18"
    assert origins["check.max_layer.runtime"] == f"{file}:26"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("source_rots = []", ":1: source_rots: unknown key; did you mean source_roots?"),
        ("[rulez.x]\na = 1", ":1: rulez: unknown key; did you mean rules?"),
        ("zzz = 1", ":1: zzz: unknown key; known are source_roots, device_model,"),
        ("[findings]\nmin_shar = 1", ":2: findings.min_shar: unknown key; did you mean min_share?"),
        ("\n[rules.host-snyc]\nmajor=1", ":3: rules.host-snyc.major: there is no rule"),
        ("[rules.host-snyc]\nmajor=1", "did you mean host-sync?"),
        ("[rules.findings]\nmin_share=1", "there is no rule 'findings'"),
        ("[rules.host-sync]\nmajr = 0.1", ":2: rules.host-sync.majr: unknown key; did you mean"),
        ("[rules.Q1]\nx = 0.1", ":2: rules.Q1.x: unknown key; known are enabled"),
        ("[rules.host-sync]\nmajor = 25", 'major: expected a share, 0 to 1 or such as "15%", not 25'),
        ("[rules.host-sync]\nmajor = '101%'", 'expected a share, 0 to 1 or such as "15%", not "101%"'),
        ("[rules.host-sync]\nmajor = true", "expected a share, 0 to 1"),
        ("[rules.host-sync]\nmajor = nan", "expected a share, 0 to 1"),
        ("[rules.host-sync]\nmajor = { a = 1 }", "not a table"),
        ("[rules.host-sync]\nenabled = 'no'", 'enabled: expected true or false, not "no"'),
        ("[rules.Q5]\nnoise_us = -1", ":2: rules.Q5.noise_us: expected a number from zero, not -1"),
        ("[rules.Q5]\nnoise_us = inf", "expected a number from zero, not inf"),
        ("[rules.Q5]\nnoise_us = 1" + "0" * 400, "expected a number from zero, not a number of that"),
        ("rules = 3", ":1: rules: expected a section, [rules], not 3"),
        ("[rules]\nhost-sync = 3", "expected a section, [rules.host-sync], not 3"),
        ("link_bandwidth = 0", ":1: link_bandwidth: expected a number above zero, not 0"),
        ("link_bandwidth = '450'", 'expected a number above zero, not "450"'),
        ("device_model = 'H100 SMX5'", ":1: device_model: unknown device model 'H100 SMX5'; near:"),
        ("device_model = 7", "expected the name of a GPU, not 7"),
        ("[peaks.'H100 SMX5']\nbf16 = 9", ':2: peaks."H100 SMX5".bf16: unknown device model'),
        ("[peaks.'H100 SMX5']\nbf16 = 9", "a GPU that the table lacks needs unlisted = true"),
        ("[peaks.'H100']\nbf16 = 9", "fits several"),
        ("[peaks.'H100 SXM5']\nbf61 = 9", "bf61: unknown key; did you mean"),
        ("[peaks.'H100 SXM5']\nbf16 = 0", "expected a number above zero, not 0"),
        ("[peaks.'H100 SXM5']\nbf16 = { a = 1 }", "expected a number above zero, not a table"),
        ("peaks = []", "expected a section, [peaks], not a list"),
        ("source_roots = 'src'", ':1: source_roots: expected a list of folders, not "src"'),
        ("source_roots = ['']", 'expected the name of a folder, not ""'),
        ('source_roots = ["a\\u001bb"]', "expected the name of a folder"),
        ("[check]\nmax_idel = 1", ":2: check.max_idel: unknown key; did you mean max_idle?"),
        ("[check]\nmax_idle = '15'", "expected a share"),
        ("[check.max_layer]\ncdua = 0", "there is no layer \"cdua\"; did you mean cuda?"),
        ("[check]\nno_finding = ['host-snyc']", 'there is no rule "host-snyc"; did you mean host-sync?'),
        ("[check]\nno_finding = 'any'", "expected a list of rules"),
        ("[screen]\ntheme = 'drak'", 'there is no theme "drak"; did you mean dark?'),
        ("[screen]\ncolours = 8", "there is no number of colours 8; expected number of colours: 256,"),
        ("[screen]\nascii = 1", "expected true or false, not 1"),
        ("[keys]\nzoom-out = 'x'", 'there is no action "zoom-out"; did you mean zoom-in?'),
        ("[keys]\nquit = []", "expected a key or a list of keys, not an empty list"),
        ("[keys]\nquit = 3", "expected a key such as"),
        ("[keys]\nquit = ['a', 3]", "expected a key such as"),
        ("[keys.quit]\na = 3", "expected a key such as"),
        ("a = ", ":1: is no TOML: Invalid value"),
        ("[findings]\nmin_share = 0.1\nmin_share = 0.2", ":3: is no TOML: Cannot overwrite a value"),
        ('"a\\u0007b" = 1', "a\\x07b\": unknown key"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_in_one_line_with_its_place(
    tmp_path: Path, text: str, said: str
) -> None:
    assert said in refusal(tmp_path, text)


def test_a_file_that_is_no_settings_is_refused_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    cases: list[tuple[bytes, str]] = [
        (b"\xff\xfe\x00", ":1: is not text in UTF-8"),
        (b"a = 1\nb = '\xff'", ":2: is not text in UTF-8"),
        (b"#" * (MOST_BYTES + 1), ": is larger than 1 MiB"),
        (b"a = " + b"[" * 5000, "is "),
        (b"a = " + b"9" * 5000, "is "),
        (b".".join([b"a"] * 500) + b" = 1", ": is nested too deeply"),
        (b"\x00", "is no TOML"),
    ]
    for raw, said in cases:
        file.write_bytes(raw)
        with pytest.raises(ConfigError) as caught:
            read_config(str(file), NAMES)
        assert said in str(caught.value) and "\n" not in str(caught.value)


def test_what_is_no_plain_file_is_refused_without_waiting_for_it(tmp_path: Path) -> None:
    loop, folder, pipe = tmp_path / "loop", tmp_path / "folder", tmp_path / "pipe"
    loop.symlink_to(loop)
    folder.mkdir()
    os.mkfifo(pipe)
    for file, said in (
        (loop, "Too many levels of symbolic links"),
        (folder, "is not a plain file"),
        (pipe, "is not a plain file"),
        (tmp_path / "none", "No such file or directory"),
    ):
        with pytest.raises(ConfigError) as caught:
            read_config(str(file), NAMES)
        assert str(caught.value) == f"{file}: {said}"


@given(st.binary(max_size=200))
def test_any_bytes_are_settings_or_one_line(
    tmp_path_factory: pytest.TempPathFactory, raw: bytes
) -> None:
    file = tmp_path_factory.getbasetemp() / "any.toml"
    file.write_bytes(raw)
    try:
        read_config(str(file), NAMES)
    except ConfigError as error:
        assert str(error).isprintable()


_WORDS = st.sampled_from(
    ["rules", "peaks", "check", "screen", "keys", "findings", "host-sync", "major", "enabled",
     "H100 SXM5", "bf16", "max_layer", "runtime", "theme", "quit", "source_roots", "x", ""]
)  # fmt: skip
_VALUES = st.recursive(
    st.one_of(st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(_WORDS, inner, max_size=2)),
    max_leaves=6,
)  # fmt: skip


@given(st.dictionaries(_WORDS, _VALUES, max_size=3))
def test_any_table_is_settings_or_one_line(
    tmp_path_factory: pytest.TempPathFactory, table: dict[str, object]
) -> None:
    file = tmp_path_factory.getbasetemp() / "table.toml"
    file.write_text("\n".join(f"{_toml_key(key)} = {_toml(value)}" for key, value in table.items()))
    try:
        config = read_config(str(file), NAMES)
    except ConfigError as error:
        assert str(error).isprintable()
    else:
        with_config(Options(), config)


def _toml_key(key: str) -> str:
    return f'"{key}"'


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_toml_key(k)} = {_toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(one) for one in value) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + "".join(f"\\U{ord(one):08x}" for one in value if one.isprintable()) + '"'
    return repr(value)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder of settings, and a current folder deep below ``tmp_path``."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    (tmp_path / "xdg" / "whichlayer").mkdir(parents=True)
    (tmp_path / "project" / "deep" / "er").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project" / "deep" / "er")
    return tmp_path / "xdg" / "whichlayer" / "config.toml"


def test_the_project_goes_before_the_user_value_by_value(home: Path, tmp_path: Path) -> None:
    home.write_text("link_bandwidth = 1\n[rules.host-sync]\nmajor = 0.1\nenabled = false\n")
    project = tmp_path / "project" / FILE_NAME
    project.write_text("[rules.host-sync]\nmajor = 0.2\nenabled = true\n")
    options = with_config(Options(), load_config())
    assert options.settings == {"host-sync": {"major": 0.2}}
    assert options.link_gbps == 1 and not options.rules_off
    assert options.origins["rules.host-sync.major"] == f"{project}:2"
    assert options.origins["link_bandwidth"] == f"{home}:1"


def test_what_is_typed_goes_before_every_file(home: Path) -> None:
    home.write_text('link_bandwidth = 1\ndevice_model = "T4"\n[rules.Q5]\nnoise_us = 1\n')
    typed = Options(link_gbps=2, device_model="A100", settings={"Q5": {"noise_us": 9}})
    options = with_config(typed, load_config())
    assert (options.link_gbps, options.device_model) == (2, "A100")
    assert options.settings == {"Q5": {"noise_us": 9}}


def test_the_nearest_file_up_the_tree_is_the_projects(home: Path, tmp_path: Path) -> None:
    assert project_file() is None and user_file() is None
    (tmp_path / "project" / FILE_NAME).write_text("")
    assert project_file() == str(tmp_path / "project" / FILE_NAME)
    (tmp_path / "project" / "deep" / FILE_NAME).symlink_to("nowhere")
    assert project_file() == str(tmp_path / "project" / "deep" / FILE_NAME)
    with pytest.raises(ConfigError, match="No such file"):
        load_config()


def test_a_named_file_stands_in_for_the_projects_and_no_search_reads_it_alone(
    home: Path, tmp_path: Path
) -> None:
    home.write_text("link_bandwidth = 1\n")
    (tmp_path / "project" / FILE_NAME).write_text("link_bandwidth = 2\n")
    named = tmp_path / "named.toml"
    named.write_text("[rules.Q5]\nnoise_us = 1\n")
    assert load_config(str(named)).number("link_bandwidth") == 1
    assert load_config(str(named), search=False).number("link_bandwidth") is None
    assert load_config(search=False) == Config()


def test_what_is_printed_sets_the_same_when_it_is_loaded_again(tmp_path: Path) -> None:
    config = read(tmp_path, EVERYTHING)
    again = tmp_path / "again.toml"
    again.write_text(config_text(config, [("zoom-in", ("w",), "zoom"), ("quit", ("q",), "quit")]))
    loaded = read_config(str(again), NAMES)
    assert {path: entry.value for path, entry in loaded.entries.items()} == {
        path: entry.value for path, entry in config.entries.items()
    }


def test_what_is_printed_of_defaults_sets_nothing(tmp_path: Path) -> None:
    text = config_text(Config(), [("quit", ("q",), "quit")])
    assert not read(tmp_path, text).entries
    assert "# major = 0.25" in text and '# quit = ["q"]  # quit' in text


def test_lines_are_not_read_from_within_texts() -> None:
    text = '[a]\nb = """\n[c]\nb = 1\n"""\nd = 2\n[e]\n"f g".h = 1\n'
    found = lines_of(text)
    assert found[("a", "d")] == 6 and ("c",) not in found
    assert found[("e", "f g", "h")] == 8
