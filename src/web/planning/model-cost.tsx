import { Checkbox, FormControl, useConfirm } from '@primer/react';
import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import * as api from '../api.ts';
import { storeText } from '../frame/personal-storage.ts';
import * as agentQueries from '../live/queries/agents.ts';
import * as queries from '../live/queries.ts';
import { costText, type PlanStep, plannerName } from './cost-text.ts';

/** How long the figures of a confirmation may be used for the next one. */
const freshMs = 60_000;
const spendDays = 30;

/** What a person has accepted the costs of, in this tab: the questions of a plan, or all of it. */
const storageKey = (sessionId: string) => `plan-costs-accepted ${sessionId}`;

function isAccepted(step: PlanStep, sessionId: string | undefined): boolean {
  const accepted = sessionId === undefined ? null : sessionStorage.getItem(storageKey(sessionId));
  return accepted === 'all' || (accepted === 'questions' && step === 'questions');
}

/** Notes that the person has accepted the costs of the questions of a plan, so that no answer asks again. */
export const acceptQuestions = (sessionId: string): void =>
  storeText(sessionStorage, storageKey(sessionId), 'questions');

/**
 * Returns a function that asks the person before the model of a plan is called, and says what is known about the price. It
 * returns true at once if no model is configured, because then nothing costs anything, or if the person has accepted the costs
 * of the questions or of the whole plan before.
 */
export function useCostConfirm(projectId: string, sessionId?: string) {
  const client = useQueryClient();
  const confirm = useConfirm();
  return async (step: PlanStep, title: string, button: string): Promise<boolean> => {
    if (isAccepted(step, sessionId)) return true;
    const cost = await describeCost(client, projectId, step);
    if (cost === undefined) return true;
    let isForAll = false;
    const isSure = await confirm({
      title,
      content: (
        <div className="stack">
          <p>{cost}</p>
          {step === 'part' && (
            <FormControl>
              <Checkbox onChange={({ target }) => (isForAll = target.checked)} />
              <FormControl.Label>Do not ask again in this plan</FormControl.Label>
            </FormControl>
          )}
        </div>
      ),
      confirmButtonContent: button,
    });
    if (isSure && sessionId !== undefined) {
      if (isForAll) storeText(sessionStorage, storageKey(sessionId), 'all');
      else if (step === 'questions') acceptQuestions(sessionId);
    }
    return isSure;
  };
}

/** Returns the same for a dialog that is a confirmation already, while it is shown; undefined until it is known. */
export function useCost(projectId: string, isShown: boolean): string | undefined {
  const client = useQueryClient();
  const { data } = useQuery({
    queryKey: ['planning-cost', projectId],
    queryFn: async () => (await describeCost(client, projectId, 'part')) ?? null,
    enabled: isShown,
    staleTime: 0,
  });
  return data ?? undefined;
}

/** Says what is known about the price of planning in a project; undefined if no model is configured. */
async function describeCost(client: QueryClient, projectId: string, step: PlanStep): Promise<string | undefined> {
  const nothing = () => undefined;
  const [onboarding, agent, spend] = await Promise.all([
    api.getOnboarding(projectId).catch(nothing),
    fetchPlanner(client, projectId).catch(nothing),
    // What the plan has cost since its last part belongs to it.
    client.fetchQuery({ ...queries.spend(projectId, spendDays), staleTime: 0 }).catch(nothing),
  ]);
  return onboarding?.hasModel === false ? undefined : costText(step, agent, spend);
}

/** Fetches the agent whose model plans; undefined if it was renamed. */
async function fetchPlanner(client: QueryClient, projectId: string): Promise<api.Agent | undefined> {
  const agents = await client.fetchQuery({ ...agentQueries.agentsOf(projectId), staleTime: freshMs });
  const found = agents.find((each) => each.projectId === projectId && each.name === plannerName);
  return found && client.fetchQuery({ ...agentQueries.agent(found.id), staleTime: freshMs });
}
