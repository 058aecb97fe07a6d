// Runs in a worker thread (commit-rules.ts), because rules and titles were written by others.

import { isUtf8 } from 'node:buffer';
import lint from '@commitlint/lint';
import parse from '@commitlint/parse';
import { parse as parseYaml } from 'yaml';
import {
  type CommitRules,
  casesOf,
  conventionalRules,
  cutAtWord,
  type Header,
  headerOf,
  headerText,
  sharedRules,
  typeNamed,
  typeOf,
} from './conventional.ts';

/** At most this many rules and names of shared configurations are read. */
const maxRules = 100;

/** The rules of a configuration, and what of it is not used. `undefined` when the file has no configuration. */
export interface ReadRules {
  rules: CommitRules | undefined;
  notes: string[];
}

/** Reads the configuration of commitlint in a file. In package.json and package.yaml it is the key `commitlint`. */
export async function readRules(name: string, bytes: Uint8Array): Promise<ReadRules> {
  const all = dataIn(bytes);
  if (all === undefined) return { rules: conventionalRules, notes: [`${name} cannot be read`] };
  const config = /^package\.(?:json|yaml)$/.test(name) ? fieldOf(all, 'commitlint') : all;
  if (config === undefined) return { rules: undefined, notes: [] };
  if (typeof config !== 'object' || config === null)
    return { rules: conventionalRules, notes: [`${name} must contain extends and rules`] };
  const { bases, notes } = basesOf(fieldOf(config, 'extends'));
  const own = await usableRules(fieldOf(config, 'rules'));
  notes.push(...own.notes);
  for (const key of ['parserPreset', 'plugins', 'ignores'])
    if (fieldOf(config, key) !== undefined) notes.push(`${key} is not used`);
  const isEmpty = bases.length === 0 && Object.keys(own.rules).length === 0;
  const merged = Object.assign({}, ...(isEmpty ? [conventionalRules] : bases), own.rules) as CommitRules;
  // Only errors make a commit wrong.
  const rules = Object.fromEntries(Object.entries(merged).filter(([, [level]]) => level === 2));
  return { rules, notes };
}

/** YAML includes JSON. */
function dataIn(bytes: Uint8Array): unknown {
  if (!isUtf8(bytes)) return undefined;
  const text = new TextDecoder().decode(bytes);
  try {
    return JSON.parse(text);
  } catch {
    try {
      return parseYaml(text, { schema: 'core', merge: false, maxAliasCount: 10, logLevel: 'error' }) ?? {};
    } catch {
      return undefined;
    }
  }
}

function fieldOf(value: unknown, key: string): unknown {
  const isMapping = typeof value === 'object' && value !== null && Object.hasOwn(value, key);
  return isMapping ? (value as Record<string, unknown>)[key] : undefined;
}

function basesOf(given: unknown): { bases: CommitRules[]; notes: string[] } {
  const names = (Array.isArray(given) ? given : given === undefined ? [] : [given]).slice(0, maxRules).map(String);
  const notes = names
    .filter((name) => !Object.hasOwn(sharedRules, name))
    .map((name) => `the rules of ${name.slice(0, 100)} are not known, so the conventional ones count`);
  return {
    bases: names.map((name) => (Object.hasOwn(sharedRules, name) ? sharedRules[name] : undefined) ?? conventionalRules),
    notes,
  };
}

/** Returns the rules that commitlint can check. */
async function usableRules(given: unknown): Promise<{ rules: CommitRules; notes: string[] }> {
  const rules: CommitRules = {};
  const notes: string[] = [];
  if (typeof given !== 'object' || given === null) return { rules, notes };
  for (const [name, value] of Object.entries(given).slice(0, maxRules)) {
    const rule = (Array.isArray(value) && value.length === 1 && value[0] !== 0 ? [...value, 'always'] : value) as never;
    const problem = await problemsIn('type: subject', { [name]: rule }).then(
      () => undefined,
      (error) => String((error as Error).message),
    );
    if (problem === undefined) rules[name] = rule;
    else notes.push(`the rule ${name.slice(0, 50)} is not used`);
  }
  return { rules, notes };
}

/**
 * The parser's options in the preset `conventionalcommits`, which the configurations of commitlint name. Without them
 * it does not know the `!` of a breaking change.
 */
const parserOpts = {
  headerPattern: /^(\w*)(?:\((.*)\))?!?: (.*)$/,
  breakingHeaderPattern: /^(\w*)(?:\((.*)\))?!: (.*)$/,
  noteKeywords: ['BREAKING CHANGE', 'BREAKING-CHANGE'],
};

async function problemsIn(message: string, rules: CommitRules): Promise<{ name: string; message: string }[]> {
  const { errors } = await lint(message, rules as never, { defaultIgnores: false, parserOpts });
  return errors;
}

/** Returns what is wrong with a message by these rules, in the words of commitlint. */
export async function problemsWith(message: string, rules: CommitRules): Promise<string[]> {
  return (await problemsIn(message, rules)).map((problem) => problem.message);
}

/** Returns what is wrong with the first line of a message. Rules about its other lines do not count. */
export async function problemsWithTitle(title: string, rules: CommitRules): Promise<string[]> {
  if (title.trim() === '') return ['title may not be empty'];
  const { type } = await parse(title, undefined, parserOpts);
  const found = (await problemsIn(title, rules)).filter(({ name }) => /^(?:type|scope|subject|header)-/.test(name));
  // Rules may leave out the type, but then a release tool would not read the title either.
  const missing = (type ?? '') === '' && !found.some(({ name }) => name === 'type-empty');
  return [...(missing ? ['type may not be empty'] : []), ...found.map(({ message }) => message)];
}

/** What a title is written for. */
export interface TitleGiven {
  title: string;
  /** The title of the task, used when a title says nothing. */
  instead: string;
  /** The paths of the files that changed. */
  paths: string[];
}

/**
 * Returns a title that follows the rules: of an allowed type, in the right case, without a full stop, short enough. A
 * title that follows them stays as it is. The same input always gives the same title.
 */
export async function conformedTitle(given: TitleGiven, rules: CommitRules): Promise<string> {
  const title = given.title.trim();
  if ((await problemsWithTitle(title, rules)).length === 0) return title;
  let best: { title: string; count: number } | undefined;
  for (const header of candidatesFor(title, given, rules)) {
    const candidate = headerText(header);
    const count = (await problemsWithTitle(candidate, rules)).length;
    if (count === 0) return candidate;
    if (best === undefined || count < best.count) best = { title: candidate, count };
  }
  return best?.title ?? title;
}

function candidatesFor(title: string, { instead, paths }: TitleGiven, rules: CommitRules): Header[] {
  const enumerated = listIn(rules, 'type-enum') ?? listIn(conventionalRules, 'type-enum') ?? [];
  // No parser finds another type in a title, and `@name` would mention somebody.
  const allowed = enumerated.filter((type) => /^[\p{L}\p{N}_-]+$/u.test(type));
  const read = headerOf(title);
  const named = typeNamed(read.type, allowed);
  // A word before a colon that is no type belongs to the subject.
  const header = named === undefined ? { ...headerOf(''), subject: title } : read;
  const subject = withoutStop(header.subject, rules) || withoutStop(headerOf(instead).subject, rules) || 'update files';
  const type = named ?? typeOf(paths, subject, allowed);
  const isBreaking = header.isBreaking && rules['subject-exclamation-mark']?.[1] !== 'never';
  const scope = scopeFor(header.scope, paths, rules);
  const start = headerText({ type, scope, isBreaking, subject: '' }).length;
  const most = Math.min(numberIn(rules, 'header-max-length', 100) - start, numberIn(rules, 'subject-max-length', 1000));
  return casesOf(cutAtWord(subject, Math.max(most, 10))).map((each) => ({ type, scope, isBreaking, subject: each }));
}

function withoutStop(subject: string, rules: CommitRules): string {
  const [, applicable, value] = rules['subject-full-stop'] ?? rules['header-full-stop'] ?? [2, 'never', '.'];
  const text = subject.trim();
  const stop = typeof value === 'string' && value !== '' ? value : '.';
  if (applicable === 'always') return text === '' || text.endsWith(stop) ? text : text + stop;
  let end = text.length;
  while (text.slice(0, end).endsWith(stop)) end -= stop.length;
  return text.slice(0, end).trim();
}

/** Whether a scope that a configuration or a folder names mentions nobody and no issue. */
function isHarmless(scope: string): boolean {
  return !/[@#<&]|\bGH-\d|https?:/i.test(scope);
}

/** Keeps a scope that is allowed. Where one is required, chooses that of a folder of the change. */
function scopeFor(given: string, paths: string[], rules: CommitRules): string {
  const [, emptiness] = rules['scope-empty'] ?? [];
  if (emptiness === 'always') return '';
  const [, applicable] = rules['scope-enum'] ?? [];
  const listed = applicable === 'always' ? (listIn(rules, 'scope-enum') ?? []) : [];
  const allowed = listed.filter(isHarmless);
  const scope = rules['scope-case'] === undefined ? given : given.toLowerCase();
  const isAllowed = listed.length === 0 || allowed.includes(scope);
  if (scope !== '' && isAllowed) return scope;
  if (emptiness !== 'never') return '';
  const folders = paths.flatMap((path) => path.split('/').slice(0, -1));
  if (listed.length > 0) return allowed.find((each) => folders.includes(each)) ?? allowed[0] ?? '';
  const folder = folders[0]?.toLowerCase().replace(/[^a-z0-9-]/g, '-') ?? 'repo';
  return isHarmless(folder) ? folder : 'repo';
}

function listIn(rules: CommitRules, name: string): string[] | undefined {
  const [, applicable, value] = rules[name] ?? [];
  const list = Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
  return applicable === 'never' || list.length === 0 ? undefined : list;
}

function numberIn(rules: CommitRules, name: string, otherwise: number): number {
  const [, , value] = rules[name] ?? [];
  return typeof value === 'number' && value > 0 ? value : otherwise;
}
