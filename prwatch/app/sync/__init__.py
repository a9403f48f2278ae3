"""The use cases of watch files: what is watched, as folders of repositories say it."""
