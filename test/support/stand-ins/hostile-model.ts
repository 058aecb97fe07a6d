// A hostile model server in a separate process. `/attack/<name>` selects how it answers all later requests.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

const answer = '{"choices":[{"message":{"role":"assistant","content":"';
const event = (delta: object) => `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`;

/** Sends the same text until the client disconnects. */
function endless(res: ServerResponse, piece: string): void {
  const bytes = Buffer.from(piece);
  const more = () => {
    while (!res.destroyed && res.write(bytes));
  };
  res.on('drain', more);
  more();
}

/** Sends one character every 20 ms. */
function drip(res: ServerResponse, text: string): void {
  let at = 0;
  const timer = setInterval(() => res.write(text.charAt(at++ % text.length)), 20);
  res.once('close', () => clearInterval(timer));
}

const whole: Record<string, (res: ServerResponse) => void> = {
  'endless-text': (res) => {
    res.write(answer);
    endless(res, 'a'.repeat(65_536));
  },
  'gzip-bomb': (res) => {
    res.setHeader('Content-Encoding', 'gzip');
    // Concatenated gzip members decompress to one text. Each takes 10 kB and becomes 10 MB.
    res.write(gzipSync(answer));
    const member = gzipSync(Buffer.alloc(10_000_000, 'a'));
    for (let i = 0; i < 200; i++) res.write(member);
    res.end();
  },
  'empty-lists': (res) => res.end(`[${'[],'.repeat(1_300_000)}[]]`),
  'endless-error': (res) => {
    res.writeHead(400);
    endless(res, 'a'.repeat(65_536));
  },
  drip: (res) => drip(res, 'a'),
  silence: () => {},
  redirect: (res) => res.writeHead(307, { Location: 'http://127.0.0.1:9/v1/chat/completions' }).end(),
};

const streams: Record<string, (res: ServerResponse) => void> = {
  'endless-content': (res) => endless(res, event({ content: 'a'.repeat(10_000) })),
  'endless-event': (res) => endless(res, 'a'.repeat(65_536)),
  'empty-events': (res) => endless(res, '\n\n'.repeat(30_000)),
  'idle-events': (res) => endless(res, event({}).repeat(500)),
  'call-number': (res) => res.end(event({ tool_calls: [{ index: 4_000_000_000, function: { name: 'x' } }] })),
  'dripped-events': (res) => drip(res, event({ content: 'a' })),
};

let attack = '';
const server = createServer((req, res) => {
  res.on('error', () => {});
  const named = /^\/attack\/(.*)$/.exec(req.url ?? '')?.[1];
  if (named !== undefined) attack = named;
  if (named !== undefined) return res.end();
  req.resume().once('end', () => {
    const stream = streams[attack];
    res.setHeader('Content-Type', stream === undefined ? 'application/json' : 'text/event-stream');
    (stream ?? whole[attack])?.(res);
  });
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
// Exit together with the process that started this one.
process.stdin.resume().once('end', () => process.exit());
