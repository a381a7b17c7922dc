// Temporary environment variables.

/** @param variables that are not set in the environment; disposal removes them */
export function withVariables(variables: Readonly<Record<string, string>>): Disposable {
  Object.assign(process.env, variables);
  return {
    [Symbol.dispose]() {
      for (const name of Object.keys(variables)) delete process.env[name];
    },
  };
}
