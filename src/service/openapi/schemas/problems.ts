/** The bodies of errors: one schema for each status, which lists the names of its errors. */

import { PROBLEMS } from '../../http/errors.ts'
import {
  array,
  boolean,
  described,
  enumOf,
  integer,
  object,
  ref,
  type Schema,
  string,
  time,
} from '../../http/openapi/schema.ts'
import type { ProblemFields } from '../../http/problem.ts'
import { type ErrorFacts, type ErrorName, type Issue, RESOURCE_IDS, type ResourceIds } from '../../model/errors.ts'

export const ERROR_NAMES = Object.keys(PROBLEMS) as ErrorName[]

/** Node's HTTP server can respond to any request with these. The app uses other statuses for the same error names. */
const OF_THE_SERVER: readonly [number, ErrorName][] = [
  [417, 'ValidationError'],
  [431, 'PayloadTooLargeError'],
]

const pairs = [...ERROR_NAMES.map((name) => [PROBLEMS[name].status, name] as const), ...OF_THE_SERVER]

/** The error names of each status. */
export const NAMES_BY_STATUS: ReadonlyMap<number, readonly ErrorName[]> = new Map(
  [...Map.groupBy(pairs, ([status]) => status)].map(([status, own]) => [status, own.map(([, name]) => name)]),
)

/** The statuses of these errors, and of those that any request can get from Node's HTTP server. */
export function statusesOf(names: readonly ErrorName[]): number[] {
  const statuses = [...names.map((name) => PROBLEMS[name].status), ...OF_THE_SERVER.map(([status]) => status)]
  return [...new Set(statuses)].toSorted((a, b) => a - b)
}

type Body = Required<ProblemFields & Omit<ErrorFacts, 'mayHaveTakenEffect' | 'retryAfterSeconds'>> & {
  type: string
  detail: string
}

const schemas: Record<string, Schema> = Object.fromEntries(RESOURCE_IDS.map((name) => [name, string]))
const ids = schemas as Record<keyof ResourceIds, Schema>

const OPTIONAL = [
  ...RESOURCE_IDS,
  ...(['workflowId', 'runId', 'updateId', 'stage', 'workflowStatus', 'problem', 'available', 'issues'] as const),
  ...([
    'action',
    'errorDetails',
    'sizeBytes',
    'activityId',
    'activityStatus',
    'completed',
    'key',
    'recorded',
    'at',
  ] as const),
]

function problem(status: Schema, error: Schema): Schema {
  return object<Body>(
    {
      type: described({ type: 'string', format: 'uri-reference' }, 'Identifies the error, like `error`'),
      title: string,
      status,
      detail: described(string, 'The same as `message`'),
      error: described(error, 'The name of the error. Use it in programs: its meaning never changes'),
      message: described(string, 'For people; the wording may change'),
      source: described(enumOf(['workflow', 'engine', 'gateway']), 'What rejected the request'),
      requestId: described(string, 'The value of `X-Request-Id`'),
      workflowId: string,
      runId: string,
      updateId: string,
      stage: described(enumOf(['accepted', 'completed']), 'How far the update is: its result can be read later'),
      activityId: string,
      activityStatus: ref('ActivityStatus'),
      completed: described(boolean, 'True: the activity has completed'),
      key: described(string, 'The key of the question'),
      ...ids,
      workflowStatus: ref('Status'),
      problem: ref('WorkflowTaskProblem'),
      action: described(string, 'What the policy does not allow'),
      errorDetails: ref('ErrorDetails'),
      available: described(array(string), 'Names that exist'),
      issues: described(array(ref('Issue')), 'What is invalid'),
      recorded: described(string, 'The answer for which a link was used'),
      at: described(time, 'When that answer was recorded'),
      sizeBytes: described(integer, 'Size of a value that cannot be read'),
    },
    { optional: OPTIONAL },
  )
}

export const problemSchemas: Record<string, Schema> = {
  // Not `Problem`: generators for Python confuse a class with a property of the same name.
  ProblemDetails: problem(integer, enumOf(ERROR_NAMES)),
  ...Object.fromEntries(
    [...NAMES_BY_STATUS].map(([status, names]) => [
      `Problem${status}`,
      problem({ type: 'integer', enum: [status] }, enumOf(names)),
    ]),
  ),
  Issue: object<Issue>({
    path: described(string, 'JSON Pointer into the body, or into the query parameters'),
    message: string,
  }),
}
