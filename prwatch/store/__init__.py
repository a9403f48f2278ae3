"""Everything that is kept: one SQL text for queries, two engines."""
