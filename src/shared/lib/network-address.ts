/** Finds IP addresses and resolved hosts in error messages. Node.js puts them at the end, other software anywhere. */
export const NETWORK_ADDRESSES =
  /(?<=\b(?:connect|getaddrinfo) E[A-Z_]+ )(?!<\w+>[.,;)]*(?:\s|$))\S+|\[[\da-fA-F:.]*:[\da-fA-F:.]*\](?::\d+)?|\b(?:\d{1,3}\.){3}\d{1,3}\b(?::\d{1,5})?/g

/** Whether a host, without brackets and port, is this machine. A name such as `127.0.0.1.example.com` is not. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^(?:::ffff:)?127(?:\.\d{1,3}){3}$/.test(host)
}
