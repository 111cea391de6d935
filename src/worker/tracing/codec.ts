import type { Worker } from '@temporalio/worker'
import { type Codec, createPayloadReader, type PayloadReader, toPayload } from '../../shared/temporal/payload.ts'
import { toPayloadJson, unreadable } from '../../shared/temporal/payload-json.ts'
import { redactableValue } from '../../shared/temporal/redactable-value.ts'
import { REDACTED } from '../../shared/wire/secret-names.ts'
import { ERROR_VALUES, type TraceEntry, type TraceError } from '../../shared/wire/trace/entry.ts'
import { isSpanId } from '../../shared/wire/trace/mask-entry.ts'

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

/**
 * Decodes payloads for a trace. Bytes are kept as they are stored, or redacted if the worker has a `redact` function,
 * which cannot process them.
 */
export function createTraceReader(codec: Codec | null, { redacted }: { redacted: boolean }): PayloadReader {
  return createPayloadReader(
    codec,
    redactableValue((_payload, stored) => (redacted ? REDACTED : unreadable(stored))),
  )
}

/** Encodes the values of entries with the worker's codecs, so that traces are encrypted like the engine's payloads. */
export async function encodeEntries(entries: readonly TraceEntry[], codec: Codec): Promise<TraceEntry[]> {
  const values: unknown[] = []
  const setters: ((payload: unknown) => void)[] = []
  const result = entries.map((entry) => {
    const encoded: string[] = [...(entry.encoded ?? [])]
    const { attributes } = entry
    const copy = {
      ...entry,
      ...(entry.error && { error: copyOf(entry.error) }),
      ...(attributes && { attributes: { ...attributes } }),
    }
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
    // Attributes of spans are the user's values; those of other entries come from the engine, but for these.
    if (isSpanId(entry.id)) encodeValue('/attributes', copy, 'attributes')
    else for (const key of ['summary', 'lastFailure']) encodeValue(`/attributes/${key}`, copy.attributes ?? {}, key)
    for (let error = copy.error ?? null, pointer = '/error'; error !== null; error = error.cause, pointer += '/cause') {
      for (const key of ['message', ...ERROR_VALUES]) encodeValue(`${pointer}/${key}`, error, key)
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
