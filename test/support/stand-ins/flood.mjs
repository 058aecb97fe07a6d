// Floods an HTTP server from a separate address: 50 connections, each with as many pending requests as given.
// Arguments: port, requests per connection. Connections that end are reopened. Runs until it is killed.
import { connect } from 'node:net';

const [port, depth] = process.argv.slice(2).map(Number);
const request = 'GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n';

function flood() {
  const socket = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.9' });
  socket.on('connect', () => socket.write(request.repeat(depth)));
  socket.on('data', (data) => {
    const answers = data.toString('latin1').split('HTTP/1.1 ').length - 1;
    if (answers > 0) socket.write(request.repeat(answers));
  });
  socket.on('error', () => {});
  socket.on('close', () => setImmediate(flood));
}

for (let i = 0; i < 50; i++) flood();
process.send?.('flooding');
