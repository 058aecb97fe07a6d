import { written } from '../written-task.ts';
import { hidden, manifest, node, visible } from './node-project.ts';

/** Starts the server of a task on a free port and asks it. */
const asking = `
import { startServer } from '../server.js';
const server = await startServer(0);
const base = 'http://127.0.0.1:' + server.address().port;
const ask = async (path, options) => {
  const answer = await fetch(base + path, options);
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
};`;

export const serverTasks = [
  written({
    ...node,
    id: 'own-node-server',
    title: 'The server answers unknown notes with 500',
    issue:
      '`GET /notes/99` is answered with 500 when there is no note 99. It should be 404 with the JSON body `{"error":"note 99 not found"}`. `PUT` and other methods on `/notes/1` should be 405 with the header `Allow: GET, DELETE`. The tests start the server on 127.0.0.1.',
    traits: ['server', 'several files'],
    files: {
      'package.json': manifest('notes'),
      'README.md': '# notes\n\nA small server. `npm test` starts it on a free port of 127.0.0.1.\n',
      'store.js': `const notes = new Map([['1', { id: '1', text: 'first' }]]);

export function findNote(id) {
  return notes.get(id);
}

export function removeNote(id) {
  return notes.delete(id);
}
`,
      'server.js': `import { createServer } from 'node:http';
import { findNote, removeNote } from './store.js';

/** Starts the server and resolves when it listens. */
export function startServer(port) {
  const server = createServer((req, res) => {
    try {
      answer(req, res);
    } catch {
      send(res, 500, { error: 'internal error' });
    }
  });
  return new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(server)));
}

function answer(req, res) {
  const [, id] = /^\\/notes\\/(\\w+)$/.exec(req.url) ?? [];
  if (id === undefined) return send(res, 404, { error: 'no such page' });
  if (req.method === 'DELETE') {
    removeNote(id);
    return send(res, 204);
  }
  const note = findNote(id);
  return send(res, 200, { id: note.id, text: note.text });
}

function send(res, status, body) {
  res.writeHead(status, { 'Content-Type': 'application/json' });
  res.end(body === undefined ? undefined : JSON.stringify(body));
}
`,
      'test/visible.mjs': visible(`${asking}
assert.equal((await ask('/notes/1')).text, '{"id":"1","text":"first"}');
assert.equal((await ask('/nowhere')).status, 404);
server.close();
server.closeAllConnections();`),
    },
    gold: [
      {
        file: 'server.js',
        find: '  const note = findNote(id);\n',
        replace: `  if (req.method !== 'GET') {
    res.setHeader('Allow', 'GET, DELETE');
    return send(res, 405, { error: 'method not allowed' });
  }
  const note = findNote(id);
  if (note === undefined) return send(res, 404, { error: \`note \${id} not found\` });
`,
      },
    ],
    cheats: [
      [
        {
          file: 'server.js',
          find: '  const note = findNote(id);\n',
          replace:
            "  if (id === '99') return send(res, 404, { error: 'note 99 not found' });\n  const note = findNote(id);\n",
        },
      ],
    ],
    hidden: hidden(`${asking}
const missing = await ask('/notes/7');
assert.equal(missing.status, 404);
assert.deepEqual(JSON.parse(missing.text), { error: 'note 7 not found' });
const put = await ask('/notes/1', { method: 'PUT', body: '{}' });
assert.equal(put.status, 405);
assert.equal(put.headers.get('allow'), 'GET, DELETE');
assert.equal((await ask('/notes/1')).status, 200);
assert.equal((await ask('/notes/1', { method: 'DELETE' })).status, 204);
assert.equal((await ask('/notes/1')).status, 404);
server.close();
server.closeAllConnections();`),
  }),
];
