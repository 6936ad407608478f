"""Faulty backends: each has one fault, which the suite must catch."""
