/**
 * Temporal's `Payload` message as bytes of protobuf in base64, as items of streams carry it. Bundles for workerd have
 * no protobuf library.
 * https://github.com/temporalio/api/blob/master/temporal/api/common/v1/message.proto
 */
import { fromBase64, toBase64 } from '../lib/base64.ts'
import type { Payload } from './payload.ts'

const decoder = new TextDecoder()
const encoder = new TextEncoder()

// Field number and wire type. All fields that we read are length-delimited (wire type 2).
const METADATA = (1 << 3) | 2
const DATA = (2 << 3) | 2
const ENTRY_KEY = (1 << 3) | 2
const ENTRY_VALUE = (2 << 3) | 2

export function payloadToWire({ metadata, data }: Payload): string {
  const entries = Object.entries(metadata ?? {}).map(([key, value]) =>
    field(METADATA, join([field(ENTRY_KEY, encoder.encode(key)), field(ENTRY_VALUE, value)])),
  )
  return toBase64(join([...entries, field(DATA, data ?? new Uint8Array())]))
}

/** Text that is not such a message becomes a payload without metadata. Never throws. */
export function payloadFromWire(base64: string): Payload {
  let bytes: Uint8Array = encoder.encode(base64)
  try {
    bytes = fromBase64(base64)
    const metadata: (readonly [key: string, value: Uint8Array])[] = []
    let data = new Uint8Array()
    for (const [tag, value] of fieldsOf(bytes)) {
      if (tag === DATA) data = value
      if (tag === METADATA) metadata.push(toEntry(value))
    }
    // Unlike an assignment, this makes an ordinary property of the key `__proto__`.
    return { metadata: Object.fromEntries(metadata), data }
  } catch {
    return { metadata: {}, data: bytes }
  }
}

function toEntry(bytes: Uint8Array): [key: string, value: Uint8Array] {
  const fields = new Map(fieldsOf(bytes))
  return [decoder.decode(fields.get(ENTRY_KEY)), fields.get(ENTRY_VALUE) ?? new Uint8Array()]
}

function* fieldsOf(bytes: Uint8Array): Iterable<[tag: number, value: Uint8Array<ArrayBuffer>]> {
  for (let at = 0; at < bytes.length; ) {
    const tag = varintAt(bytes, at)
    const { start, end } = valueAt(bytes, tag.end, tag.value & 7)
    if (end > bytes.length) throw new RangeError('a field exceeds the message')
    yield [tag.value, bytes.slice(start, end)]
    at = end
  }
}

function valueAt(bytes: Uint8Array, start: number, wireType: number): { start: number; end: number } {
  switch (wireType) {
    case 0: // varint
      return { start, end: varintAt(bytes, start).end }
    case 1: // 64 bits
      return { start, end: start + 8 }
    case 2: {
      // length-delimited
      const length = varintAt(bytes, start)
      return { start: length.end, end: length.end + length.value }
    }
    case 5: // 32 bits
      return { start, end: start + 4 }
    default:
      throw new RangeError('not a wire type')
  }
}

function varintAt(bytes: Uint8Array, start: number): { value: number; end: number } {
  let value = 0
  for (let at = start; at < start + 10; at++) {
    const byte = bytes[at]
    if (byte === undefined) break
    value += (byte & 0x7f) * 2 ** (7 * (at - start))
    if (byte < 0x80) return { value, end: at + 1 }
  }
  throw new RangeError('not a varint')
}

function field(tag: number, value: Uint8Array): Uint8Array {
  return join([varint(tag), varint(value.length), value])
}

function varint(value: number): Uint8Array {
  const bytes: number[] = []
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Uint8Array.from([...bytes, rest])
    bytes.push((rest % 128) | 128)
  }
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
