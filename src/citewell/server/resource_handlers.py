"""`resources/*` of the protocol: stored pages, passages of the caller, and receipts."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import mcp_types as types

from citewell.server.calls import RESOURCE_NOT_FOUND, is_handshake_era
from citewell.tools.resource_links import describe_resource
from citewell.tools.resources import (
    RESOURCE_NEEDS,
    TEMPLATES,
    ResourceFile,
    list_resources,
    read_resource,
)

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from citewell.server.calls import Calls
    from citewell.tools.resource_links import ResourceTemplate

    RequestContext = ServerRequestContext[Any, Any]


class ResourceHandlers:
    """The handlers of resource requests."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def list_templates(
        self, context: RequestContext, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """Return the kinds of URI."""
        templates = [_shape_template(template) for template in TEMPLATES]
        return types.ListResourceTemplatesResult(resource_templates=templates)

    async def list(
        self, context: RequestContext, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """Return the pages that were fetched last."""
        with self._calls.answering(context):
            resources = await list_resources(await self._calls.open(context, *RESOURCE_NEEDS))
        return types.ListResourcesResult(
            resources=[
                types.Resource.model_validate(describe_resource(resource)) for resource in resources
            ]
        )

    async def read(
        self, context: RequestContext, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """Return a page, a passage or a receipt; what the caller may not see is not found."""
        not_found = RESOURCE_NOT_FOUND if is_handshake_era(context) else types.INVALID_PARAMS
        with self._calls.answering(context, not_found=not_found, uri=str(params.uri)):
            resource = await read_resource(
                params.uri, await self._calls.open(context, *RESOURCE_NEEDS)
            )
        if isinstance(resource, ResourceFile):
            encoded = base64.b64encode(resource.data).decode()
            blob = types.BlobResourceContents(
                uri=params.uri, mime_type=resource.mime_type, blob=encoded
            )
            return types.ReadResourceResult(contents=[blob])
        text = types.TextResourceContents(
            uri=params.uri, mime_type=resource.mime_type, text=resource.text
        )
        return types.ReadResourceResult(contents=[text])


def _shape_template(template: ResourceTemplate) -> types.ResourceTemplate:
    return types.ResourceTemplate(
        name=template.name,
        title=template.title,
        uri_template=template.uri_template,
        description=template.description,
        mime_type=template.mime_type,
        annotations=types.Annotations(audience=["assistant"], priority=template.priority),
    )
