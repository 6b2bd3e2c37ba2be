"""Lists and reads everything with FastMCP's client, and prints a report (see check_clients.py).

usage: python_fastmcp.py URL auto|legacy|2026-07-28 [EXTRA_URI...]
"""

import asyncio
import json
import sys

from fastmcp import Client
from mcp import MCPError


async def main(url, mode, *extra):
    async with Client(url, mode=mode) as client:
        listed = [plain(resource) for resource in await client.list_resources()]
        templates = [plain(template) for template in await client.list_resource_templates()]
        reads = {uri: await read(client, uri) for uri in [*(resource["uri"] for resource in listed), *extra]}
        report = {"revision": client.protocol_version, "listed": listed, "templates": templates, "reads": reads}
    print(json.dumps(report))


async def read(client, uri):
    try:
        contents = await client.read_resource(uri)
    except MCPError as error:
        return {"error": plain(error.error)}
    return {"contents": [plain(content) for content in contents]}


def plain(model):
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


asyncio.run(main(*sys.argv[1:]))
