import type { Message, ResetTarget } from '../../../src/domain/model/engine.ts'
import type { ExecutionRef, WorkflowResult } from '../../../src/domain/model/execution.ts'
import type { Workflows } from '../../../src/domain/model/workflows.ts'
import { makeApi, running } from './api.ts'

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

/** The verbs of an execution, which record their arguments. */
export function makeRunApi(overrides: Partial<Workflows> = {}) {
  const refs: ExecutionRef[] = []
  const messages: Message[] = []
  const reasons: (string | null)[] = []
  const targets: ResetTarget[] = []
  const api = makeApi({
    workflows: {
      status: async (ref) => {
        refs.push(ref)
        return { ...running, runId: RUN_ID, startedAt: new Date(0) }
      },
      result: async ({ ref }) => {
        refs.push(ref)
        return result
      },
      trace: async (ref) => {
        refs.push(ref)
        const data = {
          id: 'w',
          kind: 'workflow',
          name: 'greet',
          startedAt: 0,
          endedAt: 1,
          input: null,
          output: 1,
          error: null,
          attributes: {},
          children: [],
        }
        return { source: 'history', runId: RUN_ID, complete: true, warnings: [], data }
      },
      signal: async ({ ref, message }) => {
        refs.push(ref)
        messages.push(message)
        return { workflowId: ref.workflowId, runId: RUN_ID, warnings: [] }
      },
      query: async ({ ref, message }) => {
        refs.push(ref)
        messages.push(message)
        return message.args
      },
      update: async ({ ref, message }) => {
        refs.push(ref)
        messages.push(message)
        return undefined
      },
      stop: async ({ ref, reason }) => {
        refs.push(ref)
        reasons.push(reason)
        return { workflowId: 'w', runId: RUN_ID, cancelRequested: true, status: 'running' }
      },
      terminate: async ({ ref, reason }) => {
        refs.push(ref)
        reasons.push(reason)
        return { workflowId: 'w', runId: RUN_ID }
      },
      pause: async ({ ref, reason }) => {
        refs.push(ref)
        reasons.push(reason)
        return { workflowId: 'w', runId: RUN_ID, paused: true }
      },
      unpause: async ({ ref, reason }) => {
        refs.push(ref)
        reasons.push(reason)
        return { workflowId: 'w', runId: RUN_ID, paused: false }
      },
      reset: async ({ ref, reason, target }) => {
        refs.push(ref)
        reasons.push(reason)
        targets.push(target)
        return { workflowId: 'w', runId: 'new', runsAgain: ['ship'] }
      },
      catalog: async (catalog) => ({ catalog, inputsChecked: true, workflows: [] }),
      ...overrides,
    },
  })
  return { ...api, refs, messages, reasons, targets }
}
