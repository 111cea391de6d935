import { toPointer } from '../../../shared/lib/json.ts'
import { GrpcCode } from '../../../shared/temporal/grpc-code.ts'
import { TYPE_NAMES } from '../../../shared/temporal/search-attributes.ts'
import { type ErrorFacts, type Issue, ServiceError } from '../../model/errors.ts'
import { isTooLarge } from '../errors.ts'
import { RpcError } from '../transport/transport.ts'

interface Rejected extends Pick<ErrorFacts, 'activityId' | 'workflowId'> {
  /** Undefined for a start without options. */
  options?: object
}

/** The error for options that the engine rejects or does not know; null for any other error. Nothing was done. */
export function rejectedOption(error: unknown, { workflowId, activityId, options }: Rejected): ServiceError | null {
  const ids = { ...(workflowId !== undefined && { workflowId }), ...(activityId !== undefined && { activityId }) }
  if (options === undefined || !(error instanceof RpcError) || !isRejection(error)) return null
  const unknown = UNKNOWN_FIELD.exec(error.message)?.[1]
  if (unknown !== undefined)
    return new ServiceError('NotSupportedError', `The workflow engine does not support the option ${unknown}.`, {
      cause: error,
      details: ids,
    })
  const issue = issueOf(error.message)
  const message = issue.path === '' ? `The workflow engine ${issue.message}` : `${issue.path} ${issue.message}`
  return new ServiceError('ValidationError', message, { cause: error, details: { ...ids, issues: [issue] } })
}

// A message of the JSON parser of Temporal's HTTP API. It quotes our own field names, never the client's keys.
const UNKNOWN_FIELD = /unknown field "(\w+)"/

// With `s`, because the version may contain line breaks.
const UNKNOWN_VERSION = /^Pinned version '.*' is not present in task queue/s

function isRejection(error: RpcError): boolean {
  return (
    (error.code === GrpcCode.INVALID_ARGUMENT && !isTooLarge(error)) ||
    (error.code === GrpcCode.FAILED_PRECONDITION && UNKNOWN_VERSION.test(error.message))
  )
}

/** The engine's message, and the issue that it stands for. `name` is a search attribute, `type` its registered type. */
const REJECTIONS: readonly [
  pattern: RegExp,
  path: (name: string) => string[],
  message: string | ((type: string) => string),
][] = [
  [/ has no mapping defined for search attribute (.+)$/, attribute, 'is not a search attribute of the namespace'],
  [/^invalid value for search attribute (.+?) of type (\w+): /, attribute, wrongType],
  [/^search attribute (.+) value size/, attribute, 'is too large'],
  [/^(.+) attribute can't be set in SearchAttributes/, attribute, 'cannot be set'],
  [/search attribute/i, () => ['searchAttributes'], 'is rejected by the workflow engine'],
  [/^user_metadata\.(summary|details) exceeds size limit/, (name) => [name], 'is too large'],
  [/CronSchedule/, () => ['cronSchedule'], 'must be a cron schedule like "0 12 * * *" or "@every 1h"'],
  [/^MaximumInterval/, () => ['retry', 'maximumInterval'], 'must not be less than initialInterval (default: 1 s)'],
  [/retry policy/i, () => ['retry'], 'is rejected by the workflow engine'],
  [/priority|fairness/i, () => ['priority'], 'is rejected by the workflow engine'],
  [UNKNOWN_VERSION, () => ['versioningOverride', 'pinned'], 'is not a version of the workers of this catalog'],
]

function wrongType(type: string): string {
  const [known] = Object.entries(TYPE_NAMES).find(([, name]) => name === type) ?? []
  const example = known === 'datetime' ? ': a time like 2026-01-31T12:00:00Z' : ''
  return `does not have the registered type of the attribute${known === undefined ? '' : `, ${known}`}${example}`
}

function attribute(name: string): string[] {
  return ['searchAttributes', name]
}

function issueOf(message: string): Issue {
  for (const [pattern, path, text] of REJECTIONS) {
    const [found, name = '', type = ''] = pattern.exec(message) ?? []
    if (found !== undefined)
      return { path: toPointer(path(name)), message: typeof text === 'string' ? text : text(type) }
  }
  return { path: '', message: 'rejected an option' }
}
