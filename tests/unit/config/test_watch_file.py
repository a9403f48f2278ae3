"""Watch files in TOML and YAML: what they declare, and how mistakes are told."""

import contextlib
import time

import pytest

from prwatch.config.watch_file import parse_watch_file
from prwatch.domain.desired import (
    DesiredRepository,
    DesiredRepositoryWatch,
    DesiredTask,
)
from prwatch.domain.events import Narrowing
from prwatch.domain.task import Origin
from prwatch.errors import ConfigError

TOML = """\
[[watch]]
repository = "octo/hello"
pull_request = 12

[[watch]]
repository = "octo/hello"
all = true

[[task]]
id = "T-1"
title = "Fix"
[[task.repositories]]
repository = "octo/hello"
branch = "123"

[[sink]]
name = "out"
events = ["GitHubPRFeedback"]
repositories = ["Octo/Hello"]
"""
YAML = """\
# the same
watch:
  - repository: octo/hello
    pull_request: 12
  - {repository: octo/hello, all: true}
task:
- id: T-1
  title: "Fix"
  repositories:
  - repository: 'octo/hello'
    branch: "123"
sink:
  - name: out
    events: [GitHubPRFeedback]
    repositories: [Octo/Hello]
"""


def parse(text, name="a.toml"):
    content = text if isinstance(text, bytes) else text.encode()
    return parse_watch_file(content, name=name, place="here", workspace="acme")


def problems(text, name="a.toml"):
    with pytest.raises(ConfigError) as refused:
        parse(text, name)
    return refused.value.problems


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("a.toml", TOML, id="TOML"),
        pytest.param("A.TOML", b"\xef\xbb\xbf" + TOML.encode(), id="with a mark"),
        pytest.param("a.toml", TOML.replace("\n", "\r\n"), id="other line ends"),
        pytest.param("a.yaml", YAML, id="YAML"),
        pytest.param("a.yml", YAML.replace("\n", "\r\n"), id="YAML, other ends"),
    ],
)
def test_a_file_declares_watches_tasks_and_what_sinks_leave_out(name, text):
    declared = parse(text, name)

    link = DesiredRepository(owner="octo", name="hello", pull_request=12)
    branch = DesiredRepository(owner="octo", name="hello", branch="123")
    file = Origin.WATCH_FILE
    assert declared.place == "here"
    assert declared.desired.tasks == (
        DesiredTask(
            external_id="T-1", origin=file, title="Fix", repositories=(branch,)
        ),
        DesiredTask(external_id="octo/hello#12", origin=file, repositories=(link,)),
    )
    assert declared.desired.repository_watches == (
        DesiredRepositoryWatch(owner="octo", name="hello", origin=file),
    )
    assert declared.narrowings == (
        Narrowing(
            workspace="acme",
            sink="out",
            events=frozenset({"GitHubPRFeedback"}),
            repositories=frozenset({"octo/hello"}),
        ),
    )


@pytest.mark.parametrize("name", ["a.toml", "a.yaml"])
@pytest.mark.parametrize("text", ["", "# nothing\n"])
def test_an_empty_file_declares_nothing(name, text):
    declared = parse(text, name)

    assert declared.desired.tasks == declared.narrowings == ()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[[watch]]\nrepository = "octo/hello"\n  brnch = "x"', "a.toml:3:3: watch[0]"),
        ('a = "\n', "a.toml:1:6: illegal character"),
        ("a = [1", "a.toml:1:7: "),
        ('[[task]]\nid = "a"\n[[task]]\nid = "a"', "a.toml:4:1: task[1].id: found"),
        ('[[sink]]\nname = "a"\n[[sink]]\nname = "a"', "a.toml:4:1: sink[1].name"),
        (
            '[[task]]\nid = "review:octo/hello#12"',
            'a.toml:2:1: task[0].id: found "review:octo/hello#12"; allowed is ',
        ),
        ("a = 1" + "0" * 9000, "a.toml:1:1: a number of too many digits"),
        ("a = " + "[" * 5000, "a.toml:1:1: arrays that are too deep"),
        ("a = " + "[" * 9 + "]" * 9, "a.toml:1:1: tables more than 8 deep"),
        ("\n" + ".".join("a" * 20) + " = 1", "a.toml:2:1: a name of too many parts"),
        ("\n a = '\x01'", "a.toml:2:7: the control character '\\x01'"),
        (b"a\nbc = '\xff'", "a.toml:2:7: a byte that is not UTF-8"),
        ("#" * 70_000, "a.toml:1:1: is longer than 65536 bytes"),
        ('token = "x"', "a.toml:1:1: token: is refused"),
        ('checkout = "x"', "a.toml:1:1: checkout: is not a key here"),
    ],
)
def test_a_mistake_in_toml_is_told_with_its_place(text, told):
    (first, *_) = problems(text)[-1:]

    assert first.startswith(told)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("watch:\n  - repository: octo/hello\n    brnch: x", "a.yaml:3:5: watch[0].br"),
        ("watch:\n- repository: 5", "a.yaml:2:3: watch[0].repository: found 5"),
        ("watch: yes", 'a.yaml:1:1: watch: found "yes"'),
        ("watch: [true, -5]", "a.yaml:1:9: watch[0]: found true"),
        ("a: [\nb: 1", "a.yaml:3:1: did not find expected"),
        ("a: 1\na: 2", "a.yaml:2:1: a key that stands here already"),
        ("- a", "a.yaml:1:1: an array; allowed is a table"),
        ("word", "a.yaml:1:1: text; allowed is a table"),
        ("? [a]\n: b", "a.yaml:1:3: a key that is no text"),
        ("? {a: b}\n: b", "a.yaml:1:3: a key that is no text"),
        ("a: &x 1", "a.yaml:1:4: an anchor"),
        ("a: *x", "a.yaml:1:4: an alias"),
        ("a: !!python/name:os.system x", "a.yaml:1:4: a tag"),
        ("a: b\n---\nc: d", "a.yaml:2:1: a second document"),
        ("a: " + "[" * 9 + "]" * 9, "a.yaml:1:11: values more than 8 deep"),
        ('""', "a.yaml:1:1: text; allowed is a table"),
        ("a: b\n\tc: d", "a.yaml:2:1: found "),
        ("a: \ufffe", "a.yaml:1:4: a character that no YAML has"),
    ],
)
def test_a_mistake_in_yaml_is_told_with_its_place(text, told):
    assert any(each.startswith(told) for each in problems(text, "a.yaml"))


@pytest.mark.parametrize("name", ["a.toml", "a.yaml"])
def test_a_secret_is_refused_and_not_shown(name):
    secret = "ghp_" + "a" * 36

    told = problems(f"\n# {secret}\n", name)

    assert len(told) == 1
    assert told[0].startswith(f"{name}:2:1: something that looks like a secret")
    assert secret not in told[0]


def test_a_secret_beside_a_mistake_is_not_shown():
    secret = "ghp_" + "a" * 36

    assert secret not in str(problems(f"[{secret}]\n[{secret}]"))


def test_more_entries_than_anybody_lists_are_refused():
    one = '[[watch]]\nrepository="o/h"\nbranch="x"\n'

    assert problems(one * 1001) == (
        "a.toml:1:1: more than 1000 watches, reviews and tasks",
    )


def test_only_some_of_many_mistakes_are_told():
    told = problems("".join(f"k{number} = 1\n" for number in range(30)))

    assert len(told) == 21
    assert told[-1] == "a.toml: and 10 more"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"{'a' * 64_000} = 1", id="a long key"),
        pytest.param(f"#{'a' * 64_000}", id="a long word"),
        pytest.param("[[watch]]\nrepositor = 1\nbrnch = 1\n" * 1700, id="mistakes"),
    ],
)
def test_no_file_takes_more_than_its_length_to_refuse(text):
    """Each took 4 to 12 s of a processor, and 0.1 s since."""
    before = time.process_time()

    with contextlib.suppress(ConfigError):
        parse(text)

    assert time.process_time() - before < 2
