import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { freePort } from '../../demo/settings.ts';
import { openProject } from '../support/project.ts';
import { openPersons } from './command.ts';

const { service, token, project } = await openProject();
/** Nobody listens there. */
const closed = `http://127.0.0.1:${await freePort()}`;
const openPerson = openPersons();
const fileOf = (home: string) => join(home, 'config/deckhand/login.json');

test('login checks the token and keeps it in a file that only its owner may read; logout removes it', async () => {
  const { home, run, json } = openPerson();
  const made = await run(['login', `${service.url}/`, '--json'], { stdin: `${token}\n` });
  expect(made).toMatchObject({ code: 0, stderr: '' });
  const known = { url: service.url, login: 'octocat', scopes: 'admin', project: null };
  expect(JSON.parse(made.stdout)).toEqual({ ...known, file: fileOf(home) });
  expect(statSync(fileOf(home)).mode & 0o777).toBe(0o600);
  expect(statSync(join(home, 'config/deckhand')).mode & 0o777).toBe(0o700);
  expect(await json('inbox')).toEqual([]);
  expect(await json('logout')).toEqual({ loggedOut: true });
  expect(existsSync(fileOf(home))).toBe(false);
  expect(await json('logout')).toEqual({ loggedOut: false });
  expect(await run(['inbox'])).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining('deckhand login') });
});

test('login says what a token does not allow, and a refusal names the scope', async () => {
  const { run } = openPerson();
  const body = { name: 'read', scopes: 'read' };
  const read = (await service.call('POST', '/me/tokens', { token, body })).body.token;
  const made = await run(['login', service.url], { stdin: read });
  expect(made.stdout).toContain('The token has the read scope: it changes nothing.');
  await service.call('POST', '/projects', { token, body: { name: 'Scoped' } });
  const refused = await run(['task', 'create', 'x', '--project', 'Scoped']);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('Requires a token with the write scope') });
});

test('the mode is 600 under any umask and in place of an open file', async () => {
  const { home, run } = openPerson();
  mkdirSync(join(home, 'config/deckhand'), { recursive: true });
  writeFileSync(fileOf(home), '{}', { mode: 0o666 });
  chmodSync(fileOf(home), 0o666);
  expect((await run(['login', service.url], { env: { DECKHAND_TOKEN: token } })).code).toBe(0);
  expect(statSync(fileOf(home)).mode & 0o777).toBe(0o600);
});

test('a file that others may read, or that is a link, is refused', async () => {
  const { home, run } = openPerson();
  await run(['login', service.url], { stdin: token });
  for (const mode of [0o640, 0o604, 0o620]) {
    chmodSync(fileOf(home), mode);
    const { code, stderr } = await run(['inbox']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('Others may read')]);
    expect(stderr).not.toContain(token);
  }
  chmodSync(fileOf(home), 0o600);
  expect((await run(['inbox'])).code).toBe(0);
  const text = readFileSync(fileOf(home), 'utf8');
  writeFileSync(fileOf(home), text.slice(0, 20));
  expect(await run(['inbox'])).toMatchObject({ code: 1, stderr: expect.stringContaining('damaged') });
  writeFileSync(join(home, 'other'), text, { mode: 0o600 });
  await run(['logout']);
  symlinkSync(join(home, 'other'), fileOf(home));
  expect(await run(['inbox'])).toMatchObject({ code: 1, stderr: expect.stringContaining('not a file of yours') });
});

test('a wrong token is refused and not kept, and no message shows it', async () => {
  const { home, run } = openPerson();
  for (const wrong of ['dh_wrong-token-0123456789', 'with space', 'line\nbreak', 'ümlaut']) {
    const { code, stdout, stderr } = await run(['login', service.url], { stdin: wrong });
    expect([wrong, code]).toEqual([wrong, 1]);
    expect(stdout + stderr).not.toContain(wrong);
    expect(stderr).not.toMatch(/\n\s+at /);
  }
  expect(existsSync(fileOf(home))).toBe(false);
});

test('a short token does not blot out words of a message', async () => {
  const { stderr } = await openPerson().run(['login', service.url], { stdin: 'wrong' });
  expect(stderr).toContain('The token is wrong');
});

test('wrong usage of login ends with 2', async () => {
  const { run } = openPerson();
  for (const args of [
    ['login'],
    ['login', 'ftp://x'],
    ['login', 'not an address'],
    ['login', 'a', 'b'],
    ['login', '--nope'],
  ])
    expect([args, await run(args, { stdin: token })]).toEqual([args, expect.objectContaining({ code: 2 })]);
  expect(await run(['login', service.url])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('DECKHAND_TOKEN'),
  });
  expect(await run(['login', service.url, '--ca', '/nowhere.pem'], { stdin: token })).toMatchObject({ code: 2 });
});

test('something else than the service is told apart, and what cannot be reached is named', async () => {
  const { run } = openPerson();
  const away = await run(['login', closed], { stdin: token });
  expect(away).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot be reached (ECONNREFUSED)') });
  const page = await run(['login', `${service.url}/somewhere`], { stdin: token });
  const found = `GET ${service.url}/somewhere/api/v1/me got HTTP 404 and `;
  expect(page).toMatchObject({ code: 1, stderr: expect.stringContaining(found) });
  expect(page.stderr).toContain('does not answer as Deckhand does');
  const site = createServer((_, res) =>
    res.setHeader('Content-Type', 'text/html; charset=utf-8').end('<h1>Hello</h1>'),
  );
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  const { port } = site.address() as AddressInfo;
  const other = await run(['login', `http://127.0.0.1:${port}`], { stdin: token });
  expect(other).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('got HTTP 200 and text/html. Open the address'),
  });
  await new Promise((resolve) => site.close(resolve));
});

test('the version is printed, and inbox lists what others are responsible for with --scope all', async () => {
  const { run, json } = openPerson({ DECKHAND_URL: service.url, DECKHAND_TOKEN: token });
  expect(await run(['--version'])).toEqual({ code: 0, stdout: '0.1.0\n', stderr: '' });
  await service.token('mate');
  const { body: mate } = await service.call('POST', `/projects/${project}/members`, { token, body: { login: 'mate' } });
  const { body: task } = await service.call('POST', `/projects/${project}/tasks`, { token, body: { title: 't' } });
  await service.call('PATCH', `/tasks/${task.id}`, { token, body: { responsible: mate.userId } });
  const { manager } = service.app.db;
  await manager.query(`update tasks set status = 'in_review' where id = $1`, [task.id]);
  expect(await json('inbox')).toEqual([]);
  expect(await json('inbox', '--scope', 'all')).toMatchObject([{ taskId: task.id }]);
  expect((await run(['inbox', '--scope', 'ours'])).code).toBe(2);
  await manager.query('delete from tasks where id = $1', [task.id]);
});

test('variables are enough, and a stored token goes only to its own service', async () => {
  const { run } = openPerson();
  const env = { DECKHAND_URL: service.url, DECKHAND_TOKEN: token };
  expect(await run(['inbox', '--json'], { env })).toEqual({ code: 0, stdout: '[]\n', stderr: '' });
  expect(await run(['inbox'], { env: { DECKHAND_URL: service.url } })).toMatchObject({ code: 1 });
  await run(['login', service.url], { stdin: token });
  expect(await run(['inbox'], { env: { DECKHAND_URL: closed } })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('You are logged in to'),
  });
  expect((await run(['inbox', '--url', `${service.url}/`])).code).toBe(0);
});

test('a revoked token is refused with what to do', async () => {
  const { run } = openPerson();
  const made = await service.call('POST', '/me/tokens', { token, body: { name: 'cli' } });
  await run(['login', service.url], { stdin: made.body.token });
  await service.call('DELETE', `/me/tokens/${made.body.id}`, { token });
  const { code, stderr } = await run(['inbox']);
  expect([code, stderr]).toEqual([1, expect.stringContaining('deckhand login')]);
});

test('a project can be kept with the login, by its id, slug or name', async () => {
  const { home, run } = openPerson();
  for (const name of [project, project.slice(-6), 'P']) {
    await run(['login', service.url, '--project', name], { stdin: token });
    expect(JSON.parse(readFileSync(fileOf(home), 'utf8')).project).toBe(project);
  }
  expect(await run(['login', service.url, '--project', 'other'], { stdin: token })).toMatchObject({ code: 1 });
});

test('inbox says where to look when the service switched off an automation or a webhook', async () => {
  const { run } = openPerson({ DECKHAND_URL: service.url, DECKHAND_TOKEN: token });
  const { app } = service;
  await app.db.manager.query(
    `insert into automations (id, project_id, name, trigger, task, enabled, paused_at, paused_reason)
     values ('auto_nightly', $1, 'Nightly', '{}', '{}', false, now(), 'Its agent was deleted')`,
    [project],
  );
  await app.db.manager.query(
    `insert into admin_notices (project_id, reason, object_id, title, text)
     values ($1, 'webhook', 'hook', 'A webhook was switched off', 'The receiver answered 410')`,
    [project],
  );
  const { code, stdout } = await run(['inbox']);
  expect(code).toBe(0);
  expect(stdout).toContain(`→ see Automations of project ${project} in the dashboard`);
  expect(stdout).toContain(`→ see Settings, Webhooks, of project ${project} in the dashboard`);
  expect(stdout).not.toContain('null');
});
