/** TypeScript's error messages for catalogs that do not match their workflows. */

import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bin } from '../../../../dev/servers/runtimes.ts'

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))

const WORKFLOWS = `
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow'

export const approve = defineSignal<[{ by: string }]>('approve')
export const rejectSignal = defineSignal<[{ by: string }]>('reject')
export const stageOf = defineQuery<{ stage: 'open' | 'done' }, [], 'stage-of'>('stage-of')
export const addItem = defineUpdate<number, [{ sku: string }, boolean?]>('addItem')

export async function greet({ name }: { name: string }, greeting = 'Hello'): Promise<string> {
  return greeting + name
}
export async function lookUp(name?: string): Promise<void> {}
export const cancel = defineSignal<[reason?: string]>('cancel')
export async function greetTwice(who: { name: string }, times: number): Promise<string> {
  return who.name.repeat(times)
}
`

const SIGNALS_ALONE = `
import { defineSignal } from '@temporalio/workflow'

export const approve = defineSignal<[{ by: string }]>('approve')
export async function greet(): Promise<void> {}
`

const NO_DEFINITIONS = `
export async function greet(): Promise<void> {}
`

/** Arguments of `defineCatalog<typeof workflows>({ … })`. */
const CATALOGS = {
  fits: `greet: {
    input: z.object({ name: z.string() }),
    output: z.string(),
    signals: { approve: { input: z.object({ by: z.string() }) }, reject: { input: z.object({ by: z.string() }) }, rejectSignal: {} },
    queries: { 'stage-of': { output: z.object({ stage: z.enum(['open', 'done']) }) } },
    updates: { addItem: { input: z.object({ sku: z.string() }), output: z.int() } },
  }`,
  fitsZodMini: `greet: { input: mini.object({ name: mini.string() }), output: mini.string() }`,
  fitsArktype: `greet: { input: type({ name: 'string' }), output: type('string') }`,
  fitsValibot: `greet: { input: toStandardJsonSchema(v.object({ name: v.string() })) }`,
  fitsJsonSchema: `greet: { input: { type: 'object', 'x-more': [1] }, output: true, updates: { addItem: { input: json } } }`,
  firstOfTwo: `greetTwice: { input: z.object({ name: z.string() }) }`,
  secondOfTwo: `greetTwice: { input: z.number() }`,
  propertyName: `greet: { input: z.object({ nam: z.string() }) }`,
  propertyType: `greet: { input: z.object({ name: z.number() }) }`,
  propertyNameMini: `greet: { input: mini.object({ nam: mini.string() }) }`,
  propertyNameArktype: `greet: { input: type({ nam: 'string' }) }`,
  propertyTypeValibot: `greet: { input: toStandardJsonSchema(v.object({ name: v.number() })) }`,
  output: `greet: { output: z.number() }`,
  workflowName: `gret: {}`,
  key: `greet: { inputSchema: z.string() }`,
  signalName: `greet: { signals: { aprove: {} } }`,
  queryExportName: `greet: { queries: { stageOf: {} } }`,
  signalInput: `greet: { signals: { approve: { input: z.object({ by: z.number() }) } } }`,
  updateInput: `greet: { updates: { addItem: { input: z.object({ sku: z.number() }) } } }`,
  updateOutput: `greet: { updates: { addItem: { output: z.string() } } }`,
  queryOutput: `greet: { queries: { 'stage-of': { output: z.object({ stage: z.enum(['closed']) }) } } }`,
  inputOptionalMissing: `lookUp: { input: z.string().optional() }`,
  inputOptionalWrong: `greet: { input: z.object({ name: z.string() }), inputOptional: true }`,
  signalInputOptional: `greet: { signals: { cancel: { input: z.string().optional() } } }`,
  valibotAlone: `greet: { input: v.object({ name: v.string() }) }`,
  zod3: `greet: { input: z3.object({ name: z3.string() }) }`,
}

let folder: string
/** By name of the catalog. */
let messages: Map<string, string>

beforeAll(async () => {
  await mkdir(join(ROOT, '.cache'), { recursive: true })
  // Inside the repository, so that its packages can be resolved.
  folder = await mkdtemp(join(ROOT, '.cache/compile-errors-'))
  const files = Object.entries(CATALOGS).map(([name, catalog]) => [name, './workflows.ts', catalog])
  files.push(['unexported', './signals-alone.ts', `greet: { queries: { progress: {} } }`])
  files.push(['unchecked', './no-definitions.ts', `greet: { queries: { progress: { output: z.number() } } }`])
  for (const [name = '', module = '', catalog = ''] of files)
    await writeFile(join(folder, `${name}.ts`), toSource(module, catalog))
  await writeFile(join(folder, 'workflows.ts'), WORKFLOWS)
  await writeFile(join(folder, 'signals-alone.ts'), SIGNALS_ALONE)
  await writeFile(join(folder, 'no-definitions.ts'), NO_DEFINITIONS)
  const options = { noUnusedLocals: false, noErrorTruncation: false }
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: '../../tsconfig.json', compilerOptions: options, include: ['*.ts'] }),
  )
  messages = await compile()
})

afterAll(() => rm(folder, { recursive: true, force: true }))

test('compile errors: none for a catalog that matches its workflows, with schemas of any library', () => {
  const fitting = ['fits', 'fitsZodMini', 'fitsArktype', 'fitsValibot', 'fitsJsonSchema']

  expect(fitting.flatMap((name) => messages.get(name) ?? [])).toEqual([])
})

test('compile errors: the input schema is compared with the first parameter', () => {
  expect(messages.get('firstOfTwo')).toBeUndefined()
  expect(messages.get('secondOfTwo')).toContain("Type 'number' is not assignable to type '{ name: string; }'")
})

test('compile errors: say that the catalog must say whether an argument may be left out', () => {
  for (const name of ['inputOptionalMissing', 'signalInputOptional'])
    expect(messages.get(name)).toContain("Property 'inputOptional' is missing")
  expect(messages.get('inputOptionalWrong')).toContain("Type 'true' is not assignable to type 'false'")
})

test('compile errors: name a missing property and the one given instead', () => {
  const missing = "Property 'name' is missing in type '{ nam: string; }' but required in type '{ name: string; }'"

  for (const name of ['propertyName', 'propertyNameMini', 'propertyNameArktype'])
    expect(messages.get(name)).toContain(missing)
})

test('compile errors: name a property with the wrong type, and both types', () => {
  for (const name of ['propertyType', 'propertyTypeValibot']) {
    expect(messages.get(name)).toContain("The types of 'input.name' are incompatible between these types")
    expect(messages.get(name)).toContain("Type 'number' is not assignable to type 'string'")
  }
})

test('compile errors: name both types of an output that does not match', () => {
  expect(messages.get('output')).toContain("Types of property 'output' are incompatible")
  expect(messages.get('output')).toContain("Type 'number' is not assignable to type 'string'")
})

test('compile errors: name an unknown workflow, key or handler and suggest the intended one', () => {
  expect(messages.get('workflowName')).toMatch(/'gret' does not exist in type .* Did you mean to write 'greet'\?/)
  expect(messages.get('key')).toMatch(/'inputSchema' does not exist in type 'WorkflowDescription</)
  expect(messages.get('signalName')).toMatch(/'aprove' does not exist in type .* Did you mean to write 'approve'\?/)
})

test('compile errors: a definition with a name in its type is known only by that name', () => {
  expect(messages.get('queryExportName')).toContain(
    "'stageOf' does not exist in type '{ readonly \"stage-of\"?: HandlerDescription<",
  )
})

test('compile errors: schemas of signals, queries and updates are compared with their definitions', () => {
  expect(messages.get('signalInput')).toContain("The types of 'input.by' are incompatible between these types")
  expect(messages.get('updateInput')).toContain("The types of 'input.sku' are incompatible between these types")
  expect(messages.get('updateOutput')).toContain("Type 'string' is not assignable to type 'number'")
  expect(messages.get('queryOutput')).toContain('Type \'"closed"\' is not assignable to type \'"done" | "open"\'')
})

test('compile errors: a module that exports any definitions must export every kind that its catalog uses', () => {
  expect(messages.get('unexported')).toContain('"the workflows module exports no defineQuery"')
  expect(messages.get('unchecked')).toBeUndefined()
})

test('compile errors: a schema that cannot be converted to JSON Schema names the missing property', () => {
  expect(messages.get('valibotAlone')).toContain("Property 'jsonSchema' is missing in type 'StandardProps<")
  expect(messages.get('zod3')).toMatch(/'ZodObject<\{ name: ZodString; \}, "strip"/)
})

test('compile errors: none mentions an index signature', () => {
  expect([...messages.values()].filter((message) => message.includes('ndex signature'))).toEqual([])
})

function toSource(module: string, catalog: string): string {
  return `
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import * as z from 'zod'
import * as mini from 'zod/mini'
import * as z3 from 'zod/v3'
import { defineCatalog } from '../../src/worker/index.ts'
import type * as workflows from '${module}'

const json: Record<string, unknown> = {}
export const used = [toStandardJsonSchema, type, v, z, mini, z3, json]
export const catalog = defineCatalog<typeof workflows>({ ${catalog} })
`
}

/** The complete error message of each file that has one. */
async function compile(): Promise<Map<string, string>> {
  const args = ['--singleThreaded', '--project', folder, '--noEmit', '--pretty', 'false']
  const env = { ...process.env, GOGC: '400' }
  const { stdout } = await promisify(execFile)(bin('tsc'), args, { cwd: folder, env }).catch((error) => error)
  const blocks = stdout
    .split(/^(?=\S)/m)
    .map((message: string): [string, string] => [message.slice(0, message.indexOf('.ts(')), message])
  return new Map(blocks.filter(([name]: [string, string]) => name !== ''))
}
