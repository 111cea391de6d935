/** A network address in a text: Node's sentences end with what a name was resolved to, grpc-js, engines and workers write them anywhere. */
export const ADDRESS =
  /(?<=\b(?:connect|getaddrinfo) E[A-Z_]+ )(?!<\w+>[.,;)]*(?:\s|$))\S+|\[[\da-fA-F:.]*:[\da-fA-F:.]*\](?::\d+)?|\b(?:\d{1,3}\.){3}\d{1,3}\b(?::\d{1,5})?/g
