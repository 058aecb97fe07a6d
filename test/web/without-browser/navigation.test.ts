import { createMemoryRouter } from 'react-router';
import { isLeaving, watchNavigation } from '../../../src/web/frame/navigation.ts';

test('while a page loads, it is known that the person has opened it', async () => {
  const [arrived, script] = [Promise.withResolvers<void>(), Promise.withResolvers<object>()];
  const lazy = () => {
    arrived.resolve();
    return script.promise;
  };
  expect(isLeaving()).toBe(false);
  const router = watchNavigation(createMemoryRouter([{ path: '/' }, { path: '/tasks/:id', lazy }]));
  expect(isLeaving()).toBe(false);
  const navigation = router.navigate('/tasks/a');
  await arrived.promise;
  expect(isLeaving()).toBe(true);
  script.resolve({ Component: () => null });
  await navigation;
  expect([isLeaving(), router.state.location.pathname]).toEqual([false, '/tasks/a']);
  router.dispose();
});
