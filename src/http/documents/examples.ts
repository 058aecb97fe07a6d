import { sample } from 'openapi-sampler';

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
export function withExamples<D extends object>(document: D): D {
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
  return ['example', 'examples', 'enum', 'const', 'format', '$ref'].some((key) => key in schema);
}

function visit(node: unknown, see: (node: Json) => void): void {
  if (Array.isArray(node)) for (const item of node) visit(item, see);
  else if (isObject(node)) {
    see(node);
    for (const [key, value] of Object.entries(node)) if (key !== 'example' && key !== 'examples') visit(value, see);
  }
}
