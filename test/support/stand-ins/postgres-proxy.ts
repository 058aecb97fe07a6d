import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * How a commit fails: it never arrives, or it succeeds and its response is lost. In both cases the connection breaks.
 */
export type CommitFault = 'refused' | 'lost' | undefined;

/** Called before every commit, with those of its statements that write. */
export type OnCommit = (statements: string[]) => CommitFault;

/**
 * Starts a proxy in front of PostgreSQL that makes commits fail: `COMMIT` itself, and single statements that write. It
 * parses the client's messages (postgresql.org/docs/current/protocol-message-formats.html) and passes them on
 * unchanged.
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
    relay(client, database, onCommit);
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

/** Passes messages on in both directions, and breaks the connection where a commit should fail. */
function relay(client: Socket, database: Socket, onCommit: OnCommit): void {
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
  const statementOf = statementReader();
  const writes = commitWatcher(onCommit);
  let batch: Buffer[] = [];
  client.on('data', (chunk: Buffer) => {
    for (const { type, body, raw } of asked(chunk)) {
      batch.push(raw);
      const statement = statementOf(type, body);
      // The messages of the extended protocol take effect at the sync that follows them.
      if (['P', 'B', 'D', 'E'].includes(type)) continue;
      const isEnd = type === 'Q' || type === 'S';
      const fault = isEnd ? writes(statement, inTransaction) : undefined;
      if (fault === 'refused') return client.destroy();
      losesAnswer ||= fault === 'lost';
      database.write(Buffer.concat(batch));
      batch = [];
    }
  });
}

/** Tracks which statement is being executed: the text of a query, or the statement that a name refers to. */
function statementReader() {
  const named = new Map<string, string>();
  let statement = '';
  return (type: string, body: Buffer): string => {
    const [first = '', second = ''] = body.toString('utf8').split('\0');
    if (type === 'Q') statement = first;
    if (type === 'P') {
      named.set(first, second);
      statement = second;
    }
    if (type === 'B') statement = named.get(second) ?? '';
    return statement;
  };
}

/** Collects the statements that write, and asks `onCommit` for a fault when they are about to be committed. */
function commitWatcher(onCommit: OnCommit) {
  let written: string[] = [];
  return (statement: string, inTransaction: boolean): CommitFault => {
    const isWrite = /^\s*(insert|update|delete|with)\b/i.test(statement);
    const isCommit = inTransaction ? /^\s*commit/i.test(statement) : isWrite;
    if (isWrite) written.push(statement);
    const fault = isCommit && written.length > 0 ? onCommit(written) : undefined;
    if (isCommit || !inTransaction) written = [];
    return fault;
  };
}

/**
 * Splits a stream into messages: a letter, a length that includes itself, and the rest. A client's first message has no
 * letter.
 */
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
