import type { temporal } from '@temporalio/proto'
import { ASKS_MEMO } from '../protocol/asks.ts'
import { memoKeys } from '../protocol/memo-keys.ts'
import { fromPayload, type Payload, type PayloadReader, toPayload } from './payload.ts'

type Memo = temporal.api.common.v1.IMemo

/** Encodes a memo as plain JSON, whatever data converter the worker uses. */
export function toMemo(values: Readonly<Record<string, unknown>>): Memo {
  return { fields: Object.fromEntries(Object.entries(values).map(([key, value]) => [key, toPayload(value)])) }
}

export function memoFields(memo: Memo | null | undefined): Map<string, Payload> {
  return new Map(Object.entries(memo?.fields ?? {}))
}

/** The values of a memo that `toMemo` encoded; undefined for a field that does not hold JSON. */
export function fromMemo(memo: Memo | null | undefined): Map<string, unknown> {
  return new Map([...memoFields(memo)].map(([key, payload]) => [key, fromPayload(payload)]))
}

/** The fields of the user, still encoded. */
export function userFields(workflowName: string, fields: ReadonlyMap<string, Payload>): ReadonlyMap<string, Payload> {
  const ofProtocol = memoKeys(workflowName)
  return new Map([...fields].filter(([key]) => !ofProtocol.includes(key)))
}

/**
 * Decodes only the fields of the protocol: the user's own fields may be megabytes. `$asks` is not decoded either: a
 * codec may have encoded it, and few callers need it.
 */
export async function decodeProtocolMemo(
  workflowName: string,
  fields: ReadonlyMap<string, Payload>,
  payloads: Pick<PayloadReader, 'decodeJson'>,
): Promise<ReadonlyMap<string, unknown>> {
  const known = memoKeys(workflowName).flatMap((key) => {
    const payload = fields.get(key)
    return payload === undefined || key === ASKS_MEMO ? [] : [{ key, payload }]
  })
  const values = await payloads.decodeJson(known.map(({ payload }) => payload))
  return new Map(known.map(({ key }, index) => [key, values[index]]))
}
