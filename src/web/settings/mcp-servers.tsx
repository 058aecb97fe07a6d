import { Button, Checkbox, CheckboxGroup, Flash, FormControl, TextInput, useConfirm } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import * as api from '../api.ts';
import { plural } from '../display/formats.ts';
import { QueryResult } from '../display/query-result.tsx';
import { Section } from '../display/sections.tsx';
import { submitOnce, useRefusedField } from '../forms/submit.ts';
import { notify, notifyError } from '../frame/notices.tsx';
import { fieldError, isAboutFields } from '../live/errors.ts';
import * as repositoryQueries from '../live/queries/repositories.ts';
import * as queries from '../live/queries.ts';
import { RowActions, RowLine } from '../rows/row-actions.tsx';
import { Owners, RepositoryChoice } from './repository-choice.tsx';

type Server = Parameters<typeof api.setMcpServers>[1][number];

/** Lists the MCP servers of a project. One can be added, replaced and removed; the values of headers are never shown. */
export function McpServers({ projectId }: { projectId: string }) {
  const client = useQueryClient();
  const query = queries.mcpServers(projectId);
  const servers = useQuery(query);
  const repositories = useQuery(repositoryQueries.repositories(projectId));
  const all = repositories.data ?? [];
  const [edited, setEdited] = useState<api.McpServer>();
  /** What connecting to servers brought before they were saved, by their names: null, or why they could not be reached. */
  const [problems, setProblems] = useState<Record<string, string | null>>({});
  const save = useMutation({
    // All servers are stored together, so what somebody else has changed since this page was loaded is read first.
    mutationFn: async (change: (known: Server[]) => Server[]) =>
      api.setMcpServers(projectId, change(await api.listMcpServers(projectId))),
    onSuccess: (saved) => {
      client.setQueryData(query.queryKey, saved);
      notify('MCP servers saved', 'success');
    },
    onError: (error) => {
      notifyError(error);
      void client.invalidateQueries({ queryKey: query.queryKey });
    },
  });
  return (
    <Section title="MCP servers">
      <div className="stack">
        <p className="muted">
          Agents can call the tools of these servers. The service makes the calls, with these headers, for everybody who
          may start a run in {all.length === 1 ? 'the repository of the project' : 'the repositories that you choose'}.
          Runs in public repositories get no tools of MCP servers, unless the project shares private context with them.
        </p>
        <QueryResult query={servers} rows={1}>
          {(known) => {
            const form = (of: api.McpServer | undefined) => (
              <ServerForm
                edited={of}
                taken={known.map(({ name }) => name).filter((name) => name !== of?.name)}
                all={all}
                projectId={projectId}
                onEnd={() => setEdited(undefined)}
                isBusy={save.isPending}
                onAdd={async (added, problem) => {
                  const replaced = known.some(({ name }) => name === of?.name) ? of : undefined;
                  await save.mutateAsync((latest) => withServer(latest, added, replaced));
                  setProblems((before) => ({ ...before, [added.name]: problem }));
                }}
              />
            );
            const isRemoved = edited !== undefined && !known.some(({ name }) => name === edited.name);
            return (
              <>
                <ul className="list">
                  {/* The form stays open with what somebody has typed when the server is removed elsewhere. */}
                  {(isRemoved ? [...known, edited] : known).map((server) =>
                    server.name === edited?.name ? (
                      <li key={server.name} className="list-item">
                        <div className="stack full-width">
                          {isRemoved && (
                            <Flash variant="warning" role="alert">
                              {removedText(edited)} If agents still need it, saving it here adds it again.
                            </Flash>
                          )}
                          {form(edited)}
                        </div>
                      </li>
                    ) : (
                      <ServerItem
                        key={server.name}
                        server={server}
                        all={all}
                        projectId={projectId}
                        problem={problems[server.name]}
                        onEdit={() => setEdited(server)}
                        onRemove={() => save.mutate((latest) => latest.filter(({ name }) => name !== server.name))}
                      />
                    ),
                  )}
                </ul>
                {/* It keeps what somebody has typed while another server is edited. */}
                <div hidden={edited !== undefined}>
                  <div className="stack">{form(undefined)}</div>
                </div>
              </>
            );
          }}
        </QueryResult>
      </div>
    </Section>
  );
}

/**
 * Replaces the server that was edited, or the one with the same name.
 * @throws Error when somebody has removed the server that was edited
 */
function withServer(known: Server[], added: Server, edited: Server | undefined): Server[] {
  const name = (edited ?? added).name.toLowerCase();
  const isSame = (each: Server) => each.name.toLowerCase() === name;
  if (edited !== undefined && !known.some(isSame)) throw new Error(`Nothing was saved. ${removedText(edited)}`);
  return known.some(isSame) ? known.map((each) => (isSame(each) ? added : each)) : [...known, added];
}

const removedText = ({ name }: { name: string }) => `Somebody has removed ${name} in the meantime.`;

interface ItemProps {
  server: api.McpServer;
  all: api.RepositoryEntry[];
  projectId: string;
  /** Why it was not reached before it was saved; null if it was; undefined if it was saved before the page was loaded. */
  problem: string | null | undefined;
  onEdit(): void;
  onRemove(): void;
}

/** Shows a server. It can be tried again, because it may have been added without being reached, or have gone since. */
function ServerItem({ server, all, projectId, problem, onEdit, onRemove }: ItemProps) {
  const { name, url, headers, tools, repositories } = server;
  // A header without a value keeps the one that is stored.
  const test = useMutation({
    mutationFn: () => api.tryMcpServer(projectId, { name, url, headers }),
    onError: notifyError,
  });
  const confirm = useConfirm();
  const remove = async () => {
    const isSure = await confirm({
      title: `Remove ${name}?`,
      content: 'Agents can no longer call its tools. The values of its headers are deleted.',
      confirmButtonContent: 'Remove server',
      confirmButtonType: 'danger',
    });
    if (isSure) onRemove();
  };
  const details = [
    headers.length > 0 && `Headers: ${headers.map((header) => header.name).join(', ')}`,
    `Tools: ${tools === null ? 'all' : tools.join(', ')}`,
    test.data === undefined && problem === undefined && 'Not tested since the page was loaded',
  ];
  return (
    <li className="list-item">
      <RowLine
        actions={
          <RowActions
            of={name}
            actions={[
              {
                name: 'Test connection',
                label: `Test connection of ${name}`,
                isBusy: test.isPending,
                onSelect: () => test.mutate(),
              },
              { name: 'Edit', label: `Edit ${name}`, onSelect: onEdit },
              { name: 'Remove', label: `Remove ${name}`, isDanger: true, onSelect: () => void remove() },
            ]}
          />
        }
      >
        <span className="strong">{name}</span>
        <span>{url}</span>
        <span className="muted">{details.filter(Boolean).join(' · ')}</span>
        {(repositories !== undefined || all.length > 1) && <Owners all={all} chosen={repositories ?? []} />}
      </RowLine>
      {test.data === undefined && typeof problem === 'string' && (
        <Flash variant="warning" className="full-width">
          Saved, but not reached yet. {problem}
        </Flash>
      )}
      {test.data && (
        <Flash variant={test.data.problem === null ? 'success' : 'danger'} className="full-width" role="status">
          {test.data.problem ?? connectedText(test.data)}
        </Flash>
      )}
    </li>
  );
}

const connectedText = ({ tools }: api.McpTrial) => `Connected. The server has ${plural(tools.length, 'tool')}.`;

const empty = { name: '', url: '', header: '', value: '' };

/** What the API calls the fields. */
const paths = { name: 'name', url: 'url', header: 'headers.0.name', value: 'headers.0.value' };

interface FormProps {
  /** The server to change; undefined to add one. */
  edited: api.McpServer | undefined;
  /** The names of the other servers. */
  taken: string[];
  all: api.RepositoryEntry[];
  isBusy: boolean;
  projectId: string;
  /** `problem` is why the server was not reached; null if it was. */
  onAdd(server: Server, problem: string | null): Promise<unknown>;
  /** The server was saved, or the person has given up changing it. */
  onEnd(): void;
}

const fieldsOf = ({ name, url, headers }: api.McpServer) => ({ name, url, header: headers[0]?.name ?? '', value: '' });

/**
 * Returns the header of the form, and those of a server with several, which the form does not show. A value without a name is sent, so
 * that the service says what is missing.
 */
function headersOf({ header, value }: typeof empty, edited: api.McpServer | undefined) {
  const name = header.trim();
  return [...(name === '' && value === '' ? [] : [{ name, value }]), ...(edited?.headers.slice(1) ?? [])];
}

/** Connects to a server first. What it offers, or why it failed, is shown before the server can be added. */
function ServerForm({ edited, taken, all, isBusy, projectId, onAdd, onEnd }: FormProps) {
  const [fields, setFields] = useState(edited === undefined ? empty : fieldsOf(edited));
  const connection = {
    name: fields.name.trim(),
    url: fields.url.trim(),
    headers: headersOf(fields, edited),
  };
  const attempt = useMutation({
    mutationFn: () => api.tryMcpServer(projectId, connection),
    onError: (error) => {
      if (!isAboutFields(error, Object.values(paths))) notifyError(error);
    },
  });
  const form = useRefusedField(isAboutFields(attempt.error, Object.values(paths)) && attempt.error);
  const field = (key: keyof typeof empty, label: string, more: { type?: 'password'; placeholder?: string } = {}) => {
    const isTaken = key === 'name' && taken.some((name) => name.toLowerCase() === connection.name.toLowerCase());
    const problem = isTaken
      ? 'There is a server with this name. Edit that one.'
      : fieldError(attempt.error, paths[key], label);
    return (
      <FormControl required={key === 'name' || key === 'url'}>
        <FormControl.Label>{label}</FormControl.Label>
        <TextInput
          block
          autoFocus={edited !== undefined && key === 'name'}
          autoComplete="off"
          value={fields[key]}
          {...(isTaken ? { 'data-problem': problem } : {})}
          onChange={(event) => {
            setFields({ ...fields, [key]: event.target.value });
            // What another address or header brings is not known.
            attempt.reset();
          }}
          {...more}
        />
        {problem !== undefined && <FormControl.Validation variant="error">{problem}</FormControl.Validation>}
      </FormControl>
    );
  };
  const add = async (chosen: Pick<Server, 'tools' | 'repositories'>) => {
    await onAdd({ ...connection, ...chosen }, attempt.data?.problem ?? null);
    setFields(empty);
    attempt.reset();
    onEnd();
  };
  return (
    <>
      <form className="stack" ref={form} onSubmit={submitOnce(attempt)}>
        <div className="fields">
          {field('name', 'Name')}
          {field('url', 'URL', { placeholder: 'https://mcp.example.com/mcp' })}
          {field('header', 'Header', { placeholder: 'Authorization' })}
          {field('value', 'Header value', {
            type: 'password',
            ...(edited !== undefined && edited.headers.length > 0 && { placeholder: 'Unchanged' }),
          })}
        </div>
        <div className="row">
          <Button type="submit" loading={attempt.isPending}>
            {edited === undefined ? 'Connect' : 'Test connection'}
          </Button>
          {edited !== undefined && <Button onClick={onEnd}>Cancel</Button>}
          {edited !== undefined && attempt.data === undefined && (
            <span className="muted small">After the test, you can save the server.</span>
          )}
        </div>
      </form>
      {attempt.data !== undefined && (
        <Found
          key={attempt.submittedAt}
          all={all}
          trial={attempt.data}
          before={edited}
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
  /** The server as it is saved; undefined if it is new. */
  before: api.McpServer | undefined;
  isBusy: boolean;
  onAdd(chosen: Pick<Server, 'tools' | 'repositories'>): void;
}) {
  const { all, trial, before, isBusy, onAdd } = props;
  const { problem, tools } = trial;
  const wanted = before?.tools ?? null;
  const [left, setLeft] = useState<ReadonlySet<string>>(
    new Set(wanted === null ? [] : tools.map(({ name }) => name).filter((name) => !wanted.includes(name))),
  );
  const [repositories, setRepositories] = useState<readonly string[]>(before?.repositories ?? []);
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
        {problem === null && <p className="strong">{connectedText(trial)}</p>}
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
              // A server that was not reached keeps the choice of its tools.
              tools: problem !== null ? wanted : left.size === 0 ? null : chosen,
              // A project with one repository needs no choice.
              ...(all.length > 1 && { repositories: [...repositories] }),
            })
          }
        >
          {`${before === undefined ? 'Add server' : 'Save server'}${problem === null ? '' : ' anyway'}`}
        </Button>
      </div>
    </div>
  );
}
