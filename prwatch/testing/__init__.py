"""What other people's tests get: a GitHub of their own, and the product under load."""
