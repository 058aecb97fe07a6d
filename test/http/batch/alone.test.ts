import { mayBeBatched } from '../../../src/http/batch.ts';
import { routes } from '../../../src/routes.ts';
import { batching } from '../../../src/web/live/batch.ts';

const alone = routes.filter(
  (route) => route.method === 'get' && route.access.kind !== 'public' && !route.isStream && !mayBeBatched(route),
);
/** The queries with which the dashboard reads some of them. */
const queries: Record<string, string> = {
  '/repositories/:id/branches': '?search=',
  '/projects/:projectId/automations/trial': '?days=1',
};

test('the dashboard sends what the service refuses in a batch as requests of their own', async () => {
  expect(alone.length).toBeGreaterThan(5);
  for (const { path } of alone) {
    const address = `/api/v1${path.replace(/:\w+/g, 'x')}${queries[path] ?? ''}`;
    const sent: string[] = [];
    const fetch = batching(async (input) => {
      sent.push(decodeURIComponent(String(input)));
      return Response.json([1, 2].map((body) => ({ status: 200, body })));
    });
    await Promise.all(['/api/v1/me', '/api/v1/tasks/t', address].map((each) => fetch(each)));
    expect(sent).toContain(address);
  }
});
