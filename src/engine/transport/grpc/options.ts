export interface GrpcOptions {
  /** `<host>:<port>` */
  address: string
  apiKey: string | null
  /** Null: no TLS, even with an API key. */
  tls: GrpcTls | null
}

/** PEM strings. Defaults: the system's trust store, no client certificate, the server name of the address. */
export interface GrpcTls {
  ca?: string
  cert?: string
  key?: string
  serverName?: string
}
