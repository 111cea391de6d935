import type { Connection } from '@temporalio/client'
import { createEngine } from '../../../src/service/engine/engine.ts'
import type { Transport } from '../../../src/service/engine/transport/transport.ts'
import type { Call } from '../../../src/service/model/call.ts'
import type { Engine, Started } from '../../../src/service/model/engine.ts'
import { type ErrorFacts, type ErrorName, ServiceError } from '../../../src/service/model/errors.ts'
import type { Closing } from '../../../src/shared/wire/execution.ts'
import type { RunRef } from '../../../src/shared/wire/run-ref.ts'
import { test } from '../../support/fixtures.ts'

export type MakeTransport = (engine: { address: string; httpUrl: string | null }) => Transport

/** The engine port over one transport, and a worker. */
export interface EngineFixture {
  engine: Engine
  /** For an engine with other options. */
  transport: Transport
  taskQueue: string
  /** Temporal's own client, for what the port does not offer: resets, pauses, retry policies. */
  connection: Connection
  start(workflowName: string, input?: unknown, workflowId?: string): Promise<Started>
  /** Waits for the end of exactly this run. Rejects if it is still open after 20 s. */
  closed(run: RunRef): Promise<Closing>
}

/**
 * For a message that no worker answers. The engine keeps 500 ms of it for its response, and rejects the message as
 * RESOURCE_EXHAUSTED ("Workflow is busy") if it cannot lock the run in the rest.
 */
export const UNANSWERED_MS = 2500

export function call(timeoutMs = 10_000, signal: AbortSignal = new AbortController().signal): Call {
  const nowhere = {
    note() {},
    reportError() {},
    audit() {},
    addDecision: () => () => {},
    startWaiting() {},
    warnOfOutput() {},
    warn() {},
  }
  return { signal, deadlineAt: Date.now() + timeoutMs, requestId: 'test', ...nowhere }
}

/** Starts everything before the first test of the suite around it. The suites of a file share one worker. */
export function engineFixture(makeTransport: MakeTransport): EngineFixture {
  let parts: Pick<EngineFixture, 'connection' | 'engine' | 'taskQueue' | 'transport'> | undefined
  const started = () => {
    if (parts === undefined) throw new Error('The engine fixture is available in tests only')
    return parts
  }

  test.beforeAll(({ engine: addresses, connection, worker, cleanup }) => {
    const transport = makeTransport(addresses)
    cleanup.defer(() => transport.close())
    const maxPayloadBytes = 2 * 1024 * 1024 - 16 * 1024
    const engine = createEngine({ transport, namespace: 'default', maxPayloadBytes, codec: null, maxPolls: 1000 })
    parts = { engine, transport, connection, taskQueue: worker.taskQueue }
  })

  return {
    get taskQueue() {
      return started().taskQueue
    },
    get engine() {
      return started().engine
    },
    get transport() {
      return started().transport
    },
    get connection() {
      return started().connection
    },
    start: (workflowName, input = null, workflowId = crypto.randomUUID()) =>
      started().engine.start({ workflowId, workflowName, catalog: started().taskQueue, args: [input] }, call()),
    async closed(run) {
      const closing = await started().engine.wait(run, call(20_000))
      if (closing === null) throw new Error(`run ${run.runId} is still open`)
      return closing
    },
  }
}

/** The `ServiceError` that the promise rejects with. Throws if it resolves, or rejects with anything else. */
export async function rejection(
  promise: Promise<unknown>,
): Promise<{ error: ErrorName; message: string } & ErrorFacts> {
  const error = await promise.then(
    (value) => Promise.reject(new Error(`not rejected, but answered ${JSON.stringify(value)}`)),
    (reason: unknown) => reason,
  )
  if (!(error instanceof ServiceError)) throw error
  return { error: error.error, message: error.message, ...error.details }
}
