"""The control socket, over real Unix sockets, on both event loops."""

import contextlib
import json
import os

import anyio
import pytest
import trio.testing

from prwatch.app.control.client import ask
from prwatch.app.control.line_socket import accept_line_socket, connect_line_socket
from prwatch.app.control.protocol import MAX_REQUEST_BYTES
from prwatch.app.control.server import IDLE_SECONDS, MAX_CLIENTS, ControlServer
from prwatch.app.control.socket_place import bind_socket
from prwatch.app.daemon.daemon_lock import DaemonInfo
from prwatch.errors import DaemonError, WatchNotFound


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    return request.param


@pytest.fixture
def path(tmp_path):
    return tmp_path / "prwatch.sock"


async def echo(arguments):
    return {"arguments": arguments}


async def fail(arguments):
    raise WatchNotFound("no watch x", hint="look")


COMMANDS = {"echo": echo, "fail": fail}


@contextlib.asynccontextmanager
async def serving(path, commands=COMMANDS, **options):
    async with anyio.create_task_group() as group:
        await group.start(ControlServer(path, commands, **options).run, lambda: None)
        yield
        group.cancel_scope.cancel()


@contextlib.asynccontextmanager
async def connected(path, commands=COMMANDS):
    async with serving(path, commands):
        with connect_line_socket(path) as client:
            yield client


async def read_line(client):
    with anyio.fail_after(10):
        return json.loads(await client.receive_line(1_000_000))


async def test_a_command_gets_its_arguments_and_its_result_comes_back(path):
    async with serving(path):
        answer = await ask(path, "echo", watch="octo/hello#1", force=True)

    assert answer == {"arguments": {"watch": "octo/hello#1", "force": True}}


async def test_a_result_of_many_megabytes_comes_back_whole(path):
    text = "é" * 3_000_000

    async def tell(arguments):
        return {"text": text}

    async with serving(path, {"tell": tell}):
        answer = await ask(path, "tell")

    assert answer == {"text": text}


async def test_a_connection_asks_one_command_after_the_other(path):
    async with connected(path) as client:
        answers = []
        for number in range(3):
            line = {"command": "echo", "arguments": {"n": number}}
            await client.send(json.dumps(line).encode() + b"\n")
            answers.append((await read_line(client))["result"]["arguments"]["n"])

    assert answers == [0, 1, 2]


async def test_clients_are_served_side_by_side(path):
    waiting = anyio.Event()

    async def wait(arguments):
        await waiting.wait()
        return {"who": "slow"}

    async def quick(arguments):
        waiting.set()
        return {"who": "quick"}

    answers = []
    async with (
        serving(path, {"wait": wait, "quick": quick}),
        anyio.create_task_group() as group,
    ):

        async def ask_slow():
            answers.append(await ask(path, "wait"))

        group.start_soon(ask_slow)
        await anyio.wait_all_tasks_blocked()
        answers.append(await ask(path, "quick"))

    assert sorted(each["who"] for each in answers) == ["quick", "slow"]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        pytest.param(b"nonsense", "malformed", id="nonsense"),
        pytest.param(b'{"command":"none"}', "unknown_command", id="unknown command"),
        pytest.param(b'{"command":"fail"}', "watch_not_found", id="our error"),
        pytest.param(b"x" * (MAX_REQUEST_BYTES + 1), "too_long", id="too long"),
    ],
)
async def test_what_cannot_be_done_is_refused_with_a_code(path, line, code):
    async with connected(path) as client:
        await client.send(line + b"\n")
        answer = await read_line(client)

    assert (answer["ok"], answer["error"]["code"]) == (False, code)


async def test_after_nonsense_the_connection_still_works(path):
    async with connected(path) as client:
        await client.send(b"nonsense\n")
        await read_line(client)
        await client.send(b'{"command":"echo"}\n')
        answer = await read_line(client)

    assert answer == {"ok": True, "result": {"arguments": {}}}


async def test_a_line_without_an_end_is_cut_off_at_the_limit(path):
    async with connected(path) as client:
        with contextlib.suppress(OSError):
            for _ in range(MAX_REQUEST_BYTES // 1024 + 8):
                await client.send(b"x" * 1024)
        answer = await read_line(client)

    assert answer["error"]["code"] == "too_long"


async def test_one_client_too_many_is_told_so_and_the_others_go_on(path):
    async with serving(path), contextlib.AsyncExitStack() as stack:
        clients = [
            stack.enter_context(connect_line_socket(path)) for _ in range(MAX_CLIENTS)
        ]
        for client in clients:
            await client.send(b'{"command":"echo"}\n')
            await read_line(client)
        with pytest.raises(DaemonError) as caught:
            await ask(path, "echo")
        await clients[0].send(b'{"command":"echo"}\n')
        answer = await read_line(clients[0])

    assert (caught.value.reason, answer["ok"]) == ("busy", True)


async def test_a_client_that_left_makes_room_for_another(path):
    async with serving(path):
        for _ in range(MAX_CLIENTS * 2):
            with connect_line_socket(path) as client:
                await client.send(b'{"command":"echo"}\n')
                await read_line(client)
        answer = await ask(path, "echo")

    assert answer == {"arguments": {}}


async def test_another_user_is_refused(path):
    async with serving(path, allowed_uids=frozenset({4_000_000})):
        with pytest.raises(DaemonError) as caught:
            await ask(path, "echo")

    assert caught.value.reason == "forbidden"


async def test_clients_that_leave_at_any_point_harm_nobody(path):
    pieces = [b"", b'{"comm', b'{"command":"echo"}\n', b"nonsense\n" * 1000]

    async with serving(path):
        for piece in pieces * 5:
            with connect_line_socket(path) as client:
                await client.send(piece)
        answer = await ask(path, "echo")

    assert answer == {"arguments": {}}


async def test_without_a_daemon_the_answer_is_none(path):
    nobody = await ask(None, "echo")
    no_socket = await ask(path, "echo")

    assert (nobody, no_socket) == (None, None)


async def test_a_dead_socket_is_no_daemon_unless_the_lock_is_held(path):
    listener = await anyio.create_unix_listener(path)
    await listener.aclose()

    answer = await ask(path, "echo")
    with pytest.raises(DaemonError) as caught:
        await ask(DaemonInfo(42, path), "echo")

    assert (answer, caught.value.reason) == (None, "not_listening")


async def test_the_socket_is_gone_when_the_server_has_ended(path):
    async with serving(path):
        mode = path.stat().st_mode & 0o777

    assert (mode, path.exists()) == (0o600, False)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        pytest.param(b"nonsense\n", "malformed", id="nonsense"),
        pytest.param(b"", "closed", id="nothing"),
        pytest.param(b'{"ok"', "closed", id="half a line"),
    ],
)
async def test_a_daemon_that_answers_badly_is_an_error(path, reply, reason):
    async def answer(stream):
        async with stream:
            await stream.receive()
            if reply:
                await stream.send(reply)

    listener = await anyio.create_unix_listener(path)
    async with listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, answer)
        with pytest.raises(DaemonError) as caught:
            await ask(path, "echo")
        group.cancel_scope.cancel()

    assert caught.value.reason == reason


async def test_a_daemon_that_hangs_up_without_reading_is_an_error(path):
    with bind_socket(path) as listening, anyio.fail_after(10):
        async with anyio.create_task_group() as group:

            async def hang_up():
                client = await accept_line_socket(listening)
                await anyio.wait_readable(client._socket)
                client.close()

            group.start_soon(hang_up)
            with pytest.raises(DaemonError) as caught:
                await ask(path, "echo")

    assert caught.value.reason == "closed"


async def test_a_daemon_that_accepts_nobody_is_an_error_at_once(path):
    with bind_socket(path) as listening, contextlib.ExitStack() as stack:
        listening.listen(0)
        stack.enter_context(connect_line_socket(path))
        with pytest.raises(DaemonError) as caught:
            await ask(path, "echo")

    assert caught.value.reason == "busy"


@pytest.fixture
def as_another_user(path):
    """Return a context in which this process may not use the socket."""

    @contextlib.contextmanager
    def become():
        path.chmod(0)
        user = os.geteuid()
        if user == 0:
            os.seteuid(65534)
        try:
            yield
        finally:
            os.seteuid(user)

    return become


async def test_a_user_who_may_not_use_the_socket_is_told_so(path, as_another_user):
    with bind_socket(path), as_another_user(), pytest.raises(DaemonError) as caught:
        await ask(path, "echo")

    assert (caught.value.reason, caught.value.hint) == (
        "forbidden",
        "run it as the daemon's user, or as root",
    )


class TestInVirtualTime:
    """What only time shows, on a clock that jumps when everybody waits."""

    @pytest.fixture
    def anyio_backend(self):
        return ("trio", {"clock": trio.testing.MockClock(autojump_threshold=0.05)})

    async def test_a_silent_daemon_is_an_error_after_ten_seconds(self, path):
        async def stay_silent(arguments):
            await anyio.sleep_forever()

        began = anyio.current_time()
        async with serving(path, {"wait": stay_silent}):
            with pytest.raises(DaemonError) as caught:
                await ask(path, "wait")
            took = anyio.current_time() - began

        assert (caught.value.reason, took) == ("timeout", 10)

    async def test_a_command_that_hangs_is_given_up(self, path):
        async def hang(arguments):
            await anyio.sleep_forever()

        async with serving(path, {"hang": hang}):
            with pytest.raises(DaemonError) as caught:
                await ask(path, "hang", seconds=100)

        assert (caught.value.reason, str(caught.value)) == (
            "timeout",
            "not done within 60 s",
        )

    async def test_an_idle_client_is_cut_off(self, path):
        began = anyio.current_time()
        async with connected(path) as client:
            line = await client.receive_line(100)
            took = anyio.current_time() - began

        assert (line, took) == (None, IDLE_SECONDS)

    async def test_a_client_that_never_reads_is_cut_off(self, path):
        async def tell(arguments):
            return {"text": "x" * 10_000_000}

        async with connected(path, {"tell": tell}) as client:
            await client.send(b'{"command":"tell"}\n')
            await anyio.sleep(IDLE_SECONDS + 1)
            line = await client.receive_line(20_000_000)

        assert line is None
