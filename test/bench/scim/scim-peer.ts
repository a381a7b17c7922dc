// The reference of scim.ts, in a separate process, on Bun or on Node: the npm packages scimmy and scimmy-routers behind Express,
// with everything in memory. A lookup by name uses a Map. A page is served as in their own example: the handler returns all users,
// and the package selects the page. A request with TAKES_PAGE lets the handler select the page itself, which the package allows.
import { randomUUID } from "node:crypto";
import express from "express";
import SCIMMY from "scimmy";
import SCIMMYRouters from "scimmy-routers";
import { SCIM_BASE_PATH } from "../../../src/domain/scim/wire.ts";
import { FEW_USERS, groupNameAt, TAKES_PAGE, TOKEN, userAt } from "./scim-plan.ts";

const meta = () => ({ created: new Date(), lastModified: new Date() });
const groupsShown = [0, 1, 2].map((at) => ({
  value: randomUUID(),
  display: groupNameAt(at),
  type: "direct",
}));
const users = Array.from({ length: FEW_USERS }, (_, at) => ({
  ...userAt(at),
  id: randomUUID(),
  groups: groupsShown.slice(at % 2), // users of the service have 2.5
  meta: meta(),
}));
const byId = new Map<string, (typeof users)[number]>(users.map((user) => [user.id, user]));
const byName = new Map(users.map((user) => [user.userName, user]));
const groups = new Map<string, object>();
const groupNames = new Set<string>();

type Asked = InstanceType<typeof SCIMMY.Resources.User>;

function findUsers({ id, filter, constraints }: Asked, takesPage: boolean) {
  if (id !== undefined) return byId.get(id) ?? [];
  const [operator, name] = filter?.length === 1 ? (filter[0]?.userName ?? []) : [];
  if (operator === "eq") return [byName.get(name) ?? []].flat();
  if (filter) return filter.match(users);
  if (!takesPage || !constraints) return users;
  const { startIndex = 1, count = 20 } = constraints;
  Object.assign(constraints, { totalResults: users.length });
  return users.slice(startIndex - 1, startIndex - 1 + count);
}

SCIMMY.Resources.declare(SCIMMY.Resources.User).extend(SCIMMY.Schemas.EnterpriseUser).egress(findUsers);
SCIMMY.Resources.declare(SCIMMY.Resources.Group).ingress((_, sent) => {
  const name = String(sent.displayName).toLowerCase();
  if (groupNames.has(name)) throw new SCIMMY.Types.Error(409, "uniqueness", "displayName is taken");
  const group = { ...sent, id: randomUUID(), meta: meta() };
  groupNames.add(name);
  groups.set(group.id, group);
  return group;
});

const app = express();
const server = app.listen(0, "127.0.0.1", () => {
  const address = server.address();
  const origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
  app.use(
    SCIM_BASE_PATH,
    new SCIMMYRouters({
      type: "bearer",
      baseUri: () => origin,
      context: (request) => request.header(TAKES_PAGE) !== undefined,
      handler: (request) => {
        if (request.header("Authorization") !== `Bearer ${TOKEN}`) throw new Error("wrong token");
        return "provider";
      },
    }),
  );
  console.log(origin);
});
