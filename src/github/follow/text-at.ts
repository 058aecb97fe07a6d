import { z } from 'zod';
import { httpStatusOf, type Place } from '../place.ts';

/** What an issue said at a moment, or why that is not known, as a sentence for people. */
export type IssueText = { title: string; body: string; url: string } | { unknown: string };

const Time = z.iso.datetime({ offset: true });
const Answer = z.object({
  repository: z.object({
    issue: z.object({
      title: z.string(),
      body: z.string(),
      url: z.string(),
      lastEditedAt: Time.nullable(),
      timelineItems: z.object({ nodes: z.array(z.object({ createdAt: Time })).max(1) }),
    }),
  }),
});

/**
 * The REST API does not say when the text of an issue was edited: `updated_at` changes with every comment and label.
 * `lastEditedAt` is about the body only. A new title is an event of the timeline.
 */
const query = `query ($owner: String!, $repo: String!, $number: Int!) {
  repository(owner: $owner, name: $repo) {
    issue(number: $number) {
      title body url lastEditedAt
      timelineItems(itemTypes: [RENAMED_TITLE_EVENT], last: 1) {
        nodes { ... on RenamedTitleEvent { createdAt } }
      }
    }
  }
}`;

/** The words for an order in refusals: what the person did, and what to repeat. */
const orders = {
  label: ['the label was added', 'add the label again'],
  command: ['the command was written', 'write the command again'],
} as const;

/**
 * Reads what an issue says, if it still says what it said at `at`, when somebody with write permission gave an order that
 * is about this text. Its author may edit it at any time without that permission. GitHub reports whole seconds, so an
 * edit in the same second counts as later.
 * @throws when GitHub may answer next time
 */
export async function readTextAt(
  { octokit, name }: Place,
  number: number,
  { at, order }: { at: string; order: keyof typeof orders },
): Promise<IssueText> {
  const [done, again] = orders[order];
  const advice = `Read what it says now, then ${again}.`;
  const answer = await octokit.graphql(query, { ...name, number }).catch((error) => {
    // An answer of GraphQL that contains errors has no status.
    if (httpStatusOf(error) >= 500 || httpStatusOf(error) === 429) throw error;
    return undefined;
  });
  const read = Answer.safeParse(answer);
  if (!read.success) return { unknown: `GitHub does not say whether the issue was edited after ${done}. ${advice}` };
  const { title, body, url, lastEditedAt, timelineItems } = read.data.repository.issue;
  const edits = [lastEditedAt, ...timelineItems.nodes.map(({ createdAt }) => createdAt)];
  const second = (time: string) => Math.floor(Date.parse(time) / 1000);
  if (edits.some((edited) => edited !== null && !(second(edited) < second(at))))
    return { unknown: `The issue was edited after ${done}. ${advice}` };
  return { title, body, url };
}
