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
  const wishes = wishesIn(request);
  const plan = () => planFor(title, wishes);
  const waits = [...(title.endsWith('?') ? [question] : []), ...(offers(request, 'propose_plan') ? [plan()] : [])];
  // People asked for another plan.
  if (turn >= waits.length && offers(request, 'propose_plan') && !offers(request, 'write_file')) return plan();
  if (title === unclearTask.title && !/^Name: \S/m.test(assignment))
    return turn === 0 ? [{ name: 'read_file', arguments: { path: 'package.json' } }] : giveUp;
  const isAccents = /accent/i.test(assignment);
  const steps = [...waits, ...(isAccents ? (accents as Said[]) : stepsFor(title, wishes))];
  const said = steps[Math.min(turn, steps.length - 1)] ?? 'Done.';
  // What people said later belongs to the change, too.
  const file = isAccents ? notesFor(title, wishes) : fileFor(title, wishes);
  if (calls(said, 'finish') && wishes.length > 0 && !wasWritten(request, file))
    return [{ name: 'write_file', arguments: file }];
  // Without a shell, it lists files instead of running the tests.
  return calls(said, 'run_command') && !offers(request, 'run_command') ? [{ name: 'list_files', arguments: {} }] : said;
}

const calls = (said: Said, tool: string) => Array.isArray(said) && said.some(({ name }) => name === tool);

/** How people's words begin in the messages that the service sends, and where they end. */
const spoken = [
  /^\[\S+ says\]\n([\s\S]+)$/,
  /^\[\S+ asks for another (?:plan|change)\]\n([\s\S]+)\n\n.+$/,
  /^\[\S+ changed the plan and approved it\]\n.+\n\n([\s\S]+)$/,
  /^\[\S+ answers ".*"\]\n([\s\S]+)$/,
  /^## Instructions for this attempt\n([\s\S]+?)(?=\n\n## |$(?![\s\S]))/m,
];

/** Returns what people asked of the agent, each in one line: messages, answers, changed plans, reviews and new instructions. */
export function wishesIn({ messages }: Pick<ModelRequest, 'messages'>): string[] {
  const wishes = messages.flatMap(({ role, content }) => {
    const text = role === 'user' && typeof content === 'string' ? content : '';
    return spoken.flatMap((form) => form.exec(text)?.[1] ?? []);
  });
  return [...new Set(wishes.map((wish) => wish.replace(/\s+/g, ' ').trim().slice(0, 300)))];
}

/** Returns whether a turn of the conversation wrote this file with this content. */
function wasWritten({ messages }: ModelRequest, { content }: { content: string }): boolean {
  const all = messages.flatMap((message) => (message as { tool_calls?: ToolCall[] }).tool_calls ?? []);
  return all.some(
    ({ function: { arguments: json } }) => (JSON.parse(json) as { content?: string }).content === content,
  );
}

interface ToolCall {
  function: { arguments: string };
}

/** Returns the file of a task. Each task gets its own, chosen by its title, so that changes never conflict. */
function fileFor(title: string, wishes: string[]) {
  const slug = slugOf(title);
  const kinds: [RegExp, string, string][] = [
    [/\btests?\b/i, `test/${slug}.test.js`, testFor(title) + comments(wishes)],
    [/readme|document|describe|notes?\b|guide/i, `docs/${slug}.md`, `# ${title}\n\n${usage}${list(wishes)}`],
    [/./, `src/${slug}.js`, moduleFor(title) + comments(wishes)],
  ];
  const [, path = '', content = ''] = kinds.find(([words]) => words.test(title)) ?? [];
  return { path, content };
}

/** Returns the notes of a change whose other files follow a fixed script. */
function notesFor(title: string, wishes: string[]) {
  return { path: `docs/${slugOf(title)}.md`, content: `# ${title}\n${list(wishes)}` };
}

const comments = (wishes: string[]) => wishes.map((wish) => `\n// As you asked: ${wish}\n`).join('');
const list = (wishes: string[]) => wishes.map((wish) => `\n- As you asked: ${wish}\n`).join('');

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
function planFor(title: string, wishes: string[]): Said {
  const { path } = fileFor(title, wishes);
  const steps = ['Read `src/slugify.js`.', `Write \`${path}\`.`, ...wishes.map((wish) => `As you asked: ${wish}`)];
  const markdown = [...steps, 'Run the tests.'].map((step, i) => `${i + 1}. ${step}`).join('\n');
  return [{ name: 'propose_plan', arguments: { markdown, files: [path], checks: ['npm test'] } }];
}

function stepsFor(title: string, wishes: string[]): Said[] {
  const { path, content } = fileFor(title, wishes);
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
