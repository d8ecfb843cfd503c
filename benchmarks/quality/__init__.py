"""How good the clusters are that are found without being told how many, beside other libraries."""
