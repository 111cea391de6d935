import { expect, test } from 'vitest'
import { parseTracesConfig, parseWorkerConfig } from '../../../../../src/shared/config/worker.ts'
import { traceTemplates } from '../../../../../src/worker/closed-runs/archive/destinations.ts'

const REMOTE = {
  SERVICE_TRACE_REMOTE_ON: 'true',
  SERVICE_STORAGE_ACCESS_KEY_ID: 'id',
  SERVICE_STORAGE_SECRET_ACCESS_KEY: 'secret',
  SERVICE_STORAGE_REGION: 'eu-central-1',
}

test('trace configuration: remote tracing without a bucket is reported together with all other errors', () => {
  const parse = () => parseWorkerConfig(REMOTE, { catalogRequired: true })

  expect(parse).toThrow('SERVICE_CATALOG_ID is required')
  expect(parse).toThrow('SERVICE_TRACE_REMOTE_ON=true requires SERVICE_STORAGE_BUCKET')
})

test('traceTemplates: false when no variable is set', () => {
  expect(traceTemplates(parseTracesConfig({}))).toBe(false)
})

test('traceTemplates: false when a folder is set but not enabled for writing', () => {
  expect(traceTemplates(parseTracesConfig({ SERVICE_TRACE_LOCAL_DIR: '/var/traces' }))).toBe(false)
})

test('traceTemplates: names each destination, without credentials', () => {
  const local = { SERVICE_TRACE_LOCAL_ON: 'true', SERVICE_TRACE_LOCAL_DIR: '/var/traces' }

  const onAws = traceTemplates(parseTracesConfig({ ...REMOTE, ...local, SERVICE_STORAGE_BUCKET: 'my-traces' }))
  const elsewhere = { SERVICE_STORAGE_BUCKET: 'my-traces', SERVICE_STORAGE_ENDPOINT: 'https://minio.example.com/' }

  expect(onAws).toEqual({
    remote: 'https://my-traces.s3.eu-central-1.amazonaws.com/traces/{namespace}/{runId}.json',
    local: '/var/traces/{namespace}/{runId}.json',
  })
  expect(traceTemplates(parseTracesConfig({ ...REMOTE, ...elsewhere }))).toEqual({
    remote: 'https://minio.example.com/my-traces/traces/{namespace}/{runId}.json',
  })
})
