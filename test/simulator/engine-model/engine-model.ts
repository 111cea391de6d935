/**
 * A model of Temporal, as far as the service depends on it. `test/simulator/differential.test.ts` compares it with a
 * real server.
 */

import type { Random } from '../../../lab/soak/random.ts'
import type { Method } from '../../../src/service/engine/transport/transport.ts'
import { pause, requestCancel, reset, terminate, unpause } from './control.ts'
import { createUpdates, query, type SignalRequest, signal, type UpdateRequest } from './messages.ts'
import { count, describe, history, historyReverse, list } from './reads.ts'
import { type ModelClock, type Payloads, type Run, toTimestamp, type WorkerModel } from './run.ts'
import { CODE, createRuns, notFound, type Runs, rpcError } from './runs.ts'
import { multiOperationError, type StartRequest, start, startForSignal, startForUpdate } from './starts.ts'
import { completeActivity, createWork } from './work.ts'

export interface EngineModel {
  /** Answers a call as the engine does. */
  call(method: Method, request: object, signal: AbortSignal): Promise<object>
  /** The calls that it knows. */
  methods: readonly Method[]
  runs: ReadonlyMap<string, Run>
  /** How many calls it has answered. */
  calls(): number
  /** How many calls wait. */
  openPolls(): number
}

export interface EngineModelOptions {
  clock: ModelClock
  random: Random
  worker: WorkerModel
  /** Whether the workers are there. */
  isPolling?(): boolean
}

type Handler = (request: never, signal: AbortSignal) => object | Promise<object>

export function createEngineModel({ clock, random, worker, isPolling = () => true }: EngineModelOptions): EngineModel {
  const work = createWork({ clock, worker, isPolling }, () => runs)
  const runs: Runs = createRuns({ clock, random, onTask: work.schedule })
  const updates = createUpdates(runs, work)

  const handlers: Partial<Record<Method, Handler>> = {
    startWorkflowExecution: (request: StartRequest) => start(runs, request),
    signalWorkflowExecution: (request: SignalRequest) => signal(runs, request),
    signalWithStartWorkflowExecution(request: SignalWithStartRequest) {
      const { runId, started } = startForSignal(runs, request)
      const workflowExecution = { workflowId: request.workflowId ?? '', runId }
      signal(runs, { ...request, input: request.signalInput ?? null, workflowExecution })
      return { runId, started }
    },
    queryWorkflow: (request) => query(runs, worker, request),
    updateWorkflowExecution: (request, signal) => updates.send(request, signal),
    pollWorkflowExecutionUpdate: (request, signal) => updates.poll(request, signal),
    executeMultiOperation: (request, signal) => updateWithStart(request, signal),
    describeWorkflowExecution: (request) => describe(runs, request),
    getWorkflowExecutionHistory: (request, signal) => history(runs, request, signal),
    getWorkflowExecutionHistoryReverse: (request) => historyReverse(runs, request),
    listWorkflowExecutions: (request) => list(runs, request),
    countWorkflowExecutions: (request) => count(runs, request),
    terminateWorkflowExecution: (request) => terminate(runs, request),
    requestCancelWorkflowExecution: (request) => requestCancel(runs, request),
    resetWorkflowExecution: (request) => reset(runs, request),
    pauseWorkflowExecution: (request) => pause(runs, request),
    unpauseWorkflowExecution: (request) => unpause(runs, request),
    respondActivityTaskCompletedById({ workflowId, runId, activityId, result }: ActivityRequest) {
      const run = runs.find({ workflowId: workflowId ?? '', runId: runId ?? '' })
      if (!completeActivity(runs, run, activityId ?? '', result ?? null)) throw notFound('activity not found')
      return {}
    },
    describeTaskQueue: () => ({
      pollers: isPolling() ? [{ identity: 'worker', lastAccessTime: toTimestamp(clock.now()) }] : [],
    }),
    getSystemInfo: () => ({ serverVersion: '1.32.0', capabilities: {} }),
    describeNamespace: () => ({ namespaceInfo: { name: 'default', state: 1 } }),
  }

  async function updateWithStart({ operations }: MultiOperationRequest, signal: AbortSignal): Promise<object> {
    const [first, second] = operations ?? []
    const startWorkflow = first?.startWorkflow ?? {}
    let half: 'start' | 'update' = 'start'
    try {
      const started = startForUpdate(runs, startWorkflow, second?.updateWorkflow?.request?.meta?.updateId ?? '')
      half = 'update'
      const workflowExecution = { workflowId: startWorkflow.workflowId ?? '', runId: started.runId }
      const updateWorkflow = await updates.send({ ...second?.updateWorkflow, workflowExecution }, signal)
      return { responses: [{ startWorkflow: started }, { updateWorkflow }] }
    } catch (error) {
      throw multiOperationError(half, error)
    }
  }

  let calls = 0
  return {
    async call(method, request, signal) {
      const handler = handlers[method]
      if (handler === undefined) throw rpcError(CODE.unimplemented, `The model has no ${method}`)
      calls++
      return handler(request as never, signal)
    },
    methods: Object.keys(handlers) as Method[],
    runs: runs.all,
    calls: () => calls,
    openPolls: runs.openPolls,
  }
}

interface SignalWithStartRequest extends StartRequest {
  signalName?: string | null
  signalInput?: Payloads | null
}

interface ActivityRequest {
  workflowId?: string | null
  runId?: string | null
  activityId?: string | null
  result?: Payloads | null
}

interface MultiOperationRequest {
  operations?: { startWorkflow?: StartRequest; updateWorkflow?: UpdateRequest }[]
}
