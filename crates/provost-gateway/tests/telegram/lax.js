// Starts telegram-test-api, named by its folder, on a free port of loopback, and prints the port.
const TelegramServer = require(process.argv[2]);
// As text, because a zero would count as no port.
const server = new TelegramServer({ host: '127.0.0.1', port: '0' });
server.start().then(() => console.log(server.server.address().port));
