// Work for the end of a process, which may run one test file or several, from where `afterAll` would concern one test.

const works = new Set<() => Promise<void>>();

/** Does this after the last file, or after each. */
export const atEndOfFiles = (work: () => Promise<void>): void => void works.add(work);

/** Called by test/preload.ts. */
export async function endFiles(): Promise<void> {
  for (const work of works) await work();
}
