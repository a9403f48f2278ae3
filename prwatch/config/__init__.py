"""The configuration: a file, the environment and flags, read once and checked whole."""

from prwatch.config.desired import list_desired
from prwatch.config.loader import LoadedConfig, load_config
from prwatch.config.model import Config
from prwatch.config.places import find_config, prepare_state_dir
from prwatch.config.secrets import SecretReference, SecretSource, read_secret

__all__ = [
    "Config",
    "LoadedConfig",
    "SecretReference",
    "SecretSource",
    "find_config",
    "list_desired",
    "load_config",
    "prepare_state_dir",
    "read_secret",
]
