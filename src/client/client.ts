/** The client's interfaces. `docs/client.md` shows them in use. */
import type {
  ActivityMethods,
  ActivityRepairs,
  CompleteActivityRequest,
  FailActivityRequest,
  HeartbeatRequest,
  LinkRequest,
} from './activity-requests.ts'
import type {
  AnyActivities,
  AnyWorkflow,
  ArgsOf,
  ResultOf,
  TypesOf,
  WorkflowFunction,
  WorkflowName,
} from './catalog-types.ts'
import type { CallOptions } from './connection/options.ts'
import type { Pages } from './pages.ts'
import type { Batches } from './requests/batches.ts'
import type { Schedules } from './requests/schedules.ts'
import type { ArgumentsAs, StartActivityOptions, StartOptions } from './requests/start-options.ts'
import type {
  ActivityFilter,
  ActivityPage,
  ActivityResult,
  ActivityState,
  Answered,
  Catalog,
  CreatedLink,
  Explanation,
  HistoryEvent,
  HistoryPage,
  ListedActivity,
  ListedRun,
  OpenActivity,
  OpenRun,
  Paused,
  Question,
  QuestionPage,
  ResetRun,
  RunFilter,
  RunInput,
  RunPage,
  RunQuestions,
  RunRef,
  SignalAccepted,
  StandaloneRun,
  Stopped,
  StoppedActivity,
  TaskQueue,
  Terminated,
  Trace,
  WorkflowResult,
  WorkflowStatus,
} from './responses.ts'
import type { PublishedItem, StreamOptions, WorkflowStream } from './stream/stream-event.ts'
import type { WorkflowRef } from './target.ts'

export interface ResultOptions extends CallOptions {
  /** Called with each response that reports an open run, at least every `maxWaitMs`. */
  onOpen?: ((run: OpenRun) => void) | undefined
}

/** Can be left out if none of its properties is required. */
export type Optional<Request> = Record<never, never> extends Request ? [request?: Request] : [request: Request]

export type StartRequest<Args extends readonly unknown[] = unknown[]> = StartOptions & ArgumentsAs<Args, 'input'>

export interface QueryOptions extends CallOptions {
  /** Temporal headers. */
  headers?: Record<string, unknown>
}

export type QueryRequest<Args extends readonly unknown[] = unknown[]> = QueryOptions & ArgumentsAs<Args, 'payload'>

/** `idempotencyKey`: 1 to 255 visible ASCII characters. Default: a new one for each call. */
export type MessageRequest<Args extends readonly unknown[] = unknown[]> = QueryRequest<Args> & {
  idempotencyKey?: string | undefined
}

/** The arguments of the handler, and those of the workflow: `input`, `startArgs` or `inputPayloads`. */
export type WithStartRequest<Args extends readonly unknown[], HandlerArgs extends readonly unknown[]> = StartOptions &
  ArgumentsAs<Args, 'input', 'startArgs', 'inputPayloads'> &
  ArgumentsAs<HandlerArgs, 'payload'>

/** The point to continue from: after the last completed step of this name, or after this event. */
export type ResetRequest = ReasonOptions &
  ({ stepName: string; eventId?: never } | { eventId: number; stepName?: never })

export interface ReasonOptions extends CallOptions {
  /** Recorded in the history. */
  reason?: string | undefined
}

export interface ListOptions extends RunFilter, CallOptions {
  /** 1 to 1000. Default 100. */
  pageSize?: number | undefined
  /** `nextPageToken` of the previous page. */
  pageToken?: string | undefined
}

/** The filters are those of open runs. */
export interface QuestionOptions extends Omit<ListOptions, 'problem' | 'status'> {
  /** Only questions for one of these. */
  to?: string | readonly string[] | undefined
  /** How many runs a page reads, also those without a question: 1 to 1000. Default 200. */
  pageSize?: number | undefined
}

export interface HistoryOptions extends CallOptions {
  /** 1 to 1000. Default 100. */
  pageSize?: number | undefined
  /** `nextPageToken` of the previous page. */
  pageToken?: string | undefined
  /** False leaves out arguments, results and other encoded values. Default true. */
  includePayloads?: boolean
  /** Waits for new events until the run is closed. Default false: ends with the last recorded event. */
  follow?: boolean
}

/** `idempotencyKey`: as of a message. The items are published once for each key. */
export interface PublishOptions extends CallOptions {
  idempotencyKey?: string | undefined
}

/** A workflow by its id. With a run id, all calls are about this run; without, about the latest one. */
export interface WorkflowHandle<Types extends Shape = AnyWorkflow> extends ActivityMethods {
  readonly workflowId: string
  /** The run that was passed to `get`, or that was started. */
  readonly runId?: string
  /**
   * Waits for the end of the run and returns its output. Follows the chain: continue-as-new and retries by the engine.
   * Throws `WorkflowFailedError` if it does not complete.
   */
  result(options?: ResultOptions): Promise<Types['output']>
  /** Waits for the end of the run, and returns how it ended. Does not throw if it failed. */
  resultSettled(options?: ResultOptions): Promise<WorkflowResult<Types['output']>>
  status(options?: CallOptions): Promise<WorkflowStatus>
  /** Why the run does not move, and what a person can do about it. */
  explain(options?: CallOptions): Promise<Explanation>
  /** The arguments of the run, also while it is open. */
  input(options?: CallOptions): Promise<RunInput>
  /** The steps of the run as a tree. */
  trace(options?: CallOptions): Promise<Trace>
  /** The recorded events, oldest first. */
  history(options?: HistoryOptions): Pages<HistoryEvent, HistoryPage>
  /**
   * The items that the workflow publishes, until it ends; through lost connections. Follows the chain. `Data` is not
   * validated. Sends no request before it is iterated.
   */
  stream<Data = unknown>(options?: StreamOptions): WorkflowStream<Data>
  /** Publishes items, in this order. Resolves when the engine has accepted them. */
  publish(items: PublishedItem | readonly PublishedItem[], options?: PublishOptions): Promise<RunRef>
  /**
   * Resolves when the engine has accepted the signal. The client first reads which run is the latest: docs/client.md,
   * Retries.
   */
  signal<Name extends keyof Types['signals'] & string>(
    name: Name,
    ...request: Optional<MessageRequest<ArgsOf<Types['signals'][Name]>>>
  ): Promise<SignalAccepted>
  /** Returns the result of the handler. */
  query<Name extends keyof Types['queries'] & string>(
    name: Name,
    ...request: Optional<QueryRequest<ArgsOf<Types['queries'][Name]>>>
  ): Promise<ResultOf<Types['queries'][Name]>>
  /**
   * Returns the result of the handler when it has completed. Waits for up to `timeoutMs`, even if there is no response
   * for longer than `retryMs`; without `timeoutMs` as long as the service does (`SERVICE_MESSAGE_TIMEOUT`, 60 s).
   */
  update<Name extends keyof Types['updates'] & string>(
    name: Name,
    ...request: Optional<MessageRequest<ArgsOf<Types['updates'][Name]>>>
  ): Promise<ResultOf<Types['updates'][Name]>>
  /** What the run asks people. */
  questions(options?: CallOptions): Promise<RunQuestions>
  /** Answers a question, once for all callers. Throws `QuestionAnsweredError` if another answer is recorded. */
  answer(key: string, content: unknown, options?: CallOptions): Promise<Answered>
  /**
   * Creates a link with which a person answers once, without a credential. It is for the run that is open now, not for
   * one that continues it.
   */
  link(request: LinkRequest, options?: CallOptions): Promise<CreatedLink>
  /** Requests cancellation. The workflow may clean up first, or ignore it. */
  stop(request?: ReasonOptions): Promise<Stopped>
  /** Ends the run at once, without cleanup. Not repeated if the response is lost. */
  terminate(request?: ReasonOptions): Promise<Terminated>
  /** Stops the progress of the run until `unpause`. */
  pause(request?: ReasonOptions): Promise<Paused>
  unpause(request?: ReasonOptions): Promise<Paused>
  /** Creates a new run that continues from this point. Not repeated if the response is lost. */
  reset(request: ResetRequest): Promise<ResetRun>
}

/** One workflow by its name. */
export interface Workflow<Types extends Shape = AnyWorkflow> {
  /**
   * Starts the workflow, waits for its end and returns its output.
   * Throws `WorkflowFailedError` if it does not complete.
   */
  run(...request: Optional<StartRequest<Types['args']>>): Promise<Types['output']>
  /** Like `run`, but returns how the run ended, and does not throw if it failed. */
  runSettled(...request: Optional<StartRequest<Types['args']>>): Promise<WorkflowResult<Types['output']>>
  /** Starts the workflow without waiting for its end. */
  start(...request: Optional<StartRequest<Types['args']>>): Promise<WorkflowHandle<Types>>
  /**
   * Sends a signal to the open run of `workflowId`, and starts one before if the id has no open run. With a
   * `workflowId` of yours it is not repeated if the response is lost.
   */
  signalWithStart<Name extends keyof Types['signals'] & string>(
    name: Name,
    request: WithStartRequest<Types['args'], ArgsOf<Types['signals'][Name]>>,
  ): Promise<RunRef & { started: boolean; warnings?: string[] }>
  /**
   * Sends an update to the open run of `workflowId`, and starts one before if the id has no open run. Waits as
   * `update` does, but with a `workflowId` of yours it is not repeated if the response is lost.
   */
  updateWithStart<Name extends keyof Types['updates'] & string>(
    name: Name,
    request: WithStartRequest<Types['args'], ArgsOf<Types['updates'][Name]>>,
  ): Promise<RunRef & { started: boolean; result: ResultOf<Types['updates'][Name]> }>
  /** A workflow that was started before. Sends no request. */
  get(ref: WorkflowRef): WorkflowHandle<Types>
}

type Shape = Pick<AnyWorkflow, 'output'> & {
  args: readonly unknown[]
  signals: object
  queries: object
  updates: object
}

/** The id of an activity without a workflow, which names its latest run, or one run of it. */
export type ActivityRef = string | { activityId: string; runId?: string }

export interface ActivityResultOptions extends CallOptions {
  /** Called with each response that reports an open run, at least every `maxWaitMs`. */
  onOpen?: ((run: OpenActivity) => void) | undefined
}

export interface ActivityListOptions extends ActivityFilter, CallOptions {
  pageSize?: number | undefined
  pageToken?: string | undefined
}

/** An activity without a workflow, by its id. Reports are for those that complete outside their worker. */
export interface ActivityHandle<Output = unknown> {
  readonly activityId: string
  /** The run that was passed to `get`, or that was started. */
  readonly runId?: string
  /** Waits for the end and returns the output. Throws `ActivityFailedError` if it does not complete. */
  result(options?: ActivityResultOptions): Promise<Output>
  /** Waits for the end, and returns how it ended. */
  resultSettled(options?: ActivityResultOptions): Promise<ActivityResult<Output>>
  status(options?: CallOptions): Promise<ActivityState>
  /** Requests cancellation. */
  stop(request?: ReasonOptions): Promise<StoppedActivity>
  /** Ends the activity at once. Not repeated if the response is lost. */
  terminate(request?: ReasonOptions): Promise<StandaloneRun & { terminated: true }>
  complete(request?: CompleteActivityRequest): Promise<StandaloneRun & { completed: true }>
  /** Not repeated if the response is lost, unless `retryable` is false: another attempt could fail. */
  fail(request: FailActivityRequest): Promise<StandaloneRun & { failed: true }>
  /** Reports progress. `cancelRequested` says whether the activity should end. */
  heartbeat(request?: HeartbeatRequest): Promise<StandaloneRun & { cancelRequested: boolean }>
}

/** An activity without a workflow, by its name. */
export interface Activity<Types extends ActivityShape = { args: unknown[]; output: unknown }> {
  /** Starts the activity, waits for its end and returns its output. Throws `ActivityFailedError`. */
  run(...request: Optional<StartActivityRequest<Types['args']>>): Promise<Types['output']>
  /** Like `run`, but returns how the activity ended. */
  runSettled(...request: Optional<StartActivityRequest<Types['args']>>): Promise<ActivityResult<Types['output']>>
  /** Starts the activity without waiting for its end. */
  start(...request: Optional<StartActivityRequest<Types['args']>>): Promise<ActivityHandle<Types['output']>>
  /** An activity that was started before. Sends no request. */
  get(ref: ActivityRef): ActivityHandle<Types['output']>
}

type ActivityShape = { args: readonly unknown[]; output: unknown }

export type StartActivityRequest<Args extends readonly unknown[] = unknown[]> = StartActivityOptions &
  ArgumentsAs<Args, 'input'>

/** The methods of a handle, without the types of a workflow. */
export type HandleMethods = {
  [Method in Exclude<keyof WorkflowHandle, 'workflowId' | 'runId' | 'activity' | 'questions' | 'stream'>]: (
    ref: WorkflowRef,
    ...rest: Parameters<WorkflowHandle[Method]>
  ) => ReturnType<WorkflowHandle[Method]>
}

/** `Workflows`, `Activities`: the interfaces that `npx portico types` generates. */
export interface Client<Workflows, Activities = AnyActivities> extends HandleMethods {
  /** `stream` of the handle. It is declared here because a mapped type would lose `Data`. */
  stream<Data = unknown>(ref: WorkflowRef, options?: StreamOptions): WorkflowStream<Data>
  /** A workflow of `Workflows` by its name. */
  workflow<Name extends WorkflowName<Workflows>>(name: Name): Workflow<TypesOf<Workflows[Name]>>
  /** A workflow by its function: `client.workflow<typeof order>('order')`. */
  workflow<Function extends WorkflowFunction = never>(
    // Without the type of a function, only names of `Workflows`.
    name: [Function] extends [never] ? never : string,
  ): Workflow<TypesOf<Function>>

  /** An activity without a workflow, one of `Activities`, by its name. */
  activity<Name extends WorkflowName<Activities>>(name: Name): Activity<TypesOf<Activities[Name]>>
  /** The same by its function: `client.activity<typeof charge>('charge')`. */
  activity<Function extends WorkflowFunction = never>(
    name: [Function] extends [never] ? never : string,
  ): Activity<TypesOf<Function>>
  /** An activity of a workflow, to repair. Sends no request. */
  activity(ref: WorkflowRef, activityId: string): ActivityRepairs
  /** The activities without a workflow that match all filters, open ones first. */
  activities(options?: ActivityListOptions): Pages<ListedActivity, ActivityPage>

  run<Name extends WorkflowName<Workflows>>(
    name: Name,
    ...request: Optional<StartRequest<TypesOf<Workflows[Name]>['args']>>
  ): Promise<TypesOf<Workflows[Name]>['output']>
  runSettled<Name extends WorkflowName<Workflows>>(
    name: Name,
    ...request: Optional<StartRequest<TypesOf<Workflows[Name]>['args']>>
  ): Promise<WorkflowResult<TypesOf<Workflows[Name]>['output']>>
  start<Name extends WorkflowName<Workflows>>(
    name: Name,
    ...request: Optional<StartRequest<TypesOf<Workflows[Name]>['args']>>
  ): Promise<WorkflowHandle<TypesOf<Workflows[Name]>>>
  /** What a catalog lists, with its schemas. Default: that of the client, or else that of the service. */
  catalog(catalog?: string, options?: CallOptions): Promise<Catalog>
  /** The runs that match all filters, open ones first. */
  list(options?: ListOptions): Pages<ListedRun, RunPage>
  /** What open runs ask people. A page can be short or empty before the last one. */
  questions(options?: QuestionOptions): Pages<Question, QuestionPage>
  /** What one run asks people. */
  questionsOf(ref: WorkflowRef, options?: CallOptions): Promise<RunQuestions>

  /** The workers and the backlog of a task queue. All zeros if it does not exist. */
  taskQueue(name: string, options?: CallOptions): Promise<TaskQueue>

  /** Starts workflows at certain times. */
  readonly schedules: Schedules

  /** Signal, stop or terminate many runs at once. */
  readonly batches: Batches

  /** Any other request of the API: parses the response, repeats what only reads, and throws the same errors. */
  request(method: string, path: string, options?: RequestOptions): Promise<unknown>
}

export interface RequestOptions extends CallOptions {
  /** Parameters of the URL. Those that are undefined are left out. */
  query?: Record<string, unknown>
  /** Sent as JSON. */
  body?: unknown
  headers?: Record<string, string>
  /** With a key, starts and requests to one run (`…/runs/<run id>/…`, except `fail`) are repeated too. */
  idempotencyKey?: string | undefined
}
