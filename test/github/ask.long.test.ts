import type { Octokit } from '../../src/app.ts';
import { ask } from '../../src/github/commands/ask.ts';
import { carryOut } from '../../src/github/commands/verbs.ts';
import type { GivenCommand } from '../../src/github/given-command.ts';
import { getRepository } from '../../src/repositories/store.ts';
import { openAppWithModel } from '../support/app.ts';

const { talk, model, service } = await openAppWithModel();
const token = await service.token('ada');
let project: string;
/** A public and a private repository of the project. */
let open: string;
let hidden: string;

const make = async (path: string, body: object): Promise<string> => {
  const answer = await service.call('POST', path, { token, body });
  expect(answer.status).toBe(201);
  return answer.body.id;
};
const sql = (text: string, values: unknown[]) => service.app.db.manager.query(text, values);
const newTask = async (title: string, repositoryId: string | undefined, more = {}) => {
  const id = await make(`/projects/${project}/tasks`, { title, ...more });
  await sql('update tasks set repository_id = $2 where id = $1', [id, repositoryId ?? null]);
  return id;
};

beforeAll(async () => {
  project = await make('/projects', { name: 'P' });
  open = await make('/repositories', { projectId: project, name: 'open', url: 'https://github.com/o/open' });
  hidden = await make('/repositories', { projectId: project, name: 'hidden', url: 'https://github.com/o/hidden' });
  await sql('update repositories set is_private = (id <> $1)', [open]);
});

/** Returns a command that was given on an issue of a repository. */
const commandOn = async (repositoryId: string, issue: number, verb: string, argument: string, as = token) =>
  ({
    command: { verb, argument, line: 1 },
    source: { issue: { number: issue, title: 'An issue', body: '', isPull: false } },
    commentId: issue,
    at: { name: { owner: 'o', repo: 'open' } },
    repository: await getRepository(service.app.db.manager, repositoryId),
    userId: (await service.call('GET', '/me', { token: as })).body.id,
    via: 'comment',
  }) as unknown as GivenCommand;

/** Asks on an issue of a repository. Returns what the model read and what the comment says. */
async function asked(repositoryId: string, issue: number, as = token): Promise<{ prompt: string; reply: string }> {
  let reply = '';
  const octokit = {
    paginate: {
      async *iterator() {
        yield { data: [] };
      },
    },
    request: async (_path: string, { body }: { body: string }) => {
      // Without the invisible signs that keep `#1` from mentioning an issue.
      reply = body.replaceAll('\u2060', '');
      return { data: {} };
    },
  } as unknown as Octokit;
  const given = await commandOn(repositoryId, issue, 'ask', 'What is this about?', as);
  await ask(service.app, { ...given, at: { ...given.at, octokit } });
  return { prompt: JSON.stringify(model.requests.at(-1)?.messages), reply };
}

/** Creates a task on an issue, with relatives and pull requests in the public and in the private repository. */
async function makeFamily(repositoryId: string, issue: number) {
  const parent = await newTask(`Parent secret-${issue}`, hidden);
  const dependsOn = [
    await newTask(`Secret-${issue} dependency`, hidden),
    await newTask(`secret-${issue} without a repository`, undefined),
    await newTask(`Known-${issue} dependency`, open),
  ];
  const task = await newTask('Greet', repositoryId, { dependsOn });
  const subtasks = [await newTask(`Subtask secret-${issue}`, hidden), await newTask(`Subtask known-${issue}`, open)];
  await sql('update tasks set parent_id = $1 where id = any($2)', [task, subtasks]);
  const days = { startDate: '2026-01-01', endDate: '2026-01-02' };
  const sprint = await make(`/projects/${project}/sprints`, { name: `secret-${issue} sprint`, ...days });
  await sql(
    `update tasks set parent_id = $2, sprint_id = $3, issue_repository_id = $4, issue_number = $5, issue_url = 'u'
     where id = $1`,
    [task, parent, sprint, repositoryId, issue],
  );
  for (const [repository, name, number] of [
    [hidden, `secret-${issue}`, issue * 10],
    [open, `known-${issue}`, issue * 10 + 1],
  ])
    await sql(
      `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha)
       values ($1, $2, $3, $4, 'open', 'b', 'c')`,
      [task, repository, number, `https://github.com/o/${name}/pull/1`],
    );
  talk.says = () => `See ${parent} and #${issue * 10}.`;
  return { task, parent };
}

const count = (text: string, word: string) => text.toLowerCase().split(word).length - 1;

test('in a public repository, an answer contains nothing private of its project', async () => {
  const { parent } = await makeFamily(open, 1);
  const { prompt, reply } = await asked(open, 1);
  expect([count(prompt, 'secret-1'), count(prompt, 'known-1')]).toEqual([0, 3]);
  expect(reply).toContain(`See ${parent} and #10.`);
});

test('a comment is answered without what an agent was told, which only members see, and a member on the dashboard with it', async () => {
  const { task } = await makeFamily(open, 30);
  await sql(`update agents set system_prompt = 'secret-3 prompt' where project_id = $1`, [project]);
  for (const issue of [30, 78]) expect(count((await asked(open, issue)).prompt, 'secret-3 prompt')).toBe(0);
  await service.call('POST', `/tasks/${task}/chat`, { token, body: { message: 'What is this about?' } });
  expect(count(JSON.stringify(model.requests.at(-1)?.messages), 'secret-3 prompt')).toBe(1);
});

test('on a public issue without a task, an answer links no titles either', async () => {
  const { parent } = await makeFamily(open, 2);
  const { reply } = await asked(open, 77);
  expect(reply).toContain(`See ${parent} and #20.`);
});

test('a question is about the text that the issue had when it was asked, or is refused', async () => {
  const given = await commandOn(open, 78, 'ask', 'Well?');
  const issue = { ...given.source.issue, title: '', unknown: 'The issue was edited after the command was written.' };
  await expect(ask(service.app, { ...given, source: { issue } })).rejects.toThrow(issue.unknown);
});

test('members in a private repository and in the dashboard read all names', async () => {
  const { task } = await makeFamily(hidden, 3);
  const { prompt, reply } = await asked(hidden, 3);
  expect([count(prompt, 'secret-3'), count(prompt, 'known-3')]).toEqual([6, 3]);
  expect(reply).toContain('[Parent secret-3](');
  const { body } = await service.call('POST', `/tasks/${task}/chat`, { token, body: { message: 'Well?' } });
  expect(body.response).toContain('[Parent secret-3](');
});

const refusal = async (repositoryId: string, issue: number) =>
  carryOut(service.app, await commandOn(repositoryId, issue, 'sprint', 'Nope')).catch((error: Error) => error.message);

test('an unknown sprint is refused with the names of those that have tasks of the repository, but not in a public one', async () => {
  await makeFamily(open, 5);
  await makeFamily(hidden, 6);
  const refused = 'No planned or active sprint is named Nope.';
  const known = `With tasks of this repository there are: secret-6 sprint`;
  const said = await refusal(hidden, 6);
  expect(said).toMatch(new RegExp(`^${refused} ${known}.* The dashboard lists all sprints\\.$`));
  expect(said).not.toContain('secret-5 sprint');
  expect(await refusal(open, 5)).toBe(`${refused} The dashboard lists all sprints.`);
});

test('an unknown agent is refused with the names of those that exist; in a public one, only with those of the project', async () => {
  await make('/agents', { name: 'Private Eye' });
  const start = async (repositoryId: string) =>
    carryOut(service.app, await commandOn(repositoryId, 99, 'start', 'Nobody')).catch((error: Error) => error.message);
  const refused = /^This project has no agent named Nobody\. It has: Developer, .*Reviewer/;
  expect(await start(hidden)).toMatch(refused);
  expect(await start(hidden)).toContain('Private Eye');
  expect(await start(open)).toMatch(refused);
  expect(await start(open)).not.toContain('Private Eye');
  for (const i of Array(10).keys()) await make('/agents', { name: `Agent ${i}` });
  expect(await start(hidden)).toMatch(/It has: (?:[^,]+, ){9}[^,]+, and \d+ more\.$/);
});

/** A task with what only the dashboard shows, and with a failed run that had opened the repository `vault`. */
async function makeHeld(repositoryId: string, issue: number, vault: string): Promise<void> {
  const { task } = await makeFamily(repositoryId, issue);
  const [failed, waiting] = [`run_failed_${issue}`, `run_waiting_${issue}`];
  await sql(
    `insert into runs (id, task_id, project_id, kind, status, failure, created_at, finished_at)
     values ($1, $2, $3, 'start', 'failed', '{"category": "model", "message": "vaulted failure"}', now(), now())`,
    [failed, task, project],
  );
  await sql(`insert into run_steps (run_id, name, data) values ($1, $2, '{}')`, [failed, `opened ${vault}`]);
  await sql(`insert into run_events (run_id, type, text, data) values ($1, 'check', 'vaulted check', '{}')`, [failed]);
  await sql(
    `insert into runs (id, task_id, project_id, kind, status, wait_id, wait_reason, wait_text, wait_options, waiting_since)
     values ($1, $2, $3, 'start', 'waiting', 'wait_1', 'push', 'held question', '[]', now())`,
    [waiting, task, project],
  );
  await sql(`update tasks set failure = '{"category": "model", "message": "vaulted failure"}' where id = $1`, [task]);
  const files = (line: string) =>
    JSON.stringify([
      {
        path: 'a.txt',
        status: 'added',
        additions: 1,
        deletions: 0,
        hunks: [{ oldStart: 0, newStart: 1, lines: [line] }],
      },
    ]);
  await sql(
    `insert into held_changes (run_id, task_id, purpose, trees, parents, branch_name, base_branch, files, truncated)
     values ($1, $2, 'push', '{}', '{}', 'b', 'main', $3, false)`,
    [waiting, task, files('+held diff')],
  );
  await sql(
    `insert into diffs (task_id, branch_name, base_branch, files, truncated, head_sha)
     values ($1, 'b', 'main', $2, false, 'c')`,
    [task, files('+pushed diff')],
  );
  await sql(`insert into handoffs (id, task_id, run_id, summary) values ($1, $2, $3, 'held handoff')`, [
    `handoff_${issue}`,
    task,
    failed,
  ]);
  await service.call('POST', `/tasks/${task}/chat`, { token, body: { message: 'A held message' } });
}

test('an answer in a comment contains nothing that only the dashboard shows, not even for members', async () => {
  await makeHeld(hidden, 7, hidden);
  for (const as of [token, await service.token('eve')]) {
    const { prompt } = await asked(hidden, 7, as);
    expect([count(prompt, 'held'), count(prompt, 'pushed diff')]).toEqual([0, 1]);
  }
});

test('an answer in a comment says nothing of what runs found where the asker may not read', async () => {
  const vault = await make('/repositories', { projectId: project, name: 'vault', url: 'https://github.com/o/vault' });
  await makeHeld(hidden, 8, vault);
  expect(count((await asked(hidden, 8)).prompt, 'vaulted')).toBe(3);
  const { prompt } = await asked(hidden, 8, await service.token('eve'));
  expect([count(prompt, 'vaulted'), count(prompt, 'pushed diff')]).toEqual([0, 1]);
  // On a public issue, nobody may tell of a private repository.
  await makeHeld(open, 9, hidden);
  const { prompt: publicly } = await asked(open, 9);
  expect([count(publicly, 'vaulted'), count(publicly, 'pushed diff')]).toEqual([0, 1]);
});

test('nobody is told of the change of a task whose repository is no longer connected', async () => {
  const elsewhere = await make('/repositories', { projectId: project, name: 'left', url: 'https://github.com/o/left' });
  await makeHeld(hidden, 20, elsewhere);
  const at = (branch: string | null) =>
    sql('update tasks set repository_id = null, branch_name = $1 where issue_number = 20', [branch]);
  await at('agent/left');
  await expect(asked(hidden, 20)).rejects.toThrow('The repository in which the task worked is no longer connected');
  // Without a branch it has not worked in any, but what is stored of a change stays out anyway.
  await at(null);
  const { prompt } = await asked(hidden, 20);
  expect([count(prompt, 'pushed diff'), count(prompt, 'known-20')]).toEqual([0, 3]);
});

test('an answer in a private repository names no tasks and pull requests of others that the asker may not read', async () => {
  const eve = await service.token('eve');
  await makeFamily(hidden, 10);
  // Eve may read the issue, because she wrote on it, and nothing else of the project.
  const { prompt, reply } = await asked(hidden, 10, eve);
  expect([count(prompt, 'secret-10'), count(prompt, 'known-10')]).toEqual([6, 0]);
  expect(reply).toContain('[Parent secret-10](');
  await makeFamily(open, 11);
  await sql('update tasks set repository_id = $1, branch_name = $2 where issue_number = 11', [hidden, 'b']);
  await service.call('PATCH', `/projects/${project}`, { token, body: { sharePrivateContext: true } });
  await expect(asked(open, 11, eve)).rejects.toThrow('The task works in a repository that you may not read.');
  await service.call('PATCH', `/projects/${project}`, { token, body: { sharePrivateContext: false } });
});

test('everybody reads all names if the project shares its private context', async () => {
  await service.call('PATCH', `/projects/${project}`, { token, body: { sharePrivateContext: true } });
  await makeFamily(open, 4);
  const { prompt, reply } = await asked(open, 4);
  expect([count(prompt, 'secret-4'), count(prompt, 'known-4')]).toEqual([6, 3]);
  expect(reply).toContain('[Parent secret-4](');
  expect(await refusal(open, 4)).toContain('there are: secret-4 sprint');
});

test.each(['stranger', 'viewer'])('a %s may ask 20 times an hour', async (role) => {
  const { id } = (await service.call('GET', '/me', { token: await service.token(`asking-${role}`) })).body;
  if (role === 'viewer')
    await sql('insert into members (project_id, user_id, role) values ($1, $2, $3)', [project, id, role]);
  const outcome = async (userId: string) =>
    carryOut(service.app, { ...(await commandOn(open, 79, 'ask', '')), userId }).catch((error: Error) => error.message);
  const empty = 'Write your question after `ask`.';
  for (let i = 0; i < 20; i++) expect(await outcome(id)).toBe(empty);
  expect(await outcome(id)).toBe(
    'People who are not members of the project, or only view it, can use `ask` and `plan` 20 times an hour. Try again in the next hour.',
  );
  await sql(`update asks_of_strangers set hour = hour - interval '1 hour'`, []);
  expect(await outcome(id)).toBe(empty);
  const { id: member } = (await service.call('GET', '/me', { token })).body;
  for (let i = 0; i < 21; i++) expect(await outcome(member)).toBe(empty);
});
