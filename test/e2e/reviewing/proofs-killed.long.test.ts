import { until } from '../../../demo/real-service.ts';
import { gitOut } from '../../support/git.ts';
import { openSeparateWorld } from '../../support/world.ts';
import { openReviewWorld } from './review-world.ts';

// Without a sandbox, a proof ends at once: it did not run. What GitHub shows of it is the same.
test.each([
  ['POST', /\/check-runs$/],
  ['PATCH', /\/check-runs\/\d+$/],
])('a service killed while GitHub answers %s %s leaves one check run', async (method, path) => {
  const settings = { OPENAI_API_KEY: '', OPENAI_MODEL: '' };
  const world = await openReviewWorld(() => [], { settings }, openSeparateWorld);
  try {
    await world.push('main', { '.deckhand.yml': 'checks: node --test\nprove: everyone\n' });
    let isLost = false;
    // GitHub takes the request, and its answer is lost with the service.
    world.github.fail((asked, of) => {
      if (isLost || asked !== method || !path.test(of)) return undefined;
      isLost = true;
      return 'lost';
    });
    await world.pull('theirs', { 'src/a.js': 'export const a = 1;\n', 'test/a.test.js': "import '../src/a.js';\n" });
    await until('the lost answer', async () => isLost);
    await world.kill();
    await world.restart();
    const sha = gitOut(world.github.folderOf('mona/sample'), 'rev-parse', 'theirs');
    const runs = () =>
      world.github.as('mona')<{ check_runs: { name: string; status: string; output: { title: string } }[] }>(
        'GET',
        `/repos/mona/sample/commits/${sha}/check-runs?per_page=100&filter=all`,
      );
    const check = await until('the proof', async () =>
      (await runs()).check_runs.find(({ name, status }) => name === 'Deckhand proof' && status === 'completed'),
    );
    expect(check.output.title).toMatch(/^The proof by tests did not run: commands cannot run/);
    expect((await runs()).check_runs.filter(({ name }) => name === 'Deckhand proof')).toHaveLength(1);
    expect(await world.sql(`select id from runs where kind = 'prove'`, [])).toHaveLength(1);
  } finally {
    await world.close();
  }
});
