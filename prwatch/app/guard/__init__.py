"""What holds polling back: circuits, their notices, and who is admitted."""
