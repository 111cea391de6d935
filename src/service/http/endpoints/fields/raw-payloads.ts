import * as z from 'zod/mini'
import { fromBase64 } from '../../../../shared/lib/base64.ts'
import { checkedString } from '../../../../shared/wire/checked-string.ts'
import { rawPayload } from '../../../model/raw-payload.ts'
import { jsonForms, optional } from './json-forms.ts'
import { requiredText } from './names.ts'

const base64 = checkedString((text) => {
  try {
    fromBase64(text)
    return null
  } catch {
    return 'must be base64'
  }
}).register(jsonForms, { contentEncoding: 'base64' })

const item = z.pipe(
  z
    .strictObject({
      metadata: z.catchall(z.object({ encoding: requiredText }), z.string()),
      value: optional(z.unknown(), 'The data as JSON'),
      data: optional(base64, 'The data in base64, instead of `value`'),
    })
    .check(z.refine((given) => !('value' in given && 'data' in given), 'must not contain both value and data'))
    .register(jsonForms, { not: { required: ['value', 'data'] } }),
  z.transform((given): unknown => rawPayload(given)),
)

const list = z.array(item)

/** Arguments that the sender has encoded for Temporal, as an alternative to the fields `instead`. */
export function rawPayloads(instead: string) {
  return optional(list, `Instead of ${instead}: arguments as Temporal's payloads, which no schema checks`)
}

/** `rawPayloads` for one value. */
export const rawResult = optional(
  z.array(item).check(z.maxLength(1, 'must have at most one item')),
  "Instead of `output`: the result as one of Temporal's payloads",
)
