/** Schedules: documents with a version. */
import type { Context } from 'hono'
import * as z from 'zod/mini'
import { checkedString } from '../../../shared/wire/checked-string.ts'
import { filterValueIssue } from '../../../shared/wire/names.ts'
import { ServiceError } from '../../model/errors.ts'
import type { Precondition, Schedule } from '../../model/schedule.ts'
import { type Env, jsonResponse, setHeader } from '../context.ts'
import { endpoint, endpointOf, type RequestBody } from '../endpoint.ts'
import { ref as schemaOf } from '../openapi/schema.ts'
import { schedulePath } from '../path.ts'
import { BODY_ERRORS, EFFECT_ERRORS, ENGINE_ERRORS } from './errors.ts'
import { described, jsonForms, optional } from './fields/json-forms.ts'
import { FILTER_FORM, text } from './fields/names.ts'
import { DEFAULT_PAGE_SIZE, pageParameters, queryFlag } from './fields/query-values.ts'
import { overlapField, scheduleDocument, scheduleRequest, scheduleTime } from './fields/schedule-fields.ts'
import { startCommand } from './fields/start-fields.ts'

const SCHEDULE_ERRORS = [...ENGINE_ERRORS, 'ScheduleNotFoundError'] as const

const reasonRequest = {
  name: 'ScheduleReasonRequest',
  schema: z.strictObject({ reason: optional(text, 'Becomes `note`') }),
  isRequired: false,
} satisfies RequestBody<unknown>

const triggerRequest = {
  name: 'TriggerRequest',
  schema: z.strictObject({ overlap: overlapField }),
  isRequired: false,
} satisfies RequestBody<unknown>

const range = {
  from: described(scheduleTime(), 'The first time, included'),
  until: described(scheduleTime(), 'The last time, included'),
}

const backfillRequest = {
  name: 'BackfillRequest',
  schema: z.strictObject({ ...range, overlap: overlapField }),
  isRequired: true,
} satisfies RequestBody<unknown>

const put = endpoint({
  verb: 'putSchedule',
  method: 'put',
  path: '/schedules/:scheduleId',
  id: 'putSchedule',
  tag: 'Schedules',
  summary: 'Create a schedule, or replace it',
  docs: 'api/schedules.md#put',
  headers: ['If-Match', 'If-None-Match'],
  body: scheduleRequest,
  responses: {
    200: { description: 'The schedule was replaced', schema: schemaOf('Schedule'), headers: ['ETag'] },
    201: { description: 'The schedule was created', schema: schemaOf('Schedule'), headers: ['ETag', 'Location'] },
  },
  errors: [
    ...SCHEDULE_ERRORS,
    ...BODY_ERRORS,
    'PreconditionFailedError',
    'UnsupportedWorkflowError',
    'CatalogNotAvailableError',
    'PayloadCodecError',
  ],
  takes: 'work',
  key: 'ignored',
  async handle(c, { scheduleId: idInPath, body: readBody, call, workflows, defaultCatalog }) {
    const scheduleId = idInPath(c)
    const precondition = preconditionOf(c)
    const body = await readBody(c)
    const { idempotencyKey: _, ...start } = startCommand(c, { workflowId: scheduleId, ...body }, defaultCatalog, 'args')
    const command = { scheduleId, precondition, start, document: scheduleDocument(body) }
    const { schedule, isNew } = await workflows.putSchedule(command, call(c))
    if (isNew) setHeader(c, 'Location', schedulePath(c, scheduleId))
    return jsonResponse(c, toDocument(c, schedule), isNew ? 201 : 200)
  },
})

const get = endpointOf('schedule', {
  method: 'get',
  path: '/schedules/:scheduleId',
  id: 'getSchedule',
  tag: 'Schedules',
  summary: 'Get a schedule',
  docs: 'api/schedules.md#get',
  responses: { 200: { description: 'The schedule', schema: schemaOf('Schedule'), headers: ['ETag'] } },
  errors: [...SCHEDULE_ERRORS, 'PayloadCodecError'],
  takes: 'work',
  key: 'ignored',
  input: ({ scheduleId }) => ({ scheduleId }),
  output: (schedule, { c }) => toDocument(c, schedule),
})

const remove = endpointOf('deleteSchedule', {
  method: 'delete',
  path: '/schedules/:scheduleId',
  id: 'deleteSchedule',
  tag: 'Schedules',
  summary: 'Delete a schedule; its runs go on',
  docs: 'api/schedules.md#delete',
  headers: ['If-Match'],
  responses: { 200: { description: 'The schedule is deleted', schema: schemaOf('DeletedSchedule') } },
  errors: SCHEDULE_ERRORS,
  takes: 'work',
  key: 'rejected',
  input({ c, scheduleId }) {
    rejectCondition(c)
    return { scheduleId }
  },
})

const pause = endpointOf('pauseSchedule', {
  method: 'post',
  path: '/schedules/:scheduleId/pause',
  id: 'pauseSchedule',
  tag: 'Schedules',
  summary: 'Start no more runs',
  docs: 'api/schedules.md#pause',
  body: reasonRequest,
  responses: { 200: { description: 'The schedule is paused', schema: schemaOf('PausedSchedule') } },
  errors: [...SCHEDULE_ERRORS, ...BODY_ERRORS],
  takes: 'work',
  key: 'rejected',
  input: ({ scheduleId, body: { reason = null } }) => ({ scheduleId, reason }),
})

const unpause = endpointOf('unpauseSchedule', {
  method: 'post',
  path: '/schedules/:scheduleId/unpause',
  id: 'unpauseSchedule',
  tag: 'Schedules',
  summary: 'Start runs again',
  docs: 'api/schedules.md#pause',
  body: reasonRequest,
  responses: { 200: { description: 'The schedule is not paused', schema: schemaOf('PausedSchedule') } },
  errors: [...SCHEDULE_ERRORS, ...BODY_ERRORS],
  takes: 'work',
  key: 'rejected',
  input: ({ scheduleId, body: { reason = null } }) => ({ scheduleId, reason }),
})

const trigger = endpointOf('triggerSchedule', {
  method: 'post',
  path: '/schedules/:scheduleId/trigger',
  id: 'triggerSchedule',
  tag: 'Schedules',
  summary: 'Start a run now',
  docs: 'api/schedules.md#trigger',
  body: triggerRequest,
  responses: { 202: { description: 'The engine has accepted it', schema: schemaOf('AcceptedBySchedule') } },
  errors: [...SCHEDULE_ERRORS, ...BODY_ERRORS, ...EFFECT_ERRORS],
  takes: 'work',
  key: 'rejected',
  status: 202,
  input: ({ scheduleId, body: { overlap = null } }) => ({ scheduleId, overlap }),
})

const backfill = endpointOf('backfillSchedule', {
  method: 'post',
  path: '/schedules/:scheduleId/backfill',
  id: 'backfillSchedule',
  tag: 'Schedules',
  summary: 'Start the runs of a range of time',
  docs: 'api/schedules.md#backfill',
  body: backfillRequest,
  responses: { 202: { description: 'The engine has accepted it', schema: schemaOf('AcceptedBySchedule') } },
  errors: [...SCHEDULE_ERRORS, ...BODY_ERRORS, ...EFFECT_ERRORS],
  takes: 'work',
  key: 'rejected',
  status: 202,
  input: ({ scheduleId, body: { overlap = null, ...times } }) => ({ scheduleId, overlap, ...times }),
})

const times = endpointOf('scheduleTimes', {
  method: 'get',
  path: '/schedules/:scheduleId/times',
  id: 'listScheduleTimes',
  tag: 'Schedules',
  summary: 'List the times at which a schedule acts',
  docs: 'api/schedules.md#times',
  query: z.strictObject(range),
  responses: { 200: { description: 'The times', schema: schemaOf('ScheduleTimes') } },
  errors: SCHEDULE_ERRORS,
  takes: 'work',
  key: 'ignored',
  input: ({ scheduleId, query }) => ({ scheduleId, ...query }),
})

const filterText = checkedString(filterValueIssue).register(jsonForms, { ...FILTER_FORM })

const list = endpointOf('schedules', {
  method: 'get',
  path: '/schedules',
  id: 'listSchedules',
  tag: 'Schedules',
  summary: 'List schedules',
  docs: 'api/schedules.md#list',
  query: z.strictObject({
    paused: optional(queryFlag, 'Only those that are paused, or are not'),
    query: optional(filterText, "A condition in Temporal's list filter language"),
    ...pageParameters,
  }),
  responses: { 200: { description: 'A page of schedules, the newest first', schema: schemaOf('SchedulePage') } },
  errors: [...ENGINE_ERRORS, 'InvalidPageTokenError'],
  takes: 'work',
  key: 'ignored',
  input: ({ query: { pageSize = DEFAULT_PAGE_SIZE, pageToken = null, ...filter } }) => ({
    filter,
    pageSize,
    pageToken,
  }),
})

export const scheduleEndpoints = [list, put, get, remove, pause, unpause, trigger, backfill, times]

/** The body of a schedule, and its version as `ETag`. Options are beside the other fields, as in a request. */
function toDocument(c: Context<Env>, { options, when, info, ...schedule }: Schedule) {
  const { searchAttributes = {}, ...others } = options
  const attributes = Object.entries(searchAttributes).map(([name, { value }]) => [name, value])
  const { overlap, catchupWindowMs, pauseOnFailure, paused, note, remainingRuns, set, ...started } = schedule
  setHeader(c, 'ETag', `"${schedule.version}"`)
  return {
    ...started,
    ...others,
    ...(attributes.length > 0 && { searchAttributes: Object.fromEntries(attributes) }),
    when,
    ...{ overlap, catchupWindowMs, pauseOnFailure, paused, note, remainingRuns, set, info },
  }
}

/** Any value that is not the present version is a failed precondition, not an invalid request. */
function preconditionOf(c: Context<Env>): Precondition {
  const ifMatch = c.req.header('If-Match')?.trim()
  const ifNoneMatch = c.req.header('If-None-Match')?.trim()
  if (ifNoneMatch !== undefined && (ifNoneMatch !== '*' || ifMatch !== undefined))
    throw new ServiceError('ValidationError', 'If-None-Match must be *, without If-Match')
  if (ifNoneMatch === '*') return { ifNoneMatch }
  if (ifMatch === undefined) return {}
  if (ifMatch === '*') return { ifMatch }
  return { ifMatch: ifMatch.split(',').map((tag) => tag.trim().replace(/^"(.*)"$/, '$1')) }
}

/** The engine deletes without a condition only. To ignore one could delete what the client has not seen. */
function rejectCondition(c: Context<Env>): void {
  if (c.req.header('If-Match') === undefined) return
  throw new ServiceError('ValidationError', 'If-Match is not supported here: the engine has no conditional delete')
}
