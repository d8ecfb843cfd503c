"""Time, memory and imports of this library and others, measured in turns in one run."""
