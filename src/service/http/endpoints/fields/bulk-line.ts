/** A line of a bulk, and the single request that it stands for. */
import * as z from 'zod/mini'
import { isObject, parseJson } from '../../../../shared/lib/json.ts'
import { ServiceError } from '../../../model/errors.ts'
import { decodeBody, validateWith } from '../../pipeline/body.ts'
import { DOT_SEGMENT_MESSAGE, hasDotSegment } from '../../pipeline/request-checks.ts'
import { jsonForms, optional } from './json-forms.ts'
import { handlerName, runId, workflowId } from './names.ts'

/** A request of the API, with the path below that of the app. */
export interface LineRequest {
  method: 'POST' | 'PATCH'
  path: string
  body: Uint8Array<ArrayBuffer>
  /** The line's own. */
  key?: string
  /** Whether the request takes the key of the bulk. */
  isKeyed: boolean
}

const START = { method: 'POST', path: '/workflow/start', isKeyed: true } as const

const inPath = { workflowId, runId: z.exactOptional(runId) }

interface Named {
  workflowId: string
  runId?: string
  name: string
}

interface Operation extends Pick<LineRequest, 'method' | 'isKeyed'> {
  /** The fields that the path has, and not the body. */
  fields: Partial<Record<keyof Named, z.ZodMiniType>>
  pathOf(names: Named): string
}

const OPERATIONS: Readonly<Record<string, Operation>> = {
  start: { ...START, fields: {}, pathOf: () => START.path },
  signal: {
    method: 'POST',
    isKeyed: true,
    fields: { ...inPath, name: handlerName },
    pathOf: (names) => `${runPath(names)}/signal/${encodeURIComponent(names.name)}`,
  },
  'signal-with-start': {
    method: 'POST',
    isKeyed: true,
    fields: { name: handlerName },
    pathOf: ({ name }) => `/workflow/signal-with-start/${encodeURIComponent(name)}`,
  },
  stop: { method: 'PATCH', isKeyed: false, fields: inPath, pathOf: (names) => `${runPath(names)}/stop` },
  terminate: { method: 'POST', isKeyed: false, fields: inPath, pathOf: (names) => `${runPath(names)}/terminate` },
}

function runPath({ workflowId, runId }: Named): string {
  return `/workflow/${encodeURIComponent(workflowId)}${runId === undefined ? '' : `/runs/${runId}`}`
}

const lineFields = {
  op: optional(z.enum(Object.keys(OPERATIONS)), 'The single request. Default: `start`'),
  key: optional(
    z.string().check(z.regex(/^[!-~]{1,255}$/, 'must be 1 to 255 visible ASCII characters')),
    'Its `Idempotency-Key`. Default: that of the bulk, `:` and the index of the line',
  ),
}

export const bulkLine = z.looseObject(lineFields).register(jsonForms, {
  description:
    'The other fields are those of the body of the single request, and the names in its path: `workflowId`, `runId`, `name`',
})

const SCHEMAS = new Map(
  Object.entries(OPERATIONS).map(([op, { fields }]) => [op, z.looseObject({ ...lineFields, ...fields })]),
)

const encoder = new TextEncoder()

/** Throws a `ValidationError` if the line names no request. */
export function parseLine(line: Uint8Array<ArrayBuffer>): LineRequest {
  const fields = objectIn(line)
  // The start says what is wrong with its body.
  if (fields === null) return { ...START, body: line }
  const { op = 'start', key, ...body } = fields
  const operation = typeof op === 'string' && Object.hasOwn(OPERATIONS, op) ? OPERATIONS[op] : undefined
  const valid = validateWith(SCHEMAS.get(String(op)) ?? bulkLine, fields)
  if (operation === undefined) throw new Error(`The schema accepts the operation ${op}`)
  const path = operation.pathOf(valid as unknown as Named)
  if (hasDotSegment({ url: path })) throw new ServiceError('ValidationError', DOT_SEGMENT_MESSAGE)
  for (const name of Object.keys(operation.fields)) delete body[name]
  const { method, isKeyed } = operation
  const bytes = 'op' in fields || key !== undefined ? encoder.encode(JSON.stringify(body)) : line
  return { method, path, body: bytes, isKeyed, ...(valid.key !== undefined && { key: valid.key }) }
}

function objectIn(line: Uint8Array<ArrayBuffer>): Record<string, unknown> | null {
  try {
    const value = parseJson(decodeBody(line))
    return isObject(value) && !JSON.isRawJSON(value) ? value : null
  } catch {
    return null
  }
}
