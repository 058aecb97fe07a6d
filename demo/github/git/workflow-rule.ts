import { gitIn } from './git-objects.ts';

/**
 * Returns the first workflow for which GitHub refuses a push of an App without the permission `workflows`, by ref. GitHub
 * accepts a workflow that another branch has with the same path and contents (docs.github.com, "Scopes for OAuth apps").
 */
export async function refusedWorkflows(
  folder: string,
  before: Map<string, string>,
  after: Map<string, string>,
): Promise<Map<string, string>> {
  const known = new Set<string>();
  for (const sha of new Set(before.values())) for (const file of await workflowsOf(folder, sha)) known.add(file);
  const refused = new Map<string, string>();
  for (const [ref, sha] of after) {
    if (before.get(ref) === sha) continue;
    const changed = await changedIn(folder, sha, [...before.values()]);
    const found = (await workflowsOf(folder, sha)).find((file) => !known.has(file) && changed.has(pathOf(file)));
    if (found !== undefined) refused.set(ref, pathOf(found));
  }
  return refused;
}

const pathOf = (file: string) => file.split('\t')[1] ?? '';

/** Lists the workflows of a commit: the hash and the path of each. */
async function workflowsOf(folder: string, sha: string): Promise<string[]> {
  const args = ['ls-tree', '-r', '--format=%(objectname)%x09%(path)', sha, '.github/workflows/'];
  return (await gitIn(folder, args)).toString('utf8').split('\n').filter(Boolean);
}

/** Returns the workflows that the commits of a push change, merges as seen from the branch. */
async function changedIn(folder: string, sha: string, known: string[]): Promise<Set<string>> {
  const range = [sha, '--not', ...new Set(known), '--', '.github/workflows/'];
  const args = ['log', '--format=', '--name-only', '--diff-merges=first-parent', ...range];
  return new Set((await gitIn(folder, args)).toString('utf8').split('\n').filter(Boolean));
}

/** Returns the answer of a git server that refuses a push, for clients with `side-band-64k`, which all of ours have. */
export function rejection(refs: Map<string, string>): Buffer {
  const lines = [...refs].map(
    ([ref, path]) =>
      `ng ${ref} refusing to allow a GitHub App to create or update workflow \`${path}\` without \`workflows\` permission\n`,
  );
  const report = `${['unpack ok\n', ...lines].map(packet).join('')}0000`;
  return Buffer.from(`${packet(`\x01${report}`)}0000`);
}

const packet = (text: string) => `${(Buffer.byteLength(text) + 4).toString(16).padStart(4, '0')}${text}`;
