// Finds the methods of a path for the Allow header, because the framework answers 404 to a wrong method.
import type { DocumentedRoute } from "../openapi.ts";

/** @returns a function that lists the methods of a path; empty for an unknown path */
export function allowedMethods(routes: readonly DocumentedRoute[]): (path: string) => string[] {
  let templates: { method: string; pattern: RegExp }[] | undefined; // made for the first such path
  return (path) => {
    templates ??= routes.map(({ method, path }) => ({ method, pattern: patternOf(path) }));
    const methods = templates.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
    return [...new Set(methods.includes("GET") ? [...methods, "HEAD"] : methods)];
  };
}

const patternOf = (template: string): RegExp =>
  new RegExp(`^${template.replaceAll(/[.+^${}()|[\]\\]/g, "\\$&").replaceAll(/:\w+/g, "[^/]+")}/?$`);
