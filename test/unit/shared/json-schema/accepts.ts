import { checkInput } from '../../../../src/service/catalog/check-input.ts'
import { parseJson } from '../../../../src/shared/lib/json.ts'
import type { JsonSchema } from '../../../../src/shared/wire/catalog.ts'

/** Whether the value is valid. */
export function accepts(schema: JsonSchema, value: unknown): boolean {
  return checkInput(value, schema).issues.length === 0
}

/** Takes JSON strings, for numbers that JavaScript has no literal for. */
export function acceptsJson(schema: string, value: string): boolean {
  return accepts(parseJson(schema) as JsonSchema, parseJson(value))
}

/** The paths of the issues. */
export function paths(schema: JsonSchema, value: unknown): string[] {
  return checkInput(value, schema).issues.map(({ path }) => path)
}

/** The keywords that are skipped, with reasons. */
export function skippedIn(schema: JsonSchema): string[] {
  return checkInput(null, schema).skipped
}
