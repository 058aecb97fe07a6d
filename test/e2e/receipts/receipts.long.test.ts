import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../../demo/real-service.ts';
import { type Envelope, openEnvelope, publicKeyOf, type ReceiptKey } from '../../../src/domain/receipt/envelope.ts';
import { readStatement } from '../../../src/domain/receipt/statement.ts';
import { openPersons } from '../../client/command.ts';
import { type Face, openFace, repo, write } from '../../support/face.ts';
import { gitAsync, gitOut } from '../../support/git.ts';
import type { WorldTask } from '../../support/world.ts';

interface Receipt {
  runId: string;
  prUrl: string;
  commit: string;
  envelope: Envelope;
}

const openPerson = openPersons();
let face: Face;
let task: WorldTask;
let pull: string;
let person: ReturnType<typeof openPerson>;
const finish = { name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } };
const bare = () => face.world.github.folderOf('mona/sample');
const head = () => gitOut(bare(), 'rev-parse', task.branchName ?? '');
/** GitHub keeps the head of each pull request at this ref. */
const showHead = () => gitAsync(bare(), 'update-ref', `refs/pull/${face.pullOf(task)}/head`, head());
const receipts = () => face.world.get<Receipt[]>(`/receipts?pullRequest=${encodeURIComponent(pull)}`);
const keysOf = async () => {
  const reply = await fetch(`${face.world.service.url}/.well-known/jwks.json`);
  return ((await reply.json()) as { keys: ReceiptKey[] }).keys;
};

beforeAll(async () => {
  face = await openFace();
  const { world, plays, push, settled } = face;
  await push('main', '.deckhand.yml', 'checks: for t in *.check; do sh ./$t || exit 1; done\ntests: ["*.check"]\n');
  await push('main', 'old.check', 'true\n');
  plays([write('made.sh', 'made=yes\n'), write('made.check', '. ./made.sh && test "$made" = yes\n'), finish], [finish]);
  task = await settled(await world.issue('/agent start'), 'in_review', 1);
  pull = task.prUrl ?? '';
  const host = world.github.url;
  person = openPerson({
    DECKHAND_URL: world.service.url,
    DECKHAND_TOKEN: world.token,
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: `url.${host.replace('http://', 'http://x:person-mona@')}.insteadOf`,
    GIT_CONFIG_VALUE_0: host,
  });
  await showHead();
});
afterAll(() => face.world.close());

test('a pull request has a signed receipt about the commit that was pushed, and names it', async () => {
  const [receipt, ...others] = await receipts();
  expect(others).toEqual([]);
  expect(receipt).toMatchObject({ prUrl: pull, commit: head() });
  const { statement, keyId } = openEnvelope(receipt?.envelope, await keysOf());
  const stated = readStatement(statement);
  expect(stated).toMatchObject({
    repository: expect.stringMatching(/\/mona\/sample$/),
    commit: head(),
    tree: gitOut(bare(), 'rev-parse', `${head()}^{tree}`),
    receipt: {
      pullRequest: pull,
      branch: task.branchName,
      baseBranch: 'main',
      service: { address: face.world.service.url },
      task: task.id,
      run: { id: receipt?.runId, kind: 'start' },
      agent: { name: 'Developer', version: 1, promptSha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      checks: [expect.objectContaining({ passed: true })],
      proof: { status: 'proved', newTestsFailOnBase: true, oldTestsPass: true },
      hosts: [],
      approvals: [],
    },
  });
  expect(keyId).toMatch(/^[\w-]{43}$/);
  expect(await face.world.get(`/runs/${receipt?.runId}/receipts`)).toEqual([receipt]);
  const { body } = await face.mona<{ body: string }>('GET', `${repo}/pulls/${face.pullOf(task)}`);
  expect(body).toContain(`[Signed receipt](${face.world.service.url}/tasks/${task.id}/runs/${receipt?.runId})`);
  // Private keys are stored encrypted only.
  expect(await face.world.dump()).not.toContain('PRIVATE KEY');
});

test('deckhand verify accepts it, and refuses a changed one, another key and another head', async () => {
  const { code, stdout, stderr } = await person.run(['verify', pull]);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain('The receipt is genuine');
  expect(stdout).toContain(`Commit: ${head()}`);
  expect(stdout).toContain('Proof: proved');
  expect(await person.json('verify', pull)).toMatchObject({ verified: true, commit: head() });

  const [receipt] = await receipts();
  const save = (name: string, value: unknown) => {
    const path = join(person.home, name);
    writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value));
    return path;
  };
  const file = save('receipt.json', receipt?.envelope);
  const keys = save('keys.json', { keys: await keysOf() });
  const offline = openPerson();
  const given = [file, '--key', keys, '--head', head()];
  expect(await offline.run(['verify', ...given])).toMatchObject({ code: 0, stderr: '' });

  const payload = JSON.parse(Buffer.from(receipt?.envelope.payload ?? '', 'base64').toString());
  payload.predicate.proof.status = 'weakened';
  const changed = { ...receipt?.envelope, payload: Buffer.from(JSON.stringify(payload)).toString('base64') };
  const { publicKey } = generateKeyPairSync('ed25519');
  const pem = save('other.pem', publicKey.export({ type: 'spki', format: 'pem' }).toString());
  const jwk = save('other.json', publicKeyOf(publicKey));
  const main = gitOut(bare(), 'rev-parse', 'main');
  for (const [args, why] of [
    [[save('changed.json', changed), ...given.slice(1)], 'changed after it was signed'],
    [[file, '--key', pem, '--head', head()], 'another key'],
    [[file, '--key', jwk, '--head', head()], 'another key'],
    [[file, '--key', keys, '--head', main], 'no receipt is about it'],
    [[save('none.json', '[]'), ...given.slice(1)], 'has no receipt'],
    [[save('text.json', 'receipt'), ...given.slice(1)], 'is no JSON'],
    [['nowhere.json', ...given.slice(1)], 'cannot be read'],
    [[file, '--key', file, '--head', head()], 'has no Ed25519 public key'],
    [[file, '--head', head()], 'not logged in'],
  ] as const)
    expect([args, await offline.run(['verify', ...args])]).toEqual([
      args,
      { code: 1, stdout: '', stderr: expect.stringContaining(why) },
    ]);
  expect((await offline.run(['verify', file, '--key', keys, '--head', 'main'])).code).toBe(2);
});

test('after a push of somebody else the receipt is of another head; with another key, earlier receipts stay valid', async () => {
  const { push, say, settled, plays, world } = face;
  await push(task.branchName ?? '', 'late.txt', 'x\n');
  await showHead();
  expect(await person.run(['verify', pull])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no receipt is about it'),
  });
  const [first] = await receipts();
  const { keys } = { keys: await keysOf() };
  await world.sql("update receipt_keys set created_at = created_at - interval '1 day'", []);
  // As `npm run rotate-receipt-key` does, which the tests of commands run.
  await world.sql('update receipt_keys set key_id = null, ciphertext = null', []);
  plays([write('made.txt', 'x\n'), finish], [finish]);
  const { issueNumber } = await world.get<{ issueNumber: number }>(`/tasks/${task.id}`);
  await say(issueNumber, '/agent revise Again.');
  await settled(issueNumber, 'in_review', 2);
  const [newest, ...earlier] = await until('two receipts', async () => {
    const all = await receipts();
    return all.length === 2 && all;
  });
  expect(earlier).toEqual([first]);
  expect(newest?.envelope.signatures[0]?.keyid).not.toBe(first?.envelope.signatures[0]?.keyid);
  expect(await keysOf()).toEqual([expect.objectContaining({ kid: newest?.envelope.signatures[0]?.keyid }), ...keys]);
  await showHead();
  // The person kept the earlier key, and fetches the new one.
  expect(await person.run(['verify', pull])).toMatchObject({ code: 0, stderr: '' });
  const { body } = await face.mona<{ body: string }>('GET', `${repo}/pulls/${face.pullOf(task)}`);
  expect(body).toContain(`/runs/${newest?.runId})`);
  expect(body).not.toContain(`/runs/${first?.runId})`);
});
