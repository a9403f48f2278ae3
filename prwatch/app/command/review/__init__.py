"""What the commands about reviews do."""
