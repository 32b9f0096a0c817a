"""What a job survives: faults done to real processes, and a soak under random kills."""
