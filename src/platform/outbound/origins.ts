// The kinds of origins that a destination may have.

/** @returns whether it is an http or https origin */
export function isHttpOrigin(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && ["http:", "https:"].includes(url.protocol) && url.origin === text;
}

/** @returns whether it is `tls://host:port` */
export function isTlsOrigin(text: string): boolean {
  const url = URL.parse(text);
  return url?.protocol === "tls:" && url.port !== "" && text === `tls://${url.host}`;
}

/** @returns whether it is `sftp://host:port` */
export function isSftpOrigin(text: string): boolean {
  const url = URL.parse(text);
  return url?.protocol === "sftp:" && url.port !== "" && text === `sftp://${url.host}`;
}
