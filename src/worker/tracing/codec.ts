import type { Worker } from '@temporalio/worker'
import { REDACTED } from '../../protocol/secret-names.ts'
import type { TraceEntry, TraceError } from '../../protocol/trace/entry.ts'
import { isSpanId } from '../../protocol/trace/mask-entry.ts'
import {
  type Codec,
  createPayloadReader,
  type Decoded,
  type Payload,
  type PayloadReader,
  storedElsewhere,
  toPayload,
  toSingleDecoded,
} from '../../temporal/payload.ts'
import { toPayloadJson, unreadable } from '../../temporal/payload-json.ts'

type Codecs = Worker['options']['loadedDataConverter']['payloadCodecs']

/** Combines the worker's codecs: the first one encodes first and decodes last. Null if there are none. */
export function toCodec(codecs: Codecs): Codec | null {
  if (codecs.length === 0) return null
  const pipeline =
    (order: Codecs, step: 'decode' | 'encode'): Codec['decode'] =>
    async (payloads) => {
      let result = payloads as Parameters<Codecs[number]['decode']>[0]
      for (const codec of order) result = await codec[step](result)
      return result
    }
  return { encode: pipeline(codecs, 'encode'), decode: pipeline(codecs.toReversed(), 'decode') }
}

/** Decodes payloads for a trace. Others are kept encoded, or redacted if the worker has a `redact` function. */
export function createTraceReader(codec: Codec | null, { redacted }: { redacted: boolean }): PayloadReader {
  const reader = createPayloadReader(codec)

  async function decodeEach(list: readonly Payload[] | null | undefined): Promise<Decoded[]> {
    const given = list ?? []
    const values = await reader.decodeJson(given)
    return given.map((payload, index): Decoded => {
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

/** Encodes the values of entries with the worker's codecs, so that traces are encrypted like the engine's payloads. */
export async function encodeEntries(entries: readonly TraceEntry[], codec: Codec): Promise<TraceEntry[]> {
  const values: unknown[] = []
  const setters: ((payload: unknown) => void)[] = []
  const result = entries.map((entry) => {
    const encoded: string[] = [...(entry.encoded ?? [])]
    const copy = { ...entry, ...(entry.error && { error: copyOf(entry.error) }) }
    const encodeValue = (pointer: string, holder: object, key: string) => {
      const value: unknown = Reflect.get(holder, key)
      // This value, or a part of it, is an encoded payload already.
      if (value === undefined || value === null || encoded.some((known) => known.startsWith(pointer))) return
      values.push(value)
      setters.push((payload) => Reflect.set(holder, key, payload))
      encoded.push(pointer)
    }
    encodeValue('/input', copy, 'input')
    encodeValue('/output', copy, 'output')
    // Attributes of spans are the user's values; those of other entries come from the engine.
    if (isSpanId(entry.id)) encodeValue('/attributes', copy, 'attributes')
    for (let error = copy.error ?? null, pointer = '/error'; error !== null; error = error.cause, pointer += '/cause') {
      encodeValue(`${pointer}/message`, error, 'message')
      encodeValue(`${pointer}/details`, error, 'details')
    }
    return encoded.length === 0 ? copy : Object.assign(copy, { encoded })
  })
  const payloads = values.length === 0 ? [] : await codec.encode(values.map(toPayload))
  for (const [index, payload] of payloads.entries()) setters[index]?.(toPayloadJson(payload))
  return result
}

function copyOf(error: TraceError): TraceError {
  return { ...error, cause: error.cause === null ? null : copyOf(error.cause) }
}
