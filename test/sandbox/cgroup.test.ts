import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findCgroups } from '../../src/sandbox/limits/cgroup.ts';

/** A folder that simulates the machine's control groups. The tests do the kernel's part. */
const mount = mkdtempSync(join(tmpdir(), 'deckhand-cgroup-'));
const own = join(mount, 'own');
afterAll(() => rmSync(mount, { recursive: true, force: true }));

const limits = { memoryMb: 100, diskMb: 100, processes: 50 };
let n = 0;

/** Creates a group with these files that contains this process. */
function placeIn(name: string, files: Record<string, string> = {}): string {
  const group = join(mount, `slice-${n++}`, name);
  mkdirSync(group, { recursive: true });
  const usual = {
    'cgroup.type': 'domain\n',
    'cgroup.controllers': 'cpu memory pids\n',
    'cgroup.subtree_control': '\n',
    'cgroup.procs': '11\n12\n',
  };
  for (const [file, text] of Object.entries({ ...usual, ...files })) writeFileSync(join(group, file), text);
  writeFileSync(own, `4:memory:/elsewhere\n0::${group.slice(mount.length)}\n`);
  return group;
}
const find = (isDelegated = true) => findCgroups({ mount, own, isDelegated: async () => isDelegated });
const read = (...path: string[]) => readFileSync(join(...path), 'utf8');

test('a run gets a limited group beside that of the service, and the group is removed at the end', async () => {
  const service = placeIn('deckhand.service');
  const tree = await find();
  expect(read(service, 'service/cgroup.procs')).toBe('12');
  expect(read(service, 'cgroup.subtree_control')).toBe('+memory +pids');
  const group = await tree?.open(limits);
  const [name = ''] = readdirSync(service).filter((f) => f.startsWith('run-'));
  const run = join(service, name);
  const files = ['pids.max', 'memory.max', 'memory.swap.max', 'memory.oom.group'];
  expect(files.map((file) => read(run, file))).toEqual(['50', '104857600', '0', '1']);
  group?.enter(4321);
  expect(read(run, 'cgroup.procs')).toBe('4321');
  expect(await group?.exceeded()).toBeUndefined();
  writeFileSync(join(run, 'pids.events'), 'max 3\n');
  expect(await group?.exceeded()).toBe('processes');
  writeFileSync(join(run, 'memory.events'), 'low 0\noom 1\noom_kill 1\n');
  expect(await group?.exceeded()).toBe('memory');
  const closing = group?.close();
  const isKilled = () => existsSync(join(run, 'cgroup.kill')) && read(run, 'cgroup.kill') === '1';
  while (!isKilled()) await new Promise((resolve) => setImmediate(resolve));
  // A real group can be removed although it contains files of the kernel.
  for (const file of readdirSync(run)) rmSync(join(run, file));
  await closing;
  expect(existsSync(run)).toBe(false);
});

test('a process that systemd put below the delegated group is not moved', async () => {
  const service = placeIn('deckhand.service', { 'cgroup.procs': '' });
  mkdirSync(join(service, 'main'));
  writeFileSync(own, `0::${service.slice(mount.length)}/main\n`);
  expect(await find()).toBeDefined();
  expect(existsSync(join(service, 'service'))).toBe(false);
});

test('groups of ended runs are removed at the start', async () => {
  const service = placeIn('deckhand.service');
  mkdirSync(join(service, 'run-of-a-dead-one'));
  await find();
  expect(existsSync(join(service, 'run-of-a-dead-one'))).toBe(false);
});

test.each<[string, () => unknown, boolean?]>([
  ['a session, which belongs to its user', () => placeIn('session-1.scope')],
  ['a slice, which contains other groups', () => placeIn('user.slice')],
  ['without the controllers', () => placeIn('deckhand.service', { 'cgroup.controllers': 'cpu io\n' })],
  ['the root group of a machine, which has no cgroup.type', () => rmSync(join(placeIn('x.service'), 'cgroup.type'))],
  ['version 1 alone', () => writeFileSync(own, '4:memory:/x.service\n')],
  ['no control groups at all', () => rmSync(own)],
])('groups that were not delegated are left unchanged: %s', async (_what, place) => {
  const group = place();
  expect(await find()).toBeUndefined();
  if (typeof group === 'string') expect(read(group, 'cgroup.subtree_control')).toBe('\n');
});

test('root asks systemd whether a group was delegated, because root can write to any', async () => {
  if (process.getuid?.() !== 0) return;
  const service = placeIn('deckhand.service');
  expect(await find(false)).toBeUndefined();
  expect(read(service, 'cgroup.subtree_control')).toBe('\n');
});
