// Bodies of groups that are parsed while they arrive: many members have the same result as few, and a body with too
// many problems is refused before the rest is parsed.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { UNKNOWN_ENTRIES_MAX } from "../../../src/domain/scim/groups/member-intake.ts";
import { REQUEST_MEMBERS_MAX } from "../../../src/domain/scim/patch/member-ids.ts";
import { PATCH_OP } from "../../../src/domain/scim/wire.ts";
import { SLICE_CHARACTERS } from "../../../src/platform/json/long-lists.ts";
import {
  LARGE_OBJECT_MEMBERS_MAX,
  OBJECT_SHAPES_MAX,
  SHAPE_MEMBERS_MAX,
} from "../../../src/platform/json/shapes.ts";
import { SCIM_DEPTH_MAX, SCIM_VALUES_MAX } from "../../../src/server/scim/body.ts";
import { GROUP_REST_CHARACTERS_MAX } from "../../../src/server/scim/group-body.ts";
import { addScimUsers } from "../../domain/scim/groups/groups-world.ts";
import {
  createScimServer,
  expectRefusal,
  type ScimResult,
  type ScimServer,
} from "../../support/scim-server.ts";

/** Several slices of ids only. */
const MANY = 2_500;
/** Entries with two of these are a slice. */
const HALF_SLICE = " ".repeat(SLICE_CHARACTERS / 2);
/** Not JSON: a reader that gets this far refuses the body for its syntax. */
const GARBAGE = "?";

let scim: ScimServer;
let people: string[];
beforeAll(async () => {
  scim = await createScimServer({ scim: { groupRoleMappings: { Administrators: "admin" } } });
  people = await addScimUsers(scim.server.world, MANY);
});
afterAll(() => scim[Symbol.asyncDispose]());

const unknownAt = (at: number): string => `01980000-0000-7000-8000-${String(at).padStart(12, "0")}`;
const unknown = (count: number) => Array.from({ length: count }, (_, at) => unknownAt(at));
const listOf = (ids: readonly string[]): string => ids.map((value) => JSON.stringify({ value })).join(",");

const groupText = (list: string, displayName = "Everybody"): string =>
  `{"displayName":"${displayName}","members":[${list}]}`;
const patchText = (list: string, op = '"op":"add"'): string =>
  `{"schemas":["${PATCH_OP}"],"Operations":[{${op},"path":"members","value":[${list}]}]}`;

const memberCount = async (id: string): Promise<number> => (await scim.membersOf(id)).length;
const detailOf = (answered: ScimResult): string => {
  expect(expectRefusal(answered)).toMatch(/^400 /);
  return answered.body.detail;
};

/** Sends a text in chunks of this many bytes. */
function inPieces(text: string, size: number, between: (sent: number) => Promise<unknown> = async () => {}) {
  const bytes = Buffer.from(text);
  let at = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      await between(at);
      controller.enqueue(bytes.subarray(at, at + size));
      at += size;
      if (at >= bytes.length) controller.close();
    },
  });
}

describe("many members", () => {
  test.each(["text/plain", "application/vnd.example+json"])("sent as %s are refused", async (type) => {
    const body = groupText(listOf(people), "Of another type");
    const answered = await scim.ask("POST", "/Groups", { body, headers: { "content-type": type } });
    expect(expectRefusal(answered)).toBe("415");
  });

  test("stores each member of the group once, in any spelling", async () => {
    const written = people.map((id, at): unknown => {
      const others = {
        $ref: `https://host.example/scim/v2/Users/${id}`,
        display: `é😀 ] } , [ ${at}`,
        type: "User",
      };
      return [{ value: id }, id, { VALUE: id, ...others }, { $ref: others.$ref }, { value: [id], x: [{}] }][
        at % 5
      ];
    });
    const list = JSON.stringify([...written, ...written.slice(0, 2_000)]).slice(1, -1);
    for (const size of [30_000, 1_000_000]) {
      const body = inPieces(groupText(list, `Pieces of ${size}`), size);
      const { status, body: made } = await scim.ask("POST", "/Groups", { body });
      expect(status).toBe(201);
      expect((await scim.membersOf(made.id)).toSorted()).toEqual(people.toSorted());
    }
  });

  test("replace the former members, and only the difference is reported", async () => {
    const id = await scim.group("Replaced", ...people.slice(0, 3));
    const put = async (some: readonly string[]) =>
      (await scim.ask("PUT", `/Groups/${id}`, { body: groupText(listOf(some), "Replaced") })).headers.get(
        "etag",
      );
    expect(await put(people.slice(1))).toBe('W/"2"');
    expect((await scim.membersOf(id)).toSorted()).toEqual(people.slice(1).toSorted());
    expect(await put(people.slice(1).toReversed())).toBe('W/"2"');
    expect(await put(people.slice(0, 2_000))).toBe('W/"3"');
    expect(await memberCount(id)).toBe(2_000);
    const { status } = await scim.ask("PATCH", `/Groups/${id}`, { body: patchText(listOf(people)) });
    expect([status, await memberCount(id)]).toEqual([204, MANY]);
    const pathless = `{"Operations":[{"op":"replace","value":{"members":[${listOf(people.slice(2))}]}}]}`;
    expect((await scim.ask("PATCH", `/Groups/${id}`, { body: pathless })).status).toBe(204);
    expect(await memberCount(id)).toBe(MANY - 2);
  });

  test("get the role of the group", async () => {
    const { status } = await scim.ask("POST", "/Groups", {
      body: groupText(listOf(people), "Administrators"),
    });
    expect(status).toBe(201);
    const { identity } = scim.server.domain;
    const roles = new Set(people.map((id) => identity.users.find(scim.server.world.organizationId, id).role));
    expect(roles).toEqual(new Set(["admin"]));
    const { body } = await scim.ask("GET", '/Groups?filter=displayName eq "Administrators"');
    await scim.ask("DELETE", `/Groups/${body.Resources[0].id}`);
  });

  test("removes members, including unknown ones, at any position of the operation", async () => {
    const ids = [...people.slice(1), ...unknown(3_000)];
    for (const op of ['"op":"remove"', '"x":{},"OP" : "Remove"']) {
      const id = await scim.group(`Removed ${op.length}`, ...people.slice(0, 3));
      expect((await scim.ask("PATCH", `/Groups/${id}`, { body: patchText(listOf(ids), op) })).status).toBe(
        204,
      );
      expect(await scim.membersOf(id)).toEqual(people.slice(0, 1));
    }
    const id = await scim.group("Removed at last", ...people.slice(0, 3));
    const body = `{"Operations":[{"path":"members","value":[${listOf(ids)}],"op":"remove"}]}`;
    expect((await scim.ask("PATCH", `/Groups/${id}`, { body })).status).toBe(204);
    expect(await scim.membersOf(id)).toEqual(people.slice(0, 1));
  });

  test("applies several operations on many members in their order", async () => {
    const id = await scim.group("In order", people[0] ?? "");
    const operation = (op: string, ids: readonly string[]) =>
      `{"op":"${op}","path":"members","value":[${listOf(ids)}]}`;
    const operations = [
      operation("add", people),
      operation("remove", people.slice(1)),
      operation("add", people.slice(3, 4)),
    ];
    const body = `{"Operations":[${operations.join(",")}]}`;
    expect((await scim.ask("PATCH", `/Groups/${id}`, { body })).status).toBe(204);
    expect((await scim.membersOf(id)).toSorted()).toEqual([people[0] ?? "", people[3] ?? ""].toSorted());
  });

  test("refuses many members if one of them was deleted in the meantime", async () => {
    const id = await scim.group("Meanwhile");
    const [gone = "", another = ""] = await addScimUsers(scim.server.world, 2, "meanwhile");
    const text = groupText(listOf([gone, another, ...people, ...people, ...people]), "Meanwhile");
    const size = 70_000; // enough for a piece: when the last one is requested, the members in the first have been found
    const last = Math.floor(text.length / size) * size;
    const removal = (removed: readonly string[]) =>
      inPieces(text, size, async (sent) => {
        if (sent === last) for (const user of removed) await scim.ask("DELETE", `/Users/${user}`);
      });
    const one = await scim.ask("PUT", `/Groups/${id}`, { body: removal([gone]) });
    expect(detailOf(one)).toContain("1 user was deleted while the request arrived");
    expect(await memberCount(id)).toBe(0);
    const other = await scim.ask("PUT", `/Groups/${id}`, { body: removal([another]) });
    expect(detailOf(other)).toBe(
      `members: no user has these ids: "${gone}"; create the users first, then send their ids`,
    );
  });
});

describe("unknown members", () => {
  const told = (ids: readonly string[]): string =>
    `no user has these ids: ${ids.map((id) => `"${id}"`).join(", ")};`;
  const first = unknown(10);

  const WAYS: [string, string, (list: string) => string][] = [
    ["POST", "/Groups", groupText],
    ["PUT", "/Groups/:id", groupText],
    ["PATCH", "/Groups/:id", patchText],
    ["PATCH", "/Groups/:id", (list) => patchText(list, '"op":"Replace"')],
    ["PATCH", "/Groups/:id", (list) => `{"Operations":[{"op":"add","value":{"members":[${list}]}}]}`],
  ];

  describe.each(WAYS)("%s %s: %#", (method, path, textOf) => {
    const send = async (list: string) => {
      const id = await scim.group(crypto.randomUUID(), people[0] ?? "");
      const answered = await scim.ask(method, path.replace(":id", id), { body: textOf(list) });
      expect(await scim.membersOf(id)).toEqual(people.slice(0, 1));
      return detailOf(answered);
    };

    test("ten are named, and nothing after their slice is parsed", async () => {
      const list = `${listOf([...people.slice(0, 2_000), ...unknown(3_000), ...people])},${GARBAGE}`;
      expect(await send(list)).toContain(told(first));
    });

    test("fewer than ten are named after the last member", async () => {
      const some = first.slice(0, 9);
      const list = [...some.slice(0, 4), ...people, ...some.slice(4)];
      expect(await send(listOf(list))).toContain(told(some));
      expect(await send(`${listOf(list)},${GARBAGE}`)).toContain("not valid JSON");
    });

    test.each([-1, 0, 1])(
      "entries of one are enough above the limit, tested at the limit %i",
      async (more) => {
        const same = Array(UNKNOWN_ENTRIES_MAX + more).fill(first[0]);
        const detail = await send(`${listOf([...same, ...people])},${GARBAGE}`);
        expect(detail).toContain(more > 0 ? told(first.slice(0, 1)) : "not valid JSON");
      },
    );

    test("groups among them are distinguished", async () => {
      const group = await scim.group(crypto.randomUUID());
      expect(await send(listOf([group, ...people]))).toContain(`these are groups: "${group}"`);
    });

    test("ten entries without an id are named, and nothing after their slice is parsed", async () => {
      const list = `${listOf(people)},${Array(10).fill("{}").join(",")},${listOf(people)},${GARBAGE}`;
      const detail = await send(list);
      expect(detail).toContain(`members[${MANY}] must have the id of a user as value`);
      expect(detail).toContain(`members[${MANY + 9}] must have`);
    });

    test("fewer entries without an id are all named, with their places", async () => {
      const detail = await send(`{},${listOf(people)},{"value":" "},{"type":"Group","value":"x"}`);
      expect(detail).toContain("members[0] must have");
      expect(detail).toContain(`members[${MANY + 1}] must have`);
      expect(detail).toContain(`members[${MANY + 2}] is a group`);
      if (method === "PATCH") expect(detail).toStartWith("Operations[0]: ");
    });
  });

  test("refuses many unknown members of a missing group, and answers 404 for a few without a look-up", async () => {
    const ask = (list: string) => scim.ask("PUT", `/Groups/${unknownAt(0)}`, { body: groupText(list) });
    expect(detailOf(await ask(listOf(unknown(3_000))))).toContain(told(first));
    expect(expectRefusal(await ask(listOf([...people, ...first.slice(1)])))).toBe("404");
  });

  test("ignores unknown members in other lists", async () => {
    const body = `{"x":{"members":[${listOf(unknown(3_000))}]},"displayName":"Other lists","value":[${listOf(unknown(3_000))}]}`;
    expect((await scim.ask("POST", "/Groups", { body })).status).toBe(201);
    const path = '"op":"replace","path":"schemas"';
    const id = await scim.group("Schemas");
    const patch = patchText(listOf(unknown(3_000)), '"op":"replace"').replace(
      '"path":"members"',
      '"path":"schemas"',
    );
    expect([path.length > 0, (await scim.ask("PATCH", `/Groups/${id}`, { body: patch })).status]).toEqual([
      true,
      204,
    ]);
  });
});

describe("limits", () => {
  test.each([-1, 0, 1])("limits the members in a PATCH, tested at the limit %i", async (more) => {
    const id = await scim.group(`Limit ${more}`, people[0] ?? "");
    const half = Math.floor((REQUEST_MEMBERS_MAX + more) / 2);
    const operation = (count: number) =>
      `{"op":"remove","path":"members","value":[${listOf(unknown(count))}]}`;
    const body = `{"Operations":[${operation(half)},${operation(REQUEST_MEMBERS_MAX + more - half)}]}`;
    const answered = await scim.ask("PATCH", `/Groups/${id}`, { body });
    if (more <= 0) expect(answered.status).toBe(204);
    else {
      expect(expectRefusal(answered)).toBe("413");
      expect(answered.body.detail).toContain(`at most ${REQUEST_MEMBERS_MAX} members`);
    }
  });

  test.each([-1, 0, 1])(
    "SCIM-80 limits the members in a complete group, tested at the limit %i",
    async (more) => {
      const entries = Array(REQUEST_MEMBERS_MAX + more - people.length).fill(`"${people[0]}"`);
      const body = groupText(`${listOf(people)},${entries.join(",")}`, `Complete ${more}`);
      const answered = await scim.ask("POST", "/Groups", { body });
      if (more <= 0) expect([answered.status, await memberCount(answered.body.id)]).toEqual([201, MANY]);
      else {
        expect(expectRefusal(answered)).toBe("413");
        expect(answered.body.detail).toContain(`at most ${REQUEST_MEMBERS_MAX} members`);
      }
    },
  );

  test("reports too many members before the rest is read", async () => {
    const entries = Array(REQUEST_MEMBERS_MAX + MANY).fill(`"${people[0]}"`);
    const body = `{"displayName":"Many","members":[${entries.join(",")},${GARBAGE}`;
    expect(expectRefusal(await scim.ask("POST", "/Groups", { body }))).toBe("413");
  });

  test.each([-1, 0, 1])(
    "limits the values in lists and beside them, tested at the limit %i",
    async (more) => {
      const inEntry = 100;
      const entry = `{"value":"${people[0]}","x":[${Array(inEntry - 5)
        .fill("0")
        .join(",")}]}`;
      const entries = Array(SCIM_VALUES_MAX["scim-group"] / inEntry - 1)
        .fill(entry)
        .join(",");
      const beside = inEntry + more - 8; // the object, its three names, the text, and both lists with the object in one
      const text = groupText(`${entries},{}`, `Values ${more}`).replace(
        /^\{/,
        `{"x":[${Array(beside).fill("1").join(",")}],`,
      );
      const detail = detailOf(await scim.ask("POST", "/Groups", { body: text }));
      expect(detail).toContain(
        more > 0 ? `more than ${SCIM_VALUES_MAX["scim-group"]} values` : "must have the id",
      );
    },
  );

  /** @returns the response for a group with 20 members of 50,000 characters, of which two are in a slice, and with other objects */
  const detailWith = async (names: (entry: number) => string, beside: string) => {
    const entries = Array.from(
      { length: 20 },
      (_, at) => `{"value":"${people[0]}",${names(at)},"x":[${" ".repeat(50_000)}]}`,
    );
    const group = groupText(`${entries.join(",")},{}`, crypto.randomUUID());
    return detailOf(await scim.ask("POST", "/Groups", { body: group.replace(/\}$/, `,"x":[${beside}]}`) }));
  };
  const namesOf = (count: number, prefix: string) =>
    Array.from({ length: count }, (_, at) => `"${prefix}${at}":0`).join(",");

  test.each([-1, 0, 1])(
    "limits the shapes of objects, added up over the slices, at the limit %i",
    async (more) => {
      const inSlices = 20 * (50 + 1) + 10; // the names of an entry and `x`, and one for the ids of a slice
      const beside = OBJECT_SHAPES_MAX - inSlices - 3 + more;
      const objects = Array.from({ length: beside }, (_, at) => `{"o${at}":0}`).join(",");
      expect(await detailWith((entry) => namesOf(50, `n${entry}-`), objects)).toContain(
        more > 0 ? `more than ${OBJECT_SHAPES_MAX} different shapes` : "must have the id",
      );
    },
  );

  test.each([-1, 0, 1])(
    "limits the members of large objects, added up over the slices, at the limit %i",
    async (more) => {
      const inSlices = 20 * 100;
      const each = (LARGE_OBJECT_MEMBERS_MAX - inSlices) / 4;
      const large = (count: number) => `{${namesOf(SHAPE_MEMBERS_MAX + count, "o")}}`;
      const objects = `${`${large(each)},`.repeat(3)}${large(each + more)}`;
      expect(await detailWith(() => namesOf(SHAPE_MEMBERS_MAX + 100 - 2, "n"), objects)).toContain(
        more > 0 ? `more than ${LARGE_OBJECT_MEMBERS_MAX} further members` : "must have the id",
      );
    },
  );

  test.each([-1, 0, 1])("limits the levels, also in a list, tested at the limit %i", async (more) => {
    const levels = SCIM_DEPTH_MAX - 3 + more; // the group, its list and the entry
    const entry = `{"value":"${people[0]}","x":${"[".repeat(levels)}${"]".repeat(levels)}}`;
    const answered = await scim.ask("POST", "/Groups", {
      body: groupText(`${listOf(people)},${entry}`, `Levels ${more}`),
    });
    if (more <= 0) expect(answered.status).toBe(201);
    else expect(detailOf(answered)).toContain(`more than ${SCIM_DEPTH_MAX} levels`);
  });

  test.each([-1, 0, 1])("limits the values beside the lists, tested at the limit %i", async (more) => {
    // the group, its three members' names, the display name, the list of members, and the other list
    const count = SCIM_VALUES_MAX.scim - 7 + more;
    const text = groupText(listOf(people), `Values ${more}`).replace(
      /\}$/,
      `,"x":[${"0,".repeat(count - 1)}0]}`,
    );
    const answered = await scim.ask("POST", "/Groups", { body: text });
    if (more <= 0) expect(answered.status).toBe(201);
    else expect(detailOf(answered)).toContain("values and names of members");
  });

  test.each([-1, 0, 1])("limits the characters beside the lists, tested at the limit %i", async (more) => {
    const text = (filler: string) =>
      groupText(listOf(people), `Rest ${more}`).replace(/\}$/, `,"x":[${filler}1]}`);
    const rest = text("").length - listOf(people).length - "[]".length;
    const filler = " ".repeat(GROUP_REST_CHARACTERS_MAX + more - rest);
    const answered = await scim.ask("POST", "/Groups", { body: text(filler) });
    if (more <= 0) expect(answered.status).toBe(201);
    else expect(detailOf(answered)).toContain(`more than ${GROUP_REST_CHARACTERS_MAX} characters beside`);
  });
});

describe("a body is refused as malformed", () => {
  const list = () => listOf(people);

  test.each([
    [
      "for a duplicate name in an entry",
      () => groupText(`${list()},{"value":"a","VALUE":"b"}`),
      "duplicated",
    ],
    ["for a duplicate list", () => groupText(list()).replace(/\}$/, `,"Members":[${list()}]}`), "duplicated"],
    ["for a comma at the end of a list", () => groupText(`${list()},`), "not valid JSON"],
    [
      "for a comma between the last slice and the end of a list",
      () => groupText(`"${people[0]}"${HALF_SLICE},"${people[1]}"${HALF_SLICE},`),
      "a list of members is malformed",
    ],
    [
      "for a comma after a slice without an entry",
      () => groupText(`${HALF_SLICE}${HALF_SLICE},"${people[0]}"`),
      "a list of members is malformed",
    ],
    ["for a comma too many", () => groupText(`${list()},,${list()}`), "not valid JSON"],
    ["for a list without an end", () => groupText(list()).slice(0, -2), "a list of members is malformed"],
    [
      "for a list that ends as an object",
      () => groupText(list()).replace(/\]\}$/, "}}"),
      "a list of members is malformed",
    ],
    ["for what follows a list", () => `${groupText(list())}]`, "not valid JSON"],
    ["for a list alone", () => `[${groupText(list())}]`, "must be one JSON object"],
    ["for a text of one entry without an end", () => groupText(`${list()},"x`).slice(0, -2), "malformed"],
  ])("%s", async (_what, text, detail) => {
    const answered = await scim.ask("POST", "/Groups", { body: text() });
    expect(expectRefusal(answered)).toBe("400 invalidSyntax");
    expect(answered.body.detail).toContain(detail);
  });

  test("names the place of an unexpected character in the whole body", async () => {
    const text = groupText(`${list()},${GARBAGE}`);
    const { body } = await scim.ask("POST", "/Groups", { body: text });
    expect(body.detail).toEndWith(`unexpected character at index ${text.indexOf(GARBAGE)}`);
  });

  test.each([
    ["in a list", (text: string) => Buffer.from(text.replace("é", "\u00ff"), "latin1")],
    ["at its end", (text: string) => Buffer.concat([Buffer.from(text.replace("é", "e")), Buffer.of(0xc3)])],
  ])("refuses bytes that are not UTF-8 %s", async (_where, bytesOf) => {
    const body = bytesOf(groupText(`${list()},{"value":"${people[0]}","display":"é"}`));
    const { status, body: refused } = await scim.ask("POST", "/Groups", { body });
    expect([status, refused.detail]).toEqual([400, "the body is not UTF-8"]);
  });

  test("refuses a malformed body while it arrives and reads the rest, so that the caller gets the response", async () => {
    const text = groupText(`${listOf(unknown(3_000))},${listOf(people)}`);
    let sent = 0;
    const body = inPieces(text, 20_000, async (at) => {
      sent = at;
    });
    expect(detailOf(await scim.ask("POST", "/Groups", { body }))).toContain("no user has these ids");
    expect(sent).toBeGreaterThan(text.length - 20_001);
  });
});
