"""Gaussian neurons."""
