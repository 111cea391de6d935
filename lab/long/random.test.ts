/** Requests in any order, against the real engine and a model of what must hold. */

import fc from 'fast-check'
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import type { Answer, Api } from '../../test/support/api.ts'
import { startFirstRun } from '../../test/support/first-run.ts'
import { test as sharedTest } from '../../test/support/fixtures.ts'
import { testCatalog } from '../../test/support/test-catalog.ts'
import { expected, type Run, type Verb } from './model.ts'

const IDS = ['a', 'a', 'b']
const SEQUENCES = 200
const MOST_COMMANDS = 16

// What one sequence waits for, others can be answered meanwhile.
const LANES = 5

// With a catalog that is read once, a start takes one call of the engine.
const test = sharedTest
  .extend('workerOptions', { scope: 'file' }, () => ({ catalog: testCatalog }))
  .extend('serviceEnv', { scope: 'file' }, () => ({ SERVICE_CATALOG_TTL: '1h' }))

let api: Api

test.beforeAll(async ({ service }) => {
  api = service
  const workflowId = await startFirstRun(api, 'messages')
  for (const message of ['signal/add', 'update/set', 'query/state'])
    await until(`the first ${message} is accepted`, async () => {
      const { status, text } = await api.post(`${workflowId}/${message}`, { payload: 1 })
      if (status !== 200) throw new Error(text)
      return true
    })
  await api.post(`${workflowId}/terminate`)
})

/** The runs of each id, oldest first. */
type Model = Map<string, Run[]>

interface Real {
  /** Of the ids of one sequence. */
  prefix: string
}

interface Ask {
  verb: Verb
  /** Which of the ids it is about, and which of its runs; without a pin the latest. */
  id: string
  pin: 'first' | 'latest' | null
  /** What a signal brings, or an update leaves. */
  value: unknown
}

function toCommand(ask: Ask): fc.AsyncCommand<Model, Real> {
  const { verb, id, value, pin } = ask
  return {
    check: () => true,
    async run(model, { prefix }) {
      const runs = model.get(id) ?? []
      const { index, before } = target(runs, ask)
      const workflowId = `${prefix}-${id}`
      const path = `/workflow/${workflowId}${pin && before ? `/runs/${before.runId}` : ''}`
      const { status, body, run } = expected(before, verb, value)

      const answer = await send(ask, workflowId, path)

      if (isUnbegun(before, verb, answer)) return
      expect([answer.status, answer.body]).toEqual([
        status,
        expect.objectContaining(asSeen(before, verb, answer, body)),
      ])
      if (run === undefined) return
      const after = { ...run, runId: run.runId || answer.body.runId }
      model.set(id, verb === 'start' ? [...runs, after] : runs.with(index, after))
      if (run.status !== 'running') await untilClosed(path)
    },
    toString: () => `${verb} ${id}${pin ? ` ${pin}` : ''} ${JSON.stringify(value)}`,
  }
}

function target(runs: Run[], { verb, pin }: Ask): { index: number; before: Run | undefined } {
  const index = pin === 'first' ? 0 : runs.length - 1
  return { index, before: verb === 'start' ? runs.at(-1) : runs[index] }
}

function send({ verb, value }: Ask, workflowId: string, path: string): Promise<Answer> {
  switch (verb) {
    case 'start':
      return api.start('messages', null, { workflowId })
    case 'finish':
      return api.call('POST', `${path}/signal/finish`)
    case 'signal':
      return api.call('POST', `${path}/signal/add`, { payload: value })
    case 'update':
      return api.call('POST', `${path}/update/set`, { payload: value })
    case 'query':
      return api.call('POST', `${path}/query/state`)
    case 'stop':
      return api.call('PATCH', `${path}/stop`)
    case 'terminate':
      return api.call('POST', `${path}/terminate`)
    default:
      return api.call('GET', `${path}/${verb}`)
  }
}

/** A run that was terminated may not have begun. */
function isUnbegun(run: Run | undefined, verb: Verb, { status, body }: Answer): boolean {
  return verb === 'query' && run?.status === 'terminated' && status === 409 && body.error === 'WorkflowNotReadyError'
}

/** A run that was terminated may not have seen its last signals; an update that was answered it has seen. */
function asSeen(run: Run | undefined, verb: Verb, { status, body }: Answer, expectedBody: object): object {
  if (verb !== 'query' || run?.status !== 'terminated' || status !== 200) return expectedBody
  return { ...expectedBody, gathered: run.gathered.slice(0, body.gathered.length) }
}

/** What ends a run by its own code ends it soon. */
async function untilClosed(path: string): Promise<void> {
  await until('it is closed', async () => (await api.call('GET', `${path}/status`)).body.status !== 'running', {
    everyMs: 5,
  })
}

const command = fc
  .record<Ask>({
    // Twice what makes a run worth asking.
    verb: fc.constantFrom(
      'start',
      'start',
      'signal',
      'signal',
      'update',
      'query',
      'finish',
      'stop',
      'terminate',
      'result',
      'status',
    ),
    id: fc.constantFrom(...IDS),
    pin: fc.constantFrom('first', 'latest', null),
    value: fc.jsonValue({ maxDepth: 1 }),
  })
  .map(toCommand)

async function drive(commands: Iterable<fc.AsyncCommand<Model, Real>>): Promise<void> {
  const model: Model = new Map()
  const prefix = `random-${crypto.randomUUID()}`
  try {
    await fc.asyncModelRun(() => ({ model, real: { prefix } }), commands)
  } finally {
    const open = [...model].filter(([, runs]) => runs.at(-1)?.status === 'running')
    await Promise.all(open.map(([id]) => api.post(`${prefix}-${id}/terminate`)))
  }
}

test('random: any sequence of requests gets the responses that the model predicts (threat 58)', {
  timeout: 660_000,
}, async () => {
  const seed = Number(process.env.PORTICO_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
  console.info(`random: PORTICO_TEST_SEED=${seed} repeats this`)

  const lanes = Array.from({ length: LANES }, (_, lane) =>
    fc.assert(fc.asyncProperty(fc.commands([command], { maxCommands: MOST_COMMANDS, size: 'max' }), drive), {
      seed: seed + lane,
      numRuns: SEQUENCES / LANES,
      // Shrinking ends early enough to report the counterexample.
      interruptAfterTimeLimit: 600_000,
      markInterruptAsFailure: true,
    }),
  )

  await Promise.all(lanes)
})
