/** Two services that may open more polls than the engine allows. Their lookups are counted per second. */

import { expect } from 'vitest'
import { callsDuring } from '../../dev/servers/engine-metrics.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { mapConcurrent } from '../../src/shared/lib/map-concurrent.ts'
import type { Answer } from '../../test/support/api.ts'
import { testWithOwnEngine } from '../../test/support/fixtures.ts'
import { readiness } from '../../test/support/readiness.ts'

const MAX_POLLS = 6

const test = testWithOwnEngine({ dynamicConfig: { 'frontend.namespaceCount': MAX_POLLS } })
test.override('workerOptions', {
  // Else its polls alone would be too many for this engine.
  options: {
    workflowTaskPollerBehavior: { type: 'simple-maximum', maximum: 2 },
    activityTaskPollerBehavior: { type: 'simple-maximum', maximum: 1 },
  },
})

test('limits: hundreds of runs return their result to two services that may open more polls than the engine allows (failure 8)', async ({
  worker: _worker,
  connection,
  engine,
  serve,
}) => {
  const { workflowService } = connection
  const namespace = 'default'
  const query = "WorkflowType = 'neverEnds' AND ExecutionStatus = 'Running'"
  const countRunning = async () => Number((await workflowService.countWorkflowExecutions({ namespace, query })).count)
  const terminate = async (workflowId: string) =>
    void (await workflowService.terminateWorkflowExecution({ namespace, workflowExecution: { workflowId } }))

  // All runs are started at the same time.
  const env = { SERVICE_MAX_POLLS: String(MAX_POLLS - 1), SERVICE_MAX_INFLIGHT: '200' }
  const services = [serve(env), serve(env)]
  await Promise.all(services.map((service) => readiness(service)))
  const ids = Array.from({ length: 200 }, (_, number) => `waits-${number}`)
  const beganAt = performance.now()
  let answers: Answer[] = []

  const calls = await callsDuring(engine.metricsUrl, async () => {
    const waiting = services.flatMap((service, index) =>
      ids
        .filter((_, number) => number % services.length === index)
        .map((workflowId) => service.run('neverEnds', null, { workflowId, timeout: '5m' })),
    )
    await until('all of them run', async () => (await countRunning()) === ids.length)
    const open = await Promise.all(services.map((service) => service.run('neverEnds', null, { timeout: '5s' })))
    await mapConcurrent(ids, 10, terminate)
    answers = [...(await Promise.all(waiting)), ...open]
  })
  const seconds = (performance.now() - beganAt) / 1000

  const facts = answers.map(({ status, body }) => `${status} ${body.workflowStatus ?? body.status}`)
  expect(facts.toSorted()).toEqual([...ids.map(() => '200 terminated'), ...services.map(() => '424 running')])
  expect(new Set(answers.map(({ body }) => body.workflowId)).size).toBe(answers.length)
  const {
    PollWorkflowExecutionHistory: polls = 0,
    GetWorkflowExecutionHistoryReverse: reads = 0,
    ListWorkflowExecutions: queries = 0,
  } = calls
  // Of each run: the polls and reads for its start and end. Of each service: for its two lookups per second.
  expect(polls).toBeLessThanOrEqual(2 * answers.length + services.length * 10 * seconds)
  expect(reads).toBeLessThanOrEqual(2 * answers.length + services.length * 20 * seconds)
  expect(queries).toBeLessThanOrEqual(services.length * 2 * seconds)
  expect(queries).toBeGreaterThan(0)
})
