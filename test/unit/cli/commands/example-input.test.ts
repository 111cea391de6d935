import { expect, test } from 'vitest'
import { exampleInput } from '../../../../src/cli/commands/dev.ts'

test('exampleInput: a word of the shell with a value that the schema allows', () => {
  const schema = { type: 'object', properties: { name: { const: "it's" }, n: { minimum: 3 } }, required: ['name'] }

  expect(exampleInput(schema)).toBe(`--input '{"name":"it'\\''s"}'`)
  expect(exampleInput({ const: '\u001b]0;owned' })).toBe(`--input '"\\\\u001b]0;owned"'`.replace('\\\\', '\\'))
})

test('exampleInput: a blank without a schema, and for a schema that allows nothing', () => {
  for (const schema of [null, undefined, { not: {} }]) expect(exampleInput(schema)).toBe("--input '…'")
})
