import * as z from 'zod/mini'
import { isObject } from '../../../../shared/lib/json.ts'
import { SEARCH_ATTRIBUTE_TYPES } from '../../../model/run-filter.ts'
import type { SearchAttributeValue } from '../../../model/workflow-options.ts'
import { chosenSchema, timeField } from './field-values.ts'
import { jsonForms } from './json-forms.ts'
import { text } from './names.ts'

const datetime = timeField('2026-01-31T12:00:00Z')

/** Large numbers are `JSON.rawJSON` objects, which keep all digits. */
function isInt64(value: unknown): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value)
  const digits = JSON.isRawJSON(value) ? JSON.stringify(value) : ''
  return /^-?\d{1,19}$/.test(digits) && BigInt.asIntN(64, BigInt(digits)) === BigInt(digits)
}

function attribute<Type extends string, Value extends z.ZodMiniType>(type: Type, value: Value) {
  return z.strictObject({ type: z.literal(type), value })
}

/** `{type, value}`, in which the value has the type. */
const typed = z.discriminatedUnion(
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

const list = z.array(text)

const numberOrBoolean = z.custom<unknown>(
  (value) => typeof value === 'number' || typeof value === 'boolean' || JSON.isRawJSON(value),
  { error: 'must be a string, a number, a boolean, an array of strings, or {"type": …, "value": …}' },
)

/** A value without a type: the engine knows the registered one. */
function plain(value: z.ZodMiniType) {
  return z.pipe(
    value,
    z.transform((given): SearchAttributeValue => ({ type: null, value: given })),
  )
}

const PLAIN = { text: plain(text), list: plain(list), other: plain(numberOrBoolean) }

/** A value, or `{type, value}`. The document shows it open: generators have no type for a text or an object. */
export const searchAttributeValue = chosenSchema<SearchAttributeValue>((input) => {
  if (isObject(input)) return typed
  if (typeof input === 'string') return PLAIN.text
  return Array.isArray(input) ? PLAIN.list : PLAIN.other
})
