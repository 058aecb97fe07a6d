import express from 'express';
import jwt from 'jsonwebtoken';
import pg from 'pg';
import { taskColumns } from '../src/tasks/store.ts';

// The other side of the bench: a bare Express route, one raw pg query, the same token check, the same columns.
const [url = '', secret = '', issuer = ''] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: url, max: 20 });
const app = express();
app.disable('etag');

app.get('/tasks/:id', async (req, res) => {
  const token = req.headers.authorization?.slice('Bearer '.length) ?? '';
  const claims = jwt.verify(token, secret, { issuer, audience: 'api', algorithms: ['HS256'] }) as { jti: string };
  const { rows } = await pool.query(
    `select ${taskColumns}, m.role as "callerRole" from tasks t
     join api_tokens tok on tok.id = $1 and tok.revoked_at is null and tok.expires_at > now()
     join members m on m.project_id = t.project_id and m.user_id = tok.user_id
     where t.id = $2`,
    [claims.jti, req.params.id],
  );
  if (rows.length === 0) return res.status(404).json({ statusCode: 404, message: 'not found' });
  return res.json(rows[0]);
});

const server = app.listen(0, '127.0.0.1', () => process.send?.((server.address() as { port: number }).port));
process.on('disconnect', () => process.exit(0));
