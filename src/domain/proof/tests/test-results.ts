import { createHash } from 'node:crypto';

/** What a test runner said about single tests. */
export interface TestResults {
  passed: string[];
  failed: string[];
  /** Whether all of the output was read, so that a test which is missing did not run. */
  isWhole: boolean;
}

/** The most tests that are read, and the characters of a name. With more, nothing is said about missing tests. */
const maxTests = 5000;
const maxName = 300;
/** Longer lines are no results, apart from those in JSON. */
const maxLine = 2000;
/** The color codes of a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the codes begin with a control character.
const colors = /\x1b\[[\d;]{0,20}m/g;

type Outcome = 'passed' | 'failed' | 'other';
type Found = [name: string, outcome: Outcome];

/** How runners print one test on a line: the name, and what the line says about it. */
const formats: { line: RegExp; read(found: RegExpExecArray): Found }[] = [
  // node --test, Jest, Vitest, Mocha
  {
    line: /^\s*([✔✓✖✕×﹣○↓]) (\S.*)$/,
    read: ([, mark = '', name = '']) => [
      name.replace(/ \(?[\d.]+ ?m?s\)?( # .*)?$/, ''),
      / # (SKIP|TODO)\b/i.test(name) || /[﹣○↓]/.test(mark) ? 'other' : outcomeOf(/[✔✓]/.test(mark)),
    ],
  },
  // TAP
  {
    line: /^\s*(not )?ok \d+(?: - | )(.*)$/,
    read: ([, not, name = '']) => [
      name.replace(/ # .*$/, ''),
      / # (skip|todo)\b/i.test(name) ? 'other' : outcomeOf(not === undefined),
    ],
  },
  // go test -v
  {
    line: /^\s*--- (PASS|FAIL|SKIP): (\S+)/,
    read: ([, said = '', name = '']) => [name, said === 'SKIP' ? 'other' : outcomeOf(said === 'PASS')],
  },
  // pytest, in its summary and with -v. The parameters of a test are values, which may change.
  {
    line: /^(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS) (\S+::[^\s[]+)/,
    read: ([, said = '', name = '']) => [name, pytestOutcome(said)],
  },
  {
    line: /^(\S+::[^\s[]+)(?:\[.*\])? (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b/,
    read: ([, name = '', said = '']) => [name, pytestOutcome(said)],
  },
  // unittest
  { line: /^(?:FAIL|ERROR): (\w+ \([\w.]+\))/, read: ([, name = '']) => [name, 'failed'] },
  {
    line: /^(\w+ \([\w.]+\)) \.\.\. (\w+)/,
    read: ([, name = '', said = '']) => [name, said === 'ok' ? 'passed' : said === 'skipped' ? 'other' : 'failed'],
  },
  // cargo test
  {
    line: /^test (\S+) \.\.\. (ok|FAILED|ignored)$/,
    read: ([, name = '', said = '']) => [name, said === 'ignored' ? 'other' : outcomeOf(said === 'ok')],
  },
  // Jest, which repeats a failed test with its suites; RSpec; prove
  { line: /^\s*● (?:.* › )?(\S.*)$/, read: ([, name = '']) => [name, 'failed'] },
  { line: /^rspec \S+ # (.*)$/, read: ([, name = '']) => [name, 'failed'] },
  { line: /^#\s+Failed test '(.*)'$/, read: ([, name = '']) => [name, 'failed'] },
];

const outcomeOf = (isPassed: boolean): Outcome => (isPassed ? 'passed' : 'failed');

function pytestOutcome(said: string): Outcome {
  if (said === 'PASSED') return 'passed';
  return said === 'FAILED' || said === 'ERROR' ? 'failed' : 'other';
}

/** After this line node --test repeats what failed. */
const repeated = /^\s*✖ failing tests:\s*$/;
/** A suite, whose result follows below its tests in the same form. */
const suite = /^\s*▶ (\S.*?)(?: \([\d.]+ms\))?$/;

/**
 * Reads the results of single tests from the output of checks, in the formats of common runners. Undefined where it has
 * none. `isWhole` says whether the text is all of the output. Takes linear time.
 */
export function readResults(text: string, isWhole: boolean): TestResults | undefined {
  const found: Found[] = [];
  const suites = new Set<string>();
  const lines = text.replace(colors, '').split(/\r?\n/);
  for (const line of lines) {
    if (repeated.test(line)) break;
    if (line.startsWith('{')) found.push(...fromJson(line));
    if (line.length > maxLine) continue;
    const [, opened] = suite.exec(line) ?? [];
    if (opened !== undefined) suites.add(opened);
    else found.push(...fromLine(line));
    if (found.length > maxTests) break;
  }
  found.push(...fromXml(text));
  const all = found.slice(0, maxTests).map(([name, outcome]): Found => [name.trim().slice(0, maxName), outcome]);
  const those = (wanted: Outcome) => [
    ...new Set(all.filter(([, outcome]) => outcome === wanted).map(([name]) => name)),
  ];
  const failed = those('failed').filter((name) => name !== '' && !suites.has(name));
  const failing = new Set(failed);
  const passed = those('passed').filter((name) => name !== '' && !suites.has(name) && !failing.has(name));
  if (failed.length + passed.length === 0) return undefined;
  return { passed, failed, isWhole: isWhole && found.length <= maxTests };
}

function fromLine(line: string): Found[] {
  for (const { line: format, read } of formats) {
    const found = format.exec(line);
    if (found !== null) return [read(found)];
  }
  return [];
}

/** Reads a line of `go test -json`, or the report of Jest and Vitest. */
function fromJson(line: string): Found[] {
  try {
    const said = JSON.parse(line) as { Action?: string; Test?: unknown; testResults?: unknown };
    if (typeof said.Test === 'string' && /^(pass|fail|skip)$/.test(said.Action ?? ''))
      return [[said.Test, said.Action === 'skip' ? 'other' : outcomeOf(said.Action === 'pass')]];
    const files = Array.isArray(said.testResults) ? said.testResults : [];
    return files
      .flatMap((file): unknown[] => (Array.isArray(file?.assertionResults) ? file.assertionResults : []))
      .flatMap((each): Found[] => {
        const { title, status } = Object(each) as { title?: unknown; status?: unknown };
        if (typeof title !== 'string') return [];
        return [[title, status === 'passed' || status === 'failed' ? status : 'other']];
      });
  } catch {
    return [];
  }
}

/** Reads reports in the format of JUnit. */
function fromXml(text: string): Found[] {
  const cases = text.split('<testcase').slice(1, maxTests + 2);
  return cases.flatMap((part): Found[] => {
    const end = part.indexOf('</testcase>');
    const close = part.indexOf('>');
    const [, name = ''] = /\sname="([^"]{1,300})"/.exec(part.slice(0, maxLine)) ?? [];
    const inside = part[close - 1] === '/' || end < 0 ? '' : part.slice(close, end);
    if (/<skipped/.test(inside)) return [[unescaped(name), 'other']];
    return [[unescaped(name), outcomeOf(!/<(failure|error)/.test(inside))]];
  });
}

const entities: Record<string, string> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

function unescaped(text: string): string {
  return text.replace(/&(lt|gt|quot|apos|amp);/g, (_all, name: string) => entities[name] ?? '');
}

/** What is kept of the results. Names that passed take too much room, so each is kept as a digest. */
export interface ResultsOfRun {
  failed: string[];
  passed: string[];
  isWhole: boolean;
}

/** Identifies the name of a test, in less room than the name itself. */
export const digestOf = (name: string) => createHash('sha256').update(name).digest('base64').slice(0, 12);
