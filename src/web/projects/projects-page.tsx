import { LinkButton } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import type { Project } from '../api.ts';
import { sentenceCase } from '../display/names.ts';
import { QueryResult } from '../display/query-result.tsx';
import { EmptyState } from '../display/sections.tsx';
import { TimeAgo } from '../display/times.tsx';
import { PageHeader, usePageTitle } from '../frame/page-header.tsx';
import { serviceInfo } from '../frame/service-info.ts';
import * as queries from '../live/queries.ts';
import { OnboardingOfNewest } from '../onboarding/checklist.tsx';
import { NewProject } from './new-project.tsx';

export function ProjectsPage() {
  usePageTitle('Projects');
  const query = useQuery(queries.projects());
  return (
    <div className="narrow">
      <PageHeader title="Projects">
        <Link to="/spend">Spend of all projects</Link>
        {serviceInfo.installUrl && <LinkButton href={serviceInfo.installUrl}>Install GitHub App</LinkButton>}
      </PageHeader>
      <OnboardingOfNewest />
      <QueryResult query={query}>
        {(projects) => (
          <>
            {projects.length === 0 && <NoProjects />}
            <ul className="list">
              {projects.map((project) => (
                <ProjectItem key={project.id} project={project} />
              ))}
            </ul>
            <NewProject />
          </>
        )}
      </QueryResult>
    </div>
  );
}

function ProjectItem({ project }: { project: Project }) {
  return (
    <li className="list-item">
      <Link to={`/projects/${project.id}`} className="strong">
        <bdi>{project.name}</bdi>
      </Link>
      <span className="muted">
        {sentenceCase(project.role)}
        {project.addedBy && ` · added by ${project.addedBy.login}`} · updated <TimeAgo at={project.updatedAt} />
      </span>
      {project.description !== '' && <p className="muted wrap">{project.description}</p>}
    </li>
  );
}

function NoProjects() {
  return (
    <EmptyState title="No projects yet">
      {serviceInfo.installUrl === null ? (
        <p>Create a project below, then connect a repository with a git token. This service has no GitHub App.</p>
      ) : (
        <p>
          <a href={serviceInfo.installUrl}>Install the GitHub App</a> on your account or organization to create a
          project with its repositories. You can also create a project below and connect repositories yourself.
        </p>
      )}
    </EmptyState>
  );
}
