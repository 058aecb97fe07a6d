import { z } from 'zod';
import { AskInChat, ChatMessage, HistoryQuery } from '../../agents/chat/schemas.ts';
import { listHistory } from '../../agents/chat/store.ts';
import { type Route, route } from '../../http/route.ts';
import { onTask } from '../../tasks/routes.ts';
import { chatAboutTask } from './chat.ts';

const TaskReply = z.object({ response: z.string(), taskId: z.string() }).meta({ id: 'TaskReply' });

export const taskChatRoutes: Route[] = [
  route({
    operationId: 'listTaskChat',
    method: 'get',
    path: '/tasks/:id/chat',
    summary: 'List the last messages of the chat about a task, oldest first. All members share the conversation',
    tag: 'tasks',
    access: onTask('member'),
    query: HistoryQuery,
    reply: [200, z.array(ChatMessage)],
    handle: (app, { task, query }) => listHistory(app.db.manager, { taskId: task.id }, query),
  }),
  route({
    operationId: 'chatAboutTask',
    method: 'post',
    path: '/tasks/:id/chat',
    summary: 'Chat with the agent of a task. The agent can read the repository but changes nothing',
    tag: 'tasks',
    access: onTask('member'),
    audit: { action: 'task.chat', object: ({ task }) => task },
    body: AskInChat,
    reply: [200, TaskReply],
    errors: { 502: 'The model answered with an error', 503: 'No model is configured' },
    costs: 'model',
    waits: 'before it writes',
    streams: 'Events `text` with `{ text }`, each a piece of the reply, then `done` with the whole reply, or `error`',
    stream: async (app, { task, user, body, keyed }, { send }) => {
      const onText = (text: string) => send({ event: 'text', data: { text } });
      const asking = { user, message: body.message, asMember: true, request: keyed?.id, onText };
      const response = await chatAboutTask(app, task, asking);
      send({ event: 'done', data: { response, taskId: task.id } });
    },
    handle: async (app, { task, user, body, keyed }) => {
      const asking = { user, message: body.message, asMember: true, request: keyed?.id };
      return { response: await chatAboutTask(app, task, asking), taskId: task.id };
    },
  }),
];
