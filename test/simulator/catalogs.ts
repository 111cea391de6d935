/** What the workers of the simulation publish: the soak's workflows, and in every other catalog one more. */
import { toPayload, toPayloads } from './engine-model/run.ts'

export const CATALOG_ID = 'simulated'

/** The workflow that only some catalogs have. */
export const SEASONAL = 'seasonal'

const TERMINATE_EXISTING = 3

export function hasSeasonal(number: number): boolean {
  return number % 2 === 0
}

/** The start that publishes the catalog of this number, instead of the one before. */
export function catalogRun(number: number): object {
  const handler = (name: string) => ({
    name,
    description: null,
    inputSchema: null,
    inputOptional: null,
    outputSchema: null,
  })
  const names = ['ledger', 'chain', 'echo', 'fails', 'steps', ...(hasSeasonal(number) ? [SEASONAL] : [])]
  const workflows = names.map((name) => ({
    ...handler(name),
    aliases: [],
    signals: ['apply', 'finish'].map(handler),
    queries: ['state'].map(handler),
    updates: ['set', 'setSlowly'].map(handler),
  }))
  const workflowNames = Object.fromEntries(workflows.map(({ name }) => [name, name]))
  const memo = { workflowNames, hash: `h${number}`, traces: false }
  return {
    workflowId: `$catalog:${CATALOG_ID}`,
    workflowType: { name: '$catalog' },
    taskQueue: { name: '$catalog' },
    requestId: `catalog-${number}`,
    workflowIdConflictPolicy: TERMINATE_EXISTING,
    memo: { fields: Object.fromEntries(Object.entries(memo).map(([key, value]) => [key, toPayload(value)])) },
    input: toPayloads({ workflows, workflowNames }),
  }
}
