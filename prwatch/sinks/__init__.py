"""Where events are delivered."""
