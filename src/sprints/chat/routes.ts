import { z } from 'zod';
import { AskInChat, ChatMessage, HistoryQuery } from '../../agents/chat/schemas.ts';
import { listHistory } from '../../agents/chat/store.ts';
import { type Route, route } from '../../http/route.ts';
import { onSprint } from '../routes.ts';
import { chatAboutSprint } from './chat.ts';

const SprintReply = z.object({ response: z.string() }).meta({ id: 'SprintReply' });

export const sprintChatRoutes: Route[] = [
  route({
    operationId: 'listSprintChat',
    method: 'get',
    path: '/sprints/:sprintId/chat',
    summary: 'List the last messages of the chat about a sprint, oldest first. All members share the conversation',
    tag: 'sprints',
    access: onSprint('member'),
    query: HistoryQuery,
    reply: [200, z.array(ChatMessage)],
    handle: (app, { sprint, query }) => listHistory(app.db.manager, { sprintId: sprint.id }, query),
  }),
  route({
    operationId: 'chatAboutSprint',
    method: 'post',
    path: '/sprints/:sprintId/chat-with-dev-lead',
    summary: 'Chat with the Software Architect about a sprint',
    tag: 'sprints',
    access: onSprint('member'),
    audit: { action: 'sprint.chat', object: ({ sprint }) => sprint },
    body: AskInChat,
    reply: [200, SprintReply],
    errors: { 502: 'The model answered with an error', 503: 'No model is configured' },
    costs: 'model',
    waits: 'before it writes',
    streams: 'Events `text` with `{ text }`, each a piece of the reply, then `done` with the whole reply, or `error`',
    stream: async (app, { sprint, user, body, keyed }, { send }) => {
      const onText = (text: string) => send({ event: 'text', data: { text } });
      const asking = { user, message: body.message, asMember: true, request: keyed?.id, onText };
      send({ event: 'done', data: { response: await chatAboutSprint(app, sprint, asking) } });
    },
    handle: async (app, { sprint, user, body, keyed }) => {
      const asking = { user, message: body.message, asMember: true, request: keyed?.id };
      return { response: await chatAboutSprint(app, sprint, asking) };
    },
  }),
];
