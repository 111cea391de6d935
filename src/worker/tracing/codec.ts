import type { Worker } from '@temporalio/worker'
import { REDACTED } from '../../protocol/secret-names.ts'
import type { TraceEntry, TraceError } from '../../protocol/trace/entry.ts'
import { storedElsewhere } from '../../temporal/external-storage.ts'
import { type Decoded, type Payload, toPayload, toSingleDecoded } from '../../temporal/payload.ts'
import { toPayloadJson, unreadable } from '../../temporal/payload-json.ts'
import type { Codec, PayloadReader } from '../../temporal/payload-reader.ts'
import { createPayloadReader } from '../../temporal/payload-reader.ts'

type Codecs = Worker['options']['loadedDataConverter']['payloadCodecs']

/** The worker's own codecs as one: the last one encodes last and decodes first. Null without any. */
export function toCodec(codecs: Codecs): Codec | null {
  if (codecs.length === 0) return null
  const through =
    (order: Codecs, step: 'decode' | 'encode'): Codec['decode'] =>
    async (payloads) => {
      let result = payloads as Parameters<Codecs[number]['decode']>[0]
      for (const codec of order) result = await codec[step](result)
      return result
    }
  return { encode: through(codecs, 'encode'), decode: through(codecs.toReversed(), 'decode') }
}

/** Decodes payloads for a trace; what cannot be decoded is kept whole, unless a `redact` would have to see it. */
export function traceValues(codec: Codec | null, { redacted }: { redacted: boolean }): PayloadReader {
  const reader = createPayloadReader(codec)

  async function decodeEach(given: readonly Payload[] | null | undefined): Promise<Decoded[]> {
    const list = given ?? []
    const values = await reader.decodeJson(list)
    return list.map((payload, index): Decoded => {
      if (values[index] !== undefined) return { value: values[index] }
      const elsewhere = storedElsewhere(payload)
      if (elsewhere !== null) return { value: null, storedElsewhere: elsewhere }
      return { value: redacted ? REDACTED : unreadable(payload) }
    })
  }

  return {
    ...reader,
    decodeEach,
    decode: async (given) => (await decodeEach(given)).map(({ value }) => value),
    decodeOutput: async (given) => toSingleDecoded(await decodeEach(given)),
  }
}

/** Encodes the values of entries again: what leaves the process is as unreadable as it is in the engine. */
export async function encodeEntries(entries: readonly TraceEntry[], codec: Codec): Promise<TraceEntry[]> {
  const values: unknown[] = []
  const fills: ((payload: unknown) => void)[] = []
  const result = entries.map((entry) => {
    const encoded: string[] = [...(entry.encoded ?? [])]
    const copy = { ...entry, ...(entry.error && { error: copyOf(entry.error) }) }
    const hide = (pointer: string, holder: object, key: string) => {
      const value: unknown = Reflect.get(holder, key)
      // What is a payload already, here or further down, stays one.
      if (value === undefined || value === null || encoded.some((known) => known.startsWith(pointer))) return
      values.push(value)
      fills.push((payload) => Reflect.set(holder, key, payload))
      encoded.push(pointer)
    }
    hide('/input', copy, 'input')
    hide('/output', copy, 'output')
    // The attributes of what the history tells are the engine's own; those of spans are the user's.
    if (entry.id.includes(':span:')) hide('/attributes', copy, 'attributes')
    for (let error = copy.error ?? null, pointer = '/error'; error !== null; error = error.cause, pointer += '/cause') {
      hide(`${pointer}/message`, error, 'message')
    }
    return encoded.length === 0 ? copy : Object.assign(copy, { encoded })
  })
  const payloads = values.length === 0 ? [] : await codec.encode(values.map(toPayload))
  for (const [index, payload] of payloads.entries()) fills[index]?.(toPayloadJson(payload))
  return result
}

function copyOf(error: TraceError): TraceError {
  return { ...error, cause: error.cause === null ? null : copyOf(error.cause) }
}
