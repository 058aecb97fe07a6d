import { type ModelRequest, textOf } from './model.ts';

/** A call of a tool that the model made, with its result. */
export interface Call {
  name: string;
  args: Record<string, string | undefined>;
  result: string;
  /** The place of its turn among the messages. */
  at: number;
}

interface Asked {
  id: string;
  function: { name: string; arguments: string };
}

/** Returns the calls of all earlier turns. The ids of calls may repeat, so a result is looked for in its own turn. */
export function callsIn({ messages }: Pick<ModelRequest, 'messages'>): Call[] {
  return messages.flatMap((message, at) => {
    const next = messages.findIndex(({ role }, i) => i > at && role === 'assistant');
    const turn = messages.slice(at + 1, next < 0 ? undefined : next) as { tool_call_id?: string; content: unknown }[];
    return ((message as { tool_calls?: Asked[] }).tool_calls ?? []).map(
      ({ id, function: { name, arguments: json } }) => ({
        name,
        args: JSON.parse(json) as Call['args'],
        result: String(turn.find(({ tool_call_id }) => tool_call_id === id)?.content ?? ''),
        at,
      }),
    );
  });
}

/** Returns what the conversation tells about a file: what was read, and what was written since then. Undefined before that. */
export function knownText(calls: Call[], path: string): string | undefined {
  let text: string | undefined;
  for (const { name, args, result } of calls) {
    if (args.path !== path || result.startsWith('Error: ')) continue;
    // A file that was not shown whole is not known.
    if (name === 'read_file') text = /\n\[too long /.test(result) ? undefined : withoutNumbers(result);
    if (name === 'write_file') text = args.content;
    if (name === 'edit_file') text = text?.replace(args.old ?? '', () => args.new ?? '');
  }
  return text;
}

/** Removes the numbers with which `read_file` shows the lines of a file. */
function withoutNumbers(shown: string): string {
  const lines = shown.split('\n').flatMap((line) => /^ *\d+\t(.*)$/.exec(line)?.[1] ?? []);
  return `${lines.join('\n')}\n`;
}

/** How people's words begin in the messages that the service sends, and where they end. */
const spoken = [
  /^\[\S+ says\]\n([\s\S]+)$/,
  /^\[\S+ asks for another (?:plan|change)\]\n([\s\S]+)\n\n.+$/,
  /^\[\S+ answers ".*"\]\n([\s\S]+)$/,
  /^## Instructions for this attempt\n([\s\S]+?)(?=\n\n## |$(?![\s\S]))/m,
];
/** What the service itself asks for. */
const ownWords = /^The (?:branch conflicts with its base branch|checks of commit \S+ failed)\. /;
const changedPlan = /^\[\S+ changed the plan and approved it\]\n.+\n\n([\s\S]+)$/;

/** Returns what a person said in instructions: of comments on lines their texts, without what the service adds for the agent. */
function personsWords(text: string): string[] {
  const [said = ''] = text.split(/^Answer each of these comments with answer_comment /m);
  return said.split(/^### \S.*:\d+(?: \(removed line\))?\n(?:> .*\n)?/m);
}

/** Returns what people asked of the agent, each in one line: messages, answers, changed plans, reviews and new instructions. */
export function wishesIn(request: Pick<ModelRequest, 'messages'>): string[] {
  const calls = callsIn(request);
  const wishes = request.messages.flatMap(({ role, content }, at) => {
    const text = role === 'user' && typeof content === 'string' ? content : '';
    const plan = changedPlan.exec(text)?.[1];
    const proposed = calls.findLast((call) => call.name === 'propose_plan' && call.at < at)?.args.markdown ?? '';
    const said = spoken.flatMap((form) => personsWords(form.exec(text)?.[1] ?? ''));
    return [...said, ...(plan ? [newSteps(plan, proposed)] : [])];
  });
  const lines = wishes.map((wish) => wish.replace(/\s+/g, ' ').trim().slice(0, 300));
  return [...new Set(lines)].filter((line) => line !== '' && !ownWords.test(line));
}

/** Returns the steps of a plan that the proposed one did not have, without their numbers. */
function newSteps(plan: string, proposed: string): string {
  const bare = (line: string) => line.replace(/^\s*(?:\d+\.|[-*])\s*/, '').trim();
  const known = new Set(proposed.split('\n').map(bare));
  const steps = plan.split('\n').map(bare);
  return steps.filter((line) => !known.has(line)).join('\n');
}

/** Returns whether people asked for another plan since the last one. */
export function asksForPlan(request: Pick<ModelRequest, 'messages'>): boolean {
  const last = callsIn(request).findLast(({ name }) => name === 'propose_plan')?.at ?? -1;
  return request.messages.some(
    ({ role, content }, at) => at > last && role === 'user' && /^\[\S+ asks for another plan\]/.test(String(content)),
  );
}

/** Files with git's conflict markers, and where the conversation says so. */
export interface Conflicts {
  paths: string[];
  at: number;
  /** The side that stays: both where the base branch was merged, the earlier one where a change is undone. */
  keeps: 'both' | 'earlier';
}

/** Returns the conflicts that the run began with last. */
export function conflictsIn(request: Pick<ModelRequest, 'messages'>): Conflicts {
  const { messages } = request;
  const found = messages.flatMap(({ role, content }, at): Conflicts[] => {
    const text = role === 'user' ? textOf({ messages: [{ role, content }] } as ModelRequest) : '';
    const listed = /^## The base branch was merged\n.*\n((?:- .+\n?)+)/m.exec(text)?.[1] ?? '';
    const merged = [...listed.matchAll(/^- (.+)$/gm)].map(([, path = '']) => path);
    const undone = [...text.matchAll(/, with conflicts in (.+)$/gm)].flatMap(([, paths = '']) => paths.split(', '));
    return [
      ...(merged.length > 0 ? [{ paths: merged, at, keeps: 'both' as const }] : []),
      ...(undone.length > 0 ? [{ paths: undone, at, keeps: 'earlier' as const }] : []),
    ];
  });
  return found.at(-1) ?? { paths: [], at: 0, keeps: 'both' };
}

const conflict = /^<<<<<<< .*\n([\s\S]*?)(?:^\|{7} .*\n[\s\S]*?)?^=======\n([\s\S]*?)^>>>>>>> .*(?:\n|$(?![\s\S]))/gm;

/** Removes git's conflict markers. What both sides have the same is kept once. */
export function resolved(text: string, keeps: Conflicts['keeps']): string {
  return text.replace(conflict, (_, ours: string, theirs: string) =>
    keeps === 'earlier' || ours === theirs ? theirs : ours + theirs,
  );
}
