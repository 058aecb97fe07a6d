import { closedBlocks, harmless, harmlessLine } from '../../domain/text/sanitize.ts';
import { readApproval, type WaitReason } from '../../domain/waiting.ts';
import type { TaskPicture } from './task-picture.ts';

/** What a run waits for, as the status comment and the check run say it. */
export const waitWords: Record<WaitReason, string> = {
  plan: '⏸️ Waiting for approval of the plan',
  question: '⏸️ Waiting for an answer',
  push: '⏸️ Waiting for approval of the change',
  paused: '⏸️ Paused',
  model: '⏸️ Waiting for the model',
};

/** Longer texts are cut. A question has at most this many characters, a plan at most five times as many. */
const lineChars = 4000;
const planChars = 20_000;

type Shown = NonNullable<TaskPicture['attention']>;

/** Says what a run waits for and what people can do about it. */
export function attentionSection({ attention, commandPrefix: prefix }: TaskPicture): string[] {
  if (attention === null) return [];
  const words = waitWords[attention.reason];
  const next = `> ${nextSteps(attention.reason, prefix)}`;
  if (attention.reason === 'plan') return [`> **${words}**`, next, '', ...planLines(attention, prefix)];
  if (attention.reason === 'push') return [`> **${words}**`, ...changeLines(attention.text, prefix)];
  const line = (each: string) => harmlessLine(each, lineChars, prefix);
  const choices = attention.options.map((option, i) => `- [ ] ${i + 1}. ${line(option)}`);
  return [`> **${words}**: ${line(attention.text)}`, ...(choices.length === 0 ? [] : ['', ...choices, '']), next];
}

function planLines({ text, plan }: Shown, prefix: string): string[] {
  const lines = (title: string, items: string[] = []) =>
    items.length === 0 ? [] : ['', `**${title}**`, '', ...items.map((item) => `- ${harmlessLine(item, 500, prefix)}`)];
  return [
    closedBlocks(harmless(text, prefix).slice(0, planChars)),
    ...lines('Files that will change', plan?.files),
    ...lines('Checks', plan?.checks),
  ];
}

/** At most this many changed files are listed. The task's page has all. */
const maxFiles = 50;

/** Says why a person is asked, what an approval does, and which files change. */
function changeLines(text: string, prefix: string): string[] {
  const { reasons, files } = readApproval(text);
  if (reasons.length === 0) return [`> ${nextSteps('push', prefix)}`, '', ...fileLines(files, prefix)];
  const why = reasons.map((reason) => `- ${harmlessLine(reason, 500, prefix)}`);
  return [
    '> Set-up of this change would run its code with the network of set-up.',
    `> ${afterApproval(`\`${prefix} approve\` allows that and pushes the change if its checks pass`, prefix)}`,
    '',
    '**Why**',
    '',
    ...why,
    '',
    '**Changed files**',
    '',
    ...fileLines(files, prefix),
  ];
}

function fileLines(files: string[], prefix: string): string[] {
  const more = files.length > maxFiles ? [`- and ${files.length - maxFiles} more`] : [];
  return [...files.slice(0, maxFiles).map((file) => `- ${harmlessLine(file, 300, prefix)}`), ...more];
}

function nextSteps(reason: WaitReason, prefix: string): string {
  switch (reason) {
    case 'model':
      return 'The run continues when the model answers again. It fails after waiting an hour in total.';
    case 'paused':
      return `\`${prefix} resume\` continues the run.`;
    case 'question':
      return `\`${prefix} answer <number or text>\` answers; \`${prefix} cancel\` ends the run.`;
    case 'plan':
      return `\`${prefix} approve\` lets the agent carry it out; \`${prefix} revise <text>\` asks for another plan; \`${prefix} cancel\` ends the run.`;
    case 'push':
      return afterApproval(`\`${prefix} approve\` pushes it`, prefix);
  }
}

function afterApproval(approve: string, prefix: string): string {
  return `${approve}; \`${prefix} revise <text>\` asks for another change; \`${prefix} cancel\` ends the run. The task's page shows the change.`;
}
