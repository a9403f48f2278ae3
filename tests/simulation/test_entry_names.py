"""Entries whose repository is renamed, and whose old name a stranger takes over."""

import pytest

from prwatch.simulator import World
from tests.checkouts import make_checkout
from tests.product import ALL, MovedClock, list_changes, open_product

OLD = 'repository = "octo/hello"'
TASK = """[[workspace.task]]
id = "T-1"
repositories = [{ repository = "octo/hello", branch = "fix" }]
"""
SESSION = """[[workspace.task]]
id = "T-1"
sessions = [
    { id = "S-1", checkouts = [{ repository = "octo/hello", branch = "fix" }] },
]
"""
ENTRIES = [
    pytest.param({"watches": (f'{OLD}\nbranch = "fix"',)}, id="branch"),
    pytest.param({"watches": (f"{OLD}\npull_request = 3",)}, id="pull request"),
    pytest.param({"watches": (ALL,)}, id="all"),
    pytest.param({"watches": (f'{OLD}\nauthor = "@me"',)}, id="author"),
    pytest.param({"watches": (), "tasks": TASK}, id="task"),
    pytest.param({"watches": (), "tasks": SESSION}, id="session checkout"),
    pytest.param({"watches": (), "tasks": "worktree"}, id="worktree"),
]
ASSOCIATED = [(("associated", None, 3),)]


@pytest.fixture
def world():
    made = World(MovedClock())
    made.add_repository("octo/hello")
    return made


@pytest.fixture
def configure(tmp_path):
    """Fill in the folder of a real worktree whose remote has the old name."""

    def fill(config):
        if config.get("tasks") != "worktree":
            return config
        remotes = {"origin": "https://github.com/octo/hello.git"}
        make_checkout(tmp_path / "src" / "hello", remotes=remotes)
        tasks = f'[[checkout]]\nroots = ["{tmp_path}/src"]'
        return {**config, "tasks": tasks}

    return fill


async def run(state_dir, world, config, *, cycles=2):
    """Start, run cycles, and return what was told and how many rows all of it wrote."""
    async with open_product(state_dir, world, **config) as product:
        told = await product.cycles(cycles)
        return list_changes(told), product.runtime.database.rows_written


async def list_watched(state_dir, world, config):
    """Return each watch as task, present name of the repository, branch and number."""
    async with open_product(state_dir, world, **config) as product:
        await product.cycles(2)
        rows = product.ask(
            "SELECT external_id, owner || '/' || name, branch, pr_number"
            " FROM pr_watches JOIN tasks ON tasks.id = task_id"
            " JOIN repositories ON repositories.id = repository_id"
            " ORDER BY 1, 2, 3, 4"
        )
        return [tuple(row.values()) for row in rows]


def take_over(world, *, number=77):
    """Rename octo/hello, and let a stranger have a pull request under its name."""
    world.rename_repository(world.get_repository("octo/hello"), "octo/moved")
    world.add_repository("octo/hello")
    world.open_pull_request(
        "octo/hello", branch="fix", number=number, author="octocat", title="Not ours"
    )


@pytest.mark.parametrize("has_pull_request", [True, False])
@pytest.mark.parametrize("config", ENTRIES)
async def test_a_start_after_a_rename_writes_nothing(
    tmp_path, world, configure, config, has_pull_request
):
    if has_pull_request:
        world.open_pull_request("octo/hello", branch="fix", number=3, author="octocat")
    config = configure(config)
    before = await run(tmp_path, world, config)
    quiet = await run(tmp_path, world, config)
    world.rename_repository("octo/hello", "octo/moved")
    noticing, _ = await run(tmp_path, world, config)

    after = await run(tmp_path, world, config)

    assert before[0] == (ASSOCIATED if has_pull_request else [])
    assert (quiet, noticing, after) == (([], 0), [], ([], 0))


@pytest.mark.parametrize("is_noticed", [True, False])
@pytest.mark.parametrize("config", ENTRIES)
async def test_a_stranger_under_the_old_name_gets_nothing(
    tmp_path, world, configure, config, is_noticed
):
    world.open_pull_request("octo/hello", branch="fix", number=3, author="octocat")
    config = configure(config)
    await run(tmp_path, world, config)
    if is_noticed:
        world.rename_repository("octo/hello", "octo/moved")
        await run(tmp_path, world, config)
    take_over(world)
    noticing, _ = await run(tmp_path, world, config)

    after = await run(tmp_path, world, config)

    assert (noticing, after) == ([], ([], 0))
    places = await list_watched(tmp_path, world, config)
    assert [(row[1], row[3]) for row in places] == [("octo/moved", 3)]


@pytest.mark.parametrize(
    ("entry", "watched"),
    [
        pytest.param(
            f'{OLD}\nbranch = "fix"',
            ("octo/hello@fix", "octo/hello", "fix", 77),
            id="branch",
        ),
        pytest.param(
            f"{OLD}\npull_request = 77",
            ("octo/hello#77", "octo/hello", "", 77),
            id="pull request",
        ),
        pytest.param(ALL, ("octo/hello#77", "octo/hello", "", 77), id="all"),
        pytest.param(
            f'{OLD}\nauthor = "@me"',
            ("octo/hello#77", "octo/hello", "", 77),
            id="author",
        ),
    ],
)
async def test_a_new_entry_under_the_old_name_goes_to_the_stranger(
    tmp_path, world, entry, watched
):
    world.open_pull_request("octo/hello", branch="fix", number=3, author="octocat")
    await run(tmp_path, world, {"watches": (), "tasks": TASK})
    take_over(world)
    await run(tmp_path, world, {"watches": (), "tasks": TASK})
    config = {"watches": (entry,), "tasks": TASK}

    told, _ = await run(tmp_path, world, config)
    again = await run(tmp_path, world, config)

    assert (told, again) == ([(("associated", None, 77),)], ([], 0))
    assert await list_watched(tmp_path, world, config) == [
        ("T-1", "octo/moved", "fix", 3),
        watched,
    ]


async def test_an_edited_entry_resolves_anew(tmp_path, world):
    world.open_pull_request("octo/hello", branch="fix", number=3)
    mine = {"watches": (), "tasks": TASK}
    await run(tmp_path, world, mine)
    take_over(world)
    await run(tmp_path, world, mine)
    edited = {"watches": (), "tasks": TASK.replace("octo/hello", "octo/moved")}

    present = [await run(tmp_path, world, edited) for _ in range(2)]
    back = [await run(tmp_path, world, mine) for _ in range(2)]

    assert present == [([], 1), ([], 0)]
    assert (back[0][0], back[1]) == ([(("associated", None, 77),)], ([], 0))


async def test_both_names_of_one_repository_are_read_once(tmp_path, world):
    world.open_pull_request("octo/hello", branch="fix", number=3)
    world.rename_repository("octo/hello", "octo/moved")
    both = {"watches": (ALL, ALL.replace("octo/hello", "octo/moved"))}

    told, _ = await run(tmp_path, world, both)
    starts = [await run(tmp_path, world, both) for _ in range(2)]

    assert (told, starts) == (ASSOCIATED, [([], 0), ([], 0)])
