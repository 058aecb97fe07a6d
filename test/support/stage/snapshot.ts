import type { Stage } from './stage.ts';

/**
 * Tables whose rows say how often something was tried, or when, and sums over all tasks of the project. People see none of
 * the first, and test/agents and test/tasks rebuild the second.
 */
const leftOut = new Set([
  'agent_days',
  'agent_figures',
  'agent_skills',
  'api_tokens',
  'compared',
  'deliveries',
  'github_pace',
  'idempotency_keys',
  'mirror_writes',
  'project_events',
  'reconciled_projects',
  'reconciliations',
  'spend_days',
  'person_spend_days',
  'task_counts',
  'users',
]);
/** Columns that are different each time. */
const changing = /_at$|^(since|shown|shown_progress|version|resume_at|fetched|number_of_writes|words)$/;

export interface Shown {
  /** What the database has, one row per line. */
  stored: string[];
  /** What GitHub shows, one object per line. */
  onGitHub: string[];
}

/** What there was before a play. */
export interface Before {
  rows: Set<string>;
  objects: Set<string>;
  lastNumber: number;
}

export async function lookBefore(stage: Stage): Promise<Before> {
  const lastNumber = Math.max(0, ...(await issuesOf(stage)).map(({ number }) => number));
  return { rows: new Set(await rowsOf(stage)), objects: new Set(await repositoryObjects(stage)), lastNumber };
}

/** Returns what is different from before, in words that are the same after each play. */
export async function lookAfter(stage: Stage, before: Before): Promise<Shown> {
  const issues = (await issuesOf(stage)).filter(({ number }) => number > before.lastNumber);
  const names = namesOf(issues);
  const inWords = (line: string) => {
    const value = JSON.parse(line);
    // Milestones have numbers of their own.
    return wordsOf(value, value.table === 'sprint_milestones' ? new Map() : names);
  };
  const rows = (await rowsOf(stage)).filter((row) => !before.rows.has(row));
  const objects = (await repositoryObjects(stage)).filter((each) => !before.objects.has(each));
  for (const issue of issues) objects.push(...(await issueObjects(stage, issue)));
  return { stored: rows.map(inWords).sort(), onGitHub: objects.map(inWords).sort() };
}

/**
 * Names each issue and pull request after its title, because jobs that run at the same time create them in no fixed order. Of
 * those with the same title, the older one comes first.
 */
function namesOf(issues: Issue[]): Map<number, string> {
  const names = new Map<number, string>();
  for (const { number, title, pull_request } of [...issues].sort((a, b) => a.number - b.number)) {
    const name = `${pull_request === undefined ? 'issue' : 'pull request'} ${textIn(title, new Map())}`;
    const earlier = [...names.values()].filter((other) => other.replace(/, number \d+$/, '') === name).length;
    names.set(number, earlier === 0 ? name : `${name}, number ${earlier + 1}`);
  }
  return names;
}

async function rowsOf({ sql }: Stage): Promise<string[]> {
  const tables = await sql<{ name: string }>(`select tablename as name from pg_tables where schemaname = 'public'`);
  const each = tables
    .filter(({ name }) => !leftOut.has(name))
    .map(
      ({ name }) =>
        `select jsonb_build_object('table', '${name}', 'row', to_jsonb(t)${name === 'audit_records' ? ` - 'number'` : ''})::text as row from ${name} t`,
    );
  return (await sql<{ row: string }>(each.join(' union all '))).map(({ row }) => row);
}

interface Issue {
  number: number;
  title: string;
  body: string | null;
  state: string;
  milestone: { title: string } | null;
  pull_request?: object;
  user: { login: string };
}

const repo = '/repos/mona/sample';

/** Lists the newest issues and pull requests. The emulator lists pull requests separately. */
async function issuesOf({ github }: Stage): Promise<Issue[]> {
  const mona = github.as('mona');
  const newest = 'state=all&per_page=100&sort=created&direction=desc';
  const issues = await mona<Issue[]>('GET', `${repo}/issues?${newest}`);
  const pulls = await mona<Issue[]>('GET', `${repo}/pulls?${newest}`);
  const rest = pulls.filter(({ number }) => !issues.some((issue) => issue.number === number));
  return [...issues, ...rest.map((pull) => ({ ...pull, pull_request: {} }))];
}

/** What the repository has besides its issues. */
async function repositoryObjects({ github }: Stage): Promise<string[]> {
  const mona = github.as('mona');
  const labels = await mona<{ name: string; color: string }[]>('GET', `${repo}/labels?per_page=100`);
  const milestones = await mona<{ title: string; state: string; description: string | null }[]>(
    'GET',
    `${repo}/milestones?state=all&per_page=100`,
  );
  const branches = await mona<{ name: string }[]>('GET', `${repo}/branches?per_page=100`);
  return [
    ...labels.map(({ name, color }) => ({ label: name, color })),
    ...milestones.map(({ title, state, description }) => ({ milestone: title, state, description })),
    ...branches.map(({ name }) => ({ branch: name })),
    ...github.reactions.map(({ subject, content }) => ({ reaction: content, subject })),
  ].map((each) => JSON.stringify(each));
}

interface Comment {
  user: { login: string };
  body: string;
  line?: number | null;
}

interface Pull {
  merged: boolean;
  draft: boolean;
  head: { ref: string; sha: string };
  base: { ref: string };
}

/** What people see of an issue or pull request. */
async function issueObjects({ github }: Stage, issue: Issue): Promise<string[]> {
  const mona = github.as('mona');
  const { number, title, body, state, user } = issue;
  const labels = await mona<{ name: string }[]>('GET', `${repo}/issues/${number}/labels`);
  const found: object[] = [
    {
      ...{ issue: number, title, body, state, by: user.login, milestone: issue.milestone?.title },
      labels: labels.map(({ name }) => name).sort(),
    },
  ];
  const comments = async (path: string) => mona<Comment[]>('GET', `${repo}/${path}?per_page=100`);
  for (const comment of await comments(`issues/${number}/comments`))
    found.push({ commentOn: number, by: comment.user.login, body: comment.body });
  if (issue.pull_request !== undefined) {
    const { merged, draft, head, base } = await mona<Pull>('GET', `${repo}/pulls/${number}`);
    found.push({ pull: number, merged, draft, head: head.ref, base: base.ref });
    for (const { user: by, body: text, line } of await comments(`pulls/${number}/comments`))
      found.push({ reviewCommentOn: number, by: by.login, line, body: text });
    const path = `${repo}/commits/${head.sha}/check-runs`;
    type Check = { name: string; status: string; conclusion: string; output: { title: string; summary: string } };
    for (const { name, status, conclusion, output } of (await mona<{ check_runs: Check[] }>('GET', path)).check_runs)
      found.push({ checkOn: number, name, status, conclusion, title: output.title, summary: output.summary });
  }
  return found.map((each) => JSON.stringify(each));
}

/** Writes a value as text without the ids and times of one play, and with the names of issues instead of their numbers. */
function wordsOf(value: unknown, names: Map<number, string>): string {
  const text = JSON.stringify(value, (key, each) => {
    if (changing.test(key) && each !== null) return '<changes>';
    if (typeof each === 'number') return numberIn(key, each, names);
    if (typeof each !== 'string') return each;
    // What caused a revision is named by ids of GitHub, and its text says the rest.
    return /^(key|subject|cause)$/.test(key)
      ? each.replace(/[0-9a-f]{40}/g, '<sha>').replace(/\d+/g, '<n>')
      : textIn(each, names);
  });
  // Also where they are the names of fields.
  return text.replace(/([a-z]+)_0[0-9a-hjkmnp-tv-z]{25}(?![0-9a-z])/g, '$1_<id>');
}

function numberIn(key: string, value: number, names: Map<number, string>): unknown {
  if (/^(number|issue|pull|commentOn|checkOn|reviewCommentOn|issue_number)$/.test(key))
    return names.get(value) ?? '<n>';
  return /(^|_)(id|ids|number)$|seconds$|position$|^milestone$/.test(key) ? '<n>' : value;
}

function textIn(text: string, names: Map<number, string>): string {
  return text
    .replace(/\b[0-9a-f]{40}\b/g, '<sha>')
    .replace(/\bcommit [0-9a-f]{7}\b/g, 'commit <sha>')
    .replace(/agent\/\w{8}/g, 'agent/<id>')
    .replace(/\d{4}-\d\d-\d\d[T ][\d:.]+(Z|\+00(:00)?)?/g, '<time>')
    .replace(/`\d\d:\d\d:\d\d UTC`/g, '<time>')
    .replace(/127\.0\.0\.1:\d+/g, '<host>')
    .replace(/\bnr\d+/g, 'nr')
    .replace(/deckhand:answer \d+/g, 'deckhand:answer <n>')
    .replace(/(review|comments)\/(\d+)/g, '$1/<n>')
    .replace(/(#|issues\/|pull\/|pulls\/|\/)(\d+)\b/g, (all, before: string, n: string) => {
      const name = names.get(Number(n));
      return name === undefined ? all : `${before}<${name}>`;
    })
    .replace(/(<(?:issue|pull request) [^<>]*>)\/\d+/g, '$1/<n>');
}
