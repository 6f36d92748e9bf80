"""`typing.NamedTuple` without importing `typing` and without compiling code for each class.

This saves a command as much time as walking a thousand notes takes. A type checker sees
`typing.NamedTuple`.
"""

from __future__ import annotations

from _collections import _tuplegetter  # type: ignore[import-not-found]  # as namedtuple does

__all__ = ["NamedTuple"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NamedTuple
else:

    class _NamedTupleMeta(type):
        """A metaclass that turns the annotated names of a class into the fields of a tuple."""

        def __new__(meta, name: str, bases: tuple[type, ...], space: dict[str, Any]) -> type:
            fields = tuple(space.get("__annotations__", ()))
            space["_field_defaults"] = {f: space.pop(f) for f in fields if f in space}
            space |= {field: _tuplegetter(index, None) for index, field in enumerate(fields)}
            space["__slots__"] = ()
            space["_fields"] = space["__match_args__"] = fields
            return type.__new__(meta, name, bases, space)

    class NamedTuple(tuple, metaclass=_NamedTupleMeta):
        """The base class of named tuples."""

        def __new__(cls, *values: Any, **named: Any) -> NamedTuple:
            if named or len(values) != len(cls._fields):
                values = _all_values(cls, values, named)
            return tuple.__new__(cls, values)

        @classmethod
        def _make(cls, values: Any) -> NamedTuple:
            return cls(*values)

        def _replace(self, **named: Any) -> NamedTuple:
            return type(self)(**{**self._asdict(), **named})

        def _asdict(self) -> dict[str, Any]:
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self) -> str:
            fields = ", ".join(f"{name}={value!r}" for name, value in self._asdict().items())
            return f"{type(self).__name__}({fields})"

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)


def _all_values(cls: Any, values: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
    """Return the values of all fields from positional and named values and defaults."""
    fields, defaults = cls._fields, cls._field_defaults
    try:
        rest = [
            named.pop(name) if name in named else defaults[name] for name in fields[len(values) :]
        ]
    except KeyError as missing:
        raise TypeError(f"{cls.__name__} needs {missing}") from None
    if named or len(values) > len(fields):
        raise TypeError(f"{cls.__name__} takes {', '.join(fields)}, each once, and nothing else")
    return (*values, *rest)
