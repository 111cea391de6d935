import type { temporal } from '@temporalio/proto'
import { fromPayload, toPayload } from './payload.ts'

/** The engine's names of the types. */
export const TYPE_NAMES = {
  keyword: 'Keyword',
  text: 'Text',
  int: 'Int',
  double: 'Double',
  bool: 'Bool',
  datetime: 'Datetime',
  keyword_list: 'KeywordList',
} as const

/** Set by the engine while a workflow task fails again and again. */
export const PROBLEMS_ATTRIBUTE = 'TemporalReportedProblems'

const encoder = new TextEncoder()

/** `type` is the engine's name of a type, such as `KeywordList`. With null the engine adds the registered one. */
export function toSearchAttribute(type: string | null, value: unknown): temporal.api.common.v1.IPayload {
  const payload = toPayload(value)
  if (type === null) return payload
  const { metadata } = payload
  return { ...payload, metadata: { ...metadata, type: encoder.encode(type) } }
}

// Those of the engine and of its SDKs: https://docs.temporal.io/search-attribute#default-search-attribute
const OF_THE_ENGINE = /^(?:Temporal|BuildIds$|BinaryChecksums$|BatcherNamespace$|BatcherUser$)/

/** The values by name that clients and workflow code have set. No codec encodes them. */
export function userSearchAttributes(
  attributes: temporal.api.common.v1.ISearchAttributes | null | undefined,
): Record<string, unknown> {
  const fields = Object.entries(attributes?.indexedFields ?? {}).filter(([name]) => !OF_THE_ENGINE.test(name))
  return Object.fromEntries(fields.map(([name, payload]) => [name, fromPayload(payload) ?? null]))
}
