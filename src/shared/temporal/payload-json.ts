/** The JSON form of payloads, in the protocol of codec servers and in archived traces. */

import { fromBase64, toBase64 } from '../lib/base64.ts'
import type { EncodedPayload } from '../wire/trace/entry.ts'
import type { Payload } from './payload.ts'

export interface PayloadJson extends EncodedPayload {
  /** Sizes are strings in JSON, objects over gRPC and numbers over HTTP. */
  externalPayloads?: Payload['externalPayloads']
}

export function toPayloadJson({ metadata, data, externalPayloads }: Payload) {
  return {
    metadata: mapValues(metadata ?? {}, toBase64),
    data: toBase64(data ?? new Uint8Array()),
    ...(externalPayloads?.length && {
      externalPayloads: externalPayloads.map(({ sizeBytes }) => ({ sizeBytes: String(sizeBytes ?? 0) })),
    }),
  }
}

/** Throws when the data is not base64. */
export function fromPayloadJson({ metadata, data, externalPayloads }: PayloadJson): Payload {
  return {
    metadata: mapValues(metadata ?? {}, fromBase64),
    data: fromBase64(data ?? ''),
    ...(externalPayloads?.length && { externalPayloads }),
  }
}

const UNREADABLE = Symbol('unreadable payload')

/** Replaces a value that could not be decoded, and keeps its payload. */
export interface Unreadable {
  readonly [UNREADABLE]: EncodedPayload
}

export function unreadable(payload: Payload): Unreadable {
  return { [UNREADABLE]: toPayloadJson(payload) }
}

export function payloadOf(value: object): EncodedPayload | null {
  return UNREADABLE in value ? (value as Unreadable)[UNREADABLE] : null
}

function mapValues<A, B>(record: Record<string, A>, map: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]))
}
