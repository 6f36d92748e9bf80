"""Inputs that have made parsers hang, overflow the stack or eat the memory, and a run of them.

`python worst.py GROUP` puts every input of a group through every parser, in 512 MB.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

SIZE = 200_000
ROWS = 5_000  # MEMORY.md may have 20,000 and is then still read by entries

UNITS = {
    "code": [
        "` ",
        "``` ",
        "```\n",
        "` `` ``` ",
        "````a\n```\n",
        "~~~ ",
        "- ```\n",
        "    ```\n",
        "> ```\n",
    ],
    "code2": [
        "- ```\n  a\n",
        "> ```\na\n",
        "`\\`",
        "a`\n",
        "`" * 3_000 + " ",
        "\t```\n",
        "- > ```\n",
    ],
    "comments": [
        "%% ",
        "%%",
        "%%\n",
        "%%a%% ",
        "%% ` ",
        "a %%b\n",
        "%%a%%\n- b %%c%%\n",
        " %%",
        "%%\n\n",
    ],
    "links": [
        "[[",
        "](",
        "](<",
        "[[a",
        "[a](b)",
        "[[a]]",
        "![[a]]",
        "](b)](",
        "[a](<b>",
        "]("[::-1],
    ],
    "tags": ["#", "#\n", "#a ", " #", "# a\n", "#/", "###### a\n", "(#a", "#\u00e9 "],
    "fields": [
        "[a:: ",
        "(a:: [[",
        "[a:: b]",
        "(a:: (b)",
        "[a:: [[b]]",
        "(a ",
        "[a ",
        "::",
        "[a::b] (c::d) ",
    ],
    "blocks": [
        "*",
        "|a",
        "|-",
        "[",
        "<a\n",
        "<!-- ",
        "a\n=\n",
        "$$ ",
        "$$\n",
        "$$a$$\n",
        "- a\r\r- b\r",
        "^a ",
    ],
    "text": [
        "word ",
        "\u6570\u636e\u5e93",
        " ",
        "\t",
        "\n",
        "\r",
        "\r\n",
        "\u2028",
        "x",
        "\U0001f9e0",
        "e\u0301",
    ],
    "quotes": ["> ", ">", "- > ", "- ", "1. ", "* * ", "+ - ", "  - "],
}
LINES = {
    "lists": [
        "- a\n",
        "* a\n+ b\n",
        "1. a\n\n   1. b\n\n",
        "\t- a\n",
        "- a ^x\n",
        "- a\n\n\n",
        "- a [[b]] #c [d:: e]\n",
    ],
    "tables": [
        "> a\n",
        "> - > - a\n",
        "|a|b|\n",
        "|-|-|\n",
        "[x]: y\n",
        "[a\n",
        "<div>\n\n",
        "$$\n",
        "a\n",
        "- \u00e9\n",
    ],
}


def inputs(group: str) -> Iterator[str]:
    if group in UNITS:
        yield from (unit * (SIZE // len(unit)) for unit in UNITS[group])
    elif group in LINES:
        yield from (unit * (ROWS // unit.count("\n")) for unit in LINES[group])
    else:
        yield from {"nested": nested, "properties": properties}[group]()


def nested() -> Iterator[str]:
    yield "".join(" " * (2 * depth) + "- a\n" for depth in range(300))
    yield "".join("\t" * (row % 20) + "- a\n" for row in range(ROWS))
    yield "".join("> " * (row % 25) + "a\n" for row in range(ROWS))
    yield "".join(f"[x{row}]: y\n" for row in range(ROWS))
    yield "|a|b|\n|-|-|\n" + "|a|b|\n" * ROWS
    yield "- a\n" + "  b c d\n" * ROWS
    yield "a %%" + "b\n" * ROWS
    yield "(a:: x" + "(b)" * 90_000
    yield "](x" + "](b)" * 70_000
    yield "- a" + " " * SIZE + "%%b%%" + " " * SIZE + "c"
    yield "`" + "".join("`" * length + " " for length in range(700))
    yield "[a](b)" * 160_000  # counting lines from the start for each took a minute
    yield "[a:: b]" * 140_000
    yield "same\n\n" * (ROWS // 2)
    yield "- same ^id\n" * ROWS


def properties() -> Iterator[str]:
    bomb = "a0: &a0 {x: y}\n" + "".join(
        f"a{i}: &a{i}\n  <<: [*a{i - 1}, *a{i - 1}]\n" for i in range(1, 40)
    )
    laughs = 'a0: &a0 ["x"]\n' + "".join(
        f"a{i}: &a{i} [{f'*a{i - 1}, ' * 9}]\n" for i in range(1, 12)
    )
    for block in (
        *(bomb, laughs, "a: " + "[" * 100_000, "a: " + "{a: " * 50_000, "a: " + "[" * 31_000),
        *(
            "# " + "]" * 30_000 + "\na: " + "[" * 30_000,
            "? " * 30_000,
            "- ? " * 15_000,
            "- " * 30_000,
        ),
        *("-\t" * 30_000, "? - " * 15_000, "".join(" " * i + f"k{i}:\n" for i in range(350))),
        *(
            "".join("- " * 30 + "\n" + " " * i for i in range(300)),
            "a: b\n" * (SIZE // 5),
            "a: 'b'\n" * 9_000,
        ),
        *(
            "".join(f"k{i}: v\n" for i in range(30_000)),
            "a: |\n" + "  x\n" * 15_000,
            'a: "' + "x\n" * 30_000,
        ),
        *(
            "a: " + "x" * SIZE,
            "x" * 60_000 + ": y",
            "a:\n" + "- b\n" * 70_000,
            "!!python/object:os.system x",
        ),
        *(
            "a: " + "x: " * 20_000,
            "[" * 39 + "]" * 39 + " *a",
            "*a " * 20_000,
            "a: " + '"' * 60_000,
            "\t" * 60_000,
        ),
        *(
            "a: !!int 1\n" * 5_000,
            "\u2028" * 60_000,
            "a: " + "'" * 60_001,
            "a: >\n" + " \n" * 30_000,
            "%TAG ! x\n" * 6_000,
        ),
    ):
        yield f"---\n{block}\n---\n- body\n"
    yield "---\n" * (SIZE // 4)
    yield "---\n" + "a: b\n" * (SIZE // 5)
    yield "---\n" + " " * SIZE


GROUPS = [*UNITS, *LINES, "nested", "properties"]


def main(group: str) -> None:
    import faulthandler
    import resource

    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (512 << 20, 512 << 20))
    from brain.formats import memory_md, note_md, records_json, session_jsonl

    for text in inputs(group):
        print(repr(text[:60]), flush=True)
        data = text.encode()
        memory_md.parse(data)
        note_md.parse(data)
        records_json.parse("items", data)
        records_json.parse("tasks", data)
        some = data[:20_000]  # AGENT.md is read as a note, sessions line by line
        note_md.parse_agent(some)
        session_jsonl.parse(some, "s")
        session_jsonl.parse_index(some)


if __name__ == "__main__":
    main(sys.argv[1])
