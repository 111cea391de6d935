/** Callers who may do everything: two with runs of their own, and one with all runs of a workflow. */
import type { Api } from '../../support/api.ts'
import { testWithCallers, tokenRule } from './callers.ts'

const RULES = [
  tokenRule('acme', { can: ['*'], ids: ['acme:*'], options: ['*'] }),
  tokenRule('globex', { can: ['*'], ids: ['globex:*'], options: ['*'] }),
  // Without ids: what a run is decides, not whose it is.
  tokenRule('desk', { can: ['*'], workflows: ['messages'], options: ['*'] }),
]

export const test = testWithCallers(RULES)

/** An id that the rule of the tenant allows. */
export const newId = (tenant: string) => `${tenant}:${crypto.randomUUID()}`

export async function startRun(api: Api, workflowName: string, workflowId: string, input: unknown = null) {
  const { body } = await api.start(workflowName, input, { workflowId })
  return { workflowId, runId: String(body.runId) }
}
