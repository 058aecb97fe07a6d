import { ErrorCode, McpError, type Resource, type ResourceTemplate } from '@modelcontextprotocol/sdk/types.js';
import type { Dispatch } from './dispatch.ts';

const mimeType = 'application/json';

/** What a model can read without a tool, by the addresses that tools' results name. */
export const resourceTemplates: ResourceTemplate[] = [
  {
    uriTemplate: 'deckhand://runs/{runId}',
    name: 'run',
    title: 'A run',
    description: 'One run of a task: its status, its cost, and what the agent did.',
    mimeType,
  },
  {
    uriTemplate: 'deckhand://tasks/{id}/change',
    name: 'change',
    title: 'The change of a task',
    description: 'What a task changes in its repositories: files, checks and proof.',
    mimeType,
  },
];

/** The operations whose replies a resource consists of, by its address. */
const readers: { pattern: RegExp; urls: (id: string) => Record<string, string> }[] = [
  {
    pattern: /^deckhand:\/\/runs\/([\w-]{1,100})$/,
    urls: (id) => ({ run: `/runs/${id}`, events: `/runs/${id}/events?limit=100` }),
  },
  { pattern: /^deckhand:\/\/tasks\/([\w-]{1,100})\/change$/, urls: (id) => ({ change: `/tasks/${id}/change` }) },
];

/** Reads a resource as JSON. @throws McpError -32002 if there is none, or the caller may not see it */
export async function readResource(uri: string, dispatch: Dispatch) {
  for (const { pattern, urls } of readers) {
    const id = pattern.exec(uri)?.[1];
    if (id === undefined) continue;
    const parts: Record<string, unknown> = {};
    for (const [name, url] of Object.entries(urls(id))) parts[name] = await partOf(uri, url, dispatch);
    return { uri, mimeType, text: JSON.stringify(parts) };
  }
  throw notFound(uri, 'resources are named deckhand://runs/{runId} and deckhand://tasks/{id}/change');
}

async function partOf(uri: string, url: string, dispatch: Dispatch): Promise<unknown> {
  const { status, body } = await dispatch({ method: 'GET', url });
  if (status === 200) return body;
  const { message } = body as { message: string };
  throw status === 404 || status === 403 ? notFound(uri, message) : new McpError(ErrorCode.InternalError, message);
}

/** The code is that of the specification (“Resources”, error handling); the SDK has no name for it. */
function notFound(uri: string, why: string): McpError {
  return new McpError(-32002, `There is no resource ${uri.slice(0, 200)}: ${why}`);
}

/** Returns the changes that wait for the caller. */
export async function changesToSee(dispatch: Dispatch): Promise<Resource[]> {
  const { status, body } = await dispatch({ method: 'GET', url: '/me/inbox' });
  if (status !== 200) return [];
  const entries = body as { taskId: string; title: string; reason: string }[];
  return entries
    .filter(({ reason }) => reason === 'review' || reason === 'push')
    .map(({ taskId, title }) => ({
      uri: `deckhand://tasks/${taskId}/change`,
      name: taskId,
      title,
      description: 'A change that waits for a person',
      mimeType,
    }));
}
