"""What polling spends: its load, the budget, and what is stretched to fit."""
