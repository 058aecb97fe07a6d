import { type ModelRequest, offers, type Said, type Script, textOf } from './model.ts';
import { isPlanning, plannerOf, readForPlan } from './planner.ts';
import { script as accents, unclearTask, whatIsUnclear } from './story.ts';

/**
 * Replaces a model in the demo. It chooses its answers by the content of the request: it works on tasks, each
 * differently, answers chats about them, and plans with the wizard.
 */
export const player: Script = (request, turn) => {
  const forced = request.tool_choice?.function.name;
  if (forced !== undefined) return plannerOf(forced, request);
  if (isPlanning(request)) return readForPlan(request, turn);
  if (!offers(request, 'finish')) return talk(request);
  return work(textOf(request), request, turn);
};

function work(assignment: string, request: ModelRequest, turn: number): Said {
  const title = titleIn(assignment, 'Task');
  const waits = [
    ...(title.endsWith('?') ? [question] : []),
    ...(offers(request, 'propose_plan') ? [planFor(title)] : []),
  ];
  // People asked for another plan.
  if (turn >= waits.length && offers(request, 'propose_plan') && !offers(request, 'write_file')) return planFor(title);
  if (title === unclearTask.title && !/^Name: \S/m.test(assignment))
    return turn === 0 ? [{ name: 'read_file', arguments: { path: 'package.json' } }] : giveUp;
  const steps = [...waits, ...(/accent/i.test(assignment) ? (accents as Said[]) : stepsFor(title))];
  const said = steps[Math.min(turn, steps.length - 1)] ?? 'Done.';
  // Without a shell, it lists files instead of running the tests.
  const needsShell = Array.isArray(said) && said.some((call) => call.name === 'run_command');
  return needsShell && !offers(request, 'run_command') ? [{ name: 'list_files', arguments: {} }] : said;
}

/** Returns the file of a task. Each task gets its own, chosen by its title, so that changes never conflict. */
function fileFor(title: string) {
  const slug = slugOf(title);
  const kinds: [RegExp, string, string][] = [
    [/\btests?\b/i, `test/${slug}.test.js`, testFor(title)],
    [/readme|document|describe|notes?\b|guide/i, `docs/${slug}.md`, `# ${title}\n\n${usage}`],
    [/./, `src/${slug}.js`, moduleFor(title)],
  ];
  const [, path = '', content = ''] = kinds.find(([words]) => words.test(title)) ?? [];
  return { path, content };
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

const giveUp: Said = [{ name: 'give_up', arguments: { reason: whatIsUnclear } }];

/** Proposed for tasks that need a plan. */
function planFor(title: string): Said {
  const { path } = fileFor(title);
  const markdown = `1. Read \`src/slugify.js\`.\n2. Write \`${path}\`.\n3. Run the tests.`;
  return [{ name: 'propose_plan', arguments: { markdown, files: [path], checks: ['npm test'] } }];
}

function stepsFor(title: string): Said[] {
  const { path, content } = fileFor(title);
  return [
    [{ name: 'list_files', arguments: {} }],
    [{ name: 'read_file', arguments: { path: 'src/slugify.js' } }],
    [{ name: 'write_file', arguments: { path, content } }],
    [{ name: 'run_command', arguments: { command: 'npm test --silent' } }],
    [
      {
        name: 'finish',
        arguments: {
          summary: `Added \`${path}\` for "${title}". This change comes from the scripted model of the demo; connect a real one to see real work.`,
          nextSteps: [],
          title: title.slice(0, 72),
        },
      },
    ],
  ];
}

const usage = `\`slugify\` turns a title into the last part of a URL:

    import { slugify } from '../src/slugify.js';
    slugify('Hello, world'); // hello-world
`;

const testFor = (title: string) => `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slugify } from '../src/slugify.js';

test(${JSON.stringify(title)}, () => {
  assert.equal(slugify('Release 2.0'), 'release-2-0');
});
`;

const moduleFor = (title: string) => `import { slugify } from './slugify.js';

/** ${title.replaceAll('*/', '')} */
export function slugsOf(titles) {
  return titles.map((title) => slugify(title));
}
`;

/** Answers from the context that the service sends, and says that it is a script. */
function talk(request: ModelRequest): string {
  const context = textOf(request);
  const next = nextPrompt(context);
  if (next !== undefined) return next;
  const finished = /^(\d+) of (\d+) tasks done\./m.exec(context);
  if (finished !== null)
    return `${finished[1] === finished[2] ? 'Everything that was planned is done.' : 'Some tasks are left.'} I am the scripted model of the demo, so this is all I can tell.`;
  const message = String(request.messages.findLast((m) => m.role === 'user')?.content ?? '');
  const question = message.replace(/^@\S+: /, '').slice(0, 200);
  const about = /^# The (task|sprint): (.+)$/m.exec(context);
  const status = /^(?:- .*, )?status: (\w+)/im.exec(context)?.[1] ?? 'unknown';
  const changed = /^## Changed files.*\n((?:- .+\n?)+)/m.exec(context)?.[1] ?? '';
  const files = [...changed.matchAll(/^- (\S+) \(/gm)].map(([, path]) => `\`${path}\``).slice(0, 5);
  return [
    `You asked: "${question}"`,
    about === null ? '' : `The ${about[1]} **${about[2]}** is ${status.replaceAll('_', ' ')}.`,
    files.length === 0 ? '' : `Its change touches ${files.join(', ')}.`,
    tasksIn(context),
    'I am the scripted model of the demo, so this is all I can tell.',
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** Lists the tasks that the context of a sprint names, with their statuses. The service turns their ids into links. */
function tasksIn(context: string): string {
  const lines = /^## Tasks\n((?:- .+\n?)+)/m.exec(context)?.[1] ?? '';
  const tasks = [...lines.matchAll(/^- (task_\w+) (\w+): /gm)].slice(0, 10);
  if (tasks.length === 0) return '';
  return `Its tasks:\n\n${tasks.map(([, id, status = '']) => `- ${id}: ${status.replaceAll('_', ' ')}`).join('\n')}`;
}

/** Writes the next system prompt of an agent: the current one, with the improvements. */
function nextPrompt(context: string): string | undefined {
  const [, prompt = '', improvements = ''] =
    /^# Current prompt\n`+\n(.*)\n`+\n\n# Improvements\n((?:- .*\n?)+)/s.exec(context) ?? [];
  // A real model would write rules from the improvements, which speak to people.
  const rule = 'Before you finish, compare your change with what reviewers asked for in earlier tasks.';
  return improvements === '' ? undefined : `${prompt}\n\n${rule}`;
}

function titleIn(text: string, heading: string): string {
  return new RegExp(`^# ${heading}: (.+)$`, 'm').exec(text)?.[1]?.trim() ?? 'the task';
}

function slugOf(title: string): string {
  const slug = title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40);
  return slug || 'change';
}
