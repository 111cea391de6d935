/** Certificates that can be renewed. `grpc/transport.ts` imports this file with the client. */
import { type ChannelCredentials, credentials, experimental } from '@grpc/grpc-js'
import type { Certificates, GrpcTls } from './options.ts'

export interface TlsCredentials {
  /** For any number of connections. Each uses the certificates that are the newest when it opens. */
  channel: ChannelCredentials
  /** Stops watching the files. */
  close(): void
}

export function tlsCredentials({ ca, cert, key, watch }: GrpcTls): TlsCredentials {
  let latest: Certificates = {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  }
  if (Object.keys(latest).length === 0) return { channel: credentials.createSsl(), close() {} }
  const authorities = createListeners(() => toAuthorities(latest))
  const identity = createListeners(() => toIdentity(latest))
  const provider: experimental.CertificateProvider = {
    addCaCertificateListener: authorities.add,
    removeCaCertificateListener: authorities.remove,
    addIdentityCertificateListener: identity.add,
    removeIdentityCertificateListener: identity.remove,
  }
  const close = watch?.((renewed) => {
    latest = renewed
    authorities.notify()
    identity.notify()
  })
  return {
    channel: experimental.createCertificateProviderChannelCredentials(provider, cert === undefined ? null : provider),
    close: () => close?.(),
  }
}

function createListeners<Update>(read: () => Update) {
  const listeners = new Set<(update: Update) => void>()
  return {
    add(listener: (update: Update) => void): void {
      listeners.add(listener)
      listener(read())
    },
    remove: (listener: (update: Update) => void) => void listeners.delete(listener),
    notify() {
      for (const listener of listeners) listener(read())
    },
  }
}

/** Without a file Node uses its default authorities, among them those of `NODE_EXTRA_CA_CERTS`. */
function toAuthorities({ ca }: Certificates): experimental.CaCertificateUpdate {
  const update: Partial<experimental.CaCertificateUpdate> = ca === undefined ? {} : { caCertificate: Buffer.from(ca) }
  // The library passes the value to `createSecureContext`, where it is optional.
  return update as experimental.CaCertificateUpdate
}

function toIdentity({ cert, key }: Certificates): experimental.IdentityCertificateUpdate | null {
  return cert === undefined || key === undefined
    ? null
    : { certificate: Buffer.from(cert), privateKey: Buffer.from(key) }
}
