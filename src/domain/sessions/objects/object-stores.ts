// The stores of an installation: one receives new uploads, the others hold older objects.
import { invariant } from "../../../platform/errors.ts";
import { storeUnset } from "../errors.ts";
import type { StoreKind } from "../model.ts";
import type { ObjectStore, ObjectStores } from "./object-store.ts";

/** @param active kind of the store of new uploads, which must be given */
export function createStores({
  active: kind,
  ...stores
}: { active: StoreKind } & Record<StoreKind, ObjectStore | undefined>): ObjectStores {
  const active = stores[kind];
  invariant(active, "the store of new uploads is configured");
  const all = [stores.local, stores.s3].filter((store) => store !== undefined);
  return {
    active,
    all,
    of(wanted) {
      const store = stores[wanted];
      if (!store) throw storeUnset(wanted);
      return store;
    },
  };
}
