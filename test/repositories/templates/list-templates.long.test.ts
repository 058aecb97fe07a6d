import { until } from '../../../demo/real-service.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';
import { around, barred, looked } from '../../support/stand-ins/named-github.ts';

const acme = openAcme();
const folder = '/contents/.github%2FISSUE_TEMPLATE';

// As in GitHub's description, schemas `content-directory` and `content-file`.
const entry = (name: string, more: object = {}) => ({
  type: 'file',
  size: 100,
  name,
  path: `.github/ISSUE_TEMPLATE/${name}`,
  sha: 'c'.repeat(40),
  ...more,
});
const file = (text: string) => ({
  ...entry('x'),
  encoding: 'base64',
  // GitHub breaks the lines of what it encodes.
  content: Buffer.from(text).toString('base64').replace(/.{60}/g, '$&\n'),
});
const template = (name: string) =>
  `---\nname: ${name}\nabout: About ${name}\n---\nText of ${name}, which is long enough for two lines.`;

async function list(who: 'ada' | 'bob', which: 'own' | 'secret' = 'own') {
  const people = await acme.twoPeople();
  const { status, body } = await people.call(who, 'GET', `/repositories/${people[which].id}/task-templates`);
  return { status, body };
}

test('the templates of a repository are listed in the order of their files', async () => {
  around.pages[folder] = [
    entry('b.md'),
    entry('a.yml'),
    entry('broken.yml'),
    entry('config.yml'),
    entry('notes.txt'),
    entry('large.md', { size: 70_000 }),
    entry('link.md', { type: 'symlink' }),
    entry('sub', { type: 'dir', size: 0 }),
  ];
  around.pages[`${folder}%2Fb.md`] = file(template('B'));
  around.pages[`${folder}%2Fa.yml`] = file('name: A\nbody: []\n');
  around.pages[`${folder}%2Fbroken.yml`] = file('name: [');
  const { status, body } = await list('bob');
  expect([status, body]).toEqual([
    200,
    [
      { name: 'B', about: 'About B', title: '', description: 'Text of B, which is long enough for two lines.' },
      { name: 'A', about: '', title: '', description: '' },
    ],
  ]);
});

test('a repository without templates, or with a file in the place of the folder, has none', async () => {
  expect(await list('ada')).toEqual({ status: 200, body: [] });
  around.pages[folder] = file('text');
  expect(await list('ada')).toEqual({ status: 200, body: [] });
});

test('a member who may not read the repository on GitHub gets none of its templates', async () => {
  around.pages[folder] = [entry('b.md')];
  barred.add('300 2');
  looked.length = 0;
  const { status, body } = await list('bob', 'secret');
  expect([status, body.detail ?? body.message ?? JSON.stringify(body)]).toEqual([
    403,
    expect.stringContaining('bob has no read permission in the repository'),
  ]);
  expect(looked.filter((path) => path.includes('contents'))).toEqual([]);
});

test('a failure of GitHub is 502 and says so', async () => {
  around.reads[`/repos/acme/app${folder}`] = {
    status: 403,
    body: { message: 'Resource not accessible by integration' },
  };
  const { status, body } = await list('ada');
  expect([status, JSON.stringify(body)]).toEqual([
    502,
    expect.stringContaining('could not be asked for the templates'),
  ]);
});

test('a person waits for eight answers of GitHub at the same time, and other requests do not wait for them', async () => {
  const people = await acme.twoPeople();
  let [active, most] = [0, 0];
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  around.pages[folder] = async () => {
    active += 1;
    most = Math.max(most, active);
    await released;
    active -= 1;
    return [];
  };
  const path = `/repositories/${people.own.id}/task-templates`;
  const asked = Array.from({ length: 12 }, () => people.call('ada', 'GET', path));
  await until('eight answers', async () => active === 8);
  expect((await people.call('ada', 'GET', '/me')).status).toBe(200);
  expect(active).toBe(8);
  release();
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(Array(12).fill(200));
  expect(most).toBe(8);
});
