/** Certificates made for one test. */
import { isIP } from 'node:net'
import { type CertificateExtension, generate } from 'selfsigned'

export interface Certificate {
  /** PEM. */
  cert: string
  /** PEM. */
  key: string
}

export interface Certificates {
  authority: Certificate
  /** For the name or the address, by default not for 127.0.0.1: clients must be configured with the name. */
  server: Certificate
  client: Certificate
}

export interface CertificateOptions {
  name?: string | undefined
  /** Whether an intermediate authority, which is part of each chain, has issued the certificates. */
  intermediate?: boolean
}

export async function makeCertificates({
  name = 'localhost',
  intermediate = false,
}: CertificateOptions = {}): Promise<Certificates> {
  const authority = await certificate(`Test Authority ${crypto.randomUUID()}`, { extensions: IS_AUTHORITY })
  const issuer = intermediate
    ? await certificate('Test Intermediate', { ca: authority, extensions: IS_AUTHORITY })
    : authority
  const altName = isIP(name) === 0 ? { type: 2 as const, value: name } : { type: 7 as const, ip: name }
  const [server, client] = await Promise.all([
    certificate(name, { ca: issuer, extensions: [{ name: 'subjectAltName', altNames: [altName] }] }),
    certificate('a client', { ca: issuer, extensions: [{ name: 'extKeyUsage', clientAuth: true }] }),
  ])
  const withChain = ({ cert, key }: Certificate) => ({ cert: intermediate ? `${cert}\n${issuer.cert}` : cert, key })
  return { authority, server: withChain(server), client: withChain(client) }
}

const IS_AUTHORITY: CertificateExtension[] = [{ name: 'basicConstraints', cA: true, critical: true }]

async function certificate(commonName: string, options: Parameters<typeof generate>[1]): Promise<Certificate> {
  const { private: key, cert } = await generate([{ name: 'commonName', value: commonName }], {
    keyType: 'ec',
    algorithm: 'sha256',
    ...options,
  })
  return { cert, key }
}
