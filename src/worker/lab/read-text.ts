import { z } from 'zod';
import type { App, Octokit } from '../../app.ts';
import type { RepositoryRow } from '../../db/tables/project.ts';
import { type SolutionTraces, withoutSolution } from '../../domain/lab/without-solution.ts';
import { oneLine, visible } from '../../domain/text/sanitize.ts';
import { AppError } from '../../errors.ts';
import { diffOf } from '../../git/diff.ts';
import type { Checkout } from '../../git/engine.ts';
import type { RepoName } from '../../git/remote-url.ts';
import { asShown } from '../../markdown/as-shown.ts';
import { pauseAsked } from '../../outgoing/github-errors.ts';
import { credentialFor, octokitFor } from '../../repositories/credentials.ts';
import { mayStoreTexts } from '../../repositories/rights.ts';
import type { RetryPolicy } from '../retry.ts';
import type { Candidate } from './look-at-history.ts';

/** What a task says, without its solution. */
export interface TaskText {
  title: string;
  text: string;
  /** What was removed from what people wrote. */
  removed: string[];
}

export interface Reading {
  checkout: Checkout;
  retrying: RetryPolicy;
  /** Returns where GitHub is asked now; undefined where it cannot be, or the project may no longer store what it says. */
  findPlace(): Promise<PlaceOfTexts | undefined>;
}

interface PlaceOfTexts {
  octokit: Octokit;
  name: RepoName;
}

const written = `number title body createdAt lastEditedAt
  timelineItems(first: 20, itemTypes: [RENAMED_TITLE_EVENT]) {
    nodes { ... on RenamedTitleEvent { createdAt previousTitle } }
  }`;
const pull = `${written} mergedAt mergeCommit { oid }
  closingIssuesReferences(first: 5) { nodes { ${written} repository { nameWithOwner } } }`;
const pullsQuery = `query pullsOfCommit($owner: String!, $repo: String!, $sha: GitObjectID!) {
  repository(owner: $owner, name: $repo) {
    object(oid: $sha) { ... on Commit { associatedPullRequests(first: 5) { nodes { ${pull} } } } }
  }
}`;
const mentionedQuery = `query mentioned($owner: String!, $repo: String!, $number: Int!) {
  repository(owner: $owner, name: $repo) {
    issueOrPullRequest(number: $number) { __typename ... on Issue { ${written} } ... on PullRequest { ${pull} } }
  }
}`;

const Moment = z.string().transform((text) => new Date(text));
const Written = z.object({
  number: z.int(),
  title: z.string(),
  body: z.string(),
  createdAt: Moment,
  lastEditedAt: Moment.nullable(),
  timelineItems: z.object({
    nodes: z.array(z.object({ createdAt: Moment.optional(), previousTitle: z.string().optional() }).nullable()),
  }),
});
type WrittenText = z.output<typeof Written>;
const Pull = Written.extend({
  mergedAt: Moment.nullable(),
  mergeCommit: z.object({ oid: z.string() }).nullable(),
  closingIssuesReferences: z.object({
    nodes: z.array(Written.extend({ repository: z.object({ nameWithOwner: z.string() }) }).nullable()),
  }),
});
type PullText = z.output<typeof Pull>;
const PullsAnswer = z.object({
  repository: z.object({
    object: z.object({ associatedPullRequests: z.object({ nodes: z.array(Pull.nullable()) }).optional() }).nullable(),
  }),
});
const MentionedAnswer = z.object({
  repository: z.object({
    issueOrPullRequest: z
      .union([
        Written.extend({ __typename: z.literal('Issue') }),
        Pull.extend({ __typename: z.literal('PullRequest') }),
      ])
      .nullable(),
  }),
});

/**
 * Returns where to ask GitHub what people wrote in a repository; undefined where there is no credential for it, no GitHub, or where the
 * project may not store that.
 */
export async function placeOfTexts(app: App, repository: RepositoryRow): Promise<PlaceOfTexts | undefined> {
  const credential = await credentialFor(app, repository);
  if (credential.kind === 'none' || credential.owner === '') return undefined;
  if (!(await mayStoreTexts(app, repository.id))) return undefined;
  const { owner, repo } = credential;
  return { octokit: await octokitFor(app, credential), name: { owner, repo } };
}

/**
 * Returns what people wrote about a change before it was merged: the issues that it closes or mentions, otherwise its pull
 * request, otherwise the first line of its commit. What tells the solution is removed.
 */
export async function readText(reading: Reading, candidate: Candidate): Promise<TaskText> {
  const at = await reading.retrying(reading.findPlace);
  const found = at === undefined ? undefined : await sourcesOf(reading, at, candidate);
  const traces = await tracesOf(reading.checkout, candidate, found?.pull?.number, at?.name);
  const bySubject = cleanTitle(candidate.subject.replace(/ ?\(#\d{1,9}\)$/, ''), traces);
  const subject = bySubject.title || 'A change without a title';
  if (found === undefined || found.texts.length === 0)
    return { title: subject, text: subject, removed: bySubject.removed };
  const parts = found.texts.map((each) => cleanPart(each, traces));
  const [first] = parts as [(typeof parts)[0], ...typeof parts];
  const whole =
    parts.length === 1 ? first.text : parts.map((part) => `## ${part.title}\n\n${part.text}`.trim()).join('\n\n');
  return {
    title: first.title || subject,
    text: whole.slice(0, maxText) || first.title || subject,
    removed: [...(first.title === '' ? bySubject.removed : []), ...parts.flatMap(({ removed }) => removed)].slice(
      0,
      maxRemoved,
    ),
  };
}

/** Removes the solution from a title, and lists what it removed. */
function cleanTitle(text: string, traces: SolutionTraces): { title: string; removed: string[] } {
  const { text: left, removed } = withoutSolution(text, traces);
  return { title: oneLine(visible(left), 200), removed };
}

function cleanPart({ title: own, body }: Sources['texts'][number], traces: SolutionTraces) {
  const { title, removed } = cleanTitle(own, traces);
  const { text, removed: others } = withoutSolution(body, traces);
  return { title, text, removed: [...removed, ...others] };
}

/** Characters of a text, and entries of what was removed from it. */
const [maxText, maxRemoved] = [20_000, 100];

interface Sources {
  texts: Pick<WrittenText, 'title' | 'body'>[];
  pull: PullText | undefined;
}

/** Finds what was written about a change before it was merged. */
async function sourcesOf(
  { retrying }: Reading,
  at: PlaceOfTexts,
  { solutionSha, mentioned, at: committedAt }: Candidate,
): Promise<Sources> {
  const ask: Ask = (query, variables) =>
    retrying(() => at.octokit.graphql(query, { ...at.name, ...variables }).catch(unlessRefused));
  const ofCommit = await pullOf(ask, solutionSha);
  const { issues, pull: named } = await lookUp(
    ask,
    mentioned.filter((number) => number !== ofCommit?.number),
  );
  const merged = ofCommit ?? named;
  const mergedAt = merged?.mergedAt ?? new Date(committedAt);
  // The issues of other repositories may be private.
  const here = `${at.name.owner}/${at.name.repo}`.toLowerCase();
  const closed = (merged?.closingIssuesReferences.nodes ?? []).filter(
    (issue) => issue?.repository.nameWithOwner.toLowerCase() === here,
  );
  const known = new Map([...closed, ...issues].flatMap((issue) => (issue === null ? [] : [[issue.number, issue]])));
  const ofIssues = [...known.values()].filter((issue) => isFrom(issue, mergedAt)).slice(0, maxIssues);
  const ofPull = merged !== undefined && isFrom(merged, mergedAt) ? [merged] : [];
  const texts: WrittenText[] = ofIssues.length > 0 ? ofIssues : ofPull;
  const shown = texts.map(async (each) => ({ title: titleAt(each, mergedAt), body: await asShown(each.body) }));
  return { texts: await Promise.all(shown), pull: merged };
}

type Ask = (query: string, variables: object) => Promise<unknown>;

/** Returns the pull request with which a commit was merged. */
async function pullOf(ask: Ask, sha: string): Promise<PullText | undefined> {
  const answer = PullsAnswer.safeParse(await ask(pullsQuery, { sha })).data;
  const pulls = (answer?.repository.object?.associatedPullRequests?.nodes ?? []).filter((each) => each !== null);
  return pulls.find((each) => each.mergeCommit?.oid === sha) ?? pulls.find((each) => each.mergedAt !== null);
}

/** Returns the issues with these numbers, and the first pull request among them that was merged. */
async function lookUp(ask: Ask, numbers: number[]): Promise<{ issues: WrittenText[]; pull: PullText | undefined }> {
  const issues: WrittenText[] = [];
  let pull: PullText | undefined;
  for (const number of numbers) {
    const found = MentionedAnswer.safeParse(await ask(mentionedQuery, { number })).data?.repository.issueOrPullRequest;
    if (found?.__typename === 'Issue') issues.push(found);
    else if (found?.__typename === 'PullRequest' && found.mergedAt !== null) pull ??= found;
  }
  return { issues, pull };
}

/** At most this many issues become one text. */
const maxIssues = 3;

/** GitHub's moments have no fractions of seconds. */
const clock = (date: Date) => Math.floor(date.getTime() / 1000);

/** Whether a text is as it was before the change was merged. What was edited later may tell how it was made. */
function isFrom({ createdAt, lastEditedAt }: WrittenText, mergedAt: Date): boolean {
  return clock(createdAt) <= clock(mergedAt) && (lastEditedAt === null || clock(lastEditedAt) <= clock(mergedAt));
}

/** Returns the title as it was when the change was merged. */
function titleAt({ title, timelineItems }: WrittenText, mergedAt: Date): string {
  const later = timelineItems.nodes.find((each) => each?.createdAt !== undefined && each.createdAt > mergedAt);
  return later?.previousTitle ?? title;
}

/** An answer of GraphQL with errors has no status. It may be that this GitHub does not know a field. */
function unlessRefused(error: { status?: number; data?: unknown }): unknown {
  if (pauseAsked(error) !== undefined || (error.status ?? 0) >= 500 || error instanceof AppError) throw error;
  return error.data;
}

/** Names that many files have do not tell a solution. */
const usualNames = /^(index|main|mod|lib|types?|utils?|readme|__init__|setup|test|tests)\.\w+$/i;

async function tracesOf(
  checkout: Checkout,
  { baseSha, solutionSha }: Candidate,
  number: number | undefined,
  name: RepoName | undefined,
): Promise<SolutionTraces> {
  const diff = await diffOf(checkout, baseSha, solutionSha);
  const addedLines = diff.files.flatMap(({ hunks }) =>
    hunks.flatMap(({ lines }) => lines.filter((line) => line.startsWith('+')).map((line) => line.slice(1))),
  );
  const changes = await checkout.changes(baseSha, solutionSha);
  const added = changes.filter(({ oldMode }) => oldMode === '000000').map(({ path }) => path);
  const before = new Set([...(await checkout.files(baseSha)).keys()].map(nameOf));
  const names = added.map(nameOf).filter((each) => !before.has(each) && !usualNames.test(each));
  return {
    addedLines,
    // Whole paths come before the names in them.
    newNames: [...new Set([...added, ...names])].sort((a, b) => b.length - a.length),
    pull: number,
    repository: name === undefined ? undefined : `${name.owner}/${name.repo}`,
  };
}

const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1);
