/** Among arguments, which are JSON values: one that its sender has encoded for Temporal. */

const RAW = Symbol('raw payload')

interface Metadata {
  encoding: string
  [name: string]: string
}

/** One of Temporal's payloads, in a request. `data` is base64; `value` is the data as JSON. */
export type GivenPayload = { metadata: Metadata } & (
  | { value: unknown; data?: never }
  | { data?: string; value?: never }
)

/** `$payload` is visible to whatever compares or hashes arguments, the symbol is not. */
interface RawPayload {
  readonly [RAW]: true
  readonly $payload: { metadata: Metadata; value?: unknown; data?: string }
}

export function rawPayload($payload: RawPayload['$payload']): RawPayload {
  return { [RAW]: true, $payload }
}

export function isRawPayload(value: unknown): value is RawPayload {
  return typeof value === 'object' && value !== null && RAW in value
}
