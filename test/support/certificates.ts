/** Certificates made for one test. */
import { generate } from 'selfsigned'

export interface Certificate {
  /** PEM. */
  cert: string
  /** PEM. */
  key: string
}

export interface Certificates {
  authority: Certificate
  /** For a name, not for 127.0.0.1: clients must be configured with the name. */
  server: Certificate
  client: Certificate
}

export async function makeCertificates(name: string = 'localhost'): Promise<Certificates> {
  const authority = await certificate('Test Authority', {
    extensions: [{ name: 'basicConstraints', cA: true, critical: true }],
  })
  const ca = { key: authority.key, cert: authority.cert }
  const [server, client] = await Promise.all([
    certificate(name, { ca, extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: name }] }] }),
    certificate('a client', { ca, extensions: [{ name: 'extKeyUsage', clientAuth: true }] }),
  ])
  return { authority, server, client }
}

async function certificate(commonName: string, options: Parameters<typeof generate>[1]): Promise<Certificate> {
  const { private: key, cert } = await generate([{ name: 'commonName', value: commonName }], {
    keyType: 'ec',
    algorithm: 'sha256',
    ...options,
  })
  return { cert, key }
}
