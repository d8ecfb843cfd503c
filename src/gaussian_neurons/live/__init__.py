"""The web page that shows learning: a run in its own thread, and a server that sends its state."""
