import { Button, FormControl, TextInput } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import * as api from '../api.ts';
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

const empty = { name: '', url: '', header: '', value: '', tools: '' };

interface FormProps {
  all: api.RepositoryEntry[];
  isBusy: boolean;
  onAdd(server: Server): Promise<unknown>;
}

function ServerForm({ all, isBusy, onAdd }: FormProps) {
  const [repositories, setRepositories] = useState<readonly string[]>([]);
  const [fields, setFields] = useState(empty);
  const add = async () => {
    const { name, url, header, value, tools } = fields;
    const chosen = tools.split(/[\s,]+/).filter((tool) => tool !== '');
    const headers = header.trim() === '' ? [] : [{ name: header.trim(), value }];
    await onAdd({
      name: name.trim(),
      url: url.trim(),
      headers,
      tools: chosen.length > 0 ? chosen : null,
      // A project with one repository needs no choice.
      ...(all.length > 1 && { repositories: [...repositories] }),
    });
    setFields(empty);
    setRepositories([]);
  };
  const field = (key: keyof typeof empty, label: string, more: { type?: 'password'; placeholder?: string } = {}) => (
    <FormControl required={key === 'name' || key === 'url'}>
      <FormControl.Label>{label}</FormControl.Label>
      <TextInput
        autoComplete="off"
        value={fields[key]}
        onChange={(event) => setFields({ ...fields, [key]: event.target.value })}
        {...more}
      />
    </FormControl>
  );
  return (
    <form
      className="row wrap-row bottom-aligned"
      onSubmit={(event) => {
        event.preventDefault();
        // The error is shown where it is handled, in `save`.
        add().catch(() => {});
      }}
    >
      {field('name', 'Name')}
      {field('url', 'URL', { placeholder: 'https://mcp.example.com/mcp' })}
      {field('header', 'Header', { placeholder: 'Authorization' })}
      {field('value', 'Header value', { type: 'password' })}
      {field('tools', 'Tools', { placeholder: 'all' })}
      {all.length > 1 && <RepositoryChoice all={all} chosen={repositories} onChange={setRepositories} />}
      <Button type="submit" loading={isBusy}>
        Add server
      </Button>
    </form>
  );
}
