import { type ModelRequest, offers, type Script, textOf } from './model.ts';
import { isPlanning, plannerOf, readForPlan } from './planner.ts';
import { work } from './work.ts';

/**
 * Replaces a model in the demo. It chooses its answers by the content of the request: it works on tasks, each
 * differently, answers chats about them, and plans with the wizard.
 */
export const player: Script = (request, turn) => {
  const forced = request.tool_choice?.function.name;
  if (forced !== undefined) return plannerOf(forced, request);
  if (isPlanning(request)) return readForPlan(request, turn);
  if (!offers(request, 'finish')) return talk(request);
  return work(request);
};

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
