"""Rules for checkpoint savers, one module per operation."""
