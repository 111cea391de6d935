import { expect, test } from 'vitest'
import type { Engine } from '../../../../src/service/model/engine.ts'
import { ServiceError } from '../../../../src/service/model/errors.ts'
import { publish } from '../../../../src/service/streams/publish.ts'
import { aCall, rejection } from '../../call.ts'
import { aDescription } from '../catalog-fixture.ts'
import { RUN_1, RUN_2, scriptedStream } from './stream-fixture.ts'

const ITEMS = [{ topic: 't', data: 1 }]
const COMMAND = { ref: { workflowId: 'w' }, items: ITEMS }
const CLOSED = new ServiceError('WorkflowNotRunningError', 'closed')

/** A workflow with these runs, of which each closes when it is published to, except the last one. */
function chain(...runIds: string[]) {
  const published: unknown[] = []
  let latest = 0
  const engine: Partial<Engine> = {
    describe: async ({ runId }) => aDescription({ workflowId: 'w', runId: runId ?? runIds[latest] ?? '' }),
    async publish(run, items, key) {
      published.push([run.runId, items, key])
      if (run.runId === runIds.at(-1)) return
      latest = Math.min(latest + 1, runIds.length - 1)
      throw CLOSED
    },
  }
  return { ports: scriptedStream({ engine }).ports, published }
}

test('if the workflow continues as a new run meanwhile, the items go to that one', async () => {
  const { ports, published } = chain(RUN_1, RUN_2)
  const call = aCall()

  const run = await publish(ports, COMMAND, call)

  expect(run).toEqual({ workflowId: 'w', runId: RUN_2 })
  expect(published).toEqual([
    [RUN_1, ITEMS, null],
    [RUN_2, ITEMS, null],
  ])
  expect(call.audited).toEqual({ runId: RUN_2 })
})

test('a closed run without a successor is an error at once', async () => {
  const engine: Partial<Engine> = {
    async publish() {
      throw CLOSED
    },
  }
  const { ports, calls } = scriptedStream({ engine })

  expect((await rejection(publish(ports, COMMAND, aCall()))).error).toBe('WorkflowNotRunningError')
  expect(calls).toEqual(['describe latest', 'describe latest'])
})

test('a workflow that continues again and again is an error after three attempts', async () => {
  const runs = [1, 2, 3, 4].map((number) => RUN_1.replace(/1$/, `${number}`))
  const { ports, published } = chain(...runs)

  expect((await rejection(publish(ports, COMMAND, aCall()))).error).toBe('WorkflowNotRunningError')
  expect(published).toHaveLength(3)
})

test('other errors are not repeated, because the items may have been published', async () => {
  const engine: Partial<Engine> = {
    async publish() {
      throw new ServiceError('EngineUnavailableError', 'lost')
    },
  }
  const { ports, calls } = scriptedStream({ engine })

  expect((await rejection(publish(ports, COMMAND, aCall()))).error).toBe('EngineUnavailableError')
  expect(calls).toEqual(['describe latest'])
})
