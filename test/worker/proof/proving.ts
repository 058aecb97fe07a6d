import type { Proof } from '../../../src/domain/proof/proof.ts';
import type { Environment } from '../../../src/environment/environment.ts';
import { prepareEnvironment } from '../../../src/environment/prepare.ts';
import type { SetupContext } from '../../../src/environment/setup-context.ts';
import type { Checkout } from '../../../src/git/engine.ts';
import { openCheckout } from '../../../src/repositories/reader.ts';
import { noSettings } from '../../../src/repositories/settings/repository-settings.ts';
import type { RepositorySettings } from '../../../src/repositories/settings/schema.ts';
import type { Journal } from '../../../src/runs/journal.ts';
import { proveChange } from '../../../src/worker/proof/prove.ts';
import { firstFailure, runChecks } from '../../../src/worker/proof/run-checks.ts';
import type { Work } from '../../../src/worker/work.ts';
import { openTestApp, type TestApp } from '../../support/app.ts';
import { gitWith, serveSampleRepository } from '../../support/git.ts';

let service: TestApp;
let host: Awaited<ReturnType<typeof serveSampleRepository>>;
let checkout: Checkout;
let environment: Environment;
const opened: (() => Promise<unknown>)[] = [];

/** Opens a repository and an environment for the tests of one file. */
export function openRepository(): void {
  beforeAll(open);
  afterAll(async () => {
    for (const close of opened.reverse()) await close();
    await service.close();
    host.close();
  });
}

async function open(): Promise<void> {
  // Other test files of this process had repositories of their own.
  written.clear();
  service = await openTestApp({ SANDBOX: 'auto', ALLOW_PRIVATE_HOSTS: 'true' });
  host = await serveSampleRepository();
  const open = await openCheckout(service.app, { url: host.url, token: 'good-token' }, new AbortController().signal);
  opened.push(open.remove);
  checkout = open.checkout;
  const base = (await checkout.fetch('main')) ?? '';
  await checkout.checkout(base);
  const context = {
    app: service.app,
    repository: { id: 'repo_1', projectId: 'project_1' },
    checkout,
    settings: { ...noSettings, network: { setup: [], agent: [] } },
    signal: new AbortController().signal,
    note: async () => {},
  } as unknown as SetupContext;
  environment = await prepareEnvironment(context, base);
  opened.push(environment.remove);
}

/** Contents by path: those of a file, the target of a symbolic link, a submodule, or undefined for a file that is removed. */
type Files = Record<string, string | { link: string } | { commit: string } | undefined>;

/** The ids of contents that were written. Many cases have the same files, and each write starts git. */
const written = new Map<string, string>();

function blobOf(content: string): string {
  const oid = written.get(content) ?? gitWith(checkout.gitDir, content, 'hash-object', '-w', '--stdin');
  written.set(content, oid);
  return oid;
}

/** Writes a tree with these files; those that are undefined are removed. */
async function treeWith(files: Files, before?: string): Promise<string> {
  const empty = gitWith(checkout.gitDir, '', 'hash-object', '-t', 'tree', '-w', '--stdin');
  const entries = Object.entries(files).map(([path, content]) => {
    if (content === undefined) return { path, mode: '000000', oid: '0'.repeat(40) };
    if (typeof content === 'string') return { path, mode: '100644', oid: blobOf(content) };
    return 'link' in content
      ? { path, mode: '120000', oid: blobOf(content.link) }
      : { path, mode: '160000', oid: content.commit };
  });
  return checkout.replaceFiles(before ?? empty, entries);
}

/** A journal that keeps its steps in memory, and can end its worker before it records a step. */
export function journalWith(steps: Map<string, unknown>, dies = () => false): Journal {
  return {
    recall: async (name: string) => steps.get(name),
    note: async () => {},
    write: async () => {},
    once: async (name: string, make: () => Promise<unknown>) => {
      if (steps.has(name)) return steps.get(name);
      const data = await make();
      if (dies()) throw new Error('killed');
      steps.set(name, JSON.parse(JSON.stringify(data)));
      return data;
    },
  } as unknown as Journal;
}

export interface Given {
  base: Files;
  change: Files;
  settings: Partial<RepositorySettings>;
  journal?: Journal;
}

/** A run that changed a repository like this, and the tree of the change. */
export async function workWith({ base, change, settings, journal }: Given): Promise<{ work: Work; tree: string }> {
  const before = await treeWith(base);
  const from = await checkout.commit({
    tree: before,
    parents: [],
    message: 'base\n',
    author: { name: 'a', email: 'a@example.com' },
    at: new Date('2026-01-02T03:04:05Z'),
  });
  const work = {
    checkout,
    environment,
    settings: { ...noSettings, ...settings },
    branch: { name: 'agent/x', from, base: from, continues: false },
    host: { hasShell: true },
    task: { repositoryId: 'repo_1' },
    repository: { id: 'repo_1' },
    run: { id: 'run_1' },
    journal: journal ?? journalWith(new Map()),
    signal: new AbortController().signal,
  } as unknown as Work;
  return { work, tree: await treeWith(change, before) };
}

/** Proves a change whose own checks pass. */
export async function proofOf(given: Given): Promise<Proof> {
  const { work, tree } = await workWith(given);
  const checks = await runChecks(work, tree);
  expect(firstFailure(checks)).toBeUndefined();
  return (await proveChange(work, tree, checks)).proof;
}
