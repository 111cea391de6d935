/** What takes the place of each method of `@temporalio/client`. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Operations of the API, with words about them if they need any; or why the API has nothing in its place. */
export type Place = { operations: readonly string[]; how?: string } | string

const to = (...operations: string[]): Place => ({ operations })
const ASYNC = 'with `Prefer: respond-async`'
const OPERATOR_COMMANDS = 'No: experimental. Only activities of a workflow can be paused and changed'
const BY_ID = 'The id is part of the path'
const TASK_TOKEN = 'No: a task token would be a credential for its run. Use the ids'
const PROCESS = 'Of a process: each request has its own deadline and credential'
const TYPES = "No request: types of the caller's program"
const VERSIONING = 'No: the versioning that Temporal has deprecated'
const NEXUS = 'No: a preview, which servers leave off'

/** The only list that is kept by hand. A test compares it with the declarations. */
export const PLACES: Readonly<Record<string, Readonly<Record<string, Place>>>> = {
  WorkflowClient: {
    start: to('startWorkflow'),
    execute: to('runWorkflow'),
    result: to('getWorkflowResult'),
    signalWithStart: to('signalWithStart'),
    executeUpdateWithStart: to('updateWithStart'),
    startUpdateWithStart: { operations: ['updateWithStart'], how: ASYNC },
    list: to('listRuns'),
    count: to('countRuns'),
    getHandle: BY_ID,
  },
  AsyncWorkflowListIterable: { intoHistories: to('listRuns', 'getRunHistory') },
  WithStartWorkflowOperation: { workflowHandle: 'The response has the ids' },
  BaseWorkflowHandle: {
    result: to('getWorkflowResult'),
    signal: to('signalWorkflow'),
    signalWithOptions: to('signalWorkflow'),
  },
  WorkflowHandle: {
    query: to('queryWorkflow'),
    queryWithOptions: to('queryWorkflow'),
    executeUpdate: to('updateWorkflow'),
    startUpdate: { operations: ['updateWorkflow'], how: ASYNC },
    getUpdateHandle: BY_ID,
    describe: to('getWorkflowStatus'),
    fetchHistory: to('getWorkflowHistory'),
    cancel: to('stopWorkflow'),
    terminate: to('terminateWorkflow'),
  },
  WorkflowUpdateHandle: { result: to('getWorkflowUpdate') },
  ScheduleClient: { create: to('putSchedule'), list: to('listSchedules'), getHandle: BY_ID },
  ScheduleHandle: {
    describe: to('getSchedule'),
    update: to('putSchedule'),
    delete: to('deleteSchedule'),
    trigger: to('triggerSchedule'),
    backfill: to('backfillSchedule'),
    pause: to('pauseSchedule'),
    unpause: to('unpauseSchedule'),
  },
  AsyncCompletionClient: {
    complete: to('completeWorkflowActivity', 'completeActivity'),
    fail: to('failWorkflowActivity', 'failActivity'),
    reportCancellation: to('cancelWorkflowActivity'),
    heartbeat: to('heartbeatWorkflowActivity', 'heartbeatActivity'),
    'complete(taskToken)': TASK_TOKEN,
    'fail(taskToken)': TASK_TOKEN,
    'reportCancellation(taskToken)': TASK_TOKEN,
    'heartbeat(taskToken)': TASK_TOKEN,
  },
  ActivityClient: {
    start: to('startActivity'),
    execute: to('runActivity'),
    ...each('getHandle getHandleWithOptions', BY_ID),
    list: to('listActivities'),
    count: 'Not yet: only the list',
    typed: TYPES,
  },
  TypedActivityClient: { start: to('startActivity'), execute: to('runActivity') },
  ActivityHandle: {
    result: to('getActivityResult'),
    describe: to('getActivityStatus'),
    cancel: to('stopActivity'),
    terminate: to('terminateActivity'),
    ...each('pause unpause updateOptions restoreOriginalOptions', OPERATOR_COMMANDS),
  },
  TaskQueueClient: each('updateBuildIdCompatibility getBuildIdCompatability getReachability', VERSIONING),
  NexusClient: each('createServiceClient getHandle list count', NEXUS),
  NexusServiceClient: each('startOperation executeOperation', NEXUS),
  NexusOperationHandle: each('result describe cancel terminate', NEXUS),
  BaseClient: each('withDeadline withAbortSignal withMetadata', PROCESS),
}

function each(methods: string, place: Place): Record<string, Place> {
  return Object.fromEntries(methods.split(' ').map((method) => [method, place]))
}

const FILES = ['workflow', 'schedule', 'async-completion', 'activity', 'task-queue', 'nexus', 'base']

/** The public methods of the classes and handles that the installed package declares, by type. */
export function methodsOfClient(): Map<string, string[]> {
  const paths = [
    ...FILES.map((name) => import.meta.resolve('@temporalio/client').replace('index.js', `${name}-client.d.ts`)),
    import.meta.resolve('@temporalio/common').replace('index.js', 'workflow-handle.d.ts'),
  ]
  const types = paths.flatMap((path) => [...declaredIn(readFileSync(fileURLToPath(path), 'utf8'))])
  return new Map(types.filter(([, methods]) => methods.length > 0))
}

const TYPE = /^export (?:declare class (\w+)(?!.* extends Error)|interface (\w+(?:Client|Handle|Iterable)))\b.*\{$/
// A method that takes a task token is another one than that which takes ids.
const METHOD = /^ {4}(?!constructor\b)(\w+)(?:<.*>)?(?:\((taskToken\b)?|: \()/

/** The declarations have one form: members are indented with four spaces, what is not public has a modifier. */
function* declaredIn(text: string): Generator<[type: string, methods: string[]]> {
  let methods: string[] = []
  for (const line of text.split('\n')) {
    const [isType, ofClass, ofInterface] = TYPE.exec(line) ?? []
    const [, method, taskToken] = METHOD.exec(line) ?? []
    if (isType !== undefined || line === '}') methods = []
    if (isType !== undefined) yield [ofClass ?? ofInterface ?? '', methods]
    const name = taskToken === undefined ? method : `${method}(${taskToken})`
    if (name !== undefined && !methods.includes(name)) methods.push(name)
  }
}
