"""What local git worktrees have checked out."""
