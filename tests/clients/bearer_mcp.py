"""Reads one resource with a bearer token in the Python SDK, and prints its text, or the error by which it fails.

usage: bearer_mcp.py URL URI [TOKEN]
"""

import asyncio
import sys

import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client


async def main(url, uri, token=None):
    headers = {"authorization": f"Bearer {token}"} if token else {}
    async with httpx2.AsyncClient(headers=headers) as http:
        async with Client(streamable_http_client(url, http_client=http)) as client:
            result = await client.read_resource(uri)
            print("read", result.contents[0].text)


def causes(error):
    return [cause for inner in error.exceptions for cause in causes(inner)] if isinstance(error, ExceptionGroup) else [error]


try:
    asyncio.run(main(*sys.argv[1:]))
except Exception as error:
    print("failed", *causes(error))
