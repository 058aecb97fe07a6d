import { Button, FormControl, TextInput } from '@primer/react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import * as api from '../api.ts';
import { submitOnce } from '../forms/submit.ts';
import { notifyError } from '../frame/notices.tsx';

export function CreateToken({ onCreated }: { onCreated(token: api.NewApiToken): void }) {
  const client = useQueryClient();
  const [name, setName] = useState('');
  const [days, setDays] = useState('90');
  const create = useMutation({
    mutationFn: () => api.createToken({ name: name.trim(), expiresInDays: Number(days) }),
    onSuccess: (token) => {
      onCreated(token);
      setName('');
      void client.invalidateQueries({ queryKey: ['tokens'] });
    },
    onError: notifyError,
  });
  return (
    <form className="row wrap-row bottom-aligned" onSubmit={submitOnce(create)}>
      <FormControl required>
        <FormControl.Label>Name</FormControl.Label>
        <TextInput maxLength={200} value={name} onChange={(event) => setName(event.target.value)} />
      </FormControl>
      <FormControl required>
        <FormControl.Label>Expires in (days)</FormControl.Label>
        <TextInput type="number" min={1} max={366} value={days} onChange={(event) => setDays(event.target.value)} />
      </FormControl>
      <Button type="submit" variant="primary" loading={create.isPending}>
        Create token
      </Button>
    </form>
  );
}
