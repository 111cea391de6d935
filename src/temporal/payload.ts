import type { temporal } from '@temporalio/proto'
import { ServiceError } from '../domain/errors.ts'
import { fromArguments } from '../domain/from-arguments.ts'
import type { StoredElsewhere } from '../domain/stored-elsewhere.ts'
import { toBase64 } from '../lib/base64.ts'
import { parseJson } from '../lib/exact-json.ts'
import { isReference, replaced, resolveReferences, storedElsewhere } from './external-storage.ts'

export type Payload = temporal.api.common.v1.IPayload

/** Turns payloads into others, one for one: encryption, compression, storage elsewhere. */
export interface Codec {
  encode(payloads: Payload[]): Promise<Payload[]>
  decode(payloads: Payload[]): Promise<Payload[]>
  /** The payloads that references to a store of the worker's stand for, decoded; null when it cannot get them. */
  download?(references: Payload[]): Promise<Payload[] | null>
}

export interface Decoded {
  /** `{encoding, data}` for what cannot be decoded, the data in base64; null for what is stored elsewhere. */
  value: unknown
  storedElsewhere?: StoredElsewhere
}

/** Values to the engine's payloads and back. */
export interface Payloads {
  /** Rejects with `PayloadTooLargeError` when the payloads together, as they would leave, are too large. */
  encode(values: readonly unknown[]): Promise<temporal.api.common.v1.IPayloads | null>
  /** Never rejects for what it cannot decode: that is `{encoding, data}`, and null when it is stored elsewhere. */
  decode(payloads: readonly Payload[] | null | undefined): Promise<unknown[]>
  /** The same, and which of them are stored elsewhere. */
  decodeEach(payloads: readonly Payload[] | null | undefined): Promise<Decoded[]>
  /**
   * What a workflow or a handler returned: the one value, null for none, the array for several. With a `workflowId` an encoding
   * that only a codec can read is reported where there is none.
   */
  decodeOutput(payloads: readonly Payload[] | null | undefined, workflowId?: string): Promise<Decoded>
  /** Undefined for what it can't decode: where a value has a meaning, bytes must not be taken for one. */
  decodeReadable(payloads: readonly Payload[]): Promise<unknown[]>
}

/** All that a reader of histories needs. */
export type PayloadReader = Pick<Payloads, 'decode' | 'decodeEach' | 'decodeOutput'>

export interface PayloadOptions {
  codec: Codec | null
  /** Bytes. */
  maxBytes: number
  /** Gets each output that needs a codec while there is none. */
  onEncodedOutput?: (output: EncodedOutput) => void
}

export interface EncodedOutput {
  encoding: string
  workflowId: string
}

export function createPayloads({ codec, maxBytes, onEncodedOutput = () => {} }: PayloadOptions): Payloads {
  async function plainOf(payloads: readonly Payload[]): Promise<readonly Payload[]> {
    if (codec === null) return payloads
    // What we can read ourselves the codec never wrote, and a reference is written after it.
    const own = payloads.filter((payload) => !isReference(payload))
    const isPlain = own.every((payload) => isReadable(encodingOf(payload)))
    const decoded = isPlain ? payloads : replaced(payloads, own, await codec.decode(own))
    return codec.download === undefined ? decoded : resolveReferences(decoded, codec.download)
  }

  async function decodeEach(payloads: readonly Payload[] | null | undefined): Promise<Decoded[]> {
    return (await plainOf(payloads ?? [])).map(toDecoded)
  }

  return {
    async encode(values) {
      if (values.length === 0) return null
      const plain = values.map(toPayload)
      const payloads = codec === null ? plain : await codec.encode(plain)
      refuseTooLarge(payloads, maxBytes)
      return { payloads }
    },

    decode: async (payloads) => (await decodeEach(payloads)).map(({ value }) => value),
    decodeEach,
    async decodeOutput(payloads, workflowId) {
      const encoded = codec === null && workflowId !== undefined ? payloads?.find(needsCodec) : undefined
      if (encoded && workflowId !== undefined) onEncodedOutput({ encoding: encodingOf(encoded), workflowId })
      return asOne(await decodeEach(payloads))
    },
    decodeReadable: async (payloads) =>
      (await plainOf(payloads)).map((payload) =>
        storedElsewhere(payload) === null ? fromPayload(payload) : undefined,
      ),
  }
}

/** Several values as the one that they are together. */
export function asOne(values: readonly Decoded[]): Decoded {
  const value = fromArguments(values.map((each) => each.value))
  const stored = values.flatMap((each) => each.storedElsewhere ?? [])
  const sizeBytes = stored.reduce((sum, each) => sum + each.sizeBytes, 0)
  return stored.length === 0 ? { value } : { value, storedElsewhere: { sizeBytes } }
}

function toDecoded(payload: Payload): Decoded {
  const elsewhere = storedElsewhere(payload)
  if (elsewhere !== null) return { value: null, storedElsewhere: elsewhere }
  const value = fromPayload(payload)
  // A worker may write what it likes: what can't be read is shown as the bytes it is.
  return {
    value:
      value === undefined ? { encoding: encodingOf(payload), data: toBase64(payload.data ?? new Uint8Array()) } : value,
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
export function fromPayload(payload: Payload): unknown {
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

// The SDKs' own converters write these two, for bytes and for protobuf messages.
const BINARY_ENCODINGS: readonly string[] = ['', 'binary/plain', 'binary/protobuf']

function needsCodec(payload: Payload): boolean {
  const encoding = encodingOf(payload)
  return !isReadable(encoding) && !BINARY_ENCODINGS.includes(encoding) && storedElsewhere(payload) === null
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
  throw new ServiceError(
    'PayloadTooLargeError',
    `The payload is ${bytes} bytes as encoded for the engine; at most ${maxBytes} are taken`,
    {
      details: { source: 'gateway' },
    },
  )
}
