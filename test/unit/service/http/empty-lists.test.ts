/** Clients that send an empty list for each field that their program has not set. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import type { Workflows } from '../../../../src/service/verbs.ts'
import { documentOf } from '../openapi/typed/catalog-document.ts'
import { makeApi } from './api.ts'

const BYTES = { metadata: { encoding: 'binary/plain' }, data: 'AQI=' }
const NAMED = { workflowName: 'greet' }

const STARTS = ['run', 'start', 'validate'] as const
const MESSAGES = ['signal', 'query', 'update'] as const

interface Row {
  schema: string
  path: string
  /** What the program has set. */
  set: object
  empty: readonly string[]
}

const rows: Row[] = [
  ...STARTS.flatMap((verb) =>
    [{ input: 'Ada' }, { input: [] }, { args: [1] }, { payloads: [BYTES] }, { args: [] }].map((set) => ({
      schema: 'StartRequest',
      path: `/workflow/${verb}`,
      set: { ...NAMED, ...set },
      empty: ['args', 'payloads'],
    })),
  ),
  ...MESSAGES.flatMap((verb) =>
    [{ payload: 'Ada' }, { args: [1] }, { payloads: [BYTES] }, {}].map((set) => ({
      schema: 'MessageRequest',
      path: `/workflow/w/${verb}/n`,
      set,
      empty: ['args', 'payloads'],
    })),
  ),
  ...(['Signal', 'Update'] as const).flatMap((kind) =>
    [
      { input: 1, payload: 2 },
      { startArgs: [1], args: [2] },
      { inputPayloads: [BYTES], payloads: [BYTES] },
      { startArgs: [] },
    ].map((set) => ({
      schema: `${kind}WithStartRequest`,
      path: `/workflow/${kind.toLowerCase()}-with-start/n`,
      set: { ...NAMED, ...set },
      empty: ['startArgs', 'inputPayloads', 'args', 'payloads'],
    })),
  ),
  ...[{ output: 1 }, { payloads: [BYTES] }, {}].map((set) => ({
    schema: 'CompleteActivityRequest',
    path: '/workflow/w/activities/a/complete',
    set,
    empty: ['payloads'],
  })),
  { schema: 'PublishRequest', path: '/workflow/w/stream', set: { topic: 't', data: 1 }, empty: ['items'] },
]

/** Records what each verb gets, and fails. */
function makeRecorder() {
  const received: unknown[] = []
  const verbs = ['run', 'start', 'validate', 'signal', 'query', 'update', 'signalWithStart', 'updateWithStart'] as const
  const record = async (input: unknown) => {
    received.push(input)
    throw new Error('recorded')
  }
  const workflows = Object.fromEntries([...verbs, 'completeActivity', 'publish'].map((verb) => [verb, record]))
  return { received, call: makeApi({ workflows: workflows as Partial<Workflows> }).call }
}

function filled({ set, empty }: Row): object {
  return { ...Object.fromEntries(empty.map((key) => [key, []])), ...set }
}

test.for(rows)('$path: empty lists beside $set change nothing', async (row) => {
  const { received, call } = makeRecorder()

  for (const body of [row.set, filled(row)]) await call('POST', row.path, body)

  expect(received).toHaveLength(2)
  expect(received[1]).toEqual(received[0])
})

test('empty lists: the schemas of the document accept what the service accepts', async () => {
  const { components } = await documentOf([])
  const ajv = new Ajv2020({ strict: false, validateFormats: false })

  const accepted = rows.map((row) =>
    ajv.validate({ $ref: `#/components/schemas/${row.schema}`, components }, filled(row)),
  )

  expect(accepted).toEqual(rows.map(() => true))
})

const EITHER = 'The body must contain either input (one argument) or startArgs (an array with one element per argument)'
const ONLY_ONE = 'The body must contain only one of payload, args and payloads'

test.for<[path: string, body: object, message?: string]>([
  ['/workflow/start', { ...NAMED, input: 1, args: [2], payloads: [] }],
  ['/workflow/start', { ...NAMED, args: [1], payloads: [BYTES] }],
  ['/workflow/w/signal/n', { payload: 1, args: [], payloads: [BYTES] }],
  ['/workflow/update-with-start/n', { ...NAMED, args: [1] }, EITHER],
  ['/workflow/update-with-start/n', { ...NAMED, input: 1, startArgs: [2] }, EITHER],
  ['/workflow/update-with-start/n', { ...NAMED, input: 1, payload: 1, args: [2] }, ONLY_ONE],
  ['/workflow/w/activities/a/complete', { output: 1, payloads: [BYTES] }],
  ['/workflow/w/stream', { items: [], topic: 't' }],
  ['/workflow/w/stream', { items: [{ topic: 't', data: 1 }], data: 1 }],
])('%s: %o is ambiguous or lacks an argument, and is rejected', async ([path, body, expected = expect.any(String)]) => {
  const { call, received } = makeRecorder()

  const response = await call('POST', path, body)
  const { error, message } = await response.json()

  expect([response.status, error, message]).toEqual([400, 'ValidationError', expected])
  expect(received).toEqual([])
})
