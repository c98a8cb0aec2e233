"""From a query to a ranking: retrieve by meaning, word and link, fuse, weigh by age, explain."""
