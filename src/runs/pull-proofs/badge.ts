import { createHmac, timingSafeEqual } from 'node:crypto';
import express, { type Router } from 'express';
import type { App } from '../../app.ts';
import { idOrEmpty } from '../../http/access/access.ts';
import { listProofMonths, type ProofMonth } from './figures.ts';

/**
 * Returns the address of a repository's badge. Whoever knows it sees the share of proved pull requests and nothing else,
 * and nobody can guess the address of another repository.
 */
export function badgeAddress({ config, keys }: Pick<App, 'config' | 'keys'>, repositoryId: string): string {
  return `${config.BASE_URL}/badge/${repositoryId}/${keyOf(keys.jwtSecret, repositoryId)}.json`;
}

function keyOf(secret: string, repositoryId: string): string {
  return createHmac('sha256', secret)
    .update(JSON.stringify(['badge', repositoryId]))
    .digest('base64url')
    .slice(0, 32);
}

/** Serves badges as shields.io reads them (https://shields.io/badges/endpoint-badge). */
export function badgePages(app: App): Router {
  const router = express.Router();
  router.get('/badge/:repositoryId/:file', async (req, res) => {
    const repositoryId = idOrEmpty(String(req.params.repositoryId).slice(0, 255));
    const given = Buffer.from(String(req.params.file));
    const wanted = Buffer.from(`${keyOf(app.keys.jwtSecret, repositoryId)}.json`);
    const isGood = repositoryId !== '' && given.length === wanted.length && timingSafeEqual(given, wanted);
    if (!isGood) {
      res.status(404).json({ statusCode: 404, message: 'No such badge' });
      return;
    }
    res.setHeader('Cache-Control', 'public, max-age=300');
    res.json(badgeOf(await listProofMonths(app.db.manager, repositoryId)));
  });
  return router;
}

/** A badge, as shields.io reads it. */
interface Badge {
  schemaVersion: 1;
  label: string;
  message: string;
  color: string;
}

/** Builds the badge from the latest three months. */
export function badgeOf(months: ProofMonth[]): Badge {
  const latest = months.slice(0, 3);
  const [proved, judged] = [sum(latest.map((each) => each.proved)), sum(latest.map((each) => each.judged))];
  const badge = { schemaVersion: 1, label: 'proved by tests' } as const;
  if (judged === 0) return { ...badge, message: 'unknown', color: 'lightgrey' };
  const share = Math.round((100 * proved) / judged);
  const color = share >= 80 ? 'brightgreen' : share >= 50 ? 'yellow' : 'orange';
  return { ...badge, message: `${share} %`, color };
}

const sum = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0);
