import { Button, Heading } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useNavigate, useParams } from 'react-router';
import * as api from '../api.ts';
import { QueryResult } from '../display/query-result.tsx';
import { Section } from '../display/sections.tsx';
import { useMay } from '../forms/may.tsx';
import { TextDialog } from '../forms/text-dialog.tsx';
import { notifyError } from '../frame/notices.tsx';
import { usePageTitle } from '../frame/page-header.tsx';
import * as queries from '../live/queries.ts';
import { EnvironmentSecrets } from './environment-secrets.tsx';
import { GeneralSettings } from './general-settings.tsx';
import { McpServers } from './mcp-servers.tsx';
import { Reconciliations } from './reconciliations.tsx';
import { TokenSetting } from './token-setting.tsx';
import { Webhooks } from './webhooks.tsx';

export function SettingsPage() {
  usePageTitle('Settings');
  const { projectId = '' } = useParams();
  const query = useQuery(queries.project(projectId));
  return (
    <div className="narrow stack">
      <Heading as="h1" variant="medium">
        Settings
      </Heading>
      <QueryResult query={query}>{(project) => <ProjectSettings project={project} />}</QueryResult>
    </div>
  );
}

function ProjectSettings({ project }: { project: api.Project }) {
  const { id, role } = project;
  const canEdit = useMay('admin');
  return (
    <>
      {!canEdit && <p className="muted">Only admins and owners of the project can change these settings.</p>}
      <GeneralSettings key={id} project={project} canEdit={canEdit} />
      {canEdit && (
        <>
          <TokenSetting
            title="Git token"
            description="Used for git and pull requests in repositories where the GitHub App is not installed. The token needs the repo scope."
            query={queries.gitToken(id)}
            save={(token) => api.setGitToken(id, { token })}
            remove={() => api.removeGitToken(id)}
          />
          <TokenSetting
            title="Model token"
            description="The API key for the model provider. Without it, the key of the service is used."
            query={queries.modelToken(id)}
            save={(token) => api.setModelToken(id, { token })}
            remove={() => api.removeModelToken(id)}
          />
          <McpServers projectId={id} />
          <Webhooks projectId={id} />
          <EnvironmentSecrets projectId={id} />
          <Reconciliations />
          <Section title="Audit log">
            <p>
              <Link to={`/projects/${id}/settings/audit`}>See who changed what</Link>
            </p>
          </Section>
        </>
      )}
      {role === 'owner' && <DeleteProject project={project} />}
    </>
  );
}

function DeleteProject({ project }: { project: api.Project }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [isConfirming, setConfirming] = useState(false);
  const remove = useMutation({
    mutationFn: () => api.deleteProject(project.id),
    onSuccess: async () => {
      await navigate('/projects');
      await client.invalidateQueries({ queryKey: ['projects'] });
    },
    onError: notifyError,
  });
  const onConfirm = async (text: string) => {
    if (text !== project.name) throw new Error('The name does not match. The project was not deleted.');
    await remove.mutateAsync();
  };
  return (
    <section className="box failure" aria-label="Delete project">
      <p>
        Permanently deletes the tasks, runs, sprints and chats of this project. Repositories, branches and pull requests
        on GitHub are kept.
      </p>
      <Button variant="danger" loading={remove.isPending} onClick={() => setConfirming(true)}>
        Delete project
      </Button>
      {isConfirming && (
        <TextDialog
          title="Delete project"
          label={`To confirm, enter the project name: ${project.name}`}
          about={null}
          isRequired
          onSubmit={onConfirm}
          onClose={() => setConfirming(false)}
        />
      )}
    </section>
  );
}
