"""The report of a reproduction: numbers over the seeds, a page, a document."""
