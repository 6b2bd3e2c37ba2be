"""Lists and reads everything with the Python SDK's client, and prints a report (see check_clients.py).

usage: python_mcp.py URL auto|legacy|2026-07-28 [EXTRA_URI...]
"""

import asyncio
import json
import sys

from mcp import MCPError
from mcp.client import Client


async def main(url, mode, *extra):
    async with Client(url, mode=mode) as client:
        listed = await pages(client.list_resources, "resources")
        templates = await pages(client.list_resource_templates, "resource_templates")
        reads = {uri: await read(client, uri) for uri in [*(resource["uri"] for resource in listed), *extra]}
        report = {"revision": client.protocol_version, "listed": listed, "templates": templates, "reads": reads}
    print(json.dumps(report))


async def pages(call, member):
    items, cursor = [], None
    while True:
        page = await call(cursor=cursor)
        items += [plain(item) for item in getattr(page, member)]
        cursor = page.next_cursor
        if cursor is None:
            return items


async def read(client, uri):
    try:
        result = await client.read_resource(uri)
    except MCPError as error:
        return {"error": plain(error.error)}
    return {"contents": [plain(content) for content in result.contents]}


def plain(model):
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


asyncio.run(main(*sys.argv[1:]))
