// Computes a value at its first use, so a command that never needs it starts faster.

/** @returns a function that computes the value on its first call and returns it on every call */
export function lazily<T extends object>(compute: () => T): () => T {
  let computed: T | undefined;
  return () => {
    computed ??= compute();
    return computed;
  };
}
