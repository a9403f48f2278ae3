"""What GitHub says: asking cheaply, judging every answer, one normalised reading."""
