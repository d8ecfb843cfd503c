"""What is checked before a release: `make release-check`."""
