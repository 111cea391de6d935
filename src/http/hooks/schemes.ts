/** How the senders of webhooks prove who they are, each in its own headers: docs/hooks.md. */
import { fromBase64, toBase64 } from '../../lib/base64.ts'
import { anyEqual, type Bytes, hmacSha256, sha256, toBytes, toHex } from '../../lib/digest.ts'
import { isObject } from '../../lib/json.ts'
import { newId } from '../../lib/new-id.ts'
import { BASE64_SECRET_PREFIX, type HookScheme } from '../../protocol/hook-schemes.ts'
import { presentedTokens } from '../credentials/presented-tokens.ts'

/** What a sender must have signed its events with. */
export interface Proof {
  scheme: HookScheme
  /** Any of them; several while one replaces another. */
  secrets: readonly string[]
  /** For the scheme `token`: the header with the secret. */
  header: string
}

export const DEFAULT_TOKEN_HEADER = 'Authorization'

export type ReadHeader = (name: string) => string | undefined

/** A request as it was received. */
export interface Delivery {
  header: ReadHeader
  body: Bytes
}

/** What the headers of a delivery say, before anything is verified. */
interface Claimed {
  id: string
  /** Seconds since the epoch, as they were sent; null if the scheme has no timestamp. */
  seconds: string | null
  signatures: readonly string[]
}

interface SigningScheme {
  claimed(header: ReadHeader): Claimed
  /** The part of the signed bytes that comes before the body. */
  prefixOf(id: string, seconds: string): string
  encode(mac: Bytes): string
  /** The headers of a delivery with this signature. */
  headersOf(signature: string, id: string, seconds: string): Record<string, string>
}

/**
 * The formats: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md,
 * https://docs.stripe.com/webhooks#verify-manually,
 * https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries,
 * https://docs.slack.dev/authentication/verifying-requests-from-slack.
 */
const SIGNING: Record<Exclude<HookScheme, 'token'>, SigningScheme> = {
  standard: {
    claimed: (header) => ({
      id: header('webhook-id') ?? '',
      seconds: header('webhook-timestamp') ?? '',
      signatures: valuesOf(header('webhook-signature'), ' ', 'v1,'),
    }),
    prefixOf: (id, seconds) => `${id}.${seconds}.`,
    encode: toBase64,
    headersOf: (signature, id, seconds) => ({
      'webhook-id': id,
      'webhook-timestamp': seconds,
      'webhook-signature': `v1,${signature}`,
    }),
  },
  stripe: {
    claimed(header) {
      const [seconds = ''] = valuesOf(header('Stripe-Signature'), ',', 't=')
      return { id: '', seconds, signatures: valuesOf(header('Stripe-Signature'), ',', 'v1=') }
    },
    prefixOf: (_, seconds) => `${seconds}.`,
    encode: toHex,
    headersOf: (signature, _, seconds) => ({ 'Stripe-Signature': `t=${seconds},v1=${signature}` }),
  },
  github: {
    claimed: (header) => ({
      id: header('X-GitHub-Delivery') ?? '',
      seconds: null,
      signatures: valuesOf(header('X-Hub-Signature-256'), ',', 'sha256='),
    }),
    prefixOf: () => '',
    encode: toHex,
    headersOf: (signature, id) => ({ 'X-GitHub-Delivery': id, 'X-Hub-Signature-256': `sha256=${signature}` }),
  },
  slack: {
    claimed: (header) => ({
      id: '',
      seconds: header('X-Slack-Request-Timestamp') ?? '',
      signatures: valuesOf(header('X-Slack-Signature'), ',', 'v0='),
    }),
    prefixOf: (_, seconds) => `v0:${seconds}:`,
    encode: toHex,
    headersOf: (signature, _, seconds) => ({
      'X-Slack-Request-Timestamp': seconds,
      'X-Slack-Signature': `v0=${signature}`,
    }),
  },
}

// What the specifications recommend: enough for clocks that differ.
const TOLERANCE_SECONDS = 300

/** Whether one of the secrets has signed exactly these bytes, within the last minutes if the scheme has a timestamp. */
export async function isGenuine(proof: Proof, delivery: Delivery, nowMs: number): Promise<boolean> {
  const { scheme, secrets } = proof
  const { header, body } = delivery
  if (scheme === 'token') return anyEqual(presentedIn(proof, header).map(toBytes), secrets.map(toBytes))
  const { claimed, prefixOf, encode } = SIGNING[scheme]
  const { id, seconds, signatures } = claimed(header)
  if (signatures.length === 0 || (seconds !== null && !isRecent(seconds, nowMs))) return false
  const prefix = toBytes(prefixOf(id, seconds ?? ''))
  const macs = await Promise.all(secrets.map((secret) => hmacSha256(keyOf(scheme, secret), prefix, body)))
  return anyEqual(
    signatures.map(toBytes),
    macs.map((mac) => toBytes(encode(mac))),
  )
}

/** The headers with which a sender proves that it sends the body now. Without an id, the event gets a new one. */
export async function proofHeaders(
  { scheme, secrets: [secret = ''], header }: Proof,
  body: Bytes,
  nowMs: number,
  id: string = newId(),
): Promise<Record<string, string>> {
  if (scheme === 'token') return { [header]: isAuthorization(header) ? `Bearer ${secret}` : secret }
  const { prefixOf, encode, headersOf } = SIGNING[scheme]
  const seconds = String(Math.floor(nowMs / 1000))
  const mac = await hmacSha256(keyOf(scheme, secret), toBytes(prefixOf(id, seconds)), body)
  return headersOf(encode(mac), id, seconds)
}

/**
 * What identifies the event when it is sent again: the id of the scheme, or else the hash of the body. Null for the
 * scheme `token`, whose senders say nothing about that.
 */
export async function eventIdOf(
  scheme: HookScheme,
  { header, body }: Delivery,
  event: unknown,
): Promise<string | null> {
  if (scheme === 'token') return null
  const { id: inHeader } = SIGNING[scheme].claimed(header)
  const { [scheme]: key = '' } = EVENT_ID_KEYS
  const inBody = isObject(event) && Object.hasOwn(event, key) ? event[key] : ''
  const id = inHeader === '' ? inBody : inHeader
  return typeof id === 'string' && id !== '' ? id : sha256(body)
}

/** Where bodies have the id of their event. */
const EVENT_ID_KEYS: Partial<Record<HookScheme, string>> = { stripe: 'id', slack: 'event_id' }

/** The headers that workers receive: those that describe the event, without signatures and tokens. */
const EVENT_HEADERS: Record<HookScheme, readonly string[]> = {
  standard: ['webhook-id', 'webhook-timestamp'],
  stripe: [],
  github: [
    'x-github-event',
    'x-github-delivery',
    'x-github-hook-id',
    'x-github-hook-installation-target-id',
    'x-github-hook-installation-target-type',
  ],
  slack: ['x-slack-request-timestamp', 'x-slack-retry-num', 'x-slack-retry-reason'],
  token: [],
}

export function eventHeaders(scheme: HookScheme, header: ReadHeader): Record<string, string> {
  const entries = EVENT_HEADERS[scheme].flatMap((name) => {
    const value = header(name)
    return value === undefined ? [] : [[name, value]]
  })
  return Object.fromEntries(entries)
}

function presentedIn({ header }: Proof, read: ReadHeader): string[] {
  const value = read(header)
  if (value === undefined) return []
  return isAuthorization(header) ? presentedTokens(value) : [value]
}

function isAuthorization(header: string): boolean {
  return header.toLowerCase() === 'authorization'
}

/** The entries of a list that begin with `start`, each without it. */
function valuesOf(list = '', separator: string, start: string): string[] {
  return list
    .split(separator)
    .map((entry) => entry.trim())
    .filter((entry) => entry.startsWith(start))
    .map((entry) => entry.slice(start.length))
}

function isRecent(seconds: string, nowMs: number): boolean {
  return /^\d{1,12}$/.test(seconds) && Math.abs(nowMs / 1000 - Number(seconds)) <= TOLERANCE_SECONDS
}

/** Secrets of Stripe have the same prefix, but are not base64: the whole string is the key. */
function keyOf(scheme: HookScheme, secret: string): Bytes {
  const isBase64 = scheme === 'standard' && secret.startsWith(BASE64_SECRET_PREFIX)
  return isBase64 ? new Uint8Array(fromBase64(secret.slice(BASE64_SECRET_PREFIX.length))) : toBytes(secret)
}
