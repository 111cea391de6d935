import { test } from 'vitest'
import { record } from './record.ts'

/** The rules of the API that clients rely on most. Each is proven by a test of this name. */
export const RULES = [
  'run.blocks-until-end',
  'run.workflowName-is-required',
  'run.input-is-required',
  'run.input-is-any-json',
  'run.workflowId-is-used',
  'run.workflowId-is-unique',
  'run.default-catalog',
  'run.catalog-routes',
  'run.taskQueue-is-a-deprecated-alias',
  'run.catalog-wins-over-taskQueue',
  'run.timeout-bounds-the-wait',
  'run.timeout-defaults-to-30s',
  'start.takes-name-and-input',
  'start.returns-the-id-at-once',
  'result.same-as-run',
  'result.has-these-eight-keys',
  'result.completed',
  'result.failed',
  'result.errorDetails',
  'result.trace-object',
  'result.trace-may-be-there-when-failed',
  'status.returns-the-current-status',
  'status.completed',
  'status.failed',
  'status.canceled',
  'status.terminated',
  'status.timed_out',
  'status.problem',
  'status.continued',
  'signal.pushes-data-into-a-running-workflow',
  'query.reads-without-changing',
  'update.changes-and-confirms',
  'messages.need-a-handler-of-that-name',
  'stop.lets-the-cleanup-run',
  'terminate.ends-at-once-without-cleanup',
  'stream.sends-what-is-published',
  'stream.is-the-same-for-all-readers',
  'stream.continues-with-the-next-run',
  'stream.workflows-without-one-receive-nothing',
  'stream.publishes-once-for-each-key',
  'mcp.serves-both-eras',
  'mcp.calls-workflows',
  'mcp.long-runs-stream-progress',
  'mcp.long-runs-are-tasks',
  'mcp.reports-changed-tools',
  'mcp.disconnects-never-stop-a-workflow',
  'mcp.a-key-starts-one-run',
  'mcp.offers-every-workflow-to-every-host',
  'catalog.lists-the-workflows-with-their-schemas',
  'trace-log.is-the-whole-trace-of-a-completed-run',
  'auth.basic-with-the-shared-token',
  'auth.open-locally-without-a-token',
  'health.answers-200',
  'config.local-port-is-3001',
  'config.remote-traces-need-credentials',
] as const

/** A test that proves a rule. */
export function rule(id: (typeof RULES)[number], prove: () => Promise<void>, timeoutMs?: number): void {
  test(
    id,
    async () => {
      await prove()
      record('rules', { id })
    },
    timeoutMs,
  )
}
