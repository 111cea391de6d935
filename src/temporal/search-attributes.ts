import type { temporal } from '@temporalio/proto'
import { toPayload } from './payload.ts'

const encoder = new TextEncoder()

/** `type` is the engine's name of a type, such as `KeywordList`. With null the engine adds the registered one. */
export function toSearchAttribute(type: string | null, value: unknown): temporal.api.common.v1.IPayload {
  const payload = toPayload(value)
  if (type === null) return payload
  const { metadata } = payload
  return { ...payload, metadata: { ...metadata, type: encoder.encode(type) } }
}
