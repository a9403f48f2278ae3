"""Review tasks whose work is done go by themselves, and nothing else does."""
