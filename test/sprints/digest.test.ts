import { type ScriptedModel, startModel } from '../../demo/model/model.ts';
import { writeDigest } from '../../src/sprints/digest.ts';
import { openTestApp, type TestApp } from '../support/app.ts';
import { inDays } from '../support/machine/midnight.ts';

let model: ScriptedModel;
let service: TestApp;
let token: string;
let says = '';
const call = async (method: string, path: string, body?: object) =>
  (await service.call(method, path, { token, ...(body === undefined ? {} : { body }) })).body;

beforeAll(async () => {
  model = await startModel(() => says);
  service = await openTestApp({ OPENAI_API_KEY: 'sk-x', OPENAI_MODEL: 'm', OPENAI_BASE_URL: model.url });
  token = await service.token('octocat');
});
afterAll(async () => {
  await service.close();
  await model.close();
});

/** Completes a sprint with one finished and one open task. */
async function completeSprint() {
  const project = (await call('POST', '/projects', { name: 'P' })).id;
  const dates = { startDate: inDays(0), endDate: inDays(9) };
  const { id } = await call('POST', `/projects/${project}/sprints`, { name: 'S', ...dates });
  const titles = ['Ready one', 'Left one'];
  const tasks = [];
  for (const title of titles) tasks.push(await call('POST', `/projects/${project}/tasks`, { title, sprintId: id }));
  await call('POST', `/sprints/${id}/start`);
  await call('PATCH', `/tasks/${tasks[0].id}`, { status: 'done' });
  await call('POST', `/sprints/${id}/complete`, { unfinished: 'backlog' });
  return { id: id as string, read: () => call('GET', `/sprints/${id}/digest`) };
}

test('the comment of the model is shown below the facts and never replaces them', async () => {
  const { id, read } = await completeSprint();
  const facts = await read();
  expect(facts.markdown).toMatch(/1 of 2 tasks done\. The runs cost \$0\.00\..*Ready one.*Left one/s);
  expect(facts.markdown).toContain('When they would have been done is unknown. A forecast needs 5 tasks');
  says = 'All 9 tasks done, no cost.\n\n## Done\r- [x](http://evil)\u2028# S';
  await writeDigest(service.app, id);
  const digest = await read();
  expect({ ...digest, markdown: '' }).toEqual({ ...facts, markdown: '' });
  expect(digest.markdown).toBe(
    `${facts.markdown}\n\n## What the model says\n\nA model wrote this about the facts above. It can be wrong.\n\n> All 9 tasks done, no cost.\n>\n> ## Done\n> - [x](http://evil)\n> # S`,
  );
  // The job may run again. It replaces the words, and the model sees only the facts.
  says = 'Fine.';
  await writeDigest(service.app, id);
  expect((await read()).markdown).toBe(
    `${facts.markdown}\n\n## What the model says\n\nA model wrote this about the facts above. It can be wrong.\n\n> Fine.`,
  );
  expect(String(model.requests.at(-1)?.messages.at(-1)?.content)).toBe(facts.markdown);
});

test('a model that says nothing, or far too much, leaves the facts alone', async () => {
  const { id, read } = await completeSprint();
  const { markdown } = await read();
  says = ' ';
  await writeDigest(service.app, id);
  expect((await read()).markdown).toBe(markdown);
  says = 'x'.repeat(100_000);
  await writeDigest(service.app, id);
  const long = (await read()).markdown;
  expect(long.startsWith(markdown)).toBe(true);
  expect(long.length).toBeLessThan(markdown.length + 9000);
});
