/** What is accepted while a worker of the kit starts for the first time. */
import { Client, Connection } from '@temporalio/client'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import * as z from 'zod'
import { until } from '../../dev/servers/until.ts'
import { defineCatalog } from '../../src/worker/catalog/define-catalog.ts'
import { type Served, serve } from '../support/serve.ts'
import { startWorker } from '../support/worker.ts'

const ROUNDS = 20
const CATALOG = defineCatalog({ echo: { aliases: ['parrot'], input: z.number() } })

// What nobody may start as it is: an alias, a name that no worker has, an input that the schema refuses.
const REQUESTS = [
  { workflowName: 'parrot', input: 1 },
  { workflowName: 'noSuchWorkflow', input: 1 },
  { workflowName: 'echo', input: 'bad' },
]

let connection: Connection

beforeAll(async () => {
  connection = await Connection.connect({ address: inject('engine').address })
})

afterAll(() => connection?.close())

test('a worker that starts under a stream of requests: none is accepted before its catalog is in force, in 20 rounds', async () => {
  const rounds = []
  for (let round = 0; round < ROUNDS; round++) rounds.push(await startUnderRequests())

  expect(rounds.flatMap(({ unchecked }) => unchecked)).toEqual([])
  expect(rounds.every(({ refusedBefore, acceptedAfter }) => refusedBefore > 0 && acceptedAfter > 0)).toBe(true)
}, 180_000)

test('a worker that publishes a catalog where a worker without one polls: nothing is accepted unchecked from then on', async () => {
  const served = serve()
  const { address } = inject('engine')
  const plain = await startWorker({ address, taskQueue: served.catalog })
  const before = await start(served, { workflowName: 'noSuchWorkflow', input: null })

  const worker = await startWorker({ address, taskQueue: served.catalog, catalog: CATALOG })
  const after = await Promise.all(REQUESTS.map((body) => start(served, body)))

  expect(before.status).toBe(200)
  expect(after.map(({ status }) => status)).toEqual([200, 424, 400])
  const { workflow } = new Client({ connection })
  expect((await workflow.getHandle(after[0]?.workflowId ?? '').describe()).type).toBe('echo')
  await workflow.getHandle(before.workflowId).terminate()
  await Promise.all([plain.stop(), worker.stop()])
  await served.close()
})

/** Requests without a pause, from before the worker is there until it has taken ten aliases. */
async function startUnderRequests() {
  const served = serve()
  const accepted: string[] = []
  let refusedBefore = 0
  let isOver = false
  const streams = REQUESTS.map(async (body) => {
    while (!isOver) {
      const { status, workflowId } = await start(served, body)
      if (status === 503) refusedBefore++
      if (status === 200) accepted.push(workflowId)
    }
  })
  await until('requests are refused', () => refusedBefore > 10)
  const worker = await startWorker({ address: inject('engine').address, taskQueue: served.catalog, catalog: CATALOG })
  await until('aliases are accepted', () => accepted.length >= 10)
  isOver = true
  await Promise.all(streams)
  const { workflow } = new Client({ connection })
  const runs = await Promise.all(accepted.map((id) => workflow.getHandle(id).describe()))
  const results = await Promise.allSettled(
    accepted.map((id, index) => runs[index]?.type === 'echo' && workflow.getHandle(id).result()),
  )
  const unchecked = runs.filter(({ type }, index) => {
    const result = results[index]
    return type !== 'echo' || result?.status !== 'fulfilled' || result.value !== 1
  })
  await Promise.all(
    unchecked.map(({ workflowId }) =>
      workflow
        .getHandle(workflowId)
        .terminate()
        .catch(() => {}),
    ),
  )
  await worker.stop()
  await served.close()
  return {
    refusedBefore,
    acceptedAfter: accepted.length,
    unchecked: unchecked.map(({ type, workflowId }) => `${type} ${workflowId}`),
  }
}

async function start({ fetch }: Served, body: object): Promise<{ status: number; workflowId: string }> {
  const init = { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  const response = await fetch(new Request('http://portico/workflow/start', init))
  const { workflowId } = JSON.parse(await response.text())
  return { status: response.status, workflowId }
}
