import { Button, Heading } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { Link, useLocation, useNavigate, useParams } from 'react-router';
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
import './settings.css';
import { TokenSetting } from './token-setting.tsx';
import { Webhooks } from './webhooks.tsx';

export function SettingsPage() {
  usePageTitle('Settings');
  const { projectId = '' } = useParams();
  const query = useQuery(queries.project(projectId));
  return (
    <div className="settings-page stack">
      <Heading as="h1" variant="medium">
        Settings
      </Heading>
      <QueryResult query={query}>{(project) => <ProjectSettings project={project} />}</QueryResult>
    </div>
  );
}

interface Part {
  id: string;
  title: string;
  content: ReactNode;
}

/** Returns the parts of the page that a person may change, in their order. */
function partsOf(project: api.Project, canEdit: boolean): Part[] {
  const { id, role } = project;
  const general = <GeneralSettings key={id} project={project} canEdit={canEdit} />;
  const forAdmins: Part[] = [
    { id: 'git-token', title: 'Git token', content: <GitToken projectId={id} /> },
    { id: 'model-token', title: 'Model token', content: <ModelToken projectId={id} /> },
    { id: 'mcp-servers', title: 'MCP servers', content: <McpServers projectId={id} /> },
    { id: 'webhooks', title: 'Webhooks', content: <Webhooks projectId={id} /> },
    { id: 'environment-secrets', title: 'Environment secrets', content: <EnvironmentSecrets projectId={id} /> },
    { id: 'reconciliations', title: 'Reconciliations', content: <Reconciliations /> },
    { id: 'audit-log', title: 'Audit log', content: <AuditLog projectId={id} /> },
  ];
  return [
    { id: 'general', title: 'General', content: general },
    ...(canEdit ? forAdmins : []),
    ...(role === 'owner'
      ? [{ id: 'delete-project', title: 'Delete project', content: <DeleteProject project={project} /> }]
      : []),
  ];
}

/** Shows all settings, with a list of them at the side that leads to each. */
function ProjectSettings({ project }: { project: api.Project }) {
  const canEdit = useMay('admin');
  const parts = partsOf(project, canEdit);
  const { hash } = useLocation();
  // The address names a part before the page has loaded it.
  useEffect(() => {
    document.getElementById(hash.slice(1))?.scrollIntoView();
  }, [hash]);
  return (
    <div className="settings">
      {parts.length > 1 && (
        <nav className="settings-nav" aria-label="Settings">
          <ul>
            {parts.map(({ id, title }) => (
              <li key={id}>
                <Link to={`#${id}`} aria-current={hash === `#${id}` ? 'true' : undefined}>
                  {title}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
      )}
      <div className="stack">
        {!canEdit && <p className="muted">Only admins and owners of the project can change these settings.</p>}
        {parts.map(({ id, content }) => (
          <div key={id} id={id} className="settings-part">
            {content}
          </div>
        ))}
      </div>
    </div>
  );
}

function GitToken({ projectId }: { projectId: string }) {
  return (
    <TokenSetting
      title="Git token"
      description="Used for git and pull requests in repositories where the GitHub App is not installed. The token needs the repo scope."
      query={queries.gitToken(projectId)}
      save={(token) => api.setGitToken(projectId, { token })}
      remove={() => api.removeGitToken(projectId)}
    />
  );
}

function ModelToken({ projectId }: { projectId: string }) {
  return (
    <TokenSetting
      title="Model token"
      description="The API key for the model provider. Without it, the key of the service is used."
      query={queries.modelToken(projectId)}
      save={(token) => api.setModelToken(projectId, { token })}
      remove={() => api.removeModelToken(projectId)}
    />
  );
}

function AuditLog({ projectId }: { projectId: string }) {
  return (
    <Section title="Audit log">
      <p>
        <Link to={`/projects/${projectId}/settings/audit`}>See who changed what</Link>
      </p>
    </Section>
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
