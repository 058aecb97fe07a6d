import { join, posix } from 'node:path';
import { oneLine, plain } from '../../domain/text/sanitize.ts';
import { type Checkout, maxReadBytes } from '../../git/engine.ts';
import { readInside } from '../../git/work-tree/read-inside.ts';
import type { ToolHost } from '../../sandbox/sandbox.ts';
import { apart } from '../../threads/apart.ts';

/** A skill of the repository: instructions for certain work, which the agent reads when it does such work. */
interface Skill {
  path: string;
  name: string;
  description: string;
}

export interface Skills {
  skills: Skill[];
  /** There are more. */
  isCut: boolean;
}

const folders = ['.github/skills', '.claude/skills'];
const skillPath = /^\.(?:github|claude)\/skills\/[^/]+\/SKILL\.md$/;
/** More skills than this are not listed. */
const maxSkills = 64;
/** The front matter has to end within this many characters. */
const maxHeadChars = 8000;
const maxDescription = 500;
/** Characters of a skill that are shown when the workspace has another version of it. */
const maxShown = 16_000;

const parsing = apart<typeof import('./front-matter.ts')>(new URL('./front-matter.ts', import.meta.url), {
  seconds: 2,
  heapMb: 128,
});

/**
 * Lists the skills at a commit of the base branch, so an agent cannot give itself any. A file whose front matter cannot
 * be read is listed by the name of its folder.
 */
export async function readSkills(checkout: Checkout, commit: string): Promise<Skills> {
  const paths = [];
  for (const folder of folders)
    for (const name of (await checkout.listFolder(commit, folder)).sort()) paths.push(`${folder}/${name}/SKILL.md`);
  const files: { path: string; head: string }[] = [];
  for (const path of paths) {
    if (files.length > maxSkills) break;
    const file = skillPath.test(path) ? await checkout.readFile(commit, path) : undefined;
    const head = file === 'too large' ? '' : file?.toString('utf8', 0, 4 * maxHeadChars).slice(0, maxHeadChars);
    // Often one of the folders is a copy of the other.
    if (head !== undefined && !files.some((each) => each.head === head && head !== '')) files.push({ path, head });
  }
  const listed = files.slice(0, maxSkills);
  const heads = listed.map(({ head }) => head);
  // A hostile file costs the descriptions of the others too, and nothing else.
  const read = heads.length === 0 ? [] : await parsing.call('frontMattersOf', heads).catch(() => []);
  const skills = listed.map(({ path }, i) => {
    const { name = '', description = '' } = read[i] ?? {};
    const folder = posix.basename(posix.dirname(path));
    return { path, name: oneLine(plain(name), 64) || folder, description: oneLine(plain(description), maxDescription) };
  });
  return { skills, isCut: files.length > maxSkills };
}

/**
 * Wraps the tools. When the model reads a skill that differs in the workspace, the result also contains the version of
 * the base branch, because only that one is in force.
 */
export function withSkills(host: ToolHost, checkout: Checkout, commit: string): ToolHost {
  return {
    ...host,
    call: async (tool, args) => {
      const answer = await host.call(tool, args);
      const { path: given } = args as { path?: unknown };
      const path = typeof given === 'string' ? posix.normalize(given) : '';
      if (tool !== 'read_file' || !skillPath.test(path)) return answer;
      const base = await checkout.readFile(commit, path);
      if (!(base instanceof Uint8Array) || (await isInWorkTree(checkout, path, base))) return answer;
      const text = Buffer.from(base).toString('utf8').slice(0, maxShown);
      const said = `[The workspace has another version of this skill. This is the one in force, from the base branch:]\n${text}`;
      return { ok: true, text: answer.ok ? `${answer.text}\n\n${said}` : said };
    },
  };
}

async function isInWorkTree({ workTree }: Checkout, path: string, base: Uint8Array): Promise<boolean> {
  const now = await readInside(join(workTree, path), workTree, maxReadBytes).catch(() => undefined);
  return now?.equals(base) ?? false;
}
