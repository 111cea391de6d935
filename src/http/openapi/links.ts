/**
 * What can follow a response: the operation, and where its parameters are.
 * https://spec.openapis.org/oas/v3.1.1#link-object
 */
export interface Link {
  operationId: string
  parameters: Readonly<Record<string, string>>
}

const WORKFLOW = { id: '$response.body#/workflowId' }
const FIRST_RUN = { id: '$response.body#/runs/0/workflowId', rid: '$response.body#/runs/0/runId' }

/** About the workflow that the response names. */
export const WORKFLOW_LINKS = [
  'getWorkflowStatus',
  'explainWorkflow',
  'getWorkflowResult',
  'getWorkflowInput',
  'getWorkflowHistory',
  'streamWorkflowHistory',
  'getWorkflowTrace',
  'queryWorkflow',
  'updateWorkflow',
  'signalWorkflow',
  'stopWorkflow',
  'terminateWorkflow',
  'pauseWorkflow',
  'unpauseWorkflow',
  'resetWorkflow',
] as const

/** About the first run of a list. */
export const LISTED_RUN_LINKS = [
  'getRunStatus',
  'explainRun',
  'getRunResult',
  'getRunInput',
  'getRunHistory',
  'getRunTrace',
] as const

export const LINKS = {
  ...linksTo(WORKFLOW_LINKS, WORKFLOW),
  ...linksTo(LISTED_RUN_LINKS, FIRST_RUN),
  nextRuns: { operationId: 'listRuns', parameters: { pageToken: '$response.body#/nextPageToken' } },
  nextEvents: {
    operationId: 'getWorkflowHistory',
    parameters: { id: '$request.path.id', pageToken: '$response.body#/nextPageToken' },
  },
  getRunUpdate: {
    operationId: 'getRunUpdate',
    parameters: {
      ...WORKFLOW,
      rid: '$response.body#/runId',
      name: '$request.path.name',
      updateId: '$response.body#/updateId',
    },
  },
} satisfies Record<string, Link>

export type LinkName = keyof typeof LINKS

function linksTo<Id extends string>(operationIds: readonly Id[], parameters: Link['parameters']): Record<Id, Link> {
  const links = operationIds.map((operationId) => [operationId, { operationId, parameters }])
  return Object.fromEntries(links)
}

/** References to links of the document. */
export function linkRefs(names: readonly LinkName[]): Record<string, object> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/links/${name}` }]))
}

/** A link to an operation of the workflow that the response names. */
export function linkToWorkflow(operationId: string): Link {
  return { operationId, parameters: WORKFLOW }
}
