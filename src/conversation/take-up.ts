import type { Failure } from '../domain/run.ts';
import type { Message } from '../llm/model.ts';

/** The message that tells a model to go on begins like this, so that it is found in the conversation. */
const opening = '[A new run continues here] ';

/** What an agent that takes up an earlier conversation does not know yet. */
interface SinceThen {
  /** How the earlier run ended. */
  failure: Pick<Failure, 'message'>;
  instructions: string;
  /** The section with the comments that were written since then; '' when there are none. */
  comments: string;
  /** What the agent has to know about a merge of the base branch; '' when there was none. */
  merge: string;
}

/** Writes the message with which a conversation goes on in a new run. */
export function takeUpMessage({ failure, instructions, comments, merge }: SinceThen): Message {
  const parts = [
    `${opening}The run before ended: ${failure.message}. A person let the task go on, and the limits count from zero again. Continue where you stopped. Your changes are kept, and other people may have changed files since then: read a file again before you edit it. Background processes and files that git ignores are gone, and other repositories have to be opened again.`,
    instructions === '' ? '' : `## Instructions for this attempt\n${instructions}`,
    comments,
    merge,
  ];
  return { role: 'user', content: parts.filter((text) => text !== '').join('\n\n') };
}

interface Rewound extends Pick<SinceThen, 'instructions' | 'merge'> {
  turns: number;
  /** Changes of the base branch were merged into the files. */
  isMerged: boolean;
  /** The repositories that were opened after this point, and have pull requests. */
  openedLater: string[];
}

/** Writes the message with which a conversation goes on after a person went back to this point of it. */
export function rewoundMessage({ turns, instructions, isMerged, openedLater, merge }: Rewound): Message {
  const since = isMerged ? ' Only changes of the base branch were merged into them since then.' : '';
  const elsewhere =
    openedLater.length === 0
      ? ''
      : ` Pull requests with later changes are still open in these repositories: ${openedLater.join(', ')}. Open a repository to change them.`;
  const parts = [
    `${opening}A person took the conversation back to this point, after turn ${turns}. The files are as they were then, and nothing that was done later counts.${since}${elsewhere} The limits count from zero again. Background processes and files that git ignores are gone.`,
    merge,
    instructions === '' ? 'Go on from here.' : `## Instructions for this attempt\n${instructions}`,
  ];
  return { role: 'user', content: parts.filter((text) => text !== '').join('\n\n') };
}

/** Returns the part of a conversation that belongs to its last run. */
export function ofLastRun(messages: Message[]): Message[] {
  const at = messages.findLastIndex((message) => message.role === 'user' && message.content.startsWith(opening));
  return at < 0 ? messages : messages.slice(at);
}
