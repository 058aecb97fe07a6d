import { type Change, changeFor, type File, pathsOf, wishesWritten } from './change.ts';
import { asksForPlan, type Call, callsIn, conflictsIn, knownText, resolved, wishesIn } from './conversation.ts';
import { type ModelRequest, offers, type Said, textOf } from './model.ts';
import { issue, script, unclearTask, whatIsUnclear } from './story.ts';

type Turn = Extract<Said, unknown[]>;

/** What the scripted model knows when it works on a task. */
interface Known {
  request: ModelRequest;
  calls: Call[];
  title: string;
  /** The first message about the task. */
  assignment: string;
  wishes: string[];
  number: number;
}

/**
 * Works on a task: the demo's issue by its script, any other task by a change that is made of its title and of what people
 * say. Each turn follows from the conversation, so it does not matter who continues a run, or from where.
 */
export function work(request: ModelRequest): Said {
  const known = knowledgeOf(request);
  const { title, assignment, calls } = known;
  const waits = waitFor(known);
  if (waits !== undefined) return waits;
  if (title === unclearTask.title && sectionIn(assignment) === undefined)
    return has(calls, 'read_file', 'package.json')
      ? [{ name: 'give_up', arguments: { reason: whatIsUnclear } }]
      : [{ name: 'read_file', arguments: { path: 'package.json' } }];
  for (const turn of turnsFor(known)) if (turn.length > 0) return turn;
  return 'Done.';
}

function knowledgeOf(request: ModelRequest): Known {
  const assignment = textOf(request);
  const title = /^# Task: (.+)$/m.exec(assignment)?.[1]?.trim() ?? 'the task';
  const known = { request, assignment, title, calls: callsIn(request), wishes: wishesIn(request) };
  return { ...known, number: numberOf(title, assignment) };
}

/** Returns a question or a plan that people have to answer first. */
function waitFor({ request, calls, title, wishes, number, assignment }: Known): Said | undefined {
  if (title.endsWith('?') && offers(request, 'ask_person') && !has(calls, 'ask_person')) return question;
  if (!offers(request, 'propose_plan')) return undefined;
  const isDue = !offers(request, 'write_file') || !has(calls, 'propose_plan') || asksForPlan(request);
  if (!isDue) return undefined;
  if (!isScripted(title, calls, assignment)) return planFor(pathsOf(title, number), wishes);
  return planFor([...scriptedPaths, ...(wishes.length === 0 ? [] : [notesPath(title, number)])], wishes);
}

/** Asked about tasks whose title ends with a question mark. */
const question: Said = [
  {
    name: 'ask_person',
    arguments: {
      question: 'Should the function that exists change, or should there be a second one?',
      options: ['Change it', 'Add a second one'],
    },
  },
];

/** Proposed for tasks that need a plan. */
function planFor(paths: string[], wishes: string[]): Said {
  const steps = [
    'Read `src/slugify.js`.',
    ...paths.map((path) => `Write \`${path}\`.`),
    ...wishes.map((wish) => `As you asked: ${wish}`),
    'Run the tests.',
  ];
  const markdown = steps.map((step, i) => `${i + 1}. ${step}`).join('\n');
  return [{ name: 'propose_plan', arguments: { markdown, files: paths, checks: ['npm test'] } }];
}

const has = (calls: Call[], name: string, path?: string) =>
  calls.some((call) => call.name === name && (path === undefined || call.args.path === path));

/** Returns the turns in order, each without the calls that are done. The first that is not empty is due. */
function turnsFor(known: Known): Turn[] {
  const { title, calls, wishes, assignment } = known;
  const conflicts = settleConflicts(known);
  if (/^## Reverts$/m.test(assignment))
    return [...conflicts, ...notesOf(known), runTests(known), finish(title, 'Brings back what was there before.')];
  if (isScripted(title, calls, assignment))
    return [...conflicts, ...scriptedTurns(known), ...notesOf(known), runTests(known), conclusion];
  const change = changeOf(known);
  const heard = wishes.length === 0 ? '' : ' Comments in it repeat what people asked for.';
  const summary = `For "${title}": ${change.says}${heard} This change comes from the scripted model of the demo; connect a real one to see real work.`;
  const writes = change.files.flatMap((file) => writeOnce(calls, file));
  const [own] = change.files;
  return [...conflicts, look(known), readOnce(known, own.path), writes, runTests(known), finish(title, summary)];
}

const finish = (title: string, summary: string): Turn => [
  { name: 'finish', arguments: { summary, nextSteps: [], title: [...title].slice(0, 72).join('') } },
];

/** Reads what the change is about. */
function look({ calls }: Known): Turn {
  if (has(calls, 'read_file', 'src/slugify.js')) return [];
  return [
    { name: 'list_files', arguments: {} },
    { name: 'read_file', arguments: { path: 'src/slugify.js' } },
  ];
}

/** Reads a file that an earlier run has written, because it says what people asked for then. */
function readOnce({ calls, assignment }: Known, path: string): Turn {
  const isThere = listedIn(assignment).has(path) && !has(calls, 'read_file', path);
  return isThere && knownText(calls, path) === undefined ? [{ name: 'read_file', arguments: { path } }] : [];
}

function writeOnce(calls: Call[], { path, content }: File): Turn {
  return knownText(calls, path) === content ? [] : [{ name: 'write_file', arguments: { path, content } }];
}

/** Runs the tests unless that was done since the last change. Without a shell, nothing is run. */
function runTests({ request, calls }: Known): Turn {
  const lastChange = calls.findLastIndex(({ name }) => /^(?:write|edit)_file$/.test(name));
  const lastRun = calls.findLastIndex(({ name }) => name === 'run_command');
  if (!offers(request, 'run_command') || lastRun > lastChange) return [];
  return [{ name: 'run_command', arguments: { command: 'npm test --silent' } }];
}

/** Returns the change with everything that people asked for, in earlier runs too. */
function changeOf({ title, wishes, number, calls, assignment }: Known): Change {
  const [path = ''] = pathsOf(title, number);
  const all = [...wishesWritten(knownText(calls, path) ?? ''), ...wishes];
  return changeFor({ title, wishes: [...new Set(all)], number, section: sectionIn(assignment) });
}

/** Returns the new name that a task says, or that an earlier attempt used, as a part of an address. */
function sectionIn(assignment: string): string | undefined {
  const used = /into the section "([^"]+)" of a site/.exec(assignment)?.[1];
  const name = (/(?:^Name: |\bnew name is )(\S.*)$/m.exec(assignment)?.[1] ?? used)?.toLowerCase();
  return name?.match(/[a-z0-9]+/g)?.join('-');
}

const notesPath = (title: string, number: number) =>
  `docs/${(pathsOf(title, number)[0] ?? '').replace(/^\w+\/|\.\w+$/g, '')}.md`;

/** Writes what people asked for into a file of its own, where the other files follow a fixed script. */
function notesOf(known: Known): Turn[] {
  const { title, wishes, calls, number } = known;
  if (wishes.length === 0) return [];
  const path = notesPath(title, number);
  const all = [...new Set([...wishesWritten(knownText(calls, path) ?? ''), ...wishes])];
  const content = `# ${title}\n${all.map((wish) => `\n- As you asked: ${wish}\n`).join('')}`;
  return [readOnce(known, path), writeOnce(calls, { path, content })];
}

/** Reads files that conflict, and writes them without git's markers. The task's own files are written anyway. */
function settleConflicts({ request, calls, title, number }: Known): Turn[] {
  const { paths, at, keeps } = conflictsIn(request);
  const since = calls.filter((call) => call.at > at);
  const seen = (path: string) => since.some(({ args }) => args.path === path);
  const own = new Set(pathsOf(title, number));
  const reads = paths.flatMap((path) => (seen(path) ? [] : [{ name: 'read_file', arguments: { path } }]));
  const writes = paths.flatMap((path) => {
    const text = own.has(path) ? undefined : knownText(calls, path);
    return text === undefined ? [] : writeOnce(calls, { path, content: resolved(text, keeps) });
  });
  return [reads, writes];
}

/** Returns the paths in the list of files that the service sends with the task. */
function listedIn(assignment: string): Set<string> {
  const listed = /^## The repository .+\n```\n([\s\S]*?)\n```/m.exec(assignment)?.[1] ?? '';
  return new Set(listed.split('\n'));
}

/**
 * Returns the number of the names that this task takes. At the first attempt, files with its names belong to an earlier task
 * with the same title; later, the last of them are its own.
 */
function numberOf(title: string, assignment: string): number {
  const listed = listedIn(assignment);
  let next = 1;
  while (listed.has(pathsOf(title, next)[0] ?? '')) next += 1;
  return isFirst(assignment) || next === 1 ? next : next - 1;
}

const laterAttempt = /^## (?:Instructions for this attempt|Handoffs of earlier attempts|The base branch was merged)$/m;
const isFirst = (assignment: string) => !laterAttempt.test(assignment);

/** The script of the demo's issue: it looks, edits, runs the tests and finishes. */
const scripted = script as Turn[];
const conclusion = scripted.at(-1) ?? [];
const edits = scripted.flat().filter(({ name }) => name === 'edit_file');
const argumentsOf = (call: Turn[number]) => call.arguments as { path: string; old: string; new: string };
const scriptedPaths = [...new Set(edits.map((call) => argumentsOf(call).path))];

/** Returns whether the task is the demo's issue, unless another task has solved it before. */
function isScripted(title: string, calls: Call[], assignment: string): boolean {
  if (title !== issue.title) return false;
  const isSolved = knownText(calls, 'src/slugify.js')?.includes('.normalize(') === true && !has(calls, 'edit_file');
  const hasOwnFile = listedIn(assignment).has(pathsOf(title, 1)[0] ?? '');
  return !hasOwnFile && !(isSolved && isFirst(assignment));
}

/** Returns the turns of the script that look and edit. What a file has already is not edited again. */
function scriptedTurns({ calls }: Known): Turn[] {
  const [first, ...others] = scripted.slice(0, -2);
  const unread = (first ?? []).filter((call) => !has(calls, call.name, argumentsOf(call).path));
  const due = (call: Turn[number]) => {
    const given = argumentsOf(call);
    const text = knownText(calls, given.path) ?? '';
    return text.includes(given.old) && !text.includes(given.new);
  };
  return [unread, ...others.map((turn) => turn.filter(due))];
}
