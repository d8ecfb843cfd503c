"""The learning rule: `reference` is its specification, `native` its compiled twin."""
