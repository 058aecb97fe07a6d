import { z } from 'zod';
import type { App } from '../../app.ts';
import { anyUser } from '../../http/access/access.ts';
import { type EventStream, follow } from '../../http/events.ts';
import { type Route, route } from '../../http/route.ts';
import { InboxEntry } from './schemas.ts';
import { listInbox } from './store.ts';

/** Tells a user that the list may have changed, in any of their projects, so that the client loads it again. */
async function followInbox(app: App, userId: string, out: EventStream): Promise<void> {
  let hasBegun = false;
  const tell = async () => {
    if (hasBegun) out.send({ event: 'inbox', data: {} });
    else out.begin();
    hasBegun = true;
    return false;
  };
  await follow(out.signal, (hear) => app.db.listen(`inbox ${userId}`, hear), tell);
}

export const inboxRoutes: Route[] = [
  route({
    operationId: 'listInbox',
    method: 'get',
    path: '/me/inbox',
    summary: 'List the tasks that need a person, in all projects of the caller, newest first; at most 1,000',
    tag: 'tasks',
    access: anyUser,
    reply: [200, z.array(InboxEntry)],
    streams: 'An event `inbox` with `{}` whenever the list may have changed; load it again then',
    stream: (app, { user }, out) => followInbox(app, user.id, out),
    handle: (app, { user }) => listInbox(app.db.manager, user.id),
  }),
];
