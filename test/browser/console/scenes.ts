// Every page of the console in every state.
import type { Page } from "playwright-core";
import type { Site } from "../../support/browser/browser.ts";
import { extensionsArea } from "./areas/extensions.ts";
import { fleetArea } from "./areas/fleet.ts";
import { frameArea } from "./areas/frame.ts";
import { gatewayArea } from "./areas/gateway.ts";
import { newPackageArea } from "./areas/new-package.ts";
import { overviewArea } from "./areas/overview.ts";
import { ownArea } from "./areas/own.ts";
import { packagesArea } from "./areas/packages.ts";
import { peopleArea } from "./areas/people.ts";
import { policyArea } from "./areas/policy.ts";
import { sessionArea } from "./areas/sessions.ts";
import { systemArea } from "./areas/system.ts";

export interface Scene {
  /** text of the h1 */
  title: string;
  /** distinguishes the states of a page; the first scene of a page has none */
  state?: string;
  as?: "admin" | "member" | "auditor";
  /** path, or a function that navigates the tab to the page */
  open: string | ((page: Page, site: Site) => Promise<unknown>);
}

export interface Area {
  /** Adds rows for the pages: a few, and some with texts that are long, foreign or hostile. */
  seed?(site: Site): Promise<void>;
  scenes: readonly Scene[];
}

/** One file for each part of the navigation. */
const AREAS: readonly Area[] = [
  frameArea,
  gatewayArea,
  fleetArea,
  ownArea,
  newPackageArea,
  overviewArea,
  packagesArea,
  peopleArea,
  policyArea,
  extensionsArea,
  sessionArea,
  systemArea,
];

const seeds = AREAS.flatMap(({ seed }) => seed ?? []);

/** Seeds the rows of all areas. */
export async function seedConsole(site: Site): Promise<void> {
  for (const seed of seeds) await seed(site);
}

export const SCENES: readonly Scene[] = AREAS.flatMap(({ scenes }) => scenes);
