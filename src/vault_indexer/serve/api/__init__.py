"""What the API is: its endpoints, the functions that answer them, and the documents made from both."""
