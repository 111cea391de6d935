import { BODY, OF_RUN } from '../errors.ts'
import type { Operation } from '../operation.ts'
import { ref } from '../schemas/schema.ts'

export const controlOperations: readonly Operation[] = [
  {
    method: 'patch',
    path: '/workflow/:id/stop',
    id: 'stopWorkflow',
    tag: 'Control',
    summary: 'Request cancellation; cleanup code runs',
    docs: 'stop',
    body: { schema: 'ControlRequest', isRequired: false },
    responses: {
      200: {
        description: 'Cancellation was requested, or the run was closed already',
        schema: ref('StoppedRun'),
      },
    },
    errors: [...OF_RUN, ...BODY],
  },
  {
    method: 'post',
    path: '/workflow/:id/terminate',
    id: 'terminateWorkflow',
    tag: 'Control',
    summary: 'Terminate it immediately; no cleanup code runs',
    docs: 'terminate',
    body: { schema: 'ControlRequest', isRequired: false },
    responses: {
      200: { description: 'The run has ended', schema: ref('TerminatedRun') },
    },
    errors: [...OF_RUN, ...BODY, 'WorkflowNotRunningError'],
  },
  {
    method: 'post',
    path: '/workflow/:id/pause',
    id: 'pauseWorkflow',
    tag: 'Control',
    summary: 'Stop the progress of a run',
    docs: 'pause',
    body: { schema: 'ControlRequest', isRequired: false },
    responses: {
      200: { description: 'The run is paused', schema: ref('PausedRun') },
    },
    errors: [...OF_RUN, ...BODY, 'WorkflowNotRunningError', 'WorkflowNotReadyError'],
  },
  {
    method: 'post',
    path: '/workflow/:id/unpause',
    id: 'unpauseWorkflow',
    tag: 'Control',
    summary: 'Let a paused run continue',
    docs: 'pause',
    body: { schema: 'ControlRequest', isRequired: false },
    responses: {
      200: { description: 'The run is not paused', schema: ref('PausedRun') },
    },
    errors: [...OF_RUN, ...BODY, 'WorkflowNotRunningError', 'WorkflowNotReadyError'],
  },
  {
    method: 'post',
    path: '/workflow/:id/reset',
    id: 'resetWorkflow',
    tag: 'Control',
    summary: 'Execute a run again from one of its steps',
    docs: 'reset',
    body: { schema: 'ResetRequest', isRequired: true },
    responses: {
      200: { description: 'The new run', schema: ref('ResetRun'), links: ['getWorkflowResult'] },
    },
    errors: [...OF_RUN, ...BODY, 'StepNotFoundError', 'StepNotCompletedError'],
  },
]
