/** Requests with an `Idempotency-Key` while responses are lost, replicas restart, and workflows continue as new. */
import fc from 'fast-check'
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { keyedId } from '../../src/service/model/keyed-id.ts'
import type { Answer } from '../support/api.ts'
import type { Fault, FaultProxy } from '../support/fault-proxy.ts'
import { type InProcessService, test as sharedTest } from '../support/fixtures.ts'
import { keyOfCaller } from '../support/policy.ts'
import { testCatalog } from '../support/test-catalog.ts'

const TWINS = 40
const SEQUENCES = 20
const MAX_COMMANDS = 12

const test = sharedTest.extend('workerOptions', { scope: 'file' }, () => ({ catalog: testCatalog }))

let proxy: FaultProxy
let startReplica: () => InProcessService
let replicas: [InProcessService, InProcessService]

test.beforeAll(async ({ faultProxy, serve, worker: _ }) => {
  proxy = faultProxy
  startReplica = () => serve({ ENGINE_ADDRESS: faultProxy.address }, 'disturbed')
  replicas = [startReplica(), startReplica()]
  for (const replica of replicas)
    await until('the catalog is published', async () => (await replica.get('catalog')).status === 200)
})

/** Repeats the request while the engine cannot be reached or is at its limit, as a client with a key can. */
async function send(replica: InProcessService, verb: 'run' | 'start', key: string, body: object): Promise<Answer> {
  const headers = { 'Idempotency-Key': key }
  return until('the engine is reached', async () => {
    const answer = await replica.post(verb, body, headers)
    return ![429, 503].includes(answer.status) && answer
  })
}

const isReplayed = ({ headers }: Answer) => headers.get('Idempotency-Replayed') === 'true'

/** The run that the engine has now, of the chain that began with `firstRunId`. */
async function chainOf(
  workflowId: string,
  client: { workflow: { getHandle(id: string): { describe(): Promise<unknown> } } },
) {
  const { raw } = (await client.workflow.getHandle(workflowId).describe()) as {
    raw: { workflowExecutionInfo?: { firstRunId?: string } }
  }
  return raw.workflowExecutionInfo?.firstRunId
}

test('twins: requests with one key on two replicas start one run, while the connection to the engine is cut (failure 35)', async ({
  client,
}) => {
  for (const workflowName of ['neverEnds', 'echo']) {
    const key = `twins-${crypto.randomUUID()}`
    const workflowId = await keyedId(keyOfCaller(key))
    // Fewer than the attempts of a call: each cut ends all calls on the connection.
    const cuts: Fault[] = [{ lost: async () => {} }, { dropped: async () => {} }, { lost: async () => {} }]
    for (const fault of cuts) proxy.on({ method: 'StartWorkflowExecution', containing: workflowId, fault, times: 1 })

    const answers = await Promise.all(
      Array.from({ length: TWINS }, (_, at) =>
        send(at % 2 === 0 ? replicas[0] : replicas[1], 'start', key, { workflowName, input: { at: 'once' } }),
      ),
    )

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    const [runId, ...others] = new Set(answers.map(({ body }) => body.runId))
    expect(others).toEqual([])
    expect(await chainOf(workflowId, client)).toBe(runId)
    // None, if the response to the request that started the run was repeated.
    expect(answers.filter((answer) => !isReplayed(answer)).length).toBeLessThanOrEqual(1)
    await replicas[0].post(`${workflowId}/terminate`)
  }
})

test('twins: a request that the engine has not received gets the run of its twin, open or closed', async () => {
  for (const workflowName of ['neverEnds', 'echo']) {
    const key = `twins-${crypto.randomUUID()}`
    const body = { workflowName, input: 'once' }
    const workflowId = await keyedId(keyOfCaller(key))
    let twin: Answer | undefined
    // It has not measured the engine's clock: to it any run may be younger than its request.
    const late = startReplica()
    await until('the catalog is read', async () => (await late.get('catalog')).status === 200)
    const isClosed = async () => (await replicas[0].get(`${workflowId}/result`)).status === 200
    const dropped = async () => {
      twin = await send(replicas[0], 'start', key, body)
      if (workflowName === 'echo') await until('the run of the twin is closed', isClosed)
    }
    proxy.on({ method: 'StartWorkflowExecution', containing: workflowId, fault: { dropped }, times: 1 })

    const answer = await late.post('start', body, { 'Idempotency-Key': key })

    const status = workflowName === 'echo' ? 'completed' : 'running'
    expect([answer.status, answer.body]).toEqual([200, { ...twin?.body, status }])
    expect(isReplayed(answer)).toBe(true)
    await late.close()
    await replicas[0].post(`${workflowId}/terminate`)
  }
})

test('an outage: the response asks for a repeat, unless the workflow id is not that of the key', async () => {
  const key = `outage-${crypto.randomUUID()}`
  const body = { workflowName: 'echo', input: 1 }
  const derived = await keyedId(keyOfCaller(key))
  const own = `outage-${crypto.randomUUID()}`
  const request = (more: object) => replicas[0].post('run', { ...body, ...more }, { 'Idempotency-Key': key })

  const answers = []
  for (const workflowId of [derived, own]) {
    const rule = { method: 'StartWorkflowExecution', containing: workflowId, fault: 'calm' } as const
    const takeBack = proxy.on(rule)
    answers.push(await request(workflowId === own ? { workflowId } : {}))
    takeBack()
  }
  const again = await request({})

  expect(answers.map(({ status, headers }) => [status, headers.get('Retry-After')])).toEqual([
    [503, '1'],
    [503, null],
  ])
  expect(answers.map((answer) => answer.body.workflowId)).toEqual([derived, own])
  expect([again.status, again.body.output]).toEqual([200, 1])
})

test('twins: a key with a used workflow id starts one run', async ({ client }) => {
  const workflowId = `twins-${crypto.randomUUID()}`
  const body = { workflowName: 'echo', workflowId }
  const used = await send(replicas[0], 'run', 'other', { ...body, input: 1 })

  const answers = await Promise.all(
    Array.from({ length: TWINS }, (_, at) =>
      send(at % 2 === 0 ? replicas[0] : replicas[1], 'start', 'own', { ...body, input: 2 }),
    ),
  )

  const [runId, ...others] = new Set(answers.map(({ body }) => body.runId))
  expect([others, runId === used.body.runId]).toEqual([[], false])
  expect(await chainOf(workflowId, client)).toBe(runId)
})

test('a run that workflow code has given another memo is recognized by the first run of its chain', async ({
  client,
}) => {
  const key = `memo-${crypto.randomUUID()}`
  const body = { workflowName: 'replacesMemo', input: { links: 2 } }
  const first = await send(replicas[0], 'run', key, body)
  const { memo } = await client.workflow.getHandle(first.body.workflowId).describe()

  const again = await send(replicas[1], 'run', key, body)

  expect([memo, first.body.output]).toEqual([{ replaced: true }, 2])
  expect([again.body, isReplayed(again)]).toEqual([first.body, true])
})

test('an update-with-start that is repeated while its handler runs returns the result of that handler', async () => {
  const key = `slow-${crypto.randomUUID()}`
  // Longer than a request may take that does not wait for a worker.
  const body = { workflowName: 'messages', input: null, args: [5000] }
  const request = (replica: InProcessService) =>
    replica.post('update-with-start/wait', body, { 'Idempotency-Key': key })

  const [first, again] = await Promise.all(replicas.map(request))

  expect([first?.status, again?.status]).toEqual([200, 200])
  expect(again?.body).toEqual(first?.body)
  await replicas[0].post(`${first?.body.workflowId}/terminate`)
})

/** What is known of a key: the request that came first, and its chain. */
interface Known {
  input: number
  firstRunId: string
  latestRunId: string
  /** The input of the latest run. */
  round: number
  open: boolean
}

type Model = Map<string, Known>

interface Step {
  verb: 'finish' | 'next' | 'restart' | 'run' | 'start'
  key: string
  input: number
  replica: 0 | 1
  fault: 'dropped' | 'left' | 'lost' | null
}

const WORKFLOW = 'chainOnSignal'

const steps = fc.record<Step>({
  verb: fc.constantFrom('start', 'start', 'run', 'run', 'next', 'finish', 'restart'),
  key: fc.constantFrom('a', 'a', 'b'),
  input: fc.constantFrom(1, 1, 1, 10),
  replica: fc.constantFrom(0, 1),
  fault: fc.constantFrom('dropped', 'left', 'lost', null, null, null),
})

async function carryOut(step: Step, prefix: string, model: Model): Promise<void> {
  const key = `${prefix}-${step.key}`
  const workflowId = await keyedId(keyOfCaller(key))
  const known = model.get(step.key)
  switch (step.verb) {
    case 'restart': {
      const ended = replicas[step.replica]
      replicas[step.replica] = startReplica()
      return ended.close()
    }
    case 'next':
    case 'finish':
      if (known?.open) model.set(step.key, await signal(step.verb, workflowId, known))
      return
    default: {
      const answer = await sendWithFault(step, key, workflowId)
      const after = check(step, answer, workflowId, known)
      if (after !== undefined) model.set(step.key, after)
    }
  }
}

async function signal(name: 'finish' | 'next', workflowId: string, known: Known): Promise<Known> {
  await replicas[0].post(`${workflowId}/signal/${name}`)
  const latest = await until('the signal has its effect', async () => {
    const { body } = await replicas[0].get(`${workflowId}/status`)
    return (name === 'next' ? body.runId !== known.latestRunId : body.status === 'completed') && body
  })
  if (name === 'finish') return { ...known, open: false }
  return { ...known, latestRunId: latest.runId, round: known.round + 1 }
}

async function sendWithFault({ verb, input, replica, fault }: Step, key: string, workflowId: string): Promise<Answer> {
  const body = { workflowName: WORKFLOW, input, timeout: 1 }
  const service = replicas[replica]
  if (fault === 'left') {
    const client = new AbortController()
    const path = `/workflow/${verb === 'run' ? 'run' : 'start'}`
    const left = service.call('POST', path, body, { 'Idempotency-Key': key }, client.signal)
    client.abort()
    await left.catch(() => {})
  }
  const injected: Fault | null = fault === 'lost' || fault === 'dropped' ? toFault(fault) : null
  const rule = { method: 'StartWorkflowExecution', containing: workflowId, times: 1 }
  const takeBack = injected ? proxy.on({ ...rule, fault: injected }) : () => {}
  const answer = await send(service, verb === 'run' ? 'run' : 'start', key, body)
  takeBack()
  return answer
}

function toFault(fault: 'dropped' | 'lost'): Fault {
  return fault === 'lost' ? { lost: async () => {} } : { dropped: async () => {} }
}

/** What is known of the key after this response, which must agree with all before it. */
function check({ verb, input }: Step, answer: Answer, workflowId: string, known: Known | undefined): Known | undefined {
  const { status, body } = answer
  if (known === undefined) {
    expect([status, body.workflowId]).toEqual([verb === 'run' ? 424 : 200, workflowId])
    return { input, firstRunId: body.runId, latestRunId: body.runId, round: input, open: true }
  }
  if (input !== known.input) {
    expect([status, body.error]).toEqual([422, 'IdempotencyKeyReusedError'])
    return undefined
  }
  const { firstRunId, latestRunId: runId, open, round } = known
  expect(isReplayed(answer)).toBe(true)
  if (verb === 'start')
    expect([status, body]).toEqual([200, { workflowId, runId: firstRunId, status: open ? 'running' : 'completed' }])
  else if (open) expect([status, body]).toEqual([424, expect.objectContaining({ workflowId, runId })])
  else expect([status, body]).toEqual([200, expect.objectContaining({ runId, input: round, output: round })])
  return undefined
}

test('random: per key one run, and all responses agree, in any sequence of requests, faults and restarts', async ({
  client,
}) => {
  const seed = Number(process.env.PORTICO_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
  console.info(`random: PORTICO_TEST_SEED=${seed} repeats this`)

  async function drive(sequence: Step[]): Promise<void> {
    const model: Model = new Map()
    const prefix = `random-${crypto.randomUUID()}`
    for (const step of sequence) await carryOut(step, prefix, model)
    for (const [key, { firstRunId, open }] of model) {
      const workflowId = await keyedId(keyOfCaller(`${prefix}-${key}`))
      expect(await chainOf(workflowId, client)).toBe(firstRunId)
      if (open) await replicas[0].post(`${workflowId}/terminate`)
    }
  }

  const sequences = fc.array(steps, { maxLength: MAX_COMMANDS, minLength: 3, size: 'max' })
  await fc.assert(fc.asyncProperty(sequences, drive), {
    seed,
    numRuns: SEQUENCES,
    // A slow machine tries fewer sequences.
    interruptAfterTimeLimit: 60_000,
  })
})
