import type { temporal } from '@temporalio/proto'
import { toPayload } from './payload.ts'

const encoder = new TextEncoder()

/** `type` is the engine's name of a type, such as `KeywordList`. */
export function toSearchAttribute(type: string, value: unknown): temporal.api.common.v1.IPayload {
  const { metadata, ...payload } = toPayload(value)
  return { ...payload, metadata: { ...metadata, type: encoder.encode(type) } }
}
