/** Batches: one operation on all open runs that match a filter. */
import * as z from 'zod/mini'
import { isObject } from '../../../shared/lib/json.ts'
import { BATCH_OPERATIONS } from '../../model/batch.ts'
import { jsonResponse, setHeader } from '../context.ts'
import { endpoint, endpointOf, type RequestBody } from '../endpoint.ts'
import { ref as schemaOf } from '../openapi/schema.ts'
import { batchPath } from '../path.ts'
import { idempotencyKey, reportReplayed } from '../pipeline/request-checks.ts'
import { controlRequest } from './control.ts'
import { BODY_ERRORS, EFFECT_ERRORS, ENGINE_ERRORS } from './errors.ts'
import { ARGUMENT_CONFLICTS, argumentFields, onlyOneArgumentField, toArguments } from './fields/handler-arguments.ts'
import { described, jsonForms, optional } from './fields/json-forms.ts'
import { handlerName, text } from './fields/names.ts'
import { DEFAULT_PAGE_SIZE, pageParameters } from './fields/query-values.ts'
import { oneOf } from './fields/start-fields.ts'
import { filterParameters } from './runs.ts'

const BATCH_ERRORS = [...ENGINE_ERRORS, 'BatchNotFoundError'] as const

const { status: _, problem: __, closedAfter: ___, closedBefore: ____, ...openFilter } = filterParameters

const filter = z.strictObject({
  ...openFilter,
  problem: optional(z.boolean(), 'Whether the workflow task of the run fails again and again'),
})

const SIGNAL_FIELDS = ['signal', 'payload', 'args', 'payloads']

const batchRequest = {
  name: 'BatchRequest',
  schema: z.pipe(
    z
      .strictObject({
        operation: described(oneOf(BATCH_OPERATIONS), 'What is done to each run'),
        filter: described(filter, 'Which open runs: those that match all of its conditions; `{}`: all'),
        reason: optional(text, 'Recorded with the batch, and in the history of the runs that it ends'),
        signal: optional(handlerName, 'Name of the signal, if that is the operation'),
        ...argumentFields({
          payload: 'The only argument of the signal. Without `payload` and `args` there is none',
          args: 'Instead of `payload`: one element per argument',
        }),
      })
      .check(onlyOneArgumentField)
      .check(
        z.refine(
          (body) => (body.operation === 'signal' ? 'signal' in body : !SIGNAL_FIELDS.some((name) => name in body)),
          {
            message: 'must contain signal, the name of one, if that is the operation; else neither it nor arguments',
            when: ({ value }) => isObject(value),
          },
        ),
      )
      .register(jsonForms, {
        if: { properties: { operation: { const: 'signal' } }, required: ['operation'] },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { required: ['signal'], not: { anyOf: ARGUMENT_CONFLICTS } },
        else: { not: { anyOf: SIGNAL_FIELDS.map((name) => ({ required: [name] })) } },
      }),
    z.transform(({ operation, filter, reason = null, signal: name, ...given }) => ({
      ...{ operation, filter, reason },
      signal: name === undefined ? null : { name, args: toArguments(given).args },
    })),
  ),
  isRequired: true,
} satisfies RequestBody<unknown>

const create = endpoint({
  verb: 'createBatch',
  method: 'post',
  path: '/batches',
  id: 'createBatch',
  tag: 'Batches',
  summary: 'Signal, stop or terminate all open runs that match a filter',
  docs: 'api/batches.md#create',
  headers: ['Idempotency-Key'],
  body: batchRequest,
  responses: {
    202: {
      description: 'The engine has accepted the batch, or no run matches',
      schema: schemaOf('CreatedBatch'),
      headers: ['Location', 'Idempotency-Replayed'],
    },
  },
  errors: [
    ...BATCH_ERRORS,
    ...BODY_ERRORS,
    ...EFFECT_ERRORS,
    'IdempotencyKeyReusedError',
    'PayloadTooLargeError',
    'PayloadCodecError',
  ],
  takes: 'work',
  key: 'taken',
  async handle(c, { body, call, workflows }) {
    const command = { ...(await body(c)), ...idempotencyKey(c) }
    const { isRepeated, ...created } = await workflows.createBatch(command, call(c))
    if (isRepeated) reportReplayed(c)
    if (created.batchId !== null) setHeader(c, 'Location', batchPath(c, created.batchId))
    return jsonResponse(c, created, 202)
  },
})

const get = endpointOf('batch', {
  method: 'get',
  path: '/batches/:batchId',
  id: 'getBatch',
  tag: 'Batches',
  summary: 'Get how far a batch is',
  docs: 'api/batches.md#get',
  responses: { 200: { description: 'The batch', schema: schemaOf('Batch') } },
  errors: BATCH_ERRORS,
  takes: 'work',
  key: 'ignored',
  input: ({ batchId }) => ({ batchId }),
})

const list = endpointOf('batches', {
  method: 'get',
  path: '/batches',
  id: 'listBatches',
  tag: 'Batches',
  summary: 'List batches',
  docs: 'api/batches.md#get',
  query: z.strictObject(pageParameters),
  responses: { 200: { description: 'A page of batches', schema: schemaOf('BatchPage') } },
  errors: [...ENGINE_ERRORS, 'InvalidPageTokenError'],
  takes: 'work',
  key: 'ignored',
  input: ({ query: { pageSize = DEFAULT_PAGE_SIZE, pageToken = null } }) => ({ pageSize, pageToken }),
})

const stop = endpointOf('stopBatch', {
  method: 'post',
  path: '/batches/:batchId/stop',
  id: 'stopBatch',
  tag: 'Batches',
  summary: 'Stop a batch; what it has done remains',
  docs: 'api/batches.md#stop',
  body: controlRequest,
  responses: { 200: { description: 'The batch is not running', schema: schemaOf('StoppedBatch') } },
  errors: [...BATCH_ERRORS, ...BODY_ERRORS],
  takes: 'work',
  key: 'rejected',
  input: ({ batchId, body: { reason = null } }) => ({ batchId, reason }),
})

export const batchEndpoints = [create, list, get, stop]
