"""The walk of one cycle: what is asked, observed and committed."""
