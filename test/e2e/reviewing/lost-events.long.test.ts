import { webhookUrl } from '../../../src/github/app/manifest.ts';
import { type Open, openReviewWorld } from './review-world.ts';

let world: Open;
afterEach(() => world.close());

test('with review: everyone, a comparison with GitHub finds the pull requests whose events were lost, once', async () => {
  world = await openReviewWorld(() => [{ name: 'review', arguments: { summary: 'Fine.', comments: [] } }]);
  await world.push('main', { '.deckhand.yml': 'review: everyone\n' });
  const runs = () => world.sql<{ id: string }>('select run_id as id from pull_asks order by created_at', []);
  const reconcile = () => world.service.api(world.token, 'POST', '/agents/pool/reconcile');
  world.github.deliverTo('http://127.0.0.1:1/');
  const number = await world.pull('theirs', { 'src/a.js': 'export const a = 1;\n' });
  world.github.deliverTo(webhookUrl(world.service.url));
  expect(await runs()).toEqual([]);
  await reconcile();
  const [run, ...others] = await runs();
  expect(others).toEqual([]);
  await world.ended(run?.id ?? '', 'succeeded');
  expect(await world.summaries(number)).toHaveLength(1);
  await reconcile();
  expect(await runs()).toHaveLength(1);
});
