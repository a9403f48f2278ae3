import subprocess
import sys


def test_reading_a_configuration_loads_no_network_library():
    program = (
        "import sys, prwatch.config, prwatch.config.show\n"
        "prwatch.config.load_config(None, environ={'HOME': '/'})\n"
        "heavy = {'httpx', 'gql', 'anyio', 'structlog', 'sqlite3', 'asyncio'}\n"
        "print(sorted(heavy & sys.modules.keys()))\n"
    )

    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert result.stdout == "[]\n"
