"""A mail server that keeps what it gets in a folder. Refuses some recipients, as servers do."""

import asyncio
import itertools
import os
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

FOLDER = sys.argv[1]
numbers = itertools.count(1)


class Handler:
    async def handle_RCPT(self, server, session, envelope, address, rcpt_options):
        if address.startswith("never"):
            return "550 5.1.1 no such user"
        if address.startswith("later"):
            return "451 4.3.0 try again"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        path = os.path.join(FOLDER, f"{next(numbers):04}")
        with open(path + ".part", "wb") as file:
            file.write(envelope.content)
        os.rename(path + ".part", path + ".eml")
        return "250 OK"


def login(server, session, envelope, mechanism, data):
    known = isinstance(data, LoginPassword) and data == LoginPassword(b"gate", b"pass:/word")
    return AuthResult(success=known, handled=False)


class Server(SMTP):
    open_now = 0

    def connection_made(self, transport):
        Server.open_now += 1
        with open(os.path.join(FOLDER, "connections"), "a") as file:
            file.write(f"{Server.open_now}\n")
        super().connection_made(transport)

    def connection_lost(self, error):
        Server.open_now -= 1
        super().connection_lost(error)


def encryption():
    if len(sys.argv) < 4:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    return context


TLS = encryption()


def connection():
    return Server(Handler(), authenticator=login, auth_required=True, auth_require_tls=False, tls_context=TLS)


async def main():
    server = await asyncio.get_running_loop().create_server(connection, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
