"""The use cases behind single commands, one a file."""
