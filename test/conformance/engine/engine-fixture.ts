import { Connection } from '@temporalio/client'
import { afterAll, beforeAll, inject } from 'vitest'
import type { Call } from '../../../src/domain/call.ts'
import type { Engine, Started } from '../../../src/domain/engine.ts'
import { type ErrorFacts, type ErrorName, ServiceError } from '../../../src/domain/errors.ts'
import { createEngine } from '../../../src/engine/engine.ts'
import type { Transport } from '../../../src/engine/transport/transport.ts'
import type { Closing } from '../../../src/protocol/execution.ts'
import type { RunRef } from '../../../src/protocol/run-ref.ts'
import { startWorker, type TestWorker } from '../../support/worker.ts'

export type MakeTransport = (engine: { address: string; httpUrl: string | null }) => Transport

/** The engine under test, a worker on a task queue of its own, and the real engine by the side door. */
export interface Bench {
  engine: Engine
  taskQueue: string
  /** For what the port can't bring about: resets, pauses, retry policies. */
  connection: Connection
  start(workflowName: string, input?: unknown, workflowId?: string): Promise<Started>
  /** The end of exactly this run; fails when it is still open after 20 s. */
  closed(run: RunRef): Promise<Closing>
}

export function call(timeoutMs = 10_000, signal: AbortSignal = new AbortController().signal): Call {
  return { signal, deadlineAt: Date.now() + timeoutMs, requestId: 'test', note() {}, warn() {} }
}

export function useBench(name: string, makeTransport: MakeTransport): Bench {
  const taskQueue = `engine-${name}-${crypto.randomUUID()}`
  let parts: { engine: Engine; connection: Connection; transport: Transport; worker: TestWorker }

  beforeAll(async () => {
    const addresses = inject('engine')
    const transport = makeTransport(addresses)
    const engine = createEngine({
      transport,
      namespace: 'default',
      maxPayloadBytes: 2 * 1024 * 1024 - 16 * 1024,
      codec: null,
    })
    const connection = await Connection.connect({ address: addresses.address })
    const worker = await startWorker({ address: addresses.address, taskQueue })
    parts = { engine, connection, transport, worker }
  })

  afterAll(async () => {
    await parts.worker.stop()
    await Promise.all([parts.transport.close(), parts.connection.close()])
  })

  return {
    taskQueue,
    get engine() {
      return parts.engine
    },
    get connection() {
      return parts.connection
    },
    start: (workflowName, input = null, workflowId = crypto.randomUUID()) =>
      parts.engine.start({ workflowId, workflowName, catalog: taskQueue, args: [input] }, call()),
    async closed(run) {
      const closing = await parts.engine.wait(run, call(20_000))
      if (closing === null) throw new Error(`run ${run.runId} is still open`)
      return closing
    },
  }
}

/** What the promise was refused with; fails when it was not refused, or with something that is no `ServiceError`. */
export async function refusal(promise: Promise<unknown>): Promise<{ error: ErrorName; message: string } & ErrorFacts> {
  const error = await promise.then(
    (value) => Promise.reject(new Error(`not refused, but answered ${JSON.stringify(value)}`)),
    (reason: unknown) => reason,
  )
  if (!(error instanceof ServiceError)) throw error
  return { error: error.error, message: error.message, ...error.details }
}
