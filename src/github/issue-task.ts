import type { EntityManager } from 'typeorm';
import type { App } from '../app.ts';
import type { RepositoryRow } from '../db/tables/project.ts';
import { harmlessLine, harmlessText, oneLine, plain, visible } from '../domain/text/sanitize.ts';
import { asShown } from '../markdown/as-shown.ts';
import { insertTask } from '../tasks/operations.ts';
import { findTaskOfIssue, lockIssue } from './store.ts';

const maxBody = 50_000;

/** Returns the title of an issue as a task gets it. */
export const titleOfIssue = ({ number, title }: Pick<ReadIssue, 'number' | 'title'>): string =>
  oneLine(plain(title), 200) || `Issue ${number}`;

/** Returns the title and the text of an issue as a task gets them, and its text as it is written. */
export function wordsOfIssue(issue: Pick<ShownIssue, 'number' | 'title' | 'body' | 'shown'>) {
  const { body, shown } = issue;
  return {
    title: titleOfIssue(issue),
    description: shown.slice(0, maxBody),
    written: plain(body).slice(0, maxBody),
  };
}

/** Returns the title and the text of a task as an issue gets them. */
export function wordsForIssue(task: { title: string; description: string }, commandPrefix: string) {
  return {
    title: harmlessLine(task.title, 200, commandPrefix),
    body: harmlessText(task.description, 60_000, commandPrefix, 'attached'),
  };
}

/**
 * Returns the title and the text of an issue. Where they say the same as the task, returns the task's own characters:
 * GitHub changes line endings, and text that we write into an issue is made harmless first.
 */
export function comparedWords(
  issue: ReturnType<typeof wordsOfIssue>,
  task: { title: string; description: string },
  commandPrefix: string,
) {
  const written = wordsForIssue(task, commandPrefix);
  const isSame = (a: string, b: string) => normal(a) === normal(b);
  const isUnchanged =
    isSame(issue.description, task.description) ||
    // Texts that people wrote here may have more than GitHub shows, such as the alternative text of an image.
    [written.body, task.description].some((text) => isSame(issue.written, text));
  return {
    title: isSame(issue.title, written.title) || isSame(issue.title, task.title) ? task.title : issue.title,
    description: isUnchanged ? task.description : issue.description,
  };
}

// An issue has no HTML comments here. One in a task makes a difference, because the agent would read what people cannot see.
const normal = (text: string) => visible(text).replace(/\s+/g, ' ').trim();

/** An issue as GitHub shows it now. */
export interface ReadIssue {
  number: number;
  title: string;
  body: string;
  url: string;
  /** See `shownBesides`; undefined if that is not known. */
  type?: string | null;
  assignees?: string[];
}

/** An issue, and its text as GitHub shows it to people. */
export interface ShownIssue extends ReadIssue {
  shown: string;
}

/** `show` is `asShown`, or for many issues that of `showMany`. @throws NoAnswer */
export async function showIssue<T extends Pick<ReadIssue, 'body'>>(
  issue: T,
  show: (text: string) => Promise<string> = asShown,
): Promise<T & { shown: string }> {
  return { ...issue, shown: await show(issue.body) };
}

/** An issue shows at most this many assignees on GitHub. */
const maxAssignees = 10;

/** Returns the type and the assignees of an issue, which the page of its task shows. Hosts without types leave them out. */
export function shownBesides(issue: {
  type?: { name?: string | null } | null | undefined;
  assignees?: ({ login: string } | null)[] | null | undefined;
}): { type: string | null; assignees: string[] } {
  const logins = (issue.assignees ?? []).flatMap((each) => (each === null ? [] : [oneLine(plain(each.login), 100)]));
  const name = oneLine(plain(issue.type?.name ?? ''), 100);
  return { type: name === '' ? null : name, assignees: logins.slice(0, maxAssignees) };
}

/**
 * Inserts the task of an issue, unless the issue has one already. The issue stays locked until the transaction ends, so
 * that two people who do this at the same time create one task.
 */
export async function insertTaskOfIssue(
  app: App,
  em: EntityManager,
  { id: repositoryId, projectId }: Pick<RepositoryRow, 'id' | 'projectId'>,
  issue: ShownIssue,
  task: { status: 'backlog' | 'ready'; owner?: string | undefined; createdBy: string },
): Promise<{ id: string; title: string; isNew: boolean }> {
  const { title, description } = wordsOfIssue(issue);
  const { number, url, type = null, assignees = [] } = issue;
  await lockIssue(em, repositoryId, number);
  const existing = await findTaskOfIssue(em, repositoryId, number);
  if (existing !== undefined) return { id: existing, title, isNew: false };
  // The issue's text as it is now. Later edits, which nobody may have reviewed, never reach the agent.
  const words = { title, description };
  const id = await insertTask(app, em, projectId, {
    ...task,
    ...words,
    repositoryId,
    issue: { repositoryId, number, url, type, assignees },
  });
  return { id, title, isNew: true };
}
