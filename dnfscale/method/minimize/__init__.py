"""The shortest formula that answers every type as it must be answered."""
