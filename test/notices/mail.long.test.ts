import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { nextDigest, sendMail, wakeMail } from '../../src/notices/mail/deliver.ts';
import { endDueSnoozes } from '../../src/tasks/inbox.ts';
import { openTestApp } from '../support/app.ts';

interface Received {
  to: string[];
  raw: string;
}

const mails: Received[] = [];
let isDown = false;
const smtp = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  onData: (stream, session, done) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      if (isDown) return done(new Error('try again later'));
      mails.push({ to: session.envelope.rcptTo.map(({ address }) => address), raw: Buffer.concat(chunks).toString() });
      done();
    });
  },
});
await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve));
const { port } = smtp.server.address() as AddressInfo;
const service = await openTestApp({ SMTP_URL: `smtp://127.0.0.1:${port}`, MAIL_FROM: 'deckhand@example.com' });
afterAll(async () => {
  await service.close();
  await new Promise<void>((resolve) => smtp.close(resolve));
});
const { app } = service;
const sql = (text: string, values: unknown[] = []) => app.db.manager.query(text, values);

let count = 0;
let token: string;
let userId: string;
let projectId: string;
let address: string;
const call = (method: string, path: string, body?: unknown) => service.call(method, path, { token, body });

beforeEach(async () => {
  const login = `mona${++count}`;
  address = `${login}@example.com`;
  token = await service.token(login);
  userId = (await call('GET', '/me')).body.id;
  projectId = (await call('POST', '/projects', { name: 'P' })).body.id;
  mails.length = 0;
  isDown = false;
});

/** Returns the text of a mail as a reader sees it. */
const decoded = ({ raw }: Received) => raw.replace(/=\r\n/g, '').replace(/=3D/g, '=').replaceAll('&#38;', '&');
const linkIn = (mail: Received | undefined, kind: string) =>
  new RegExp(`http://localhost:3000(/mail/${kind}\\?[^\\s<>"]+)`).exec(mail === undefined ? '' : decoded(mail))?.[1] ??
  '';
const follow = (path: string, method = 'POST', body?: string) =>
  fetch(`${service.url}${path}`, {
    method,
    ...(body === undefined ? {} : { body, headers: { 'Content-Type': 'application/x-www-form-urlencoded' } }),
  });

async function subscribe(mail: 'now' | 'daily'): Promise<void> {
  expect((await call('PATCH', '/me/notices', { mail, address })).body).toEqual({
    mail,
    address,
    confirmed: false,
    available: true,
  });
  await sendMail(app, userId);
  const link = linkIn(mails.shift(), 'confirm');
  expect((await follow(link)).status).toBe(200);
  expect((await call('GET', '/me/notices')).body.confirmed).toBe(true);
}

async function inReview(title: string): Promise<string> {
  const { id } = (await call('POST', `/projects/${projectId}/tasks`, { title })).body;
  await sql(`update tasks set status = 'in_review', status_since = clock_timestamp() where id = $1`, [id]);
  return id;
}
const subjects = () => mails.map(({ raw }) => /^Subject: (.*)$/m.exec(raw)?.[1]?.trim());

test('an address gets one mail, and nothing else before it is confirmed', async () => {
  await call('PATCH', '/me/notices', { mail: 'now', address });
  await inReview('Greet');
  await sendMail(app, userId);
  await sendMail(app, userId);
  expect([mails.length, subjects()]).toEqual([1, ['Confirm your address for notices']]);
  const link = linkIn(mails[0], 'confirm');
  const opened = await follow(link, 'GET');
  expect([opened.status, await opened.text()]).toEqual([200, expect.stringContaining('method="post"')]);
  expect((await call('GET', '/me/notices')).body.confirmed).toBe(false);
  expect((await follow(`${link}x`)).status).toBe(400);
  await call('PATCH', '/me/notices', { address: `other-${address}` });
  expect((await follow(link)).status).toBe(400);
});

test('each entry of the inbox is mailed once, with the sentence of the browser', async () => {
  await inReview('Old');
  await subscribe('now');
  const task = await inReview('Say “hello” & <b>bye</b>');
  await wakeMail(app);
  await sendMail(app, userId);
  await sendMail(app, userId);
  expect(mails).toHaveLength(1);
  const [mail] = mails;
  expect(mail?.to).toEqual([address]);
  const text = decoded(mail as Received);
  expect(text).toContain(`http://localhost:3000/tasks/${task}?tab=diff`);
  expect(text).toContain('<strong>Review: Say');
  expect(text).not.toContain('<b>bye</b></strong>');
  expect(text).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m);
});

test('what another person is responsible for is not mailed, and what was snoozed is mailed again afterwards', async () => {
  await subscribe('now');
  const login = `mate${count}`;
  await service.token(login);
  const mate = (await call('POST', `/projects/${projectId}/members`, { login })).body.userId;
  const theirs = await inReview('Theirs');
  await call('PATCH', `/tasks/${theirs}`, { responsible: mate });
  const mine = await inReview('Mine');
  await sendMail(app, userId);
  expect(subjects()).toEqual(['Review: Mine']);
  await call('POST', `/me/inbox/${mine}/snooze`, { until: new Date(Date.now() + 3_600_000).toISOString() });
  await sendMail(app, userId);
  await sql('update inbox_snoozes set until = now()');
  await endDueSnoozes(app.db.manager);
  expect(await sql('select 1 from mail_wanted where user_id = $1', [userId])).toHaveLength(1);
  await sendMail(app, userId);
  expect(subjects()).toEqual(['Review: Mine', 'Review: Mine']);
  await call('PATCH', `/tasks/${theirs}`, { responsible: userId });
  await sendMail(app, userId);
  expect(subjects().at(-1)).toBe('Review: Theirs');
});

test('one click stops mail, without a sign-in', async () => {
  await subscribe('now');
  await inReview('Greet');
  await sendMail(app, userId);
  const link = linkIn(mails[0], 'stop');
  expect((await follow(link, 'GET')).status).toBe(200);
  expect((await call('GET', '/me/notices')).body.mail).toBe('now');
  expect((await follow(link, 'POST', 'List-Unsubscribe=One-Click')).status).toBe(200);
  expect((await call('GET', '/me/notices')).body).toMatchObject({ mail: 'off', address, confirmed: true });
  await inReview('Later');
  await sendMail(app, userId);
  expect(mails).toHaveLength(1);
});

test('a server that is down loses nothing', async () => {
  await subscribe('now');
  isDown = true;
  await inReview('Greet');
  await expect(sendMail(app, userId)).rejects.toThrow('try again later');
  isDown = false;
  await sendMail(app, userId);
  expect(subjects()).toEqual(['Review: Greet']);
});

test('many entries at once are one mail, and a digest comes once a day', async () => {
  await subscribe('now');
  for (const title of ['One', 'Two', 'Three', 'Four']) await inReview(title);
  await sendMail(app, userId);
  expect(subjects()).toEqual(['4 tasks need you']);
  mails.length = 0;
  await call('PATCH', '/me/notices', { mail: 'daily' });
  await inReview('Five');
  await sendMail(app, userId);
  expect(mails).toEqual([]);
  const dawn = () => sql('update mail_settings set next_digest_at = now() where user_id = $1', [userId]);
  await dawn();
  await sendMail(app, userId);
  await dawn();
  await sendMail(app, userId);
  expect(subjects()).toEqual(['1 task needs you']);
  expect(decoded(mails[0] as Received)).toContain('Review: Five');
});

test('the next digest is at 7:00 UTC', () => {
  expect(nextDigest(new Date('2026-01-01T06:59:00Z')).toISOString()).toBe('2026-01-01T07:00:00.000Z');
  expect(nextDigest(new Date('2026-01-01T07:00:00Z')).toISOString()).toBe('2026-01-02T07:00:00.000Z');
});

test('a title cannot add a header or a receiver', async () => {
  await subscribe('now');
  const task = await inReview('x');
  await sql('update tasks set title = $2 where id = $1', [task, 'Hi\r\nBcc: evil@example.com\r\n\r\nbody']);
  await sendMail(app, userId);
  expect(mails.map(({ to }) => to)).toEqual([[address]]);
  expect(mails[0]?.raw).not.toMatch(/^Bcc:/im);
});

test.each([
  [{ mail: 'now' }, 'address is required, because mail is not off'],
  [{ address: 'mona@example.com, eve@example.com' }, 'address must be a mail address'],
  [{ address: 'mona@example.com\r\nBcc: eve@example.com' }, 'address must be a mail address'],
  [{ mail: 'weekly' }, 'mail must be off, now or daily'],
])('%j is refused', async (wrong, message) => {
  const answer = await call('PATCH', '/me/notices', wrong);
  expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining(message)]);
});

test('only a few confirmations are sent in a day', async () => {
  expect((await call('PATCH', '/me/notices', { address })).status).toBe(200);
  expect((await call('POST', '/me/notices/confirmation')).status).toBe(202);
  expect((await call('POST', '/me/notices/confirmation')).status).toBe(202);
  expect((await call('POST', '/me/notices/confirmation')).status).toBe(429);
  const other = await service.token('eve');
  const asked = await service.call('PATCH', '/me/notices', {
    token: other,
    body: { mail: 'now', address: address.toUpperCase() },
  });
  expect(asked.status).toBe(429);
});

test('without SMTP_URL, mail can only be switched off', async () => {
  const { mail } = app;
  app.mail = undefined;
  try {
    expect((await call('GET', '/me/notices')).body.available).toBe(false);
    expect((await call('PATCH', '/me/notices', { mail: 'now', address })).status).toBe(503);
    expect((await call('PATCH', '/me/notices', { mail: 'off' })).status).toBe(200);
  } finally {
    app.mail = mail;
  }
});
