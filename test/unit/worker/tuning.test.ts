import { expect, test } from 'vitest'
import { ConfigError } from '../../../src/config/variables.ts'
import { parseWorkerConfig } from '../../../src/config/worker.ts'
import { toTuningOptions } from '../../../src/worker/tuning.ts'

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

test('parseWorkerConfig: has a default for everything except the catalog', () => {
  expect(parseWorkerConfig({ SERVICE_CATALOG_ID: 'shop' }, { catalogRequired: true })).toMatchObject({
    catalog: 'shop',
    engine: { address: '127.0.0.1:7233', namespace: 'default', apiKey: null, tls: null },
  })
})

test('parseWorkerConfig: an API key implies TLS', () => {
  const { engine } = parseWorkerConfig(
    { SERVICE_CATALOG_ID: 'shop', ENGINE_API_KEY: 'secret' },
    { catalogRequired: true },
  )

  expect(engine).toMatchObject({ apiKey: 'secret', tls: { caPath: null } })
})

test('parseWorkerConfig: does not require a catalog if the code sets the task queue', () => {
  expect(parseWorkerConfig({}, { catalogRequired: false }).catalog).toBeNull()
})

test('parseWorkerConfig: lists all errors at once, without values', () => {
  const env = {
    ENGINE_ADDRESS: 'http://secret.example',
    ENGINE_MAX_CONCURRENT_ACTIVITY_TASK_EXECUTIONS: '0',
    ENGINE_MAX_CACHED_WORKFLOWS: 'many',
    ENGINE_MAX_CONCURRENT_WORKFLOW_TASK_POLLS: '1',
  }

  expect(faultsOf(env)).toEqual([
    'ENGINE_ADDRESS must be <host>:<port>, without a scheme',
    'SERVICE_CATALOG_ID is required: the catalog (task queue) that this worker serves',
    'ENGINE_MAX_CONCURRENT_ACTIVITY_TASK_EXECUTIONS must be an integer of at least 1',
    'ENGINE_MAX_CACHED_WORKFLOWS must be an integer of at least 0',
    'ENGINE_MAX_CONCURRENT_WORKFLOW_TASK_POLLS must be an integer of at least 2',
  ])
})

test('parseWorkerConfig: rejects a catalog that is not a valid task queue', () => {
  expect(faultsOf({ SERVICE_CATALOG_ID: '__temporal_x' })).toEqual([
    'SERVICE_CATALOG_ID must not start with "__temporal_", which is reserved',
  ])
})

function faultsOf(env: Record<string, string>): readonly string[] {
  try {
    parseWorkerConfig(env, { catalogRequired: true })
  } catch (error) {
    if (error instanceof ConfigError) return error.issues
    throw error
  }
  return []
}
