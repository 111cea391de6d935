/**
 * The calls of a sample's client, over HTTP and by Temporal's client: one interface, so that outcomes can be compared.
 */
import {
  ApplicationFailure,
  CancelledFailure,
  type Client,
  QueryNotRegisteredError,
  WithStartWorkflowOperation,
  type Workflow,
  WorkflowFailedError,
  WorkflowUpdateFailedError,
} from '@temporalio/client'
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import type { Api } from '../support/api.ts'

export interface SampleClient {
  start(workflowName: string, ...args: unknown[]): Promise<SampleRun>
  /** The update's value, of a run that is started in the same step if no run is open. */
  updateWithStart(update: Message, workflowId: string, workflowName: string, ...args: unknown[]): Promise<WithStart>
}

export interface SampleRun {
  workflowId: string
  status(): Promise<string>
  historyLength(): Promise<number>
  /** Waits for the end. */
  result(): Promise<Outcome>
  query(name: string, ...args: unknown[]): Promise<unknown>
  /** The handler's value, or `{rejected}` with the workflow's words. */
  update(name: string, ...args: unknown[]): Promise<unknown>
  signal(name: string, ...args: unknown[]): Promise<void>
  stop(): Promise<void>
}

export interface Message {
  name: string
  args: unknown[]
}

export interface WithStart {
  value: unknown
  run: SampleRun
}

export interface Outcome {
  status: string
  output?: unknown
  error?: { name: string; message: string }
}

export interface Clients {
  http: SampleClient
  sdk: SampleClient
}

/** Takes the same steps with both clients. Fails where they see different outcomes; returns what they saw. */
export async function alike<T>({ http, sdk }: Clients, steps: (client: SampleClient) => Promise<T>): Promise<T> {
  const [overHttp, bySdk] = await Promise.all([steps(http), steps(sdk)])
  expect(overHttp).toEqual(bySdk)
  return overHttp
}

/** How a workflow ends that gets no message. */
export function outcomeOf(clients: Clients, workflowName: string, ...args: unknown[]): Promise<Outcome> {
  return alike(clients, async (client) => (await client.start(workflowName, ...args)).result())
}

/** How a workflow ends that is stopped once it waits. */
export function stopped(clients: Clients, workflowName: string): Promise<Outcome> {
  return alike(clients, async (client) => {
    const run = await client.start(workflowName)
    await until('its first task is done', async () => (await run.historyLength()) > 3)
    await run.stop()
    return run.result()
  })
}

export const completed = (output: unknown): Outcome => ({ status: 'completed', output })

export function httpClient(api: Api, catalog: string): SampleClient {
  async function call(method: string, path: string, body?: unknown, rejections: readonly number[] = []) {
    const answer = await api.call(method, path, body)
    if (answer.status !== 200 && !rejections.includes(answer.status))
      throw new Error(`${method} ${path}: ${answer.text}`)
    return answer
  }

  function runOf(workflowId: string): SampleRun {
    const path = `/workflow/${encodeURIComponent(workflowId)}`
    const ask = async (kind: string, name: string, args: unknown[]) => {
      const { status, body } = await call('POST', `${path}/${kind}/${name}`, { args }, [404, 422])
      return status === 200 ? body : { rejected: status === 404 ? 'no such handler' : wordsIn(body.detail) }
    }
    return {
      workflowId,
      status: async () => (await call('GET', `${path}/status`)).body.status,
      historyLength: async () => (await call('GET', `${path}/status`)).body.historyLength,
      async result() {
        const { body } = await until(`${workflowId} is closed`, async () => {
          const answer = await call('GET', `${path}/result`, undefined, [424])
          return answer.status === 200 && answer
        })
        return toOutcome(body)
      },
      query: (name, ...args) => ask('query', name, args),
      update: (name, ...args) => ask('update', name, args),
      signal: async (name, ...args) => void (await call('POST', `${path}/signal/${name}`, { args })),
      stop: async () => void (await call('PATCH', `${path}/stop`)),
    }
  }

  return {
    async start(workflowName, ...args) {
      const { body } = await call('POST', '/workflow/start', { workflowName, args, catalog })
      return runOf(body.workflowId)
    },
    async updateWithStart(update, workflowId, workflowName, ...startArgs) {
      const request = { workflowId, workflowName, startArgs, catalog, args: update.args }
      const { body } = await call('POST', `/workflow/update-with-start/${update.name}`, request)
      return { value: body.result, run: runOf(workflowId) }
    },
  }
}

function toOutcome({
  status,
  output,
  errorDetails,
}: {
  status: string
  output: unknown
  errorDetails: Outcome['error'] | null
}): Outcome {
  if (status === 'completed') return { status, output }
  if (status !== 'failed' || !errorDetails) return { status }
  return { status, error: { name: errorDetails.name, message: errorDetails.message } }
}

/** The workflow's own: `Update "x" of workflow y failed: …`. */
function wordsIn(detail: string): string {
  return detail.slice(detail.indexOf(' failed: ') + ' failed: '.length)
}

export function sdkClient({ workflow }: Client, taskQueue: string): SampleClient {
  function runOf(workflowId: string): SampleRun {
    const handle = workflow.getHandle(workflowId)
    return {
      workflowId,
      status: async () => STATUSES.get((await handle.describe()).status.name) ?? 'unknown',
      historyLength: async () => (await handle.describe()).historyLength,
      result: () => handle.result().then((output) => completed(jsonOf(output)), failureOf),
      query: (name, ...args) => handle.query(name, ...args).then(jsonOf, rejectionOf),
      // Its types ask for one argument or more; none is an empty array too.
      update: (name, ...args) => handle.executeUpdate(name, { args: args as [unknown] }).then(jsonOf, rejectionOf),
      signal: (name, ...args) => handle.signal(name, ...args),
      stop: async () => void (await handle.cancel()),
    }
  }

  return {
    async start(workflowName, ...args) {
      const { workflowId } = await workflow.start(workflowName, {
        workflowId: `sdk-${crypto.randomUUID()}`,
        taskQueue,
        args,
      })
      return runOf(workflowId)
    },
    async updateWithStart(update, workflowId, workflowName, ...args) {
      const startWorkflowOperation = new WithStartWorkflowOperation(workflowName, {
        workflowId,
        taskQueue,
        args,
        workflowIdConflictPolicy: 'USE_EXISTING',
      })
      const value = await workflow.executeUpdateWithStart<Workflow, unknown, unknown[]>(update.name, {
        startWorkflowOperation,
        args: update.args,
      })
      return { value: jsonOf(value), run: runOf(workflowId) }
    },
  }
}

const STATUSES = new Map([
  ['RUNNING', 'running'],
  ['COMPLETED', 'completed'],
  ['FAILED', 'failed'],
  ['CANCELLED', 'canceled'],
  ['CONTINUED_AS_NEW', 'continued'],
])

/** JSON has no undefined, and bytes are compared elsewhere. */
function jsonOf(value: unknown): unknown {
  return value === undefined ? null : JSON.parse(JSON.stringify(value))
}

function rejectionOf(error: unknown): { rejected: string } {
  // The client has one class for all that a worker rejects a query with.
  if (error instanceof QueryNotRegisteredError) {
    return { rejected: /not found|did not register/.test(error.message) ? 'no such handler' : error.message }
  }
  if (!(error instanceof WorkflowUpdateFailedError) || !(error.cause instanceof Error)) throw error
  const failure = ownFailure(error.cause)
  return { rejected: failure.message }
}

function failureOf(error: unknown): Outcome {
  if (!(error instanceof WorkflowFailedError) || !(error.cause instanceof Error)) throw error
  const failure = ownFailure(error.cause)
  if (failure instanceof CancelledFailure) return { status: 'canceled' }
  if (!(failure instanceof ApplicationFailure)) throw error
  return { status: 'failed', error: { name: failure.type ?? '', message: failure.message } }
}

/** What the workflow failed with, below the engine's wrappers. */
function ownFailure(error: Error): Error {
  return error.cause instanceof Error && /^(?:Activity|ChildWorkflow)Failure$/.test(error.name)
    ? ownFailure(error.cause)
    : error
}
