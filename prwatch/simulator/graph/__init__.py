"""GraphQL answers of the simulated GitHub."""
