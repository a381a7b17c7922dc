import { expect, test } from "bun:test";
import { auditEntries } from "../../../src/domain/audit/tables.ts";
import { organizations } from "../../../src/domain/identity/tables.ts";
import { createBranding } from "../../../src/domain/system/branding.ts";
import { BRANDING_URL_LENGTH_MAX, toBranding } from "../../../src/domain/system/model.ts";
import { createWorld, type World } from "../../support/world.ts";

const LOGO = "https://cdn.example.com/logo.svg";

const brandingOf = (world: World) =>
  createBranding({
    ...world,
    identity: { findOrganization: () => ({ id: world.organizationId, name: "Test" }) },
  });

const auditCount = ({ db }: World) => db.read.$count(auditEntries);

test("an organization has no branding until an administrator sets it", async () => {
  await using world = await createWorld();
  const branding = brandingOf(world);
  expect(toBranding(branding.get(world.organizationId))).toEqual({ logo_url: null, favicon_url: null });
  await branding.update(world.system, { logoUrl: `  ${LOGO} `, faviconUrl: " " });
  expect(toBranding(branding.get(world.organizationId))).toEqual({ logo_url: LOGO, favicon_url: null });
});

test("an update replaces both addresses", async () => {
  await using world = await createWorld();
  const branding = brandingOf(world);
  await branding.update(world.system, { logoUrl: LOGO });
  expect(await branding.update(world.system, { faviconUrl: LOGO })).toEqual({
    logoUrl: null,
    faviconUrl: LOGO,
  });
  expect(await branding.update(world.system, { logoUrl: null })).toEqual({ logoUrl: null, faviconUrl: null });
  expect(await auditCount(world)).toBe(3);
});

test("repeating the same branding changes nothing", async () => {
  await using world = await createWorld();
  const branding = brandingOf(world);
  await branding.update(world.system, {});
  expect(await auditCount(world)).toBe(0);
  await branding.update(world.system, { logoUrl: LOGO });
  await branding.update(world.system, { logoUrl: LOGO });
  expect(await auditCount(world)).toBe(1);
});

test("branding belongs to one organization", async () => {
  await using world = await createWorld();
  const branding = brandingOf(world);
  const other = world.ids.uuid();
  await world.db.write((tx) => {
    tx.insert(organizations).values({ id: other, name: "Other", createdAtMs: 0 }).run();
  });
  await branding.update({ ...world.system, organizationId: other }, { logoUrl: LOGO });
  expect(branding.get(world.organizationId).logoUrl).toBeNull();
  expect(branding.get(other).logoUrl).toBe(LOGO);
});

test.each([
  LOGO,
  "http://localhost:3000/logo.png",
  "http://127.0.0.1/x",
  "http://[::1]:8080/x",
  "HTTPS://Example.com",
])("%p may be shown", async (url) => {
  await using world = await createWorld();
  expect(await brandingOf(world).update(world.system, { logoUrl: url })).toMatchObject({ logoUrl: url });
});

test.each([
  "http://example.com/logo.png",
  "http://127.0.0.1.example.com/",
  "http://localhost.example.com/",
  "//example.com/logo.png",
  "/logo.png",
  "https:logo.png",
  "https://",
  "https:///logo.png",
  "https://exa mple.com/",
  "javascript:alert(1)",
  "data:image/png;base64,AA",
  "ftp://example.com/logo.png",
])("%p is refused", async (url) => {
  await using world = await createWorld();
  const update = brandingOf(world).update(world.system, { logoUrl: url, faviconUrl: url });
  await expect(update).rejects.toMatchObject({
    kind: "invalid",
    reason: "branding.invalid",
    problems: [{ pointer: "/logo_url" }, { pointer: "/favicon_url" }],
  });
  expect(await auditCount(world)).toBe(0);
});

test.each([
  [BRANDING_URL_LENGTH_MAX - 1, true],
  [BRANDING_URL_LENGTH_MAX, true],
  [BRANDING_URL_LENGTH_MAX + 1, false],
])("an address of %p characters is accepted: %p", async (length, accepted) => {
  await using world = await createWorld();
  const logoUrl = `${LOGO}?`.padEnd(length, "x");
  const update = brandingOf(world).update(world.system, { logoUrl });
  expect(
    await update.then(
      () => true,
      () => false,
    ),
  ).toBe(accepted);
});
