import { createHash, randomBytes } from 'node:crypto';
import type { EntityManager } from 'typeorm';

/** Creates an unguessable string (256 bits) for states, cookies and codes. */
export function random(): string {
  return randomBytes(32).toString('base64url');
}

/** Hashes a state, cookie or code for storing, so that reading the table does not help an attacker. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

export interface SignIn {
  stateDigest: string;
  browserDigest: string;
  verifier: string;
  returnTo: string;
}

/** At most this many sign-ins may be under way. Anybody can begin one, so beyond this number the oldest are deleted. */
const maxOpen = 10_000;

export async function insertSignIn(em: EntityManager, begun: SignIn): Promise<void> {
  await em.query(
    `with forgotten as (delete from sign_ins where created_at <=
         (select created_at from sign_ins order by created_at desc offset $5::int - 1 limit 1))
     insert into sign_ins (state_digest, browser_digest, verifier, return_to) values ($1, $2, $3, $4)`,
    [begun.stateDigest, begun.browserDigest, begun.verifier, begun.returnTo, maxOpen],
  );
}

/** Deletes sign-ins that can no longer be finished. The longest, setting up an App, may take an hour. */
export async function deleteOldSignIns(em: EntityManager): Promise<void> {
  await em.query(`delete from sign_ins where created_at < now() - interval '1 hour'`);
}

/**
 * Deletes a sign-in and returns it, so that it is finished at most once. Returns undefined when it is unknown or too
 * old.
 */
export async function takeSignIn(
  em: EntityManager,
  stateDigest: string,
  maxAgeMs: number,
): Promise<SignIn | undefined> {
  const [rows]: [(SignIn & { isFresh: boolean })[]] = await em.query(
    `delete from sign_ins where state_digest = $1
     returning state_digest as "stateDigest", browser_digest as "browserDigest", verifier, return_to as "returnTo",
       created_at > now() - make_interval(secs => $2) as "isFresh"`,
    [stateDigest, maxAgeMs / 1000],
  );
  return rows[0]?.isFresh ? rows[0] : undefined;
}
