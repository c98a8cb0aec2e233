"""What a daemon on a large vault lives through: the parts of `reliability_large.py`."""
