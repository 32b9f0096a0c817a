"""What the files of deploy/ hold, and the schemas that they are checked against."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.jobs.running import ROOT

DEPLOY = ROOT / "deploy"
_SECRETS = {"ca": "ca.pem", "cert": "cert.pem", "key": "key.pem"}


def compose() -> dict[str, Any]:
    """The Compose file, with its anchors and merges resolved."""
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    return found


def compose_service(
    name: str, certificates: Path, here: Mapping[str, str]
) -> tuple[list[str], dict[str, str]]:
    """The command of a service and its environment, with the files and the names that hold here."""
    service = compose()["services"][name]
    environment = {
        key: str(certificates / _SECRETS[Path(value).name])
        if value.startswith("/run/secrets/")
        else value
        for key, value in service["environment"].items()
    }
    command = service["command"]
    for there, name_here in here.items():
        assert there in command, f"{there} is not in: {command}"
        command = command.replace(there, name_here)
    return shlex.split(command), environment


def kubernetes_resources() -> dict[str, dict[str, Any]]:
    """Every resource of the manifests by its kind."""
    files = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
    documents = [
        document
        for file in files
        for document in yaml.safe_load_all(file.read_text(encoding="utf-8"))
    ]
    return {document["kind"]: document for document in documents if "kind" in document}


@cache
def operator_schema(plural: str) -> dict[str, Any]:
    """The schema of a resource of the operator, as dask-kubernetes carries it, but strict: no key
    that it lacks.
    """
    import dask_kubernetes.operator

    chart = (
        Path(dask_kubernetes.operator.__file__).parent
        / "deployment"
        / "helm"
        / "dask-kubernetes-operator"
    )
    text = (chart / "crds" / f"{plural}.yaml").read_text(encoding="utf-8")
    # Thousands of lines: the parser in C takes a tenth of the time.
    resource = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    schema: dict[str, Any] = _strict(resource["spec"]["versions"][0]["schema"]["openAPIV3Schema"])
    schema["properties"] |= {name: {} for name in ("apiVersion", "kind", "metadata")}
    return schema


def complaints(value: Any, kind: str, path: str = "") -> Iterator[str]:
    """Say where a resource of Kubernetes itself has a key or a kind of value that its
    model lacks.
    """
    import kubernetes.client

    if match := re.fullmatch(r"[Ll]ist\[(.+)\]", kind):
        if not isinstance(value, list):
            yield f"{path}: expected a list, got {value!r}"
            return
        for number, item in enumerate(value):
            yield from complaints(item, match[1], f"{path}[{number}]")
    elif match := re.fullmatch(r"[Dd]ict[\[(]str, (.+)[\])]", kind):
        for key, item in value.items():
            yield from complaints(item, match[1], f"{path}.{key}")
    elif (model := getattr(kubernetes.client, kind, None)) is not None:
        names = {name: attribute for attribute, name in model.attribute_map.items()}
        for key, item in value.items():
            if key not in names:
                yield f"{path}.{key}: not a key of {kind}"
            else:
                yield from complaints(item, model.openapi_types[names[key]], f"{path}.{key}")
    elif kind in ("int", "bool", "str"):
        known = {"int": int, "bool": bool, "str": str}[kind]
        if not isinstance(value, known):
            yield f"{path}: expected {kind}, got {value!r}"


def _strict(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_strict(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    strict = {key: _strict(part) for key, part in schema.items()}
    named = isinstance(schema.get("properties"), Mapping) and "type" in schema
    if (
        named
        and not schema.get("x-kubernetes-preserve-unknown-fields")
        and "additionalProperties" not in schema
    ):
        strict["additionalProperties"] = False
    return strict
