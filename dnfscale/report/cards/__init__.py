"""The cards of a report's page, one module each."""
