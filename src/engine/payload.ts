import type { temporal } from '@temporalio/proto'
import { ServiceError } from '../domain/errors.ts'
import { parseJson } from '../protocol/json.ts'
import { toBase64 } from './base64.ts'

export type Payload = temporal.api.common.v1.IPayload

/** Turns payloads into others, one for one: encryption, compression, storage elsewhere. */
export interface Codec {
  encode(payloads: Payload[]): Promise<Payload[]>
  decode(payloads: Payload[]): Promise<Payload[]>
}

/** Values to the engine's payloads and back. */
export interface Payloads {
  /** Rejects with `PayloadTooLargeError` when the payloads together, as they would leave, are too large. */
  encode(values: readonly unknown[]): Promise<temporal.api.common.v1.IPayloads | null>
  /** Never rejects for what it can't decode: that is `{encoding, data}`, the data in base64. */
  decode(payloads: readonly Payload[] | null | undefined): Promise<unknown[]>
  /** Undefined for what it can't decode: where a value has a meaning, bytes must not be taken for one. */
  decodeReadable(payloads: readonly Payload[]): Promise<unknown[]>
}

export interface PayloadOptions {
  codec: Codec | null
  /** Bytes. */
  maxBytes: number
}

export function createPayloads({ codec, maxBytes }: PayloadOptions): Payloads {
  async function plainOf(payloads: readonly Payload[]): Promise<readonly Payload[]> {
    // What we can read ourselves the codec never wrote.
    return codec === null || payloads.every((payload) => isReadable(encodingOf(payload))) ? payloads : codec.decode([...payloads])
  }

  return {
    async encode(values) {
      if (values.length === 0) return null
      const plain = values.map(toPayload)
      const payloads = codec === null ? plain : await codec.encode(plain)
      refuseTooLarge(payloads, maxBytes)
      return { payloads }
    },

    async decode(payloads) {
      return (await plainOf(payloads ?? [])).map((payload) => {
        const value = fromPayload(payload)
        // A worker may write what it likes: what can't be read is shown as the bytes it is.
        return value === undefined ? { encoding: encodingOf(payload), data: toBase64(payload.data ?? new Uint8Array()) } : value
      })
    },

    decodeReadable: async (payloads) => (await plainOf(payloads)).map(fromPayload),
  }
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const strictDecoder = new TextDecoder('utf-8', { fatal: true })
const JSON_PLAIN = encoder.encode('json/plain')

/** The engine's `json/plain`, exact in its numbers where the SDK's own converter rounds. */
export function toPayload(value: unknown): Payload {
  return { metadata: { encoding: JSON_PLAIN }, data: encoder.encode(JSON.stringify(value)) }
}

/** Undefined for what is no JSON. */
function fromPayload(payload: Payload): unknown {
  const encoding = encodingOf(payload)
  if (encoding === 'binary/null') return null
  if (!isReadable(encoding)) return undefined
  try {
    return parseJson(strictDecoder.decode(payload.data ?? new Uint8Array()))
  } catch {
    return undefined
  }
}

function isReadable(encoding: string): boolean {
  return encoding === 'binary/null' || encoding === 'json/plain' || encoding === 'json/protobuf'
}

function encodingOf({ metadata }: Payload): string {
  const encoding = metadata?.encoding
  return encoding === undefined ? '' : decoder.decode(encoding)
}

// What protobuf puts around a payload, and around each entry of its metadata, at the most: many small values weigh more than they hold.
const PAYLOAD_BYTES = 10
const ENTRY_BYTES = 12

function refuseTooLarge(payloads: Payload[], maxBytes: number): void {
  const bytes = payloads.reduce((sum, { data, metadata }) => {
    const entries = Object.entries(metadata ?? {})
    return entries.reduce(
      (total, [key, value]) => total + key.length + value.length + ENTRY_BYTES,
      sum + (data?.length ?? 0) + PAYLOAD_BYTES,
    )
  }, 0)
  if (bytes <= maxBytes) return
  throw new ServiceError('PayloadTooLargeError', `The payload is ${bytes} bytes as encoded for the engine; at most ${maxBytes} are taken`, {
    details: { source: 'gateway' },
  })
}
