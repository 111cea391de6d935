import { errorMessage } from '../../../shared/lib/error-message.ts'

/** A copy as JSON. Without bounds that are infinite: they say nothing, and JSON has no number for them. */
export function plainJson(schema: object, check?: (value: unknown) => void): Record<string, unknown> {
  try {
    return JSON.parse(
      JSON.stringify(schema, (_key, value) => {
        check?.(value)
        return typeof value === 'number' && !Number.isFinite(value) ? undefined : value
      }),
    )
  } catch (cause) {
    // V8's own message for a circular structure has several lines.
    if (/circular|cyclic/i.test(errorMessage(cause)))
      throw new TypeError('has a circular structure; use $ref for recursive schemas', { cause })
    throw cause
  }
}
