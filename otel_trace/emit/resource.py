"""The resource of this process: what the program and the environment say, and its place in the job."""

import os
import sys
import uuid
from pathlib import Path
from typing import Any

from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.version import __version__ as SDK_VERSION  # noqa: N812

from otel_trace import config, names
from otel_trace.cluster.process import host_name
from otel_trace.cluster.run import Run


def make_resource(run: Run, service_name: str = "") -> Resource:
    """Make the resource; what the user said (`OTEL_RESOURCE_ATTRIBUTES`) wins over what we found."""
    # `Resource.create` starts a thread pool; it is needed only for the detectors of other packages.
    told = (
        Resource.create()
        if os.environ.get("OTEL_EXPERIMENTAL_RESOURCE_DETECTORS")
        else OTELResourceDetector().detect()
    )
    found = Resource({**_describe_sdk(), **describe_process(run)})
    resource = found.merge(told)
    name = (
        service_name
        or config.read("OTEL_SERVICE_NAME")
        or resource.attributes.get("service.name")
        or _script_name()
    )
    return resource.merge(Resource({"service.name": str(name)}))


def describe_process(run: Run) -> dict[str, Any]:
    """Give the attributes that tell this process from the others of its run."""
    place = run.place
    return {
        **describe_child(),
        "host.name": host_name(),
        names.RUN_ID: run.run_id,
        names.ATTEMPT: place.attempt,
        names.RANK: place.rank,
        names.LOCAL_RANK: place.local_rank,
        names.NODE_RANK: place.node_rank,
        names.WORLD_SIZE: place.world_size,
        names.LOCAL_WORLD_SIZE: place.local_world_size,
        names.LAUNCHER: place.launcher,
    }


def describe_child() -> dict[str, Any]:
    """Give the attributes in which a forked child differs from its parent."""
    return {"service.instance.id": str(uuid.uuid4()), "process.pid": os.getpid()}


def _describe_sdk() -> dict[str, Any]:
    """Give what the SDK says of itself."""
    return {
        "telemetry.sdk.language": "python",
        "telemetry.sdk.name": "opentelemetry",
        "telemetry.sdk.version": SDK_VERSION,
    }


def _script_name() -> str:
    """Give the script's name; the same for all ranks, never empty."""
    main = sys.modules.get("__main__")
    spec = getattr(main, "__spec__", None)
    if spec is not None and spec.name:
        return str(spec.name).removesuffix(".__main__")
    stem = Path(sys.argv[0] if sys.argv else "").stem
    return stem if stem and not stem.startswith("-") else "python"
