/** Random batches, each of the runs of one id, of which one at most is open. */
import type { Client } from '@temporalio/client'
import { until } from '../../src/cli/dev/servers/until.ts'
import { type OracleRule, type OracleScope, outcomeOf } from '../../test/unit/service/access/oracle.ts'
import type { Random } from '../soak/random.ts'
import { HANDLERS, WORKFLOWS } from './access-names.ts'
import type { AccessRequest, KnownRun } from './access-requests.ts'

const COMPLETED = 2

/** A run, or some run of a workflow. */
type Named = Pick<KnownRun, 'workflowName'> & { workflowId?: string }

export function batch({ pick }: Random, workflowId: string): AccessRequest {
  const [verb, signal] = [pick(['signal', 'signal', 'stop', 'terminate']), pick(HANDLERS)]
  const ofRuns = verb === 'signal' ? { verb, handler: signal } : { verb }
  /** One rule must allow both. */
  function mayChange(rules: OracleRule[], token: OracleScope | null, run: Named): boolean {
    const needed = { ...run, options: [] }
    const requests = [
      { verb: 'batch', ...needed },
      { ...ofRuns, ...needed },
    ]
    return rules.some((rule) => outcomeOf([rule], token, requests) === 'reached')
  }
  return {
    ...{ method: 'POST', path: '/batches', workflowId },
    body: {
      operation: verb,
      filter: { query: `WorkflowId = '${workflowId}'` },
      ...(verb === 'signal' && { signal, payload: 1 }),
    },
    batch: {
      mayChange: (rules, token, { workflowName }) => mayChange(rules, token, { workflowId, workflowName }),
    },
    expected: (rules, token) =>
      [...WORKFLOWS, 'another'].some((workflowName) => mayChange(rules, token, { workflowName })) ? 'reached' : 403,
  }
}

/** Waits until the engine lists the run as it is, because that is where the service finds the runs of a batch. */
export async function listed(client: Client, { workflowId, runId, status }: KnownRun): Promise<void> {
  await until('the run is listed', async () => {
    for await (const run of client.workflow.list({ query: `WorkflowId = '${workflowId}'` }))
      if (run.runId === runId) return run.status.name === status
    return false
  })
}

export async function batchEnded(client: Client, batchId: string): Promise<void> {
  const job = { namespace: client.options.namespace, jobId: `$batch:${batchId}` }
  await until('the batch has ended', async () => {
    return (await client.workflowService.describeBatchOperation(job)).state === COMPLETED
  })
}
