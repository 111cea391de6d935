/** Callers who may do everything: two with runs of their own, and one with all runs of a workflow. */
import type { Api } from '../../support/api.ts'
import { test as sharedTest } from '../../support/fixtures.ts'
import { testCatalog } from '../../support/test-catalog.ts'
import { startCallers, tokenRule } from './callers.ts'

const RULES = [
  tokenRule('acme', { can: ['*'], ids: ['acme:*'], options: ['*'] }),
  tokenRule('globex', { can: ['*'], ids: ['globex:*'], options: ['*'] }),
  // Without ids: what a run is decides, not whose it is.
  tokenRule('desk', { can: ['*'], workflows: ['messages'], options: ['*'] }),
]

export const test = sharedTest
  .extend('workerOptions', { scope: 'file' }, () => ({ catalog: testCatalog }))
  .extend('callers', { scope: 'file' }, ({ serve, cleanup, worker: _ }) =>
    startCallers({ serve, cleanup, rules: RULES }),
  )

/** An id that the rule of the tenant allows. */
export const newId = (tenant: string) => `${tenant}:${crypto.randomUUID()}`

export async function startRun(api: Api, workflowName: string, workflowId: string, input: unknown = null) {
  const { body } = await api.start(workflowName, input, { workflowId })
  return { workflowId, runId: String(body.runId) }
}
