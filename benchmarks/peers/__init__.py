"""What a sample costs, beside what a user would pick instead: all systems in one run, turn by turn."""
