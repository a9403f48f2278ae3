"""Keeps the text of strangers from steering a terminal."""


def escape_controls(text: str) -> str:
    """
    Return the text with everything written out that cannot be seen; line breaks stay.

    So an escape sequence in a title is read by people and moves no cursor.
    """
    return "".join(
        char if char.isprintable() or char == "\n" else repr(char)[1:-1]
        for char in text
    )
