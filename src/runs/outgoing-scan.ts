import { setImmediate } from 'node:timers/promises';
import { blobsOf } from '../git/diff.ts';
import { isBinary } from '../git/diff-files.ts';
import type { Change, Checkout } from '../git/engine.ts';

/** A change that may not leave the house, named by its file. */
export interface Objection {
  path: string;
  reason: string;
}

const maxFileBytes = 5_000_000;
const removed = '[a credential was removed]';
/** A shorter text would be found by chance. */
const minSecretLength = 8;

/** Tokens by their well-known shapes; each begins with what its maker chose so that scanners find it. */
const tokenShapes: [string, RegExp][] = [
  ['a GitHub token', /\b(gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,})/],
  ['an OpenAI key', /\bsk-(?:proj-|svcacct-)?[A-Za-z0-9_-]{32,}/],
  ['an AWS access key', /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/],
  ['a Slack token', /\b(?:xox[abprs]|xapp)-[A-Za-z0-9-]{20,}|hooks\.slack\.com\/services\/T\w+\/B\w+\/\w+/],
  ['a GitLab token', /\bglpat-[A-Za-z0-9_-]{20,}/],
  ['a Google API key', /\bAIza[A-Za-z0-9_-]{35}\b/],
  ['an npm token', /\bnpm_[A-Za-z0-9]{36}\b/],
  ['a PyPI token', /\bpypi-[A-Za-z0-9_-]{50,}/],
  ['a Stripe key', /\b[rs]k_live_[A-Za-z0-9]{20,}/],
  ['a Hugging Face token', /\bhf_[A-Za-z0-9]{30,}/],
  ['a SendGrid key', /\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}/],
  ['a private key', /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----/],
];

/**
 * Looks at what a run is about to push, at git's objects and not at the workspace, so that nothing changes between look
 * and push. `secrets` are the live credentials this run could have met.
 */
export async function objectionsTo(checkout: Checkout, changes: Change[], secrets: string[]): Promise<Objection[]> {
  const objections: Objection[] = [];
  const forms = secrets.filter((s) => s.length >= minSecretLength).flatMap(formsOf);
  const after = await blobsOf(checkout, changes, 'new');
  // The old contents may be far larger; they only tell which tokens were there before.
  const changed = changes.filter((c) => c.newMode !== '000000');
  const before = await blobsOf(checkout, changed, 'old', maxFileBytes);
  for (const change of changes) {
    const reason = objectionToPath(change, forms) ?? objectionToContent(before, after, change, forms);
    if (reason !== undefined) objections.push({ path: change.path, reason });
    // A large change takes seconds, in which others want to be heard.
    await setImmediate();
  }
  return objections;
}

function objectionToPath({ path, newMode }: Change, secrets: string[]): string | undefined {
  if (newMode !== '000000' && secrets.some((secret) => path.includes(secret)))
    return 'has a live credential in its name';
  if (path.split('/').some((part) => part === '..' || isGitFolder(part))) return "is inside git's own folder";
  if (newMode === '120000' && /(^|\/)\.git(modules|attributes|ignore)$/i.test(path))
    return 'is a link in place of a file of git';
  if (path.toLowerCase().startsWith('.github/workflows/')) return 'is a workflow, which agents may not change';
  return newMode === '160000' ? 'is a submodule, which agents may not add' : undefined;
}

function objectionToContent(
  olds: Map<string, Buffer>,
  news: Map<string, Buffer>,
  change: Change,
  secrets: string[],
): string | undefined {
  if (change.newMode === '000000') return undefined;
  const content = news.get(change.newOid) ?? Buffer.alloc(0);
  if (change.newMode === '120000') {
    const target = content.toString('utf8');
    if (leadsOut(change.path, target)) return 'is a link out of the repository';
    if (target.split('/').some(isGitFolder)) return "is a link into git's own folder";
  }
  if (content.length > maxFileBytes) return `has ${content.length} bytes, more than ${maxFileBytes}`;
  // latin1 keeps every byte, so a secret in a binary file is found too.
  const text = content.toString('latin1');
  // Also over several lines, as base64 and hex are printed, and in two bytes for each letter.
  const flat = text.replace(/[\s\0]+/g, '');
  if (secrets.some((secret) => text.includes(secret) || flat.includes(secret))) return 'contains a live credential';
  const before = change.oldMode === '000000' ? '' : (olds.get(change.oldOid)?.toString('latin1') ?? '');
  const shape = tokenShapes.find(([, pattern]) => matchesOf(pattern, text).some((found) => !before.includes(found)));
  if (shape !== undefined) return `contains what looks like ${shape[0]}`;
  return isBinary(content) && change.oldMode === '000000' ? 'is a new binary file' : undefined;
}

function matchesOf(pattern: RegExp, text: string): string[] {
  return [...text.matchAll(new RegExp(pattern, 'g'))].map(([found]) => found);
}

/** The names that some file system takes for git's folder, as git itself refuses them (core.protectHFS, core.protectNTFS). */
function isGitFolder(part: string): boolean {
  const seen = part.replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '').replace(/[ .]+$|:.*$/g, '');
  return /^(\.git|git~1)$/i.test(seen);
}

/**
 * A value with every text in it as it may be shown: live credentials and what looks like a token are taken out. For words
 * of a model, which go to GitHub and into logs.
 */
export function withoutSecrets<T>(value: T, secrets: string[]): T {
  const forms = secrets.filter((s) => s.length >= minSecretLength).flatMap(formsOf);
  const clean = (text: string) => {
    let shown = text;
    for (const form of forms) shown = shown.replaceAll(form, removed);
    for (const [, pattern] of tokenShapes) shown = shown.replace(new RegExp(pattern, 'g'), removed);
    return shown;
  };
  return JSON.parse(JSON.stringify(value, (_key, v) => (typeof v === 'string' ? clean(v) : v)));
}

function leadsOut(path: string, target: string): boolean {
  if (target.startsWith('/')) return true;
  let depth = path.split('/').length - 1;
  let isDown = false;
  for (const part of target.split('/')) {
    // Behind a folder that may itself be a link, "up" leads anywhere.
    if (part === '..' && isDown) return true;
    isDown ||= part !== '' && part !== '.' && part !== '..';
    if (part === '..') depth -= 1;
    else if (part !== '' && part !== '.') depth += 1;
    if (depth < 0) return true;
  }
  return false;
}

/** A secret as it is, in base64 (at each of the three offsets it may stand at) and in hex. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const shifted = [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    // The first and last characters mix with their neighbours.
    return encoded.slice(Math.ceil((offset * 8) / 6), -1);
  });
  const url = shifted.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  const hex = bytes.toString('hex');
  return [...new Set([secret, ...shifted, ...url, hex, hex.toUpperCase()])];
}

/** Those of the conflicting paths that still hold both sides between git's markers. */
export async function stillTorn(checkout: Checkout, changes: Change[], conflicts: string[]): Promise<string[]> {
  const mended = changes.filter((c) => conflicts.includes(c.path) && c.newMode !== '000000');
  const blobs = await blobsOf(checkout, mended, 'new');
  const isTorn = ({ newOid }: Change) => /^(<{7} |>{7} )/m.test(blobs.get(newOid)?.toString('latin1') ?? '');
  return mended.filter(isTorn).map((c) => c.path);
}
