"""From a change of the vault to a state of the index: plan, prepare in workers, commit, follow."""
