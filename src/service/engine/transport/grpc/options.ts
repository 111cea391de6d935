export interface GrpcOptions {
  /** `<host>:<port>` */
  address: string
  apiKey: string | null
  /** Null: no TLS, even with an API key. */
  tls: GrpcTls | null
}

/** PEM strings. Defaults: the system's trust store, no client certificate. */
export interface Certificates {
  ca?: string
  cert?: string
  key?: string
}

export interface GrpcTls extends Certificates {
  /** Default: the host of the address. */
  serverName?: string
  /** Calls `use` with each new version of the same files, until the returned function is called. */
  watch?(use: (renewed: Certificates) => void): () => void
}
