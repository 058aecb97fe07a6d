import { until } from '../../../demo/real-service.ts';
import { openSeparateWorld } from '../../support/world.ts';
import { openReviewWorld } from './review-world.ts';

const script = () => [
  {
    name: 'review',
    arguments: {
      summary: 'One problem.',
      comments: [{ path: 'src/a.js', line: 1, severity: 'major', text: 'This is wrong for zero.' }],
    },
  },
];

test.each([
  ['POST', /\/pulls\/\d+\/reviews$/],
  ['POST', /\/issues\/\d+\/comments$/],
])('a worker killed while GitHub answers %s %s leaves one review and one summary', async (method, path) => {
  const world = await openReviewWorld(script, {}, openSeparateWorld);
  try {
    const number = await world.pull('theirs', { 'src/a.js': 'export const a = 1;\n' });
    let isLost = false;
    // GitHub takes the request, and its answer is lost with the worker.
    world.github.fail((asked, of) => {
      if (isLost || asked !== method || !path.test(of)) return undefined;
      isLost = true;
      return 'lost';
    });
    const run = await world.review(number);
    await until('the lost answer', async () => isLost);
    await world.kill();
    await world.restart();
    await world.ended(run.id, 'succeeded');
    expect(await world.reviews(number)).toHaveLength(1);
    expect(await world.lineComments(number)).toHaveLength(1);
    expect(await world.summaries(number)).toHaveLength(1);
  } finally {
    await world.close();
  }
});
