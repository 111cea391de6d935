import * as z from 'zod/mini'
import { SEARCH_ATTRIBUTE_TYPES } from '../../../domain/inspect/run-filter.ts'
import { checkedString } from '../../../protocol/checked-string.ts'
import { jsonForms } from './json-forms.ts'
import { text } from './names.ts'
import { isTime, TIME_FORM } from './time.ts'

const datetime = checkedString((value) => (isTime(value) ? null : 'must be a time like 2026-01-31T12:00:00Z')).register(
  jsonForms,
  TIME_FORM,
)

/** Large numbers are kept as their digits (`JSON.rawJSON`). */
function isInt64(value: unknown): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value)
  const digits = JSON.isRawJSON(value) ? JSON.stringify(value) : ''
  return /^-?\d{1,19}$/.test(digits) && BigInt.asIntN(64, BigInt(digits)) === BigInt(digits)
}

function attribute<Type extends string, Value extends z.ZodMiniType>(type: Type, value: Value) {
  return z.strictObject({ type: z.literal(type), value })
}

/** `{type, value}`, in which the value has the type. */
export const searchAttributeValue = z.discriminatedUnion(
  'type',
  [
    attribute('keyword', text),
    attribute('text', text),
    attribute(
      'int',
      z
        .custom<unknown>(isInt64, { error: 'must be a 64-bit integer' })
        .register(jsonForms, { type: 'integer', format: 'int64' }),
    ),
    attribute(
      'double',
      z
        .custom<unknown>((value) => typeof value === 'number' || JSON.isRawJSON(value), { error: 'must be a number' })
        .register(jsonForms, { type: 'number' }),
    ),
    attribute('bool', z.boolean()),
    attribute('datetime', datetime),
    attribute('keyword_list', z.array(text)),
  ],
  {
    error: ({ code }) => (code === 'invalid_union' ? `must be one of ${SEARCH_ATTRIBUTE_TYPES.join(', ')}` : undefined),
  },
)
