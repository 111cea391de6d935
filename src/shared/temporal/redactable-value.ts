/** Values of payloads for places where secrets are redacted by the names of their keys: history, traces, status. */
import { isObject } from '../lib/json.ts'
import { REDACTED } from '../wire/secret-names.ts'
import { isWireItem } from '../wire/stream.ts'
import { encodingOf, fromPayload, type Payload, type ToValue, toDecoded, toEncoded } from './payload.ts'
import { payloadFromWire } from './payload-wire.ts'

/**
 * Text that cannot be read is redacted as a whole, because its secrets cannot be found. `ofBytes` converts the other
 * payloads that do not hold JSON. Items of a stream, which are payloads in base64, are converted, too.
 */
export function redactableValue(ofBytes: ToValue): ToValue {
  // Items in items are not converted: each level could add a thousand levels of JSON.
  const ofItem: ToValue = (payload, stored) => convert(payload, stored, ofBytes, () => REDACTED)
  return (payload, stored) => convert(payload, stored, ofBytes, ofItem)
}

function convert(payload: Payload, stored: Payload, ofBytes: ToValue, ofItem: ToValue): unknown {
  const value = fromPayload(payload)
  if (value !== undefined) return withItems(value, ofItem)
  return holdsText(payload) ? { encoding: encodingOf(payload), data: REDACTED } : ofBytes(payload, stored)
}

/** With bytes in base64. */
export const toRedactable: ToValue = redactableValue(toEncoded)

/** Whether the payload, which does not hold JSON, may hold text: its encoding does not say bytes, or they are JSON. */
function holdsText(payload: Payload): boolean {
  const encoding = encodingOf(payload)
  if (encoding !== 'binary/plain') return !encoding.startsWith('binary/')
  // Not parsed: JSON that is nested too deep is text, too.
  const text = new TextDecoder().decode(payload.data ?? new Uint8Array()).trim()
  return (text.startsWith('{') && text.endsWith('}')) || (text.startsWith('[') && text.endsWith(']'))
}

/** The value, in which the items of streams have their contents instead of payloads in base64. */
function withItems(value: unknown, ofItem: ToValue): unknown {
  if (Array.isArray(value)) for (const element of value) withItems(element, ofItem)
  else if (isObject(value)) {
    for (const member of Object.values(value)) withItems(member, ofItem)
    if (isWireItem(value)) readItem(value, ofItem)
  }
  return value
}

function readItem(item: { data: unknown }, ofItem: ToValue): void {
  const payload = payloadFromWire(String(item.data))
  // Any other object may have these keys, too.
  if (payload.metadata?.encoding !== undefined) item.data = toDecoded(payload, payload, ofItem).value
}
