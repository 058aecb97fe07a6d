import type { App } from '../../app.ts';
import type { UserRow } from '../../db/tables/project.ts';
import { AppError, notAdmitted } from '../../errors.ts';
import { admit, endAdmission, forgetAsked, isAdmitted, noteAsked } from '../../projects/admission.ts';
import { claimOwnerships } from '../app/installation.ts';

/**
 * Decides whether somebody who signed in to GitHub may use this service, and makes them owner of the projects whose accounts
 * they administer. Members of projects may always use it, even while GitHub does not answer.
 * @throws AppError 403 for strangers, 503 if GitHub does not say whether somebody is one
 */
export async function enter(app: App, user: UserRow): Promise<void> {
  const em = app.db.manager;
  const isOpen = app.config.SIGN_IN === 'anyone';
  const mayAsk = (await noteAsked(em, user.id)) || isOpen || (await isAdmitted(em, user.id));
  if (!mayAsk) throw notAdmitted();
  const { isMember, problem } = await claimOwnerships(app, user);
  if (isMember) await admit(em, user.id, 'account');
  else if (problem === undefined) await endAdmission(em, user.id);
  if (isOpen || (await isAdmitted(em, user.id))) return;
  if (problem === undefined) throw notAdmitted();
  await forgetAsked(em, user.id);
  throw new AppError(
    503,
    'GitHub did not answer whether you are a member of an account that uses this service. Try again in a minute.',
  );
}
