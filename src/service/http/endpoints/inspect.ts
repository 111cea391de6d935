/** Reads an execution: its status, what it waits for, its input and trace. */
import { endpointOf } from '../endpoint.ts'
import { ref as schemaOf } from '../openapi/schema.ts'
import { RUN_ERRORS } from './errors.ts'

const status = endpointOf('status', {
  method: 'get',
  path: '/workflow/:id/status',
  id: 'getWorkflowStatus',
  tag: 'Inspect',
  summary: "Get the workflow's status",
  docs: 'api/status.md#status',
  responses: { 200: { description: 'The run', schema: schemaOf('WorkflowStatus') } },
  errors: RUN_ERRORS,
  takes: 'work',
  key: 'ignored',
  input: ({ ref }) => ({ ref }),
})

const explain = endpointOf('explain', {
  method: 'get',
  path: '/workflow/:id/explain',
  id: 'explainWorkflow',
  tag: 'Inspect',
  summary: 'Find out what the run is waiting for, and what to do about it',
  docs: 'api/status.md#explain',
  responses: { 200: { description: 'Why the run does not move', schema: schemaOf('Explanation') } },
  errors: RUN_ERRORS,
  takes: 'work',
  key: 'ignored',
  input: ({ ref }) => ({ ref }),
  output: ({ reasons, ...explanation }, { c }) => ({
    ...explanation,
    reasons: reasons.map(({ action, ...reason }) => ({
      ...reason,
      action: action && { ...action, path: `${c.get('basePath')}${action.path}` },
    })),
  }),
})

const input = endpointOf('input', {
  method: 'get',
  path: '/workflow/:id/input',
  id: 'getWorkflowInput',
  tag: 'Inspect',
  summary: 'Get its arguments',
  docs: 'api/status.md#input',
  responses: { 200: { description: 'The arguments of the run', schema: schemaOf('RunInput') } },
  errors: RUN_ERRORS,
  takes: 'work',
  key: 'ignored',
  input: ({ ref }) => ({ ref }),
})

const trace = endpointOf('trace', {
  method: 'get',
  path: '/workflow/:id/trace-log',
  id: 'getWorkflowTrace',
  tag: 'Inspect',
  summary: 'Get the steps of a run as a tree',
  docs: 'api/history.md#trace-log',
  responses: { 200: { description: 'The trace', schema: schemaOf('Trace') } },
  errors: [...RUN_ERRORS, 'TraceNotAvailableError'],
  takes: 'work',
  key: 'ignored',
  input: ({ ref }) => ({ ref }),
})

export const inspectEndpoints = [status, explain, input, trace]
