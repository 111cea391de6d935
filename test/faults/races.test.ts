/** Things that happen at once. */

import { setTimeout as pause } from 'node:timers/promises'
import { Client, type Connection } from '@temporalio/client'
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import type { CatalogDefinition } from '../../src/shared/wire/catalog.ts'
import { defineCatalog } from '../../src/worker/catalog/define-catalog.ts'
import { type CatalogPublication, publishCatalog } from '../../src/worker/catalog/publish-catalog.ts'
import type { Answer } from '../support/api.ts'
import { type InProcessService, test as sharedTest } from '../support/fixtures.ts'

// Each sends its next request after the previous response: a slow machine is not given more than it can serve.
const CALLERS = 6

const test = sharedTest.extend('serviceEnv', { scope: 'file' }, () => ({ SERVICE_CATALOG_TTL: '20ms' }))

let connection: Connection
let client: Client
let api: InProcessService

test.beforeAll(({ service, connection: direct }) => {
  api = service
  connection = direct
  client = new Client({ connection })
})

function publish(catalog: string, definition: CatalogDefinition) {
  const options: Omit<CatalogPublication, 'connection'> = {
    namespace: 'default',
    catalog,
    definition,
    traces: false,
    identity: 'a worker',
  }
  // The client's connection has all that is used of a worker's.
  return publishCatalog({ ...options, connection: connection as unknown as CatalogPublication['connection'] })
}

function version(number: number): CatalogDefinition {
  return defineCatalog({ waitForSignal: { description: `In version ${number}` }, echo: {} })
}

async function openCatalogs(catalog: string): Promise<number> {
  let open = 0
  const query = `WorkflowId = '$catalog:${catalog}' AND ExecutionStatus = 'Running'`
  for await (const _ of client.workflow.list({ query })) open++
  return open
}

function tally(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status, body } of answers) {
    const key = `${status} ${body?.error ?? ''}`.trim()
    counts[key] = (counts[key] ?? 0) + 1
  }
  return counts
}

test('races: two workers of one version that publish at once leave one catalog, readable at once', async () => {
  const catalogs = Array.from({ length: 10 }, (_, round) => `${api.catalog}-${round}`)

  const reads: Answer[] = []
  for (const catalog of catalogs) {
    await Promise.all([publish(catalog, version(1)), publish(catalog, version(1))])
    reads.push(await api.get(`catalog/${catalog}`))
  }

  expect(tally(reads)).toEqual({ 200: catalogs.length })
  await until('the list has one of each', async () =>
    (await Promise.all(catalogs.map(openCatalogs))).every((open) => open === 1),
  )
})

test('races: two workers of one version that start at once leave one catalog', async ({ startWorker }) => {
  const catalog = `${api.catalog}-workers`

  const workers = await Promise.all([1, 2].map(() => startWorker({ taskQueue: catalog, catalog: version(1) })))
  const read = await api.get(`catalog/${catalog}`)
  await Promise.all(workers.map(({ stop }) => stop()))

  expect(read.status).toBe(200)
  await until('the list has one', async () => (await openCatalogs(catalog)) === 1)
})

test('races: a deployment that replaces the catalog 20 times while it is in use rejects no request (failure 29)', async () => {
  await publish(api.catalog, version(0))
  const workflowIds = Array.from({ length: CALLERS }, (_, number) => `${api.catalog}-in-use-${number}`)
  const start = (workflowId: string) =>
    api.post('start', { workflowName: 'waitForSignal', input: null, workflowId }, { 'Idempotency-Key': workflowId })
  for (const workflowId of workflowIds) await until('it runs', async () => (await start(workflowId)).status === 200)

  let isDeploying = true
  const deploy = async () => {
    for (let number = 1; number <= 20; number++) await publish(api.catalog, version(number))
  }
  // Past the catalog, which this is about, an id in use costs the engine next to nothing.
  const callers = workflowIds.map(async (workflowId) => {
    const answers: Answer[] = []
    while (isDeploying) {
      answers.push(await api.start('waitForSignal', null, { workflowId }))
      answers.push(await api.get('catalog'))
    }
    return answers
  })
  await deploy().finally(() => (isDeploying = false))
  const answers = (await Promise.all(callers)).flat()
  for (const workflowId of workflowIds) await api.post(`${workflowId}/signal/finish`)

  const half = answers.length / 2
  expect(tally(answers)).toEqual({ 200: half, '409 WorkflowAlreadyStartedError': half })
  const versions = new Set(
    answers.flatMap(({ body }) => body.workflows?.map((entry: { description: string }) => entry.description) ?? []),
  )
  expect(versions.size).toBeGreaterThan(3)
})

test('races: of 50 starts of one workflow id one succeeds, and the others name its run', async () => {
  const workflowId = `${api.catalog}-wanted`
  await api.get('catalog')

  const answers = await Promise.all(Array.from({ length: 50 }, () => api.start('waitForSignal', null, { workflowId })))

  await api.post(`${workflowId}/terminate`)
  expect(tally(answers)).toEqual({ 200: 1, '409 WorkflowAlreadyStartedError': 49 })
  expect(new Set(answers.map(({ body }) => body.runId)).size).toBe(1)
})

test('races: stop, terminate and signal of a closing run succeed or report that it is closed', async () => {
  const race = async (workflowId: string, headStartMs: number) => {
    await api.start('waitForSignal', null, { workflowId })
    const finishing = api.post(`${workflowId}/signal/finish`)
    await pause(headStartMs)
    const [terminated, ...others] = await Promise.all([
      api.post(`${workflowId}/terminate`),
      api.call('PATCH', `/workflow/${workflowId}/stop`),
      api.post(`${workflowId}/signal/any`),
      api.call('PATCH', `/workflow/${workflowId}/stop`),
      api.post(`${workflowId}/terminate`),
    ])
    const finished = await finishing
    const result = await until('it is closed', async () => {
      const answer = await api.get(`${workflowId}/result`)
      return answer.status === 200 ? answer : null
    })
    return {
      finished,
      terminates: [terminated, ...others.slice(-1)],
      answers: [finished, terminated, ...others],
      result,
    }
  }
  type Race = Awaited<ReturnType<typeof race>>
  const isWonBy = (status: string, races: Race[]) => races.some(({ result }) => result.body.status === status)
  const lanes = Array.from({ length: 5 }, async (_, lane) => {
    const races: Race[] = []
    // How long a worker takes depends on the machine. Each race is made closer for the side that lost the one before.
    for (let headStartMs = 8; races.length < 5 || !['completed', 'terminated'].every((end) => isWonBy(end, races)); ) {
      const last = await race(`${api.catalog}-closing-${lane}-${races.length}`, headStartMs)
      headStartMs *= isWonBy('terminated', [last]) ? 2 : 0.5
      races.push(last)
    }
    return races
  })

  const seen = (await Promise.all(lanes)).flat()

  const answers = seen.flatMap((round) => round.answers)
  expect(Object.keys(tally(answers)).filter((key) => key !== '200' && key !== '409 WorkflowNotRunningError')).toEqual(
    [],
  )
  const completed = seen.filter(({ result }) => result.body.status === 'completed')
  expect(completed.map(({ finished }) => finished.status)).toEqual(completed.map(() => 200))
  const byUs = seen.filter(({ terminates }) => terminates.some(({ status }) => status === 200))
  expect(byUs.map(({ result }) => result.body.status)).toEqual(byUs.map(() => 'terminated'))
  const twice = seen.filter(({ terminates }) => terminates.every(({ status }) => status === 200))
  expect(twice).toEqual([])
})
