import { spawn } from 'node:child_process';
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { ToolResult } from '../../src/conversation/tools/tool.ts';
import { callTool } from '../../src/conversation/tools.ts';
import { hostClient } from '../../src/sandbox/open-tools.ts';
import type { Confinement, ToolHost } from '../../src/sandbox/sandbox.ts';
import { openSandbox } from '../../src/sandbox/self-test.ts';
import { call, loopContext } from '../support/stand-ins/agent-loop.ts';

/** A call as a model might make it, and what it means: a changed file, a text in the answer, or an ending. */
interface Slip {
  slip: string;
  call?: string;
  args?: object;
  raw?: string;
  /** Short for a call of apply_patch. */
  patch?: string;
  cut?: boolean;
  file?: string;
  /** The content of the file after the call; null if the call deletes it. */
  text?: string | null;
  from?: string;
  to?: string;
  all?: boolean;
  says?: string;
  ends?: ToolResult['kind'];
  /** For calls whose meaning is not clear: what the refusal says. */
  refuse?: string;
}

type Files = Record<string, string>;

const fixtures = join(import.meta.dirname, '../fixtures/slips');
const original: Files = JSON.parse(readFileSync(join(fixtures, 'workspace.json'), 'utf8'));
const kinds = ['names', 'arguments', 'json', 'paths', 'whitespace', 'quotations', 'patches'];
const slipsOf = (kind: string): Slip[] => parse(readFileSync(join(fixtures, `${kind}.yml`), 'utf8'));

const root = mkdtempSync(join(tmpdir(), 'deckhand-slips-'));
chmodSync(root, 0o755);
const limits = { memoryMb: 4096, diskMb: 10_240, processes: 1024 };
const sandbox = await openSandbox({ setting: 'auto', toolsDir: join(root, 'tools'), limits });

let confinement: Confinement;
let walled: ToolHost;
/** Commands run in the sandbox, the file tools in a process of their own, which has the priority of the test. */
let host: ToolHost;
const files = spawn(process.execPath, [
  join(import.meta.dirname, '../../src/sandbox/inside/main.mjs'),
  join(root, 'work'),
]);
const work = join(root, 'work');
beforeAll(async () => {
  mkdirSync(work);
  mkdirSync(join(root, 'git'));
  confinement = await sandbox.confine(new AbortController().signal);
  walled = await confinement.open(work, join(root, 'git'));
  const client = hostClient(files);
  host = {
    ...walled,
    call: (tool, args) => (tool === 'run_command' ? walled.call(tool, args) : client.call(tool, args)),
    restore: async (all) => void (await client.call('restore', { files: all })),
  };
});
afterAll(async () => {
  files.kill('SIGKILL');
  await walled.close();
  await confinement.close();
  rmSync(root, { recursive: true, force: true });
});

function filesNow(folder = ''): Files {
  const entries = readdirSync(join(work, folder)).filter((name) => name !== '.git');
  return Object.assign(
    {},
    ...entries.map((name) => {
      const path = folder === '' ? name : `${folder}/${name}`;
      const isFolder = lstatSync(join(work, path)).isDirectory();
      return isFolder ? filesNow(path) : { [path]: readFileSync(join(work, path), 'utf8') };
    }),
  );
}

/** Restores the workspace if the last call changed it. */
async function reset(): Promise<void> {
  if (isSame(filesNow(), original)) return;
  for (const name of readdirSync(work)) if (name !== '.git') rmSync(join(work, name), { recursive: true });
  const all = Object.entries(original).map(([path, text]) => {
    return { path, mode: '100644', content: Buffer.from(text).toString('base64') };
  });
  await host.restore(all);
}

function isSame(a: Files, b: Files): boolean {
  const paths = Object.keys(a);
  return paths.length === Object.keys(b).length && paths.every((path) => a[path] === b[path]);
}

function meant({ file, text, from, to, all }: Slip): Files {
  if (file === undefined) return original;
  const { [file]: before = '', ...others } = original;
  if (text === null) return others;
  if (text !== undefined) return { ...original, [file]: text };
  if (from === undefined || to === undefined || !before.includes(from)) throw new Error(`${file} has no "${from}"`);
  return { ...original, [file]: all ? before.replaceAll(from, to) : before.replace(from, () => to) };
}

/** Makes one call in a fresh workspace and says what came of it. */
async function outcomeOf(slip: Slip): Promise<{ outcome: 'done' | 'refused' | 'unintended'; answer: string }> {
  await reset();
  const { context } = loopContext([], { host });
  const args = slip.raw ?? slip.args ?? { patch: slip.patch ?? '' };
  const result = await callTool(context, call(slip.call ?? 'apply_patch', args), { isCut: slip.cut === true });
  const after = filesNow();
  const answer = result.kind === 'answer' ? result.text : result.kind;
  const isAnswered = result.kind === 'answer' ? result.ok && slip.ends === undefined : result.kind === slip.ends;
  const isSaid = slip.says === undefined || new RegExp(slip.says).test(answer);
  if (isSame(after, meant(slip)) && isAnswered && isSaid) return { outcome: 'done', answer };
  const isRefused = result.kind === 'answer' && isSame(after, original) && (!result.ok || slip.file === undefined);
  return { outcome: isRefused ? 'refused' : 'unintended', answer };
}

const needsShell = ({ call: name = '', says = '' }: Slip) =>
  /bash|shell|command|terminal|exec/i.test(name) && says !== '' && !sandbox.state.works;

test('of 300 slips, 95 % do what was meant, and none has an unintended effect', async () => {
  const slips = kinds.flatMap((kind) => slipsOf(kind).map((slip) => ({ kind, ...slip }))).filter((s) => !needsShell(s));
  if (sandbox.state.works) expect(slips.length).toBeGreaterThanOrEqual(300);
  const lost: string[] = [];
  const unintended: string[] = [];
  for (const slip of slips) {
    const { outcome, answer } = await outcomeOf(slip);
    if (outcome !== 'done') lost.push(`${slip.kind}: ${slip.slip}: ${answer.slice(0, 300)}`);
    if (outcome === 'unintended') unintended.push(lost.at(-1) ?? '');
  }
  const share = (100 * (slips.length - lost.length)) / slips.length;
  process.stdout.write(
    `slips at the tools: ${slips.length - lost.length} of ${slips.length} did what was meant (${share.toFixed(1)} %), ${unintended.length} had an unintended effect\n${lost.map((each) => `  ${each}\n`).join('')}`,
  );
  expect(unintended).toEqual([]);
  expect(share).toBeGreaterThanOrEqual(95);
});

test('calls that could mean two things are refused, change nothing, and say what to do', async () => {
  for (const slip of slipsOf('traps')) {
    const { outcome, answer } = await outcomeOf({ ...slip, says: '^never$' });
    expect([slip.slip, outcome, answer]).toEqual([slip.slip, 'refused', expect.stringMatching(slip.refuse ?? '^$')]);
  }
});
