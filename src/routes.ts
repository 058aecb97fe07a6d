import { learningRoutes } from './agents/learning/routes.ts';
import { mcpServerRoutes } from './agents/mcp/routes.ts';
import { agentRoutes } from './agents/routes.ts';
import { auditRoutes } from './audit/routes.ts';
import { environmentSecretRoutes } from './environment/secrets/routes.ts';
import { environmentTrialRoutes } from './environment/trial/routes.ts';
import { validationRoutes } from './environment/validation/routes.ts';
import { importRoutes } from './github/import/routes.ts';
import { githubRoutes } from './github/routes.ts';
import { batchRoute } from './http/batch/route.ts';
import type { Route } from './http/route.ts';
import { planningRoutes } from './planning/routes.ts';
import { projectEventRoutes } from './projects/events.ts';
import { projectRoutes } from './projects/routes.ts';
import { repositoryRoutes } from './repositories/routes.ts';
import { changeRoutes } from './runs/change/routes.ts';
import { taskChatRoutes } from './runs/chat/routes.ts';
import { rewindRoutes } from './runs/continuing/routes.ts';
import { runRoutes } from './runs/routes.ts';
import { spendRoutes } from './runs/spend/routes.ts';
import { timelineRoutes } from './runs/timeline/routes.ts';
import { waitingRoutes } from './runs/waiting/routes.ts';
import { sprintChatRoutes } from './sprints/chat/routes.ts';
import { sprintRunRoutes } from './sprints/end-routes.ts';
import { sprintRoutes } from './sprints/routes.ts';
import { sprintTaskRoutes } from './sprints/task-routes.ts';
import { boardRoutes } from './tasks/board/routes.ts';
import { inboxRoutes } from './tasks/inbox/routes.ts';
import { onboardingRoutes } from './tasks/onboarding/routes.ts';
import { taskRoutes } from './tasks/routes.ts';
import { viewRoutes } from './tasks/views/routes.ts';

/** The operations of the features, in the order in which Express matches them. */
const operations: Route[] = [
  ...projectRoutes,
  ...projectEventRoutes,
  ...auditRoutes,
  ...repositoryRoutes,
  ...environmentSecretRoutes,
  ...environmentTrialRoutes,
  ...validationRoutes,
  ...agentRoutes,
  ...learningRoutes,
  ...mcpServerRoutes,
  ...inboxRoutes,
  ...onboardingRoutes,
  ...taskRoutes,
  ...boardRoutes,
  ...viewRoutes,
  ...taskChatRoutes,
  ...sprintRoutes,
  ...sprintTaskRoutes,
  ...sprintChatRoutes,
  ...planningRoutes,
  ...runRoutes,
  ...changeRoutes,
  ...waitingRoutes,
  ...rewindRoutes,
  ...spendRoutes,
  ...timelineRoutes,
  ...sprintRunRoutes,
  ...githubRoutes,
  ...importRoutes,
];

/** All operations of the REST API. */
export const routes: Route[] = [...operations, batchRoute(operations)];
