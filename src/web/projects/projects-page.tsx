import { Button, LinkButton, TextInput } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from 'react-router';
import * as api from '../api.ts';
import { sentenceCase } from '../display/names.ts';
import { QueryResult } from '../display/query-result.tsx';
import { EmptyState } from '../display/sections.tsx';
import { TimeAgo } from '../display/times.tsx';
import { submitOnce } from '../forms/submit.ts';
import { useDraft } from '../forms/use-draft.ts';
import { notifyError } from '../frame/notices.tsx';
import { PageHeader, usePageTitle } from '../frame/page-header.tsx';
import { serviceInfo } from '../frame/service-info.ts';
import * as queries from '../live/queries.ts';
import { OnboardingOfNewest } from '../onboarding/checklist.tsx';

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

function ProjectItem({ project }: { project: api.Project }) {
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

function NewProject() {
  const { value: name, set: setName, clear } = useDraft('new project', '');
  const client = useQueryClient();
  const navigate = useNavigate();
  const create = useMutation({
    mutationFn: () => api.createProject({ name: name.trim() }),
    onSuccess: async (project) => {
      clear();
      await client.invalidateQueries({ queryKey: ['projects'] });
      await navigate(`/projects/${project.id}/repositories`);
    },
    onError: notifyError,
  });
  return (
    <form className="row" onSubmit={submitOnce(create, () => name.trim() !== '')}>
      <TextInput
        aria-label="New project name"
        placeholder="New project name"
        maxLength={200}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <Button type="submit" loading={create.isPending}>
        Create project
      </Button>
    </form>
  );
}
