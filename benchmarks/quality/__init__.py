"""Quality of the clusters, compared with other libraries, when the number of clusters is unknown."""
