"""The learning rule: `reference` specifies it, `native` is its compiled twin, `backends` calls them."""
