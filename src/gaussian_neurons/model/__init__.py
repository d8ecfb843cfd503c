"""State that learns, is saved and resumes."""
