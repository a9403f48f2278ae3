"""Tests of prwatch."""
