import { checkInput } from '../../../src/domain/admission/check-input.ts'
import { parseJson } from '../../../src/lib/exact-json.ts'
import type { JsonSchema } from '../../../src/protocol/catalog.ts'

/** Whether the schema lets the value pass. */
export function accepts(schema: JsonSchema, value: unknown): boolean {
  return checkInput(value, schema).issues.length === 0
}

/** Of JSON texts: with numbers that JavaScript has no literal for. */
export function acceptsText(schema: string, value: string): boolean {
  return accepts(parseJson(schema) as JsonSchema, parseJson(value))
}

/** Where the schema refuses the value. */
export function paths(schema: JsonSchema, value: unknown): string[] {
  return checkInput(value, schema).issues.map(({ path }) => path)
}

/** What of the schema can't be evaluated. */
export function unusableIn(schema: JsonSchema): string[] {
  return checkInput(null, schema).unusable
}
