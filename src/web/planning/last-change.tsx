import type { WizardSession } from '../api.ts';
import { TimeAgo } from '../display/times.tsx';

/** Says who changed a plan last, and when. */
export function LastChange({ updatedBy, updatedAt }: Pick<WizardSession, 'updatedBy' | 'updatedAt'>) {
  return (
    <>
      changed {updatedBy !== null && <>by {updatedBy.login} </>}
      <TimeAgo at={updatedAt} />
    </>
  );
}
