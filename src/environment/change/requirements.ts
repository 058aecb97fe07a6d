import { posix } from 'node:path';
import { isRequirement } from './package-managers.ts';

/** The most files of requirements that refer to each other. */
export const maxRequirements = 50;

/** Contents of files, by path. */
type Texts = Map<string, string>;

/**
 * Returns why files of requirements need an approval, as far as they refer to each other. Their options could allow pip to
 * run code.
 */
export function inRequirements(files: string[], base: Texts, change: Texts): string[] {
  const reasons: string[] = [];
  const all = requirementFiles(files, change);
  if (all.length > maxRequirements) return [`${files[0]}: it refers to more than ${maxRequirements} files`];
  for (const path of all) {
    const before = new Set(linesIn(base.get(path) ?? '').filter((line) => isIndexOption.test(line)));
    const wrong = linesIn(change.get(path) ?? '').find((line) => !isHarmless(line) && !before.has(line));
    if (wrong !== undefined)
      reasons.push(`${path}: "${wrong.slice(0, 100)}" is more than a package of the index and its versions`);
  }
  return reasons;
}

/** Returns these files of requirements, and those that they refer to; some of them if they are more than the maximum. */
export function requirementFiles(files: string[], texts: Texts): string[] {
  const found = new Set(files);
  for (const path of found) {
    if (found.size > maxRequirements) break;
    for (const other of referredIn(path, texts.get(path) ?? '')) found.add(other);
  }
  return [...found];
}

/** Returns the files of requirements that one refers to; some of them if they are more than the maximum. */
export function referredIn(path: string, text: string): string[] {
  const found = new Set<string>();
  for (const line of linesIn(text)) {
    const [, other] = referral.exec(line) ?? [];
    if (other !== undefined) found.add(posix.normalize(posix.join(posix.dirname(path), other)));
    if (found.size > maxRequirements) break;
  }
  return [...found];
}

const referral = /^(?:-[rc]|--requirement|--constraint)[ =]?\s*([\w./-]+\.(?:txt|in))$/;
/** Options that name an index. They count as harmless where the base has the same line. */
const isIndexOption = /^(-i|-f|--index-url|--extra-index-url|--find-links|--trusted-host|--pre|--prefer-binary)\b/;

/** Returns the requirements and options of a file of requirements. pip does not join a line of comment with the next one. */
export function linesIn(text: string): string[] {
  return text
    .replaceAll(/(?<=^|\n)[ \t]*#[^\n]*/g, '')
    .replaceAll(/\\\r?\n/g, ' ')
    .split(/\r?\n/)
    .map((line) => line.replace(/(^|\s)#.*$/s, '').trim())
    .filter((line) => line !== '');
}

function isHarmless(line: string): boolean {
  if (!/^[\t\x20-\x7e]*$/.test(line)) return false;
  const [, other] = referral.exec(line) ?? [];
  if (other !== undefined) return !/^\/|(^|\/)\.\.\//.test(posix.normalize(other));
  const [requirement = ''] = line.split(/\s--hash[ =]/, 1);
  const [named = '', ...marker] = requirement.split(';');
  const hashes = line.slice(requirement.length).replaceAll(/\s--hash[ =]sha(256|384|512):[0-9a-f]+(?=\s|$)/g, '');
  return isRequirement(named.trim()) && marker.join(';').replaceAll(markerParts, '') === '' && hashes.trim() === '';
}

/** The parts of a condition after a requirement: strings, names, operators and brackets. None of them begins an option. */
const markerParts = /"[\w.*+-]*"|'[\w.*+-]*'|\b[A-Za-z]\w*|[<>=!~]+|[()\s]/g;
