import { until } from '../../demo/real-service.ts';
import { write } from '../support/face.ts';
import { gitOut } from '../support/git.ts';
import {
  type Authority,
  type CompanyProxy,
  makeAuthority,
  startCompanyProxy,
} from '../support/stand-ins/company-proxy.ts';
import { openSeparateWorld, type SeparateWorld, type WorldTask } from '../support/world.ts';

const names = ['github.test', 'models.test'];
const authority = makeAuthority(names) as Authority;
const given = authority === undefined ? test.skip : test;
const [user, password] = ['us@er-of-us', 'hidden:word/of the company'];

let company: CompanyProxy;
let world: SeparateWorld | undefined;
beforeAll(async () => {
  company = await startCompanyProxy(authority, { user, password });
});
afterAll(async () => {
  await world?.close();
  await company.close();
  authority?.remove();
});

/** Every form in which the password could be shown. */
const forms = [
  ...[password, encodeURIComponent(password), new URL(`http://x:${encodeURIComponent(password)}@x`).password],
  ...[Buffer.from(`${user}:${password}`).toString('base64'), Buffer.from(password).toString('base64')],
  JSON.stringify(password).slice(1, -1),
];

given('installation, run, pull request and merge, with everything through the proxy of a company', async () => {
  const script = [[write('made.txt', 'x\n')], [{ name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } }]];
  // Nobody but the proxy knows these names, so nothing can be reached without it.
  const opened = await openSeparateWorld((_request, turn) => script[Math.min(turn, 1)] ?? 'Done.', {
    seed: { publicUrl: 'https://github.test' },
    reach: (github, model) => {
      company.hosts.set('github.test', Number(new URL(github.url).port));
      company.hosts.set('models.test', Number(new URL(model.url).port));
      return {
        GITHUB_API_URL: 'https://github.test',
        GITHUB_SERVER_URL: 'https://github.test',
        OPENAI_BASE_URL: `https://models.test${new URL(model.url).pathname}`,
        HTTPS_PROXY: company.withCredentials,
        HTTP_PROXY: company.withCredentials,
        NODE_EXTRA_CA_CERTS: authority.file,
      };
    },
  });
  world = opened;
  const number = await opened.issue('/agent start');
  const task = await opened.taskIn('in_review');
  expect(task.failure).toBeNull();
  expect(task.prUrl).toMatch(/^https:\/\/github\.test\/mona\/sample\/pull\/\d+$/);
  const folder = opened.github.folderOf('mona/sample');
  expect(gitOut(folder, 'show', `${task.branchName}:made.txt`)).toBe('x');
  await opened.service.api(opened.token, 'POST', `/tasks/${task.id}/merge`, {});
  await until('done', async () => (await opened.get<WorldTask>(`/tasks/${task.id}`)).status === 'done');
  await until('the label', async () => (await opened.labels(number)).includes('agent:done'));

  const runs = await opened.get<{ id: string }[]>(`/tasks/${task.id}/runs`);
  const answers = await Promise.all(
    [
      ...[`/tasks/${task.id}`, `/tasks/${task.id}/prs`, `/tasks/${task.id}/diff`, '/repositories', '/me/inbox'],
      ...runs.flatMap(({ id }) => [`/runs/${id}/events`, `/tasks/${task.id}/runs`]),
      ...[`/projects/${opened.project.id}`, `/projects/${opened.project.id}/audit?limit=100`],
    ].map((path) => opened.get<object>(path)),
  );
  const said = {
    log: opened.service.log(),
    answers: JSON.stringify(answers),
    comments: JSON.stringify(await opened.comments(number)),
    prompts: JSON.stringify(opened.model.requests),
    database: await opened.dump(),
  };
  for (const [where, text] of Object.entries(said))
    expect([where, text.length > 100, forms.filter((form) => text.includes(form))]).toEqual([where, true, []]);
  // Refused requests would begin with their status.
  expect([...new Set(company.seen)].sort()).toEqual(names.map((name) => `CONNECT ${name}:443`));
});
