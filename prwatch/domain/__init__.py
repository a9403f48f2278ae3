"""What is true, what changed and what to do: pure, standard library only."""
