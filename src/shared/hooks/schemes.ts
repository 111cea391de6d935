/** Verifies that a webhook comes from its sender, and signs samples as the sender does: docs/hooks.md. */
import { claimText, claimValue } from '../access/patterns.ts'
import { toBase64 } from '../lib/base64.ts'
import { anyEqual, type Bytes, hmac, joined, sha256, toBytes, toHex } from '../lib/digest.ts'
import { newId } from '../lib/new-id.ts'
import { presentedTokens } from '../lib/presented-tokens.ts'
import type { HookScheme } from './hook-schemes.ts'
import { type HeaderValue, PRESETS, type SignatureScheme, standardScheme, type ValueSource } from './presets.ts'
import { standardKeys } from './standard-secret.ts'

/** What a sender must have signed its events with. */
export interface Proof {
  scheme: HookScheme
  /** Any of them; several while one replaces another. */
  secrets: readonly string[]
  /** For the scheme `token`: the header with the secret. */
  header: string
  /** For the scheme `token`, as in `SignatureScheme`. */
  id?: ValueSource
  headers?: readonly string[]
}

export const DEFAULT_TOKEN_HEADER = 'Authorization'

export type ReadHeader = (name: string) => string | undefined

/** A request as it was received. */
export interface Delivery {
  header: ReadHeader
  body: Bytes
  /** As the sender knows it. */
  url: string
}

/** Why a request is not genuine. */
export type Flaw = 'header missing' | 'signature' | 'timestamp'

// What the specifications recommend: enough for clocks that differ.
const TOLERANCE_SECONDS = 300

const MAC_BYTES = { sha1: 20, sha256: 32, sha512: 64 }

/** How the delivery is signed; null for the scheme `token`. */
function signingOf(scheme: HookScheme, header: ReadHeader): SignatureScheme | null {
  if (scheme === 'token') return null
  if (scheme === 'standard') return standardScheme(header('svix-signature') === undefined ? 'webhook' : 'svix')
  return typeof scheme === 'string' ? PRESETS[scheme] : scheme
}

/** What the headers alone show to be wrong; null for nothing. With the scheme `token`, they decide. */
export function flawOf(proof: Proof, header: ReadHeader, nowMs: number): Flaw | null {
  const signing = signingOf(proof.scheme, header)
  if (signing === null) return flawOfToken(proof, header)
  const { signature, timestamp, hmac = 'sha256' } = signing
  const presented = valuesOf(signature, header)
  if (presented.length === 0) return 'header missing'
  const { length } = encoded(new Uint8Array(MAC_BYTES[hmac]), signature)
  if (presented.every((one) => normal(one, signature).length !== length)) return 'signature'
  return timestamp?.header === undefined || isRecent(timeIn(signing, header), timestamp, nowMs) ? null : 'timestamp'
}

function flawOfToken(proof: Proof, header: ReadHeader): Flaw | null {
  const presented = presentedIn(proof, header)
  if (anyEqual(presented.map(toBytes), proof.secrets.map(toBytes))) return null
  return presented.length === 0 ? 'header missing' : 'signature'
}

/** The secret that has signed exactly these bytes, and in time if the headers have the time; null without one. */
export async function provenBy(proof: Proof, delivery: Delivery, nowMs: number): Promise<string | null> {
  const { header } = delivery
  const { scheme, secrets } = proof
  if (flawOf(proof, header, nowMs) !== null) return null
  const signing = signingOf(scheme, header)
  if (signing === null) return secrets[0] ?? null
  const { signature, id } = signing
  const message = signedBytes(signing, delivery, headerIn(id, header), timeIn(signing, header))
  const presented = valuesOf(signature, header).map((one) => toBytes(normal(one, signature)))
  const verdicts = await Promise.all(
    secrets.map(async (secret) => {
      const macs = await Promise.all(keysOf(scheme, secret).map((key) => hmac(signing.hmac, key, message)))
      const expected = macs.map((mac) => toBytes(encoded(mac, signature)))
      return anyEqual(presented, expected)
    }),
  )
  return secrets.find((_, index) => verdicts[index]) ?? null
}

/** Whether the time in the body is recent, if the scheme has one there. */
export function isTimely({ scheme }: Proof, header: ReadHeader, event: unknown, nowMs: number): boolean {
  const { timestamp } = signingOf(scheme, header) ?? {}
  return timestamp?.body === undefined || isRecent(textAt(event, timestamp.body), timestamp, nowMs)
}

/** What is sent now, and to which address. */
export type Sample = Omit<Delivery, 'header'>

/** The headers with which a sender proves that it sends the body now. Without an id, the event gets a new one. */
export async function proofHeaders(
  { scheme, secrets: [secret = ''], header, id: idOfToken }: Proof,
  sample: Sample,
  nowMs: number,
  id: string = newId(),
): Promise<Record<string, string>> {
  const signing = signingOf(scheme, () => undefined)
  if (signing === null)
    return {
      [header]: isAuthorization(header) ? `Bearer ${secret}` : secret,
      ...(idOfToken?.header && { [idOfToken.header]: id }),
    }
  const { signature, timestamp } = signing
  const time = timeOf(timestamp, nowMs)
  const [key = toBytes(secret)] = keysOf(scheme, secret)
  const mac = await hmac(signing.hmac, key, signedBytes(signing, sample, id, time))
  const signed = { ...signature, value: toText(mac, signature) }
  const timed = timestamp?.header === undefined ? [] : [{ ...timestamp, header: timestamp.header, value: time }]
  const headers: Record<string, string> = signing.id?.header === undefined ? {} : { [signing.id.header]: id }
  for (const { header, key, separator = ',', prefix = '', value } of [...timed, signed]) {
    const entry = `${startOf({ key, prefix })}${value}`
    headers[header] = header in headers ? `${headers[header]}${separator}${entry}` : entry
  }
  return headers
}

/**
 * What identifies the event when it is sent again: the id of the scheme, or else the hash of the body. Null for the
 * scheme `token` without an id, whose senders say nothing about that.
 */
export async function eventIdOf(proof: Proof, { header, body }: Delivery, event: unknown): Promise<string | null> {
  const signing = signingOf(proof.scheme, header)
  const { id: source } = signing ?? proof
  if (source === undefined && signing === null) return null
  const id = source?.body === undefined ? headerIn(source, header) : claimValue(event, source.body)
  return claimText(id) ?? sha256(body)
}

/** The headers that workers receive: those that describe the event, without signatures and tokens. */
export function eventHeaders(proof: Proof, header: ReadHeader): Record<string, string> {
  const { headers = [] } = signingOf(proof.scheme, header) ?? proof
  const entries = headers.flatMap((name) => {
    const value = header(name)
    return value === undefined ? [] : [[name.toLowerCase(), value]]
  })
  return Object.fromEntries(entries)
}

/** The value of a header, or of a place in the body, as text; empty without one. */
export function textAt(event: unknown, pointer: string): string {
  const value = claimValue(event, pointer)
  return JSON.isRawJSON(value)
    ? JSON.stringify(value)
    : ['string', 'number', 'boolean'].includes(typeof value)
      ? String(value)
      : ''
}

function headerIn(source: ValueSource | undefined, header: ReadHeader): string {
  return (source?.header === undefined ? undefined : header(source.header)) ?? ''
}

function timeIn({ timestamp }: SignatureScheme, header: ReadHeader): string {
  if (timestamp?.header === undefined) return ''
  return valuesOf({ ...timestamp, header: timestamp.header }, header)[0] ?? ''
}

function signedBytes({ signed = '{body}' }: SignatureScheme, { body, url }: Sample, id: string, time: string): Bytes {
  const values: Record<string, string> = { id, timestamp: time, url }
  const [before = '', after = ''] = signed
    .split('{body}')
    .map((part) => part.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? ''))
  return before === '' && after === '' ? body : joined([toBytes(before), body, toBytes(after)])
}

function presentedIn({ header }: Proof, read: ReadHeader): string[] {
  const value = read(header)
  if (value === undefined) return []
  return isAuthorization(header) ? presentedTokens(value) : [value]
}

function isAuthorization(header: string): boolean {
  return header.toLowerCase() === 'authorization'
}

/** The values in a header. */
function valuesOf({ header: name, separator = ',', key, prefix }: HeaderValue, header: ReadHeader): string[] {
  const start = startOf({ key, prefix })
  return (header(name) ?? '')
    .split(separator)
    .map((entry) => entry.trim())
    .filter((entry) => entry.startsWith(start) && entry !== '')
    .map((entry) => entry.slice(start.length))
}

function startOf({ key, prefix = '' }: { key?: string | undefined; prefix?: string | undefined }): string {
  return key === undefined ? prefix : `${key}=${prefix}`
}

type Encoding = Pick<SignatureScheme['signature'], 'encoding'>

function toText(mac: Bytes, { encoding = 'hex' }: Encoding): string {
  return encoding === 'hex' ? toHex(mac) : toBase64(mac)
}

/** The form of a signature in which signatures are compared. */
function encoded(mac: Bytes, encoding: Encoding): string {
  return normal(toText(mac, encoding), encoding)
}

/** Without what senders may write in two ways: the case of hex, the alphabet and the padding of base64. */
function normal(signature: string, { encoding = 'hex' }: Encoding): string {
  if (encoding === 'hex') return signature.toLowerCase()
  return signature
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replace(/={1,2}$/, '')
}

type Timestamp = NonNullable<SignatureScheme['timestamp']>

function timeOf({ unit = 's' }: Timestamp = {}, nowMs: number): string {
  if (unit === 'iso') return new Date(nowMs).toISOString()
  return String(unit === 'ms' ? nowMs : Math.floor(nowMs / 1000))
}

function isRecent(
  time: string,
  { unit = 's', toleranceSeconds = TOLERANCE_SECONDS }: Timestamp,
  nowMs: number,
): boolean {
  const isNumber = /^\d{1,15}$/.test(time)
  if (unit !== 'iso' && !isNumber) return false
  const ms = unit === 'iso' ? Date.parse(time) : Number(time) * (unit === 's' ? 1000 : 1)
  return Math.abs(nowMs - ms) <= toleranceSeconds * 1000
}

function keysOf(scheme: HookScheme, secret: string): Bytes[] {
  return scheme === 'standard' ? standardKeys(secret) : [toBytes(secret)]
}
