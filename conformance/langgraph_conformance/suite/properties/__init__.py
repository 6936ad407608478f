"""Properties: Hypothesis looks for what nobody listed, with the reference as the oracle."""
