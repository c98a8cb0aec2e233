"""Types of the JSON answers, written by `make api-types`."""
