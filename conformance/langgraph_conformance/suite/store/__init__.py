"""Rules for stores, one module per operation."""
