// Packages: the list, one of each origin, and the confirmation of a removal. policy.ts publishes the policy that has them.
import { reportedPackage, reportWith } from "../../../domain/clients/policies.ts";
import { seedCatalog, writeArchive } from "../../../support/content/catalog.ts";
import { tarFile } from "../../../support/content/tar.ts";
import type { TestServer } from "../../../support/server.ts";
import type { Area } from "../scenes.ts";

const HOSTILE = `<script>alert(1)</script>\u202E${"very-long-".repeat(25)}`;
const FOREIGN = "\u05EA\u05D9\u05E7\u05D5\u05DF";

type Server = Pick<TestServer, "domain" | "world">;

const guideOf = (testServer: Server, version: string) => ({
  id: "guide",
  name: FOREIGN,
  version,
  ...writeArchive(testServer, `guide-${version}`, [
    tarFile("skills/guide/SKILL.md", version),
    tarFile("plugins/guide.ts"),
  ]),
  adapters: { codex: { skills_dir: "skills" }, opencode: { plugins: ["plugins/guide.ts"] } },
});

/** Fills the catalog, which then has a newer version of the first package. @returns packages for the policy */
export async function packagesOfPolicy(testServer: Server): Promise<object[]> {
  const address = { source_ref: "https://packages.example.com/a.tar.gz", sha256: "ab".repeat(32) };
  const own = { id: "o".repeat(128), name: HOSTILE.slice(0, 256), version: "2026-03", ...address };
  await seedCatalog(testServer, [guideOf(testServer, "1.2.0")]);
  const published = testServer.domain.catalog.list(testServer.world.organizationId);
  await seedCatalog(testServer, [
    guideOf(testServer, "1.3.0"),
    { id: "offered", version: "0.1.0", ...address },
  ]);
  return [...published, own];
}

export const extensionsArea: Area = {
  async seed({ server }) {
    const { accessToken: token } = await server.signedIn("member", { email: "guide@example.com" });
    const failing = reportedPackage({ id: "guide", version: "1.2.0", state: "failed", error: HOSTILE });
    const body = reportWith({ instance_id: "fails", hostname: "fails", packages: [failing] });
    await server.request("POST", "/client-status", { token, body });
  },
  scenes: [
    { title: "Packages", open: "/console/packages" },
    { title: "Packages", state: "filtered wrongly", open: "/console/packages?kind=other" },
    { title: "Packages", state: "none match", open: "/console/packages?q=nothing" },
    { title: FOREIGN, open: "/console/packages/guide?contents=all" },
    { title: "Catalog", open: "/console/catalog" },
    { title: "Catalog", state: "filtered wrongly", open: "/console/catalog?offer=other" },
    { title: FOREIGN, state: "in the catalog", open: "/console/catalog/guide?contents=all" },
    { title: "Remove guide", open: "/console/packages/guide/remove" },
  ],
};
