/** Messages about open runs whose workflow tasks fail again and again. */
import type { WebhookEndpoint } from '../../../shared/config/webhooks.ts'
import { mapConcurrent } from '../../../shared/lib/map-concurrent.ts'
import { failuresOfLastTask, reportedFailure, toTaskError } from '../../../shared/temporal/failed-task.ts'
import { toDate } from '../../../shared/temporal/time.ts'
import type { ClosedRunsEngine, ListedRun } from '../engine.ts'
import {
  type DeliveryAttempt,
  type DeliveryInput,
  type DeliveryPorts,
  deliveryActivity,
  RunDeletedError,
  shownValues,
  toMessage,
} from './deliver.ts'
import { sendWebhook } from './standard-webhook.ts'
import { subscribesTo } from './subscriptions.ts'

export interface ProblemInput extends DeliveryInput {
  /** Names the problem: the event after which no workflow task has completed. */
  after: string
}

export const PROBLEM_ACTIVITY = 'portico.deliver-problem'

const CONCURRENT_RUNS = 16

interface ScanOptions {
  engine: Pick<ClosedRunsEngine, 'isCatalogRedacted' | 'lastTask' | 'listProblems' | 'startActivity'>
  endpoints: readonly WebhookEndpoint[]
  catalog: string
}

/** Returns a poll that starts the deliveries of the runs that have got a problem since the poll before. */
export function createProblemScan({ engine, endpoints, catalog }: ScanOptions): (signal: AbortSignal) => Promise<void> {
  let known = new Set<string>()

  async function start({ workflowId, runId }: ListedRun, subscribed: readonly WebhookEndpoint[], signal: AbortSignal) {
    const { after, ends } = await engine.lastTask({ workflowId, runId }, signal)
    // Workflow code can set the attribute, too.
    if (!failuresOfLastTask(ends)?.length) return
    const input: ProblemInput = {
      workflowId,
      runId,
      after,
      isCatalogRedacted: await engine.isCatalogRedacted(signal),
    }
    const subject = `${runId}:problem:${after}`
    for (const { name: endpoint } of subscribed)
      await engine.startActivity(deliveryActivity(PROBLEM_ACTIVITY, { endpoint, catalog, subject }, input), signal)
  }

  return async (signal) => {
    const listed = new Set<string>()
    for await (const runs of engine.listProblems(signal)) {
      await mapConcurrent(runs, CONCURRENT_RUNS, async (run) => {
        const workflowName = run.listed?.workflowName ?? ''
        const subscribed = endpoints.filter((endpoint) => subscribesTo(endpoint, { workflowName, status: 'problem' }))
        if (subscribed.length > 0 && !known.has(run.runId)) await start(run, subscribed, signal)
        listed.add(run.runId)
      })
    }
    known = listed
  }
}

/** Sends the message about the problem, unless it is over. */
export async function deliverProblem(
  endpoint: WebhookEndpoint,
  input: ProblemInput,
  ports: DeliveryPorts & { engine: Pick<ClosedRunsEngine, 'lastTask'> },
  signal: AbortSignal,
): Promise<DeliveryAttempt> {
  const run = await ports.engine.describe(input, signal)
  if (run === null) throw new RunDeletedError(input)
  if (!subscribesTo(endpoint, { ...run, status: 'problem' }))
    return { skipped: 'The endpoint does not subscribe to problems of this workflow' }
  const { after, ends } = await ports.engine.lastTask(input, signal)
  if (run.completedAt !== null || after !== input.after) return { skipped: 'The problem is over' }
  const failures = failuresOfLastTask(ends) ?? []
  const error = endpoint.include.includes('error') && (await toTaskError(reportedFailure(failures), ports.payloads))
  const values = shownValues({ ...(error && { error }) }, run, { endpoint, input, ports })
  const since = toDate(failures.at(-1)?.eventTime)
  const data = { problem: { kind: 'workflow_task_failing', since }, ...values }
  const body = JSON.stringify(toMessage(run, { type: 'workflow.problem', at: since, data }, ports))
  return sendWebhook({ id: `msg_${run.runId}_${endpoint.name}_problem_${after}`, body }, endpoint, signal)
}
