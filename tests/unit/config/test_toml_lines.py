import json
import tomllib

from hypothesis import given
from hypothesis import strategies as st

from prwatch.config.toml_lines import get_line, locate_keys, locate_places

DOCUMENT = '''# a comment with key = "value"
plain = 1
dotted . "quo ted".'single' = 2
text = """
[not.a.header]
key = "not a key" \\""" still
""""
literal = \'\'\'
[[nor.this]]\'\'\'
time = 1979-05-27 07:32:00
[table] # trailing
array = [
  1,
  # [comment]
  { inner = "}", deep = { x = [ "]", 2 ] } },
]
[[list]]
name = "a"
[[list.sub]]
key = 1
[[list.sub]]
key = 2
[list.table]
key = 3
[[list]]
name = "b"
sub = [{ key = 4 },
       { key = 5 }]
'''


def test_every_kind_of_key_is_found_where_it_stands():
    tomllib.loads(DOCUMENT)

    assert locate_keys(DOCUMENT) == {
        ("plain",): 2,
        ("dotted",): 3,
        ("dotted", "quo ted"): 3,
        ("dotted", "quo ted", "single"): 3,
        ("text",): 4,
        ("literal",): 8,
        ("time",): 10,
        ("table",): 11,
        ("table", "array"): 12,
        ("table", "array", 0): 13,
        ("table", "array", 1): 15,
        ("table", "array", 1, "inner"): 15,
        ("table", "array", 1, "deep"): 15,
        ("table", "array", 1, "deep", "x"): 15,
        ("table", "array", 1, "deep", "x", 0): 15,
        ("table", "array", 1, "deep", "x", 1): 15,
        ("list",): 17,
        ("list", 0): 17,
        ("list", 0, "name"): 18,
        ("list", 0, "sub"): 19,
        ("list", 0, "sub", 0): 19,
        ("list", 0, "sub", 0, "key"): 20,
        ("list", 0, "sub", 1): 21,
        ("list", 0, "sub", 1, "key"): 22,
        ("list", 0, "table"): 23,
        ("list", 0, "table", "key"): 24,
        ("list", 1): 25,
        ("list", 1, "name"): 26,
        ("list", 1, "sub"): 27,
        ("list", 1, "sub", 0): 27,
        ("list", 1, "sub", 0, "key"): 27,
        ("list", 1, "sub", 1): 28,
        ("list", 1, "sub", 1, "key"): 28,
    }


def test_a_key_that_is_not_there_stands_at_the_table_around_it():
    lines = locate_keys("[a]\n[a.b]\nc = 1\n")

    assert get_line(lines, ("a", "b", "missing")) == 2


def test_a_key_without_a_table_around_it_stands_on_the_first_line():
    assert get_line({}, ("missing",)) == 1


KEYS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x7f"), max_size=5
)
LEAVES = st.one_of(
    st.just(0),
    st.text(st.sampled_from("[]{}#=,\"'\\\n a."), max_size=8),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)
    ),
    max_leaves=8,
)


class Writer:
    """Writes TOML and remembers the line of each key: the other way round."""

    def __init__(self):
        self.text = ""
        self.lines = {}

    def put(self, text):
        self.text += text

    def mark(self, path):
        self.lines.setdefault(path, self.text.count("\n") + 1)

    def put_key(self, path, key):
        self.mark((*path, key))
        self.put(f"{json.dumps(key, ensure_ascii=False)} = ")

    def put_value(self, path, value):
        if isinstance(value, dict):
            self.put("{ ")
            for index, (key, each) in enumerate(value.items()):
                self.put(", " if index else "")
                self.put_key(path, key)
                self.put_value((*path, key), each)
            self.put(" }")
        elif isinstance(value, list):
            self.put("[ # ] }\n")
            for index, each in enumerate(value):
                self.mark((*path, index))
                self.put_value((*path, index), each)
                self.put(",\n\n")
            self.put("]")
        else:
            self.put(json.dumps(value))

    def put_pairs(self, path, table):
        for key, value in table.items():
            self.put_key(path, key)
            self.put_value((*path, key), value)
            self.put(" # 'comment\n")


@given(
    st.dictionaries(KEYS, VALUES, max_size=4),
    st.dictionaries(KEYS, VALUES, max_size=3),
    st.lists(st.dictionaries(KEYS, VALUES, max_size=3), max_size=3),
)
def test_what_was_written_is_found_on_the_line_it_was_written_on(top, table, elements):
    top = {f"top {key}": value for key, value in top.items()}
    writer = Writer()
    writer.put_pairs((), top)
    writer.mark(("table",))
    writer.put("[table]\n")
    writer.put_pairs(("table",), table)
    for index, element in enumerate(elements):
        writer.mark(("list",))
        writer.mark(("list", index))
        writer.put("[[list]]\n")
        writer.put_pairs(("list", index), element)
    tomllib.loads(writer.text)

    assert locate_keys(writer.text) == writer.lines


def test_the_column_of_a_key_is_that_of_its_first_character():
    text = "a = 1\n  b = {c = 2}\n[[t]]\n\td = [3, 4]\n"

    assert locate_places(text).columns == {
        ("a",): 1,
        ("b",): 3,
        ("b", "c"): 8,
        ("t",): 1,
        ("t", 0): 1,
        ("t", 0, "d"): 2,
        ("t", 0, "d", 0): 7,
        ("t", 0, "d", 1): 10,
    }
