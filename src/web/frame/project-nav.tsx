import {
  BeakerIcon,
  CpuIcon,
  CreditCardIcon,
  GearIcon,
  InboxIcon,
  IterationsIcon,
  PeopleIcon,
  ProjectIcon,
  RepoIcon,
  TelescopeIcon,
  ZapIcon,
} from '@primer/octicons-react';
import { UnderlineNav } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { Link, useLocation } from 'react-router';
import * as queries from '../live/queries.ts';

export function ProjectName({ id }: { id: string }) {
  const { data } = useQuery(queries.project(id));
  // A link without text has no name for screen readers.
  if (data === undefined) return null;
  return (
    <Link to={`/projects/${id}`} className="project-name">
      {data.name}
    </Link>
  );
}

/** Returns the pages of a project. Addresses that begin with `alsoAt` belong to a page, too. */
export const pagesOf = (project: string) => [
  { name: 'Board', to: project, icon: ProjectIcon, alsoAt: '/tasks/' },
  { name: 'Backlog', to: `${project}/backlog`, icon: InboxIcon },
  { name: 'Sprints', to: `${project}/sprints`, icon: IterationsIcon, alsoAt: '/sprints/' },
  { name: 'Plan', to: `${project}/plan`, icon: TelescopeIcon },
  { name: 'Automations', to: `${project}/automations`, icon: ZapIcon },
  { name: 'Agents', to: `${project}/agents`, icon: BeakerIcon },
  { name: 'Runs', to: `${project}/pool`, icon: CpuIcon },
  { name: 'Spend', to: `${project}/spend`, icon: CreditCardIcon },
  { name: 'Repositories', to: `${project}/repositories`, icon: RepoIcon },
  { name: 'Members', to: `${project}/members`, icon: PeopleIcon },
  { name: 'Settings', to: `${project}/settings`, icon: GearIcon },
];

export function ProjectNav({ id }: { id: string }) {
  const { pathname } = useLocation();
  const project = `/projects/${id}`;
  return (
    <UnderlineNav aria-label="Project">
      {pagesOf(project).map(({ name, to, icon, alsoAt }) => {
        const isBelow = to !== project && pathname.startsWith(`${to}/`);
        const isCurrent = pathname === to || isBelow || (alsoAt !== undefined && pathname.startsWith(alsoAt));
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
