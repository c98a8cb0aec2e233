"""deploy/ and compose.yaml: valid by Kubernetes' own schemas, in step with the program, and able to work."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from gateway_lab import Gateway, Team, User, administer
from waiting import DEADLINE_S, wait_until

from vault_gateway.access import digest_of
from vault_gateway.readiness import HEALTH_PATH, READY_PATH
from vault_gateway.settings import load_gateway
from vault_indexer.config.load import load
from vault_indexer.serve.http.metrics import METRICS_PATH

ROOT = Path(__file__).parents[2]
KUBERNETES = ROOT / "deploy" / "kubernetes"
COMPOSE = ROOT / "deploy" / "compose"
VERSIONS = ("1.29", "1.37")
CUSTOM = {"ServiceMonitor", "Kustomization"}
"""Kinds that Kubernetes itself does not have."""


def documents() -> Iterator[dict[str, Any]]:
    for file in sorted(KUBERNETES.glob("*.yaml")):
        yield from yaml.safe_load_all(file.read_text("utf-8"))


def resource(kind: str, name: str) -> dict[str, Any]:
    (found,) = [
        one for one in documents() if (one["kind"], one.get("metadata", {}).get("name")) == (kind, name)
    ]
    return found


def pod(kind: str, name: str) -> dict[str, Any]:
    found: dict[str, Any] = resource(kind, name)["spec"]["template"]
    return found


PODS = [("Deployment", "gateway"), ("StatefulSet", "keeper")]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_manifests_are_valid(version: str) -> None:
    validator = pytest.importorskip("kubernetes_validate", reason="the extra test-api is not installed")
    checked = [one["kind"] for one in documents() if one["kind"] not in CUSTOM]
    for one in documents():
        if one["kind"] not in CUSTOM:
            validator.validate(one, version, strict=True)
    assert {"Deployment", "StatefulSet", "Secret", "Service", "ConfigMap"} <= set(checked)


def test_kustomize_knows_each_file() -> None:
    listed = next(one for one in documents() if one["kind"] == "Kustomization")["resources"]
    assert {*listed, "kustomization.yaml"} == {file.name for file in KUBERNETES.glob("*.yaml")}


@pytest.mark.parametrize(("kind", "name"), PODS)
def test_a_pod_has_few_rights(kind: str, name: str) -> None:
    spec = pod(kind, name)["spec"]
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["automountServiceAccountToken"] is False
    (container,) = spec["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert "memory" in container["resources"]["limits"]


@pytest.mark.parametrize(("kind", "name"), PODS)
def test_what_a_pod_names_is_there(kind: str, name: str) -> None:
    whole = resource(kind, name)
    spec = pod(kind, name)["spec"]
    (container,) = spec["containers"]
    for variable in container["env"]:
        if "valueFrom" not in variable:
            continue
        reference = variable["valueFrom"]["secretKeyRef"]
        assert reference["key"] in resource("Secret", reference["name"])["stringData"]
    volumes = {one["name"] for one in spec["volumes"]}
    volumes |= {one["metadata"]["name"] for one in whole["spec"].get("volumeClaimTemplates", ())}
    assert {one["name"] for one in container["volumeMounts"]} == volumes
    labels = pod(kind, name)["metadata"]["labels"]
    assert whole["spec"]["selector"]["matchLabels"] == labels
    assert resource("Service", name)["spec"]["selector"] == labels
    paths = {one["mountPath"] for one in container["volumeMounts"]}
    assert Path(container["args"][-1]).parent.as_posix() in paths


def test_the_gateways_are_two_that_are_probed_and_drained(tmp_path: Path) -> None:
    spec = pod("Deployment", "gateway")["spec"]
    (container,) = spec["containers"]
    assert resource("Deployment", "gateway")["spec"]["replicas"] == 2
    assert container["livenessProbe"]["httpGet"] == {"path": HEALTH_PATH, "port": "http"}
    assert container["readinessProbe"]["httpGet"] == {"path": READY_PATH, "port": "http"}
    assert container["readinessProbe"]["timeoutSeconds"] > 2  # the gateway itself waits two
    file = tmp_path / "gateway.toml"
    file.write_text(resource("Secret", "gateway")["stringData"]["gateway.toml"])
    settings = load_gateway(file)
    paused = int(container["lifecycle"]["preStop"]["exec"]["command"][1])
    assert paused + settings.server.drain_s < spec["terminationGracePeriodSeconds"]
    assert container["ports"] == [{"name": "http", "containerPort": settings.server.port}]
    assert settings.milvus.token_env in {one["name"] for one in container["env"]}
    assert settings.oidc is not None
    monitor = resource("ServiceMonitor", "gateway")["spec"]
    service = resource("Service", "gateway")
    assert monitor["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    (endpoint,) = monitor["endpoints"]
    assert endpoint["port"] in {one["name"] for one in service["spec"]["ports"]}
    assert endpoint["path"] == METRICS_PATH
    credentials = endpoint["authorization"]["credentials"]
    assert credentials["key"] in resource("Secret", credentials["name"])["stringData"]
    assert any(user.metrics for user in settings.users)


def test_the_keeper_publishes(tmp_path: Path) -> None:
    file = tmp_path / "keeper.toml"
    file.write_text(resource("ConfigMap", "keeper")["data"]["keeper.toml"])
    settings = load(tmp_path, config_file=file, environ={}, options={}).settings
    assert settings.index.backend == "milvus"
    (container,) = pod("StatefulSet", "keeper")["spec"]["containers"]
    assert settings.table("milvus").token_env in {one["name"] for one in container["env"]}


def test_no_file_holds_a_token() -> None:
    for file in (*KUBERNETES.iterdir(), *COMPOSE.iterdir()):
        text = file.read_text("utf-8")
        for digest in re.findall(r"[0-9a-f]{64}", text):
            assert set(digest) == {"0"}
        assert not re.search(r"(?i)password|eyJ", text)


def test_compose_starts_milvus_a_keeper_and_a_gateway() -> None:
    whole = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
    team = {name: one for name, one in whole["services"].items() if "team" in one.get("profiles", ())}
    assert set(team) == {"milvus", "keeper", "gateway"}
    settings = load_gateway(COMPOSE / "gateway.toml")
    keeper = load(ROOT, config_file=COMPOSE / "keeper.toml", environ={}, options={}).settings
    assert settings.milvus.uri == keeper.table("milvus").uri == "http://milvus:19530"
    assert settings.milvus.collection_prefix == keeper.table("milvus").collection_prefix
    assert team["gateway"]["ports"] == [f"127.0.0.1:{settings.server.port}:{settings.server.port}"]
    assert int(team["gateway"]["stop_grace_period"].removesuffix("s")) > settings.server.drain_s
    for name in ("keeper", "gateway"):
        mounted = {volume.rpartition(":/")[2].split(":")[0] for volume in team[name]["volumes"]}
        folder = Path(team[name]["command"][-1]).parent.name
        assert any(one.startswith(folder) for one in mounted), (name, mounted)
        named = {volume.partition(":")[0] for volume in team[name]["volumes"]}
        assert {one for one in named if one.isalpha()} <= set(whole["volumes"])
    assert "[milvus]" in (ROOT / "Dockerfile").read_text("utf-8")


@pytest.mark.long
def test_the_files_of_compose_work_together(new_team: Callable[[], Team], tmp_path: Path) -> None:
    """As processes, with Milvus and ports of this test: no engine is needed."""
    team, config, vault = new_team(), tmp_path / "config", tmp_path / "vault"
    shutil.copytree(COMPOSE, config)
    vault.mkdir()
    (vault / "Bread.md").write_text("# Bread\n\nKnead the dough until it is smooth.\n")
    changes = {
        "http://milvus:19530": team.uri,
        'host = "0.0.0.0"': 'host = "127.0.0.1"',
        "port = 7610": "port = 0",
    }
    for file in config.iterdir():
        text = file.read_text()
        for old, new in changes.items():
            text = text.replace(old, new)
        file.write_text(text.replace("[milvus]\n", f'[milvus]\ncollection_prefix = "{team.prefix}"\n'))
    gateway_file = config / "gateway.toml"
    index = tmp_path / "index"
    environ = {**os.environ, "INDEXER_VAULT": str(vault), "INDEXER_INDEX_DIR": str(index)}
    program = [sys.executable, "-m", "vault_indexer.cli"]

    def said(*arguments: str) -> str:
        done = administer(gateway_file, *arguments)
        return done.stdout + done.stderr

    serve = [*program, "serve", "--config", str(config / "keeper.toml")]
    serve_gateway = [*program, "gateway", "--config", str(gateway_file)]
    with (
        subprocess.Popen(serve, env=environ, stderr=subprocess.DEVNULL) as keeper,
        subprocess.Popen(serve_gateway, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as gateway,
    ):
        try:
            assert gateway.stderr is not None
            port = int(gateway.stderr.readline().partition("http://127.0.0.1:")[2].partition(",")[0])
            wait_until(lambda: "compose/vault" in said("vaults"), "the vault is published")
            with gateway_file.open("a") as stream:
                stream.write(f'\n[[users]]\nname = "ana"\ntoken_sha256 = "{digest_of("token-of-ana")}"\n')
            assert "ana may read compose/vault" in said("grant", "ana", "compose/vault")
            one = Gateway(port, gateway, gateway_file)
            ana = User("ana", "token-of-ana", ())
            wait_until(lambda: one.search(ana, "dough").status == 200, "the user counts")
            wait_until(lambda: one.paths(ana, "dough") == ["Bread.md"], "the right counts")
        finally:
            for process in (keeper, gateway):
                process.terminate()
        audit, _ = gateway.communicate(timeout=DEADLINE_S)
        assert '"user": "ana"' in audit
