import type { temporal } from '@temporalio/proto'
import type { EngineFeatures } from '../../domain/engine.ts'

type WorkflowService = temporal.api.workflowservice.v1.WorkflowService

/** The calls of Temporal's WorkflowService that this service makes over any transport. */
export const METHODS = [
  'startWorkflowExecution',
  'getWorkflowExecutionHistory',
  'getWorkflowExecutionHistoryReverse',
  'describeWorkflowExecution',
  'signalWorkflowExecution',
  'queryWorkflow',
  'updateWorkflowExecution',
  'requestCancelWorkflowExecution',
  'terminateWorkflowExecution',
  'describeTaskQueue',
  'getSystemInfo',
] as const satisfies readonly (keyof WorkflowService)[]

/** A call that every transport carries. */
export type SharedMethod = (typeof METHODS)[number]

/** Any call that this service makes: the last has no path in Temporal's HTTP API. */
export type Method = SharedMethod | 'executeMultiOperation'

export type Request<M extends Method> = Parameters<WorkflowService[M]>[0]
/** Integers of 64 bits are plain numbers in it over HTTP, `Long`s over gRPC: read them with `Number` or `String`. */
export type Response<M extends Method> = Awaited<ReturnType<WorkflowService[M]>>

export interface CallOptions {
  /** Epoch milliseconds. */
  deadlineAt: number
  signal: AbortSignal
}

/** Carries calls to Temporal's WorkflowService; rejects with `RpcError` for what the engine, or the way to it, answers. */
export interface Transport {
  readonly name: 'grpc' | 'http'
  readonly features: EngineFeatures
  call<M extends Method>(method: M, request: Request<M>, options: CallOptions): Promise<Response<M>>
  close(): Promise<void>
}

/** What the engine says of a refusal beside its text, decoded. */
export interface ErrorDetail {
  /** Its type's, without packages: `NotFoundFailure`. */
  name: string
  /** None of a type that is unknown here. */
  fields: object
}

/** The last part of a type's name, or of its URL. */
export function shortName(typeUrl: string): string {
  return typeUrl.slice(typeUrl.lastIndexOf('.') + 1)
}

/** What the engine answered instead of a response. `CANCELLED` always means that our own signal aborted. */
export class RpcError extends Error {
  readonly code: number
  readonly details: readonly ErrorDetail[]
  /** False when the request certainly never left. */
  readonly mayHaveBeenSent: boolean
  /** True when an earlier try of the same call may have arrived, or a part of this one was done. */
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
