"""Many vaults on a Milvus server: daemons publish them, and a gateway searches them for many users. See
README.md."""

from types import MappingProxyType

from vault_indexer.extensions import Extension, ExtensionCommand

EXTENSION = Extension(
    commands=(
        ExtensionCommand(
            "gateway", "vault_gateway.commands", "Search the vaults of many daemons for many users."
        ),
    ),
    tables=MappingProxyType({"milvus": "vault_gateway.tables:MilvusSettings"}),
    follower="vault_gateway.follower:PublishTask",
    take_over="vault_gateway.unpublish:take_over",
    routes="vault_gateway.keeper:ROUTES",
)
