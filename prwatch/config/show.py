"""Shows the effective values of a configuration, where each came from, no secrets."""

import json
import typing
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec

from prwatch.config.loader import LoadedConfig
from prwatch.config.problems import render_key
from prwatch.config.reader import find_form
from prwatch.config.toml_lines import KeyPath

_MASK = "***"


@dataclass(frozen=True, slots=True)
class ShownValue:
    """
    One key as people may see it.

    `value` is a JSON value: durations and sizes as they are written, paths
    absolute, None for nothing. `origin` is as in `LoadedConfig.origins`.
    """

    key: str
    value: object
    origin: str


def list_shown(loaded: LoadedConfig) -> tuple[ShownValue, ...]:
    """
    Return every effective value, in the order of the model.

    References to secrets are shown, since they are names. Of a webhook's address
    only the host is, and of a command only the program: people put secrets there.
    """
    return tuple(
        ShownValue(key, value, loaded.origins[key])
        for key, value in _list_values(loaded.config, ())
    )


def render_text(values: Sequence[ShownValue]) -> str:
    """Return one line a key: `poll.interval = "60s"  # default`, as a column."""
    left = [f"{shown.key} = {_render_value(shown.value)}" for shown in values]
    width = min(60, max(map(len, left), default=0))
    pairs = zip(left, values, strict=True)
    return "\n".join(f"{text:<{width}}  # {shown.origin}" for text, shown in pairs)


def render_json(values: Sequence[ShownValue]) -> str:
    """Return one JSON object: key to `{"value": …, "origin": …}`."""
    rows = {each.key: {"value": each.value, "origin": each.origin} for each in values}
    return json.dumps(rows, indent=2)


def _render_value(value: object) -> str:
    return "(none)" if value is None else json.dumps(value, ensure_ascii=False)


def _list_values(struct: msgspec.Struct, path: KeyPath) -> Iterator[tuple[str, object]]:
    for info in msgspec.structs.fields(type(struct)):
        value = getattr(struct, info.name)
        key = (*path, info.encode_name)
        if isinstance(value, msgspec.Struct):
            yield from _list_values(value, key)
        elif (
            isinstance(value, tuple) and value and isinstance(value[0], msgspec.Struct)
        ):
            for index, each in enumerate(value):
                yield from _list_values(each, (*key, index))
        else:
            yield render_key(key), _show(info.name, info.type, value)


def _show(name: str, annotation: object, value: object) -> object:
    if isinstance(value, tuple):
        element = typing.get_args(annotation)[0]
        shown = [_show(name, element, each) for each in value]
        return shown[:1] + [_MASK] * (len(shown) - 1) if name == "argv" else shown
    form = find_form(annotation)
    return form.show(value) if form is not None and value not in {"", None} else None
