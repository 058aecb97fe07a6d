import { posix } from 'node:path';
import type { Action, Call, Dialect } from './actions.ts';
import { chance, choice } from './chance.ts';

/** A mistake in place of an action, as the calls of one turn: each is valid, and fails. */
type Slip = (action: Action, dialect: Dialect, key: string) => Call[];

/** Returns the calls of a turn in which the model makes a mistake about its next action. */
export function slipped(action: Action, dialect: Dialect, key: string): Call[] {
  const slips = slipsOf(action);
  return choice(slips, 'slip', key)(action, dialect, key);
}

function slipsOf(action: Action): [Slip, ...Slip[]] {
  switch (action.do) {
    case 'read':
    case 'remove':
      return [wrongPath, wrongPath, threeGuesses, behindTheEnd];
    case 'edit':
      return [miscopied, miscopied, wrongPath, numberedLines];
    case 'write':
      return [fileAsFolder, readsElsewhere];
    case 'test':
      return [mistypedCommand];
    case 'list':
    case 'search':
      return [wrongPath];
    case 'finish':
      return [readsElsewhere];
  }
}

const asCall = (action: Action, dialect: Dialect): Call => {
  const { name, arguments: given } = dialect.write(action);
  return { name, arguments: JSON.stringify(given) };
};

/** A path that a model might guess and that does not exist in any task. */
function guessedPath(path: string, key: string): string {
  const { dir, name, ext } = posix.parse(path);
  const guesses = [`${dir || 'src'}/main/${name}${ext}`, `app/${path}`, posix.join(dir, `${name}-impl${ext}`)] as const;
  return choice([...guesses], 'path', key, path);
}

const wrongPath: Slip = (action, dialect, key) => {
  const path = guessedPath('path' in action ? (action.path ?? 'lib') : 'lib', key);
  return [asCall({ ...action, path } as Action, dialect)];
};

/** Several guesses at a path in one turn. */
const threeGuesses: Slip = (action, dialect, key) => {
  const path = 'path' in action ? (action.path ?? 'lib') : 'lib';
  return ['a', 'b', 'c'].map((n) => asCall({ do: 'read', path: guessedPath(`${n}/${path}`, key) }, dialect));
};

const behindTheEnd: Slip = (action, dialect) => [
  asCall({ do: 'read', path: 'path' in action ? (action.path ?? '') : '', startLine: 99_999 }, dialect),
];

/** A file in a folder that is a file. */
const fileAsFolder: Slip = (action, dialect) => [
  asCall(
    { do: 'write', path: 'path' in action ? `package.json/${action.path}` : 'README.md/x', content: 'x' },
    dialect,
  ),
];

const readsElsewhere: Slip = (_action, dialect, key) => [
  asCall({ do: 'read', path: guessedPath('notes/plan.md', key) }, dialect),
];

/** The text to replace as remembered, not as it is: one word differs. */
const miscopied: Slip = (action, dialect, key) => {
  if (action.do !== 'edit') return [asCall(action, dialect)];
  const words = action.old.match(/\w{3,}/g) ?? [];
  const word = words[Math.floor(chance('word', key) * words.length)];
  const old = word === undefined ? `${action.old} // as before` : action.old.replace(word, `${word}Value`);
  return [asCall({ ...action, old }, dialect)];
};

/** The text to replace with the line numbers of the listing it was copied from. */
const numberedLines: Slip = (action, dialect) => {
  if (action.do !== 'edit') return [asCall(action, dialect)];
  const lines = action.old.split('\n').map((line, i) => `${String(i + 12).padStart(6)}\t${line}`);
  return [asCall({ ...action, old: lines.join('\n') }, dialect)];
};

const commands = ['run-tests', './run-test', 'testall', 'tests'] as const;

/** A program that does not exist. */
const mistypedCommand: Slip = (_action, dialect, key) => [
  asCall({ do: 'test', command: `${choice([...commands], 'command', key)} --all` }, dialect),
];

/** Returns a call that no tool accepts: its last argument is forgotten, or its name is made up. */
export function invalidCall(action: Action, dialect: Dialect, key: string): Call {
  const { name, arguments: given } = dialect.write(action);
  if (chance('name', key) < 0.5) return { name: `${name}_now`, arguments: JSON.stringify(given) };
  const last = Object.keys(given).at(-1) ?? 'depth';
  return { name, arguments: JSON.stringify({ ...given, [last]: undefined, count: 1 }) };
}
