import {
  BeakerIcon,
  BellIcon,
  BookIcon,
  ClockIcon,
  CpuIcon,
  CreditCardIcon,
  DeviceDesktopIcon,
  FileIcon,
  GearIcon,
  HomeIcon,
  type Icon,
  IssueOpenedIcon,
  IterationsIcon,
  KeyIcon,
  MailIcon,
  MoonIcon,
  PlusIcon,
  ProjectIcon,
  SignOutIcon,
  SunIcon,
} from '@primer/octicons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { hasRole } from '../../domain/agent.ts';
import type { AgentEntry, Project, SprintEntry, Task } from '../api.ts';
import { useMay } from '../forms/may.tsx';
import { usePaused } from '../forms/use-paused.ts';
import { pagesOf } from '../frame/project-nav.tsx';
import { storeTheme, type Theme } from '../frame/theme.ts';
import * as agentQueries from '../live/queries/agents.ts';
import * as queries from '../live/queries.ts';
import { rank } from './rank.ts';
import { listRecent, type Recent } from './recent.ts';

/** Something that the palette offers: it either leads to a page or does something. */
export interface Item {
  id: string;
  kind: 'action' | Recent['kind'];
  text: string;
  icon: Icon;
  to?: string;
  run?: () => void;
  words?: string;
  isFound?: boolean;
}

/** The names of the kinds, shown beside each item. */
export const kindNames: Record<Item['kind'], string> = {
  action: 'Action',
  page: 'Page',
  project: 'Project',
  task: 'Task',
  agent: 'Agent',
  sprint: 'Sprint',
};

const icons: Record<Recent['kind'], Icon> = {
  page: FileIcon,
  project: ProjectIcon,
  task: IssueOpenedIcon,
  agent: BeakerIcon,
  sprint: IterationsIcon,
};

/** Returns what can be opened in a project, and created by those who may. */
function projectItems(projectId: string, { mayCreate, isAdmin }: { mayCreate: boolean; isAdmin: boolean }): Item[] {
  const project = `/projects/${projectId}`;
  const action = (text: string, to: string): Item => ({
    id: `action ${text}`,
    kind: 'action',
    text,
    icon: PlusIcon,
    to,
  });
  const actions = [
    action('New task', `${project}?new=one`),
    action('Paste a list of tasks', `${project}/backlog?new=many`),
    action('New sprint', `${project}/sprints?new=one`),
    action('New agent', `${project}/agents?new=one`),
    action('Plan a goal', `${project}/plan`),
  ];
  return [
    ...(mayCreate ? actions : []),
    ...pagesOf(project).map(({ name, to, icon }) => ({
      id: `page ${to}`,
      kind: 'page' as const,
      text: name,
      icon,
      to,
      ...(wordsOfPages[name] === undefined ? {} : { words: wordsOfPages[name] }),
    })),
    ...(isAdmin ? partsForAdmins(`${project}/settings`) : []),
    { id: 'page trials', kind: 'page', text: 'Trials of agents', icon: BeakerIcon, to: `${project}/agents` },
    {
      id: 'page benchmarks',
      kind: 'page',
      text: 'Benchmarks of repositories',
      icon: BeakerIcon,
      to: `${project}/repositories`,
    },
  ];
}

/** Other words for the pages of a project. */
const wordsOfPages: Record<string, string> = {
  Members: 'invite people roles permissions',
  Repositories: 'import issues connect',
  Settings: 'budgets limits',
  Spend: 'budget costs price',
};

/** Returns the parts of the settings that only admins see. */
function partsForAdmins(settings: string): Item[] {
  const part = (text: string, at: string, words: string): Item => ({
    ...{ id: `page ${settings}${at}`, kind: 'page', text, icon: GearIcon, to: `${settings}${at}`, words },
  });
  return [
    part('Audit log', '/audit', 'who changed what history'),
    part('MCP servers', '#mcp-servers', 'tools'),
    part('Webhooks', '#webhooks', 'notify'),
    part('Environment secrets', '#environment-secrets', 'variables'),
    part('Git token', '#git-token', 'credentials'),
    part('Model token', '#model-token', 'api key credentials'),
  ];
}

/** Returns what can be opened or changed on every page. */
function generalItems({ showKeys, signOut }: { showKeys(): void; signOut(): void }): Item[] {
  const page = (text: string, to: string, icon: Icon): Item => ({ id: `page ${to}`, kind: 'page', text, icon, to });
  const theme = (name: Theme, text: string, icon: Icon): Item => ({
    id: `theme ${name}`,
    kind: 'action',
    text,
    icon,
    run: () => storeTheme(name),
  });
  return [
    page('Inbox', '/', BellIcon),
    page('Projects', '/projects', HomeIcon),
    page('Sessions of all projects', '/sessions', CpuIcon),
    page('Spend of all projects', '/spend', CreditCardIcon),
    page('Mail', '/settings/mail', MailIcon),
    page('API tokens', '/settings/tokens', KeyIcon),
    { id: 'action keys', kind: 'action', text: 'Show keyboard shortcuts', icon: BookIcon, run: showKeys },
    theme('auto', 'Use the system theme', DeviceDesktopIcon),
    theme('light', 'Use the light theme', SunIcon),
    theme('dark', 'Use the dark theme', MoonIcon),
    {
      id: 'action sign out',
      kind: 'action',
      text: 'Sign out',
      icon: SignOutIcon,
      words: 'log out logout',
      run: signOut,
    },
  ];
}

const item = (kind: Recent['kind'], id: string, text: string, to: string): Item => ({
  id: `${kind} ${id}`,
  kind,
  text,
  icon: icons[kind],
  to,
});

const recentItem = (recent: Recent): Item => ({ ...recent, icon: ClockIcon });
const projectItem = ({ id, name }: Project): Item => item('project', id, name, `/projects/${id}`);
/** Within a project, Board is one of its pages. */
const boardItem = ({ id, name }: Project): Item => item('page', `board ${id}`, `Board of ${name}`, `/projects/${id}`);
const newTaskItem = ({ id, name }: Project): Item => ({
  id: `action new task ${id}`,
  kind: 'action',
  text: `New task in ${name}`,
  icon: PlusIcon,
  to: `/projects/${id}?new=one`,
});
/** The service found the task by its title or its description. */
const taskItem = ({ id, title }: Task): Item => ({ ...item('task', id, title, `/tasks/${id}`), isFound: true });
const sprintItem = ({ id, name }: SprintEntry): Item => item('sprint', id, name, `/sprints/${id}`);
const agentItem =
  (projectId: string) =>
  ({ id, name }: AgentEntry): Item =>
    item('agent', id, name, `/projects/${projectId}/agents/${id}`);

/** Returns what is offered for each project outside of projects. */
const ofProjects = (projects: Project[]): Item[] => [
  ...projects.filter(({ role }) => hasRole(role, 'member')).map(newTaskItem),
  ...projects.map(boardItem),
];

const maxShown = 12;
/** Shorter texts are in most tasks. */
const minSearch = 2;

/** Returns what the palette shows for a search: projects, tasks, agents, sprints, pages and actions. */
export function useItems(props: {
  person: string;
  projectId: string | undefined;
  search: string;
  /** Actions on what the page shows. */
  pageItems: Item[];
  showKeys(): void;
  signOut(): void;
}): { items: Item[]; isSearching: boolean } {
  const { person, projectId, search, pageItems, showKeys, signOut } = props;
  const [recent] = useState(() => listRecent(localStorage, person));
  // Outside of projects, the one that was used last is searched.
  const lastProject = recent.find(({ kind }) => kind === 'project')?.id.slice('project '.length);
  const where = projectId ?? lastProject ?? '';
  const mayCreate = useMay('member');
  const isAdmin = useMay('admin');
  const hasProject = where !== '';
  const projects = useQuery(queries.projects());
  const agents = useQuery({ ...agentQueries.agentsOf(where), enabled: hasProject });
  const sprints = useQuery({ ...queries.sprints(where), enabled: hasProject });
  const searched = usePaused(search.trim());
  const isLong = searched.length >= minSearch;
  const found = useQuery({
    ...queries.taskSearch(where, searched),
    enabled: hasProject && isLong,
    placeholderData: keepPreviousData,
  });
  const tasks = isLong ? (found.data ?? []) : [];
  const known = [
    ...pageItems,
    ...(projectId === undefined ? [] : projectItems(projectId, { mayCreate, isAdmin })),
    ...generalItems({ showKeys, signOut }),
    ...tasks.map(taskItem),
    ...(projects.data ?? []).map(projectItem),
    ...(projectId === undefined ? ofProjects(projects.data ?? []) : []),
    ...(agents.data ?? []).map(agentItem(where)),
    ...(sprints.data ?? []).map(sprintItem),
  ];
  const ids = new Set(known.map(({ id }) => id));
  const all = [...known, ...recent.filter(({ id }) => !ids.has(id)).map(recentItem)];
  const recentIds = recent.map(({ id }) => id);
  const items = rank(useDeferredValue(search), all, recentIds, maxShown);
  return { items, isSearching: hasProject && isLong && (found.isFetching || searched !== search.trim()) };
}
