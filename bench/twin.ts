import express from 'express';
import jwt from 'jsonwebtoken';
import pg from 'pg';
import { taskColumns } from '../src/tasks/store.ts';

// The plain implementation for comparison: bare Express routes and raw pg queries, with the same token check and
// columns.
const [url = '', secret = '', issuer = ''] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: url, max: 20 });
const app = express();
app.disable('etag');

function tokenIdOf(req: express.Request): string {
  const token = req.headers.authorization?.slice('Bearer '.length) ?? '';
  return (jwt.verify(token, secret, { issuer, audience: 'api', algorithms: ['HS256'] }) as { jti: string }).jti;
}

app.get('/projects/:projectId/tasks', async (req, res) => {
  const member = await pool.query(
    `select 1 from members m join api_tokens tok on tok.user_id = m.user_id
     where m.project_id = $1 and tok.id = $2 and tok.revoked_at is null and tok.expires_at > now()`,
    [req.params.projectId, tokenIdOf(req)],
  );
  if (member.rows.length === 0) return res.status(403).json({ statusCode: 403, message: 'not a member' });
  const { rows } = await pool.query(
    `select ${taskColumns} from (
       select * from tasks where project_id = $1 and not hidden order by created_at desc, id limit $2) t
     order by t.created_at desc, t.id`,
    [req.params.projectId, Number(req.query.limit)],
  );
  return res.json(rows);
});

app.get('/tasks/:id', async (req, res) => {
  const { rows } = await pool.query(
    `select ${taskColumns}, m.role as "callerRole" from tasks t
     join api_tokens tok on tok.id = $1 and tok.revoked_at is null and tok.expires_at > now()
     join members m on m.project_id = t.project_id and m.user_id = tok.user_id
     where t.id = $2`,
    [tokenIdOf(req), req.params.id],
  );
  if (rows.length === 0) return res.status(404).json({ statusCode: 404, message: 'not found' });
  return res.json(rows[0]);
});

const server = app.listen(0, '127.0.0.1', () => process.send?.((server.address() as { port: number }).port));
process.on('disconnect', () => process.exit(0));
