/** Temporal's payloads, the JSON values in them, and memos, which are maps of payloads: pure conversions. */
import type { temporal } from '@temporalio/proto'
import { toBase64 } from '../lib/base64.ts'
import { parseLenientJson } from '../lib/json.ts'
import { ASKS_MEMO } from '../wire/asks.ts'
import { type StoredElsewhere, toSingleValue } from '../wire/execution.ts'
import { isReservedMemo, memoKeys } from '../wire/memo-keys.ts'

export type Payload = temporal.api.common.v1.IPayload

export interface Decoded {
  /** Null when the payload is stored elsewhere. */
  value: unknown
  storedElsewhere?: StoredElsewhere
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const strictDecoder = new TextDecoder('utf-8', { fatal: true })
const JSON_PLAIN = encoder.encode('json/plain')

/** Encodes as `json/plain`. Numbers stay exact; the SDK's own converter rounds them. */
export function toPayload(value: unknown): Payload {
  return { metadata: { encoding: JSON_PLAIN }, data: encoder.encode(JSON.stringify(value)) }
}

/** Undefined when the payload does not hold JSON. */
export function fromPayload(payload: Payload): unknown {
  if (!isJsonPayload(payload)) return undefined
  if (encodingOf(payload) === 'binary/null') return null
  try {
    return parseLenientJson(strictDecoder.decode(payload.data ?? new Uint8Array()))
  } catch {
    return undefined
  }
}

/** What is shown of a payload. `stored` is the payload before a codec has decoded it. */
export type ToValue = (payload: Payload, stored: Payload) => unknown

/** Its JSON, or the payload itself with its data in base64. */
export const toValue: ToValue = (payload) => {
  const value = fromPayload(payload)
  return value === undefined ? toEncoded(payload) : value
}

/** The value, unless it is stored elsewhere. */
export function toDecoded(payload: Payload, stored = payload, convert = toValue): Decoded {
  const elsewhere = storedElsewhere(payload)
  if (elsewhere !== null) return { value: null, storedElsewhere: elsewhere }
  return { value: convert(payload, stored) }
}

export function toEncoded(payload: Payload): { encoding: string; data: string } {
  return { encoding: encodingOf(payload), data: toBase64(payload.data ?? new Uint8Array()) }
}

/** One value for a list of payloads: the only one, null for an empty list, the array for several. */
export function toSingleDecoded(decoded: readonly Decoded[]): Decoded {
  const value = toSingleValue(decoded.map((each) => each.value))
  const stored = decoded.flatMap((each) => each.storedElsewhere ?? [])
  const sizeBytes = stored.reduce((sum, each) => sum + each.sizeBytes, 0)
  return stored.length === 0 ? { value } : { value, storedElsewhere: { sizeBytes } }
}

export function encodingOf({ metadata }: Payload): string {
  const encoding = metadata?.encoding
  return encoding === undefined ? '' : decoder.decode(encoding)
}

const JSON_ENCODINGS: readonly string[] = ['binary/null', 'json/plain', 'json/protobuf']

/** Whether the payload's encoding is one that holds JSON, or null. */
export function isJsonPayload(payload: Payload): boolean {
  return JSON_ENCODINGS.includes(encodingOf(payload))
}

// The SDKs' own converters write bytes and protobuf messages with these encodings.
const BINARY_ENCODINGS: readonly string[] = ['', 'binary/plain', 'binary/protobuf']

/** Whether only a codec can have written the payload. */
export function needsCodec(payload: Payload): boolean {
  return !isJsonPayload(payload) && !BINARY_ENCODINGS.includes(encodingOf(payload)) && storedElsewhere(payload) === null
}

/** Transforms payloads one for one: encryption, compression, storage elsewhere. */
export interface Codec {
  encode(payloads: Payload[]): Promise<Payload[]>
  decode(payloads: Payload[]): Promise<Payload[]>
  /** Loads and decodes the payloads behind references to a worker's external storage; null when it cannot. */
  download?(references: Payload[]): Promise<Payload[] | null>
}

/** Decodes payloads. No method rejects for a payload that it cannot decode; they reject when the codec fails. */
export interface PayloadReader {
  /** Null for a payload that is stored elsewhere. */
  decode(payloads: PayloadList): Promise<unknown[]>
  /** Like `decode`; also says which values are stored elsewhere. */
  decodeEach(payloads: PayloadList): Promise<Decoded[]>
  /** What a workflow or a handler returned: the one value, null for none, the array for several. */
  decodeOutput(payloads: PayloadList, workflowId?: string): Promise<Decoded>
  /** Undefined for a payload that does not hold JSON. Use it where the service interprets the value. */
  decodeJson(payloads: readonly Payload[]): Promise<unknown[]>
}

export type PayloadList = readonly Payload[] | null | undefined

export function createPayloadReader(codec: Codec | null, convert: ToValue = toValue): PayloadReader {
  async function throughCodec(payloads: readonly Payload[]): Promise<readonly Payload[]> {
    if (codec === null) return payloads
    // SDKs encode first and store elsewhere afterwards: a reference itself is never encoded.
    const values = payloads.filter((payload) => !isReference(payload))
    const decoded = values.every(isJsonPayload)
      ? payloads
      : replacePayloads(payloads, values, await codec.decode(values))
    return codec.download === undefined ? decoded : resolveReferences(decoded, codec.download)
  }

  async function decodeEach(list: PayloadList): Promise<Decoded[]> {
    const stored = list ?? []
    const decoded = await throughCodec(stored)
    return decoded.map((payload, at) => toDecoded(payload, stored[at], convert))
  }

  return {
    decode: async (payloads) => (await decodeEach(payloads)).map(({ value }) => value),
    decodeEach,
    decodeOutput: async (payloads) => toSingleDecoded(await decodeEach(payloads)),
    decodeJson: async (payloads) =>
      (await throughCodec(payloads)).map((payload) =>
        storedElsewhere(payload) === null ? fromPayload(payload) : undefined,
      ),
  }
}

// SDKs can store payloads outside the engine, which holds only a reference: https://docs.temporal.io/external-storage
const REFERENCE_TYPE = 'temporal.api.sdk.v1.ExternalStorageReference'
const PROTOBUF_ENCODINGS: readonly string[] = ['json/protobuf', 'binary/protobuf']

// The encoding in the first releases of the Go SDK with external storage.
const FIRST_ENCODING = 'json/external-storage-reference'

// A limit on memory: all payloads of one engine call are held at the same time.
export const MAX_DOWNLOAD_BYTES = 32 * 1024 * 1024

/** Null when the payload holds the value itself. */
export function storedElsewhere(payload: Payload): StoredElsewhere | null {
  if (!isReference(payload) && !payload.externalPayloads?.length) return null
  return { sizeBytes: sizeOf(payload) }
}

/** Replaces references by the payloads that `download` finds, until together they exceed the limit. */
export async function resolveReferences(
  payloads: readonly Payload[],
  download: (references: Payload[]) => Promise<Payload[] | null>,
): Promise<readonly Payload[]> {
  let remainingBytes = MAX_DOWNLOAD_BYTES
  const references = payloads.filter((payload) => {
    if (!isReference(payload) || sizeOf(payload) > remainingBytes) return false
    remainingBytes -= sizeOf(payload)
    return true
  })
  const found = references.length === 0 ? null : await download(references)
  return found === null ? payloads : replacePayloads(payloads, references, found)
}

/** Replaces each payload of `some`, which are among `payloads`, by the one of `others` at the same index. */
function replacePayloads(
  payloads: readonly Payload[],
  some: readonly Payload[],
  others: readonly Payload[],
): readonly Payload[] {
  if (some.length === payloads.length) return others
  const replacements = new Map(some.map((payload, index) => [payload, others[index]]))
  return payloads.map((payload) => replacements.get(payload) ?? payload)
}

/** Whether a codec server's `/download` accepts the payload: it is a reference that an SDK wrote. */
export function isReference(payload: Payload): boolean {
  const encoding = encodingOf(payload)
  const messageType = payload.metadata?.messageType
  // Most payloads have no message type: nothing is decoded for them.
  const isTyped = messageType !== undefined && decoder.decode(messageType) === REFERENCE_TYPE
  return encoding === FIRST_ENCODING || (isTyped && PROTOBUF_ENCODINGS.includes(encoding))
}

function sizeOf({ externalPayloads }: Payload): number {
  // A 64-bit integer is an object over gRPC, a number over HTTP, and a string from a codec server.
  return (externalPayloads ?? []).reduce((sum, { sizeBytes }) => sum + Number(String(sizeBytes ?? 0)), 0)
}

type Memo = temporal.api.common.v1.IMemo

/** Encodes a memo as plain JSON, whatever data converter the worker uses. */
export function toMemo(values: Readonly<Record<string, unknown>>): Memo {
  return { fields: Object.fromEntries(Object.entries(values).map(([key, value]) => [key, toPayload(value)])) }
}

export function memoFields(memo: Memo | null | undefined): Map<string, Payload> {
  return new Map(Object.entries(memo?.fields ?? {}))
}

/** The values of a memo that `toMemo` encoded; undefined for a field that does not hold JSON. */
export function fromMemo(memo: Memo | null | undefined): Map<string, unknown> {
  return new Map([...memoFields(memo)].map(([key, payload]) => [key, fromPayload(payload)]))
}

/** The fields of the user, still encoded. `decoded` are those that `decodeProtocolMemo` has read. */
export function userFields(
  workflowName: string,
  fields: ReadonlyMap<string, Payload>,
  decoded: ReadonlyMap<string, unknown>,
): ReadonlyMap<string, Payload> {
  return new Map([...fields].filter(([key]) => !isReservedMemo(workflowName, key, decoded.get(key))))
}

/**
 * Decodes only the fields of the protocol: the user's own fields may be megabytes. `$asks` is not decoded either: a
 * codec may have encoded it, and few callers need it.
 */
export async function decodeProtocolMemo(
  workflowName: string,
  fields: ReadonlyMap<string, Payload>,
  payloads: Pick<PayloadReader, 'decodeJson'>,
): Promise<ReadonlyMap<string, unknown>> {
  const known = memoKeys(workflowName).flatMap((key) => {
    const payload = fields.get(key)
    return payload === undefined || key === ASKS_MEMO ? [] : [{ key, payload }]
  })
  const values = await payloads.decodeJson(known.map(({ payload }) => payload))
  return new Map(known.map(({ key }, index) => [key, values[index]]))
}
