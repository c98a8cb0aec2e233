"""The gateway: answers searches over the vaults of many keepers from Milvus. It opens no catalog and no
vault, and keeps nothing."""
