import { visible } from '../text/sanitize.ts';
import { decisionPath, type InboxReason, inboxSentence } from './reasons.ts';

export const webhookEvents = [
  'task.status',
  'task.attention',
  'run.ended',
  'sprint.status',
  'proof',
  'budget',
] as const;
export type WebhookEvent = (typeof webhookEvents)[number];

export const webhookFormats = ['standard', 'slack'] as const;
export type WebhookFormat = (typeof webhookFormats)[number];

/** What a delivery is about, as the database recorded it when it happened. `test` is what a person asks for. */
export interface Happened {
  event: WebhookEvent | 'test';
  at: Date;
  /** Facts by their names in the payload. Which ones there are depends on the event. */
  data: Record<string, unknown>;
}

/** The body of a delivery: Standard Webhooks', or a message for Slack. */
export function payloadOf(happened: Happened, format: WebhookFormat, baseUrl: string): object {
  const { event, at, data } = happened;
  const summary = sentenceOf(happened);
  const url = `${baseUrl}${pathOf(happened)}`;
  if (format === 'slack') return slackMessage({ summary, text: textOf(happened), url, button: buttonOf(happened) });
  return { type: event, timestamp: at.toISOString(), data: { ...data, summary, url } };
}

const textIn = (data: Record<string, unknown>, name: string) => (typeof data[name] === 'string' ? data[name] : '');
const titleOf = (data: Record<string, unknown>) => textIn(data, 'title');
const wordsOf = (status: string) => status.replaceAll('_', ' ');

/** Returns the one sentence that says what happened. */
function sentenceOf({ event, data }: Happened): string {
  const status = wordsOf(textIn(data, 'status'));
  switch (event) {
    case 'task.status':
      return `Task ${status}: ${titleOf(data)}`;
    case 'task.attention':
      return inboxSentence({ reason: data.reason as InboxReason, title: titleOf(data) });
    case 'run.ended':
      return `Run ${status}: ${titleOf(data)}`;
    case 'sprint.status':
      return `Sprint ${status}: ${textIn(data, 'name')}`;
    case 'proof':
      return `Proof ${status}: ${titleOf(data)}`;
    case 'budget':
      return `Budget used up: ${titleOf(data)}`;
    case 'test':
      return 'Test: this webhook works';
  }
}

/** Returns more about it, for people. */
function textOf({ event, data }: Happened): string {
  if (event === 'proof') return textIn(data, 'reason');
  if (event === 'run.ended') return textIn((data.failure ?? {}) as Record<string, unknown>, 'message');
  return textIn(data, 'text');
}

function pathOf({ event, data }: Happened): string {
  const taskId = textIn(data, 'taskId');
  if (event === 'task.attention') return decisionPath({ reason: data.reason as InboxReason, taskId, projectId: '' });
  if (taskId !== '') return `/tasks/${encodeURIComponent(taskId)}`;
  const project = `/projects/${encodeURIComponent(textIn(data, 'projectId'))}`;
  return event === 'sprint.status' ? `${project}/sprints` : `${project}/settings`;
}

function buttonOf({ event }: Happened): string {
  if (event === 'task.attention') return 'Decide';
  if (event === 'sprint.status') return 'Open sprints';
  return event === 'test' ? 'Open settings' : 'Open task';
}

/** Characters of a text in a message. Slack refuses blocks with more than 3000, and an escaped character has up to five. */
const [maxSummary, maxText] = [300, 500];

/**
 * Returns a message for an incoming webhook of Slack, with a button that opens a page. The texts are data: nothing in them
 * mentions people or makes links.
 */
function slackMessage({ summary, text, url, button }: Record<'summary' | 'text' | 'url' | 'button', string>) {
  const [name, rest] = splitAt(escaped(cut(visible(summary), maxSummary)), ': ');
  const quoted = text === '' ? '' : `\n${escaped(cut(visible(text), maxText)).replace(/^/gm, '>')}`;
  return {
    text: escaped(cut(visible(summary), maxSummary)),
    blocks: [
      { type: 'section', text: { type: 'mrkdwn', text: `*${name}:* ${rest}${quoted}`, verbatim: true } },
      { type: 'actions', elements: [{ type: 'button', text: { type: 'plain_text', text: button }, url }] },
    ],
  };
}

function splitAt(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return [text.slice(0, at), text.slice(at + separator.length)];
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1).toWellFormed()}…`;
}

/** Slack reads only these three characters of a text as its own: mentions and links begin with <. */
function escaped(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}
