import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import type { HandlerEntry, JsonSchema } from '../../../../src/shared/wire/catalog.ts'
import { documentOf } from './typed/catalog-document.ts'

const ajv = new Ajv2020({ strict: false, validateFormats: false })

const RUN = { workflowName: 'plain', input: 1 }

/** Whether the named schema of the document accepts each of the bodies. */
async function accepts(schema: string, bodies: readonly unknown[]): Promise<boolean[]> {
  const { components } = await document()
  const validate = ajv.compile({ $ref: `#/components/schemas/${schema}`, components })
  return bodies.map((body) => validate(body))
}

function document() {
  const workflows = [workflow('plain', null), workflow('typed', { type: 'integer' }), workflow('nothing', false)]
  return documentOf(workflows)
}

function workflow(name: string, inputSchema: JsonSchema | null) {
  const entry: HandlerEntry = { name, description: null, inputSchema, inputOptional: null, outputSchema: null }
  const signals = [{ ...entry, name: 'add' }]
  return { ...entry, aliases: [], signals, queries: [], updates: [] }
}

describe('the schemas of requests', () => {
  test('a run of a workflow without a schema has either input or args', async () => {
    const one = { workflowName: 'plain', input: null }
    const several = { workflowName: 'plain', args: [1, 2] }

    const accepted = await accepts('plain_request', [one, several, { workflowName: 'plain' }, { ...one, ...several }])

    expect(accepted).toEqual([true, true, false, false])
  })

  test('a run of a workflow with a schema has an input that matches it', async () => {
    const bodies = [1, 'one'].map((input) => ({ workflowName: 'typed', input }))

    expect(await accepts('typed_request', [...bodies, { workflowName: 'typed' }])).toEqual([true, false, false])
  })

  test('a run of a workflow that no input matches has no argument', async () => {
    const bodies = [{ args: [] }, { args: [1] }, { input: null }, {}]

    const runs = bodies.map((body) => ({ workflowName: 'nothing', ...body }))

    expect(await accepts('nothing_request', runs)).toEqual([true, false, false, false])
  })

  test('a run has no unknown fields, and no options that exclude each other', async () => {
    const options = [{ cronSchedule: '@daily' }, { cronSchedule: '@daily', startDelay: 1 }, { retries: 3 }]
    const runs = options.map((option) => ({ workflowName: 'typed', input: 1, ...option }))

    expect(await accepts('typed_request', runs)).toEqual([true, false, false])
  })

  test('a duration is greater than zero', async () => {
    const durations = ['1ms', '0.5 s', '10m', '0ms', '0.0 s', '00h', 0]
    const runs = durations.map((timeout) => ({ ...RUN, timeout }))

    expect(await accepts('StartRequest', runs)).toEqual([true, true, true, false, false, false, false])
  })

  test('search attributes have no empty name', async () => {
    const attribute = { type: 'keyword', value: 'Ada' }
    const bodies = [{ Customer: attribute }, { Customer: 'Ada' }, { '': attribute }, { '': 'Ada' }]
    const runs = bodies.map((searchAttributes) => ({ ...RUN, searchAttributes }))

    expect(await accepts('StartRequest', runs)).toEqual([true, true, false, false])
  })

  test('headers of a message have no empty name', async () => {
    const bodies = [{ tenant: 1 }, { '': 1 }].map((headers) => ({ payload: 1, headers }))

    expect(await accepts('typed_signal_add_request', bodies)).toEqual([true, false])
    expect(await accepts('MessageRequest', bodies)).toEqual([true, false])
  })
})
