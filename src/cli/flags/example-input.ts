import { createBudget } from '../../json-schema/budget.ts'
import { exampleOf } from '../../json-schema/examples/example.ts'
import { isObject } from '../../lib/is-object.ts'
import { shellWord } from '../output/advice.ts'
import { printable } from '../output/terminal.ts'

// A fraction of a second.
const STEPS = 1_000_000

/** `--input` with an example that the schema allows; with a blank to fill in if there is no such example. */
export function exampleInput(schema: unknown): string {
  const example = isObject(schema) ? exampleOf(schema, createBudget(STEPS)) : null
  return `--input ${example?.isValid ? shellWord(printable(JSON.stringify(example.value))) : "'…'"}`
}
