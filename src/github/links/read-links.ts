import type { App } from '../../app.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import type { GitHubUser } from '../../projects/store.ts';
import { nameOnGitHub } from '../../repositories/credentials.ts';
import { listProjectRepositories } from '../../repositories/store.ts';
import { type Place, placeOfRepository } from '../app/place.ts';
import { readIssue } from '../issues/read-issue.ts';
import { listNewest, listPages } from '../paginate.ts';
import { type IssueKey, isMissing, type LinkedTask, type LinkKind, noteMissing } from './link-store.ts';

/** An issue at the other end of a link on GitHub. */
export interface SeenIssue extends IssueKey {
  /** GitHub's id, which is not the number: its routes about links take it. */
  id: number;
}

const paths = {
  subtask: 'GET /repos/{owner}/{repo}/issues/{issue_number}/sub_issues',
  dependency: 'GET /repos/{owner}/{repo}/issues/{issue_number}/dependencies/blocked_by',
} as const;

/**
 * Reads the links of an issue to issues in the repositories of its project. Returns undefined if GitHub does not show them: the issue
 * cannot be read, or this GitHub has no such links. The latter is remembered for a day, because GitHub Enterprise Server
 * gets them with its next version, and an account when an owner turns them on.
 */
export async function readLinks(
  app: App,
  place: Place,
  number: number,
  kind: LinkKind,
): Promise<SeenIssue[] | undefined> {
  const em = app.db.manager;
  if (await isMissing(em, place.installationId, kind)) return undefined;
  try {
    const at = { ...place.name, issue_number: number };
    const { items } = await listPages(
      async (page) => (await place.octokit.request(paths[kind], { ...at, ...page })).data,
    );
    const known = await namesOf(app, place.repository.projectId);
    return items.flatMap(({ id, number: seen, repository_url: url }) => {
      const [, name = ''] = /\/repos\/([^/]+\/[^/]+)$/.exec(url) ?? [];
      const repositoryId = known.get(name.toLowerCase());
      return repositoryId === undefined ? [] : [{ id: Number(id), number: seen, repositoryId }];
    });
  } catch (error) {
    if (!isRefusedWith(error, 403, 404, 410)) throw error;
    const isThere = !isRefusedWith(error, 403) && typeof (await readIssue(place, number)) !== 'string';
    if (isThere) {
      app.log.info({ installationId: place.installationId, kind }, 'this GitHub has no such links of issues');
      await noteMissing(em, place.installationId, kind);
    }
    return undefined;
  }
}

/** Returns the ids of a project's repositories by their names on GitHub, in lower case. */
async function namesOf(app: App, projectId: string): Promise<Map<string, string>> {
  const all = await listProjectRepositories(app.db.manager, projectId);
  return new Map(
    all.flatMap(({ id, url }) => {
      const name = nameOnGitHub(app, url);
      return name === undefined ? [] : [[`${name.owner}/${name.repo}`.toLowerCase(), id]];
    }),
  );
}

/** The events of an issue that are about its links, by what happened. */
const eventsOf = {
  subtask: { added: 'parent_issue_added', removed: 'parent_issue_removed' },
  dependency: { added: 'blocked_by_added', removed: 'blocked_by_removed' },
} as const;

/**
 * Finds the people who may have added or removed a link, from the events of an issue. An event does not name the other issue.
 * That is enough for a subtask, because it has one parent, so its newest event counts. Of a dependency, everybody counts
 * who added or removed one on the issue that waits. Returns nobody if GitHub does not say.
 */
export async function findChangers(
  app: App,
  place: Place,
  number: number,
  link: LinkedTask,
  change: 'added' | 'removed',
): Promise<GitHubUser[]> {
  const { kind } = link;
  const at = kind === 'dependency' ? { place, number } : await placeOfOther(app, link);
  if (at === undefined) return [];
  const path = 'GET /repos/{owner}/{repo}/issues/{issue_number}/events';
  const about = { ...at.place.name, issue_number: at.number };
  const names: string[] = Object.values(eventsOf[kind]);
  try {
    const { items } = await listNewest((page) => at.place.octokit.request(path, { ...about, ...page }));
    const events = items.filter(({ event }) => names.includes(event));
    const isMoved = kind === 'subtask' && change === 'removed';
    const counted = (kind === 'subtask' ? events.slice(-1) : events).filter(
      ({ event }) => isMoved || event === eventsOf[kind][change],
    );
    const people = counted.flatMap(({ actor }) => (actor === null ? [] : [{ ...actor, id: Number(actor.id) }]));
    return [...new Map(people.map((person) => [person.id, person])).values()];
  } catch (error) {
    if (isRefusedWith(error, 403, 404, 410)) return [];
    throw error;
  }
}

/** Finds the repository of the issue at the other end of a link. */
export async function placeOfOther(app: App, { repositoryId, number }: IssueKey) {
  const place = await placeOfRepository(app, repositoryId);
  return place && { place, number };
}
