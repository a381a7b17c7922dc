// Every destination the settings let the service connect to; whatever is not listed here cannot be reached
// (src/platform/outbound.ts). An area that connects somewhere adds its destinations here.
import type { Config } from "../src/platform/config.ts";
import type { Destination } from "../src/platform/outbound.ts";

/** @returns the destinations in force; none of today's settings names one */
export const destinationsOf = (_config: Config): readonly Destination[] => [];
