import type { ResetTarget } from '../../../../src/service/model/engine.ts'
import type { ExecutionRef, WorkflowResult } from '../../../../src/service/model/execution.ts'
import type { Workflows } from '../../../../src/service/verbs.ts'
import { catalogOf, makeApi, running } from './api.ts'

export const RUN_ID = '0198c0de-0000-7000-8000-00000000000a'

export const result: WorkflowResult = {
  workflowId: 'w',
  runId: RUN_ID,
  status: 'completed',
  input: null,
  output: 1,
  trace: null,
  error: null,
  errorDetails: null,
}

interface Command {
  ref: ExecutionRef
  reason?: string | null
  target?: ResetTarget
}

/** The verbs of an execution, which record their arguments. */
export function makeRunApi(overrides: Partial<Workflows> = {}) {
  const refs: ExecutionRef[] = []
  const reasons: (string | null)[] = []
  const targets: ResetTarget[] = []
  /** Records the parts of the command, and returns the response. */
  function record<Response>({ ref, reason, target }: Command, response: Response): Response {
    refs.push(ref)
    if (reason !== undefined) reasons.push(reason)
    if (target !== undefined) targets.push(target)
    return response
  }
  const run = { workflowId: 'w', runId: RUN_ID }
  const span = { id: 'w', kind: 'workflow', name: 'greet', attributes: {}, children: [] }
  const data = { ...span, startedAt: 0, endedAt: 1, input: null, output: 1, error: null }
  const api = makeApi({
    workflows: {
      status: async ({ ref }) => record({ ref }, { ...running, runId: RUN_ID, startedAt: new Date(0) }),
      result: async (command) => record(command, result),
      trace: async ({ ref }) =>
        record({ ref }, { source: 'history', runId: RUN_ID, complete: true, warnings: [], data }),
      signal: async (command) => record(command, { ...command.ref, runId: RUN_ID, warnings: [] }),
      query: async (command) => record(command, command.message.args),
      update: async (command) => record(command, undefined),
      stop: async (command) => record(command, { ...run, cancelRequested: true, status: 'running' }),
      terminate: async (command) => record(command, run),
      pause: async (command) => record(command, { ...run, paused: true }),
      unpause: async (command) => record(command, { ...run, paused: false }),
      reset: async (command) => record(command, { workflowId: 'w', runId: 'new', runsAgain: ['ship'] }),
      catalog: catalogOf(),
      ...overrides,
    },
  })
  return { ...api, refs, reasons, targets }
}
