import { sample } from 'openapi-sampler';
import { z } from 'zod';
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
} from 'zod-openapi';
import { ErrorReply, methodsWithBody, type Route } from '../route.ts';

/** Errors that several routes have in common. */
const shared = {
  400: ['Invalid', 'The body, the query or the JSON is invalid', 'title: must have 1 to 200 characters'],
  401: ['Unauthorized', 'The token is missing, malformed, expired or revoked', 'Unauthorized'],
  403: ['Forbidden', 'The user is not a member of the project, or the role is too low', 'Requires the admin role'],
  404: ['NotFound', 'Unknown, or not visible to the caller', 'Task task_01h455vb4pex5vsknk084sn02q not found'],
  409: [
    'Conflict',
    'The first request with this Idempotency-Key is still under way',
    'A request with this Idempotency-Key is still under way; repeat it later',
  ],
  413: ['TooLarge', 'The body has more than 1 MB', 'The body must have at most 1 MB'],
  415: ['NotJson', 'The body is not JSON', 'The body must be JSON (Content-Type: application/json)'],
  422: [
    'KeyReused',
    'The Idempotency-Key was used with another body',
    'This Idempotency-Key was used with another body; use a new key for a new request',
  ],
  429: [
    'TooMany',
    'Too many requests; the Retry-After header says when to retry',
    'At most 600 requests a minute are allowed; the Retry-After header says when to retry',
  ],
  503: [
    'Unavailable',
    'The database is unavailable; the Retry-After header says when to retry',
    'The database is unavailable',
  ],
} as const;

const seconds = z.object({ 'Retry-After': z.int().meta({ description: 'seconds', example: 12 }) });

function errorResponse(code: number, description: string, message: string): ZodOpenApiResponseObject {
  const errors = code === 400 ? { errors: [{ path: 'title', message }] } : {};
  return {
    description,
    ...(code === 429 || code === 503 ? { headers: seconds } : {}),
    content: { 'application/json': { schema: ErrorReply, example: { statusCode: code, message, ...errors } } },
  };
}

const sharedResponses = Object.fromEntries(
  Object.entries(shared).map(([code, [id, description, message]]) => [
    code,
    { id, ...errorResponse(Number(code), description, message) },
  ]),
);

const tags: Record<string, string> = {
  automations: 'Tasks that create themselves, at times and after events',
  agents: 'AI workers: teams, health, performance, skills, evolution',
  planning: 'The wizard from a goal to a sprint',
  projects: 'The caller, projects, their members, settings and secrets',
  repositories: 'Git repositories connected to a project',
  inbox: 'What waits for the caller',
  runs: 'The runs of tasks: events, turns, proofs and timelines',
  sprints: 'Sprints, their tasks and figures',
  tasks: 'Units of work for agents: starting, deciding, reviewing and merging',
  webhooks: 'What the service sends to other tools',
};

/** Returns the OpenAPI 3.1 document of the declared routes. */
export function openapiDocument(routes: Route[], serverUrl: string): object {
  const paths: ZodOpenApiPathsObject = {};
  for (const declared of routes) {
    const path = declared.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [declared.method]: operation(declared) };
  }
  const document = createDocument({
    openapi: '3.1.1',
    info: {
      title: 'Deckhand',
      version: '1',
      description: `Projects, tasks, repositories and the AI agents that work on them.\n\n${quickStart(serverUrl)}`,
    },
    servers: [{ url: `${serverUrl}/api/v1` }],
    security: [{ bearer: [] }],
    tags: [...new Set(routes.map((r) => r.tag))].map((name) => ({ name, description: tags[name] ?? name })),
    components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } } },
    paths,
  });
  return withExamples(document);
}

/** How to create a task, start it, watch it and merge it, with nothing but curl. */
function quickStart(serverUrl: string): string {
  return `## Quick start

Create a token with the scope "Write" in the dashboard (menu of your picture, API tokens), or run \`npm run --silent token -- --login YOUR_LOGIN\`. Then:

\`\`\`sh
API=${serverUrl}/api/v1
TOKEN=…
AUTH="Authorization: Bearer $TOKEN"

# Your projects, and the agents of one of them. Put the ids from the answers into the variables
curl -H "$AUTH" $API/projects
PROJECT=proj_…
curl -H "$AUTH" "$API/agents?projectId=$PROJECT"

# Create a task for an agent, by its name or id, and start it
curl -H "$AUTH" -H 'Content-Type: application/json' -d '{"title":"Cut long slugs","owner":"Developer"}' $API/projects/$PROJECT/tasks
TASK=task_…
curl -H "$AUTH" -X POST $API/tasks/$TASK/start

# Tell the agent something, watch its run until it ends, and merge what it proposes
curl -H "$AUTH" -H 'Content-Type: application/json' -d '{"text":"Keep the names short."}' $API/tasks/$TASK/say
curl -H "$AUTH" $API/tasks/$TASK/runs
RUN=run_…
curl -H "$AUTH" -H 'Accept: text/event-stream' -N $API/runs/$RUN/events
curl -H "$AUTH" -X POST $API/tasks/$TASK/merge

# A run that waits for you says why in \`attention\` of its task: answer a question, or approve a plan
curl -H "$AUTH" $API/tasks/$TASK
curl -H "$AUTH" -H 'Content-Type: application/json' -d '{"text":"At most 60 characters."}' $API/tasks/$TASK/answer
curl -H "$AUTH" -X POST $API/tasks/$TASK/approve
\`\`\`

Errors are JSON: \`message\` says what was expected and how to go on (with 401 it is \`Unauthorized\`: the token is missing, malformed, expired or revoked, so create another one), and \`errors\` names each wrong field by its path. A POST with an
\`Idempotency-Key\` can be repeated safely.`;
}

function operation(declared: Route): ZodOpenApiOperationObject {
  const { body } = declared;
  return {
    operationId: declared.operationId,
    summary: declared.summary,
    tags: [declared.tag],
    requestParams: requestParams(declared),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: !body.safeParse({}).success,
            content: { 'application/json': { schema: body } },
          },
        }),
    responses: { ...successes(declared), ...failures(declared) },
  };
}

function requestParams({ path, query, method }: Route) {
  const params = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  return {
    ...(params.length > 0 ? { path: z.object(Object.fromEntries(params.map((name) => [name, pathId]))) } : {}),
    ...(query === undefined ? {} : { query: query as z.ZodObject }),
    ...(method === 'post' ? { header: z.object({ 'Idempotency-Key': idempotencyKey }) } : {}),
  };
}

function successes(declared: Route): ZodOpenApiOperationObject['responses'] {
  const { reply, repeats, previews, defers, summary, paged, method } = declared;
  const [status, shape] = reply;
  const headers = {
    ...(method === 'post' ? { 'Idempotent-Replayed': z.literal('true').optional() } : {}),
    ...(paged ? { Link: z.string().optional().meta({ description: 'rel="next" and rel="prev" (RFC 8288)' }) } : {}),
  };
  const first = {
    description: summary,
    ...(Object.keys(headers).length > 0 ? { headers: z.object(headers) } : {}),
    ...(shape === undefined ? {} : { content: contentOf(declared, shape) }),
  };
  const again = repeats === undefined || shape === undefined ? undefined : contentOf(declared, shape);
  return {
    [`${status}` as '200']: first,
    ...(again === undefined ? {} : { 200: { description: repeats ?? '', content: again } }),
    ...(defers === undefined || shape === undefined
      ? {}
      : { 202: { ...first, description: defers, content: contentOf(declared, shape) } }),
    ...(previews === undefined
      ? {}
      : { 200: { description: previews.description, content: contentOf(declared, previews.shape) } }),
  };
}

/** Returns the errors of every route of this kind and those that this route declares. */
function failures({ access, method, errors = {} }: Route): ZodOpenApiOperationObject['responses'] {
  const isPost = method === 'post';
  const codes = [400, 401, 429, 503];
  if (methodsWithBody.includes(method)) codes.push(413, 415);
  if (isPost) codes.push(409, 422);
  if (access.names !== undefined) codes.push(403, 404);
  // Cross-site writes with a cookie are refused, too.
  else if (method !== 'get') codes.push(403);
  const own = Object.entries(errors).map(([code, text]) => [code, errorResponse(Number(code), text, text)]);
  return { ...Object.fromEntries(codes.map((code) => [code, sharedResponses[code]])), ...Object.fromEntries(own) };
}

function contentOf({ isStream, streams, exports }: Route, shape: z.ZodType) {
  return {
    ...(isStream ? {} : { 'application/json': { schema: shape } }),
    ...(exports === undefined
      ? {}
      : {
          'application/x-ndjson': {
            schema: z.string().meta({ description: 'all results, one per line, whatever `limit` and `offset` are' }),
            example: '{}\n{}\n',
          },
        }),
    ...(streams === undefined
      ? {}
      : {
          'text/event-stream': {
            schema: z.string().meta({ description: streams }),
            example: 'id: 1\nevent: task\ndata: {}\n\n',
          },
        }),
  };
}

const pathId = z.string().meta({ example: 'id_01h455vb4pex5vsknk084sn02q' });
const idempotencyKey = z.string().min(1).max(255).optional().meta({
  description: 'Repeating the request with the same key within 24 hours returns the first reply again',
});

/** Example values by field name. The example of any other field is derived from its type. */
const byName: Record<string, unknown> = {
  action: 'requeued',
  additions: 12,
  agentId: 'agent_01h455vb4pex5vsknk084sn02q',
  area: 'checks',
  avatarUrl: 'https://github.com/octocat.png',
  baseBranch: 'main',
  branchName: 'agent/084sn02q-greet-by-name',
  branches: ['main', 'release'],
  costUsd: 0.42,
  currentTaskId: 'task_01h455vb4pex5vsknk084sn02q',
  customText: 'Teams of up to ten people',
  defaultBranch: 'main',
  deletions: 3,
  dependsOn: ['task_01h455vb4pex5vsknk084sn03r'],
  description: 'The greeting should name the person, and say hello when there is none.',
  feedback: 'Split the second phase',
  goal: 'People are greeted by their name',
  id: 'id_01h455vb4pex5vsknk084sn02q',
  improvements: ['Run the tests before you finish'],
  issueNumber: 7,
  issueUrl: 'https://github.com/octocat/hello/issues/7',
  login: 'octocat',
  markdown: '# Greet by name',
  message: 'What is still missing?',
  model: 'gpt-5',
  name: 'hello',
  newSystemPrompt: 'You are a careful developer.',
  nextSteps: ['Translate the greeting'],
  owner: 'agent_01h455vb4pex5vsknk084sn02q',
  parentId: 'task_01h455vb4pex5vsknk084sn04s',
  path: 'src/greet.js',
  prefix: 'eyJhbGciOiJI',
  prNumber: 12,
  prUrl: 'https://github.com/octocat/hello/pull/12',
  previousPath: 'src/hello.js',
  previousVersionId: 'agent_01h455vb4pex5vsknk084sn05t',
  projectId: 'proj_01h455vb4pex5vsknk084sn02q',
  question: 'Who are the users?',
  reason: 'its worker had ended',
  ref: 'greeting',
  repositoryId: 'repo_01h455vb4pex5vsknk084sn02q',
  repositoryName: 'hello',
  response: 'The tests of the empty name.',
  runId: 'run_01h455vb4pex5vsknk084sn02q',
  search: 'greet',
  selectedOptionIds: ['option_1'],
  sessionId: 'wiz_01h455vb4pex5vsknk084sn02q',
  slug: 'hello',
  sprintId: 'sprint_01h455vb4pex5vsknk084sn02q',
  stepId: 'users',
  suggestion: 'Name the command that checks the repository in .deckhand.yml',
  summary: 'Greets by name; tests added.',
  systemPrompt: 'You are a careful developer.',
  taskId: 'task_01h455vb4pex5vsknk084sn02q',
  taskIds: ['task_01h455vb4pex5vsknk084sn02q'],
  team: 'core',
  text: 'Also greet without a name',
  title: 'Greet by name',
  token: 'a-secret-token',
  tokenId: 'tok_01h455vb4pex5vsknk084sn02q',
  url: 'https://github.com/octocat/hello',
  userId: 'user_01h455vb4pex5vsknk084sn02q',
};

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** Adds an example to every field, and to every body and reply an example composed of those of its fields. */
function withExamples<D extends object>(document: D): D {
  visit(document, (node) => {
    if (!isObject(node.properties)) return;
    for (const [name, schema] of Object.entries(node.properties))
      if (isObject(schema) && name in byName && !hasOwnValue(schema)) schema.examples = [byName[name]];
  });
  visit(document, (node) => {
    const media = isObject(node.content) ? node.content['application/json'] : undefined;
    if (isObject(media) && media.schema && !('example' in media))
      media.example = sample(media.schema as object, { quiet: true }, document);
  });
  return document;
}

function hasOwnValue(schema: Json): boolean {
  return ['example', 'examples', 'enum', 'const', 'format', '$ref'].some((key) => key in schema) || hasFields(schema);
}

/** Whether a value has fields, which have examples of their own. */
function hasFields({ type, anyOf }: Json): boolean {
  return type === 'object' || (Array.isArray(anyOf) && anyOf.some((each) => isObject(each) && hasFields(each)));
}

function visit(node: unknown, see: (node: Json) => void): void {
  if (Array.isArray(node)) for (const item of node) visit(item, see);
  else if (isObject(node)) {
    see(node);
    for (const [key, value] of Object.entries(node)) if (key !== 'example' && key !== 'examples') visit(value, see);
  }
}
