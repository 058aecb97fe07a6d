import { placeOfTexts } from '../../src/worker/lab/read-text.ts';
import { openAcme } from '../support/stand-ins/acme.ts';
import { barred, writers } from '../support/stand-ins/named-github.ts';

const acme = openAcme();

test('a harvest reads what people wrote in a private repository only while the person who created the project can', async () => {
  const { em, own, projectId, ids } = await acme.twoPeople();
  const isRead = async () => (await placeOfTexts(acme.service.app, own)) !== undefined;
  expect(await isRead()).toBe(true);
  await em.query('update projects set created_by = $2 where id = $1', [projectId, ids.bob]);
  expect(await isRead()).toBe(true);
  writers.delete('300 1');
  barred.add('300 1');
  expect(await isRead()).toBe(false);
});
