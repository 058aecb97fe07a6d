/**
 * Deckhand
 * 1
 * DO NOT MODIFY - This file has been generated using oazapfts.
 * See https://www.npmjs.com/package/oazapfts
 */
import * as Oazapfts from "@oazapfts/runtime";
import * as QS from "@oazapfts/runtime/query";
export const defaults: Oazapfts.Defaults<Oazapfts.CustomHeaders> = {
    headers: {},
    baseUrl: "/api/v1"
};
const oazapfts = Oazapfts.runtime(defaults);
export const servers = {
    server1: "/api/v1"
};
export type Me = {
    id: string;
    login: string;
    name: string;
    avatarUrl: string;
    /** what the token of the request allows */
    scopes: "read" | "write" | "admin";
};
export type ErrorReply = {
    statusCode: number;
    message: string;
    errors?: {
        path: string;
        message: string;
    }[];
};
export type ApiToken = {
    id: string;
    name: string;
    prefix: string;
    scopes: "read" | "write" | "admin";
    createdAt: string;
    expiresAt: string;
    lastUsedAt: string | null;
};
export type NewApiToken = {
    id: string;
    name: string;
    prefix: string;
    scopes: "read" | "write" | "admin";
    createdAt: string;
    expiresAt: string;
    token: string;
};
export type GitHubState = {
    state: "ok" | "suspended" | "refused" | "missing_permissions";
    /** what is wrong and what to do; null if nothing is */
    reason: string | null;
    since: string | null;
};
export type Project = {
    id: string;
    name: string;
    slug: string;
    description: string;
    role: "viewer" | "member" | "admin" | "owner";
    addedBy: {
        id: string;
        login: string;
    } | null;
    /** the project's own limits; null means that the limit of the service applies */
    budgets: {
        runMinutes: number | null;
        runSteps: number | null;
        runTokens: number | null;
        runCostUsd: number | null;
        dayCostUsd: number | null;
    };
    /** the limits of this service, which no budget can exceed */
    limits: {
        runMinutes: number;
        runSteps: number;
        runTokens: number;
        runCostUsd: number;
        dayCostUsd: number;
    };
    sharePrivateContext: boolean;
    /** whether a person approves each change before it is pushed */
    push: "free" | "approved";
    /** the agent that starts where nobody names one; null for the built-in Developer */
    defaultAgentId: string | null;
    /** null for projects without an installation of the App */
    github: GitHubState | null;
    createdAt: string;
    updatedAt: string;
};
export type Member = {
    userId: string;
    login: string;
    name: string;
    avatarUrl: string;
    role: "viewer" | "member" | "admin" | "owner";
    createdAt: string;
};
export type AuditRecord = {
    id: string;
    at: string;
    /** null when the system did it */
    actor: {
        id: string;
        login: string;
    } | null;
    via: "token" | "session" | "mcp" | "comment" | "label" | "review" | "issue" | "system";
    action: string;
    "object": {
        "type": string;
        id: string;
    };
    /** the changed fields, each with its values before and after; texts are cut at 200 characters */
    detail: {
        [key: string]: (string | number | boolean | null)[];
    };
};
export type Repository = {
    id: string;
    projectId: string;
    name: string;
    url: string;
    defaultBranch: string;
    isPrimary: boolean;
    isDocsRepo: boolean;
    createdAt: string;
};
export type RepositoryEntry = {
    id: string;
    projectId: string;
    name: string;
    url: string;
    isPrimary: boolean;
    isDocsRepo: boolean;
};
export type TaskTemplate = {
    name: string;
    about: string;
    title: string;
    description: string;
};
export type UnassignedSecrets = {
    projectId: string;
    names: string[];
};
export type EnvironmentSecret = {
    name: string;
    createdAt: string;
    /** ids of the repositories that may use it */
    repositories: string[];
    /** hosts that may get it as a credential for an image */
    hosts: string[];
};
export type StartedEnvironmentTrial = {
    id: string;
    status: "running" | "ready" | "failed";
};
export type EnvironmentTrial = {
    id: string;
    status: "running" | "ready" | "failed";
    startedAt: string;
    /** when a worker began; null while the trial waits for one */
    beganAt: string | null;
    finishedAt: string | null;
    /** null for the worker's own system */
    image: string | null;
    /** why the trial failed, unless the result of a command shows it; where it is ready, what its set-up may lack */
    problem: string | null;
    commands: {
        command: string;
        /** null while the command runs, and when it was stopped */
        exitCode: number | null;
        seconds: number;
        output: string;
    }[];
    /** how many of the commands, from the first, are set-up; the others are checks */
    setupCommands: number;
    /** usual checks, tried because .deckhand.yml lists none; their results do not decide about the trial */
    tried: {
        command: string;
        /** null while the command runs, and when it was stopped */
        exitCode: number | null;
        seconds: number;
        output: string;
    }[];
    refusedHosts: {
        host: string;
        times: number;
    }[];
    /** programs that are not installed, the commands that need them, and an image that has them */
    missing: {
        program: string;
        command: string;
        image: string | null;
    }[];
    /** files that name packages which set-up does not install: Deckhand knows no command for them, or they are in folders, which do not count where the root has a lock file */
    "unknown": string[];
    /** folders that are projects of their own, and in which no usual check was found to try */
    unchecked: string[];
    /** what the repository has that runs get only with this key of `checkout` in .deckhand.yml */
    checkout: ("submodules" | "lfs")[];
    /** the whole .deckhand.yml with what the trial found, and comments for what people should decide; null while it runs, and when there is nothing to add */
    draft: string | null;
    /** services to which commands could not connect, or that the compose file names while a command fails, as `services` of .deckhand.yml may list them */
    services: {
        run: string;
        port: number;
    }[];
};
export type RepositoryValidation = {
    valid: boolean;
    /** what was found, and everything that a run would fail or stop at */
    message: string;
    branches?: string[];
    error?: string;
    canPush: boolean;
};
export type AgentEntry = {
    id: string;
    /** null for an agent that belongs to a person */
    projectId: string | null;
    name: string;
    team: string;
    status: "available" | "busy" | "offline";
};
export type Agent = {
    id: string;
    projectId: string | null;
    name: string;
    description: string;
    team: string;
    model: string;
    /** set if the model server lists models, but not this one; names the nearest of them */
    modelWarning: string | null;
    /** how long the model reasons before it answers; null leaves it to the model server */
    reasoningEffort: ("none" | "minimal" | "low" | "medium" | "high" | "xhigh") | null;
    /** maximum length of an answer in tokens, including reasoning; null means the limit of the model server */
    maxOutputTokens: number | null;
    systemPrompt: string;
    version: number;
    previousVersionId: string | null;
    isNewest: boolean;
    /** the percentage of tasks that this version takes; the version before it takes the others */
    rollout: number;
    status: "available" | "busy" | "offline";
    currentTaskId: string | null;
    createdAt: string;
};
export type ModelNames = {
    /** sorted; empty if the server gives no list */
    names: string[];
};
export type AgentHealth = {
    agentId: string;
    status: "healthy" | "degraded" | "unhealthy";
    lastHeartbeat: string;
    consecutiveFailures: number;
    totalTasks: number;
    successRate: number;
};
export type AgentPerformance = {
    agentId: string;
    metrics: {
        totalTasks: number;
        completedTasks: number;
        failedTasks: number;
        averageCompletionTime: string;
        successRate: number;
        linesOfCodeWritten: number;
        prsCreated: number;
    };
    /** runs that ended in each week, which is named by its Monday (UTC); only with the query `weeks` */
    weeks?: {
        week: string;
        succeeded: number;
        failed: number;
    }[];
};
export type AgentSkill = {
    id: string;
    name: string;
    proficiency: "novice" | "beginner" | "intermediate" | "advanced" | "expert";
};
export type Suggestion = {
    area: string;
    suggestion: string;
    priority: "low" | "medium" | "high";
    /** ids of the runs */
    evidence: string[];
    /** what runs, people and checks said, word for word */
    quotes: {
        /** where it comes from: a failed run, a review by a person, or checks on GitHub */
        source: "failure" | "review" | "checks";
        runId: string;
        taskId: string;
        text: string;
        /** the run in the dashboard */
        url: string;
    }[];
};
export type PromptPreview = {
    systemPrompt: string;
    /** what differs from the current prompt, as a unified diff; empty when nothing does */
    diff: string;
};
export type Estimate = {
    value: number;
    low: number;
    high: number;
};
export type Comparison = {
    earlier: {
        id: string;
        version: number;
        /** the finished tasks that count */
        tasks: number;
    };
    later: {
        id: string;
        version: number;
        /** the finished tasks that count */
        tasks: number;
    };
    /** the percentage of tasks that this version takes; the version before it takes the others */
    rollout: number;
    measures: {
        /** per task: `success` is a rate, `cost` in US dollars, `time` in minutes, `revisions` a number */
        measure: "success" | "cost" | "time" | "revisions";
        earlier: Estimate | null;
        later: Estimate | null;
        difference: Estimate | null;
        /** how the later version compares; `chance` when chance can explain the difference */
        verdict: "better" | "worse" | "chance" | "too_few";
    }[];
    sentence: string;
    /** the latest trial that compared the prompts of both versions; null without one */
    trial: {
        id: string;
        repositoryId: string;
        endedAt: string;
        /** the items that both versions have tried */
        "of": number;
        earlier: {
            solved: number;
        };
        later: {
            solved: number;
        };
        /** by how much the later version solves a larger share of the items */
        difference: number;
        /** of the exact test of McNemar, in both directions */
        pValue: number;
        /** of the later version */
        verdict: "better" | "worse" | "same" | "open";
    } | null;
};
export type McpServer = {
    name: string;
    url: string;
    /** values are never shown */
    headers: {
        name: string;
    }[];
    /** the tools to offer to agents, by the names that the server gives them; null for all */
    tools: string[] | null;
    /** ids of the repositories whose runs may use the server; without it, the only repository of the project, and none while the project has several */
    repositories?: string[];
};
export type McpTrial = {
    /** why the tools of the server could not be listed; null if they could */
    problem: string | null;
    /** the tools that the server declares, at most 500, with the beginnings of their descriptions */
    tools: {
        name: string;
        description: string;
    }[];
};
export type InboxEntry = {
    /** null for what the admins of a project are told about no task */
    taskId: string | null;
    /** an automation that was switched off; only admins of its project see it */
    automationId?: string;
    projectId: string;
    /** `automation` and `webhook`, for admins: the service has switched one off */
    reason: "plan" | "question" | "push" | "paused" | "review" | "failed" | "automation" | "webhook";
    title: string;
    /** what the run waits for, why it failed, why it is not merged when ready any more, what was done, or why the automation was switched off; at most 2,000 characters */
    text: string;
    since: string;
    /** when a snoozed entry returns; only with the scope `snoozed` */
    snoozedUntil?: string;
};
export type Notices = {
    /** `now`: one mail for each entry of the inbox; `daily`: one at 7:00 UTC if there is something new */
    mail: "off" | "now" | "daily";
    address: string | null;
    /** whether the person has opened the link that was sent to the address */
    confirmed: boolean;
    /** whether this service can send mail */
    available: boolean;
};
export type Webhook = {
    id: string;
    projectId: string;
    url: string;
    events: ("task.status" | "task.attention" | "run.ended" | "sprint.status" | "proof" | "budget")[];
    format: "standard" | "slack";
    enabled: boolean;
    /** why the service switched it off; null unless it did */
    problem: string | null;
    createdAt: string;
    updatedAt: string;
};
export type CreatedWebhook = {
    id: string;
    projectId: string;
    url: string;
    events: ("task.status" | "task.attention" | "run.ended" | "sprint.status" | "proof" | "budget")[];
    format: "standard" | "slack";
    enabled: boolean;
    /** why the service switched it off; null unless it did */
    problem: string | null;
    createdAt: string;
    updatedAt: string;
    /** the key with which deliveries are signed; it is never shown again */
    secret: string;
};
export type WebhookDelivery = {
    /** the header `webhook-id`, the same in all attempts */
    id: string;
    webhookId: string;
    event: "task.status" | "task.attention" | "run.ended" | "sprint.status" | "proof" | "budget" | "test";
    status: "waiting" | "delivered" | "failed";
    createdAt: string;
    attempts: number;
    /** null unless it waits */
    nextAttemptAt: string | null;
    deliveredAt: string | null;
    /** what the receiver answered last */
    responseStatus: number | null;
    /** the beginning of that answer, at most 500 characters */
    response: string | null;
    /** why the last attempt failed */
    problem: string | null;
    payload: {
        [key: string]: any;
    };
};
export type Onboarding = {
    /** the GitHub App reaches the repositories of the project, or the project has a git token */
    hasGitAccess: boolean;
    /** the primary repository, otherwise the oldest; null before one is connected */
    repositoryId: string | null;
    /** a trial of the environment of one of the repositories was successful */
    isEnvironmentTried: boolean;
    /** both a model and a key for it are configured */
    hasModel: boolean;
    hasDoneTask: boolean;
};
export type TaskBudget = {
    costUsd?: number;
    steps?: number;
    minutes?: number;
    tokens?: number;
};
export type Failure = {
    category: "auth" | "rate_limit" | "budget" | "timeout" | "sandbox" | "setup" | "model" | "checks" | "gave_up" | "no_changes" | "conflict" | "push_rejected" | "repository" | "internal";
    message: string;
    retryable: boolean;
};
export type Attention = {
    id: string;
    reason: "plan" | "question" | "push" | "paused" | "model" | "host";
    text: string;
    options: string[];
    since: string;
};
export type Merging = {
    state: "waiting" | "queued";
    since: string;
    reason: string;
};
export type Task = {
    id: string;
    title: string;
    description: string;
    status: "backlog" | "ready" | "in_progress" | "in_review" | "done" | "waiting_on_subtasks";
    priority: "urgent" | "high" | "normal" | "low";
    owner: string | null;
    /** the member who looks after it: who started it last, unless another one was chosen */
    responsible: string | null;
    projectId: string;
    branchName: string | null;
    base: string | null;
    prUrl: string | null;
    dependsOn: string[];
    repositoryId: string | null;
    parentId: string | null;
    sprintId: string | null;
    issueNumber: number | null;
    issueUrl: string | null;
    issueType: string | null;
    /** logins on GitHub */
    issueAssignees: string[];
    /** what the issue says, if that differs from the task */
    issueText?: {
        title: string;
        description: string;
    };
    failure: Failure | null;
    /** set if a person changed something about the next run after the failure, such as the description or the budget */
    editedSinceFailure?: boolean;
    attention: Attention | null;
    merging: Merging | null;
    planFirst: boolean | null;
    budget: TaskBudget | null;
    /** the task whose merged pull requests this one reverts */
    undoOf: string | null;
    runCount: number;
    createdAt: string;
    updatedAt: string;
};
export type TaskStatistics = {
    total: number;
    byStatus: {
        backlog: number;
        ready: number;
        in_progress: number;
        in_review: number;
        done: number;
        waiting_on_subtasks: number;
    };
};
export type Hunk = {
    oldStart: number;
    oldLines: number;
    newStart: number;
    newLines: number;
    lines: string[];
};
export type FileDiff = {
    path: string;
    previousPath?: string;
    status: "added" | "modified" | "deleted" | "renamed";
    additions: number;
    deletions: number;
    hunks: Hunk[];
    binary?: boolean;
    truncated?: boolean;
};
export type TaskDiff = {
    taskId: string;
    branchName: string;
    baseBranch: string;
    files: FileDiff[];
    truncated?: boolean;
};
export type Handoff = {
    id: string;
    taskId: string;
    summary: string;
    nextSteps: string[];
    createdAt: string;
};
export type PullRequest = {
    repositoryId: string;
    repositoryName: string;
    prUrl: string;
    prNumber: number;
    status: "draft" | "open" | "merged" | "closed";
};
export type Collisions = {
    /** the open pull requests that collide, at most 100, newest first */
    collisions: {
        repositoryId: string;
        repositoryName: string;
        /** the pull request of this task */
        prNumber: number;
        /** null for a pull request that is not of a task */
        otherTaskId: string | null;
        otherNumber: number;
        otherUrl: string;
        otherTitle: string;
        /** the login of the person who opened it */
        otherAuthor: string | null;
        /** the files that git cannot merge */
        files: string[];
        at: string;
    }[];
    /** for a task without a change: those in progress or in review that touch files which its plan or its text names */
    expected: {
        taskId: string;
        title: string;
        status: "backlog" | "ready" | "in_progress" | "in_review" | "done" | "waiting_on_subtasks";
        /** what this task will probably touch as well */
        files: string[];
    }[];
};
export type CardRun = {
    id: string;
    kind: "start" | "retry" | "revise" | "continue" | "rewind" | "review" | "fix" | "prove" | "harvest" | "trial";
    status: "queued" | "running" | "waiting" | "succeeded" | "failed" | "cancelled";
    steps: number;
    waitReason: ("plan" | "question" | "push" | "paused" | "model" | "host") | null;
    createdAt: string;
    startedAt: string | null;
    finishedAt: string | null;
    /** since when it has been waiting; null while it is not waiting */
    waitingSince: string | null;
    /** how long it waited before; its clock does not count this */
    waitedSeconds: number;
};
export type TaskCard = {
    id: string;
    projectId: string;
    title: string;
    status: "backlog" | "ready" | "in_progress" | "in_review" | "done" | "waiting_on_subtasks";
    priority: "urgent" | "high" | "normal" | "low";
    owner: string | null;
    responsible: string | null;
    repositoryId: string | null;
    base: string | null;
    parentId: string | null;
    sprintId: string | null;
    dependsOn: string[];
    prUrl: string | null;
    /** what GitHub does to merge its pull requests when they are ready */
    merging: ("waiting" | "queued") | null;
    issueNumber: number | null;
    /** how many open pull requests git cannot merge together with those of the task */
    collisions: number;
    failure: Failure | null;
    runCount: number;
    run: CardRun | null;
    /** the cost of all its runs; null when it is not known */
    costUsd: number | null;
    /** the last result of the checks of its change */
    checks: ("passed" | "failed") | null;
    createdAt: string;
    updatedAt: string;
    statusSince: string;
};
export type Board = {
    /** how many tasks the project has */
    total: number;
    /** who can own its tasks */
    agents: {
        id: string;
        name: string;
    }[];
    /** the members of the project, by login, at most 500 */
    people: {
        id: string;
        login: string;
        avatarUrl: string;
    }[];
    /** the newest 200 */
    sprints: {
        id: string;
        name: string;
        status: "planning" | "active" | "completed" | "cancelled";
    }[];
    tasks: TaskCard[];
};
export type SavedView = {
    name: string;
    query: string;
};
export type ChatMessage = {
    id: string;
    at: string;
    role: "user" | "assistant";
    /** null for the agent and for deleted accounts */
    author: {
        id: string;
        login: string;
    } | null;
    text: string;
};
export type TaskReply = {
    response: string;
    taskId: string;
};
export type Sprint = {
    id: string;
    projectId: string;
    name: string;
    goal: string;
    status: "planning" | "active" | "completed" | "cancelled";
    startDate: string;
    endDate: string;
    createdAt: string;
    taskCount: number;
    completedCount: number;
};
export type SprintEntry = {
    id: string;
    name: string;
    status: "planning" | "active" | "completed" | "cancelled";
    goal: string;
};
export type VelocityEntry = {
    sprintId: string;
    name: string;
    velocity: number;
};
export type Forecast = {
    p50: string | null;
    p80: string | null;
    p95: string | null;
    /** why there is no forecast */
    reason: string | null;
};
export type SprintMetrics = {
    totalTasks: number;
    completedTasks: number;
    inProgressTasks: number;
    remainingTasks: number;
    completionPercentage: number;
    estimatedCompletion: string;
    forecast: Forecast;
};
export type BurndownPoint = {
    date: string;
    ideal: number;
    /** null only for days to come */
    actual: number | null;
    /** the open tasks at the end of the day are `low` to `high` with 80 % probability */
    low: number;
    high: number;
};
export type Digest = {
    sprintId: string;
    createdAt: string;
    markdown: string;
    completed: string[];
    carriedOver: string[];
    failed: {
        taskId: string;
        category: "auth" | "rate_limit" | "budget" | "timeout" | "sandbox" | "setup" | "model" | "checks" | "gave_up" | "no_changes" | "conflict" | "push_rejected" | "repository" | "internal";
        message: string;
    }[];
    costUsd: number;
};
export type SprintReply = {
    response: string;
};
export type WizardEntry = {
    sessionId: string;
    status: "collecting" | "answered" | "prd_ready" | "plan_ready" | "tasks_ready" | "finalized";
    goal: string;
    /** the issue that is planned, whose title is the first line of the goal; null without one */
    issueUrl: string | null;
    /** the title of the requirements */
    title: string | null;
    repositoryId: string | null;
    repositoryIds: string[];
    sprintId: string | null;
    createdBy: {
        id: string;
        login: string;
    } | null;
    /** the person who changed the session last; null if the service did, or nobody since it began */
    updatedBy: {
        id: string;
        login: string;
    } | null;
    createdAt: string;
    updatedAt: string;
};
export type WizardStep = {
    id: string;
    question: string;
    options: {
        id: string;
        label: string;
    }[];
};
export type WizardStart = {
    sessionId: string;
    currentStep: WizardStep;
};
export type Prd = {
    title: string;
    markdown: string;
};
export type Plan = {
    phases: {
        name: string;
        goal: string;
        reason: string;
    }[];
};
export type TaskEstimate = {
    /** half of the tasks in `basedOn` took at most this long, reviews included */
    likelyMinutes: number;
    /** four out of five took at most this long */
    safeMinutes: number;
    /** the part of `likelyMinutes` in which an agent works */
    workMinutes: number;
    /** the ids of these finished tasks, the most similar first */
    basedOn: string[];
    /** false if too few tasks are similar; `basedOn` then has the latest */
    isSimilar: boolean;
};
export type PlannedTask = {
    ref: string;
    title: string;
    description: string;
    owner: string | null;
    ownerReason: string | null;
    repositoryId: string | null;
    dependsOn: string[];
    /** how long it may take; missing until agents have finished three tasks of the project, and once the sprint is created */
    estimate?: TaskEstimate;
};
export type WizardSession = {
    sessionId: string;
    status: "collecting" | "answered" | "prd_ready" | "plan_ready" | "tasks_ready" | "finalized";
    goal: string;
    /** the issue that is planned, whose title is the first line of the goal; null without one */
    issueUrl: string | null;
    repositoryId: string | null;
    repositoryIds: string[];
    sprintId: string | null;
    /** the person who changed the session last; null if the service did, or nobody since it began */
    updatedBy: {
        id: string;
        login: string;
    } | null;
    /** who is editing which part at the moment */
    editors: {
        part: "prd" | "plan" | "tasks";
        user: {
            id: string;
            login: string;
        };
    }[];
    createdAt: string;
    updatedAt: string;
    currentStep: WizardStep | null;
    answers: {
        stepId: string;
        question: string;
        options: {
            id: string;
            label: string;
        }[];
        selectedOptionIds: string[];
        customText: string;
    }[];
    prd: Prd | null;
    plan: Plan | null;
    tasks: PlannedTask[] | null;
    /** the tasks that would be done too late for a sprint of 14 days that starts today; missing without estimates */
    doesNotFit?: {
        ref: string;
        doneAt: string;
        reason: string;
    }[];
    /** each part as it was before its last change */
    previous: {
        prd: Prd | null;
        plan: Plan | null;
        tasks: PlannedTask[] | null;
    };
    /** the parts that follow from an earlier text of a part before them */
    outdated: ("prd" | "plan" | "tasks")[];
};
export type PlannedSprint = {
    sprint: {
        id: string;
        name: string;
    };
    tasks: {
        id: string;
        title: string;
    }[];
};
export type NewReviewComment = {
    path: string;
    line: number;
    /** whether the line is part of the old or of the new file */
    side: "old" | "new";
    /** the line as the person saw it */
    quote?: string;
    text: string;
};
export type Proof = {
    status: "proved" | "changed" | "unproved" | "weakened" | "no_tests" | "not_run";
    /** whether the checks fail on the base's code with the tests of the change */
    newTestsFailOnBase: boolean | null;
    /** whether the checks pass on the code of the change with the tests of the base */
    oldTestsPass: boolean | null;
    /** test files that were added, changed or renamed */
    testsChanged: string[];
    testsRemoved: string[];
    /** why the change is not proved */
    reason: string | null;
};
export type Run = {
    id: string;
    taskId: string;
    agentId: string | null;
    kind: "start" | "retry" | "revise" | "continue" | "rewind" | "review" | "fix" | "prove" | "harvest" | "trial";
    /** the run and its turn after which a rewound run goes on; null for a run of another kind */
    rewoundFrom: {
        runId: string;
        turn: number;
    } | null;
    status: "queued" | "running" | "waiting" | "succeeded" | "failed" | "cancelled";
    createdAt: string;
    startedAt: string | null;
    finishedAt: string | null;
    /** since when it has been waiting; null while it is not waiting */
    waitingSince: string | null;
    /** how long it waited before, which its duration does not include */
    waitedSeconds: number;
    /** whether it pauses after the current turn of its agent */
    pausing: boolean;
    failure: Failure | null;
    steps: number;
    inputTokens: number;
    /** how many of the input tokens the model server read from its cache */
    cachedInputTokens: number;
    outputTokens: number;
    costUsd: number | null;
};
export type RunEvent = {
    id: string;
    at: string;
    "type": string;
    text: string;
    data: {
        [key: string]: any;
    };
};
export type Session = {
    /** of the run */
    id: string;
    taskId: string;
    taskTitle: string;
    projectId: string;
    projectName: string;
    agentId: string | null;
    agentName: string | null;
    /** the login of who started it; null if the service did */
    startedBy: string | null;
    isAutomatic: boolean;
    kind: "start" | "retry" | "revise" | "continue" | "rewind" | "review" | "fix" | "prove" | "harvest" | "trial";
    status: "queued" | "running" | "waiting" | "succeeded" | "failed" | "cancelled";
    waitReason: ("plan" | "question" | "push" | "paused" | "model" | "host") | null;
    /** why it failed */
    failure: string | null;
    steps: number;
    costUsd: number | null;
    createdAt: string;
    startedAt: string | null;
    finishedAt: string | null;
    waitingSince: string | null;
    /** how long it waited before */
    waitedSeconds: number;
    /** its place among the queued runs of its project, 1 for the next; null if it is not queued or beyond 200 */
    queuePosition: number | null;
    /** what it does now; null unless it is running */
    activity: {
        doing: "preparing" | "setting_up" | "thinking" | "calling" | "checking" | "publishing";
        /** the tool and what its call is about; null unless `calling` */
        call: string | null;
        since: string;
    } | null;
    /** the last three lines of the log of an unfinished run, each cut at 300 characters */
    lines: {
        at: string;
        "type": string;
        text: string;
    }[];
};
export type Receipt = {
    runId: string;
    taskId: string;
    repositoryId: string;
    repositoryName: string;
    prUrl: string;
    /** the commit that the run pushed */
    commit: string;
    /** the signed receipt, a DSSE envelope */
    envelope: {
        payloadType: string;
        /** an in-toto statement in base64 */
        payload: string;
        signatures: {
            keyid: string;
            sig: string;
        }[];
    };
    createdAt: string;
};
export type TaskChange = {
    /** changed files */
    files: number;
    additions: number;
    deletions: number;
    /** whether the diff was too large to be shown completely */
    isTruncated: boolean;
    /** the last result of each check; empty when none ran */
    checks: {
        command: string;
        passed: boolean;
    }[];
    /** what the tests prove; null before the first proof */
    proof: Proof | null;
};
export type ReviewComment = {
    id: string;
    path: string;
    /** the line; of an outdated comment, the line that it was written on; null for the whole file */
    line: number | null;
    /** whether the line is part of the old or of the new file */
    side: "old" | "new";
    /** everything that the person wrote, as Markdown */
    text: string;
    /** the login of the person */
    author: string;
    at: string;
    /** 1 before the first revision of the task, and one more after each */
    round: number;
    /** `addressed` if the agent answered it, or a run that was asked for it pushed a change; `outdated` if it was not and its line is no longer in the diff */
    state: "open" | "addressed" | "outdated";
    /** whether the agent was asked to act on it; on GitHub, a review by somebody with write permission that requests changes does that */
    told: boolean;
    /** what the agent answered; null before that */
    answer: string | null;
};
export type ReviewExample = {
    id: string;
    /** the pull request */
    "number": number;
    path: string;
    /** the line as it was */
    quote: string;
    severity: "critical" | "major" | "minor";
    /** the comment */
    text: string;
    why: "resolved" | "thumbs_down";
    at: string;
};
export type PullProof = {
    /** the number of the pull request */
    pullRequest: number;
    headSha: string;
    /** the login of who opened it; null for a deleted account */
    author: string | null;
    status: "proved" | "changed" | "unproved" | "weakened" | "no_tests" | "not_run";
    /** why the change is not proved */
    reason: string | null;
    /** how long it took; less than a minute if the files were tried before */
    seconds: number;
    at: string;
};
export type ProofFigures = {
    /** pull requests by their last judged head, the latest month first, at most 12 */
    months: {
        month: string;
        proved: number;
        judged: number;
    }[];
    /** the slowest checks with their median in the latest proofs */
    slow: {
        command: string;
        seconds: number;
    }[];
    /** an address for shields.io; whoever knows it sees the share of the latest three months */
    badge: string;
};
export type FlakyCheck = {
    /** a command of `checks`, or the name of a check on GitHub */
    command: string;
    /** how often two tries on the same files had different results */
    seen: number;
    /** how often two tries were compared */
    "of": number;
    lastAt: string;
    /** the single tests that differed last, where the output names them */
    tests: string[];
};
export type Accepted = {};
export type UndoPlan = {
    /** what would be reverted, in this order */
    pulls: {
        repositoryId: string;
        repositoryName: string;
        "number": number;
        url: string;
        /** the branch into which it was merged */
        base: string;
        mergedAt: string | null;
    }[];
    /** why the task cannot be undone now; null if it can */
    problem: string | null;
    /** the task that undoes it, or has undone it */
    undoneBy: string | null;
    /** the last turn of its runs, from which an agent may try again after the undo */
    tryAgain: {
        runId: string;
        turn: number;
    } | null;
};
export type Quote = {
    /** all runs of the task together */
    costUsd: {
        /** half of such tasks need at most this */
        p50: number;
        /** four of five such tasks need at most this */
        p80: number;
    } | null;
    /** how long its runs work, without what they wait for people */
    minutes: {
        /** half of such tasks need at most this */
        p50: number;
        /** four of five such tasks need at most this */
        p80: number;
    } | null;
    /** `n` of `of` similar tasks were merged without a request for changes */
    mergedUnchanged: {
        "of": number;
        n: number;
    } | null;
    /** the finished tasks behind it, the most similar first */
    similar: string[];
    /** why something is missing, such as fewer than 9 finished tasks */
    reason: string | null;
};
export type PastQuotes = {
    costUsd: {
        /** the quotes whose tasks are done */
        "of": number;
        /** how many of their lower bounds held */
        p50: number;
        /** how many of their upper bounds held */
        p80: number;
    };
    minutes: {
        /** the quotes whose tasks are done */
        "of": number;
        /** how many of their lower bounds held */
        p50: number;
        /** how many of their upper bounds held */
        p80: number;
    };
    quotes: {
        taskId: string;
        title: string;
        at: string;
        costP50: number | null;
        costP80: number | null;
        /** what the task cost */
        costUsd: number | null;
        minutesP50: number | null;
        minutesP80: number | null;
        /** how long its runs worked */
        minutes: number;
    }[];
};
export type RunTurn = {
    /** numbered from 1 */
    turn: number;
    at: string;
    text: string;
    calls: {
        name: string;
        /** as the model wrote them, usually JSON; cut after 100,000 characters */
        arguments: string;
        /** cut after 10,000 characters */
        result: string;
        ok: boolean;
    }[];
    inputTokens: number;
    cachedInputTokens: number;
    outputTokens: number;
    costUsd: number | null;
};
export type Spend = {
    /** each day, oldest first. A run counts on the days on which it used its tokens, and so do plans and answers to questions */
    days: {
        day: string;
        /** without the cost of models whose prices are not configured */
        costUsd: number;
        inputTokens: number;
        cachedInputTokens: number;
        outputTokens: number;
        agents: {
            /** the newest version of the agent; null for an agent that was deleted */
            agentId: string | null;
            costUsd: number;
        }[];
    }[];
    /** the agents that used anything, those that cost most first */
    agents: {
        /** the newest version of the agent; null for an agent that was deleted */
        agentId: string | null;
        name: string | null;
        /** without the cost of models whose prices are not configured */
        costUsd: number;
        inputTokens: number;
        cachedInputTokens: number;
        outputTokens: number;
    }[];
    by: "day" | "agent" | "person" | "model" | "sprint" | "repository";
    /** what was used by each `by`: days oldest first, all others by cost, at most 1000. A group without an id is for none: calls without an agent or a person, or from before this was recorded. A group without a name was deleted, or is a day */
    groups: {
        /** of the day, the newest version of the agent, the person, the sprint or the repository; the name of a model */
        id: string | null;
        name: string | null;
        /** without the cost of models whose prices are not configured */
        costUsd: number;
        inputTokens: number;
        cachedInputTokens: number;
        outputTokens: number;
    }[];
    total: {
        /** without the cost of models whose prices are not configured */
        costUsd: number;
        inputTokens: number;
        cachedInputTokens: number;
        outputTokens: number;
    };
    budget: {
        /** what the project may cost on a day */
        dayCostUsd: number;
        setBy: "service" | "project";
    };
};
export type AgentTrial = {
    id: string;
    projectId: string;
    repositoryId: string;
    status: "running" | "done" | "cancelled" | "failed";
    /** why it ended */
    reason: string | null;
    agentId: string;
    /** of the agent, as it is called now */
    name: string;
    version: number;
    /** whether the agent still has the prompt that was tried */
    isCurrent: boolean;
    model: string;
    /** SHA-256 of the system prompt that was tried, in hexadecimal */
    promptHash: string;
    solved: number;
    /** the items that count; those that ended with an error do not */
    "of": number;
    /** the share that it solves, with a certainty of 95 % (Clopper and Pearson); null before the first result */
    interval: number[] | null;
    /** null when the price of the model is unknown */
    costUsd: number | null;
    minutes: number;
    items: {
        itemId: string;
        title: string;
        /** null while the run is live; `error`: something else than the agent prevented the run */
        result: ("solved" | "unsolved" | "error") | null;
        /** why it was not solved */
        reason: string | null;
        runId: string;
        taskId: string;
        costUsd: number | null;
    }[];
    /** how many items it tries at most */
    planned: number;
    budget: {
        costUsd: number;
    };
    /** from which the order of the items follows */
    seed: string;
    against?: {
        agentId: string;
        /** of the agent, as it is called now */
        name: string;
        version: number;
        /** whether the agent still has the prompt that was tried */
        isCurrent: boolean;
        model: string;
        /** SHA-256 of the system prompt that was tried, in hexadecimal */
        promptHash: string;
        solved: number;
        /** the items that count; those that ended with an error do not */
        "of": number;
        /** the share that it solves, with a certainty of 95 % (Clopper and Pearson); null before the first result */
        interval: number[] | null;
        /** null when the price of the model is unknown */
        costUsd: number | null;
        minutes: number;
        items: {
            itemId: string;
            title: string;
            /** null while the run is live; `error`: something else than the agent prevented the run */
            result: ("solved" | "unsolved" | "error") | null;
            /** why it was not solved */
            reason: string | null;
            runId: string;
            taskId: string;
            costUsd: number | null;
        }[];
        /** the items that both have tried */
        pairs: number;
        /** the items that only the tried agent solved */
        wins: number;
        /** the items that only this one solved */
        losses: number;
        /** by how much the tried agent solves a larger share of these items */
        difference: number;
        /** of the exact test of McNemar, in both directions */
        pValue: number;
        /** of the tried agent. Of two that are equal, one is called `worse` in at most 5 % of trials and `better` in at most 5 %, although each item is looked at */
        verdict: "better" | "worse" | "same" | "open";
        /** after how many pairs the difference was clear */
        clearAfter: number | null;
    };
    startedBy: string | null;
    createdAt: string;
    finishedAt: string | null;
};
export type TrialEstimate = {
    /** how many items it would try */
    items: number;
    /** in four of five cases; null where nothing is known */
    costUsd: {
        low: number;
        high: number;
    } | null;
    /** in four of five cases; null where nothing is known */
    minutes: {
        low: number;
        high: number;
    } | null;
    /** how many earlier runs it is based on */
    runs: number;
    /** why nothing is known */
    reason: string | null;
};
export type PortfolioEntry = {
    agentId: string;
    name: string;
    version: number;
    model: string;
    solved: number;
    /** the items that it tried; errors do not count */
    "of": number;
    /** the share that it solves, with a certainty of 95 % */
    interval: number[];
    /** in US dollars; null when nothing was solved, and when the price of the model is unknown */
    costPerSolved: number | null;
    minutesPerSolved: number | null;
    /** no other one solves at least as much at most as expensively, and is better in one of both */
    isEfficient: boolean;
    /** `worse` at an error of 5 %; `unknown`: it tried so few items that they could not show it */
    comparedWithBest: "best" | "worse" | "not worse" | "unknown";
};
export type Portfolio = {
    /** each agent with each model that was tried, the best first */
    agents: PortfolioEntry[];
    /** the cheapest per solved item of those that are not significantly worse than the best */
    cheapest: PortfolioEntry | null;
};
export type TimelineEntry = {
    id: string;
    at: string;
    /** an action of the audit log without `task.`, such as `start` or `answer`; or `created`, `wait_plan`, `wait_question`, `wait_push`, `pushed`, `pull_opened`, `pull_merged`, `run_succeeded`, `run_failed` or `run_cancelled` */
    "type": string;
    /** the person who did it; null for agents and the system */
    actor: {
        id: string;
        login: string;
    } | null;
    /** how a person or the system did it; null for agents */
    via: ("token" | "session" | "mcp" | "comment" | "label" | "review" | "issue" | "system") | null;
    /** the name of the agent that did it; null if no agent was needed, as for most undos */
    agent: string | null;
    runId: string | null;
    /** what was said, asked or requested, in full; the failure of a run, or that it changed nothing; a commit, or a pull request, with at most 500 characters */
    text: string;
    url: string | null;
    /** the changed fields, each with its values before and after; texts are cut at 200 characters, except for what people said to the agent */
    changes: {
        [key: string]: (string | number | boolean | null)[];
    };
    /** what a run left for later runs */
    handoff: {
        summary: string;
        nextSteps: string[];
    } | null;
};
export type BenchmarkItem = {
    id: string;
    title: string;
    /** what people wrote about the change before it was merged, without its solution */
    text: string;
    /** what was removed from the text, because it tells the solution */
    removed: string[];
    /** the commit from which an agent begins */
    baseSha: string;
    solutionSha: string;
    /** the paths of the solution's tests, which are hidden from the agent */
    tests: string[];
    /** the single tests that fail before the solution and pass with it, where the checks name them */
    singleTests: string[];
    /** how long the checks took with the solution */
    seconds: number;
    state: "usable" | "rejected";
    /** why it is rejected */
    reason: string | null;
    /** whether trials use it */
    enabled: boolean;
};
export type Benchmark = {
    /** ready: its usable items are the benchmark. A harvest that was cancelled is ready if it has found some */
    status: "harvesting" | "ready" | "failed";
    /** why the harvest failed */
    reason: string | null;
    /** the commits that the latest harvest has looked at */
    looked: number;
    /** the number of usable items, those of earlier harvests included */
    usable: number;
    /** why the other commits are no items, or rejected ones; the most frequent reason first */
    dropped: {
        reason: string;
        count: number;
    }[];
    /** the number of usable items after which the harvest ends */
    most: number;
    since: string | null;
    /** the task to cancel to stop the harvest; no board shows it */
    taskId: string;
    /** the run whose log tells how it goes */
    runId: string;
    startedAt: string;
    finishedAt: string | null;
    /** usable ones first, then the newest changes first */
    items: BenchmarkItem[];
};
export type Automation = {
    id: string;
    projectId: string;
    name: string;
    on: {
        cron?: string;
        timezone?: string;
        event?: "issue.opened" | "issue.labeled" | "pull_request.opened" | "pull_request.labeled" | "checks.failed" | "release.published" | "push";
        label?: string;
        author?: string;
        branch?: string;
    };
    task: {
        title: string;
        description: string;
        owner: string;
        repositoryId: string;
        base: string | null;
        planFirst: boolean | null;
        start: boolean;
    };
    enabled: boolean;
    mostPerDay: number;
    /** null for events, and while it is switched off */
    nextAt: string | null;
    last: {
        taskId: string | null;
        at: string;
        /** why no task was made, or why it could not be started */
        problem: string | null;
    } | null;
    /** why the service switched it off; null if a person did, or if it is on */
    paused: {
        reason: string;
        since: string;
    } | null;
    /** the user whose rights its tasks have: who changed it last */
    changedBy: string | null;
    createdAt: string;
    updatedAt: string;
};
export type AutomationTrigger = {
    /** a cron expression of five fields, or six with seconds */
    cron?: string;
    /** an IANA time zone such as Europe/Berlin */
    timezone?: string;
    event?: "issue.opened" | "issue.labeled" | "pull_request.opened" | "pull_request.labeled" | "checks.failed" | "release.published" | "push";
    /** only if the issue or pull request has this label */
    label?: string;
    /** only what this account wrote */
    author?: string;
    /** only this branch; of a pull request, the one it goes into */
    branch?: string;
};
export type AutomationTrial = {
    /** how far back it looks */
    days: number;
    /** how many tasks it would have made */
    count: number;
    /** there were too many events to look at all of them */
    isAtLeast: boolean;
    /** to compare with `mostPerDay` */
    mostOnADay: number;
    /** the newest ones, at most 20 */
    times: string[];
    /** the next three times; empty for events */
    next: string[];
};
export type OtherWork = {
    /** the full name of its repository */
    repositoryName: string;
    "number": number;
    url: string;
    /** a login; null for a deleted account */
    author: string | null;
    /** whether it would close the issue; otherwise it mentions it */
    closes: boolean;
};
export type PullRequestCheck = {
    name: string;
    outcome: "passed" | "failed" | "running" | "skipped";
    url: string | null;
    /** whether the base branch requires it */
    required: boolean;
};
export type PullRequestReview = {
    login: string;
    state: "approved" | "changes_requested";
};
export type PullRequestReadiness = {
    repositoryName: string;
    prUrl: string;
    prNumber: number;
    status: "draft" | "open";
    /** the commit that will be merged */
    headSha: string;
    /** how it will be merged */
    method: ("squash" | "merge" | "rebase") | null;
    baseBranch: string | null;
    /** null while GitHub computes whether there are conflicts */
    mergeable: boolean | null;
    /** null without permission to read them */
    checks: PullRequestCheck[] | null;
    reviews: PullRequestReview[] | null;
    /** what the reviews amount to; null where the base branch requires none */
    review: ("required" | "approved" | "changes_requested") | null;
    /** the code owners who have not reviewed it, with the number of their files and the first ones; one owner of each group is enough. Null when it is not known */
    missingOwners: {
        owners: string[];
        paths: string[];
        count: number;
    }[] | null;
    /** why it could not be read from GitHub */
    error: string | null;
};
export type MergeReadiness = {
    /** the open pull requests, in the order in which they are merged */
    pullRequests: PullRequestReadiness[];
    /** the last results of the checks in the latest run that had any */
    runChecks: {
        name: string;
        passed: boolean;
    }[];
    /** the open tasks that depend on this one, at most 30 */
    dependents: {
        id: string;
        title: string;
        status: "backlog" | "ready" | "in_progress" | "in_review" | "done" | "waiting_on_subtasks";
        /** whether the active sprint starts it when this task is done */
        starts: boolean;
    }[];
    /** problems such as failed checks or missing reviews; a merge is refused while a problem `blocks` it */
    problems: {
        text: string;
        blocks: boolean;
    }[];
};
export type MergeTask = {
    /** `ready`: GitHub merges, by its merge queue or its auto-merge, when what the base branch requires is there */
    when?: "now" | "ready";
    /** the heads of all open pull requests that were looked at; the merge is refused if one differs */
    heads?: {
        prUrl: string;
        headSha: string;
    }[];
};
export type Reconciliation = {
    id: string;
    startedAt: string;
    finishedAt: string;
    trigger: "manual" | "scheduled" | "start";
    checked: number;
    recovered: {
        taskId: string;
        action: string;
        reason: string;
    }[];
};
export type InstalledRepository = {
    fullName: string;
    name: string;
    url: string;
    defaultBranch: string;
    isPrivate: boolean;
    /** whether the project has connected it already */
    isConnected: boolean;
};
export type OpenIssue = {
    "number": number;
    title: string;
    url: string;
    /** a login; null for a deleted account */
    author: string | null;
    labels: string[];
    createdAt: string;
    /** the task of the issue, if it has one */
    taskId: string | null;
};
export type ImportedIssues = {
    imported: {
        "number": number;
        taskId: string;
    }[];
    skipped: {
        "number": number;
        reason: string;
        /** the existing task of the issue */
        taskId: string | null;
    }[];
};
export type BatchReply = {
    status: number;
    body: any;
};
/**
 * Get the user that the token belongs to
 */
export function getMe(opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Me;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>("/me", {
        ...opts
    }));
}
/**
 * List the API tokens of the caller
 */
export function listTokens({ limit, offset }: {
    limit?: number;
    offset?: number;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: ApiToken[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/me/tokens${QS.query(QS.explode({
        limit,
        offset
    }))}`, {
        ...opts
    }));
}
/**
 * Create an API token, which allows at most what the token of the request does. Only this reply contains it
 */
export function createToken(body: {
    name: string;
    expiresInDays?: number;
    /** `read` changes nothing, `write` also does what members do, `admin` allows everything that the person may do */
    scopes?: "read" | "write" | "admin";
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 201;
        data: NewApiToken;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>("/me/tokens", oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    })));
}
/**
 * Revoke an API token with immediate effect
 */
export function revokeToken(tokenId: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 204;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/me/tokens/${encodeURIComponent(tokenId)}`, {
        ...opts,
        method: "DELETE"
    }));
}
/**
 * List the projects of the caller
 */
export function listProjects({ limit, offset }: {
    limit?: number;
    offset?: number;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Project[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects${QS.query(QS.explode({
        limit,
        offset
    }))}`, {
        ...opts
    }));
}
/**
 * Create a project
 */
export function createProject(body: {
    name: string;
    description?: string;
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 201;
        data: Project;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>("/projects", oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    })));
}
/**
 * Get a project
 */
export function getProject(projectId: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Project;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}`, {
        ...opts
    }));
}
/**
 * Change the settings of a project
 */
export function updateProject(projectId: string, body?: {
    name?: string;
    description?: string;
    budgets?: {
        runMinutes?: number | null;
        runSteps?: number | null;
        runTokens?: number | null;
        runCostUsd?: number | null;
        dayCostUsd?: number | null;
    };
    sharePrivateContext?: boolean;
    push?: "free" | "approved";
    /** an agent of the project, in place of the built-in Developer */
    defaultAgentId?: string | null;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Project;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}`, oazapfts.json({
        ...opts,
        method: "PATCH",
        body
    })));
}
/**
 * Delete a project
 */
export function deleteProject(projectId: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 204;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}`, {
        ...opts,
        method: "DELETE"
    }));
}
/**
 * List the members of a project
 */
export function listMembers(projectId: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Member[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/members`, {
        ...opts
    }));
}
/**
 * Add a member
 */
export function addMember(projectId: string, body: {
    login: string;
    role?: "viewer" | "member" | "admin" | "owner";
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 201;
        data: Member;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 502;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/members`, oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    })));
}
/**
 * Change the role of a member
 */
export function updateMember(projectId: string, userId: string, body?: {
    role?: "viewer" | "member" | "admin" | "owner";
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Member;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/members/${encodeURIComponent(userId)}`, oazapfts.json({
        ...opts,
        method: "PATCH",
        body
    })));
}
/**
 * Remove a member. Members can leave by using `me` as the user
 */
export function removeMember(projectId: string, userId: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 204;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/members/${encodeURIComponent(userId)}`, {
        ...opts,
        method: "DELETE"
    }));
}
/**
 * Set the git token
 */
export function setGitToken(projectId: string, body: {
    token: string;
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: {
            configured: boolean;
        };
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/git-token`, oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    })));
}
/**
 * Check whether a git token is set
 */
export function getGitToken(projectId: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: {
            configured: boolean;
            updatedAt: string | null;
        };
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/git-token`, {
        ...opts
    }));
}
/**
 * Remove the git token
 */
export function removeGitToken(projectId: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 204;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/git-token`, {
        ...opts,
        method: "DELETE"
    }));
}
/**
 * Set the model token
 */
export function setModelToken(projectId: string, body: {
    token: string;
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: {
            configured: boolean;
        };
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/model-token`, oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    })));
}
/**
 * Check whether a model token is set
 */
export function getModelToken(projectId: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: {
            configured: boolean;
            updatedAt: string | null;
        };
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/model-token`, {
        ...opts
    }));
}
/**
 * Remove the model token
 */
export function removeModelToken(projectId: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 204;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/model-token`, {
        ...opts,
        method: "DELETE"
    }));
}
/**
 * Follow the changes of a project as they happen
 */
export function followProject(projectId: string, { heartbeat }: {
    heartbeat?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: string;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/events${QS.query(QS.explode({
        heartbeat
    }))}`, {
        ...opts
    }));
}
/**
 * List the changes of a project and who made them, newest first; all, or those of a person, action, object or time
 */
export function listAuditRecords(projectId: string, { limit, offset, actor, action, $object, since, until, format }: {
    limit?: number;
    offset?: number;
    actor?: string;
    action?: string;
    $object?: string;
    since?: string;
    until?: string;
    format?: "json" | "ndjson";
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: AuditRecord[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/audit${QS.query(QS.explode({
        limit,
        offset,
        actor,
        action,
        "object": $object,
        since,
        until,
        format
    }))}`, {
        ...opts
    }));
}
/**
 * Connect a repository to a project
 */
export function connectRepository(body: {
    projectId: string;
    name: string;
    url: string;
    defaultBranch?: string;
    isPrimary?: boolean;
    isDocsRepo?: boolean;
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 201;
        data: Repository;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>("/repositories", oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    })));
}
/**
 * List the repositories of one project, or of all projects of the caller
 */
export function listRepositories({ projectId }: {
    projectId?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: RepositoryEntry[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/repositories${QS.query(QS.explode({
        projectId
    }))}`, {
        ...opts
    }));
}
/**
 * Get a repository
 */
export function getRepository(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Repository;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/repositories/${encodeURIComponent(id)}`, {
        ...opts
    }));
}
/**
 * Change a repository
 */
export function updateRepository(id: string, body?: {
    name?: string;
    url?: string;
    defaultBranch?: string;
    isPrimary?: boolean;
    isDocsRepo?: boolean;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Repository;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/repositories/${encodeURIComponent(id)}`, oazapfts.json({
        ...opts,
        method: "PATCH",
        body
    })));
}
/**
 * Disconnect a repository. Nothing changes on its host
 */
export function disconnectRepository(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 204;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/repositories/${encodeURIComponent(id)}`, {
        ...opts,
        method: "DELETE"
    }));
}
/**
 * List the names of branches, the default branch first, at most 100; their host is asked
 */
export function searchBranches(id: string, { search }: {
    search?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: string[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 502;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/repositories/${encodeURIComponent(id)}/branches${QS.query(QS.explode({
        search
    }))}`, {
        ...opts
    }));
}
/**
 * List the templates of issues of a repository, at most 10, which propose the text of new tasks; GitHub is asked
 */
export function listTaskTemplates(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: TaskTemplate[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 502;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/repositories/${encodeURIComponent(id)}/task-templates`, {
        ...opts
    }));
}
/**
 * Get the primary repository of a project
 */
export function getPrimaryRepository(projectId: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Repository;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/repositories/primary/${encodeURIComponent(projectId)}`, {
        ...opts
    }));
}
/**
 * Get the documentation repository of a project
 */
export function getDocsRepository(projectId: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Repository;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/repositories/docs/${encodeURIComponent(projectId)}`, {
        ...opts
    }));
}
/**
 * List the environment secrets that no repository may use, in all projects that the caller can administer
 */
export function listUnassignedSecrets(opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: UnassignedSecrets[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>("/me/unassigned-secrets", {
        ...opts
    }));
}
/**
 * List the environment secrets of a project. Their values are never shown
 */
export function listEnvironmentSecrets(projectId: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: EnvironmentSecret[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/environment-secrets`, {
        ...opts
    }));
}
/**
 * Set an environment secret with the repositories that may use it. A secret that exists is replaced as a whole
 */
export function setEnvironmentSecret(projectId: string, name: string, body: {
    value: string;
    /** ids of the repositories of the project that may use the secret; without it, the only repository of the project */
    repositories?: string[];
    /** registries, and their token services, that may get the secret as a credential of `imageAuth`, with the port unless it is 443 */
    hosts?: string[];
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 204;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/environment-secrets/${encodeURIComponent(name)}`, oazapfts.json({
        ...opts,
        method: "PUT",
        body
    })));
}
/**
 * Delete an environment secret
 */
export function removeEnvironmentSecret(projectId: string, name: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 204;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/environment-secrets/${encodeURIComponent(name)}`, {
        ...opts,
        method: "DELETE"
    }));
}
/**
 * Try set-up and checks on the default branch, without an agent
 */
export function startEnvironmentTrial(id: string, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 202;
        data: StartedEnvironmentTrial;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/repositories/${encodeURIComponent(id)}/environment`, {
        ...opts,
        method: "POST",
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    }));
}
/**
 * Get the last trial of the environment of a repository
 */
export function getEnvironmentTrial(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: EnvironmentTrial;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/repositories/${encodeURIComponent(id)}/environment`, {
        ...opts
    }));
}
/**
 * Check the connection, default branch, right to push, settings file and environment of a repository
 */
export function validateRepository(id: string, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: RepositoryValidation;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/repositories/${encodeURIComponent(id)}/validate`, {
        ...opts,
        method: "POST",
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    }));
}
/**
 * List the agents that the caller can see, or only those that can work in a project
 */
export function listAgents({ projectId }: {
    projectId?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: AgentEntry[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/agents${QS.query(QS.explode({
        projectId
    }))}`, {
        ...opts
    }));
}
/**
 * Create an agent
 */
export function createAgent(body: {
    name: string;
    description?: string;
    team?: string;
    model?: string;
    /** how long the model reasons before it answers; null leaves it to the model server */
    reasoningEffort?: ("none" | "minimal" | "low" | "medium" | "high" | "xhigh") | null;
    /** maximum length of an answer in tokens, including reasoning; null means the limit of the model server */
    maxOutputTokens?: number | null;
    systemPrompt?: string;
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 201;
        data: Agent;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>("/agents", oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    })));
}
/**
 * List the models that the model server lists for a project, or for agents without one
 */
export function listModelNames({ projectId }: {
    projectId?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: ModelNames;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/agents/models${QS.query(QS.explode({
        projectId
    }))}`, {
        ...opts
    }));
}
/**
 * List the teams of the agents that the caller can see
 */
export function listTeams(opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: string[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>("/agents/teams", {
        ...opts
    }));
}
/**
 * List the agents of a team
 */
export function listTeamAgents(team: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: AgentEntry[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/agents/teams/${encodeURIComponent(team)}`, {
        ...opts
    }));
}
/**
 * Get the health of all agents
 */
export function listAgentHealth(opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: AgentHealth[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>("/agents/health/all", {
        ...opts
    }));
}
/**
 * Get the health of unhealthy agents
 */
export function listUnhealthyAgents(opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: AgentHealth[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>("/agents/health/unhealthy", {
        ...opts
    }));
}
/**
 * Get an agent
 */
export function getAgent(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Agent;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/agents/${encodeURIComponent(id)}`, {
        ...opts
    }));
}
/**
 * Change an agent
 */
export function updateAgent(id: string, body?: {
    name?: string;
    description?: string;
    team?: string;
    model?: string;
    /** how long the model reasons before it answers; null leaves it to the model server */
    reasoningEffort?: ("none" | "minimal" | "low" | "medium" | "high" | "xhigh") | null;
    /** maximum length of an answer in tokens, including reasoning; null means the limit of the model server */
    maxOutputTokens?: number | null;
    systemPrompt?: string;
    /** the percentage of tasks that this version takes; the version before it takes the others */
    rollout?: number;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Agent;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/agents/${encodeURIComponent(id)}`, oazapfts.json({
        ...opts,
        method: "PATCH",
        body
    })));
}
/**
 * Delete an agent
 */
export function deleteAgent(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 204;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/agents/${encodeURIComponent(id)}`, {
        ...opts,
        method: "DELETE"
    }));
}
/**
 * Get the health of an agent
 */
export function getAgentHealth(id: string, { version }: {
    version?: number;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: AgentHealth;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/agents/${encodeURIComponent(id)}/health${QS.query(QS.explode({
        version
    }))}`, {
        ...opts
    }));
}
/**
 * Clear the failures of an agent and release its runs whose workers were lost
 */
export function resetAgentHealth(id: string, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: AgentHealth;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/agents/${encodeURIComponent(id)}/health/reset`, {
        ...opts,
        method: "POST",
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    }));
}
/**
 * Get the performance of an agent
 */
export function getAgentPerformance(id: string, { version, weeks }: {
    version?: number;
    weeks?: number;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: AgentPerformance;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/agents/${encodeURIComponent(id)}/performance${QS.query(QS.explode({
        version,
        weeks
    }))}`, {
        ...opts
    }));
}
/**
 * List the languages of the agent's merged work
 */
export function getAgentSkills(id: string, { version }: {
    version?: number;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: AgentSkill[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/agents/${encodeURIComponent(id)}/skills${QS.query(QS.explode({
        version
    }))}`, {
        ...opts
    }));
}
/**
 * List suggestions from the failures, reviews and failing checks of an agent
 */
export function listAgentSuggestions(id: string, { version }: {
    version?: number;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: {
            suggestions: Suggestion[];
            /** present while a model words the suggestions; read them again in a few seconds */
            wording?: true;
        };
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/agents/${encodeURIComponent(id)}/suggestions${QS.query(QS.explode({
        version
    }))}`, {
        ...opts
    }));
}
/**
 * Create a new version of an agent
 */
export function evolveAgent(id: string, body: {
    improvements?: string[];
    newSystemPrompt?: string;
    /** the percentage of tasks that this version takes; the version before it takes the others */
    rollout?: number;
    /** only show the new prompt, and store nothing */
    preview?: boolean;
    /** a trial of exactly the new prompt; refuses if that was worse than the current version */
    trial?: string;
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: PromptPreview;
    } | {
        status: 201;
        data: Agent;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 502;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/agents/${encodeURIComponent(id)}/evolve`, oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    })));
}
/**
 * Compare a version of an agent with the one before it, by the tasks from the time when both were in use
 */
export function compareAgentVersions(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Comparison;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/agents/${encodeURIComponent(id)}/comparison`, {
        ...opts
    }));
}
/**
 * List the MCP servers whose tools the agents of a project may call
 */
export function listMcpServers(projectId: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: McpServer[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/mcp-servers`, {
        ...opts
    }));
}
/**
 * Replace the MCP servers of a project. A header without a value keeps its previous value
 */
export function setMcpServers(projectId: string, body: {
    name: string;
    url: string;
    headers?: {
        name: string;
        value?: string | null;
    }[] | {
        [key: string]: string | null;
    };
    /** the tools to offer to agents, by the names that the server gives them; null for all */
    tools?: string[] | null;
    /** ids of the repositories whose runs may use the server; without it, the only repository of the project, and none while the project has several */
    repositories?: string[];
}[], opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: McpServer[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/mcp-servers`, oazapfts.json({
        ...opts,
        method: "PUT",
        body
    })));
}
/**
 * Connect to an MCP server and list its tools, without saving it
 */
export function tryMcpServer(projectId: string, body: {
    name: string;
    url: string;
    headers?: {
        name: string;
        value?: string | null;
    }[] | {
        [key: string]: string | null;
    };
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: McpTrial;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/mcp-servers/try`, oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    })));
}
/**
 * List the tasks that need the caller, and what admins have to know, in all their projects, newest first; at most 1,000
 */
export function listInbox({ scope }: {
    scope?: "mine" | "all" | "snoozed";
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: InboxEntry[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/me/inbox${QS.query(QS.explode({
        scope
    }))}`, {
        ...opts
    }));
}
/**
 * Leave what a task needs now out of the inbox of the caller until then. What it needs later is listed all the same
 */
export function snoozeInboxEntry(taskId: string, body: {
    /** at most 90 days from now */
    until: string;
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 204;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/me/inbox/${encodeURIComponent(taskId)}/snooze`, oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    })));
}
/**
 * List a task again that the caller has snoozed
 */
export function endInboxSnooze(taskId: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 204;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/me/inbox/${encodeURIComponent(taskId)}/snooze`, {
        ...opts,
        method: "DELETE"
    }));
}
/**
 * Get which mails about the inbox the caller gets
 */
export function getNotices(opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Notices;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>("/me/notices", {
        ...opts
    }));
}
/**
 * Choose which mails about the inbox the caller gets. A new address has to be confirmed by a link
 */
export function setNotices(body?: {
    /** `now`: one mail for each entry of the inbox; `daily`: one at 7:00 UTC if there is something new */
    mail?: "off" | "now" | "daily";
    address?: string | null;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Notices;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>("/me/notices", oazapfts.json({
        ...opts,
        method: "PATCH",
        body
    })));
}
/**
 * Send the link that confirms the address of the caller again
 */
export function confirmNotices({ idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 202;
        data: Notices;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>("/me/notices/confirmation", {
        ...opts,
        method: "POST",
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    }));
}
/**
 * List the webhooks of a project, oldest first
 */
export function listWebhooks(projectId: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Webhook[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/webhooks`, {
        ...opts
    }));
}
/**
 * Create a webhook. Only this reply shows its secret
 */
export function createWebhook(projectId: string, body: {
    /** an https address without user name, password, query or fragment */
    url: string;
    events: ("task.status" | "task.attention" | "run.ended" | "sprint.status" | "proof" | "budget")[];
    format?: "standard" | "slack";
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 201;
        data: CreatedWebhook;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/webhooks`, oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    })));
}
/**
 * Change a webhook, or switch it off and on
 */
export function updateWebhook(projectId: string, webhookId: string, body?: {
    /** an https address without user name, password, query or fragment */
    url?: string;
    events?: ("task.status" | "task.attention" | "run.ended" | "sprint.status" | "proof" | "budget")[];
    format?: "standard" | "slack";
    /** true also switches a webhook on that the service has switched off */
    enabled?: boolean;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Webhook;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/webhooks/${encodeURIComponent(webhookId)}`, oazapfts.json({
        ...opts,
        method: "PATCH",
        body
    })));
}
/**
 * Delete a webhook with its deliveries
 */
export function deleteWebhook(projectId: string, webhookId: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 204;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/webhooks/${encodeURIComponent(webhookId)}`, {
        ...opts,
        method: "DELETE"
    }));
}
/**
 * List the deliveries of a webhook, newest first
 */
export function listWebhookDeliveries(projectId: string, webhookId: string, { limit, offset }: {
    limit?: number;
    offset?: number;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: WebhookDelivery[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/webhooks/${encodeURIComponent(webhookId)}/deliveries${QS.query(QS.explode({
        limit,
        offset
    }))}`, {
        ...opts
    }));
}
/**
 * Send a delivery again, with the same id
 */
export function redeliverWebhook(projectId: string, webhookId: string, deliveryId: string, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 202;
        data: WebhookDelivery;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/webhooks/${encodeURIComponent(webhookId)}/deliveries/${encodeURIComponent(deliveryId)}/redeliver`, {
        ...opts,
        method: "POST",
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    }));
}
/**
 * Send a delivery of the type `test`
 */
export function testWebhook(projectId: string, webhookId: string, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 202;
        data: WebhookDelivery;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/webhooks/${encodeURIComponent(webhookId)}/test`, {
        ...opts,
        method: "POST",
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    }));
}
/**
 * Get which steps towards its first finished task a project has completed
 */
export function getOnboarding(projectId: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Onboarding;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/onboarding`, {
        ...opts
    }));
}
/**
 * Create a task
 */
export function createTask(projectId: string, body: {
    title: string;
    description?: string;
    /** an agent: its id, or its name if no other agent of the project has it */
    owner?: string;
    status?: "backlog" | "ready";
    dependsOn?: string[];
    repositoryId?: string;
    sprintId?: string;
    /** create a GitHub issue for it */
    issue?: boolean;
    /** whether the agent proposes a plan first; null for the setting of the repository */
    planFirst?: boolean | null;
    /** the branch from which it starts and into which it goes; null for that of the repository */
    base?: string | null;
    /** of the queued runs of a project, those of the most urgent tasks begin first */
    priority?: "urgent" | "high" | "normal" | "low";
    budget?: TaskBudget;
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 201;
        data: Task;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/tasks`, oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    })));
}
/**
 * List the tasks of a project, newest first
 */
export function listTasks(projectId: string, { status, owner, responsible, sprintId, search, limit, offset }: {
    status?: "backlog" | "ready" | "in_progress" | "in_review" | "done" | "waiting_on_subtasks";
    owner?: string;
    responsible?: string;
    sprintId?: string;
    search?: string;
    limit?: number;
    offset?: number;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Task[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/tasks${QS.query(QS.explode({
        status,
        owner,
        responsible,
        sprintId,
        search,
        limit,
        offset
    }))}`, {
        ...opts
    }));
}
/**
 * Create several tasks, all or none
 */
export function createTasks(projectId: string, body: {
    tasks: {
        title: string;
        description?: string;
        /** an agent: its id, or its name if no other agent of the project has it */
        owner?: string;
        status?: "backlog" | "ready";
        dependsOn?: string[];
        repositoryId?: string;
        sprintId?: string;
        /** create a GitHub issue for it */
        issue?: boolean;
        /** whether the agent proposes a plan first; null for the setting of the repository */
        planFirst?: boolean | null;
        /** the branch from which it starts and into which it goes; null for that of the repository */
        base?: string | null;
        /** of the queued runs of a project, those of the most urgent tasks begin first */
        priority?: "urgent" | "high" | "normal" | "low";
        ref?: string;
    }[];
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 201;
        data: Task[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/tasks/bulk`, oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    })));
}
/**
 * Count the tasks of a project by status
 */
export function countTasks(projectId: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: TaskStatistics;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/stats`, {
        ...opts
    }));
}
/**
 * Get a task
 */
export function getTask(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Task;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/tasks/${encodeURIComponent(id)}`, {
        ...opts
    }));
}
/**
 * Change a task
 */
export function updateTask(id: string, body?: {
    title?: string;
    description?: string;
    owner?: string | null;
    /** a member of the project; null for nobody until it is started again */
    responsible?: string | null;
    status?: "backlog" | "ready" | "in_progress" | "in_review" | "done" | "waiting_on_subtasks";
    /** of the queued runs of a project, those of the most urgent tasks begin first */
    priority?: "urgent" | "high" | "normal" | "low";
    dependsOn?: string[];
    repositoryId?: string;
    /** whether the agent proposes a plan first; null for the setting of the repository */
    planFirst?: boolean | null;
    /** the branch from which it starts and into which it goes; null for that of the repository */
    base?: string | null;
    /** replaces the whole budget; during a run it applies from the next turn */
    budget?: TaskBudget | null;
    /** the texts that you saw; 409 if somebody else has changed one of them since */
    replaces?: {
        title?: string;
        description?: string;
    };
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Task;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/tasks/${encodeURIComponent(id)}`, oazapfts.json({
        ...opts,
        method: "PATCH",
        body
    })));
}
/**
 * Delete a task and its subtasks
 */
export function deleteTask(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 204;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/tasks/${encodeURIComponent(id)}`, {
        ...opts,
        method: "DELETE"
    }));
}
/**
 * List the subtasks of a task, oldest first
 */
export function listSubtasks(id: string, { limit, offset }: {
    limit?: number;
    offset?: number;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Task[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/tasks/${encodeURIComponent(id)}/subtasks${QS.query(QS.explode({
        limit,
        offset
    }))}`, {
        ...opts
    }));
}
/**
 * Add a subtask; the task then waits for its subtasks
 */
export function createSubtask(id: string, body: {
    title: string;
    description?: string;
    /** whether to create an issue, as a sub-issue of that of the parent */
    issue?: boolean;
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 201;
        data: Task;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/tasks/${encodeURIComponent(id)}/subtasks`, oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    })));
}
/**
 * Get the changes of a task, from the merge base to the head of its branch
 */
export function getTaskDiff(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: TaskDiff;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/tasks/${encodeURIComponent(id)}/diff`, {
        ...opts
    }));
}
/**
 * List what each run of the task left for later runs
 */
export function listHandoffs(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: {
            handoffs: Handoff[];
        };
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/tasks/${encodeURIComponent(id)}/handoffs`, {
        ...opts
    }));
}
/**
 * List the pull requests of a task, oldest first
 */
export function listPullRequests(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: PullRequest[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/tasks/${encodeURIComponent(id)}/prs`, {
        ...opts
    }));
}
/**
 * List the open pull requests that git cannot merge together with those of a task, and tasks that may collide
 */
export function listCollisions(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Collisions;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/tasks/${encodeURIComponent(id)}/collisions`, {
        ...opts
    }));
}
/**
 * Get what the board of a project shows: its tasks, newest first, and the names of its agents and sprints
 */
export function getBoard(projectId: string, { ids, near, limit, offset }: {
    ids?: string;
    near?: string;
    limit?: number;
    offset?: number;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Board;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/board${QS.query(QS.explode({
        ids,
        near,
        limit,
        offset
    }))}`, {
        ...opts
    }));
}
/**
 * List the views of the board that the caller has saved, oldest first
 */
export function listViews(projectId: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: SavedView[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/views`, {
        ...opts
    }));
}
/**
 * Save a view of the board for the caller, or replace the one with this name
 */
export function saveView(projectId: string, name: string, body: {
    /** the query of the address of the board */
    query: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 204;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/views/${encodeURIComponent(name)}`, oazapfts.json({
        ...opts,
        method: "PUT",
        body
    })));
}
/**
 * Delete a view of the caller
 */
export function deleteView(projectId: string, name: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 204;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/views/${encodeURIComponent(name)}`, {
        ...opts,
        method: "DELETE"
    }));
}
/**
 * List the last messages of the chat about a task, oldest first. All members share the conversation
 */
export function listTaskChat(id: string, { limit, before }: {
    limit?: number;
    before?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: ChatMessage[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/tasks/${encodeURIComponent(id)}/chat${QS.query(QS.explode({
        limit,
        before
    }))}`, {
        ...opts
    }));
}
/**
 * Chat with the agent of a task. The agent can read the repository but changes nothing
 */
export function chatAboutTask(id: string, body: {
    message: string;
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: TaskReply;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 502;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/tasks/${encodeURIComponent(id)}/chat`, oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    })));
}
/**
 * Create a sprint
 */
export function createSprint(projectId: string, body: {
    name: string;
    goal?: string;
    startDate: string;
    endDate: string;
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 201;
        data: Sprint;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/sprints`, oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    })));
}
/**
 * List the sprints of a project, newest first
 */
export function listSprints(projectId: string, { status, limit, offset }: {
    status?: "planning" | "active" | "completed" | "cancelled";
    limit?: number;
    offset?: number;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: SprintEntry[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/sprints${QS.query(QS.explode({
        status,
        limit,
        offset
    }))}`, {
        ...opts
    }));
}
/**
 * Get the active sprint, or null
 */
export function getActiveSprint(projectId: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Sprint | null;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/sprints/active`, {
        ...opts
    }));
}
/**
 * Count the tasks completed in each of the last completed sprints, oldest first
 */
export function getVelocity(projectId: string, { count }: {
    count?: number;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: VelocityEntry[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/velocity${QS.query(QS.explode({
        count
    }))}`, {
        ...opts
    }));
}
/**
 * List the tasks without a sprint, newest first
 */
export function listBacklog(projectId: string, { limit, offset }: {
    limit?: number;
    offset?: number;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Task[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/backlog${QS.query(QS.explode({
        limit,
        offset
    }))}`, {
        ...opts
    }));
}
/**
 * Get a sprint
 */
export function getSprint(sprintId: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Sprint;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/sprints/${encodeURIComponent(sprintId)}`, {
        ...opts
    }));
}
/**
 * Change a sprint
 */
export function updateSprint(sprintId: string, body?: {
    name?: string;
    goal?: string;
    endDate?: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Sprint;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/sprints/${encodeURIComponent(sprintId)}`, oazapfts.json({
        ...opts,
        method: "PATCH",
        body
    })));
}
/**
 * Delete a sprint but keep its tasks. Deleting an active sprint requires `force=true` and the admin role
 */
export function deleteSprint(sprintId: string, { force }: {
    force?: boolean;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 204;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/sprints/${encodeURIComponent(sprintId)}${QS.query(QS.explode({
        force
    }))}`, {
        ...opts,
        method: "DELETE"
    }));
}
/**
 * Start a sprint. Its tasks start as soon as they have an owner and their dependencies are done
 */
export function startSprint(sprintId: string, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Sprint;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/sprints/${encodeURIComponent(sprintId)}/start`, {
        ...opts,
        method: "POST",
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    }));
}
/**
 * Complete a sprint. `unfinished` says where its unfinished tasks go
 */
export function completeSprint(sprintId: string, body?: {
    /** `backlog`, or the id of a planning sprint: where the unfinished tasks go */
    unfinished?: string;
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Sprint;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/sprints/${encodeURIComponent(sprintId)}/complete`, oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    })));
}
/**
 * Get the progress of a sprint, and a forecast of its end
 */
export function getSprintMetrics(sprintId: string, { without }: {
    without?: string | string[];
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: SprintMetrics;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/sprints/${encodeURIComponent(sprintId)}/metrics${QS.query(QS.explode({
        without
    }))}`, {
        ...opts
    }));
}
/**
 * Get the open tasks at the end of each day (UTC), with the ideal line and the band of the forecast
 */
export function getBurndown(sprintId: string, { ahead }: {
    ahead?: boolean;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: BurndownPoint[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/sprints/${encodeURIComponent(sprintId)}/burndown${QS.query(QS.explode({
        ahead
    }))}`, {
        ...opts
    }));
}
/**
 * Get the report of a completed sprint
 */
export function getDigest(sprintId: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Digest;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/sprints/${encodeURIComponent(sprintId)}/digest`, {
        ...opts
    }));
}
/**
 * List the tasks of a sprint, newest first
 */
export function listSprintTasks(sprintId: string, { status, limit, offset }: {
    status?: "backlog" | "ready" | "in_progress" | "in_review" | "done" | "waiting_on_subtasks";
    limit?: number;
    offset?: number;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Task[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/sprints/${encodeURIComponent(sprintId)}/tasks${QS.query(QS.explode({
        status,
        limit,
        offset
    }))}`, {
        ...opts
    }));
}
/**
 * Add a task with its subtasks to a sprint. They are removed from any other sprint
 */
export function addSprintTask(sprintId: string, body: {
    taskId: string;
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Task;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/sprints/${encodeURIComponent(sprintId)}/tasks`, oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    })));
}
/**
 * Add several tasks, all or none
 */
export function addSprintTasks(sprintId: string, body: {
    taskIds: string[];
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Task[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/sprints/${encodeURIComponent(sprintId)}/tasks/bulk`, oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    })));
}
/**
 * Remove a task with its subtasks from a sprint
 */
export function removeSprintTask(sprintId: string, taskId: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 204;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/sprints/${encodeURIComponent(sprintId)}/tasks/${encodeURIComponent(taskId)}`, {
        ...opts,
        method: "DELETE"
    }));
}
/**
 * List the last messages of the chat about a sprint, oldest first. All members share the conversation
 */
export function listSprintChat(sprintId: string, { limit, before }: {
    limit?: number;
    before?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: ChatMessage[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/sprints/${encodeURIComponent(sprintId)}/chat${QS.query(QS.explode({
        limit,
        before
    }))}`, {
        ...opts
    }));
}
/**
 * Chat with the Software Architect about a sprint
 */
export function chatAboutSprint(sprintId: string, body: {
    message: string;
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: SprintReply;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 502;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/sprints/${encodeURIComponent(sprintId)}/chat-with-dev-lead`, oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    })));
}
/**
 * List the planning sessions of a project, newest first
 */
export function listWizards(projectId: string, { limit, offset }: {
    limit?: number;
    offset?: number;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: WizardEntry[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/wizard${QS.query(QS.explode({
        limit,
        offset
    }))}`, {
        ...opts
    }));
}
/**
 * Start planning from a goal. The reply contains the first question
 */
export function startWizard(projectId: string, body: {
    goal: string;
    repositoryId?: string;
    /** the repositories to plan for; the first one is that of tasks without a repository */
    repositoryIds?: string[];
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 201;
        data: WizardStart;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 502;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/wizard/initialize`, oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    })));
}
/**
 * Write the requirements document from the answers
 */
export function generatePrd(projectId: string, body?: {
    sessionId?: string;
    /** what should be different this time */
    feedback?: string;
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: WizardSession;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 502;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/wizard/generate-prd`, oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    })));
}
/**
 * Write the plan from the requirements document
 */
export function generatePlan(projectId: string, body?: {
    sessionId?: string;
    /** what should be different this time */
    feedback?: string;
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: WizardSession;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 502;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/wizard/generate-plan`, oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    })));
}
/**
 * Write the tasks from the plan
 */
export function generateTasks(projectId: string, body?: {
    sessionId?: string;
    /** what should be different this time */
    feedback?: string;
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: WizardSession;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 502;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/wizard/generate-tasks`, oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    })));
}
/**
 * Create a sprint with its tasks, all or none
 */
export function createPlannedSprint(projectId: string, body: {
    name: string;
    goal?: string;
    tasks: {
        title: string;
        description?: string;
        owner?: string | null;
    }[];
    startDate?: string;
    endDate?: string;
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 201;
        data: PlannedSprint;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/wizard/create-sprint`, oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    })));
}
/**
 * Get the state of a planning session
 */
export function getWizard(projectId: string, sessionId: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: WizardSession;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/wizard/${encodeURIComponent(sessionId)}`, {
        ...opts
    }));
}
/**
 * Edit the requirements, the plan or the tasks by hand. Parts that are not given stay unchanged
 */
export function editWizard(projectId: string, sessionId: string, body?: {
    prd?: {
        title: string;
        markdown: string;
    };
    plan?: {
        phases: {
            name: string;
            goal?: string;
            reason?: string;
        }[];
    };
    tasks?: {
        ref: string;
        title: string;
        description?: string;
        owner?: string | null;
        ownerReason?: string | null;
        repositoryId?: string | null;
        dependsOn?: string[];
        /** ignored; tasks can be sent back as they were read */
        estimate?: any;
    }[];
    /** the `updatedAt` of the session that was edited; required with any part */
    updatedAt?: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: WizardSession;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/wizard/${encodeURIComponent(sessionId)}`, oazapfts.json({
        ...opts,
        method: "PATCH",
        body
    })));
}
/**
 * Delete a planning session. Its sprint stays
 */
export function deleteWizard(projectId: string, sessionId: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 204;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/wizard/${encodeURIComponent(sessionId)}`, {
        ...opts,
        method: "DELETE"
    }));
}
/**
 * Show other members that you edit a part of a plan, for as long as the stream is open
 */
export function showEditing(projectId: string, sessionId: string, part: "prd" | "plan" | "tasks", opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: string;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/wizard/${encodeURIComponent(sessionId)}/editing${QS.query(QS.explode({
        part
    }))}`, {
        ...opts
    }));
}
/**
 * Answer a question. A new answer to an earlier question discards everything after it
 */
export function answerWizard(projectId: string, sessionId: string, body: {
    answer: {
        stepId: string;
        selectedOptionIds?: string[];
        customText?: string;
    };
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: WizardSession;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 502;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/wizard/${encodeURIComponent(sessionId)}/answer`, oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    })));
}
/**
 * Create the sprint with all its tasks. If it is already created, return it with status 200
 */
export function finalizeWizard(projectId: string, sessionId: string, body?: {
    name?: string;
    startDate?: string;
    endDate?: string;
    /** the tasks to create instead of the planned ones, usually an edited version of them */
    tasks?: {
        ref: string;
        title: string;
        description?: string;
        owner?: string | null;
        ownerReason?: string | null;
        repositoryId?: string | null;
        dependsOn?: string[];
        /** ignored; tasks can be sent back as they were read */
        estimate?: any;
    }[];
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: PlannedSprint;
    } | {
        status: 201;
        data: PlannedSprint;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/wizard/${encodeURIComponent(sessionId)}/finalize`, oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    })));
}
/**
 * Start a task: its agent works on it and opens a pull request
 */
export function startTask(id: string, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Task;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 502;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/tasks/${encodeURIComponent(id)}/start`, {
        ...opts,
        method: "POST",
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    }));
}
/**
 * Retry a task whose latest run failed or was cancelled, on the same branch
 */
export function retryTask(id: string, body?: {
    text?: string;
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Task;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 502;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/tasks/${encodeURIComponent(id)}/retry`, oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    })));
}
/**
 * Request a change to work in review, or another plan or change while a run waits for approval. During any other unfinished run, the request waits for the next run
 */
export function reviseTask(id: string, body: {
    /** what should change; may be missing if there are comments */
    text?: string;
    /** comments on lines of the change; all texts together have at most 60,000 characters, all paths and quotes together 100,000 */
    comments?: NewReviewComment[];
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Task;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 502;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/tasks/${encodeURIComponent(id)}/revise`, oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    })));
}
/**
 * Cancel the run of a task. Its branch is kept
 */
export function cancelTask(id: string, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Task;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/tasks/${encodeURIComponent(id)}/cancel`, {
        ...opts,
        method: "POST",
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    }));
}
/**
 * Get what the tests of a task prove about its latest change
 */
export function getTaskProof(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Proof;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/tasks/${encodeURIComponent(id)}/proof`, {
        ...opts
    }));
}
/**
 * List the runs of a task, newest first
 */
export function listRuns(id: string, { limit, offset }: {
    limit?: number;
    offset?: number;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Run[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/tasks/${encodeURIComponent(id)}/runs${QS.query(QS.explode({
        limit,
        offset
    }))}`, {
        ...opts
    }));
}
/**
 * Get a run
 */
export function getRun(runId: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Run;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/runs/${encodeURIComponent(runId)}`, {
        ...opts
    }));
}
/**
 * Get the log of a run, oldest first
 */
export function listRunEvents(runId: string, { limit, offset }: {
    limit?: number;
    offset?: number;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: RunEvent[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/runs/${encodeURIComponent(runId)}/events${QS.query(QS.explode({
        limit,
        offset
    }))}`, {
        ...opts
    }));
}
/**
 * List the unfinished runs in all projects of the caller with what they do now: running ones first, then waiting and queued ones
 */
export function listSessions({ projectId, limit, offset }: {
    projectId?: string;
    limit?: number;
    offset?: number;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Session[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/me/sessions${QS.query(QS.explode({
        projectId,
        limit,
        offset
    }))}`, {
        ...opts
    }));
}
/**
 * List the runs of a project, newest first
 */
export function listProjectRuns(projectId: string, { limit, offset }: {
    limit?: number;
    offset?: number;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Session[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/runs${QS.query(QS.explode({
        limit,
        offset
    }))}`, {
        ...opts
    }));
}
/**
 * List the signed receipts of a run, one for each repository to which it pushed a pull request
 */
export function listRunReceipts(runId: string, { limit, offset }: {
    limit?: number;
    offset?: number;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Receipt[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/runs/${encodeURIComponent(runId)}/receipts${QS.query(QS.explode({
        limit,
        offset
    }))}`, {
        ...opts
    }));
}
/**
 * List the signed receipts of a pull request, newest first
 */
export function listReceipts(pullRequest: string, { limit, offset, projectId }: {
    limit?: number;
    offset?: number;
    projectId?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Receipt[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/receipts${QS.query(QS.explode({
        limit,
        offset,
        projectId,
        pullRequest
    }))}`, {
        ...opts
    }));
}
/**
 * Get a summary of the change of a task: its size, its checks and its proof
 */
export function getTaskChange(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: TaskChange;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/tasks/${encodeURIComponent(id)}/change`, {
        ...opts
    }));
}
/**
 * List the comments of people on lines of the change of a task, oldest first
 */
export function listReviewComments(id: string, { limit, offset }: {
    limit?: number;
    offset?: number;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: ReviewComment[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/tasks/${encodeURIComponent(id)}/review-comments${QS.query(QS.explode({
        limit,
        offset
    }))}`, {
        ...opts
    }));
}
/**
 * Review a pull request: an agent reads it and comments on at most ten of its changed lines. Nothing is pushed or approved
 */
export function reviewPullRequest(id: string, $number: string, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 202;
        data: Run;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 502;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/repositories/${encodeURIComponent(id)}/pulls/${encodeURIComponent($number)}/review`, {
        ...opts,
        method: "POST",
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    }));
}
/**
 * List the review comments that people found not useful, the latest first, at most 100; reviews are told of them
 */
export function listReviewExamples(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: ReviewExample[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/repositories/${encodeURIComponent(id)}/review-examples`, {
        ...opts
    }));
}
/**
 * Forget that a review comment was not useful
 */
export function forgetReviewExample(id: string, noteId: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 204;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/repositories/${encodeURIComponent(id)}/review-examples/${encodeURIComponent(noteId)}`, {
        ...opts,
        method: "DELETE"
    }));
}
/**
 * List what the tests of pull requests of people and other bots prove, the newest first
 */
export function listPullProofs(id: string, { limit, offset }: {
    limit?: number;
    offset?: number;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: PullProof[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/repositories/${encodeURIComponent(id)}/proofs${QS.query(QS.explode({
        limit,
        offset
    }))}`, {
        ...opts
    }));
}
/**
 * Get how many pull requests are proved by month, which checks are slow, and the address of the badge
 */
export function getProofFigures(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: ProofFigures;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/repositories/${encodeURIComponent(id)}/proof-figures`, {
        ...opts
    }));
}
/**
 * List the checks whose result differed between two tries on the same files, those that differed last first
 */
export function listFlaky(id: string, { limit, offset }: {
    limit?: number;
    offset?: number;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: FlakyCheck[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/repositories/${encodeURIComponent(id)}/flaky${QS.query(QS.explode({
        limit,
        offset
    }))}`, {
        ...opts
    }));
}
/**
 * Approve the plan or change of a waiting run. The run then carries out the plan or pushes the change
 */
export function approveTask(id: string, body?: {
    /** the id of `attention`; another one is refused */
    id?: string;
    /** the plan in Markdown as the caller changed it; the agent carries it out instead of its own */
    plan?: string;
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Task;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/tasks/${encodeURIComponent(id)}/approve`, oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    })));
}
/**
 * Answer the question of a run. The answer may be the number of an option
 */
export function answerTask(id: string, body: {
    text: string;
    /** the id of `attention`; another one is refused */
    id?: string;
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Task;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/tasks/${encodeURIComponent(id)}/answer`, oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    })));
}
/**
 * Send a message to the agent of an unfinished run. The agent reads it before its next turn
 */
export function sayToTask(id: string, body: {
    text: string;
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 202;
        data: Accepted;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/tasks/${encodeURIComponent(id)}/say`, oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    })));
}
/**
 * Pause the run of a task: at once while it is queued, otherwise after the current turn of its agent
 */
export function pauseTask(id: string, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Task;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/tasks/${encodeURIComponent(id)}/pause`, {
        ...opts,
        method: "POST",
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    }));
}
/**
 * Let a paused run continue
 */
export function resumeTask(id: string, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Task;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/tasks/${encodeURIComponent(id)}/resume`, {
        ...opts,
        method: "POST",
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    }));
}
/**
 * Go back to a turn of a run: a new run goes on with its conversation and files, on the same branch
 */
export function rewindTask(id: string, body: {
    /** a run of the task */
    runId: string;
    /** the turn after which the new run goes on, numbered from 1 */
    turn: number;
    /** what the agent reads next */
    text?: string;
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Task;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 502;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/tasks/${encodeURIComponent(id)}/rewind`, oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    })));
}
/**
 * Get what an undo of a task would revert, or why it is not possible
 */
export function getUndo(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: UndoPlan;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/tasks/${encodeURIComponent(id)}/undo`, {
        ...opts
    }));
}
/**
 * Undo a task: a new task reverts its merged pull requests in all repositories, the one that was merged last first
 */
export function undoTask(id: string, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 201;
        data: Task;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 502;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/tasks/${encodeURIComponent(id)}/undo`, {
        ...opts,
        method: "POST",
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    }));
}
/**
 * Get what a task will probably cost and how long it takes, from similar finished tasks of its project
 */
export function getQuote(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Quote;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/tasks/${encodeURIComponent(id)}/quote`, {
        ...opts
    }));
}
/**
 * Get how well the quotes of the latest 200 finished tasks held, with the quotes, the latest first
 */
export function listQuotes(projectId: string, { limit, offset }: {
    limit?: number;
    offset?: number;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: PastQuotes;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/quotes${QS.query(QS.explode({
        limit,
        offset
    }))}`, {
        ...opts
    }));
}
/**
 * List the turns of a run, oldest first, without credentials
 */
export function listRunTurns(runId: string, { limit, offset }: {
    limit?: number;
    offset?: number;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: RunTurn[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/runs/${encodeURIComponent(runId)}/turns${QS.query(QS.explode({
        limit,
        offset
    }))}`, {
        ...opts
    }));
}
/**
 * Get what a project has used: runs, reviews, trials, chats and planning, by day and by agent, or by person, model, sprint or repository, and its budget of a day
 */
export function getSpend(projectId: string, { days, by }: {
    days?: number;
    by?: "day" | "agent" | "person" | "model" | "sprint" | "repository";
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Spend;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/spend${QS.query(QS.explode({
        days,
        by
    }))}`, {
        ...opts
    }));
}
/**
 * Try an agent on the benchmark of a repository, alone or compared with another one
 */
export function startTrial(id: string, body: {
    repositoryId: string;
    /** how many items to try; fewer if the benchmark has fewer */
    items?: number;
    /** another agent or version, which tries the same items */
    against?: string;
    /** instead of the agent's own */
    model?: string;
    /** a prompt that the agent does not have yet; without `against` it is compared with its own */
    systemPrompt?: string;
    budget: {
        costUsd: number;
    };
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 202;
        data: AgentTrial;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/agents/${encodeURIComponent(id)}/trials`, oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    })));
}
/**
 * List the trials of an agent, in all of its versions, the latest first
 */
export function listTrials(id: string, { limit, offset }: {
    limit?: number;
    offset?: number;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: AgentTrial[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/agents/${encodeURIComponent(id)}/trials${QS.query(QS.explode({
        limit,
        offset
    }))}`, {
        ...opts
    }));
}
/**
 * Estimate what a trial of an agent costs, from its earlier runs
 */
export function estimateTrial(id: string, repositoryId: string, { items, against, model }: {
    items?: number;
    against?: string;
    model?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: TrialEstimate;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/agents/${encodeURIComponent(id)}/trials/estimate${QS.query(QS.explode({
        repositoryId,
        items,
        against,
        model
    }))}`, {
        ...opts
    }));
}
/**
 * Get a trial of an agent with its results
 */
export function getTrial(trialId: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: AgentTrial;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/trials/${encodeURIComponent(trialId)}`, {
        ...opts
    }));
}
/**
 * Cancel a trial of an agent. What it has found out stays
 */
export function cancelTrial(trialId: string, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: AgentTrial;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/trials/${encodeURIComponent(trialId)}/cancel`, {
        ...opts,
        method: "POST",
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    }));
}
/**
 * Compare the agents and models that were tried on a repository: how much they solve, and at what cost
 */
export function getPortfolio(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Portfolio;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/repositories/${encodeURIComponent(id)}/portfolio`, {
        ...opts
    }));
}
/**
 * List what happened to a task and who did it, newest first
 */
export function listTaskTimeline(id: string, { limit, offset }: {
    limit?: number;
    offset?: number;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: TimelineEntry[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/tasks/${encodeURIComponent(id)}/timeline${QS.query(QS.explode({
        limit,
        offset
    }))}`, {
        ...opts
    }));
}
/**
 * Make a benchmark of the history: look for merged changes whose tests fail before and pass after them. It takes an hour at most, and no model is asked
 */
export function startHarvest(id: string, body?: {
    /** the number of usable items after which the harvest ends */
    most?: number;
    /** leaves older changes alone: a date or a time */
    since?: (string) | null;
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 202;
        data: Benchmark;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/repositories/${encodeURIComponent(id)}/benchmark`, oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    })));
}
/**
 * Get the benchmark of a repository: earlier changes as tasks with hidden tests
 */
export function getBenchmark(id: string, { limit, offset }: {
    limit?: number;
    offset?: number;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Benchmark;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/repositories/${encodeURIComponent(id)}/benchmark${QS.query(QS.explode({
        limit,
        offset
    }))}`, {
        ...opts
    }));
}
/**
 * Switch an item of a benchmark on or off, for the trials that begin from now on
 */
export function switchBenchmarkItem(id: string, itemId: string, body: {
    enabled: boolean;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: BenchmarkItem;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/repositories/${encodeURIComponent(id)}/benchmark/items/${encodeURIComponent(itemId)}`, oazapfts.json({
        ...opts,
        method: "PATCH",
        body
    })));
}
/**
 * Cancel a sprint and its runs. Its unfinished tasks are removed from it
 */
export function cancelSprint(sprintId: string, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Sprint;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/sprints/${encodeURIComponent(sprintId)}/cancel`, {
        ...opts,
        method: "POST",
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    }));
}
/**
 * List the automations of a project, oldest first
 */
export function listAutomations(projectId: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Automation[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/automations`, {
        ...opts
    }));
}
/**
 * Create an automation, which creates tasks at times or after events. They have the rights of the caller
 */
export function createAutomation(projectId: string, body: {
    name: string;
    on: AutomationTrigger;
    task: {
        /** may contain fields such as `{{ issue.title }}`, which are quoted */
        title: string;
        /** may contain fields such as `{{ issue.body }}`, which are quoted */
        description?: string;
        /** the agent: its id, or its name if no other agent of the project has it */
        owner: string;
        /** where the task is done, and whose events count */
        repositoryId: string;
        /** the branch from which the task starts; null for the default */
        base?: string | null;
        planFirst?: boolean | null;
        /** start a run at once. Without it, the task waits in the backlog for a person */
        start?: boolean;
    };
    enabled?: boolean;
    /** the automation is switched off when it would make more tasks in a day */
    mostPerDay?: number;
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 201;
        data: Automation;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 502;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/automations`, oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    })));
}
/**
 * Find out how many tasks an automation with this trigger would have made in the last week, from its schedule or from the events that arrived
 */
export function tryAutomation(projectId: string, { cron, timezone, event, label, author, branch, repositoryId }: {
    cron?: string;
    timezone?: string;
    event?: "issue.opened" | "issue.labeled" | "pull_request.opened" | "pull_request.labeled" | "checks.failed" | "release.published" | "push";
    label?: string;
    author?: string;
    branch?: string;
    repositoryId?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: AutomationTrial;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/automations/trial${QS.query(QS.explode({
        cron,
        timezone,
        event,
        label,
        author,
        branch,
        repositoryId
    }))}`, {
        ...opts
    }));
}
/**
 * Change an automation. From then on, its tasks have the rights of the caller
 */
export function updateAutomation(projectId: string, automationId: string, body?: {
    name?: string;
    /** replaces the whole trigger */
    on?: AutomationTrigger;
    /** fields that are left out stay */
    task?: {
        /** may contain fields such as `{{ issue.title }}`, which are quoted */
        title?: string;
        /** may contain fields such as `{{ issue.body }}`, which are quoted */
        description?: string;
        /** the agent: its id, or its name if no other agent of the project has it */
        owner?: string;
        /** where the task is done, and whose events count */
        repositoryId?: string;
        /** the branch from which the task starts; null for the default */
        base?: string | null;
        planFirst?: boolean | null;
        /** start a run at once. Without it, the task waits in the backlog for a person */
        start?: boolean;
    };
    enabled?: boolean;
    /** the automation is switched off when it would make more tasks in a day */
    mostPerDay?: number;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Automation;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 502;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/automations/${encodeURIComponent(automationId)}`, oazapfts.json({
        ...opts,
        method: "PATCH",
        body
    })));
}
/**
 * Delete an automation. Its tasks stay
 */
export function deleteAutomation(projectId: string, automationId: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 204;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/automations/${encodeURIComponent(automationId)}`, {
        ...opts,
        method: "DELETE"
    }));
}
/**
 * Make the task of an automation now, even if it is switched off. `last` has the task or the problem. The task counts against `mostPerDay`
 */
export function runAutomation(projectId: string, automationId: string, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 202;
        data: Automation;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/automations/${encodeURIComponent(automationId)}/run`, {
        ...opts,
        method: "POST",
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    }));
}
/**
 * List the open pull requests of others that close or mention the issue of a task. A start does not ask for them
 */
export function listOtherWork(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: OtherWork[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 502;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/tasks/${encodeURIComponent(id)}/other-work`, {
        ...opts
    }));
}
/**
 * Get what a merge of a task by you will do, and any problems with it
 */
export function getMergeReadiness(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: MergeReadiness;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/tasks/${encodeURIComponent(id)}/merge-readiness`, {
        ...opts
    }));
}
/**
 * Merge the open pull requests of a task. Needs write permission in each of their repositories on GitHub
 */
export function mergeTask(id: string, mergeTask?: MergeTask, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Task;
    } | {
        status: 202;
        data: Task;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 502;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/tasks/${encodeURIComponent(id)}/merge`, oazapfts.json({
        ...opts,
        method: "POST",
        body: mergeTask,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    })));
}
/**
 * Take back that GitHub merges the pull requests of a task when they are ready. Needs write permission there
 */
export function stopMergingTask(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 204;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 502;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/tasks/${encodeURIComponent(id)}/merge`, {
        ...opts,
        method: "DELETE"
    }));
}
/**
 * Recover stuck tasks of the caller's projects, and compare them with GitHub
 */
export function reconcileTasks({ idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Reconciliation;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>("/agents/pool/reconcile", {
        ...opts,
        method: "POST",
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    }));
}
/**
 * List past reconciliations and what they recovered, newest first
 */
export function listReconciliations({ limit, offset }: {
    limit?: number;
    offset?: number;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: Reconciliation[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/agents/pool/reconciliations${QS.query(QS.explode({
        limit,
        offset
    }))}`, {
        ...opts
    }));
}
/**
 * List the repositories that the GitHub App reaches, in the account of the project and in those that the caller administers; at most 1,000
 */
export function listInstalledRepositories(projectId: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: InstalledRepository[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 502;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/projects/${encodeURIComponent(projectId)}/installed-repositories`, {
        ...opts
    }));
}
/**
 * List the open issues of a repository on GitHub, newest first; at most 300
 */
export function listOpenIssues(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: OpenIssue[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 502;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/repositories/${encodeURIComponent(id)}/issues`, {
        ...opts
    }));
}
/**
 * Create a task for each of these issues that is open and has none
 */
export function importIssues(id: string, body: {
    numbers: number[];
    status?: "backlog" | "ready";
    owner?: string;
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: ImportedIssues;
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 403;
        data: ErrorReply;
    } | {
        status: 404;
        data: ErrorReply;
    } | {
        status: 409;
        data: ErrorReply;
    } | {
        status: 413;
        data: ErrorReply;
    } | {
        status: 415;
        data: ErrorReply;
    } | {
        status: 422;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 502;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/repositories/${encodeURIComponent(id)}/issues`, oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    })));
}
/**
 * Read several addresses with one request, at most 20; the replies are in the same order
 */
export function readSeveral($get: string | string[], opts?: Oazapfts.RequestOpts) {
    return oazapfts.ok(oazapfts.fetchJson<{
        status: 200;
        data: BatchReply[];
    } | {
        status: 400;
        data: ErrorReply;
    } | {
        status: 401;
        data: ErrorReply;
    } | {
        status: 429;
        data: ErrorReply;
    } | {
        status: 503;
        data: ErrorReply;
    }>(`/batch${QS.query(QS.explode({
        "get": $get
    }))}`, {
        ...opts
    }));
}
