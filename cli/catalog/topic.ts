// The text of `quartermaster help bundles`: how a catalog travels between machines that do not reach each other.
import { commands, type Topic, topic } from "../topic.ts";

/** @returns the topic, without a line break at its end (operator-experience.md AIR-4, AIR-5 and AIR-7) */
export const bundlesTopic =
  (): Topic => topic`A bundle is one file with a catalog and every archive that workstations fetch for it. Who carries it
need not be trusted: an import believes only what a key that you name has signed.

Once, where bundles are made; the key is told by another way than the bundles:
${commands("run", "quartermaster catalog bundle-key > home.pub")}

Each time, there and here:
${commands(
  "run",
  "quartermaster catalog export --bundle spring.qmc",
  "quartermaster catalog import spring.qmc --trust home.pub --dry-run",
  "quartermaster catalog import spring.qmc --trust home.pub",
)}

Everything is checked before anything is written: signature, digests, the rules of catalogs and of
archives. The catalog then is what the bundle says: packages that the bundle lacks are removed, and
--keep keeps them. One that the policy in force names stops the import, unless --allow-dangling is
given. The same bundle again changes nothing.

A warning that a package fetches something when it runs is a guess from its text. Its digest covers
what is in the archive, not what comes from there, and where no network leads it will not come.

The pair of keys is <data directory>/keys/bundle-signing-key.pem, and is in no backup.
With --signing-key-file a key of your own signs. OpenSSL makes one, and prints its public half:
${commands("run", "openssl genpkey -algorithm ed25519 -out key.pem", "openssl pkey -in key.pem -pubout")}
A file for --trust may hold several public keys.

A bundle is a tar of manifest.json, manifest.json.sig and archives/<sha256>.tar.gz. Without us:
${commands(
  "run",
  "tar -xf spring.qmc manifest.json manifest.json.sig",
  "openssl pkeyutl -verify -pubin -inkey home.pub -rawin -in manifest.json -sigfile manifest.json.sig",
)}`;
