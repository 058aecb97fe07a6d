import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { UsageError } from './failures.ts';

/** Reads a token from the variable DECKHAND_TOKEN, from a person who types it unseen, or else from standard input. */
export async function askToken(env: NodeJS.ProcessEnv, url: string): Promise<string> {
  const given = env.DECKHAND_TOKEN || (process.stdin.isTTY ? await typed(url) : await text(process.stdin));
  const token = given.trim();
  if (token === '')
    throw new UsageError(
      'No token was given. Create one in the dashboard under "API tokens", and type it here, give it on standard input, or set DECKHAND_TOKEN.',
    );
  return token;
}

async function typed(url: string): Promise<string> {
  process.stderr.write(
    `Create a token in the dashboard, under "API tokens": ${url}/account\nToken (it is not shown): `,
  );
  // The line editor echoes to its output, which goes nowhere.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  try {
    return await new Promise<string>((resolve) => {
      lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
      lines.once('close', () => resolve(''));
      lines.once('line', resolve);
    });
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
}
