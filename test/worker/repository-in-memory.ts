import type { Change, Checkout } from '../../src/git/engine.ts';
import { noSettings } from '../../src/repositories/settings/repository-settings.ts';
import { judgeChanges } from '../../src/worker/leaving/objection.ts';
import type { Work } from '../../src/worker/work.ts';
import type { Branch } from '../../src/worker/workspace/workspace.ts';

export type Files = Record<string, string>;

const oid = (content: string) => `blob ${content}`;
const oidOf = (mode: string, content: string) => (mode === '160000' ? content : oid(content));

/** Creates a repository in memory. Trees are named; the content of a file may begin with its mode: `100755 text`. */
function repositoryOf(trees: Record<string, Files>): Checkout {
  const entry = (tree: string, path: string) => {
    const content = trees[tree]?.[path];
    const [, mode, rest] = /^(1\d{5}) (.*)$/s.exec(content ?? '') ?? [undefined, '100644', content];
    return content === undefined
      ? { mode: '000000', oid: '0' }
      : { mode: mode ?? '', oid: oidOf(mode ?? '', rest ?? '') };
  };
  const changes = (from: string, to: string): Change[] =>
    [...new Set([...Object.keys(trees[from] ?? {}), ...Object.keys(trees[to] ?? {})])]
      .map((path) => ({ path, old: entry(from, path), now: entry(to, path) }))
      .filter(({ old, now }) => old.mode !== now.mode || old.oid !== now.oid)
      .map(({ path, old, now }) => ({ path, oldMode: old.mode, oldOid: old.oid, newMode: now.mode, newOid: now.oid }));
  return {
    snapshot: async () => 'now',
    treeOf: async (commit: string) => commit,
    changes: async (from: string, to: string) => changes(from, to),
    merge: async () => ({ tree: 'joined', conflicts: [] }),
    readFile: async (commit: string, path: string) => {
      const content = trees[commit]?.[path];
      return content === undefined ? undefined : Buffer.from(content);
    },
    files: async (tree: string) =>
      new Map(Object.keys(trees[tree] ?? {}).map((path) => [path, entry(tree, path)] as const)),
    readBlobs: async (oids: string[]) => new Map(oids.map((each) => [each, Buffer.from(each.slice('blob '.length))])),
  } as unknown as Checkout;
}

export function workOn(
  trees: Record<string, Files>,
  more: { branch?: Partial<Branch>; others?: Work[]; settings?: object } = {},
) {
  return {
    checkout: repositoryOf(trees),
    branch: { name: 'agent/x', from: 'before', continues: false, base: 'before', ...more.branch },
    repository: { name: 'docs' },
    settings: { ...noSettings, ...more.settings },
    secrets: [],
    others: more.others ?? [],
  } as unknown as Work;
}

export const judge = (work: Work) => judgeChanges(work, ({ checkout }) => checkout.snapshot());
export const said = async (work: Work) => (await judge(work)).refused;
