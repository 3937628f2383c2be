"""Comma-separated text: how it is written, and its cells."""
