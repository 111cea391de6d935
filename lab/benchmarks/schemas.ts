/** Measures the CPU time of checking an input, with ordinary and with hostile schemas. */
import * as z from 'zod'
import { doubling, numbers } from '../../dev/hostile-schemas.ts'
import { checkInput } from '../../src/service/catalog/check-input.ts'
import type { JsonSchema } from '../../src/shared/wire/catalog.ts'

const line = z.object({
  sku: z.string().regex(/^[A-Z]{3}-\d+$/),
  quantity: z.number().int().positive(),
  price: z.number().multipleOf(0.01),
})
const order = schemaOf(z.object({ id: z.uuid(), email: z.email(), at: z.iso.datetime(), lines: z.array(line) }))
const lines = (count: number) =>
  numbers(count).map((number) => ({ sku: `ABC-${number}`, quantity: number + 1, price: 9.99 }))
const orderOf = (count: number) => ({
  id: crypto.randomUUID(),
  email: 'ada@example.com',
  at: '2026-01-01T00:00:00Z',
  lines: lines(count),
})
const wide = Object.fromEntries(numbers(100_000).map((number) => [`key${number}`, number]))

measure('{ms: integer}', schemaOf(z.object({ ms: z.number().int().min(0) })), { ms: 5 }, 20_000)
measure('an order of 5 lines', order, orderOf(5), 3000)
measure('an order of 15 000 lines, 700 kB', order, orderOf(15_000), 5)
measure('hostile: 100 000 keys, 5000 times', { allOf: numbers(5000).map(() => ({ minProperties: 1 })) }, wide, 1)
measure('hostile: anyOf of two, 60 deep', doubling('anyOf', 60, { type: 'string' }) as JsonSchema, 1, 1)
measure('hostile: 200 000 unique items', { uniqueItems: true }, numbers(200_000), 1)
measure('hostile: ^((a+)+)+$ on a megabyte', { pattern: '^((a+)+)+$' }, `${'a'.repeat(1_000_000)}!`, 1)

function schemaOf(schema: z.ZodType): JsonSchema {
  return JSON.parse(JSON.stringify(z.toJSONSchema(schema)))
}

/** Prints the CPU time of one check in microseconds. The schema is already compiled. */
function measure(title: string, schema: JsonSchema, input: unknown, times: number): void {
  const check = () => {
    const { issues, abortedBy } = checkInput(input, schema)
    if (abortedBy !== null) return 'unchecked'
    return issues.length === 0 ? 'accepted' : 'rejected'
  }
  for (let warm = 0; warm < times / 5; warm++) check()
  const before = process.cpuUsage()
  let outcome = ''
  for (let time = 0; time < times; time++) outcome = check()
  const { user } = process.cpuUsage(before)
  console.log(`${title.padEnd(40)} ${(user / times).toFixed(1).padStart(10)} µs  ${outcome}`)
}
