"""The method's decisions, as pure functions on counts."""
