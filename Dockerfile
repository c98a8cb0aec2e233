# A daemon of one vault, or a gateway: docs/install.md and docs/gateway.md say how to run them. No engine has built it yet.
FROM python:3.13-slim AS build
COPY . /source
RUN python -m venv /opt/indexer && /opt/indexer/bin/pip install --no-cache-dir "/source[milvus]"

FROM python:3.13-slim
RUN useradd --uid 1000 --create-home indexer \
    && install -d -o indexer -g indexer /vault /index /config
COPY --from=build /opt/indexer /opt/indexer
ENV PATH=/opt/indexer/bin:$PATH INDEXER_VAULT=/vault INDEXER_INDEX_DIR=/index
USER indexer
VOLUME /index
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 \
    CMD indexer status --json | grep -q '"running": true'
ENTRYPOINT ["indexer"]
CMD ["serve"]
