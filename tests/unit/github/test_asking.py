"""How a question travels: the network's faults, refused tokens, old servers, limits."""

import datetime as dt
import json
import ssl
import traceback

import anyio
import anyio.lowlevel
import httpx
import pytest
import respx

from prwatch.domain.outcome import Found, NotFound
from prwatch.domain.reference import PullRequestReference, Viewer
from prwatch.errors import (
    AuthenticationFailed,
    ProtocolViolation,
    ProviderError,
    ProviderUnavailable,
    RateLimited,
)
from prwatch.github.client import Endpoints, GitHub
from prwatch.github.credentials import TokenCredential
from prwatch.github.limits import Limits
from prwatch.telemetry.secret import Secret
from tests.github_answers import (
    API,
    GITHUB_COM,
    NOW,
    TOKEN,
    ScriptedHost,
    StillClock,
    make_node,
    plain,
    reply,
)

VIEWER = {"viewer": {"login": "alice", "databaseId": 7}}
ALICE = Viewer(login="alice", database_id=7)
ONE = PullRequestReference(owner="octo", name="hello", number=1, node_id="PR_1")


@respx.mock
async def test_the_account_behind_a_token_is_told_with_its_scopes():
    answer = plain({"data": VIEWER}, x_oauth_scopes="repo, read:org")
    route = respx.post("https://api.github.com/graphql").mock(return_value=answer)
    async with httpx.AsyncClient() as http:
        github = GitHub(
            http,
            TokenCredential(Secret(TOKEN), source="test"),
            endpoints=GITHUB_COM,
            clock=StillClock(),
            settle=dt.timedelta(0),
        )

        viewer = await github.viewer()

    assert viewer == Viewer(login="alice", database_id=7, scopes=("repo", "read:org"))
    request = route.calls.last.request
    assert request.headers["authorization"] == f"Bearer {TOKEN}"
    assert json.loads(request.content)["operationName"] == "Viewer"


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(httpx.ConnectError("refused"), id="refused"),
        pytest.param(httpx.ReadError("reset"), id="reset"),
        pytest.param(httpx.RemoteProtocolError("closed early"), id="closed"),
    ],
)
async def test_a_swallowed_request_is_sent_exactly_once_more(error):
    healed = ScriptedHost(error, reply(VIEWER))
    broken = ScriptedHost(error)

    assert await healed.connect().viewer() == ALICE
    with pytest.raises(ProviderUnavailable) as caught:
        await broken.connect().viewer()

    assert len(healed.requests) == len(broken.requests) == 2
    assert caught.value.__cause__ is error
    assert caught.value.scope == "host"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        pytest.param(httpx.ReadTimeout("slow"), "did not answer in time", id="read"),
        pytest.param(
            httpx.ConnectTimeout("slow"), "did not answer in time", id="connect"
        ),
        pytest.param(httpx.DecodingError("gzip"), "broke off", id="bad compression"),
        pytest.param(httpx.UnsupportedProtocol("x"), "cannot be reached", id="scheme"),
    ],
)
async def test_other_failures_of_the_way_are_not_repeated(error, said):
    host = ScriptedHost(error)

    with pytest.raises(ProviderUnavailable, match=said):
        await host.connect().viewer()

    assert len(host.requests) == 1


async def test_a_certificate_that_nobody_trusts_is_for_a_person():
    error = httpx.ConnectError("certificate")
    error.__cause__ = ssl.SSLCertVerificationError("self-signed")
    host = ScriptedHost(error)

    with pytest.raises(ProtocolViolation) as caught:
        await host.connect().viewer()

    assert "ca_file" in caught.value.hint
    assert len(host.requests) == 1


async def test_a_stray_refusal_of_the_token_is_asked_again_once():
    stray = ScriptedHost(
        plain({"message": "Bad credentials"}, status=401), reply(VIEWER)
    )
    lasting = ScriptedHost(plain({"message": "Bad credentials"}, status=401))

    assert await stray.connect().viewer() == ALICE
    with pytest.raises(AuthenticationFailed) as caught:
        await lasting.connect().viewer()

    assert len(stray.requests) == len(lasting.requests) == 2
    assert caught.value.request_id == "AAAA:1"


class RenewedCredential:
    """A credential whose source holds a new token after a refusal."""

    source = "test"
    generation = 1

    def __init__(self, *tokens):
        self.tokens = list(tokens)

    async def token(self):
        return Secret(self.tokens[0])

    async def reload(self, *, was_refused=False):
        assert was_refused
        if len(self.tokens) == 1:
            raise AuthenticationFailed("the source is gone")
        self.tokens.pop(0)
        return True


async def test_a_refused_token_is_looked_up_anew():
    host = ScriptedHost(plain({}, status=401), reply(VIEWER))

    await host.connect(RenewedCredential("old", "new")).viewer()

    sent = [each.headers["authorization"] for each in host.requests]
    assert sent == ["Bearer old", "Bearer new"]


async def test_a_source_that_is_gone_leaves_the_refusal_standing():
    host = ScriptedHost(plain({"message": "Bad credentials"}, status=401))

    with pytest.raises(AuthenticationFailed, match="the token is refused"):
        await host.connect(RenewedCredential("only")).viewer()

    assert len(host.requests) == 1


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"<html>Unicorn</html>", id="html"),
        pytest.param(b'{"data":{"viewer":{"login":"al', id="truncated"),
        pytest.param(b"", id="empty"),
        pytest.param(b"[1]", id="list"),
        pytest.param(b'{"data":"text"}', id="data is text"),
        pytest.param(b'{"data":null}', id="data is null"),
        pytest.param(b'{"data":{"viewer":null}}', id="nothing inside"),
        pytest.param(b"[" * 100_000, id="nested without end"),
    ],
)
async def test_a_body_that_is_no_answer_is_a_passing_failure(body):
    host = ScriptedHost(plain(body))

    with pytest.raises(ProviderUnavailable):
        await host.connect().viewer()


def unknown(*path):
    return reply(
        errors=[
            {
                "path": list(path),
                "extensions": {"code": "undefinedField"},
                "message": "Field doesn't exist",
            }
        ]
    )


async def test_a_field_that_the_server_lacks_is_dropped_for_good():
    node = make_node()
    del node["isInMergeQueue"]
    host = ScriptedHost(
        unknown("fragment CoreFields", "isInMergeQueue"), reply({"n0": [node]})
    )
    github = host.connect()

    first = await github.details([ONE])
    second = await github.details([ONE])

    assert isinstance(first[ONE], Found)
    assert first == second
    asked = ["isInMergeQueue" in each["query"] for each in host.bodies]
    assert asked == [True, False, False]
    assert github.capabilities.omit() == {"PullRequest.isInMergeQueue"}


async def test_a_field_that_cannot_be_dropped_ends_the_question():
    host = ScriptedHost(unknown("query Elsewhere", "x"))
    with pytest.raises(ProtocolViolation):
        await host.connect().viewer()
    assert len(host.requests) == 1


async def test_a_server_that_denies_a_field_twice_ends_the_question():
    host = ScriptedHost(unknown("fragment Budget", "rateLimit"))
    with pytest.raises(ProtocolViolation):
        await host.connect().details([ONE])
    assert len(host.requests) == 2


async def test_a_known_limit_sends_nothing():
    limits = Limits(StillClock())
    limits.tracker.add_blocks([("graphql", NOW + dt.timedelta(minutes=5))])
    host = ScriptedHost(reply(VIEWER))

    with pytest.raises(RateLimited) as caught:
        await host.connect(limits=limits).viewer()

    assert caught.value.retry_at == NOW + dt.timedelta(minutes=5)
    assert host.requests == []


async def test_a_limit_in_an_answer_is_raised_with_its_time_and_kept():
    host = ScriptedHost(
        reply(errors=[{"type": "RATE_LIMITED"}], x_ratelimit_reset="1796040600")
    )
    github = host.connect()

    for _ in range(2):
        with pytest.raises(RateLimited) as caught:
            await github.viewer()
        assert caught.value.retry_at is not None

    assert len(host.requests) == 1


async def test_questions_of_one_account_never_overlap():
    asked = []

    async def answer(request):
        asked.append("in")
        await anyio.lowlevel.checkpoint()
        asked.append("out")
        return reply(VIEWER)

    http = httpx.AsyncClient(transport=httpx.MockTransport(answer))
    clock = StillClock()
    limits = Limits(clock)
    githubs = [
        GitHub(
            http,
            TokenCredential(Secret(TOKEN), source="test"),
            endpoints=Endpoints(API, f"{API}/graphql"),
            clock=clock,
            settle=dt.timedelta(0),
            limits=limits,
        )
        for _ in range(2)
    ]

    async with http, anyio.create_task_group() as group:
        for github in githubs * 3:
            group.start_soon(github.viewer)

    assert asked == ["in", "out"] * 6


async def test_after_a_shared_wait_one_question_probes_for_the_others():
    host = ScriptedHost(plain({"message": "secondary rate limit"}, status=403))
    github = host.connect()
    failures = []

    async def ask():
        try:
            await github.viewer()
        except RateLimited as error:
            failures.append(error)

    async with anyio.create_task_group() as group:
        for _ in range(8):
            group.start_soon(ask)

    assert (len(failures), len(host.requests)) == (8, 1)


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(httpx.ConnectError("refused"), id="network"),
        pytest.param(
            plain({"message": f"Bad credentials {TOKEN}"}, status=401), id="401"
        ),
        pytest.param(plain({"message": f"no {TOKEN}"}, status=403), id="403"),
        pytest.param(plain(TOKEN.encode()), id="not json"),
        pytest.param(reply(errors=[{"message": TOKEN}]), id="errors"),
    ],
)
async def test_no_token_shows_in_an_error_nor_in_a_repr(step):
    github = ScriptedHost(step).connect()

    with pytest.raises(ProviderError) as caught:
        await github.viewer()

    shown = "".join(traceback.format_exception(caught.value))
    assert TOKEN not in shown + repr(caught.value) + repr(vars(github))


async def test_the_transport_refuses_subscriptions():
    transport = ScriptedHost(reply({})).connect()._graph._transport
    await transport.connect()
    await transport.close()

    with pytest.raises(TypeError):
        transport.subscribe(None)


class SlowCredential(TokenCredential):
    """Fetches its token while something else happens."""

    def __init__(self, meanwhile):
        super().__init__(Secret(TOKEN), source="test")
        self._meanwhile = meanwhile

    async def token(self):
        self._meanwhile()
        return await super().token()


@pytest.mark.parametrize("bucket", ["graphql", "core"])
async def test_a_limit_that_is_met_while_the_token_comes_holds_the_request_back(bucket):
    limits = Limits(StillClock())
    end = NOW + dt.timedelta(minutes=5)
    credential = SlowCredential(lambda: limits.tracker.add_blocks([(bucket, end)]))
    host = ScriptedHost(reply(VIEWER))
    github = host.connect(credential, limits=limits)

    with pytest.raises(RateLimited):
        await (github if bucket == "graphql" else github.rest_reader).viewer()

    assert host.requests == []


@pytest.mark.parametrize(
    ("blocked", "path"),
    [
        pytest.param("search", "/search/issues?q=x", id="a search"),
        pytest.param("core", "/repos/octo/hello", id="anything else"),
    ],
)
async def test_searches_over_rest_use_a_bucket_of_their_own(blocked, path):
    limits = Limits(StillClock())
    limits.tracker.add_blocks([(blocked, NOW + dt.timedelta(minutes=5))])
    host = ScriptedHost(plain({}))
    client = host.connect(limits=limits)._rest.client
    other = {"/search/issues?q=x": "/user", "/repos/octo/hello": "/search/issues?q=x"}

    with pytest.raises(RateLimited):
        await client.get(path, operation="test")
    await client.get(other[path], operation="test")

    assert len(host.requests) == 1


async def test_every_answer_says_who_pays_and_an_installation_is_not_asked():
    asked = []
    for is_fixed in (False, True):
        payer = "installation/9" if is_fixed else ""
        limits = Limits(StillClock(), payer=payer, is_fixed=is_fixed)
        body = VIEWER | {"repository": None}
        host = ScriptedHost(
            reply(body, errors=[{"type": "NOT_FOUND", "path": ["repository"]}])
        )
        await host.connect(limits=limits).repository("octo", "hello")
        asked.append(("viewer" in host.bodies[0]["query"], limits.payer))

    assert asked == [(True, "user/7"), (False, "installation/9")]


async def test_a_token_that_may_not_say_whose_it_is_loses_no_answer():
    refused = {
        "type": "FORBIDDEN",
        "path": ["viewer"],
        "message": "Resource not accessible by integration",
    }
    missing = {"type": "NOT_FOUND", "path": ["repository"]}
    host = ScriptedHost(
        reply(errors=[refused]), reply({"repository": None}, errors=[missing])
    )
    github = host.connect()

    for _ in range(2):
        outcome = await github.repository("octo", "hello")
        assert isinstance(outcome, NotFound)

    assert ["viewer" in each["query"] for each in host.bodies] == [True, False, False]


async def test_the_user_of_a_token_is_learnt_through_rest_when_it_is_asked():
    github = ScriptedHost(plain({"login": "alice", "id": 7})).connect()

    await github.rest_reader.viewer()

    assert github.limits.payer == "user/7"
