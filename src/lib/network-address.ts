/** Finds IP addresses and resolved hosts in error messages. Node.js puts them at the end, other software anywhere. */
export const NETWORK_ADDRESSES =
  /(?<=\b(?:connect|getaddrinfo) E[A-Z_]+ )(?!<\w+>[.,;)]*(?:\s|$))\S+|\[[\da-fA-F:.]*:[\da-fA-F:.]*\](?::\d+)?|\b(?:\d{1,3}\.){3}\d{1,3}\b(?::\d{1,5})?/g
