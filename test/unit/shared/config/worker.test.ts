import { expect, test } from 'vitest'
import { parseWorkerConfig } from '../../../../src/shared/config/worker.ts'
import { issuesFrom } from './parsed.ts'

const parse = (env: Record<string, string>) => parseWorkerConfig(env, { catalogRequired: true })

test('parseWorkerConfig: has a default for everything except the catalog', () => {
  expect(parse({ SERVICE_CATALOG_ID: 'shop' })).toMatchObject({
    catalog: 'shop',
    engine: { address: '127.0.0.1:7233', namespace: 'default', apiKey: null, tls: null },
  })
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

  expect(issuesFrom(() => parse(env))).toEqual([
    'ENGINE_ADDRESS must be <host>:<port>, without a scheme',
    'SERVICE_CATALOG_ID is required: the catalog (task queue) that this worker serves',
    'ENGINE_MAX_CONCURRENT_ACTIVITY_TASK_EXECUTIONS must be an integer of at least 1',
    'ENGINE_MAX_CACHED_WORKFLOWS must be an integer of at least 0',
    'ENGINE_MAX_CONCURRENT_WORKFLOW_TASK_POLLS must be an integer of at least 2',
  ])
})

test('parseWorkerConfig: rejects a catalog that is not a valid task queue', () => {
  expect(issuesFrom(() => parse({ SERVICE_CATALOG_ID: '__temporal_x' }))).toEqual([
    'SERVICE_CATALOG_ID must not start with "__temporal_", which is reserved',
  ])
})
