import type { App } from '../../app.ts';
import type { GitHubUser } from '../../projects/store.ts';
import type { Place } from '../app/place.ts';
import { findInstalledRepository, findTaskOfIssue } from '../store.ts';
import type { LinkKind } from './link-store.ts';
import { compareLinks } from './sync-links.ts';

/** An issue in an event: GitHub's number of its repository, and its own. */
interface EventIssue {
  repository: number | undefined;
  number: number | undefined;
}

/** A change of a link that an event reports. GitHub sends one event for each of the two issues. */
interface LinkEvent {
  kind: LinkKind;
  change: 'added' | 'removed';
  /** The parent, or the issue that is blocked. */
  owner: EventIssue;
  other: EventIssue;
  sender: GitHubUser | undefined;
}

interface Numbered {
  number?: number | undefined;
}
interface Identified {
  id: number;
}

interface SubIssuesPayload {
  action: string;
  repository?: Identified | undefined;
  parent_issue?: Numbered;
  parent_issue_repo?: Identified;
  sub_issue?: Numbered;
  sub_issue_repo?: Identified;
}

/** Reads an event `sub_issues`. The repository of the other issue may be left out if it is the same. */
export function readSubIssues(payload: SubIssuesPayload, sender: GitHubUser | undefined): LinkEvent {
  const { action, repository, parent_issue, parent_issue_repo, sub_issue, sub_issue_repo } = payload;
  return {
    kind: 'subtask',
    change: action.endsWith('_added') ? 'added' : 'removed',
    owner: { repository: (parent_issue_repo ?? repository)?.id, number: parent_issue?.number },
    other: { repository: (sub_issue_repo ?? repository)?.id, number: sub_issue?.number },
    sender,
  };
}

interface DependenciesPayload {
  action: string;
  repository?: Identified | undefined;
  blocked_issue?: Numbered;
  blocked_issue_repo?: Identified;
  blocking_issue?: Numbered;
  blocking_issue_repo?: Identified;
}

/** Reads an event `issue_dependencies`. */
export function readDependencies(payload: DependenciesPayload, sender: GitHubUser | undefined): LinkEvent {
  const { action, repository, blocked_issue, blocked_issue_repo, blocking_issue, blocking_issue_repo } = payload;
  return {
    kind: 'dependency',
    change: action.endsWith('_added') ? 'added' : 'removed',
    owner: { repository: (blocked_issue_repo ?? repository)?.id, number: blocked_issue?.number },
    other: { repository: (blocking_issue_repo ?? repository)?.id, number: blocking_issue?.number },
    sender,
  };
}

/**
 * Handles a change of a link between the issues of two tasks. Other issues are left alone. The event only says where to look:
 * what counts are the links that GitHub shows now.
 */
export async function linkChanged(app: App, { installationId }: Place, event: LinkEvent): Promise<void> {
  const { kind, change, owner, other, sender } = event;
  if (sender !== undefined && sender.id === (await app.github?.bot())?.id) return;
  const [taskId, otherId] = [await taskOf(app, installationId, owner), await taskOf(app, installationId, other)];
  if (taskId === undefined || otherId === undefined) return;
  await compareLinks(app, taskId, sender && { kind, otherId, change, sender });
}

async function taskOf(app: App, installationId: number, { repository, number }: EventIssue) {
  if (repository === undefined || number === undefined) return undefined;
  const em = app.db.manager;
  const found = await findInstalledRepository(em, installationId, repository);
  return found && findTaskOfIssue(em, found.id, number);
}
