// Parts of the form for the audience of a package: its people and groups, and the fields that add more.
/** @jsxImportSource preact */
import { AUDIENCE_USERS_MAX, type PackageAudience } from "../../../domain/governance/model.ts";
import type { User } from "../../../domain/identity/service.ts";
import type { GroupRow } from "../../../domain/scim/model.ts";
import { SEARCH_LENGTH_MAX } from "../../../domain/shared/page.ts";
import { FORM_TEXT_BYTES_MAX } from "../long-form.ts";
import { TableHead } from "../parts/table-head.tsx";
import { Count, State, Text, useReader } from "../parts/values.tsx";
import { GROUPS_PATH, STATUS_LABELS, userPath } from "../people/words.ts";

/** People of the audience on one page. */
export const PEOPLE_SHOWN_MAX = 100;

interface Person {
  id: string;
  /** undefined if the user was erased */
  user: Pick<User, "email" | "status"> | undefined;
}

interface NamedGroup {
  id: string;
  /** undefined if the provider removed it */
  group: Pick<GroupRow, "displayName" | "memberCount"> | undefined;
}

/** What was entered. */
export interface AudienceFields {
  scope: PackageAudience["scope"];
  /** pasted addresses */
  addresses: string;
  /** part of an address or group name to search for */
  person: string;
  group: string;
  /** ids to remove from the audience */
  dropped: ReadonlySet<string>;
}

/** Result for pasted addresses: those that were added, and those that were not. */
export interface PasteOutcome {
  added: number;
  unknown: number;
  inactive: readonly Pick<User, "email" | "status">[];
}

/** The data that the parts show. */
export interface AudienceParts {
  /** own path that the form posts to */
  action: string;
  audience: PackageAudience;
  /** those of this page */
  people: readonly Person[];
  page: number;
  groups: readonly NamedGroup[];
  fields: AudienceFields;
  /** addresses that were found; undefined before the first search */
  matches?: readonly string[] | undefined;
  groupMatches?: readonly Pick<GroupRow, "id" | "displayName">[] | undefined;
}

/** Name of the checkbox that removes a person. */
export const dropName = (id: string): string => `drop:${id}`;

export function People({ audience, people, page, fields, action }: AudienceParts) {
  const total = audience.user_ids.length;
  const { mayAdminister } = useReader();
  if (total === 0) return null;
  const last = Math.ceil(total / PEOPLE_SHOWN_MAX);
  return (
    <section aria-labelledby="people">
      <h2 id="people">
        People (<Count value={total} />)
      </h2>
      <table class="rows">
        <caption class="visually-hidden">People of the audience</caption>
        <TableHead labels={["Address", "Status", ...(mayAdminister ? ["Remove"] : [])]} />
        <tbody>
          {people.map(({ id, user }) => (
            <tr key={id}>
              <td data-label="Address" class="wide">
                {user ? (
                  <a href={userPath(id)}>
                    <Text value={user.email} />
                  </a>
                ) : (
                  <span class="muted">somebody who was erased</span>
                )}
              </td>
              <td data-label="Status">
                {user && (
                  <State tone={STATUS_LABELS[user.status].tone}>{STATUS_LABELS[user.status].label}</State>
                )}
              </td>
              {mayAdminister && <Drop id={id} name={user?.email ?? "the erased user"} fields={fields} />}
            </tr>
          ))}
        </tbody>
      </table>
      {last > 1 && (
        <nav aria-label="Pages of people" class="choices">
          {page > 1 && <a href={`${action}?page=${page - 1}`}>Previous</a>}
          <span>
            Page {page} of {last}
          </span>
          {page < last && <a href={`${action}?page=${page + 1}`}>Next</a>}
        </nav>
      )}
    </section>
  );
}

const Drop = ({ id, name, fields }: { id: string; name: string; fields: AudienceFields }) => (
  <td data-label="Remove">
    <input
      type="checkbox"
      name={dropName(id)}
      value="yes"
      checked={fields.dropped.has(id)}
      aria-label={`Remove ${name}`}
    />
  </td>
);

export function Find({ fields, matches }: AudienceParts) {
  return (
    <div class="field">
      <label for="person">Find a person</label>
      <p class="hint" id="person-hint">
        Part of the address of an active user
      </p>
      <input
        id="person"
        name="person"
        type="search"
        value={fields.person}
        maxLength={SEARCH_LENGTH_MAX}
        list="people-found"
        data-people="people-found"
        data-people-from="users"
        aria-describedby="person-hint"
        autocomplete="off"
      />{" "}
      <datalist id="people-found" />
      <button class="button" type="submit" name="act" value="find">
        Find
      </button>
      <Matches matches={matches?.map((email) => ({ value: email, label: email }))} name="add" />
    </div>
  );
}

function Matches({
  matches,
  name,
}: {
  matches: readonly { value: string; label: string }[] | undefined;
  name: string;
}) {
  if (!matches) return null;
  if (matches.length === 0) return <p role="status">Nothing was found.</p>;
  return (
    <ul class="chips" aria-label="Found">
      {matches.map(({ value, label }) => (
        <li key={value}>
          <button class="chip" type="submit" name={name} value={value}>
            Add <Text value={label} />
          </button>
        </li>
      ))}
    </ul>
  );
}

export function Paste({ mark }: { mark: string }) {
  return (
    <div class="field">
      <label for="addresses">Addresses</label>
      <p class="hint" id="addresses-hint">
        One on each line, or separated by commas. An audience names at most{" "}
        <Count value={AUDIENCE_USERS_MAX} /> people.
      </p>
      <textarea
        id="addresses"
        name="addresses"
        rows={6}
        spellcheck={false}
        autocapitalize="off"
        maxLength={FORM_TEXT_BYTES_MAX}
        aria-describedby="addresses-hint"
      >
        {mark}
      </textarea>
    </div>
  );
}

export function Groups({ groups, fields, groupMatches }: AudienceParts) {
  const { mayAdminister } = useReader();
  return (
    <section aria-labelledby="groups">
      <h2 id="groups">Groups of the identity provider</h2>
      {groups.length > 0 && (
        <table class="rows">
          <caption class="visually-hidden">Groups of the audience</caption>
          <TableHead labels={["Group", { number: "Members now" }, ...(mayAdminister ? ["Remove"] : [])]} />
          <tbody>
            {groups.map(({ id, group }) => (
              <tr key={id}>
                <td data-label="Group" class="wide">
                  {group ? (
                    <a href={`${GROUPS_PATH}/${id}`}>
                      <Text value={group.displayName} />
                    </a>
                  ) : (
                    <span class="muted">a group that is gone</span>
                  )}
                </td>
                <td data-label="Members now" class="number">
                  {group ? <Count value={group.memberCount} /> : "–"}
                </td>
                {mayAdminister && (
                  <Drop id={id} name={group?.displayName ?? "the group that is gone"} fields={fields} />
                )}
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {mayAdminister && (
        <div class="field">
          <label for="group">Add a group</label>
          <p class="hint" id="group-hint">
            Its name. Members who join later get the package too.
          </p>
          <input
            id="group"
            name="group"
            type="search"
            value={fields.group}
            maxLength={SEARCH_LENGTH_MAX}
            aria-describedby="group-hint"
            autocomplete="off"
          />{" "}
          <button class="button" type="submit" name="act" value="find-group">
            Find
          </button>
          <Matches
            matches={groupMatches?.map(({ id, displayName }) => ({ value: id, label: displayName }))}
            name="add-group"
          />
        </div>
      )}
    </section>
  );
}
