"""Turns raw TOML values into the structs of the model and notes all that is wrong."""

import functools
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
from msgspec.structs import FieldInfo

from prwatch.config.forms import Form
from prwatch.config.inline_secrets import REASON, SECRET_KEYS
from prwatch.config.problems import Problems, describe, suggest
from prwatch.config.toml_lines import KeyPath

S = TypeVar("S", bound=msgspec.Struct)


def read_struct(
    kind: type[S], table: Mapping[str, Any], path: KeyPath, problems: Problems
) -> S:
    """
    Return the struct that the table describes.

    A value that cannot be read is noted and stands as its default, or as an empty
    value when it has none, so that the rest can be checked as well.
    """
    known = _list_keys(kind)
    for key in table:
        if key not in known:
            problems.add((*path, key), _explain_unknown(key, known))
    values = {}
    for key, info in known.items():
        if key in table:
            values[info.name] = _read_value(
                info.type, table[key], (*path, key), problems
            )
        elif info.required:
            problems.add((*path, key), f"is missing; it is {_describe_type(info.type)}")
            values[info.name] = _Refused
    return kind(
        **{
            info.name: _build_default(info)
            if values.get(info.name, _Refused) is _Refused
            else values[info.name]
            for info in known.values()
        }
    )


@functools.cache
def _list_keys(kind: type[msgspec.Struct]) -> Mapping[str, FieldInfo]:
    # Kept: a configuration may have thousands of entries.
    return {info.encode_name: info for info in msgspec.structs.fields(kind)}


class _Refused:
    """Stands for a value that could not be read."""


def find_form(annotation: object) -> Form | None:
    """Return the form that is written into a key's type, or None for several values."""
    for extra in typing.get_args(annotation)[1:]:
        if isinstance(extra, Form):
            return extra
    return None


def _read_value(
    annotation: object, value: object, path: KeyPath, problems: Problems
) -> object:
    form = find_form(annotation)
    if form is not None:
        return _read_single(form, value, path, problems)
    kind = _find_struct(annotation)
    if kind is not None:
        if isinstance(value, dict):
            return read_struct(kind, value, path, problems)
        problems.add(path, f"found {describe(value)}; allowed is a table")
        return _Refused
    element = typing.get_args(annotation)[0]
    if not isinstance(value, list):
        problems.add(path, f"found {describe(value)}; allowed is an array")
        return _Refused
    read = [
        _read_value(element, each, (*path, index), problems)
        for index, each in enumerate(value)
    ]
    return tuple(each for each in read if each is not _Refused)


def _find_struct(annotation: object) -> type[msgspec.Struct] | None:
    """Return the struct of a table, which may be one that can be left out."""
    is_union = isinstance(annotation, types.UnionType)
    kind: object = typing.get_args(annotation)[0] if is_union else annotation
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return kind
    return None


def _read_single(
    form: Form, value: object, path: KeyPath, problems: Problems
) -> object:
    try:
        return form.read(value)
    except ValueError as error:
        found = describe(value, is_quotable=form.is_quotable)
        allowed = str(error) or form.allowed
        text = f"found {found}; allowed is {allowed}"
        if form.words and isinstance(value, str):
            nearest = suggest(value, form.words)
            text += f"; {nearest}" if nearest.endswith("?") else ""
        problems.add(path, text)
        return _Refused


def _explain_unknown(key: str, known: Mapping[str, FieldInfo]) -> str:
    if key.lower() in SECRET_KEYS:
        stems = [name for name in known if name.startswith(f"{key.lower()}_")]
        instead = f": {', '.join(stems)}" if stems else ""
        return f"is refused: {REASON}{instead}"
    return f"is not a key here; {suggest(key, known)}"


def _describe_type(annotation: object) -> str:
    form = find_form(annotation)
    return form.allowed if form is not None else "an array"


def _build_default(info: FieldInfo) -> object:
    if info.default is not msgspec.NODEFAULT:
        return info.default
    return () if typing.get_origin(info.type) is tuple else ""
