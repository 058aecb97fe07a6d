import { Button, Checkbox, CheckboxGroup, Flash, FormControl, TextInput } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import * as api from '../api.ts';
import { plural } from '../display/formats.ts';
import { QueryResult } from '../display/query-result.tsx';
import { Section } from '../display/sections.tsx';
import { notify, notifyError } from '../frame/notices.tsx';
import * as queries from '../live/queries.ts';
import { Owners, RepositoryChoice } from './repository-choice.tsx';

type Server = Parameters<typeof api.setMcpServers>[1][number];

/** Lists the MCP servers of a project. One can be added, replaced and removed; the values of headers are never shown. */
export function McpServers({ projectId }: { projectId: string }) {
  const client = useQueryClient();
  const query = queries.mcpServers(projectId);
  const servers = useQuery(query);
  const repositories = useQuery(queries.repositories(projectId));
  const all = repositories.data ?? [];
  const save = useMutation({
    mutationFn: (changed: Server[]) => api.setMcpServers(projectId, changed),
    onSuccess: (saved) => {
      client.setQueryData(query.queryKey, saved);
      notify('MCP servers saved', 'success');
    },
    onError: notifyError,
  });
  return (
    <Section title="MCP servers">
      <div className="stack">
        <p className="muted">
          Agents can call the tools of these servers. The service makes the calls, with these headers, for everybody who
          may start a run in the repositories that you choose.
        </p>
        <QueryResult query={servers} rows={1}>
          {(known) => (
            <>
              <ul className="list">
                {known.map((server) => (
                  <ServerItem
                    key={server.name}
                    server={server}
                    all={all}
                    onRemove={() => save.mutate(known.filter((each) => each !== server))}
                  />
                ))}
              </ul>
              <ServerForm
                all={all}
                projectId={projectId}
                isBusy={save.isPending}
                onAdd={(added) => save.mutateAsync(withServer(known, added))}
              />
            </>
          )}
        </QueryResult>
      </div>
    </Section>
  );
}

/** A server with the same name is replaced. */
function withServer(known: Server[], added: Server): Server[] {
  const isSame = (each: Server) => each.name.toLowerCase() === added.name.toLowerCase();
  return known.some(isSame) ? known.map((each) => (isSame(each) ? added : each)) : [...known, added];
}

interface ItemProps {
  server: api.McpServer;
  all: api.RepositoryEntry[];
  onRemove(): void;
}

function ServerItem({ server, all, onRemove }: ItemProps) {
  const { name, url, headers, tools, repositories } = server;
  const details = [
    headers.length > 0 && `Headers: ${headers.map((header) => header.name).join(', ')}`,
    `Tools: ${tools === null ? 'all' : tools.join(', ')}`,
  ];
  return (
    <li className="list-item">
      <span className="strong">{name}</span>
      <span>{url}</span>
      <span className="muted">{details.filter(Boolean).join(' · ')}</span>
      {(repositories !== undefined || all.length > 1) && <Owners all={all} chosen={repositories ?? []} />}
      <span className="grow" />
      <Button size="small" variant="danger" aria-label={`Remove ${name}`} onClick={onRemove}>
        Remove
      </Button>
    </li>
  );
}

const empty = { name: '', url: '', header: '', value: '' };

interface FormProps {
  all: api.RepositoryEntry[];
  isBusy: boolean;
  projectId: string;
  onAdd(server: Server): Promise<unknown>;
}

/** Connects to a server first. What it offers, or why it failed, is shown before the server can be added. */
function ServerForm({ all, isBusy, projectId, onAdd }: FormProps) {
  const [fields, setFields] = useState(empty);
  const connection = {
    name: fields.name.trim(),
    url: fields.url.trim(),
    headers: fields.header.trim() === '' ? [] : [{ name: fields.header.trim(), value: fields.value }],
  };
  const attempt = useMutation({ mutationFn: () => api.tryMcpServer(projectId, connection), onError: notifyError });
  const field = (key: keyof typeof empty, label: string, more: { type?: 'password'; placeholder?: string } = {}) => (
    <FormControl required={key === 'name' || key === 'url'}>
      <FormControl.Label>{label}</FormControl.Label>
      <TextInput
        autoComplete="off"
        value={fields[key]}
        onChange={(event) => {
          setFields({ ...fields, [key]: event.target.value });
          // What another address or header brings is not known.
          attempt.reset();
        }}
        {...more}
      />
    </FormControl>
  );
  const add = async (chosen: Pick<Server, 'tools' | 'repositories'>) => {
    await onAdd({ ...connection, ...chosen });
    setFields(empty);
    attempt.reset();
  };
  return (
    <>
      <form
        className="row wrap-row bottom-aligned"
        onSubmit={(event) => {
          event.preventDefault();
          attempt.mutate();
        }}
      >
        {field('name', 'Name')}
        {field('url', 'URL', { placeholder: 'https://mcp.example.com/mcp' })}
        {field('header', 'Header', { placeholder: 'Authorization' })}
        {field('value', 'Header value', { type: 'password' })}
        <Button type="submit" loading={attempt.isPending}>
          Connect
        </Button>
      </form>
      {attempt.data !== undefined && (
        <Found
          key={attempt.submittedAt}
          all={all}
          trial={attempt.data}
          isBusy={isBusy}
          // The error is shown where it is handled, in `save`.
          onAdd={(chosen) => void add(chosen).catch(() => {})}
        />
      )}
    </>
  );
}

/** Shows what a server offers, and lets people choose which of it agents get. */
function Found(props: {
  all: api.RepositoryEntry[];
  trial: api.McpTrial;
  isBusy: boolean;
  onAdd(chosen: Pick<Server, 'tools' | 'repositories'>): void;
}) {
  const { all, trial, isBusy, onAdd } = props;
  const { problem, tools } = trial;
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const [repositories, setRepositories] = useState<readonly string[]>([]);
  const chosen = tools.filter(({ name }) => !left.has(name)).map(({ name }) => name);
  const toggle = (name: string) =>
    setLeft((before) => {
      const after = new Set(before);
      if (!after.delete(name)) after.add(name);
      return after;
    });
  return (
    <div className="stack box">
      <div role="status">
        {problem !== null && <Flash variant="danger">{problem}</Flash>}
        {problem === null && <p className="strong">{`Connected. The server has ${plural(tools.length, 'tool')}.`}</p>}
      </div>
      {tools.length > 0 && (
        <CheckboxGroup>
          <CheckboxGroup.Label>Tools for agents</CheckboxGroup.Label>
          <CheckboxGroup.Caption>
            Choose what agents need: every tool costs tokens in every request.
          </CheckboxGroup.Caption>
          {tools.map(({ name, description }) => (
            <FormControl key={name}>
              <Checkbox checked={!left.has(name)} onChange={() => toggle(name)} />
              <FormControl.Label>{name}</FormControl.Label>
              {description !== '' && <FormControl.Caption>{description}</FormControl.Caption>}
            </FormControl>
          ))}
        </CheckboxGroup>
      )}
      {all.length > 1 && <RepositoryChoice all={all} chosen={repositories} onChange={setRepositories} />}
      <div>
        <Button
          variant={problem === null ? 'primary' : 'default'}
          loading={isBusy}
          disabled={tools.length > 0 && chosen.length === 0}
          onClick={() =>
            onAdd({
              tools: left.size === 0 ? null : chosen,
              // A project with one repository needs no choice.
              ...(all.length > 1 && { repositories: [...repositories] }),
            })
          }
        >
          {problem === null ? 'Add server' : 'Add server anyway'}
        </Button>
      </div>
    </div>
  );
}
