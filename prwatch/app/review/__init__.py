"""Finding pull requests that ask for review, and the tasks that are made of them."""
