// Addresses and names of the steps that add a package.
import { PACKAGES_PATH } from "../words.ts";

export const NEW_PACKAGE_PATH = `${PACKAGES_PATH}/new`;
export const UPLOAD_PATH = `${NEW_PACKAGE_PATH}/upload`;

/** In their order. */
export const STEPS = {
  source: { path: NEW_PACKAGE_PATH, label: "Archive" },
  inspection: { path: `${NEW_PACKAGE_PATH}/inspection`, label: "Inspection" },
  identity: { path: `${NEW_PACKAGE_PATH}/identity`, label: "Name" },
  layout: { path: `${NEW_PACKAGE_PATH}/layout`, label: "Layout" },
  audience: { path: `${NEW_PACKAGE_PATH}/audience`, label: "Audience" },
  check: { path: `${NEW_PACKAGE_PATH}/check`, label: "Check" },
} as const;

export type Step = keyof typeof STEPS;

export const NEW_BREADCRUMBS = [{ href: PACKAGES_PATH, label: "Packages" }] as const;
