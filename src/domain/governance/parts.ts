// What the files of the governance area share: its dependencies and its own parts that others build on.
import type { GovernanceDependencies } from "./dependencies.ts";
import type { Publisher } from "./publisher.ts";
import type { Revisions } from "./revisions.ts";

export interface GovernanceParts extends GovernanceDependencies {
  revisions: Revisions;
  publisher: Publisher;
}
