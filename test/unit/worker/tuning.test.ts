import { expect, test } from 'vitest'
import { parseWorkerConfig } from '../../../src/shared/config/worker.ts'
import { toTuningOptions } from '../../../src/worker/run-worker.ts'

test('toTuningOptions: omits unset variables', () => {
  const { tuning } = parseWorkerConfig(
    { SERVICE_CATALOG_ID: 'shop', ENGINE_MAX_CACHED_WORKFLOWS: '' },
    { catalogRequired: true },
  )

  expect(toTuningOptions(tuning)).toEqual({})
})

test('toTuningOptions: maps the five variables to options of the SDK', () => {
  const env = {
    SERVICE_CATALOG_ID: 'shop',
    ENGINE_MAX_CONCURRENT_ACTIVITY_TASK_EXECUTIONS: '150',
    ENGINE_MAX_CONCURRENT_WORKFLOW_TASK_EXECUTIONS: '600',
    ENGINE_MAX_CACHED_WORKFLOWS: '50',
    ENGINE_MAX_CONCURRENT_ACTIVITY_TASK_POLLS: '11',
    ENGINE_MAX_CONCURRENT_WORKFLOW_TASK_POLLS: '12',
  }

  expect(toTuningOptions(parseWorkerConfig(env, { catalogRequired: true }).tuning)).toEqual({
    maxConcurrentActivityTaskExecutions: 150,
    maxConcurrentWorkflowTaskExecutions: 600,
    maxCachedWorkflows: 50,
    activityTaskPollerBehavior: { type: 'simple-maximum', maximum: 11 },
    workflowTaskPollerBehavior: { type: 'simple-maximum', maximum: 12 },
  })
})
