/** Returns the number of the last page, which GitHub names in the `Link` header of the others. */
export function lastPage({ link = '' }: { link?: string | undefined }): number {
  return Number(/[?&]page=(\d+)[^>]*>; *rel="last"/.exec(link)?.[1] ?? 1);
}
