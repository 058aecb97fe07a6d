import type { EntityManager } from 'typeorm';
import { noSettings } from '../../../src/repositories/settings/repository-settings.ts';
import { lookUpProof } from '../../../src/worker/reviewing/known-proof.ts';

// A second head gets the proof of the first one without running anything, if all files are the same.

type Files = Record<string, { mode: string; oid: string }>;
const file = (oid: string, mode = '100644') => ({ mode, oid: oid.repeat(40) });

async function fingerprintOf(after: Files, checks: string[]): Promise<string> {
  const before: Files = { 'src/a.py': file('0') };
  const checkout = {
    mergeBases: async () => ['base'],
    commitsSince: async () => [],
    changes: async () => Object.keys(after).map((path) => ({ path })),
    // The id of a tree depends on all files in it.
    treeOf: async (commit: string) => JSON.stringify(commit === 'base' ? before : after),
  };
  const settings = { ...noSettings, checks };
  const placed = { branch: { from: 'head' }, baseHead: 'base', settings };
  const about = {
    ask: { repositoryId: 'repo_1' },
    journal: { once: async (_step: string, work: () => Promise<unknown>) => work() },
    retrying: (work: () => unknown) => work(),
    isAsked: true,
  };
  const found = await lookUpProof({} as EntityManager, { checkout, placed } as never, about as never);
  return found.fingerprint;
}

test.each([
  ['a program that is named like a document', 'bin/history', '100755', ['pytest']],
  ['a module with JavaScript in it', 'pages/index.mdx', '100644', ['npx vitest run']],
  ['a document that a check runs', 'README.md', '100644', ['python -m doctest README.md']],
  ['a document that a check finds by a pattern', 'docs/use.md', '100644', ['python -m doctest docs/*.md']],
  ['a file without an ending that a program loads', 'src/license', '100644', ['node --test']],
])('%s counts for a proof', async (_what, path, mode, checks) => {
  const [one, two] = [{ [path]: file('1', mode) }, { [path]: file('2', mode) }];
  expect(await fingerprintOf(one, checks)).not.toBe(await fingerprintOf(two, checks));
});
