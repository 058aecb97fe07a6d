/**
 * Fields that the emulator sends and GitHub does not, by the name of the object that has them; `''` is any object. The
 * first ones are gone since version 2026-03-10 of the API. Found by test/truth, which validates all answers.
 */
const surplus: Record<string, string[]> = {
  '': ['assignee', 'merge_commit_sha', 'has_downloads'],
  check_suite: ['node_id', 'head_branch', 'head_sha', 'url'],
  owner: ['description', 'hooks_url', 'issues_url', 'members_url', 'public_members_url'],
  organization: ['html_url', 'site_admin', 'type', 'user_view_type'],
};

/** The same for events. They keep fields that answers have lost. */
const surplusInEvents: Record<string, string[]> = {
  owner: surplus.owner ?? [],
  organization: surplus.organization ?? [],
  issue: ['closed_by'],
  assignees: ['user_view_type'],
  repository: ['has_pull_requests'],
  check_suite: ['repository'],
  // Who did it is described briefly.
  sender: [
    ...['bio', 'blog', 'company', 'created_at', 'followers', 'following', 'hireable', 'location', 'public_gists'],
    ...['public_repos', 'twitter_username', 'updated_at'],
  ],
};

const neverNullInEvents = ['app', 'details_url', 'pushed_at', 'started_at', 'in_reply_to_id', 'original_position'];

/** The same for answers, by the path of the request. The fields are those of the object, or of each in a list. */
const surplusAt: [RegExp, string[]][] = [
  [/^\/orgs\/[^/]+$/, ['site_admin', 'user_view_type']],
  [/\/issues\/\d+\/events$/, ['issue']],
  [/\/pulls\/\d+\/reviews(\/\d+)?$/, ['created_at', 'updated_at']],
];

/** Fields that only a single pull request has, not those of a list. */
const onlyOfOne = [
  ...['additions', 'changed_files', 'comments', 'commits', 'deletions', 'maintainer_can_modify', 'mergeable'],
  ...['mergeable_state', 'merged', 'merged_by', 'rebaseable', 'review_comments'],
];

/** Fields that the emulator sets to null, where GitHub leaves them out. */
const neverNull = [
  ...['pushed_at', 'company', 'email', 'location', 'name', 'owner'],
  ...['in_reply_to_id', 'line', 'original_line', 'position', 'original_position'],
];

/** Returns an answer without what GitHub would not send. */
export function asGitHub(path: string, answer: unknown): unknown {
  const [place = ''] = path.split('?');
  const gone = surplusAt.find(([pattern]) => pattern.test(place))?.[1] ?? [];
  const isList = (Array.isArray(answer) && /\/pulls$/.test(place)) || place.endsWith('/requested_reviewers');
  const drops = { surplus, neverNull: /^\/users?\//.test(place) ? [] : neverNull };
  const shown = without(answer, isList ? [...gone, ...onlyOfOne] : gone, '', drops);
  if (isList)
    for (const pull of [shown].flat() as Labelled[]) for (const label of pull.labels ?? []) label.description ??= '';
  return /\/collaborators\/[^/]+\/permission$/.test(place) ? withOldPermission(shown as { role_name: string }) : shown;
}

/** Where pull requests are listed, labels always have a description. */
interface Labelled {
  labels?: { description: string | null }[];
}

/** Names the permission as GitHub does, which has four names for it. The emulator repeats the name of the invitation. */
function withOldPermission(answer: { role_name: string }): object {
  const names: Record<string, string> = { maintain: 'write', triage: 'read', '': 'none' };
  return { ...answer, permission: names[answer.role_name] ?? answer.role_name };
}

/** Returns the payload of an event without what GitHub would not send. */
export function eventAsGitHub(event: string, payload: unknown): unknown {
  const ofReviews = event.startsWith('pull_request_review') ? { pull_request: onlyOfOne, review: ['created_at'] } : {};
  return without(payload, [], '', { surplus: { ...surplusInEvents, ...ofReviews }, neverNull: neverNullInEvents });
}

interface Dropped {
  surplus: Record<string, string[]>;
  neverNull: string[];
}

function without(value: unknown, gone: string[], name: string, drops: Dropped): unknown {
  if (Array.isArray(value)) return value.map((each) => without(each, gone, name, drops));
  if (typeof value !== 'object' || value === null || isExact(value)) return value;
  const dropped = new Set([...gone, ...(drops.surplus[''] ?? []), ...(drops.surplus[name] ?? [])]);
  const kept = Object.entries(value).filter(
    ([field, each]) => !dropped.has(field) && !(each === null && drops.neverNull.includes(field)),
  );
  const shown = Object.fromEntries(kept.map(([field, each]) => [field, without(each, [], field, drops)]));
  // The emulator calls each account a user.
  return typeof shown.login === 'string' && shown.login.endsWith('[bot]') && 'type' in shown
    ? { ...shown, type: 'Bot' }
    : shown;
}

// TypeScript does not know these functions yet.
const json = JSON as unknown as { rawJSON(text: string): object; isRawJSON(value: unknown): boolean };

/** Returns a number that JSON shows with all its digits. */
export const exactNumber = (digits: bigint): object => json.rawJSON(String(digits));
const isExact = json.isRawJSON;
