"""An MCP client by the official SDK, for tests: reads steps as JSON lines, answers each with one JSON line.

    mcp_client.py [--mode auto|legacy|VERSION] (--url URL [--header NAME=VALUE]... | -- COMMAND [ARGUMENT]...)

Steps:
    {"do": "hello"}                                        the protocol version and the server's name
    {"do": "list"}                                         the names of the tools
    {"do": "schema", "tool": T}                            one tool as it was listed
    {"do": "resources"} {"do": "prompts"}                  their names
    {"do": "read", "uri": U} {"do": "prompt", "name": N, "arguments": {}}
    {"do": "call", "tool": T, "arguments": {}}             the call's text, whether it is an error, progress heard
    {"do": "start", "as": A, "tool": T, "arguments": {}}   the same without waiting for it
    {"do": "wait", "as": A}                                the answer of what was started
    {"do": "cancel", "as": A}                              takes back what was started
A step that fails is answered with {"failed": "..."}.
"""

import argparse
import json
import sys

import anyio
import httpx2
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client


class Driver:
    def __init__(self, client, tasks):
        self.client = client
        self.tasks = tasks
        self.started = {}

    async def step(self, step):
        return await getattr(self, "do_" + step["do"])(step)

    async def do_hello(self, _step):
        info = self.client.server_info
        return {"version": self.client.protocol_version, "name": info and info.name}

    async def do_list(self, _step):
        return {"tools": [tool.name for tool in await self.tools()]}

    async def do_schema(self, step):
        (tool,) = [tool for tool in await self.tools() if tool.name == step["tool"]]
        return tool.model_dump(mode="json", by_alias=True, exclude_none=True)

    async def tools(self):
        return (await self.client.list_tools()).tools

    async def do_resources(self, _step):
        return {"resources": [str(one.uri) for one in (await self.client.list_resources()).resources]}

    async def do_prompts(self, _step):
        return {"prompts": [one.name for one in (await self.client.list_prompts()).prompts]}

    async def do_read(self, step):
        read = await self.client.read_resource(step["uri"])
        return read.model_dump(mode="json", by_alias=True, exclude_none=True)

    async def do_prompt(self, step):
        prompt = await self.client.get_prompt(step["name"], step.get("arguments"))
        return prompt.model_dump(mode="json", by_alias=True, exclude_none=True)

    async def do_call(self, step):
        progress = []

        async def heard(done, _total, message):
            progress.append([done, message])

        result = await self.client.call_tool(step["tool"], step.get("arguments", {}), progress_callback=heard)
        text = "".join(block.text for block in result.content if block.type == "text")
        return {"text": text, "is_error": bool(result.is_error), "progress": progress}

    async def do_start(self, step):
        call = {"scope": anyio.CancelScope(), "done": anyio.Event(), "answer": {"cancelled": True}}
        self.started[step["as"]] = call

        async def run():
            with call["scope"]:
                call["answer"] = await self.answer(dict(step, do="call"))
            call["done"].set()

        self.tasks.start_soon(run)
        return {"started": step["as"]}

    async def do_wait(self, step):
        call = self.started.pop(step["as"])
        await call["done"].wait()
        return call["answer"]

    async def do_cancel(self, step):
        self.started[step["as"]]["scope"].cancel()
        return await self.do_wait(step)

    async def answer(self, step):
        try:
            return await self.step(step)
        except Exception as error:
            return {"failed": f"{type(error).__name__}: {error}"}


def transport(options):
    if options.url:
        headers = dict(header.split("=", 1) for header in options.header)
        client = httpx2.AsyncClient(headers=headers, timeout=httpx2.Timeout(30, read=300))
        return streamable_http_client(options.url, http_client=client)
    return StdioServerParameters(command=options.command[0], args=options.command[1:])


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", default="auto")
    parser.add_argument("--url")
    parser.add_argument("--header", action="append", default=[])
    parser.add_argument("command", nargs="*")
    options = parser.parse_args()
    async with Client(transport(options), mode=options.mode) as client, anyio.create_task_group() as tasks:
        driver = Driver(client, tasks)
        while line := await anyio.to_thread.run_sync(sys.stdin.readline, abandon_on_cancel=True):
            print(json.dumps(await driver.answer(json.loads(line))), flush=True)
        tasks.cancel_scope.cancel()


anyio.run(main)
