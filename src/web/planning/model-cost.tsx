import { Checkbox, FormControl, useConfirm } from '@primer/react';
import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import * as api from '../api.ts';
import { storeText } from '../frame/personal-storage.ts';
import * as queries from '../live/queries.ts';
import { costText, plannerName } from './cost-text.ts';

/** How long the figures of a confirmation may be used for the next one. */
const freshMs = 60_000;
const spendDays = 30;

/** Which planning sessions call the model without asking again, in this tab. */
const storageKey = (sessionId: string) => `plan-costs-accepted ${sessionId}`;
const isAccepted = (sessionId: string | undefined) =>
  sessionId !== undefined && sessionStorage.getItem(storageKey(sessionId)) !== null;

/**
 * Returns a function that asks the person before the model of a plan is called, and says what is known about the price. It
 * returns true at once if no model is configured, because then nothing costs anything, or if the person wants no more questions
 * in this plan.
 */
export function useCostConfirm(projectId: string, sessionId?: string) {
  const client = useQueryClient();
  const confirm = useConfirm();
  return async (title: string, button: string): Promise<boolean> => {
    if (isAccepted(sessionId)) return true;
    const cost = await describeCost(client, projectId);
    if (cost === undefined) return true;
    let isForAll = false;
    const isSure = await confirm({
      title,
      content: (
        <div className="stack">
          <p>{cost}</p>
          {sessionId !== undefined && (
            <FormControl>
              <Checkbox onChange={({ target }) => (isForAll = target.checked)} />
              <FormControl.Label>Do not ask again in this plan</FormControl.Label>
            </FormControl>
          )}
        </div>
      ),
      confirmButtonContent: button,
    });
    if (isSure && isForAll && sessionId !== undefined) storeText(sessionStorage, storageKey(sessionId), 'yes');
    return isSure;
  };
}

/** Returns the same for a dialog that is a confirmation already, while it is shown; undefined until it is known. */
export function useCost(projectId: string, isShown: boolean): string | undefined {
  const client = useQueryClient();
  const { data } = useQuery({
    queryKey: ['planning-cost', projectId],
    queryFn: async () => (await describeCost(client, projectId)) ?? null,
    enabled: isShown,
    staleTime: freshMs,
  });
  return data ?? undefined;
}

/** Says what is known about the price of planning in a project; undefined if no model is configured. */
async function describeCost(client: QueryClient, projectId: string): Promise<string | undefined> {
  const nothing = () => undefined;
  const [onboarding, agent, spend] = await Promise.all([
    api.getOnboarding(projectId).catch(nothing),
    fetchPlanner(client, projectId).catch(nothing),
    client.fetchQuery({ ...queries.spend(projectId, spendDays), staleTime: freshMs }).catch(nothing),
  ]);
  return onboarding?.hasModel === false ? undefined : costText(agent, spend);
}

/** Fetches the agent whose model plans; undefined if it was renamed. */
async function fetchPlanner(client: QueryClient, projectId: string): Promise<api.Agent | undefined> {
  const agents = await client.fetchQuery({ ...queries.agentsOf(projectId), staleTime: freshMs });
  const found = agents.find((each) => each.projectId === projectId && each.name === plannerName);
  return found && client.fetchQuery({ ...queries.agent(found.id), staleTime: freshMs });
}
