/** What access tokens and links need: the keys that encrypt them, and the address of this service. */
import * as z from 'zod/mini'
import { fromBase64 } from '../lib/base64.ts'
import { baseUrl, commaSeparatedList, matching, type Variables } from './variables.ts'

export interface SigningConfig {
  /** The first one seals, all of them open. Null: no access tokens and no links. */
  keys: Uint8Array<ArrayBuffer>[] | null
  /** The base of links, without a slash at its end. Null: no links. */
  publicUrl: string | null
  /** Services with the same keys and another value reject each other's tokens and links. */
  deployment: string | null
}

export function signingConfig({ read }: Variables): SigningConfig {
  const publicUrl = read('SERVICE_PUBLIC_URL', baseUrl)?.replace(/\/$/, '') ?? null
  const name = read('SERVICE_NAME', z.string())
  const deployment = publicUrl === null ? name : new URL(publicUrl).origin
  return { keys: read('SERVICE_SIGNING_KEY', keyList), publicUrl, deployment }
}

const MIN_KEY_BYTES = 32
const ERROR = `must be base64url of at least ${MIN_KEY_BYTES} random bytes, or several keys separated by commas: the newest first`

const signingKey = z.pipe(
  matching(/^[\w-]+$/, ERROR).check(z.refine((text) => text.length % 4 !== 1, { error: ERROR, abort: true })),
  z.transform((text) => new Uint8Array(fromBase64(text))),
)

const keyList = z.pipe(
  commaSeparatedList,
  z
    .array(signingKey.check(z.refine(({ length }) => length >= MIN_KEY_BYTES, { error: ERROR })))
    .check(z.minLength(1, { error: ERROR })),
)
