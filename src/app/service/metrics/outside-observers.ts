// The observers of every outside service that the domain asks.

import type { Tracer } from "../../../platform/tracing/tracer.ts";
import type { InstallationOptions } from "../../installation/installation.ts";
import { tracedProvisioner } from "../../tracing/traced-provisioner.ts";
import { watchProvisioner } from "./gateway-metrics.ts";
import { watchObjectStore } from "./object-store-metrics.ts";
import { watchSources } from "./source-metrics.ts";
import { watchSso } from "./sso-metrics.ts";

/** Registers their metrics, so call it once per service. */
export const outsideObservers = (parts: Parameters<typeof watchSso>[0] & { tracer?: Tracer | undefined }) =>
  ({
    observeProvisioner: tracedProvisioner(watchProvisioner(parts), parts.tracer),
    observeSso: watchSso(parts),
    observeObjectStore: watchObjectStore(parts),
    observeSource: watchSources(parts),
  }) satisfies Partial<InstallationOptions>;
