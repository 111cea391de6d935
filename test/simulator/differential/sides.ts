/** The model and a real server, side by side: each names its runs by the order in which they were first seen. */
import { type Method, RpcError } from '../../../src/service/engine/transport/transport.ts'

export interface Side {
  call(method: Method, request: object): Promise<object>
  /** `r0` for the first run that was seen, and so on. */
  labelOf(runId: unknown): string
  /** The run of this label; undefined if this side has not seen it. */
  runOf(label: string): string | undefined
  /** Forgets the runs that are first seen in `look`, unless it resolves with true. */
  tentatively(look: () => Promise<boolean>): Promise<boolean>
}

export function createSide(call: Side['call']): Side {
  const labels = new Map<string, string>()
  const runs = new Map<string, string>()
  return {
    call,
    labelOf(runId) {
      if (typeof runId !== 'string' || runId === '') return 'none'
      const known = labels.get(runId)
      if (known !== undefined) return known
      const label = `r${labels.size}`
      labels.set(runId, label)
      runs.set(label, runId)
      return label
    },
    runOf: (label) => runs.get(label),
    async tentatively(look) {
      const known = labels.size
      const isKept = await look()
      for (const [runId, label] of isKept ? [] : [...labels].slice(known)) {
        labels.delete(runId)
        runs.delete(label)
      }
      return isKept
    },
  }
}

/** What the service reads of a response, or of an error. */
export async function answerOf(side: Side, method: Method, request: object): Promise<unknown> {
  try {
    return factsOf(side, method, await side.call(method, request))
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    return { error: errorFacts(side, error) }
  }
}

// Only what the service reads, whichever side it comes from.
interface Response {
  runId?: unknown
  started?: unknown
  status?: unknown
  firstExecutionRunId?: unknown
  link?: { workflowEvent?: { runId?: unknown } | null } | null
  workflowExecutionInfo?: Info | null
  workflowExtendedInfo?: { requestIdInfos?: object | null; resetRunId?: unknown } | null
  pendingActivities?: { activityId?: unknown }[] | null
  history?: { events?: Event[] | null } | null
  nextPageToken?: Uint8Array | null
  updateRef?: { workflowExecution?: { runId?: unknown } | null } | null
  stage?: unknown
  outcome?: Outcome | null
  queryResult?: Payloads | null
  responses?: { startWorkflow?: Response; updateWorkflow?: Response }[] | null
  executions?: Info[] | null
}

interface Info {
  execution?: { runId?: unknown } | null
  firstRunId?: unknown
  status?: unknown
  closeTime?: { seconds?: unknown } | null
  type?: { name?: unknown } | null
}

interface Event {
  eventType?: unknown
  workflowExecutionStartedEventAttributes?: {
    originalExecutionRunId?: unknown
    firstExecutionRunId?: unknown
    continuedExecutionRunId?: unknown
  } | null
}

interface Payloads {
  payloads?: { data?: Uint8Array | null }[] | null
}

interface Outcome {
  success?: Payloads | null
  failure?: { message?: unknown; source?: unknown; applicationFailureInfo?: { type?: unknown } | null } | null
}

function factsOf(side: Side, method: Method, given: object): unknown {
  const response: Response = given
  switch (method) {
    case 'startWorkflowExecution':
      return startFacts(side, response)
    case 'signalWithStartWorkflowExecution':
      return { run: side.labelOf(response.runId), started: response.started }
    case 'signalWorkflowExecution':
      return side.labelOf(response.link?.workflowEvent?.runId)
    case 'resetWorkflowExecution':
      return side.labelOf(response.runId)
    case 'describeWorkflowExecution':
      return descriptionFacts(side, response)
    case 'getWorkflowExecutionHistory':
    case 'getWorkflowExecutionHistoryReverse':
      return historyFacts(side, response)
    case 'updateWorkflowExecution':
    case 'pollWorkflowExecutionUpdate':
      return updateFacts(side, response)
    case 'executeMultiOperation':
      return multiFacts(side, response)
    case 'queryWorkflow':
      return textsOf(response.queryResult)
    default:
      return {}
  }
}

function startFacts(side: Side, { runId, started, status, firstExecutionRunId }: Response): object {
  return { run: side.labelOf(runId), started, status, first: side.labelOf(firstExecutionRunId) }
}

function descriptionFacts(side: Side, { workflowExecutionInfo: info, ...rest }: Response): object {
  const { requestIdInfos, resetRunId } = rest.workflowExtendedInfo ?? {}
  return {
    run: side.labelOf(info?.execution?.runId),
    first: side.labelOf(info?.firstRunId),
    reset: side.labelOf(resetRunId),
    status: info?.status,
    isClosed: Number(info?.closeTime?.seconds ?? 0) > 0,
    type: info?.type?.name,
    requests: Object.keys(requestIdInfos ?? {})
      .filter((id) => id.startsWith('q'))
      .toSorted(),
    activities: (rest.pendingActivities ?? []).map(({ activityId }) => activityId),
  }
}

function historyFacts(side: Side, { history, nextPageToken }: Response): object {
  const events = history?.events ?? []
  const started = events[0]?.workflowExecutionStartedEventAttributes
  return {
    types: events.map(({ eventType }) => Number(eventType)),
    hasMore: (nextPageToken?.length ?? 0) > 0,
    ...(started && {
      own: side.labelOf(started.originalExecutionRunId),
      first: side.labelOf(started.firstExecutionRunId),
      continued: side.labelOf(started.continuedExecutionRunId),
    }),
  }
}

function updateFacts(side: Side, { updateRef, stage, outcome }: Response): object {
  return { run: side.labelOf(updateRef?.workflowExecution?.runId), stage, outcome: outcomeFacts(outcome) }
}

function multiFacts(side: Side, { responses }: Response): object {
  const [start, update] = responses ?? []
  const { runId, started } = start?.startWorkflow ?? {}
  return { run: side.labelOf(runId), started, update: updateFacts(side, update?.updateWorkflow ?? {}) }
}

function outcomeFacts(outcome: Outcome | null | undefined): unknown {
  if (!outcome) return null
  const { success, failure } = outcome
  if (success) return textsOf(success)
  return { message: failure?.message, source: failure?.source, type: failure?.applicationFailureInfo?.type }
}

function textsOf(values: Payloads | null | undefined): string[] | null {
  return values?.payloads?.map(({ data }) => new TextDecoder().decode(data ?? new Uint8Array())) ?? null
}

function errorFacts(side: Side, { code, details, message }: RpcError): object {
  const detail = ({ name, fields }: { name: string; fields: object }): object => {
    const { runId, statuses }: { runId?: unknown; statuses?: Status[] } = fields
    return {
      name,
      ...(runId !== undefined && { run: side.labelOf(runId) }),
      ...(statuses && { statuses: statuses.map((one) => ({ code: one.code, details: namesOf(one) })) }),
    }
  }
  // These messages name ids, and the service does not read them.
  const hasMessage = code !== NOT_FOUND && code !== ALREADY_EXISTS
  return { code, details: details.map(detail), ...(hasMessage && { message: message.split(/[.:]/, 1)[0] }) }
}

const NOT_FOUND = 5
const ALREADY_EXISTS = 6

interface Status {
  code?: unknown
  details?: { name?: string; type_url?: string }[]
}

function namesOf({ details = [] }: Status): unknown[] {
  return details.map(({ name, type_url }) => name ?? type_url?.split('.').pop())
}
