"""Writes pydantic.json: schemas as pydantic publishes them, and what pydantic says of values.

    pip install pydantic==2.14.3 email-validator jsonschema
    python test/unit/corpora/pydantic_corpus.py > test/unit/corpora/pydantic.json

Of each value it says whether pydantic accepts it, and whether the schema does, judged by python's jsonschema with formats as
annotations. What pydantic accepts and its own schema rejects are coercions that the schema keeps to itself ("5" for an int). What
pydantic writes for an accepted value is a value of its own.
"""

import json
import re
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from fractions import Fraction
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, NamedTuple, Optional, TypeVar, Union
from uuid import UUID

import pydantic
from jsonschema import Draft202012Validator
from pydantic import (
    AfterValidator, AnyUrl, AwareDatetime, Base64Bytes, Base64Str, BaseModel, BeforeValidator, ByteSize, ConfigDict, Discriminator,
    EmailStr, Field, FileUrl, FutureDate, HttpUrl, Json, JsonValue, NaiveDatetime, NonNegativeInt, PastDate, PositiveFloat,
    PostgresDsn, RootModel, Secret, SecretStr, StrictInt, StringConstraints, Tag, TypeAdapter, UUID4, WrapValidator, conlist, field_validator,
)
from typing_extensions import TypedDict


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Point(NamedTuple):
    x: int
    y: int = 0


class Movie(TypedDict, total=False):
    title: str
    year: int


@dataclass
class Box:
    width: float
    tags: list[str] = field(default_factory=list)


class Line(BaseModel):
    sku: Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^[A-Z]{3}-\d+$")]
    quantity: Annotated[int, Field(gt=0, le=1000)]
    price: Annotated[Decimal, Field(max_digits=8, decimal_places=2)]


class Order(BaseModel):
    model_config = ConfigDict(extra="forbid")

    id: UUID
    placed: datetime
    lines: list[Line] = Field(min_length=1)
    contact: Optional[EmailStr] = None
    discount: float = Field(0, ge=0, lt=1, multiple_of=0.01)
    color: Color = Color.RED
    alias: str = Field("x", alias="otherName", max_length=3)


class Node(BaseModel):
    name: str
    children: list["Node"] = []


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    name: Annotated[str, Field(pattern=r"^[Rr]ex.*$")]


class Trimmed(BaseModel):
    name: str

    @field_validator("name", mode="before")
    @classmethod
    def trim(cls, value: Any) -> Any:
        return value.strip() if isinstance(value, str) else value


class Loose(BaseModel):
    model_config = ConfigDict(extra="allow")
    a: int


class Strict(BaseModel):
    model_config = ConfigDict(strict=True)
    a: int
    at: datetime


T = TypeVar("T")


class Page(BaseModel, Generic[T]):
    items: list[T]
    next: Optional[str] = None


class Ids(RootModel[list[int]]):
    pass


DATETIMES = ['"2024-01-02T03:04:05"', '"2024-01-02T03:04:05Z"', '"2024-01-02 03:04:05.123456+02:00"', '"2024-01-02"', '"2024-01-02T03:04"', "1704164645", '"x"', "null"]

CASES: dict[str, tuple[Any, list[str]]] = {
    "str": (str, ['""', '"a"', '"\\u00a0"', '"😀"', "5", "null", "[]"]),
    "int": (int, ["0", "-5", "1.0", "9007199254740993", "123456789012345678901234567890", '"5"', "1.5", "true", '"x"', "null"]),
    "float": (float, ["0", "1.5", "1e300", "9007199254740993", '"1.5"', '"x"', "null"]),
    "bool": (bool, ["true", "false", '"yes"', "1", "5", "null"]),
    "none": (None, ["null", "0"]),
    "any": (Any, ["null", "1", '"a"', "{}"]),
    "bytes": (bytes, ['"abc"', '"é"', "5"]),
    "datetime": (datetime, DATETIMES),
    "datetime aware": (AwareDatetime, ['"2024-01-02T03:04:05Z"', '"2024-01-02T03:04:05+05:30"', '"x"', "{}"]),
    "datetime naive": (NaiveDatetime, ['"2024-01-02T03:04:05"', '"2024-01-02T03:04:05.5"', "{}"]),
    "date": (date, ['"2024-01-02"', '"2024-01-02T00:00:00"', "0", "{}"]),
    "date past": (PastDate, ['"2000-01-01"', "[]"]),
    "date future": (FutureDate, ['"2999-01-01"', "[]"]),
    "time": (time, ['"03:04:05"', '"03:04"', '"03:04:05.123"', '"03:04:05Z"', '"03:04:05+01:00"', "{}"]),
    "timedelta": (timedelta, ['"PT1.5S"', '"-P1D"', '"P1DT2H"', '"1 days, 02:00:00"', '"PT0S"', '"P3W"', "5", "{}"]),
    "uuid": (UUID, ['"0197f9d2-6c1e-7b3a-9c4d-5e6f708192a3"', '"0197f9d26c1e7b3a9c4d5e6f708192a3"', '"{0197f9d2-6c1e-7b3a-9c4d-5e6f708192a3}"', '"urn:uuid:0197f9d2-6c1e-7b3a-9c4d-5e6f708192a3"', "5"]),
    "uuid4": (UUID4, ['"3f2504e0-4f89-41d3-9a0c-0305e82c3301"', "5"]),
    "decimal": (Decimal, ["1", "1.5", '"1.50"', '"-0.001"', '"1e5"', '"NaN"', "1e400", "0.12345678901234567890123", "{}"]),
    "decimal digits": (Annotated[Decimal, Field(max_digits=5, decimal_places=2)], ['"123.45"', "123.45", "0.1", '"x"', "{}"]),
    "decimal bounds": (Annotated[Decimal, Field(ge=0, lt=Decimal("100.5"))], ["0", "100.4", '"100.4"', "100.5", "-1", "{}"]),
    "decimal big": (Annotated[Decimal, Field(le=Decimal("9223372036854775807"))], ["9223372036854775807", "9223372036854775806", "9223372036854775809000"]),
    "fraction": (Fraction, ['"1/3"', "5"]),
    "email": (EmailStr, ['"ada@example.com"', '"josé@example.com"', '"ada@exämple.com"', '"a+b@example.co.uk"', "5"]),
    "url http": (HttpUrl, ['"https://example.com/münchen"', '"https://example.com/a b"', '"http://例え.jp/?q={x}"', '"HTTP://EXAMPLE.com"', "5"]),
    "url any": (AnyUrl, ['"mailto:ada@example.com"', '"https://x.y/100%"', "5"]),
    "url file": (FileUrl, ['"file:///etc/hosts"', "5"]),
    "url postgres": (PostgresDsn, ['"postgres://user:pass@localhost:5432/db"', "5"]),
    "ipv4": (IPv4Address, ['"127.0.0.1"', "2130706433", "{}"]),
    "ipv6": (IPv6Address, ['"::1"', '"::ffff:1.2.3.4"', '"fe80::1%eth0"', "{}"]),
    "network v4": (IPv4Network, ['"10.0.0.0/8"', "{}"]),
    "network v6": (IPv6Network, ['"::/0"', "{}"]),
    "path": (Path, ['"/etc/hosts"', '"a b"', "5"]),
    "bytes base64": (Base64Bytes, ['"YQ=="', '"YWJj\\n"', "5"]),
    "text base64": (Base64Str, ['"YQ=="', "5"]),
    "byte size": (ByteSize, ["5", '"5 MiB"', '"1.5kb"', "{}"]),
    "secret": (SecretStr, ['"s"', "5"]),
    "secret int": (Secret[int], ["5", "{}"]),
    "json": (Json, ['"{\\"a\\": 1}"', "5"]),
    "json value": (JsonValue, ["1", '[{"a": null}]']),
    "enum": (Color, ['"red"', '"green"', "5"]),
    "enum int": (Level, ["1", '"2"', "3", "{}"]),
    "literal": (Literal["a", 5, None, True], ['"a"', "5", "null", "true", '"b"', "{}"]),
    "text min": (Annotated[str, Field(min_length=2)], ['"ab"', '"a"', '"😀😀"', "5"]),
    "text max": (Annotated[str, Field(max_length=2)], ['"ab"', '"😀😀"', '"abc"']),
    "text pattern": (Annotated[str, Field(pattern=r"^[a-z\s]+$")], ['"a b"', '"a\\u00a0b"', '"A"', "5"]),
    "text pattern not anchored": (Annotated[str, Field(pattern=r"\d{2}")], ['"a12"', '"a1"']),
    "text pattern of rust": (Annotated[str, Field(pattern=r"(?i)^abc$")], ['"ABC"', '"abd"']),
    "text pattern dot": (Annotated[str, Field(pattern=r"^a.b$")], ['"a\\rb"', '"a\\u2028b"', '"a😀b"', '"ab"']),
    "text pattern script": (Annotated[str, Field(pattern=r"^\p{Greek}+$")], ['"αβ"']),
    "text stripped": (Annotated[str, StringConstraints(strip_whitespace=True)], ['"  a  "', "5"]),
    "text lowered": (Annotated[str, StringConstraints(to_lower=True, pattern="^[a-z]+$")], ['"abc"', "5"]),
    "int bounds": (Annotated[int, Field(ge=0, lt=2**63)], ["0", "9223372036854775807", "9223372036854775808", "-1"]),
    "int beyond": (Annotated[int, Field(gt=-(2**64), le=2**64)], ["18446744073709551616", "18446744073709551617", "-18446744073709551615", "-18446744073709551616"]),
    "int multiple": (Annotated[int, Field(multiple_of=5)], ["10", "100000000000000000000", "7"]),
    "int strict": (StrictInt, ["5", '"5"', "5.5"]),
    "int non-negative": (NonNegativeInt, ["0", "-1"]),
    "float bounds": (Annotated[float, Field(gt=0, le=1)], ["1", "5e-324", "0", "1.1"]),
    "float positive": (PositiveFloat, ["0.5", "0"]),
    "float multiple": (Annotated[float, Field(multiple_of=0.01)], ["0.3", "0.30000000000000004", "0.300000000001", "19.99", "1e15", "0.071"]),
    "float infinite": (Annotated[float, Field(allow_inf_nan=True)], ["1", '"inf"', "1e400"]),
    "list": (list[int], ["[]", "[1, 2]", '["1"]', '["x"]', "{}"]),
    "list bounds": (conlist(int, min_length=1, max_length=2), ["[1]", "[]", "[1, 2, 3]"]),
    "tuple": (tuple[int, str], ['[1, "a"]', "[1]", '[1, "a", 2]', "{}"]),
    "tuple open": (tuple[int, ...], ["[]", "[1, 2]", '["x"]']),
    "set": (set[int], ["[1, 2]", "[1, 1]", "{}"]),
    "frozenset": (frozenset[str], ['["a", "b"]', "[5]"]),
    "dict": (dict[str, int], ["{}", '{"a": 1}', '{"a": "x"}', "[]"]),
    "dict of datetimes": (dict[datetime, int], ['{"2024-01-02T03:04:05": 1}', '{"2024-01-02": 1}', '{"x": 1}', "[]"]),
    "dict of uuids": (dict[UUID, str], ['{"0197f9d26c1e7b3a9c4d5e6f708192a3": "a"}', "[]"]),
    "dict of ints": (dict[int, str], ['{"5": "a"}', "[]"]),
    "dict of patterns": (dict[Annotated[str, Field(pattern="^x-")], int], ['{"x-a": 1}', '{"x-a": "b"}', "[]"]),
    "dict of enums": (dict[Color, int], ['{"red": 1}', '{"green": 1}']),
    "optional": (Optional[int], ["null", "5", '"x"']),
    "union": (Union[int, str], ["5", '"5"', "null"]),
    "union of models": (Union[Cat, Dog], ['{"kind": "cat"}', '{"kind": "dog", "name": "Rex"}', '{"kind": "cow"}']),
    "union discriminated": (Annotated[Union[Cat, Dog], Field(discriminator="kind")], ['{"kind": "cat", "lives": 1}', '{"kind": "dog", "name": "rex 2"}', '{"kind": "dog"}', "{}"]),
    "union by function": (
        Annotated[Union[Annotated[Cat, Tag("cat")], Annotated[int, Tag("int")]], Discriminator(lambda it: "int" if isinstance(it, int) else "cat")],
        ["5", '{"kind": "cat"}', '"x"'],
    ),
    "named tuple": (Point, ["[1]", "[1, 2]", '["x"]']),
    "typed dict": (Movie, ["{}", '{"title": "a"}', '{"title": 5}', "[]"]),
    "dataclass": (Box, ['{"width": 1}', '{"width": 1, "tags": ["a"]}', "{}", '{"width": "x"}']),
    "model": (Line, ['{"sku": "ABC-1", "quantity": 1, "price": "9.99"}', '{"sku": "ABC-1", "quantity": 1, "price": 9.99}', '{"sku": " ABC-1 ", "quantity": 1, "price": 1}', '{"sku": "ABC-1"}', "[]"]),
    "model of models": (
        Order,
        [
            '{"id": "0197f9d26c1e7b3a9c4d5e6f708192a3", "placed": "2024-01-02T03:04:05", "lines": [{"sku": "ABC-1", "quantity": 2, "price": "1.10"}], "contact": "josé@example.com", "discount": 0.07, "otherName": "abc"}',
            '{"id": "0197f9d2-6c1e-7b3a-9c4d-5e6f708192a3", "placed": "2024-01-02", "lines": [{"sku": "ABC-1", "quantity": 2, "price": 1}]}',
            '{"id": "0197f9d2-6c1e-7b3a-9c4d-5e6f708192a3", "placed": "2024-01-02", "lines": []}',
            '{"placed": "2024-01-02", "lines": [{"sku": "ABC-1", "quantity": 2, "price": 1}]}',
            '{"id": "0197f9d2-6c1e-7b3a-9c4d-5e6f708192a3", "placed": "2024-01-02", "lines": [{"sku": "ABC-1", "quantity": 2, "price": 1}], "more": 1}',
        ],
    ),
    "model recursive": (Node, ['{"name": "a", "children": [{"name": "b"}]}', '{"name": "a", "children": [{}]}']),
    "model trimming": (Trimmed, ['{"name": " a "}', '{"name": 5}', "{}"]),
    "model open": (Loose, ['{"a": 1, "b": 2}', "{}"]),
    "model strict": (Strict, ['{"a": 1, "at": "2024-01-02T03:04:05"}', '{"a": "1", "at": "2024-01-02"}', "{}"]),
    "model generic": (Page[Line], ['{"items": [{"sku": "ABC-1", "quantity": 1, "price": 1}]}', '{"items": [{}]}', "{}"]),
    "model root": (Ids, ["[1]", '["x"]', "{}"]),
    "validated before": (Annotated[int, BeforeValidator(lambda it: it)], ["5", '"5"', "{}"]),
    "validated after": (Annotated[int, AfterValidator(lambda it: it)], ["5", "{}"]),
    "validated around": (Annotated[int, WrapValidator(lambda it, handler: handler(it))], ["5", "{}"]),
    "nested": (dict[str, list[Optional[datetime]]], ['{"a": [null, "2024-01-02T03:04:05"]}', '{"a": [{}]}', '{"a": null}']),
}


def accepts(adapter: TypeAdapter, text: str) -> bool:
    try:
        adapter.validate_json(text)
        return True
    except pydantic.ValidationError:
        return False


def fits(schema: dict, text: str) -> bool:
    try:
        return Draft202012Validator(schema).is_valid(json.loads(text))
    except (re.error, OverflowError):
        # A pattern that only pydantic's own engine knows, a number that only JSON has.
        return True


def values(adapter: TypeAdapter, schema: dict, texts: list[str]):
    written = [adapter.dump_json(adapter.validate_json(text)).decode() for text in texts if accepts(adapter, text)]
    for text in dict.fromkeys([*texts, *written]):
        yield {"json": text, "accepted": accepts(adapter, text), "fits": fits(schema, text)}


def case(name: str, of: Any, texts: list[str]) -> dict:
    adapter = TypeAdapter(of)
    schema = adapter.json_schema(mode="validation")
    return {"name": name, "schema": json.dumps(schema, ensure_ascii=False), "values": list(values(adapter, schema, texts))}


cases = [case(name, of, texts) for name, (of, texts) in CASES.items()]
print(json.dumps({"pydantic": pydantic.VERSION, "cases": cases}, ensure_ascii=False, indent=2))
