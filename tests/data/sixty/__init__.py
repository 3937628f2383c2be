"""Sixty tables as people have them, each with what is right to find in it.

``python -m tests.data.sixty`` opens them all, and prints for each whether it was read rightly, or refused with a
message that names every column concerned and an option that then works.
"""
