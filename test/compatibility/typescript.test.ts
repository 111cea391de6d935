/**
 * Programs in the shape of Temporal's TypeScript samples:
 * their calls over HTTP, compared with those of Temporal's client.
 */
import { describe, expect, test } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { nodesIn } from '../support/trace-nodes.ts'
import { startWorker } from '../support/worker.ts'
import * as activities from './activities.ts'
import { activitySamples } from './activity-samples.ts'
import { TRANSPORTS, type TransportName, useSamples } from './clients.ts'
import { messageSamples } from './message-samples.ts'
import { alike, completed, outcomeOf, stopped } from './sample-client.ts'

// Of the engine's search attribute types, and of gRPC's codes.
const KEYWORD = 2
const ALREADY_EXISTS = 6

// The engine sees a heartbeat at once, and not after 80% of its timeout.
const options = { maxHeartbeatThrottleInterval: '50ms' }

const workflowsPath = new URL('./workflows.ts', import.meta.url)

for (const transport of TRANSPORTS)
  describe.concurrent(`TypeScript samples over ${transport}`, () => describeSamples(transport))

function describeSamples(transport: TransportName): void {
  const samples = useSamples({
    transport,
    startWorker: (address, taskQueue) => startWorker({ address, taskQueue, workflowsPath, activities, options }),
  })
  messageSamples(samples, transport)
  activitySamples(samples)

  test('hello world: one argument', async () => {
    expect(await outcomeOf(samples(), 'welcome', 'Ada')).toEqual(completed('Welcome, Ada.'))
  })

  test('default parameter: no argument leaves the default, an argument replaces it', async () => {
    expect(await outcomeOf(samples(), 'quota')).toEqual(completed(10))
    expect(await outcomeOf(samples(), 'quota', { perDay: 3 })).toEqual(completed(3))
  })

  test('expense: two arguments, the second bounds the wait', async () => {
    expect(await outcomeOf(samples(), 'expense', 'c-1', 100)).toEqual(
      completed({ record: 'claim c-1 recorded', state: 'expired', approvedBy: null }),
    )
  })

  test('expense: a signal ends the wait', async () => {
    const outcome = await alike(samples(), async (client) => {
      const run = await client.start('expense', 'c-2', 60_000)
      await run.signal('approve', 'Grace')
      return run.result()
    })

    expect(outcome).toEqual(completed({ record: 'claim c-2 recorded', state: 'paid', approvedBy: 'Grace' }))
  })

  test('mutex: three arguments; two workflows take turns', async () => {
    const outcomes = await alike(samples(), async (client) => {
      const resource = `lock-${crypto.randomUUID()}`
      const runs = await Promise.all([1, 2].map(() => client.start('criticalSection', resource, 20, 10_000)))
      return Promise.all(runs.map((run) => run.result()))
    })

    expect(outcomes).toEqual([completed('worked alone'), completed('worked alone')])
  })

  test('mutex: the third argument is the longest wait', async () => {
    const outcome = await alike(samples(), async (client) => {
      const resource = `lock-${crypto.randomUUID()}`
      const holder = await client.start('criticalSection', resource, 60_000, 10_000)
      await until('the lock is held', async () => (await holder.historyLength()) > 10)
      const outcome = await (await client.start('criticalSection', resource, 20, 50)).result()
      await holder.stop()
      return outcome
    })

    expect(outcome).toEqual({ status: 'failed', error: { name: 'LockTimeout', message: 'the lock did not come' } })
  })

  test('child workflows: as many children as there are arguments', async () => {
    expect(await outcomeOf(samples(), 'family', 'Ann', 'Bob', 'Cid')).toEqual(
      completed(['child Ann', 'child Bob', 'child Cid']),
    )
    expect(await outcomeOf(samples(), 'family')).toEqual(completed([]))
  })

  test('child workflows: the trace log has the children below their parent', async () => {
    const run = await samples().http.start('family', 'Ann', 'Bob')
    await run.result()

    const { body } = await samples().api.get(`${run.workflowId}/trace-log`)

    const children = nodesIn(body.data).filter(({ kind, name }) => kind === 'workflow' && name === 'child')
    expect(children.map(({ output }) => output)).toEqual(['child Ann', 'child Bob'])
  })

  test('continue-as-new: result and status follow the chain', async () => {
    expect(await outcomeOf(samples(), 'laps')).toEqual(completed('3 laps'))
  })

  test('continue-as-new: the first run is continued', async () => {
    const { body: started } = await samples().api.post('start', { workflowName: 'laps', args: [1] })
    const path = `/workflow/${started.workflowId}`
    await until('the chain has ended', async () => (await samples().api.call('GET', `${path}/result`)).status === 200)

    const { body: first } = await samples().api.call('GET', `${path}/runs/${started.runId}/status`)
    const { body: last } = await samples().api.call('GET', `${path}/status`)

    expect([first.status, last.status]).toEqual(['continued', 'completed'])
  })

  test('timers: the one that ends first decides', async () => {
    expect(await outcomeOf(samples(), 'order', 10, 60_000)).toEqual(completed(['cooked']))
    expect(await outcomeOf(samples(), 'order', 3000, 10)).toEqual(completed(['customer notified', 'cooked']))
  })

  test('sleep for days: the status is running, a signal ends it early', async () => {
    const seen = await alike(samples(), async (client) => {
      const run = await client.start('reminders')
      const before = await run.status()
      await run.signal('finish')
      return [before, await run.result()]
    })

    expect(seen).toEqual(['running', completed('finished early')])
  })

  test('sleep for days: a stopped run is canceled', async () => {
    expect(await stopped(samples(), 'reminders')).toEqual({ status: 'canceled' })
  })

  test('failing workflow task: the status has the problem, for broken code and for an unknown name', async () => {
    const names = ['brokenCode', 'unknownName']

    const problems = await Promise.all(names.map((workflowName) => untilProblem(workflowName)))

    const facts = { kind: 'workflow_task_failing', attempt: expect.any(Number) }
    expect(problems).toMatchObject([
      { ...facts, message: 'the deploy is broken' },
      { ...facts, message: expect.stringContaining("'unknownName': no such function") },
    ])
  })

  test('dates: as JSON has them, in both directions', async () => {
    expect(await outcomeOf(samples(), 'describeDate', new Date(0))).toEqual(
      completed({ isDate: false, is: 'string', next: '1970-01-02T00:00:00.000Z' }),
    )
  })

  test('bytes: a result is base64 with its encoding', async () => {
    const { http, client, catalog: taskQueue } = samples()

    const overHttp = await (await http.start('bytes')).result()
    const bySdk = await client.workflow.execute('bytes', { taskQueue, workflowId: crypto.randomUUID() })

    expect(bySdk).toEqual(new Uint8Array([1, 2, 250]))
    expect(overHttp).toEqual(completed({ encoding: 'binary/plain', data: 'AQL6' }))
  })

  test('search attributes: those that the workflow sets itself', async () => {
    await registerKeyword('CompatibilityTier')

    expect(await outcomeOf(samples(), 'tagItself', 'CompatibilityTier', 'gold')).toEqual(completed('gold'))
  })

  async function untilProblem(workflowName: string): Promise<object> {
    const { http, api, client } = samples()
    const { workflowId } = await http.start(workflowName)
    const problem = await until(`${workflowName} has a problem`, async () => {
      const { body } = await api.get(`${workflowId}/status`)
      return body.status === 'running' && body.problem
    })
    await client.workflow.getHandle(workflowId).terminate()
    return problem
  }

  async function registerKeyword(name: string): Promise<void> {
    const { connection } = samples()
    const request = { namespace: 'default', searchAttributes: { [name]: KEYWORD } }
    await connection.operatorService.addSearchAttributes(request).catch((error: { code?: number }) => {
      if (error.code !== ALREADY_EXISTS) throw error
    })
    await until(`${name} is registered`, async () => {
      const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace: 'default' })
      return customAttributes?.[name] === KEYWORD
    })
  }
}
