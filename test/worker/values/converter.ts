/** A payload converter that writes the values of `kinds.ts`; other values as usual. */
import { defaultPayloadConverter, type Payload, type PayloadConverter } from '@temporalio/common'
import { KINDS, type KindName } from './kinds.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

export const payloadConverter: PayloadConverter = {
  toPayload(value) {
    const kind = kindOf(value)
    return kind === null ? defaultPayloadConverter.toPayload(value) : payloadOf(kind)
  },
  fromPayload<T>(payload: Payload): T {
    const text = decoder.decode(payload.data ?? new Uint8Array())
    const as = (Object.keys(KINDS) as KindName[]).find((name) => KINDS[name].text === text)
    return as === undefined ? defaultPayloadConverter.fromPayload<T>(payload) : ({ as } as T)
  },
}

export function payloadOf(kind: KindName): Payload {
  const { encoding, text } = KINDS[kind]
  return { metadata: { encoding: encoder.encode(encoding) }, data: encoder.encode(text) }
}

function kindOf(value: unknown): KindName | null {
  if (typeof value !== 'object' || value === null || !('as' in value)) return null
  return typeof value.as === 'string' && Object.hasOwn(KINDS, value.as) ? (value.as as KindName) : null
}
