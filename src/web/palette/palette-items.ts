import {
  BeakerIcon,
  BellIcon,
  BookIcon,
  ClockIcon,
  CreditCardIcon,
  DeviceDesktopIcon,
  FileIcon,
  HomeIcon,
  type Icon,
  IssueOpenedIcon,
  IterationsIcon,
  KeyIcon,
  MoonIcon,
  PlusIcon,
  ProjectIcon,
  SunIcon,
} from '@primer/octicons-react';
import type { AgentEntry, Project, SprintEntry, Task } from '../api.ts';
import { pagesOf } from '../frame/project-nav.tsx';
import { storeTheme, type Theme } from '../frame/theme.ts';
import type { Recent } from './recent.ts';

/** Something that the palette offers: it either leads to a page or does something. */
export interface Item {
  id: string;
  kind: 'action' | Recent['kind'];
  text: string;
  icon: Icon;
  to?: string;
  run?: () => void;
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

/** Returns what can be opened or created in a project. */
export function projectItems(projectId: string): Item[] {
  const project = `/projects/${projectId}`;
  const action = (text: string, to: string): Item => ({
    id: `action ${text}`,
    kind: 'action',
    text,
    icon: PlusIcon,
    to,
  });
  return [
    action('New task', `${project}?new=one`),
    action('Paste a list of tasks', `${project}/backlog?new=many`),
    action('New sprint', `${project}/sprints?new=one`),
    action('New agent', `${project}/agents?new=one`),
    action('Plan a goal', `${project}/plan`),
    ...pagesOf(project).map(({ name, to, icon }) => ({
      id: `page ${to}`,
      kind: 'page' as const,
      text: name,
      icon,
      to,
    })),
  ];
}

/** Returns what can be opened or changed on every page. */
export function generalItems(showKeys: () => void): Item[] {
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
    page('Spend of all projects', '/spend', CreditCardIcon),
    page('API tokens', '/settings/tokens', KeyIcon),
    { id: 'action keys', kind: 'action', text: 'Show keyboard shortcuts', icon: BookIcon, run: showKeys },
    theme('auto', 'Use the system theme', DeviceDesktopIcon),
    theme('light', 'Use the light theme', SunIcon),
    theme('dark', 'Use the dark theme', MoonIcon),
  ];
}

const item = (kind: Recent['kind'], id: string, text: string, to: string): Item => ({
  id: `${kind} ${id}`,
  kind,
  text,
  icon: icons[kind],
  to,
});

export const recentItem = (recent: Recent): Item => ({ ...recent, icon: ClockIcon });
export const projectItem = ({ id, name }: Project): Item => item('project', id, name, `/projects/${id}`);
/** The service found the task by its title or its description. */
export const taskItem = ({ id, title }: Task): Item => ({ ...item('task', id, title, `/tasks/${id}`), isFound: true });
export const sprintItem = ({ id, name }: SprintEntry): Item => item('sprint', id, name, `/sprints/${id}`);
export const agentItem =
  (projectId: string) =>
  ({ id, name }: AgentEntry): Item =>
    item('agent', id, name, `/projects/${projectId}/agents/${id}`);
