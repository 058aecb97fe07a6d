import type { Probot } from 'probot';
import type { App } from '../../app.ts';
import { forgetShownProof } from '../../runs/pull-proofs/pull-proofs.ts';
import { recheckTask } from '../../tasks/move.ts';
import { followRepository, observeInstallation, syncInstallation } from '../app/installation.ts';
import { forStranger } from '../app/pacing.ts';
import { type Place, placeOfEvent } from '../app/place.ts';
import { takeButton } from '../commands/check-buttons.ts';
import { handleCommands } from '../commands/handle-commands.ts';
import { labelChanged } from '../commands/labels.ts';
import { keepComments, keepOneComment } from '../diff/keep-comments.ts';
import { threadOf } from '../diff/read-threads.ts';
import { eachThenFail } from '../each-apart.ts';
import { automate, branchDeleted, labelDeleted } from '../follow/automations.ts';
import { lookAtChecks } from '../follow/checks.ts';
import { foreignPullChanged } from '../follow/collisions.ts';
import { forgetIssue, issueReopened, observeIssue } from '../follow/issues.ts';
import { proveAfterPush, proveAfterSettings, proveUnasked } from '../follow/prove-pulls.ts';
import { refreshPull } from '../follow/refresh-pull.ts';
import { headChanged, reviewUnasked } from '../follow/review-pulls.ts';
import { takeReview } from '../follow/reviews.ts';
import { listOpenPullsInto } from '../follow/stack.ts';
import { shownBesides } from '../issue-task.ts';
import { isOwnLabel, makeLabels } from '../labels.ts';
import { linkChanged, readDependencies, readSubIssues } from '../links/link-events.ts';
import { forgetShownCheck, showAllAgain } from '../mirror/mirror-store.ts';
import { takeTicks } from '../planning/advance-plan.ts';
import { planMarker } from '../planning/plan-comment.ts';
import { findPullsByGitHub } from '../store.ts';
import { holdHead } from './hold-head.ts';
import { isOfStranger } from './of-stranger.ts';

type Named = { installation?: { id: number } | undefined; repository?: { id: number; full_name: string } | undefined };

type Part = 'installation' | 'repository' | 'sender';

/** Functions that register handlers, by the last part of a payload that the handlers need. */
interface Registrars {
  installation: Probot['on'];
  repository: Probot['on'];
  person: Probot['on'];
}

/**
 * Returns a function like `probot.on`. Events without all of these parts end quietly: GitHub leaves a part out, or sets it
 * to null, where the account was deleted or nobody did it. What a stranger did may use only a small part of GitHub's hour.
 */
function registrar(probot: Probot, app: App, parts: Part[]): Probot['on'] {
  type Handle = (context: { payload: Partial<Record<Part, { id?: unknown } | null>> }) => unknown;
  const on = (events: string[], handle: Handle) =>
    probot.on(events as never, async (context: Parameters<Handle>[0]) => {
      const { payload } = context;
      if (!parts.every((part) => payload[part]?.id !== undefined)) return;
      if (await isOfStranger(app.db.manager, payload)) await forStranger(() => handle(context));
      else await handle(context);
    });
  return on as Probot['on'];
}

/**
 * Registers the handlers of webhook events. They take ids from a payload and ask GitHub for the rest, so late and repeated
 * events do no harm. These read more, because GitHub does not tell later what was so at that moment:
 *
 * - Commands, and the label that starts a task: the text of the comment or the issue, as its author or the person with
 *   permission saw it. Later edits may not count. A command is handled once, and its author's rights are looked up.
 * - `headChanged`: the head of a pull request and since when it has it, to know what a person had seen. An older head does
 *   not replace a newer one.
 * - `holdHead`: the head and the base of a pull request, which only add what forbids a merge until GitHub was asked. What is older
 *   than the head that is known changes nothing.
 * - `refreshPull`: whether the event was a push. The pull request itself is read again.
 * - `proveAfterPush`: the commits of a push, if it leads from the head that is known to the one that GitHub shows.
 *   Otherwise GitHub is asked for them.
 * - `followRepository`: the earlier name of the default branch. Only where it is stored does the new one replace it.
 * - `automate`: titles, texts, labels, branches and people. They are what the automation is about; its conditions are
 *   checked against the occurrence, which causes at most one task, and the rights of the people are looked up.
 * - `linkChanged`: who changed a link, because what GitHub records of a dependency does not name the other issue. The
 *   links themselves are read again, and the rights of the person are looked up.
 */
export function registerWebhooks(probot: Probot, app: App): void {
  /** Calls `act` with the repository of the event, if one of our installations covers it. */
  const inPlace = async (payload: object, act: (place: Place) => Promise<unknown>) => {
    const { installation, repository } = payload as Named;
    const place = await placeOfEvent(app, installation, repository);
    if (place !== undefined) await act(place);
  };
  const on: Registrars = {
    installation: registrar(probot, app, ['installation']),
    repository: registrar(probot, app, ['installation', 'repository']),
    person: registrar(probot, app, ['installation', 'repository', 'sender']),
  };
  registerInstallation(on, app, inPlace);
  registerIssues(on, app, inPlace);
  registerLinks(on, app, inPlace);
  registerPulls(on, app, inPlace);
  registerProofs(on, app, inPlace);
  registerAutomations(on, app, inPlace);
  on.repository(['check_suite.completed', 'check_run.completed'], ({ payload }) => {
    const sha = 'check_suite' in payload ? payload.check_suite.head_sha : payload.check_run.head_sha;
    return inPlace(payload, (place) => lookAtChecks(app, place, sha));
  });
  on.repository('status', ({ payload }) => inPlace(payload, (place) => lookAtChecks(app, place, payload.sha)));
  // Somebody pressed "Re-run". The suite of our check run is queued until we report it again.
  on.repository(['check_run.rerequested', 'check_suite.rerequested'], ({ payload }) => {
    const of = 'check_run' in payload ? { checkRunId: payload.check_run.id } : { sha: payload.check_suite.head_sha };
    return inPlace(payload, async ({ repository }) => {
      const taskIds = [
        ...(await forgetShownCheck(app.db.manager, repository.id, of)),
        ...(await forgetShownProof(app.db.manager, repository.id, of)),
      ];
      for (const taskId of new Set(taskIds)) await recheckTask(app, taskId);
    });
  });
  on.person('check_run.requested_action', ({ payload }) =>
    inPlace(payload, (place) =>
      takeButton(app, place, {
        checkRunId: payload.check_run.id,
        button: payload.requested_action?.identifier ?? '',
        sender: personOf(payload.sender),
      }),
    ),
  );
  on.repository('push', ({ payload }) =>
    inPlace(payload, async (place) => {
      const [, branch] = /^refs\/heads\/(.+)$/s.exec(payload.ref) ?? [];
      if (branch === undefined) return;
      const { id: repositoryId } = place.repository;
      // The base of these pull requests has changed, so they may conflict with it.
      for (const { number, url } of await listOpenPullsInto(app.db.manager, repositoryId, branch))
        await app.queue.send(undefined, 'pull', { repositoryId, number }, { key: url });
      await proveAfterPush(app, place, branch, payload);
      // A project may call another branch the default one.
      if (branch === payload.repository.default_branch && !payload.deleted)
        await proveAfterSettings(app, place, { branch, after: payload.after });
    }),
  );
}

/** Registers what may make automations create tasks. */
function registerAutomations(on: Registrars, app: App, inPlace: InPlace): void {
  on.person(
    [
      'issues.opened',
      'issues.labeled',
      'pull_request.opened',
      'pull_request.labeled',
      'check_suite.completed',
      'check_run.completed',
      'status',
      'release.published',
      'push',
    ],
    ({ id, name, payload }) => inPlace(payload, (place) => automate(app, place, { id, name, payload })),
  );
  on.repository('push', ({ payload }) => {
    const [, branch] = /^refs\/heads\/(.+)$/s.exec(payload.ref) ?? [];
    if (branch === undefined || !payload.deleted) return undefined;
    return inPlace(payload, (place) => branchDeleted(app, place, branch));
  });
  on.repository('label.deleted', ({ payload }) =>
    inPlace(payload, (place) => labelDeleted(app, place, payload.label.name)),
  );
}

function registerInstallation(on: Registrars, app: App, inPlace: InPlace): void {
  on.installation('installation.created', ({ payload }) => syncInstallation(app, payload.installation, true));
  on.installation(
    [
      'installation.unsuspend',
      'installation.new_permissions_accepted',
      'installation.deleted',
      'installation.suspend',
      'installation_repositories',
      // Sent when somebody joined or left the organization, or when it was renamed.
      'organization',
    ],
    async ({ payload }) => {
      if (payload.installation !== undefined) await observeInstallation(app, payload.installation.id);
    },
  );
  on.repository('repository', async ({ payload }) => {
    const before = payload.action === 'edited' ? payload.changes.default_branch?.from : undefined;
    await followRepository(app, payload, before);
    // The settings are those of the default branch.
    if (before !== undefined) await inPlace(payload, (place) => proveAfterSettings(app, place));
    // Everybody may read now what was for a few, or the other way round.
    if (payload.action === 'publicized' || payload.action === 'privatized')
      await inPlace(payload, ({ repository }) => showAllAgain(app, repository.id));
  });
}

type InPlace = (payload: object, act: (place: Place) => Promise<unknown>) => Promise<void>;

function registerIssues(on: Registrars, app: App, inPlace: InPlace): void {
  on.person('issue_comment.created', async ({ payload }) => {
    const { comment, issue, repository, installation, sender } = payload;
    if (installation === undefined) return;
    const { number, title, html_url: url, pull_request } = issue;
    const isPull = pull_request !== undefined;
    await handleCommands(app, {
      installationId: installation.id,
      repository,
      issue: { number, title, body: issue.body ?? '', url, isPull, ...shownBesides(issue) },
      sender: personOf(sender),
      body: comment.body,
      commentId: comment.id,
      writtenAt: comment.created_at,
    });
  });
  on.person('issue_comment.edited', ({ payload }) => {
    const { comment, issue } = payload;
    if (!comment.body.startsWith(planMarker)) return undefined;
    const edited = { number: issue.number, commentId: comment.id, sender: personOf(payload.sender) };
    return inPlace(payload, (place) => takeTicks(app, place, edited));
  });
  on.repository('issues.opened', async ({ payload }) => {
    const { issue, repository, installation } = payload;
    // The event of a transferred issue names the person who moved it, and that person did not write it.
    if (installation === undefined || !issue.user || payload.changes !== undefined) return;
    const { number, title, html_url: url } = issue;
    const sender = personOf(issue.user);
    const body = issue.body ?? '';
    const read = { number, title, body, url, ...shownBesides(issue) };
    await handleCommands(app, {
      installationId: installation.id,
      repository,
      issue: { ...read, isPull: false },
      sender,
      body,
      commentId: null,
      writtenAt: issue.created_at,
    });
    // The author added the labels that the issue was opened with.
    for (const { name } of issue.labels ?? [])
      await inPlace(payload, (place) =>
        labelChanged(app, place, { number, label: name, sender, isPull: false, issue: read }),
      );
  });
  on.repository(
    ['issues.closed', 'issues.edited', 'issues.assigned', 'issues.unassigned', 'issues.typed', 'issues.untyped'],
    ({ payload }) => {
      const recheck = payload.action === 'closed';
      return inPlace(payload, (place) => observeIssue(app, place, payload.issue.number, { recheck }));
    },
  );
  on.repository('issues.reopened', ({ payload }) =>
    inPlace(payload, (place) => issueReopened(app, place, payload.issue.number)),
  );
  on.repository(['issues.deleted', 'issues.transferred'], ({ payload }) =>
    inPlace(payload, (place) => forgetIssue(app, place, payload.issue.number)),
  );
  on.person(['issues.labeled', 'issues.unlabeled'], ({ payload }) => {
    const { issue, label, sender } = payload;
    const { number, title, html_url: url } = issue;
    const about = { number, label: label?.name ?? '', sender: personOf(sender), isPull: false };
    const read = { number, title, body: issue.body ?? '', url, ...shownBesides(issue) };
    const changed = payload.action === 'labeled' ? { ...about, issue: read } : about;
    return inPlace(payload, (place) => labelChanged(app, place, changed));
  });
  on.repository('label.deleted', ({ payload }) =>
    inPlace(payload, async ({ octokit, name }) => {
      if (isOwnLabel(payload.label.name)) await makeLabels(octokit, name);
    }),
  );
}

/** Registers changes of sub-issues and of dependencies. */
function registerLinks(on: Registrars, app: App, inPlace: InPlace): void {
  on.repository('sub_issues', ({ payload }) =>
    inPlace(payload, (place) => linkChanged(app, place, readSubIssues(payload, senderOf(payload)))),
  );
  on.repository('issue_dependencies', ({ payload }) =>
    inPlace(payload, (place) => linkChanged(app, place, readDependencies(payload, senderOf(payload)))),
  );
}

/** After these, a pull request may have another head. */
const getsHead = new Set(['opened', 'reopened', 'synchronize']);

/** What an event about a pull request says of its head and base. */
function changeOf(payload: { action: string; changes?: { base?: object } | undefined }) {
  const isRetargeted = payload.action === 'edited' && payload.changes?.base !== undefined;
  return { action: payload.action, isRetargeted };
}

/** Registers what a repository may want of all pull requests: proofs. */
function registerProofs(on: Registrars, app: App, inPlace: InPlace): void {
  on.repository('pull_request', async ({ payload }) => {
    const change = changeOf(payload);
    if (getsHead.has(change.action) || change.isRetargeted) await holdHead(app, payload);
    return inPlace(payload, (place) => proveUnasked(app, place, change, payload.pull_request));
  });
}

function registerPulls(on: Registrars, app: App, inPlace: InPlace): void {
  // Several projects may have connected the same repository.
  const pullsOf = (payload: { repository: { id: number }; pull_request: { number: number } }) =>
    findPullsByGitHub(app.db.manager, payload.repository.id, payload.pull_request.number);
  on.repository('pull_request', ({ payload }) =>
    inPlace(payload, async (place) => {
      await eachThenFail(await pullsOf(payload), async (pull) => {
        const isPush = payload.action === 'synchronize';
        const isPushed = isPush && payload.after !== pull.headSha;
        const looks = ['enqueued', 'dequeued'].includes(payload.action);
        const refresh = () => refreshPull(app, place.octokit, place.name, pull, { isPushed, looks });
        // A push moves the lines of comments, or takes them out of the diff.
        const parts = isPush ? [refresh, () => keepComments(app, place, pull)] : [refresh];
        await eachThenFail<() => Promise<unknown>>(parts, (part) => part());
      });
    }),
  );
  on.repository('pull_request', ({ payload }) =>
    inPlace(payload, async (place) => {
      await headChanged(app, place, payload.action, payload.pull_request);
      await reviewUnasked(app, place, payload.action, payload.pull_request);
    }),
  );
  on.repository('pull_request', ({ payload }) =>
    inPlace(payload, (place) => foreignPullChanged(app, place, changeOf(payload), payload.pull_request)),
  );
  on.person(['pull_request.labeled', 'pull_request.unlabeled'], ({ payload }) => {
    const { pull_request, label, sender } = payload;
    const about = { number: pull_request.number, label: label?.name ?? '', sender: personOf(sender), isPull: true };
    return inPlace(payload, (place) => labelChanged(app, place, about));
  });
  on.repository('pull_request_review.submitted', async ({ payload }) => {
    const { review, repository, installation, pull_request, sender } = payload;
    // Before the review itself, so that a command in it acts on the task as its author saw it.
    if (installation !== undefined && sender?.id !== undefined)
      await handleCommands(app, {
        installationId: installation.id,
        repository,
        issue: issueOfPull(pull_request),
        sender: personOf(sender),
        body: review.body ?? '',
        commentId: null,
        inReview: { kind: 'review', reviewId: review.id },
        writtenAt: review.submitted_at ?? new Date().toISOString(),
      });
    if (review.state.toLowerCase() !== 'changes_requested') return;
    await inPlace(payload, async (place) => {
      await eachThenFail(await pullsOf(payload), (pull) => takeReview(app, place, pull, review.id));
    });
  });
  on.repository('pull_request_review_comment', ({ payload }) =>
    inPlace(payload, async (place) => {
      for (const pull of await pullsOf(payload))
        if (pull.repositoryId === place.repository.id) await keepOneComment(app, place, pull, payload.comment.id);
    }),
  );
  on.person('pull_request_review_comment.created', async ({ payload }) => {
    const { comment, repository, installation, pull_request, sender } = payload;
    if (installation === undefined) return;
    await handleCommands(app, {
      installationId: installation.id,
      repository,
      issue: issueOfPull(pull_request),
      sender: personOf(sender),
      body: comment.body,
      commentId: null,
      inReview: threadOf(comment),
      writtenAt: comment.created_at,
    });
  });
}

/** Returns a pull request as the issue that it is to GitHub. */
function issueOfPull({ number, title, body, html_url }: PullInEvent) {
  return { number, title, body: body ?? '', url: html_url, isPull: true };
}

interface PullInEvent {
  number: number;
  title: string;
  body?: string | null;
  html_url: string;
}

/** Returns who caused an event; undefined for a deleted account. */
function senderOf({ sender }: { sender?: Parameters<typeof personOf>[0] | null }) {
  return sender?.id === undefined ? undefined : personOf(sender);
}

function personOf(sender: { id: number; login: string; type?: string; avatar_url?: string }) {
  const { id, login, type = 'User', avatar_url = '' } = sender;
  return { id, login, type, avatar_url };
}
