import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { openEnvelope, type ReceiptKey, UnknownKey, Unverified } from '../../../../src/domain/receipt/envelope.ts';
import { factsOf, readStatement, type Stated } from '../../../../src/domain/receipt/statement.ts';
import { listReceipts } from '../../api.ts';
import { type Context, optionsOf, sessionOf, withExamples } from '../context.ts';
import { CommandFailed, UsageError } from '../failures.ts';
import { headOfPull, treeOfCommit } from '../git.ts';
import { isUnknownAddress, type Session } from '../session.ts';
import { shownLine } from '../terminal.ts';
import { fetchKeys, keptKeys, keysIn } from './known-keys.ts';

interface Options {
  key?: string;
  head?: string;
}

export function verifyCommand(program: Command, context: Context): void {
  const verify = program
    .command('verify')
    .description('Check the signed receipt of a pull request, and say what it states')
    .argument('<receipt>', 'the address of a pull request, or a file with its receipt')
    .option('--key <file>', 'the public key (PEM, or a JSON Web Key or a set of them), instead of those of the service')
    .option('--head <commit>', 'the head of the pull request, instead of asking its host with git')
    .addHelpText(
      'after',
      `
Checks the signature, and that the head of the pull request is the commit that was signed. The keys of the service are fetched
once and kept. With --key and --head and a file, nothing is asked of anybody.`,
    )
    .action((wanted: string, _options, command: Command) => check(context, wanted, command));
  withExamples(
    verify,
    'deckhand verify https://github.com/octocat/hello/pull/12',
    'deckhand verify receipt.json --key deckhand.pem --head "$(git rev-parse HEAD)"',
  );
}

interface Verified extends Stated {
  keyId: string;
}

async function check(context: Context, wanted: string, command: Command): Promise<void> {
  const { key, head: givenHead } = optionsOf<Options>(command);
  if (givenHead !== undefined && !/^[0-9a-f]{40}$/.test(givenHead))
    throw new UsageError('--head takes the whole id of a commit: 40 digits of 0-9 and a-f.');
  // A file may be checked without a login.
  let opened: Promise<Session> | undefined;
  const session = () => {
    opened ??= sessionOf(context, command);
    return opened;
  };
  const pull = /^https?:\/\//.test(wanted) ? wanted.replace(/\/(?:files|commits|checks)?\/?$/, '') : undefined;
  const envelopes = pull === undefined ? await envelopesIn(wanted) : await fetchEnvelopes(await session(), pull);
  const verified = await verifyAll(envelopes, await keySource(context, key, session));
  const about = pull ?? verified[0]?.receipt.pullRequest ?? '';
  const others = verified.find(({ receipt }) => receipt.pullRequest !== about);
  if (others !== undefined)
    throw new CommandFailed(`A receipt is about another pull request: ${shownLine(others.receipt.pullRequest)}.`);
  const head = givenHead ?? (await headOfPull(about));
  const found = verified.find(({ commit }) => commit === head);
  if (found === undefined)
    throw new CommandFailed(
      `The head of the pull request is ${head}, and no receipt is about it. There are receipts for ${verified.map(({ commit }) => commit).join(', ')}. Somebody else has pushed, or the receipt of the head is missing or not genuine.`,
    );
  const tree = await treeOfCommit('.', found.commit);
  if (tree !== undefined && tree !== found.tree)
    throw new CommandFailed(
      `The commit ${found.commit} has the tree ${tree} here, and the receipt says ${found.tree}.`,
    );
  const { keyId, ...stated } = found;
  context.terminal.print({ verified: true, keyId, ...stated }, () =>
    [`The receipt is genuine: signed with the key ${keyId}, and the head of the pull request is its commit.`]
      .concat(factsOf(found).map((line) => shownLine(line, 2000)))
      .join('\n'),
  );
}

/** Returns the envelopes in a file: one, or receipts as the service lists them. */
async function envelopesIn(path: string): Promise<unknown[]> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new CommandFailed(`${path} cannot be read (${error.code}). Give a file, or the address of a pull request.`);
  });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new CommandFailed(`${path} is no JSON, so it is no receipt.`);
  }
  const all = Array.isArray(value) ? value : [value];
  if (all.length === 0) throw new CommandFailed(`${path} has no receipt.`);
  return all.map((each) => (each as { envelope?: unknown } | null)?.envelope ?? each);
}

/** At most this many receipts of a pull request are looked at, the newest ones. */
const maxReceipts = 100;

async function fetchEnvelopes({ at }: Session, pull: string): Promise<unknown[]> {
  const listed = await listReceipts(pull, { limit: maxReceipts }, at).catch((error) => {
    if (isUnknownAddress(error))
      throw new CommandFailed('This service signs no receipts; a newer version of Deckhand does.');
    throw error;
  });
  if (listed.length === 0)
    throw new CommandFailed(
      `There is no receipt for ${pull}. Deckhand did not open it, or a version that signs no receipts did, or it is not in a project of yours.`,
    );
  return listed.map(({ envelope }) => envelope);
}

interface KeySource {
  keys: ReceiptKey[];
  /** Fetches the keys of the service again, which may have a new one. */
  again: (() => Promise<ReceiptKey[]>) | undefined;
}

async function keySource(
  { env }: Context,
  file: string | undefined,
  session: () => Promise<Session>,
): Promise<KeySource> {
  if (file !== undefined) {
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      throw new CommandFailed(`${file} cannot be read (${error.code}).`);
    });
    const keys = keysIn(text);
    if (keys.length === 0) throw new CommandFailed(`${file} has no Ed25519 public key, in PEM or as a JSON Web Key.`);
    return { keys, again: undefined };
  }
  const { url } = await session();
  const keys = await keptKeys(env, url);
  return keys.length === 0
    ? { keys: await fetchKeys(env, url), again: undefined }
    : { keys, again: () => fetchKeys(env, url) };
}

/**
 * Verifies receipts. Those of a pull request may be signed with several keys, of which some may be revoked, so one that is
 * not genuine does not spoil the others.
 */
async function verifyAll(envelopes: unknown[], { keys, again }: KeySource): Promise<Verified[]> {
  const verified: Verified[] = [];
  const problems: Unverified[] = [];
  for (const envelope of envelopes)
    try {
      const { statement, keyId } = openEnvelope(envelope, keys);
      verified.push({ ...readStatement(statement), keyId });
    } catch (error) {
      if (!(error instanceof Unverified)) throw error;
      problems.push(error);
    }
  if (again !== undefined && problems.some((problem) => problem instanceof UnknownKey))
    return verifyAll(envelopes, { keys: await again(), again: undefined });
  const [problem] = problems;
  if (verified.length === 0 && problem !== undefined) throw new CommandFailed(problem.message);
  return verified;
}
