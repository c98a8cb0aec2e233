"""The API: its endpoints, the functions that answer them, and the documents generated from both."""
