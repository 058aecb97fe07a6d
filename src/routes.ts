import { learningRoutes } from './agents/learning/routes.ts';
import { mcpServerRoutes } from './agents/mcp.ts';
import { agentRoutes } from './agents/routes.ts';
import { tryMcpRoutes } from './agents/try-mcp.ts';
import { auditRoutes } from './audit/routes.ts';
import { automationRoutes } from './automations/routes.ts';
import { environmentSecretRoutes } from './environment/secrets/secrets.ts';
import { environmentTrialRoutes } from './environment/trial.ts';
import { validationRoutes } from './environment/validate.ts';
import { importRoutes } from './github/import.ts';
import { githubRoutes } from './github/routes.ts';
import { batchRoute } from './http/batch.ts';
import type { Route } from './http/route.ts';
import { benchmarkRoutes } from './lab/benchmark-routes.ts';
import { portfolioRoutes } from './lab/portfolio.ts';
import { trialRoutes } from './lab/trial-routes.ts';
import { noticeRoutes } from './notices/mail/routes.ts';
import { webhookRoutes } from './notices/webhooks/routes.ts';
import { planningRoutes } from './planning/routes.ts';
import { projectEventRoutes } from './projects/events.ts';
import { projectRoutes } from './projects/routes.ts';
import { repositoryRoutes } from './repositories/routes.ts';
import { changeRoutes, timelineRoutes } from './runs/history.ts';
import { proofRoutes } from './runs/pull-proofs/routes.ts';
import { quoteRoutes } from './runs/quote/routes.ts';
import { receiptRoutes } from './runs/receipts/routes.ts';
import { reviewRoutes } from './runs/review/routes.ts';
import { reviewingRoutes } from './runs/reviewing/routes.ts';
import { runRoutes } from './runs/routes.ts';
import { sessionRoutes } from './runs/sessions/routes.ts';
import { spendRoutes } from './runs/spend.ts';
import { rewindRoutes } from './runs/taking-up/rewind-task.ts';
import { turnRoutes } from './runs/taking-up/show-turns.ts';
import { taskChatRoutes } from './runs/task-chat.ts';
import { undoRoutes } from './runs/undoing/routes.ts';
import { waitingRoutes } from './runs/waiting/routes.ts';
import { sprintChatRoutes } from './sprints/chat.ts';
import { sprintRunRoutes } from './sprints/end-sprint.ts';
import { sprintRoutes, sprintTaskRoutes } from './sprints/routes.ts';
import { boardRoutes } from './tasks/board.ts';
import { collisionRoutes } from './tasks/collisions/routes.ts';
import { inboxRoutes } from './tasks/inbox.ts';
import { onboardingRoutes } from './tasks/onboarding.ts';
import { taskRoutes } from './tasks/routes.ts';
import { viewRoutes } from './tasks/views.ts';

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
  ...tryMcpRoutes,
  ...inboxRoutes,
  ...noticeRoutes,
  ...webhookRoutes,
  ...onboardingRoutes,
  ...taskRoutes,
  ...collisionRoutes,
  ...boardRoutes,
  ...viewRoutes,
  ...taskChatRoutes,
  ...sprintRoutes,
  ...sprintTaskRoutes,
  ...sprintChatRoutes,
  ...planningRoutes,
  ...runRoutes,
  ...sessionRoutes,
  ...receiptRoutes,
  ...changeRoutes,
  ...reviewRoutes,
  ...reviewingRoutes,
  ...proofRoutes,
  ...waitingRoutes,
  ...rewindRoutes,
  ...undoRoutes,
  ...quoteRoutes,
  ...turnRoutes,
  ...spendRoutes,
  ...trialRoutes,
  ...portfolioRoutes,
  ...timelineRoutes,
  ...benchmarkRoutes,
  ...sprintRunRoutes,
  ...automationRoutes,
  ...githubRoutes,
  ...importRoutes,
];

/** All operations of the REST API. */
export const routes: Route[] = [...operations, batchRoute(operations)];
