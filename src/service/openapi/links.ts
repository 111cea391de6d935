/**
 * What can follow a response: the operation, and where its parameters are.
 * https://spec.openapis.org/oas/v3.1.1#link-object
 */

import { ENDPOINTS } from '../endpoints.ts'
import { isOfLatestRun, type LinkTarget } from '../http/endpoint.ts'

export interface LinkObject {
  operationId: string
  parameters: Readonly<Record<string, string>>
}

const WORKFLOW = { id: '$response.body#/workflowId' }
const FIRST_RUN = { id: '$response.body#/runs/0/workflowId', rid: '$response.body#/runs/0/runId' }

/** A link to an operation of the workflow that the response names. */
export function linkToWorkflow(operationId: string): LinkObject {
  return { operationId, parameters: WORKFLOW }
}

/** References to links of the document. */
export function linkRefs(targets: readonly LinkTarget[]): Record<string, object> {
  const names = targets.flatMap((target) => Object.keys(linksTo(target)))
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/links/${name}` }]))
}

/** All links by their names. */
export function allLinks(): Record<string, LinkObject> {
  const targets = ['workflow', 'listedRuns', 'nextRuns', 'nextEvents', 'getRunUpdate'] as const
  return Object.assign({}, ...targets.map(linksTo))
}

function linksTo(target: LinkTarget): Record<string, LinkObject> {
  switch (target) {
    case 'workflow':
      return byOperation(operationsOfWorkflow(), WORKFLOW)
    case 'listedRuns':
      return byOperation(READS_OF_RUN, FIRST_RUN)
    case 'nextRuns':
      return { nextRuns: { operationId: 'listRuns', parameters: { pageToken: '$response.body#/nextPageToken' } } }
    case 'nextEvents': {
      const parameters = { id: '$request.path.id', pageToken: '$response.body#/nextPageToken' }
      return { nextEvents: { operationId: 'getWorkflowHistory', parameters } }
    }
    case 'getRunUpdate': {
      const ofUpdate = { name: '$request.path.name', updateId: '$response.body#/updateId' }
      return byOperation(['getRunUpdate'], { ...WORKFLOW, rid: '$response.body#/runId', ...ofUpdate })
    }
    default:
      return byOperation([target], WORKFLOW)
  }
}

/** The operations that need only the id of a workflow, and maybe the name of a handler. */
function operationsOfWorkflow(): string[] {
  return ENDPOINTS.filter(({ path }) => isOfLatestRun(path) && !path.includes(':updateId')).map(({ id }) => id)
}

const READS_OF_RUN = ['getRunStatus', 'explainRun', 'getRunResult', 'getRunInput', 'getRunHistory', 'getRunTrace']

function byOperation(
  operationIds: readonly string[],
  parameters: LinkObject['parameters'],
): Record<string, LinkObject> {
  return Object.fromEntries(operationIds.map((operationId) => [operationId, { operationId, parameters }]))
}
