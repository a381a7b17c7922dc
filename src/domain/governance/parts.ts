// Types that the files of the governance area share: its dependencies, and the parts that other areas use.
import type { GovernanceDependencies } from "./dependencies.ts";
import type { Publisher } from "./publishing/publisher.ts";
import type { Revisions } from "./reading/revisions.ts";

export interface GovernanceParts extends GovernanceDependencies {
  revisions: Revisions;
  publisher: Publisher;
}
