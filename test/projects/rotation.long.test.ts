import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { revealMcpServers, setMcpServers } from '../../src/agents/mcp.ts';
import { restoredCommand } from '../../src/cli/backup.ts';
import { rotateKey, withApp } from '../../src/cli/operator.ts';
import { type Composed, compose } from '../../src/compose.ts';
import { type Config, readConfig } from '../../src/config.ts';
import { keyProblem } from '../../src/db/key-check.ts';
import { secretBox } from '../../src/db/sealed.ts';
import { ProjectSecrets } from '../../src/db/tables/project.ts';
import { revealAllSecrets, setSecret } from '../../src/environment/secrets/secrets.ts';
import { createLogger } from '../../src/logger.ts';
import { admit } from '../../src/projects/admission.ts';
import { createProject } from '../../src/projects/operations.ts';
import { keepSecret, revealSecret } from '../../src/projects/secrets.ts';
import { listTokens } from '../../src/projects/store.ts';
import { mintOperatorToken, userOfLogin } from '../../src/projects/tokens.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'deckhand-rotation-'));
const config = readConfig({ DATA_DIR: dataDir, LOG_LEVEL: 'silent', SANDBOX: 'off' });
let composed: Composed;
beforeAll(async () => {
  composed = await compose(config, createLogger(config), { isWorker: false, stopping: new AbortController().signal });
});
afterAll(async () => {
  await composed.close();
  rmSync(dataDir, { recursive: true, force: true });
});

test('after a restore, tokens stay valid unless all are to be revoked', async () => {
  const { app } = composed;
  const user = await userOfLogin(app, 'hubot');
  await mintOperatorToken(app, user, 'laptop', 1);
  const valid = () => listTokens(app.db.manager, user.id, { limit: 10, offset: 0 });
  expect(await restoredCommand(config, [])).toBe(0);
  expect(await valid()).toHaveLength(1);
  expect(await restoredCommand(config, ['--revoke-tokens'])).toBe(0);
  expect(await valid()).toEqual([]);
});

test('keys are rotated while secrets are read and written; a ciphertext in another row cannot be decrypted', async () => {
  const { app } = composed;
  const user = await userOfLogin(app, 'octocat');
  await admit(app.db.manager, user.id, 'operator');
  const projects: string[] = [];
  for (let i = 0; i < 10; i++) {
    const { id } = await createProject(app, user.id, { name: `P${i}`, description: '' });
    await keepSecret(app, id, 'git_token', `ghp_${i}`);
    projects.push(id);
  }
  const servers = [
    { name: 's', url: 'https://mcp.example.com', headers: [{ name: 'X-Key', value: 'k' }], tools: null },
  ];
  await setMcpServers(app, projects[0] ?? '', servers);
  await setSecret(app, projects[0] ?? '', 'NPM_TOKEN', { value: 'a-token-of-npm', repositories: [], hosts: [] });
  let isOver = false;
  const traffic = async () => {
    for (let n = 0; !isOver; n++) {
      const i = n % projects.length;
      expect(await revealSecret(app, projects[i] ?? '', 'git_token')).toBe(`ghp_${i}`);
      await keepSecret(app, projects[i] ?? '', 'git_token', `ghp_${i}`);
    }
  };
  const first = readFileSync(join(dataDir, 'encryption.key'), 'utf8');
  const work = traffic();
  for (let i = 0; i < 3; i++) expect(await rotateKey(config)).toBe(0);
  isOver = true;
  await work;
  expect(readFileSync(join(dataDir, 'encryption.key'), 'utf8')).not.toBe(first);
  expect(readFileSync(join(dataDir, 'encryption.key.previous'), 'utf8')).not.toBe(first);
  for (const [i, id] of projects.entries()) expect(await revealSecret(app, id, 'git_token')).toBe(`ghp_${i}`);
  expect(await revealMcpServers(app, { id: 'any', projectId: projects[0] ?? '' })).toMatchObject([
    { headers: { 'X-Key': 'k' } },
  ]);
  expect(await revealAllSecrets(app, projects[0] ?? '')).toMatchObject([
    { name: 'NPM_TOKEN', value: 'a-token-of-npm' },
  ]);

  const [a, b] = projects as [string, string];
  const other = await app.db.manager.findOneByOrFail(ProjectSecrets, { projectId: b, kind: 'git_token' });
  await app.db.manager.update(
    ProjectSecrets,
    { projectId: a, kind: 'git_token' },
    { ciphertext: other.ciphertext, keyId: other.keyId },
  );
  await expect(revealSecret(app, a, 'git_token')).rejects.toThrow();
});

test('of two processes that start at once with different keys, one is refused', async () => {
  const { manager } = composed.app.db;
  await manager
    .transaction(async (em) => {
      await em.query('delete from key_check');
      for (const table of ['project_secrets', 'mcp_headers', 'environment_secrets', 'webhooks', 'receipt_keys'])
        await em.query(`delete from ${table}`);
      const [one, two] = [1, 2].map((n) => secretBox(() => [Buffer.alloc(32, n)]));
      if (one === undefined || two === undefined) throw new Error('two keys are needed');
      // Both look before either has stored its check.
      let looked = 0;
      const both = Promise.withResolvers<void>();
      const query = async (text: string, values?: unknown[]) => {
        const rows = await em.query(text, values);
        if (text.startsWith('select key_id as') && looked < 2) {
          looked += 1;
          if (looked === 2) both.resolve();
          await both.promise;
        }
        return rows;
      };
      const slow = { query } as unknown as typeof em;
      const problems = await Promise.all([keyProblem(slow, one), keyProblem(slow, two)]);
      expect(problems.filter((problem) => problem === undefined)).toHaveLength(1);
      expect(problems.find((problem) => problem !== undefined)).toContain('is not the key');
      throw new Error('undo');
    })
    .catch((error: Error) => expect(error.message).toBe('undo'));
});

test('with another encryption key nothing starts, until the key is known or given up', async () => {
  const { manager } = composed.app.db;
  const key = Buffer.from(readFileSync(join(dataDir, 'encryption.key'), 'utf8'), 'hex');
  const other = { ...config, ENCRYPTION_KEY: Buffer.alloc(32, 7) };
  const started = (given: Config) => withApp(given, async () => 'started');
  const refusal = /^ENCRYPTION_KEY: is not the key with which the stored secrets are encrypted \(id [0-9a-f]{8}\)/;
  await expect(started(other)).rejects.toThrow(refusal);
  // A service that was upgraded has no check yet, but its secrets.
  await manager.query('delete from key_check');
  await expect(started(other)).rejects.toThrow(refusal);
  expect(await started(config)).toBe('started');
  await expect(started(other)).rejects.toThrow(refusal);
  const rotating = { ...other, ENCRYPTION_KEY_PREVIOUS: key };
  expect(await started(rotating)).toBe('started');
  await manager.query('delete from project_secrets');
  expect(await rotateKey(rotating)).toBe(0);
  expect(await started(other)).toBe('started');
  await expect(started(config)).rejects.toThrow(/encryption\.key: is not the key/);
  // The App of the set-up page was encrypted with the lost key, too.
  const { keyId, ciphertext } = secretBox(() => [Buffer.alloc(32, 9)]).seal('{}', {
    table: 'github_app',
    row: '1',
    column: 'ciphertext',
    project: '',
  });
  await manager.query(
    `insert into github_app (app_id, slug, client_id, key_id, ciphertext) values (1, 's', 'c', $1, $2)`,
    [keyId, ciphertext],
  );
  expect(await rotateKey(config, ['--lost'])).toBe(0);
  expect(await started(config)).toBe('started');
  expect(await manager.query('select 1 from github_app')).toEqual([]);
});
