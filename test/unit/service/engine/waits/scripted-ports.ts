/** Ports of shared waits whose polls and queries a test answers by hand. */

import { createPollSlots } from '../../../../../src/service/engine/polls.ts'
import type { SharedWaitsPorts } from '../../../../../src/service/engine/waits/shared-waits.ts'
import type { Call } from '../../../../../src/service/model/call.ts'
import type { Closing } from '../../../../../src/shared/wire/execution.ts'
import type { RunRef } from '../../../../../src/shared/wire/run-ref.ts'

export const COMPLETED: Closing = { outcome: { status: 'completed', output: 7 }, nextRunId: null }

export interface Poll {
  runId: string
  signal: AbortSignal
  note: Call['note']
  end(outcome: Closing | 'limited' | null): void
  fail(error: unknown): void
}

export function toRun(number: number): RunRef {
  return { workflowId: `order-${number}`, runId: `run-${number}` }
}

export function scriptedPorts(maxPolls: number) {
  const polls: Poll[] = []
  /** The run ids of each query. */
  const queries: string[][] = []
  /** The run ids in the order in which they were read. */
  const reads: string[] = []
  /** What the queries list, and what the reads find. */
  const listed = new Set<string>()
  const ended = new Set<string>()
  const failures: { query?: Error; read?: Error } = {}
  const ports: SharedWaitsPorts = {
    slots: createPollSlots(maxPolls),
    poll({ runId }, signal, note) {
      const { promise, resolve, reject } = Promise.withResolvers<Closing | 'limited' | null>()
      signal.addEventListener('abort', () => resolve(null))
      polls.push({ runId, signal, note, end: resolve, fail: reject })
      return promise
    },
    async findEnded(runs) {
      queries.push(runs.map(({ runId }) => runId))
      if (failures.query) throw failures.query
      return listed
    },
    async readClosing({ runId }) {
      reads.push(runId)
      if (failures.read) throw failures.read
      return ended.has(runId) ? COMPLETED : null
    },
  }
  const openPolls = () => polls.filter(({ signal }) => !signal.aborted).map(({ runId }) => runId)
  return { ports, polls, openPolls, queries, reads, listed, ended, failures }
}
