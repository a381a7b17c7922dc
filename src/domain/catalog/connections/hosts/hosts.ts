// The API of each provider.
import type { Provider } from "../connection.ts";
import { bitbucketCloud } from "./bitbucket-cloud.ts";
import { bitbucketDataCenter } from "./bitbucket-data-center.ts";
import { git } from "./git.ts";
import { gitea } from "./gitea.ts";
import { github } from "./github.ts";
import { gitlab } from "./gitlab.ts";
import type { Host } from "./host.ts";

/** The API of each provider. */
export const HOSTS: Readonly<Record<Provider, Host>> = {
  github,
  gitlab,
  gitea,
  bitbucket_data_center: bitbucketDataCenter,
  bitbucket_cloud: bitbucketCloud,
  git,
};
