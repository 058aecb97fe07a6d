import { Button, LinkButton, TextInput } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useNavigate } from 'react-router';
import * as api from '../api.ts';
import { Empty, Shown } from '../display/query-result.tsx';
import { When } from '../display/times.tsx';
import { submitting } from '../forms/submit-once.ts';
import { notifyError } from '../frame/notices.tsx';
import { PageHead } from '../frame/page-header.tsx';
import { about } from '../frame/service-info.ts';
import { useTitle } from '../frame/use-page-title.ts';
import * as q from '../live/queries.ts';

export function ProjectsPage() {
  useTitle('Projects');
  const asked = useQuery(q.projects());
  return (
    <div className="narrow">
      <PageHead title="Projects">
        {about.installUrl && <LinkButton href={about.installUrl}>Install on GitHub</LinkButton>}
      </PageHead>
      <Shown of={asked}>
        {(projects) => (
          <>
            {projects.length === 0 && <FirstProject />}
            <ul className="list">
              {projects.map((project) => (
                <li key={project.id} className="list-item">
                  <Link to={`/projects/${project.id}`} className="strong">
                    <bdi>{project.name}</bdi>
                  </Link>
                  <span className="muted">
                    you are {project.role} · changed <When at={project.updatedAt} />
                  </span>
                  {project.description !== '' && <p className="muted wrap">{project.description}</p>}
                </li>
              ))}
            </ul>
            <NewProject />
          </>
        )}
      </Shown>
    </div>
  );
}

function FirstProject() {
  return (
    <Empty title="No project yet">
      {about.installUrl === null ? (
        <p>This service has no GitHub App. Make a project below and connect a repository with a git token.</p>
      ) : (
        <p>
          <a href={about.installUrl}>Install the App</a> on your account or organization: it becomes a project with its
          repositories connected. Or make one below and connect repositories by hand.
        </p>
      )}
    </Empty>
  );
}

function NewProject() {
  const [name, setName] = useState('');
  const client = useQueryClient();
  const go = useNavigate();
  const make = useMutation({
    mutationFn: () => api.postProjects({ name: name.trim() }),
    onSuccess: async (project) => {
      await client.invalidateQueries({ queryKey: ['projects'] });
      await go(`/projects/${project.id}/repositories`);
    },
    onError: notifyError,
  });
  const send = submitting(make, () => !(name.trim() !== ''));
  return (
    <form className="row" onSubmit={send}>
      <TextInput
        aria-label="Name of a new project"
        placeholder="Name of a new project"
        maxLength={200}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <Button type="submit" loading={make.isPending}>
        Make it
      </Button>
    </form>
  );
}
