"""`prwatch doctor` and `prwatch auth status` with real tokens of a simulated GitHub."""

import pytest

from tests.e2e.conftest import CLASSIC, TOKENS

pytestmark = pytest.mark.e2e


@pytest.fixture
def with_all_tokens(hub, prwatch):
    """One workspace for each kind of token, one of them in a file."""
    (prwatch.folder / "fine.token").write_text(TOKENS["FINE_GRAINED_TOKEN"])
    (prwatch.folder / "fine.token").chmod(0o600)
    prwatch.configure(
        "".join(
            f'[[workspace]]\nname = "{name}"\n{token}\napi_url = "{hub.api_url}"\n'
            for name, token in (
                ("classic", 'token_env = "CLASSIC_TOKEN"'),
                ("fine", f'token_file = "{prwatch.folder}/fine.token"'),
                ("installation", 'token_env = "INSTALLATION_TOKEN"'),
            )
        )
    )
    return prwatch


def test_every_workspace_is_shown_with_its_account_and_no_token(with_all_tokens):
    value = with_all_tokens.read("auth", "status")
    table = with_all_tokens.run("auth", "status")

    assert [
        (each["workspace"], each["login"], each["kind"]) for each in value["workspaces"]
    ] == [
        ("classic", "octocat", "classic personal access token"),
        ("fine", "octocat", "fine-grained personal access token"),
        ("installation", "octocat", "installation token of a GitHub App"),
    ]
    assert table.returncode == 0
    assert "environment variable CLASSIC_TOKEN" in table.stdout


def test_a_revoked_token_is_named_with_what_to_do(with_all_tokens, hub):
    hub.world.revoke_token(CLASSIC)

    result = with_all_tokens.run("auth", "status")

    assert result.returncode == 1
    assert result.stderr.startswith("classic: ")
    assert len(result.stderr.splitlines()) == 1


def test_a_good_installation_passes(with_all_tokens):
    with_all_tokens.run("--cycle")

    value = with_all_tokens.read("doctor")
    words = with_all_tokens.run("doctor")

    assert value["ok"]
    assert {
        each["subject"]: each["health"] for each in value["findings"]
    } == dict.fromkeys(
        (
            *("configuration", "store", "clock", "systemd"),
            *("token of classic", "token of fine", "token of installation"),
        ),
        "ok",
    )
    assert [line.split()[0] for line in words.stdout.splitlines()] == ["ok"] * len(
        value["findings"]
    )


def test_a_broken_one_fails_and_says_what_to_do(with_all_tokens, hub):
    hub.world.revoke_token(CLASSIC)
    with_all_tokens.state_dir.mkdir()
    (with_all_tokens.state_dir / "prwatch.db").write_bytes(b"damaged" * 500)

    result = with_all_tokens.run("doctor")

    assert result.returncode == 1
    lines = result.stdout.splitlines()
    broken = [n for n, line in enumerate(lines) if line.startswith("BROKEN")]
    assert [lines[n].split()[1] for n in broken] == ["store:", "token"]
    assert all(lines[n + 1].strip().startswith("→ ") for n in broken)


def test_a_configuration_that_cannot_be_used_is_a_finding(prwatch):
    prwatch.configure("[poll]\ninterval = 1\n")

    value = prwatch.read("doctor", code=1)

    assert [(each["subject"], each["health"]) for each in value["findings"]] == [
        ("configuration", "broken")
    ]
