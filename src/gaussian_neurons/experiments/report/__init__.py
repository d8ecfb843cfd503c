"""What came out of a reproduction, for people: numbers over the seeds, a page, a document."""
