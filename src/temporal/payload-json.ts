/** Payloads in JSON, as Temporal's codec servers and archived traces have them. */

import { fromBase64, toBase64 } from '../lib/base64.ts'
import type { EncodedPayload } from '../protocol/trace/entry.ts'
import type { Payload } from './payload.ts'

export interface PayloadJson extends EncodedPayload {
  /** A 64-bit integer is text in JSON; whoever reads a size takes it as text, an object (gRPC) or a number. */
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

/** Throws for what is not base64. */
export function fromPayloadJson({ metadata, data, externalPayloads }: PayloadJson): Payload {
  return {
    metadata: mapValues(metadata ?? {}, fromBase64),
    data: fromBase64(data ?? ''),
    ...(externalPayloads?.length && { externalPayloads }),
  }
}

const UNREADABLE = Symbol('unreadable payload')

/** Stands among decoded values for a payload that could not be decoded here, and keeps it whole. */
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
