"""From neurons to clusters."""
