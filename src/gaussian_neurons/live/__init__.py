"""The page that shows learning as it happens: a run in a thread of its own, and a server that tells of it."""
