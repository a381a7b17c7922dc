// The bill of materials of a release in CycloneDX 1.6: the executable, the runtime inside it, and every bundled package with
// license and digest. It is made with the CycloneDX project's library and does not depend on when or where it is made.
import { Enums, Models, Serialize, Spec } from "@cyclonedx/cyclonedx-library";
import { type BundledPackage, identityOf } from "./bundled-packages.ts";

export interface Product {
  version: string;
  /** commit id */
  commit: string;
  /** RFC 3339 time of the commit */
  builtAt: string | undefined;
  /** SHA-256 of the executable, in hexadecimal */
  sha256: string;
  /** version of the Bun runtime inside it */
  runtime: string;
}

/** @returns the document as JSON */
export function sbomText(product: Product, packages: readonly BundledPackage[]): string {
  const bom = new Models.Bom();
  const root = rootOf(product);
  const runtime = runtimeOf(product);
  const components = new Map(packages.map((bundled) => [identityOf(bundled), componentOf(bundled)]));
  for (const component of [runtime, ...components.values()]) {
    bom.components.add(component);
    root.dependencies.add(component.bomRef);
  }
  for (const bundled of packages) {
    for (const imported of bundled.imports) {
      const target = components.get(imported);
      if (target) components.get(identityOf(bundled))?.dependencies.add(target.bomRef);
    }
  }
  bom.metadata.component = root;
  if (product.builtAt !== undefined) bom.metadata.timestamp = new Date(product.builtAt);
  const normalize = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6);
  return `${new Serialize.JsonSerializer(normalize).serialize(bom, { sortLists: true, space: 2 })}\n`;
}

function rootOf({ version, commit, sha256 }: Product): Models.Component {
  const root = new Models.Component(Enums.ComponentType.Application, "quartermaster", {
    version,
    bomRef: `quartermaster@${version}`,
    hashes: new Models.HashDictionary([[Enums.HashAlgorithm["SHA-256"], sha256]]),
    licenses: new Models.LicenseRepository([new Models.SpdxLicense("Apache-2.0")]),
  });
  root.properties.add(new Models.Property("quartermaster:commit", commit));
  return root;
}

const runtimeOf = ({ runtime }: Product): Models.Component =>
  new Models.Component(Enums.ComponentType.Platform, "bun", {
    version: runtime,
    bomRef: `bun@${runtime}`,
    purl: `pkg:npm/bun@${runtime}`,
    licenses: new Models.LicenseRepository([new Models.SpdxLicense("MIT")]),
  });

function componentOf(bundled: BundledPackage): Models.Component {
  const { name, version, license, sha512 } = bundled;
  const [group, short] = name.startsWith("@") ? name.split("/") : [undefined, name];
  return new Models.Component(Enums.ComponentType.Library, short ?? name, {
    version,
    group,
    bomRef: identityOf(bundled),
    purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
    hashes: new Models.HashDictionary([[Enums.HashAlgorithm["SHA-512"], sha512]]),
    licenses: new Models.LicenseRepository([new Models.SpdxLicense(license)]),
  });
}
