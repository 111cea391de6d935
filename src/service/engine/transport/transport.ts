import type { temporal } from '@temporalio/proto'
import { isObject } from '../../../shared/lib/json.ts'
import { STREAM_POLL } from '../../../shared/wire/stream.ts'
import type { EngineFeatures } from '../../model/engine.ts'

type WorkflowService = temporal.api.workflowservice.v1.WorkflowService
type OperatorService = temporal.api.operatorservice.v1.OperatorService
type Services = WorkflowService & Pick<OperatorService, OperatorMethod>

/** The calls that belong to Temporal's OperatorService instead of its WorkflowService. */
const OPERATOR_METHODS = ['listSearchAttributes'] as const satisfies readonly (keyof OperatorService)[]

type OperatorMethod = (typeof OPERATOR_METHODS)[number]

/** The calls that this service makes over any transport. */
export const METHODS = [
  'startWorkflowExecution',
  'getWorkflowExecutionHistory',
  'getWorkflowExecutionHistoryReverse',
  'describeWorkflowExecution',
  'signalWorkflowExecution',
  'signalWithStartWorkflowExecution',
  'queryWorkflow',
  'updateWorkflowExecution',
  'requestCancelWorkflowExecution',
  'terminateWorkflowExecution',
  'resetWorkflowExecution',
  'pauseWorkflowExecution',
  'unpauseWorkflowExecution',
  'respondActivityTaskCompletedById',
  'respondActivityTaskFailedById',
  'respondActivityTaskCanceledById',
  'recordActivityTaskHeartbeatById',
  'resetActivityExecution',
  'pauseActivityExecution',
  'unpauseActivityExecution',
  'updateActivityExecutionOptions',
  'updateWorkflowExecutionOptions',
  'createSchedule',
  'describeSchedule',
  'updateSchedule',
  'patchSchedule',
  'deleteSchedule',
  'listSchedules',
  'listScheduleMatchingTimes',
  'startActivityExecution',
  'describeActivityExecution',
  'pollActivityExecution',
  'requestCancelActivityExecution',
  'terminateActivityExecution',
  'listActivityExecutions',
  'startBatchOperation',
  'describeBatchOperation',
  'stopBatchOperation',
  'listBatchOperations',
  'listWorkflowExecutions',
  'describeTaskQueue',
  'countWorkflowExecutions',
  'getSystemInfo',
  'describeNamespace',
  ...OPERATOR_METHODS,
] as const satisfies readonly (keyof Services)[]

/** A call that every transport supports. */
export type SharedMethod = (typeof METHODS)[number]

/** Any call that this service makes. The transport's `features` say whether it supports the others. */
export type Method = SharedMethod | 'executeMultiOperation' | 'pollWorkflowExecutionUpdate'

export type Request<M extends Method> = Parameters<Services[M]>[0]
/** 64-bit integers are plain numbers over HTTP and `Long`s over gRPC: read them with `Number` or `String`. */
export type Response<M extends Method> = Awaited<ReturnType<Services[M]>>

export interface TransportCallOptions {
  /** Epoch milliseconds. */
  deadlineAt: number
  signal: AbortSignal
  /** Headers of this call, in lower case. */
  headers?: Readonly<Record<string, string>>
}

/**
 * Sends calls to Temporal's services. Rejects with `RpcError` for errors of the engine, a proxy or the network.
 */
export interface Transport {
  readonly name: 'grpc' | 'http'
  readonly features: EngineFeatures
  call<M extends Method>(method: M, request: Request<M>, options: TransportCallOptions): Promise<Response<M>>
  close(): Promise<void>
}

/** Whether the engine holds the call until an event is recorded, or an update that was sent before has completed. */
export function isLongPoll(method: Method, request: object): boolean {
  if (method === 'pollActivityExecution') return true
  if ('waitNewEvent' in request) return request.waitNewEvent === true
  if ('updateRef' in request) return 'waitPolicy' in request
  return 'request' in request && isStreamPoll(request.request)
}

/** Whether an update is the poll of a stream, which the workflow answers when it has published something. */
function isStreamPoll(update: unknown): boolean {
  return isObject(update) && isObject(update.input) && update.input.name === STREAM_POLL
}

/** A decoded detail of an error. */
export interface ErrorDetail {
  /** The name of its type without package: `NotFoundFailure`. */
  name: string
  /** Empty when the type is unknown. */
  fields: object
}

export function isOperatorMethod(method: Method): method is OperatorMethod {
  return OPERATOR_METHODS.includes(method as OperatorMethod)
}

/** The last part of a type's name, or of its URL. */
export function shortName(typeUrl: string): string {
  return typeUrl.slice(typeUrl.lastIndexOf('.') + 1)
}

/** A call that failed. The code `CANCELLED` always means that our own signal aborted. */
export class RpcError extends Error {
  readonly code: number
  readonly details: readonly ErrorDetail[]
  /** False when the request certainly was not sent. */
  readonly mayHaveBeenSent: boolean
  /** True when an earlier attempt of the same call may have arrived, or a part of this one was carried out. */
  readonly mayHaveTakenEffect: boolean

  constructor(
    message: string,
    options: {
      code: number
      details?: readonly ErrorDetail[]
      mayHaveBeenSent?: boolean
      mayHaveTakenEffect?: boolean
      cause?: unknown
    },
  ) {
    super(message, { cause: options.cause })
    this.name = 'RpcError'
    this.code = options.code
    this.details = options.details ?? []
    this.mayHaveBeenSent = options.mayHaveBeenSent ?? true
    this.mayHaveTakenEffect = options.mayHaveTakenEffect ?? false
  }
}
