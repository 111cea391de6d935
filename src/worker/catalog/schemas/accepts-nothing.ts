import { createBudget } from '../../../json-schema/check.ts'
import { compileSchema, validate } from '../../../json-schema/compile.ts'
import { isObject } from '../../../lib/json.ts'
import type { JsonSchema } from '../../../protocol/catalog.ts'

/**
 * Whether a worker that parses its argument with this schema accepts a call without one. True if that is unknown, so
 * that the API does not reject what the worker accepts.
 */
export function acceptsNothing(schema: unknown, published: JsonSchema): boolean {
  if (isNever(published)) return true
  const validateNothing = validatorOf(schema)
  return validateNothing === null ? acceptsAnything(published) : validateNothing()
}

/** Whether no value matches, so that there can be no argument. */
function isNever(published: JsonSchema): boolean {
  if (typeof published === 'boolean') return !published
  return isObject(published.not) && Object.keys(published.not).length === 0
}

/** The validation of a library that supports Standard Schema: https://standardschema.dev. */
function validatorOf(schema: unknown): (() => boolean) | null {
  const standard: unknown = Reflect.get(Object(schema), '~standard')
  // The result of `z.toJSONSchema` has the key too, but cannot validate.
  if (!isObject(standard) || typeof standard.validate !== 'function') return null
  const { validate } = standard
  return () => {
    try {
      const result: unknown = Reflect.apply(validate, standard, [undefined])
      if (!(result instanceof Promise)) return Reflect.get(Object(result), 'issues') === undefined
      // The result of an asynchronous validation is not used.
      result.catch(() => {})
      return true
    } catch {
      // The worker's own code threw an error, which says nothing about the argument.
      return true
    }
  }
}

// One value of each JSON type.
const VALUES = [null, true, 0, '', [], {}]

/** JSON has no undefined, so a JSON Schema accepts a missing argument only if it accepts every value. */
function acceptsAnything(published: JsonSchema): boolean {
  const unlimited = createBudget(Number.POSITIVE_INFINITY)
  const compiled = compileSchema(published, unlimited)
  return VALUES.every((value) => validate(compiled, value, unlimited).issues.length === 0)
}
