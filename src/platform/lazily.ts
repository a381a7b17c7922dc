// Computes a value at its first use: a command that never needs it starts without the cost. The caller keeps the function.

/** @returns a function that computes the value with its first call, and returns the same one with every call */
export function lazily<T extends object>(compute: () => T): () => T {
  let computed: T | undefined;
  return () => {
    computed ??= compute();
    return computed;
  };
}
