"""An MCP client by the official SDK, for tests: reads steps as JSON lines, answers each with one JSON line.

    mcp_client.py [--mode auto|legacy|VERSION] (--url URL [--header NAME=VALUE]... | -- COMMAND [ARGUMENT]...)

Steps:
    {"do": "hello"}                                        the protocol version and the server's name
    {"do": "list"}                                         the names of the tools
    {"do": "tools"} {"do": "resources"} {"do": "templates"} {"do": "prompts"}
                                                           what there is, each with all that is said of it
    {"do": "read", "uri": U} {"do": "prompt", "name": N, "arguments": {}}
    {"do": "complete", "ref": {"type": R, ...}, "argument": {"name": N, "value": V}}
    {"do": "level", "level": L}                            what the server is to log
    {"do": "logged"}                                       the first message it logged, once it has
    {"do": "call", "tool": T, "arguments": {}}             the call's text, whether it is an error, progress heard
    {"do": "start", "as": A, "tool": T, "arguments": {}}   the same without waiting for it
    {"do": "progress", "as": A}                            the progress of what was started, once there is some
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
from mcp.types import PromptReference, ResourceTemplateReference


def dump(model):
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


class Ears:
    """What is heard beside answers."""

    def __init__(self):
        self.items = []
        self.first = anyio.Event()

    def hear(self, item):
        self.items.append(item)
        self.first.set()


class Driver:
    def __init__(self, client, tasks, log):
        self.client = client
        self.tasks = tasks
        self.log = log
        self.started = {}

    async def step(self, step):
        return await getattr(self, "do_" + step["do"])(step)

    async def do_hello(self, _step):
        info = self.client.server_info
        return {"version": self.client.protocol_version, "name": info and info.name}

    async def do_list(self, _step):
        return {"tools": [tool["name"] for tool in await self.all(self.client.list_tools, "tools")]}

    async def do_tools(self, _step):
        return {"tools": await self.all(self.client.list_tools, "tools")}

    async def do_resources(self, _step):
        return {"resources": await self.all(self.client.list_resources, "resources")}

    async def do_templates(self, _step):
        return {"templates": await self.all(self.client.list_resource_templates, "resource_templates")}

    async def do_prompts(self, _step):
        return {"prompts": await self.all(self.client.list_prompts, "prompts")}

    async def all(self, pages, member):
        items, cursor = [], None
        while True:
            page = await pages(cursor=cursor)
            items += [dump(item) for item in getattr(page, member)]
            if not (cursor := page.next_cursor):
                return items

    async def do_read(self, step):
        read = await self.client.read_resource(step["uri"])
        return {"contents": [dump(part) for part in read.contents]}

    async def do_prompt(self, step):
        prompt = await self.client.get_prompt(step["name"], step.get("arguments"))
        return {"messages": [dump(message) for message in prompt.messages]}

    async def do_complete(self, step):
        kinds = {"ref/prompt": PromptReference, "ref/resource": ResourceTemplateReference}
        ref = kinds[step["ref"]["type"]].model_validate(step["ref"])
        return dump((await self.client.complete(ref, step["argument"])).completion)

    async def do_level(self, step):
        await self.client.set_logging_level(step["level"])
        return {}

    async def do_logged(self, _step):
        await self.log.first.wait()
        return self.log.items[0]

    async def do_call(self, step, progress=None):
        progress = progress or Ears()

        async def heard(done, _total, message):
            progress.hear([done, message])

        result = await self.client.call_tool(step["tool"], step.get("arguments", {}), progress_callback=heard)
        return {
            "text": "".join(block.text for block in result.content if block.type == "text"),
            "is_error": bool(result.is_error),
            "content": [dump(block) for block in result.content],
            "structured": result.structured_content,
            "progress": progress.items,
        }

    async def do_start(self, step):
        call = {
            "scope": anyio.CancelScope(),
            "done": anyio.Event(),
            "answer": {"cancelled": True},
            "progress": Ears(),
        }
        self.started[step["as"]] = call

        async def run():
            with call["scope"]:
                call["answer"] = await self.answered(self.do_call(step, call["progress"]))
            call["done"].set()

        self.tasks.start_soon(run)
        return {"started": step["as"]}

    async def do_progress(self, step):
        progress = self.started[step["as"]]["progress"]
        await progress.first.wait()
        return {"progress": progress.items}

    async def do_wait(self, step):
        call = self.started.pop(step["as"])
        await call["done"].wait()
        return call["answer"]

    async def do_cancel(self, step):
        self.started[step["as"]]["scope"].cancel()
        return await self.do_wait(step)

    async def answer(self, step):
        return await self.answered(self.step(step))

    async def answered(self, doing):
        try:
            return await doing
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
    log = Ears()

    async def logged(message):
        log.hear(dump(message))

    client = Client(transport(options), mode=options.mode, logging_callback=logged)
    async with client, anyio.create_task_group() as tasks:
        driver = Driver(client, tasks, log)
        while line := await anyio.to_thread.run_sync(sys.stdin.readline, abandon_on_cancel=True):
            print(json.dumps(await driver.answer(json.loads(line))), flush=True)
        tasks.cancel_scope.cancel()


anyio.run(main)
