// Writes two files of a release: how to verify it, and the licenses of the code inside the executable.
import type { BundledPackage } from "./bundled-packages.ts";

export interface ReleaseFacts {
  /** commit id */
  commit: string;
  /** version of Bun */
  runtime: string;
  /** digest of the public key that verifies the signature */
  keyId: string;
  /** of the executable, such as `bun-linux-arm64`; undefined if it was built for the machine that made the release */
  target?: string | undefined;
}

/** @returns VERIFY.md */
export const verifyText = ({
  commit,
  runtime,
  keyId,
  target,
}: ReleaseFacts): string => `# Is this release the one that was made?

Everything here works without a network; it needs \`sha256sum\` and OpenSSL 3.

1. Who signed it. \`release-key.pub\` is included for convenience and proves nothing by itself: anybody can put a key beside a
   file. Compare its digest with the one you have from another source than this archive.

   \`\`\`sh run
   openssl pkey -pubin -in release-key.pub -outform DER | sha256sum
   \`\`\`

   The key that signed this release has the digest \`${keyId}\`.

2. Whether that signer made this list of files.

   \`\`\`sh run
   openssl pkeyutl -verify -pubin -inkey release-key.pub -rawin -in SHA256SUMS -sigfile SHA256SUMS.sig
   \`\`\`

3. Whether the files are those of the list: executable, bill of materials and all others.

   \`\`\`sh run
   sha256sum --check --strict SHA256SUMS
   \`\`\`

4. Whether the sources give this executable: releases are reproducible. In a clone of them, with Bun ${runtime}:

   \`\`\`sh manual: takes minutes; bun run build has its own test
   git checkout ${commit} && ${rebuilding(target)}
   \`\`\`

# Installing it

\`\`\`sh run
install -m 0755 quartermaster /usr/local/bin/quartermaster
install -D -m 0644 quartermaster.sysusers.conf /etc/sysusers.d/quartermaster.conf
systemd-sysusers
install -m 0644 quartermaster.service /etc/systemd/system/quartermaster.service
install -D -m 0640 -g quartermaster example/quartermaster.yaml /etc/quartermaster/quartermaster.yaml
install -D -m 0644 quartermaster.1 /usr/local/share/man/man1/quartermaster.1
install -D -m 0644 completions/quartermaster.bash /etc/bash_completion.d/quartermaster
\`\`\`

\`quartermaster help service\` continues from there.
`;

const RULE = "=".repeat(100);
/** Packages under our own license need no separate text, because ours is included. */
const OWN_LICENSE = "Apache-2.0";

/**
 * @param runtime version of Bun
 * @returns THIRD-PARTY-LICENSES.txt
 * @throws Error for a package without a license text and under another license than ours
 */
export function thirdPartyText(packages: readonly BundledPackage[], runtime: string): string {
  const parts = packages.map(({ name, version, license, licenseText }) => {
    if (licenseText === undefined && license !== OWN_LICENSE)
      throw new Error(
        `${name} ${version} (${license}) has no license text: add the text, or remove the package`,
      );
    const text = licenseText ?? "The text of this license is in the file LICENSE beside this one.";
    return `${RULE}\n${name} ${version} (${license})\n${RULE}\n\n${text.trim()}\n`;
  });
  return [runtimeText(runtime), ...parts].join("\n");
}

const runtimeText = (
  version: string,
): string => `Third-party software inside the executable, with its licenses.

${RULE}
Bun ${version} (MIT)
${RULE}

The executable contains the Bun runtime, which is under the MIT license and is linked with JavaScriptCore of WebKit (LGPL-2) and
with BoringSSL, SQLite, zstd, brotli, mimalloc, uSockets, uWebSockets, c-ares, ICU, libarchive, libdeflate, lol-html, simdutf, TinyCC (LGPL-2.1),
zlib-ng and others, each under its own. The file LICENSE.md of the repository https://github.com/oven-sh/bun at the tag
bun-v${version} lists them all, and tells how to build the runtime with another JavaScriptCore.
`;

const rebuilding = (target: string | undefined): string =>
  target === undefined
    ? "bun run build && sha256sum dist/quartermaster"
    : `bun run build --target ${target} && sha256sum dist/quartermaster-${target.replace(/^bun-/, "")}`;
