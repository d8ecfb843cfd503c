"""Views of a model as SVG and in notebooks."""
