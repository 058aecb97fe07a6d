import { z } from 'zod';
import type { Octokit } from '../app.ts';
import { pauseAsked } from '../outgoing/github-errors.ts';

/** Somebody who wrote or edited a text on GitHub. */
export interface Voice {
  id: number;
  login: string;
}

/** A comment on an issue or pull request, or a review. Everybody with write permission may edit each of them. */
export interface Said {
  node_id: string;
  user: { id: number | bigint; login: string } | null;
}

const Edit = z.object({
  id: z.string(),
  lastEditedAt: z.string().nullable(),
  editor: z.object({ databaseId: z.number().optional(), login: z.string() }).nullable(),
  isMinimized: z.boolean().optional(),
});
type Edit = z.infer<typeof Edit>;
/** Texts that were deleted are null. One that cannot be read hides no other. */
const Edits = z.object({ nodes: z.array(Edit.nullable().catch(null)) });

/** The REST API does not say who edited a text. A bot has no `databaseId` here. */
const editsQuery = `query ($ids: [ID!]!) {
  nodes(ids: $ids) {
    ... on Comment { id lastEditedAt editor { login ... on User { databaseId } } }
    ... on Minimizable { isMinimized }
  }
}`;

/** GraphQL takes at most this many ids at once. */
const maxIds = 100;

/**
 * Returns whose words texts are: those of their authors, and of the people who edited them last and so saw the whole
 * text. A text is missing if GitHub does not say that. The times of a comment do not: they are whole seconds, and do not show
 * an edit in the same second. `hidden` are the texts that somebody has hidden on GitHub, as spam or outdated, for example.
 * @throws the error of GitHub when it may answer next time
 */
export async function voicesOf<T extends Said>(
  octokit: Octokit,
  said: T[],
): Promise<{ voices: Map<T, Voice[]>; hidden: Set<T> }> {
  const edits = new Map<string, Edit>();
  for (let at = 0; at < said.length; at += maxIds) {
    const ids = said.slice(at, at + maxIds).map(({ node_id }) => node_id);
    for (const edit of (await readEdits(octokit, ids)) ?? []) edits.set(edit.id, edit);
  }
  const voices = new Map<T, Voice[]>();
  const hidden = new Set<T>();
  for (const text of said) {
    const edit = edits.get(text.node_id);
    if (edit?.isMinimized === true) hidden.add(text);
    if (text.user === null || edit === undefined) continue;
    const author = { id: Number(text.user.id), login: text.user.login };
    const { databaseId: id, login = '' } = edit.editor ?? {};
    if (edit.lastEditedAt === null) voices.set(text, [author]);
    else if (id !== undefined) voices.set(text, [author, { id, login }]);
  }
  return { voices, hidden };
}

/**
 * Returns who edited a text last, and when; undefined if that was no person, or GitHub does not say.
 * @throws the error of GitHub when it may answer next time
 */
export async function lastEditOf(
  octokit: Octokit,
  { node_id }: Pick<Said, 'node_id'>,
): Promise<{ by: Voice; at: Date } | undefined> {
  const [edit] = (await readEdits(octokit, [node_id])) ?? [];
  const { databaseId: id, login = '' } = edit?.editor ?? {};
  if (edit?.lastEditedAt == null || id === undefined) return undefined;
  return { by: { id, login }, at: new Date(edit.lastEditedAt) };
}

/**
 * Returns whether nobody has edited a text. A text that was deleted counts as edited.
 * @throws Error if GitHub does not say it
 */
export async function isUnedited(octokit: Octokit, { node_id }: Pick<Said, 'node_id'>): Promise<boolean> {
  const edits = await readEdits(octokit, [node_id]);
  if (edits === undefined) throw new Error('GitHub does not say whether a comment was edited');
  return edits[0]?.lastEditedAt === null;
}

const Actor = z.object({ databaseId: z.number().optional(), login: z.string() }).nullable();
const TextAnswer = z.object({
  repository: z.object({
    issueOrPullRequest: z.object({
      lastEditedAt: z.string().nullable(),
      editor: Actor,
      timelineItems: z.object({ nodes: z.array(z.object({ actor: Actor })).max(1) }),
    }),
  }),
});

const textFields = `lastEditedAt editor { login ... on User { databaseId } }
  timelineItems(itemTypes: [RENAMED_TITLE_EVENT], last: 1) {
    nodes { ... on RenamedTitleEvent { actor { login ... on User { databaseId } } } }
  }`;
const textQuery = `query editorsOfText($owner: String!, $repo: String!, $number: Int!) {
  repository(owner: $owner, name: $repo) {
    issueOrPullRequest(number: $number) { ... on Issue { ${textFields} } ... on PullRequest { ${textFields} } }
  }
}`;

/**
 * Returns who gave an issue or pull request its title and its text, beside its author: everybody with write permission may change
 * them. Undefined if GitHub does not say that, or names no person.
 * @throws the error of GitHub when it may answer next time
 */
export async function editorsOfText(
  octokit: Octokit,
  at: { owner: string; repo: string; number: number },
): Promise<Voice[] | undefined> {
  const answer = await octokit.graphql(textQuery, at).catch(unlessLater);
  const text = TextAnswer.safeParse(answer).data?.repository.issueOrPullRequest;
  if (text === undefined) return undefined;
  const actors = [
    ...(text.lastEditedAt === null ? [] : [text.editor]),
    ...text.timelineItems.nodes.map((each) => each.actor),
  ];
  const voices = actors.map((actor) => actor?.databaseId !== undefined && { id: actor.databaseId, login: actor.login });
  return voices.every((voice) => voice !== false) ? voices : undefined;
}

/**
 * Returns the data of an answer that contains errors. Such an answer of GraphQL has no status. The errors may be about some texts only,
 * such as a deleted one.
 * @throws the error when GitHub may answer next time
 */
function unlessLater(error: unknown): unknown {
  const { status = 0, data } = error as { status?: number; data?: unknown };
  if (status >= 500 || pauseAsked(error) !== undefined) throw error;
  return data;
}

/** Returns undefined if GitHub refuses to answer. */
async function readEdits(octokit: Octokit, ids: string[]): Promise<Edit[] | undefined> {
  const answer = await octokit.graphql(editsQuery, { ids }).catch(unlessLater);
  return Edits.safeParse(answer).data?.nodes.filter((node) => node !== null);
}
