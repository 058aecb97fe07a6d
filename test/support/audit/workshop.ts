import { startModel } from '../../../demo/model/model.ts';
import { openTestApp, type TestApp } from '../app.ts';
import { appSettings } from '../github-app.ts';
import { type FakeGitHub, openFakeGitHub, unmerged } from '../stand-ins/fake-github.ts';
import { planner } from '../stand-ins/planner.ts';

interface Made {
  id: string;
  [field: string]: unknown;
}

/** A record of the audit log, as the database has it. */
export interface StoredRecord {
  number: string;
  via: string;
  action: string;
  actor_login: string | null;
  object_type: string;
  object_id: string;
  project_id: string | null;
  detail: Record<string, [unknown, unknown]>;
}

type Part = 'prd' | 'plan' | 'tasks';

interface Basics {
  service: TestApp;
  github: FakeGitHub;
  /** The token of the owner of all projects. */
  token: string;
  /** The project in which objects are created by default, with a repository, an agent and credentials. */
  project: string;
  repository: string;
  agent: string;
  /** Sends a request as the owner. @throws unless it succeeds */
  ask<T = Made>(method: string, path: string, body?: unknown): Promise<T>;
  newProject(): Promise<{ project: string; repository: string; agent: string }>;
  sql<T>(text: string, values?: unknown[]): Promise<T[]>;
  /** Returns the records that `act` leaves. */
  recordsOf(act: () => Promise<unknown>): Promise<StoredRecord[]>;
  close(): Promise<void>;
}

/** A service with a model and a GitHub, and makers of whatever an operation needs. No jobs are handled. */
export interface Workshop extends Basics {
  newTask(more?: object, project?: string): Promise<string>;
  /** Creates a task whose run is queued. */
  startedTask(): Promise<string>;
  /** Creates a task whose run waits for a person. */
  waitingTask(reason: 'plan' | 'question' | 'paused'): Promise<string>;
  /** Creates a task whose run has ended after two turns. */
  talkedTask(): Promise<{ task: string; run: string }>;
  /** Creates a task in review, with an open pull request. */
  reviewedTask(): Promise<{ task: string; number: number }>;
  /** Makes a task that is done, with a merged pull request. */
  mergedTask(): Promise<string>;
  newSprint(project?: string): Promise<string>;
  /** Creates an active sprint in a project of its own. */
  activeSprint(): Promise<string>;
  /** Answers the questions of a planning session and generates these parts. */
  planUpTo(session: string, parts: Part[]): Promise<void>;
  newSession(parts?: Part[]): Promise<string>;
}

export async function openWorkshop(): Promise<Workshop> {
  const basics = await openBasics();
  return { ...basics, ...tasksOf(basics), ...sprintsOf(basics), ...planningOf(basics) };
}

async function openBasics(): Promise<Basics> {
  const github = await openGitHub();
  const model = await startModel(planner);
  const settings = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'sk-x', OPENAI_MODEL: 'm', RATE_LIMIT_MODEL: '0' };
  const service = await openTestApp({
    ...appSettings(github.url),
    // Nobody listens there: no jobs are handled.
    SMTP_URL: 'smtp://127.0.0.1:9',
    ...settings,
  });
  const token = await service.token('owner');
  const ask = async <T = Made>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await service.call(method, path, { token, ...(body === undefined ? {} : { body }) });
    if (answer.status > 299) throw new Error(`${method} ${path} answered ${answer.status} ${answer.body.message}`);
    return answer.body;
  };
  const sql: Basics['sql'] = (text, values = []) => service.app.db.manager.query(text, values);
  const newProject = async () => {
    const { id: project } = await ask('POST', '/projects', { name: 'P' });
    await ask('POST', `/projects/${project}/git-token`, { token: 'ghp_x' });
    const repository = { projectId: project, name: 'r', url: `${github.url}/a/r` };
    const agents = await ask<Made[]>('GET', `/agents?projectId=${project}`);
    return { project, repository: (await ask('POST', '/repositories', repository)).id, agent: agents[0]?.id ?? '' };
  };
  const recordsOf: Basics['recordsOf'] = async (act) => {
    const [last] = await sql<{ n: string }>('select coalesce(max(number), 0) as n from audit_records');
    await act();
    return sql('select * from audit_records where number > $1 order by number', [last?.n]);
  };
  const close = async () => {
    await service.close();
    await model.close();
    github.close();
  };
  return { service, github, token, ask, sql, newProject, recordsOf, close, ...(await newProject()) };
}

/** Opens a GitHub with any number of repositories, people and open pull requests, which can be merged. */
function openGitHub(): Promise<FakeGitHub> {
  const merged = new Set<string>();
  const pull = (number: string) => ({
    state: merged.has(number) ? 'closed' : 'open',
    merged: merged.has(number),
    merged_at: merged.has(number) ? '2026-01-01T00:00:00Z' : null,
    number: Number(number),
    title: 'A change',
    body: null,
    html_url: `https://github.test/a/r/pull/${number}`,
    user: { id: 9, login: 'author' },
    head: { sha: 'c'.repeat(40), ref: 'topic', repo: { id: 1 } },
    base: { sha: 'b'.repeat(40), ref: 'main', repo: { id: 1, default_branch: 'main' } },
    additions: 1,
  });
  const person = (login: string) => ({
    id: login.length * 1000 + login.charCodeAt(0),
    login,
    type: 'User',
    avatar_url: '',
  });
  const reviewer = person('reviewer');
  const issueOf = (repository: string) => ({
    number: 77,
    title: 'An issue',
    body: '',
    state: 'open',
    repository_url: repository,
    html_url: `${repository}/issues/77`,
  });
  return openFakeGitHub([
    [/^PUT .*\/pulls\/(\d+)\/merge/, ([, number = '']) => merged.add(number) && { merged: true }],
    [/^GET .*\/pulls\/(\d+)$/, ([, number = '']) => pull(number)],
    [/^GET (.*)\/issues\/77$/, ([, at = '']) => issueOf(at)],
    [/^GET .*\/comments/, () => []],
    [
      /^GET .*\/branches\/([\w%]+)$/,
      ([, name = '']) => ({
        name: decodeURIComponent(name),
        commit: { sha: 'b'.repeat(40), url: '' },
        protected: false,
      }),
    ],
    [/^GET .*\/reviews\/5$/, () => ({ state: 'CHANGES_REQUESTED', user: reviewer, body: 'rename it' })],
    [/^GET .*\/permission$/, () => ({ permission: 'write', role_name: '', user: reviewer })],
    [/^POST \/graphql$/, () => ({ data: { repository: { pullRequest: unmerged } } })],
    [/^(POST|PATCH) (?!.*\/access_tokens$)/, () => ({ id: 1 })],
    [/^GET \/repos\/\w+\/\w+$/, () => ({ id: 1, private: false })],
    [/^GET \/users\/(.+)$/, ([, login = '']) => person(decodeURIComponent(login))],
    [/^GET \/app$/, () => ({ slug: 'deckhand' })],
    [/^GET \/app\/installations/, () => []],
  ]);
}

function tasksOf({ ask, sql, project: main, agent, repository, github }: Basics) {
  let pulls = 0;
  const newTask: Workshop['newTask'] = async (more = {}, project = main) =>
    (await ask('POST', `/projects/${project}/tasks`, { title: 'a task', owner: agent, ...more })).id;
  const startedTask = async () => {
    const task = await newTask();
    await ask('POST', `/tasks/${task}/start`);
    return task;
  };
  const waitingTask: Workshop['waitingTask'] = async (reason) => {
    const task = await startedTask();
    await sql(
      `update runs set status = 'waiting', wait_id = 'wait_' || id, wait_reason = $2, wait_text = 'Well?',
         wait_options = '[]', waiting_since = now() - interval '1 minute' where task_id = $1`,
      [task, reason],
    );
    return task;
  };
  const talkedTask = async () => {
    const task = await startedTask();
    await ask('POST', `/tasks/${task}/cancel`);
    const [run] = await ask<Made[]>('GET', `/tasks/${task}/runs`);
    await sql(`insert into run_contexts (run_id, opening) values ($1, '[]')`, [run?.id]);
    await sql(
      `insert into run_turns (run_id, turn, messages, input_tokens)
       select $1, n, '[{"role":"assistant","content":"hm","toolCalls":[]}]', 5 from generate_series(0, 1) n`,
      [run?.id],
    );
    return { task, run: run?.id ?? '' };
  };
  const reviewedTask = async () => {
    const task = await startedTask();
    const number = ++pulls;
    await ask('POST', `/tasks/${task}/cancel`);
    // Another recipe changes the default branch, and the pull request goes to main.
    await sql(`update repositories set default_branch = 'main' where id = $1`, [repository]);
    await sql(`update tasks set status = 'in_review', branch_name = 'agent/x' where id = $1`, [task]);
    await sql(
      `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha)
       values ($1, $2, $3, $4, 'open', 'agent/x', $5)`,
      [task, repository, number, `${github.url}/a/r/pull/${number}`, 'c'.repeat(40)],
    );
    return { task, number };
  };
  const mergedTask = async () => {
    const { task } = await reviewedTask();
    await sql(`update pull_requests set status = 'merged', merged_at = now() where task_id = $1`, [task]);
    await sql(`update tasks set status = 'done', done_at = now() where id = $1`, [task]);
    return task;
  };
  return { newTask, startedTask, waitingTask, talkedTask, reviewedTask, mergedTask };
}

function sprintsOf({ ask, project: main, newProject }: Basics) {
  let count = 0;
  const newSprint = async (project = main) => {
    const sprint = { name: `sprint ${++count}`, startDate: '2026-01-01', endDate: '2026-01-14' };
    return (await ask('POST', `/projects/${project}/sprints`, sprint)).id;
  };
  const activeSprint = async () => {
    const sprint = await newSprint((await newProject()).project);
    await ask('POST', `/sprints/${sprint}/start`);
    return sprint;
  };
  return { newSprint, activeSprint };
}

function planningOf({ ask, project }: Basics) {
  const wizard = `/projects/${project}/wizard`;
  type State = { currentStep: { id: string } | null };
  const planUpTo = async (session: string, parts: Part[]) => {
    let { currentStep } = await ask<State>('GET', `${wizard}/${session}`);
    while (parts.length > 0 && currentStep !== null) {
      const answer = { stepId: currentStep.id, customText: 'as said' };
      ({ currentStep } = await ask<State>('POST', `${wizard}/${session}/answer`, { answer }));
    }
    for (const part of parts) await ask('POST', `${wizard}/generate-${part}`, { sessionId: session });
  };
  const newSession = async (parts: Part[] = []) => {
    const { sessionId } = await ask<{ sessionId: string }>('POST', `${wizard}/initialize`, { goal: 'g' });
    await planUpTo(sessionId, parts);
    return sessionId;
  };
  return { planUpTo, newSession };
}
