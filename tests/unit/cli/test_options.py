"""Options that may stand before and after the command."""

from pathlib import Path

import click
import pytest

from prwatch.cli.main import run
from prwatch.cli.options import (
    Options,
    get_options,
    global_options,
    load,
    run_async,
)
from prwatch.errors import ConfigError


def parse(*arguments, options):
    """Return the options as a subcommand of a subcommand sees them."""
    seen = []

    @click.group("prwatch")
    @global_options
    def top():
        pass

    @top.group("middle")
    @global_options
    def middle():
        pass

    @middle.command("look")
    @global_options
    @click.pass_context
    def look(ctx):
        seen.append(get_options(ctx))

    assert run(arguments, options, group=top) == 0
    return seen[0]


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["--json", "--config", "a", "middle", "look"], id="before"),
        pytest.param(["middle", "--json", "--config", "a", "look"], id="between"),
        pytest.param(["middle", "look", "--json", "--config", "a"], id="after"),
        pytest.param(["--json", "middle", "look", "--config", "a"], id="both"),
        pytest.param(
            ["--json", "--config", "b", "middle", "look", "--config", "a"],
            id="the last one counts",
        ),
    ],
)
def test_an_option_may_stand_before_and_after_the_command(arguments):
    options = parse(*arguments, options=Options())

    assert (options.config, options.is_json) == (Path("a"), True)


def test_only_options_that_were_given_set_keys():
    options = parse("middle", "look", options=Options())

    assert options.flags == {}


def test_options_set_keys_of_the_configuration():
    arguments = ["--state-dir", "here", "middle", "look", "--log-level", "debug"]

    options = parse(*arguments, options=Options())

    assert options.flags == {"state_dir": "here", "log.level": "debug"}


@pytest.fixture
def context(tmp_path):
    options = Options(environ={"HOME": str(tmp_path / "home")}, cwd=tmp_path)
    return click.Context(click.Command("look"), obj=options)


def test_the_configuration_is_looked_for_where_the_person_stands(context, tmp_path):
    (tmp_path / "prwatch.toml").write_text('[poll]\ninterval = "7s"\n')

    loaded = load(context)

    assert loaded.path == tmp_path / "prwatch.toml"
    assert loaded.config.poll.interval.total_seconds() == 7


def test_the_command_line_wins_over_the_file(context, tmp_path):
    (tmp_path / "prwatch.toml").write_text('[log]\nlevel = "error"\n')
    context.obj.log_level = "debug"
    context.obj.state_dir = "mine"

    loaded = load(context)

    assert loaded.config.log.level == "debug"
    assert loaded.config.state_dir == tmp_path / "mine"
    assert loaded.origins["state_dir"] == "command line --state-dir"


def test_a_file_that_was_named_must_be_there(context, tmp_path):
    context.obj.config_file = "gone.toml"

    with pytest.raises(ConfigError, match=f"no configuration file {tmp_path}/gone"):
        load(context)


def test_an_asynchronous_function_is_run_to_its_end():
    async def work():
        return 7

    assert run_async(work) == 7
