/** The body fields of a start: what is started, and the options, which say how the engine runs it. */
import type { Context } from 'hono'
import * as z from 'zod/mini'
import { isObject } from '../../../../shared/lib/json.ts'
import { checkedString } from '../../../../shared/wire/checked-string.ts'
import { isReservedMemo } from '../../../../shared/wire/memo-keys.ts'
import { characterIssue } from '../../../../shared/wire/names.ts'
import type { StartCommand } from '../../../model/commands.ts'
import {
  CONFLICT_POLICIES,
  REUSE_POLICIES,
  type RetryOptions,
  type VersioningOverride,
  type WorkflowOptions,
} from '../../../model/workflow-options.ts'
import { announceDeprecation, type Env } from '../../context.ts'
import type { RequestBody } from '../../endpoint.ts'
import { idempotencyKey } from '../../pipeline/request-checks.ts'
import {
  type Alternatives,
  chosenSchema,
  durationField,
  fieldsIn,
  headersField,
  jsonObject,
  memo,
  pairsOf,
  validKeys,
} from './field-values.ts'
import { deprecated, jsonForms, optional } from './json-forms.ts'
import { catalogName, requiredText, text, workflowId, workflowName } from './names.ts'
import { rawPayloads } from './raw-payloads.ts'
import { searchAttributeValue } from './search-attribute-value.ts'

/** The body fields that start a workflow. */
export function startFields(maxTimeoutMs: number, listKey: ListKey) {
  return {
    workflowName,
    input: optional(
      z.unknown(),
      `The workflow's only argument. Exactly one of \`input\`, \`${listKey}\` and \`${RAW_KEY[listKey]}\` is required`,
    ),
    workflowId: optional(workflowId, 'Id of the workflow. At most 1000 bytes of UTF-8. Default: a generated id'),
    catalog: optional(catalogName, 'Task queue of the workers that execute the workflow. Default: that of the service'),
    taskQueue: deprecated(catalogName, 'Deprecated name of `catalog`, which takes precedence'),
    timeout: optional(
      durationField(maxTimeoutMs),
      'How long to wait for the result: milliseconds, or a duration such as `30s`. Default 30 s',
    ),
    ...optionFields,
  }
}

/**
 * The key of the argument list, the alternative to `input`: `startArgs` in requests where `args` belongs to a handler.
 */
type ListKey = 'args' | 'startArgs'

/** The key of the encoded arguments: `payloads` are those of the handler where there is one. */
const RAW_KEY = { args: 'payloads', startArgs: 'inputPayloads' } as const

const keysOf = (listKey: ListKey): Alternatives => ['input', listKey, RAW_KEY[listKey]]

export function inputOrList(listKey: ListKey) {
  return z.refine<object>((body) => fieldsIn(body, keysOf(listKey)).length === 1, {
    message: `must contain either input (one argument) or ${listKey} (an array with one element per argument)`,
    // Reported together with the issues of single fields.
    when: ({ value }) => isObject(value),
  })
}

const runStream = z.strictObject({
  topics: optional(z.array(requiredText), 'Only the items of these topics. Default: all'),
  format: optional(z.literal('ui-message'), '`ui-message`: the UI message stream of the AI SDK, without other events'),
})

/** The body of `run`, `start` and `validate`. */
export const startRequest = {
  name: 'StartRequest',
  schema: (maxTimeoutMs: number) =>
    z
      .strictObject({
        ...startFields(maxTimeoutMs, 'args'),
        args: optional(z.array(z.unknown()), 'Instead of `input`: one element per argument; `[]` for none'),
        payloads: rawPayloads('`input` and `args`'),
        stream: optional(runStream, 'Only for `run` as events: also sends what the workflow publishes'),
      })
      .check(inputOrList('args'), compatibleOptions)
      .register(jsonForms, inputOrListForm('args', OPTION_CONFLICTS)),
  isRequired: true,
} satisfies RequestBody<unknown>

/** `inputOrList` as JSON Schema, together with other conflicts. */
export function inputOrListForm(listKey: ListKey, conflicts: readonly object[]) {
  const keys = keysOf(listKey)
  return {
    if: { anyOf: [{ required: ['input'] }, { required: [RAW_KEY[listKey]] }] },
    else: { required: [listKey] },
    not: { anyOf: [...pairsOf(keys), ...conflicts] },
  }
}

interface StartBody extends OptionFields {
  workflowName: string
  workflowId?: string
  catalog?: string
  taskQueue?: string
  input?: unknown
  args?: unknown[]
  startArgs?: unknown[]
  payloads?: unknown[]
  inputPayloads?: unknown[]
}

/** The catalog is `catalog`, or its deprecated name `taskQueue`, or the default. */
export function startCommand(c: Context<Env>, body: StartBody, defaultCatalog: string, listKey: ListKey): StartCommand {
  const { workflowId, workflowName, taskQueue, catalog = taskQueue ?? defaultCatalog } = body
  if (taskQueue !== undefined) announceDeprecation(c, TASK_QUEUE)
  const options = toWorkflowOptions(body)
  return {
    ...(workflowId !== undefined && { workflowId }),
    workflowName,
    catalog,
    ...(options && { options }),
    ...idempotencyKey(c),
    ...startArguments(body, listKey),
  }
}

function startArguments(body: StartBody, listKey: ListKey): Pick<StartCommand, 'args' | 'argumentPointer'> {
  if ('input' in body) return { args: [body.input], argumentPointer: '/input' }
  const { [RAW_KEY[listKey]]: payloads = [], [listKey]: given = [] } = body
  const args = payloads.length === 0 ? given : payloads
  return { args, argumentPointer: args.length === 0 ? '/input' : `/${listKey}/0` }
}

// Deprecated since the day on which the specification replaced it with `catalog`.
const TASK_QUEUE = { name: 'taskQueue', since: '2026-01-01' }

// A century: the engine counts nanoseconds with 64 bits.
const MAX_MS = 100 * 365 * 24 * 3_600_000
// The engine lowers a longer timeout to this without an error.
const MAX_TASK_TIMEOUT_MS = 120_000
const MAX_INT32 = 2_147_483_647
// The engine's limit.
const MAX_FAIRNESS_KEY_BYTES = 64

export const interval = durationField(MAX_MS)

export function oneOf<const Values extends readonly string[]>(values: Values) {
  return z.enum(values, { error: `must be one of ${values.join(', ')}` })
}

export function integer(min: number) {
  const error = `must be an integer from ${min} to ${MAX_INT32}`
  return z
    .number({ error })
    .check(z.refine(Number.isInteger, { error }), z.minimum(min, { error }), z.maximum(MAX_INT32, { error }))
    .register(jsonForms, { type: 'integer' })
}

function numberFrom(min: number, error: string) {
  return z.number({ error }).check(z.minimum(min, { error }))
}

/** The fields of a retry policy that can be changed while an activity is open. */
export const retryFields = {
  initialInterval: z.exactOptional(interval),
  backoffCoefficient: z.exactOptional(numberFrom(1, 'must be a number of at least 1')),
  maximumInterval: z.exactOptional(interval),
  maximumAttempts: z.exactOptional(integer(0)),
}

const retry = z.strictObject({ ...retryFields, nonRetryableErrorTypes: z.exactOptional(z.array(requiredText)) })

const fairnessKey = checkedString((key) =>
  new TextEncoder().encode(key).length > MAX_FAIRNESS_KEY_BYTES
    ? `must be at most ${MAX_FAIRNESS_KEY_BYTES} bytes of UTF-8`
    : characterIssue(key),
).register(jsonForms, { maxLength: MAX_FAIRNESS_KEY_BYTES, pattern: '^[^\\u0000]*$' })

const priority = z.strictObject({
  priorityKey: z.exactOptional(integer(1)),
  fairnessKey: z.exactOptional(fairnessKey),
  fairnessWeight: z.exactOptional(
    numberFrom(Number.MIN_VALUE, 'must be a number greater than 0').register(jsonForms, {
      exclusiveMinimum: 0,
      minimum: undefined,
    }),
  ),
})

const pinned = z.strictObject({ pinned: z.strictObject({ deploymentName: requiredText, buildId: requiredText }) })
const OVERRIDE = 'must be "auto-upgrade" or {"pinned": {"deploymentName": …, "buildId": …}}'

/** The document shows it open: generators have no type for a text or an object. */
const versioningOverride = chosenSchema<VersioningOverride>((input) =>
  isObject(input) && 'pinned' in input ? pinned : z.literal('auto-upgrade', { error: OVERRIDE }),
)

export const versioningOverrideOrNull = chosenSchema<VersioningOverride | null>((input) => {
  if (isObject(input) && 'pinned' in input) return pinned
  return input === null ? z.null() : z.literal('auto-upgrade', { error: `${OVERRIDE}, or null` })
})

const searchAttributes = z
  .record(z.string(), searchAttributeValue)
  .register(jsonForms, { propertyNames: { type: 'string', ...validKeys() } })

export const optionFields = {
  memo: optional(memo, 'Values by name, stored with the run'),
  searchAttributes: optional(
    z.pipe(jsonObject, searchAttributes),
    'Search attributes by name: a value of the registered type, or a value with its type',
  ),
  headers: headersField,
  startDelay: optional(interval, 'Time until the first workflow task: milliseconds, or a duration such as `30s`'),
  executionTimeout: optional(interval, 'Limit for the whole chain of runs: milliseconds, or a duration such as `30s`'),
  runTimeout: optional(interval, 'Limit for each run: milliseconds, or a duration such as `30s`'),
  taskTimeout: optional(
    durationField(MAX_TASK_TIMEOUT_MS),
    'Limit for a workflow task: milliseconds, or a duration such as `30s`',
  ),
  retry: optional(retry, 'Retry policy of the workflow'),
  cronSchedule: optional(requiredText, 'Such as `0 12 * * *` or `@every 1h`. Such a workflow never ends'),
  workflowIdConflictPolicy: optional(oneOf(CONFLICT_POLICIES), 'What to do if a run of `workflowId` is open'),
  workflowIdReusePolicy: optional(
    oneOf(REUSE_POLICIES),
    'Whether the id of a closed run can be used again. Default `allow-duplicate`',
  ),
  priority: optional(priority, 'Priority of the tasks: 1 is the most urgent `priorityKey`'),
  versioningOverride: optional(
    versioningOverride,
    'The version of the workers: `auto-upgrade`, or an object with `pinned`',
  ),
  summary: optional(text, "Text for people, which Temporal's web UI shows"),
  details: optional(text, "Longer text for people, which Temporal's web UI shows"),
}

export type OptionFields = z.output<z.ZodMiniObject<typeof optionFields>>

/** Undefined for a body without options. */
export function toWorkflowOptions(body: OptionFields): WorkflowOptions | undefined {
  const entries = Object.entries(body).flatMap(([key, value]) => {
    if (!Object.hasOwn(optionFields, key)) return []
    return [key === 'retry' ? [key, toRetryOptions(body.retry ?? {})] : [DURATIONS.get(key) ?? key, value]]
  })
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

const DURATIONS = new Map<string, keyof WorkflowOptions>([
  ['startDelay', 'startDelayMs'],
  ['executionTimeout', 'executionTimeoutMs'],
  ['runTimeout', 'runTimeoutMs'],
  ['taskTimeout', 'taskTimeoutMs'],
])

export function toRetryOptions({ initialInterval, maximumInterval, ...rest }: z.output<typeof retry>): RetryOptions {
  return {
    ...rest,
    ...(initialInterval !== undefined && { initialIntervalMs: initialInterval }),
    ...(maximumInterval !== undefined && { maximumIntervalMs: maximumInterval }),
  }
}

type Body = OptionFields & { workflowName: string }

interface Conflict {
  path: string[]
  message: string
}

function optionConflicts({ workflowName, memo = {}, ...options }: Body): Conflict[] {
  const { cronSchedule, startDelay, workflowIdConflictPolicy, workflowIdReusePolicy } = options
  const reserved = Object.keys(memo).filter((key) => isReservedMemo(workflowName, key, memo[key]))
  return [
    ...reserved.map((key) => ({ path: ['memo', key], message: 'is reserved' })),
    ...(cronSchedule !== undefined && startDelay !== undefined
      ? [{ path: ['startDelay'], message: 'must not be combined with cronSchedule' }]
      : []),
    ...(workflowIdConflictPolicy === 'terminate-existing' && workflowIdReusePolicy === 'reject-duplicate'
      ? [{ path: ['workflowIdReusePolicy'], message: 'must not be reject-duplicate with terminate-existing' }]
      : []),
  ]
}

/**
 * Options that delay the first workflow task cannot be used with an update-with-start, whose update waits for that
 * task.
 */
function updateConflicts({ cronSchedule, startDelay, workflowIdConflictPolicy }: Body): Conflict[] {
  const message = 'is not supported with update-with-start'
  return [
    ...(cronSchedule === undefined ? [] : [{ path: ['cronSchedule'], message }]),
    ...(startDelay === undefined ? [] : [{ path: ['startDelay'], message }]),
    ...(workflowIdConflictPolicy === 'terminate-existing'
      ? [{ path: ['workflowIdConflictPolicy'], message: 'must be use-existing or fail' }]
      : []),
  ]
}

/** A signal-with-start uses an open run, because the engine always sends the signal to it. */
function signalConflicts({ workflowIdConflictPolicy = 'use-existing' }: Body): Conflict[] {
  if (workflowIdConflictPolicy === 'use-existing') return []
  return [{ path: ['workflowIdConflictPolicy'], message: 'must be use-existing' }]
}

function checkConflicts(...checks: ((body: Body) => Conflict[])[]) {
  return z.superRefine<Body>((body, context) => {
    if (!isObject(body)) return
    for (const { path, message } of checks.flatMap((conflicts) => conflicts(body)))
      context.addIssue({ code: 'custom', input: body, path, message })
  })
}

/** The bodies with each of the conflicts, as JSON Schema. */
export const OPTION_CONFLICTS = [
  { required: ['cronSchedule', 'startDelay'] },
  having({ workflowIdConflictPolicy: ['terminate-existing'], workflowIdReusePolicy: ['reject-duplicate'] }),
]
export const SIGNAL_CONFLICTS = [having({ workflowIdConflictPolicy: ['fail', 'terminate-existing'] })]
export const UPDATE_CONFLICTS = [
  { required: ['cronSchedule'] },
  { required: ['startDelay'] },
  having({ workflowIdConflictPolicy: ['terminate-existing'] }),
]

function having(values: Readonly<Record<string, readonly string[]>>) {
  const properties = Object.fromEntries(Object.entries(values).map(([key, some]) => [key, { enum: some }]))
  return { required: Object.keys(values), properties }
}

/** The memo alone can have a conflict in a schedule. */
export const reservedMemo = checkConflicts(optionConflicts)
export const compatibleOptions = checkConflicts(optionConflicts)
export const compatibleWithSignal = checkConflicts(optionConflicts, signalConflicts)
export const compatibleWithUpdate = checkConflicts(optionConflicts, updateConflicts)
