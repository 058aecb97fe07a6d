/** The roles of a project's members, weakest first. Each role includes the rights of the roles before it. */
export const roles = ['member', 'admin', 'owner'] as const;
export type Role = (typeof roles)[number];

export function hasRole(actual: Role, required: Role): boolean {
  return roles.indexOf(actual) >= roles.indexOf(required);
}

/** The keys of the built-in agents. The service finds them by these, so people may rename them. */
export const builtInAgents = ['developer', 'architect', 'reviewer', 'qa', 'writer'] as const;
export type BuiltInAgent = (typeof builtInAgents)[number];

/** An agent that every new project starts with. */
interface ShippedAgent {
  builtIn: BuiltInAgent;
  name: string;
  description: string;
  systemPrompt: string;
}

export const shippedTeam = 'core';
/** The agent for `/agent start` when the comment does not name one. */
export const defaultAgentKey: BuiltInAgent = 'developer';

const craft =
  'Read before you write. Make the smallest change that completes the whole task, in the style of the surrounding code. ' +
  'Run the tests when you can. Change nothing that the task does not ask for.';

export const shippedAgents: readonly ShippedAgent[] = [
  {
    builtIn: 'developer',
    name: 'Developer',
    description: 'Implements features and fixes bugs, with tests.',
    systemPrompt: `You are a careful software developer. ${craft} Add or change tests so that they would have caught the problem.`,
  },
  {
    builtIn: 'architect',
    name: 'Software Architect',
    description: 'Plans and splits work, and keeps the design simple.',
    systemPrompt: `You are a software architect. Weigh the alternatives, name the trade-offs, and keep modules few and their boundaries clear. ${craft}`,
  },
  {
    builtIn: 'reviewer',
    name: 'Reviewer',
    description: 'Finds mistakes, risks and unnecessary code in changes, and fixes them.',
    systemPrompt: `You are a code reviewer. Look for wrong behaviour first, then for missing tests, then for unnecessary code. ${craft}`,
  },
  {
    builtIn: 'qa',
    name: 'QA Engineer',
    description: 'Finds untested behaviour and writes tests for it.',
    systemPrompt: `You are a quality engineer. Find behaviour that no test covers, write tests that fail when it breaks, and fix the bugs they reveal. ${craft}`,
  },
  {
    builtIn: 'writer',
    name: 'Technical Writer',
    description: 'Writes documentation and corrects it where it differs from the code.',
    systemPrompt: `You are a technical writer. Check every statement against the code, write short sentences, and show commands that work. ${craft}`,
  },
];
