/** What the validators of clients for TypeScript say about tools; test/clients/mcp-schemas.test.ts has Python's. */
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv'
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/client/validators/cf-worker'
import { AjvJsonSchemaValidator as OlderValidator } from '@modelcontextprotocol/sdk/validation/ajv'
import { RE2JS } from 're2js'
import { expect, test } from 'vitest'
import { type ToolValue, toolArguments, toolOutputs } from '../../../../../support/tool-schemas.ts'

type Validate = (schema: object) => (value: unknown) => { valid: boolean; errorMessage?: string | undefined }

const VALIDATORS: [name: string, validate: Validate][] = [
  ['SDK 1', (schema) => new OlderValidator().getValidator(schema)],
  ['SDK 2', (schema) => new AjvJsonSchemaValidator().getValidator(schema)],
  ['SDK 2 on workerd', (schema) => new CfWorkerJsonSchemaValidator().getValidator(schema)],
]

function rejected(values: readonly ToolValue[], validate: Validate): object[] {
  return values.flatMap(({ name, schema, value }) => {
    const { valid, errorMessage } = validate(JSON.parse(schema))(JSON.parse(value))
    return valid ? [] : [{ name, value, errorMessage, schema }]
  })
}

test('client validators: the schemas are many, and most have values', () => {
  expect(new Set(toolOutputs().map(({ name }) => name)).size).toBeGreaterThanOrEqual(200)
  expect(new Set(toolArguments().map(({ name }) => name)).size).toBeGreaterThanOrEqual(200)
})

test.for(VALIDATORS)('client validators: %s accepts every valid output of a tool', ([, validate]) => {
  expect(rejected(toolOutputs(), validate)).toEqual([])
})

test.for(VALIDATORS)('client validators: %s accepts every valid argument of a tool', ([, validate]) => {
  expect(rejected(toolArguments(), validate)).toEqual([])
})

test('client validators: RE2 compiles every pattern of an input schema', () => {
  const patterns = new Set(toolArguments().flatMap(({ schema }) => patternsIn(JSON.parse(schema))))

  expect(patterns.size).toBeGreaterThan(10)
  expect([...patterns].filter((pattern) => !isCompiled(pattern))).toEqual([])
})

function patternsIn(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([keyword, value]) => [
    ...(keyword === 'pattern' && typeof value === 'string' ? [value] : []),
    ...(keyword === 'patternProperties' ? Object.keys(Object(value)) : []),
    ...patternsIn(value),
  ])
}

function isCompiled(pattern: string): boolean {
  try {
    RE2JS.compile(pattern)
    return true
  } catch {
    return false
  }
}
