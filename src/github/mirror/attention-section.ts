import { harmlessLine } from '../../domain/text/sanitize.ts';
import type { WaitReason } from '../../domain/waiting.ts';
import type { TaskPicture } from './task-picture.ts';

/** What a run waits for, as the status comment and the check run say it. */
export const waitWords: Record<WaitReason, string> = {
  plan: '⏸️ Waiting for approval of the plan',
  question: '⏸️ Waiting for an answer',
  push: '⏸️ Waiting for approval of the change',
  paused: '⏸️ Paused',
  model: '⏸️ Waiting for the model',
};

/** Longer texts are cut. A question has at most this many characters. */
const lineChars = 4000;

/** Says what a run waits for and what people can do about it. */
export function attentionSection({ attention, commandPrefix }: TaskPicture): string[] {
  if (attention === null) return [];
  const { reason, text, options } = attention;
  const line = (each: string) => harmlessLine(each, lineChars, commandPrefix);
  const choices = options.map((option, i) => `- [ ] ${i + 1}. ${line(option)}`);
  return [
    `> **${waitWords[reason]}**: ${line(text)}`,
    ...(choices.length === 0 ? [] : ['', ...choices, '']),
    `> ${nextSteps(reason, commandPrefix)}`,
  ];
}

function nextSteps(reason: WaitReason, prefix: string): string {
  switch (reason) {
    case 'model':
      return 'The run continues when the model answers again. It fails after waiting an hour in total.';
    case 'paused':
      return `\`${prefix} resume\` continues the run.`;
    case 'question':
      return `\`${prefix} answer <number or text>\` answers; \`${prefix} cancel\` ends the run.`;
    default:
      return `\`${prefix} cancel\` ends the run.`;
  }
}
