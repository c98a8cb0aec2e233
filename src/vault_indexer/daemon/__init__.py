"""Keeping an index in step with its vault: for one command, or as a daemon for as long as it runs."""
