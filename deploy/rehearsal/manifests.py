"""Prints the Kubernetes manifests as `podman kube play` takes them, with hosts for services."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import yaml

PORT = 8765
PARTS = ("settings", "postgres", "server", "worker")
FOR_REHEARSAL = {"CITEWELL_WEB_ALLOWED_PRIVATE_HOSTS": "site:8000", "CITEWELL_MCP_TOOLSETS": "all"}


def adapt(manifest: dict[str, Any], addresses: dict[str, str]) -> list[dict[str, Any]]:
    """Return what podman can run of a manifest; the pods stay as they are.

    Podman has no services, so the pods find `addresses` in their hosts file. Its name server
    (aardvark-dns 1.4) would do too, but it loses questions while containers come and go: a plain
    getaddrinfo then takes up to 20 seconds, as long as a page may take to arrive.
    """
    if manifest["kind"] == "ConfigMap":
        manifest["data"].update(FOR_REHEARSAL)
        return [manifest]
    if manifest["kind"] not in {"Deployment", "StatefulSet"}:
        return []
    metadata, pod = manifest["metadata"], manifest["spec"]["template"]["spec"]
    metadata["name"] = metadata["name"].replace("citewell", "rehearsal")
    pod["hostAliases"] = [
        {"ip": address, "hostnames": [name]} for name, address in addresses.items()
    ]
    claims = manifest["spec"].pop("volumeClaimTemplates", [])
    for claim in claims:
        name, named = claim["metadata"]["name"], f"rehearsal-pods-{claim['metadata']['name']}"
        claim |= {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": named}}
        pod["volumes"].append({"name": name, "persistentVolumeClaim": {"claimName": named}})
    for container in pod["containers"]:
        # A port that is named would be opened on the machine, and by the first replica only.
        container.pop("ports", None)
        for key in [key for key in container if key.endswith("Probe")]:
            container[key].get("httpGet", {})["port"] = PORT
    return [*claims, {**manifest, "kind": "Deployment"}]


def main(folder: Path, addresses: dict[str, str]) -> None:
    """Print the manifests of the folder."""
    read = [
        manifest
        for part in PARTS
        for manifest in yaml.safe_load_all((folder / f"{part}.yaml").read_text(encoding="utf-8"))
    ]
    yaml.safe_dump_all([kept for each in read for kept in adapt(each, addresses)], sys.stdout)


if __name__ == "__main__":
    main(Path(sys.argv[1]), dict(given.split("=") for given in sys.argv[2:]))
