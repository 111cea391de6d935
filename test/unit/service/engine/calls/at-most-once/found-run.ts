import type { FoundRun } from '../../../../../../src/service/engine/calls/at-most-once/find-run.ts'

export const SENT_AFTER = 1000

/** An open run that another request started. */
export function foundRun(overrides: Partial<FoundRun> = {}): FoundRun {
  return {
    runId: 'r',
    firstRunId: 'r',
    status: 'running',
    startedByRequest: false,
    startedAt: SENT_AFTER,
    closedAt: null,
    ...overrides,
  }
}
