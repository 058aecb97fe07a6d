import { Button, TextInput } from '@primer/react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import * as api from '../api.ts';
import { submitOnce } from '../forms/submit.ts';
import { notifyError } from '../frame/notices.tsx';

export function NewProject() {
  const [name, setName] = useState('');
  const client = useQueryClient();
  const navigate = useNavigate();
  const create = useMutation({
    mutationFn: () => api.createProject({ name: name.trim() }),
    onSuccess: async (project) => {
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
