/**
 * Returns why GitHub refuses a request with 422 whose texts are too long; undefined if they are not. It counts characters of bodies
 * and titles, and bytes of the output of check runs.
 */
export function tooLong(method: string, path: string, body = ''): object | undefined {
  if (!['POST', 'PATCH'].includes(method) || !/^\/(repos|repositories)\//.test(path) || !body.startsWith('{'))
    return undefined;
  const { title, body: text, output } = JSON.parse(body) as Record<string, unknown>;
  const problems = [
    ...(longer(text, 65_536)
      ? [{ code: 'custom', field: 'body', message: 'body is too long (maximum is 65536 characters)' }]
      : []),
    ...(longer(title, 256)
      ? [{ code: 'custom', field: 'title', message: 'title is too long (maximum is 256 characters)' }]
      : []),
    ...Object.entries(output ?? {}).flatMap(([field, value]) =>
      Buffer.byteLength(String(value)) > 65_535
        ? [{ resource: 'CheckRun', code: 'custom', field, message: `${field} exceeds a maximum bytesize of 65535` }]
        : [],
    ),
  ];
  return problems.length === 0 ? undefined : { message: 'Validation Failed', errors: problems };
}

const longer = (text: unknown, max: number) => typeof text === 'string' && [...text].length > max;
