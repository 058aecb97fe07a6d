/**
 * Returns an SQL limit with which PostgreSQL reads the first rows in the order of an index, however many rows it expects.
 * It underestimates how many rows meet several conditions that depend on each other, such as an agent and its project. If
 * it expects fewer rows than the limit, it may read and sort all of them. It does not know the value of a subquery, and
 * then plans to read a tenth of what it expects.
 */
export function limitInIndexOrder(count: number): string {
  return `limit (select ${count})`;
}
