interface RecentPlan {
  id: string;
  goal: string;
}

const storageKey = (projectId: string) => `deckhand-plans-${projectId}`;
const maxPlans = 10;
const maxGoalLength = 120;

/** Returns the plans started in this browser, newest first. The API does not list planning sessions. */
export function recentPlans(projectId: string): RecentPlan[] {
  try {
    return JSON.parse(localStorage.getItem(storageKey(projectId)) ?? '[]') as RecentPlan[];
  } catch {
    return [];
  }
}

export function addRecentPlan(projectId: string, { id, goal }: RecentPlan): void {
  const plans = [{ id, goal: goal.slice(0, maxGoalLength) }, ...recentPlans(projectId)].slice(0, maxPlans);
  localStorage.setItem(storageKey(projectId), JSON.stringify(plans));
}
