import { Button, Checkbox, Flash, FormControl, Heading, TextInput } from '@primer/react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import * as api from '../api.ts';
import { submitOnce } from '../forms/submit.ts';
import { notify } from '../frame/notices.tsx';
import { errorMessage } from '../live/errors.ts';
import { RepositoryPicker } from './repository-picker.tsx';

const labels = { url: 'URL', name: 'Name', defaultBranch: 'Default branch' };
const emptyFields = { name: '', url: '', defaultBranch: 'main', isDocsRepo: false };

export function ConnectRepository({ projectId }: { projectId: string }) {
  const client = useQueryClient();
  const [fields, setFields] = useState(emptyFields);
  const set = (change: Partial<typeof fields>) => setFields((before) => ({ ...before, ...change }));
  const connect = useMutation({
    mutationFn: () => connectFrom({ projectId, ...fields, name: fields.name.trim(), url: fields.url.trim() }),
    onSuccess: ({ name }) => {
      notify(`Connected ${name}`, 'success');
      setFields(emptyFields);
      for (const list of ['installed-repositories', 'onboarding'])
        void client.invalidateQueries({ queryKey: [list, projectId] });
      return client.invalidateQueries({ queryKey: ['repositories', projectId] });
    },
  });
  return (
    <form className="box stack" onSubmit={submitOnce(connect)}>
      <Heading as="h2" variant="small">
        Connect a repository
      </Heading>
      {connect.error && <Flash variant="danger">{errorMessage(connect.error, labels)}</Flash>}
      <RepositoryPicker
        projectId={projectId}
        onPick={({ url, name, defaultBranch }) => set({ url, name, defaultBranch })}
      />
      <div className="fields">
        <FormControl required>
          <FormControl.Label>URL</FormControl.Label>
          <TextInput
            block
            placeholder="https://github.com/owner/name"
            value={fields.url}
            onChange={({ target: { value: url } }) => set({ url, ...nameFrom(url) })}
          />
        </FormControl>
        <FormControl required>
          <FormControl.Label>Name</FormControl.Label>
          <TextInput block value={fields.name} onChange={(event) => set({ name: event.target.value })} />
        </FormControl>
        <FormControl required>
          <FormControl.Label>Default branch</FormControl.Label>
          <TextInput
            block
            value={fields.defaultBranch}
            onChange={(event) => set({ defaultBranch: event.target.value })}
          />
        </FormControl>
      </div>
      <FormControl>
        <Checkbox checked={fields.isDocsRepo} onChange={(event) => set({ isDocsRepo: event.target.checked })} />
        <FormControl.Label>Use for documentation</FormControl.Label>
      </FormControl>
      <div>
        <Button type="submit" variant="primary" loading={connect.isPending}>
          Connect repository
        </Button>
      </div>
    </form>
  );
}

async function connectFrom(body: Parameters<typeof api.connectRepository>[0]) {
  if (body.url === '') throw new Error('Choose a repository or enter its URL.');
  return api.connectRepository(body);
}

/** Suggests the last part of the URL as the name, if it is a valid one. */
function nameFrom(url: string): { name?: string } {
  const name =
    url
      .split('/')
      .at(-1)
      ?.replace(/\.git$/, '') ?? '';
  return /^[\w.-]*$/.test(name) ? { name } : {};
}
