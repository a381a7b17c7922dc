// Formats counts for people.

/** @returns such as `1 user`, `2 users` or `0 entries` */
export const countText = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;
