"""Small things that know nothing of neurons."""
