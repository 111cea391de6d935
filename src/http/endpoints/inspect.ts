/** Reads an execution: its status, what it waits for, its input and trace. */
import { endpoint } from '../endpoint.ts'
import { ref as schemaOf } from '../openapi/schemas/schema.ts'
import { jsonResponse } from '../response.ts'
import { RUN_ERRORS } from './errors.ts'

const status = endpoint({
  method: 'get',
  path: '/workflow/:id/status',
  id: 'getWorkflowStatus',
  tag: 'Inspect',
  summary: "Get the workflow's status",
  docs: 'status',
  responses: { 200: { description: 'The run', schema: schemaOf('WorkflowStatus') } },
  errors: RUN_ERRORS,
  takes: 'work',
  key: 'ignored',
  access: 'read',
  handle: async (c, { ref, call, workflows }) => jsonResponse(c, await workflows.status(ref(c), call(c))),
})

const explain = endpoint({
  method: 'get',
  path: '/workflow/:id/explain',
  id: 'explainWorkflow',
  tag: 'Inspect',
  summary: 'Find out what the run is waiting for, and what to do about it',
  docs: 'explain',
  responses: { 200: { description: 'Why the run does not move', schema: schemaOf('Explanation') } },
  errors: RUN_ERRORS,
  takes: 'work',
  key: 'ignored',
  access: 'read',
  handle: async (c, { ref, call, workflows }) => jsonResponse(c, await workflows.explain(ref(c), call(c))),
})

const input = endpoint({
  method: 'get',
  path: '/workflow/:id/input',
  id: 'getWorkflowInput',
  tag: 'Inspect',
  summary: 'Get its arguments',
  docs: 'input',
  responses: { 200: { description: 'The arguments of the run', schema: schemaOf('RunInput') } },
  errors: RUN_ERRORS,
  takes: 'work',
  key: 'ignored',
  access: 'read',
  handle: async (c, { ref, call, workflows }) => jsonResponse(c, await workflows.input(ref(c), call(c))),
})

const trace = endpoint({
  method: 'get',
  path: '/workflow/:id/trace-log',
  id: 'getWorkflowTrace',
  tag: 'Inspect',
  summary: 'Get the steps of a run as a tree',
  docs: 'trace-log',
  responses: { 200: { description: 'The trace', schema: schemaOf('Trace') } },
  errors: [...RUN_ERRORS, 'TraceNotAvailableError'],
  takes: 'work',
  key: 'ignored',
  access: 'read',
  handle: async (c, { ref, call, workflows }) => jsonResponse(c, await workflows.trace(ref(c), call(c))),
})

export const inspectEndpoints = [status, explain, input, trace]
