import { z } from 'zod';
import { anyUser, type Caller } from '../../http/access/access.ts';
import { type Route, route } from '../../http/route.ts';
import { chooseNotices, confirmAgain, getNotices } from './operations.ts';
import { mailModes } from './store.ts';

const mail = z.enum(mailModes, `must be ${mailModes.slice(0, -1).join(', ')} or ${mailModes.at(-1)}`).meta({
  description: '`now`: one mail for each entry of the inbox; `daily`: one at 7:00 UTC if there is something new',
});

/** Letters, digits and a few signs of ASCII, so that no part can be read as a header or as a second address. */
const address = z
  .string()
  .max(254, 'must have at most 254 characters')
  .regex(
    /^[A-Za-z0-9_+'-]{1,64}(?:\.[A-Za-z0-9_+'-]{1,64}){0,9}@(?:[A-Za-z0-9-]{1,63}\.){1,9}[A-Za-z0-9-]{2,63}$/,
    'must be a mail address such as mona@example.com, without a name',
  )
  .meta({ example: 'mona@example.com' });

const SetNotices = z.strictObject({ mail: mail.optional(), address: address.nullable().optional() });

const Notices = z
  .object({
    mail,
    address: z.string().nullable(),
    confirmed: z.boolean().meta({ description: 'whether the person has opened the link that was sent to the address' }),
    available: z.boolean().meta({ description: 'whether this service can send mail' }),
  })
  .meta({ id: 'Notices' });

const path = '/me/notices';
const tag = 'projects';
const ofCaller = ({ user }: { user: Caller }) => ({ id: user.id, projectId: null });
const refusals = { 429: 'Too many confirmations today', 503: 'Mail is not configured' };

export const noticeRoutes: Route[] = [
  route({
    operationId: 'getNotices',
    method: 'get',
    path,
    summary: 'Get which mails about the inbox the caller gets',
    tag,
    access: anyUser,
    reply: [200, Notices],
    handle: (app, { user }) => getNotices(app, user.id),
  }),
  route({
    operationId: 'setNotices',
    method: 'patch',
    path,
    summary: 'Choose which mails about the inbox the caller gets. A new address has to be confirmed by a link',
    tag,
    access: anyUser,
    audit: { action: 'user.set_notices', object: ofCaller },
    body: SetNotices,
    reply: [200, Notices],
    errors: refusals,
    handle: (app, { user, body }) => chooseNotices(app, user.id, body),
  }),
  route({
    operationId: 'confirmNotices',
    method: 'post',
    path: `${path}/confirmation`,
    summary: 'Send the link that confirms the address of the caller again',
    tag,
    access: anyUser,
    audit: { action: 'user.confirm_notices', object: ofCaller },
    reply: [202, Notices],
    errors: refusals,
    handle: (app, { user }) => confirmAgain(app, user.id),
  }),
];
