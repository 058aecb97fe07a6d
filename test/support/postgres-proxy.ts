import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** What becomes of a commit: it never arrives, or it is done and its answer lost; the connection breaks either way. */
export type CommitFault = 'refused' | 'lost' | undefined;

/** Is asked before every commit, with the statements that are in it. */
export type OnCommit = (statements: string[]) => CommitFault;

/**
 * Stands before PostgreSQL and lets commits go wrong: `COMMIT` itself, and single statements that write. It reads the
 * frontend's messages (postgresql.org/docs/current/protocol-message-formats.html) and passes all of them on as they are.
 */
export async function startPostgresProxy(target: string, onCommit: OnCommit) {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const database = connect(Number(port), hostname);
    for (const socket of [client, database]) {
      open.add(socket);
      socket.on('error', () => {}).once('close', () => open.delete(socket));
    }
    client.once('close', () => database.end());
    database.once('close', () => client.destroy());
    let inTransaction = false;
    let losesAnswer = false;
    const answers = messages(false);
    database.on('data', (chunk: Buffer) => {
      for (const { type, body } of answers(chunk))
        if (type === 'Z') {
          inTransaction = body.toString('latin1') !== 'I';
          if (losesAnswer) client.destroy();
        }
      if (!losesAnswer) client.write(chunk);
    });
    const asked = messages(true);
    const named = new Map<string, string>();
    let written: string[] = [];
    let batch: Buffer[] = [];
    let statement = '';
    client.on('data', (chunk: Buffer) => {
      for (const { type, body, raw } of asked(chunk)) {
        batch.push(raw);
        const [first = '', second = ''] = body.toString('utf8').split('\0');
        if (type === 'Q') statement = first;
        if (type === 'P') {
          named.set(first, second);
          statement = second;
        }
        if (type === 'B') statement = named.get(second) ?? '';
        // Of the extended protocol's messages the last one makes the others count.
        if (['P', 'B', 'D', 'E'].includes(type)) continue;
        const isEnd = type === 'Q' || type === 'S';
        const isWrite = isEnd && /^\s*(insert|update|delete|with)\b/i.test(statement);
        const isCommit = isEnd && (inTransaction ? /^\s*commit/i.test(statement) : isWrite);
        if (isWrite) written.push(statement);
        const fault = isCommit && written.length > 0 ? onCommit(written) : undefined;
        if (isCommit || (isEnd && !inTransaction)) written = [];
        if (fault === 'refused') return client.destroy();
        losesAnswer ||= fault === 'lost';
        database.write(Buffer.concat(batch));
        batch = [];
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    close: () => {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

/** Cuts a stream into messages: a letter, a length that counts itself, the rest. A client's first one has no letter. */
function messages(isClient: boolean) {
  let rest: Buffer = Buffer.alloc(0);
  let isFirst = isClient;
  return function* (chunk: Buffer): Generator<{ type: string; body: Buffer; raw: Buffer }> {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const at = isFirst ? 0 : 1;
      if (rest.length < at + 4) return;
      const end = at + rest.readInt32BE(at);
      if (rest.length < end) return;
      const raw = rest.subarray(0, end);
      yield { type: isFirst ? '' : String.fromCharCode(raw[0] ?? 0), body: raw.subarray(at + 4), raw };
      rest = rest.subarray(end);
      isFirst = false;
    }
  };
}
