import {
  BeakerIcon,
  CpuIcon,
  DeviceDesktopIcon,
  GearIcon,
  InboxIcon,
  IterationsIcon,
  MoonIcon,
  PeopleIcon,
  ProjectIcon,
  RepoIcon,
  SunIcon,
  TelescopeIcon,
} from '@primer/octicons-react';
import { ActionList, ActionMenu, Avatar, IconButton, UnderlineNav } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, Outlet, useLocation, useParams } from 'react-router';
import { Loading, Shown } from '../display/query-result.tsx';
import { useProjectEvents } from '../live/project-events.ts';
import * as q from '../live/queries.ts';
import { isGone } from '../live/query-client.ts';
import { notifyError } from './notices.tsx';
import { chooseTheme, chosenTheme, type Theme } from './theme.ts';

/** What stands around every page: where one is, where one can go, who one is. */
export function Shell() {
  const person = useQuery(q.me());
  const projectId = useProjectHere();
  const stream = useProjectEvents(projectId);
  return (
    <>
      <a href="#content" className="skip">
        Skip to content
      </a>
      <header>
        <div className="top">
          <Link to="/" className="brand">
            <img src="/icon.svg" alt="" width="24" height="24" /> Deckhand
          </Link>
          {projectId && <ProjectName id={projectId} />}
          <span className="grow" />
          {projectId && stream === 'lost' && (
            <output className="muted" title="Changes show once the connection is back">
              reconnecting …
            </output>
          )}
          <ThemeMenu />
          {person.data && <PersonMenu login={person.data.login} avatarUrl={person.data.avatarUrl} />}
        </div>
        {projectId && <ProjectNav id={projectId} />}
      </header>
      <main id="content" className="page">
        <Shown of={person} isPage>
          {() => (stream === 'opening' ? <Loading /> : <Inside projectId={projectId} />)}
        </Shown>
      </main>
    </>
  );
}

/** The page, unless the project of the address is closed to whoever asks. */
function Inside({ projectId }: { projectId: string | undefined }) {
  const project = useQuery({ ...q.project(projectId ?? ''), enabled: projectId !== undefined });
  if (projectId === undefined || !isGone(project.error)) return <Outlet />;
  return (
    <Shown of={project} isPage>
      {() => null}
    </Shown>
  );
}

/** The project of the address, also where that names a task or a sprint. */
function useProjectHere(): string | undefined {
  const { projectId, taskId, sprintId } = useParams();
  const task = useQuery({ ...q.task(taskId ?? ''), enabled: taskId !== undefined });
  const sprint = useQuery({ ...q.sprint(sprintId ?? ''), enabled: sprintId !== undefined });
  return projectId ?? task.data?.projectId ?? sprint.data?.projectId;
}

function ProjectName({ id }: { id: string }) {
  const { data } = useQuery(q.project(id));
  return (
    <Link to={`/projects/${id}`} className="project-name">
      {data?.name ?? ''}
    </Link>
  );
}

function ProjectNav({ id }: { id: string }) {
  const { pathname } = useLocation();
  const base = `/projects/${id}`;
  const items = [
    { name: 'Board', to: base, icon: ProjectIcon, also: '/tasks/' },
    { name: 'Backlog', to: `${base}/backlog`, icon: InboxIcon },
    { name: 'Sprints', to: `${base}/sprints`, icon: IterationsIcon, also: '/sprints/' },
    { name: 'Plan', to: `${base}/plan`, icon: TelescopeIcon },
    { name: 'Agents', to: `${base}/agents`, icon: BeakerIcon },
    { name: 'Pool', to: `${base}/pool`, icon: CpuIcon },
    { name: 'Repositories', to: `${base}/repositories`, icon: RepoIcon },
    { name: 'Members', to: `${base}/members`, icon: PeopleIcon },
    { name: 'Settings', to: `${base}/settings`, icon: GearIcon },
  ];
  return (
    <UnderlineNav aria-label="Project">
      {items.map(({ name, to, icon, also }) => {
        const isHere = pathname === to || (to !== base && pathname.startsWith(`${to}/`));
        const isCurrent = isHere || (also !== undefined && pathname.startsWith(also));
        return (
          <UnderlineNav.Item
            key={name}
            as={Link}
            to={to}
            icon={icon}
            {...(isCurrent ? { 'aria-current': 'page' } : {})}
          >
            {name}
          </UnderlineNav.Item>
        );
      })}
    </UnderlineNav>
  );
}

const themes = [
  { theme: 'auto', name: 'As the system', icon: DeviceDesktopIcon },
  { theme: 'light', name: 'Light', icon: SunIcon },
  { theme: 'dark', name: 'Dark', icon: MoonIcon },
] as const;

function ThemeMenu() {
  const [theme, setTheme] = useState(chosenTheme);
  const choose = (chosen: Theme) => {
    chooseTheme(chosen);
    setTheme(chosen);
  };
  const icon = themes.find((t) => t.theme === theme)?.icon ?? DeviceDesktopIcon;
  return (
    <ActionMenu>
      <ActionMenu.Anchor>
        <IconButton icon={icon} aria-label="Colours" variant="invisible" />
      </ActionMenu.Anchor>
      <ActionMenu.Overlay>
        <ActionList selectionVariant="single">
          {themes.map(({ theme: each, name, icon: Icon }) => (
            <ActionList.Item key={each} selected={each === theme} onSelect={() => choose(each)}>
              <ActionList.LeadingVisual>
                <Icon />
              </ActionList.LeadingVisual>
              {name}
            </ActionList.Item>
          ))}
        </ActionList>
      </ActionMenu.Overlay>
    </ActionMenu>
  );
}

function PersonMenu({ login, avatarUrl }: { login: string; avatarUrl: string }) {
  const [isBroken, setBroken] = useState(avatarUrl === '');
  return (
    <ActionMenu>
      <ActionMenu.Anchor>
        <button type="button" className="person" aria-label={`Signed in as ${login}`}>
          {isBroken ? (
            <span className="initial">{login.slice(0, 1)}</span>
          ) : (
            <Avatar src={avatarUrl} alt="" onError={() => setBroken(true)} />
          )}
        </button>
      </ActionMenu.Anchor>
      <ActionMenu.Overlay align="end">
        <ActionList>
          <ActionList.LinkItem as={Link} to="/settings/tokens">
            API tokens
          </ActionList.LinkItem>
          <ActionList.LinkItem href="/api/v1/docs/">API documentation</ActionList.LinkItem>
          <ActionList.Divider />
          <ActionList.Item onSelect={signOut}>Sign out</ActionList.Item>
        </ActionList>
      </ActionMenu.Overlay>
    </ActionMenu>
  );
}

async function signOut(): Promise<void> {
  try {
    const { type, ok } = await fetch('/logout', { method: 'POST', redirect: 'manual' });
    if (type !== 'opaqueredirect' && !ok) throw new Error('You are still signed in. Try again.');
    // What the next person at this browser must not find.
    sessionStorage.clear();
    window.location.assign('/login');
  } catch (error) {
    notifyError(error);
  }
}
